#include "base/text/shellword.h"

#include <string.h>

void shell_word(struct buf *b, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+./:,@%=";
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

int shell_is_printable(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			return 0;
	return 1;
}
