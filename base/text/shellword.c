#include "base/text/shellword.h"

#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789_-+./:,@%=";

void shell_word(struct buf *b, const char *s)
{
	/* "=" inside a first word would be an assignment */
	if (*s && !s[strspn(s, plain)] && *s != '=' && *s != '~') {
		buf_str(b, s);
		return;
	}
	buf_char(b, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(b, "'\\''");
		else
			buf_char(b, *s);
	}
	buf_char(b, '\'');
}

int shell_is_words(const char *s)
{
	int quoted = 0;
	for (; *s; s++) {
		if (*s == '\'')
			quoted = !quoted;
		else if (!quoted && *s == '\\' && s[1] == '\'')
			s++;
		else if (!quoted && *s != ' ' && !strchr(plain, *s))
			return 0;
	}
	return !quoted;
}

int shell_is_printable(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			return 0;
	return 1;
}
