#include "libsym/trampolines.h"
#include "base/text/buf.h"

#include <ctype.h>
#include <string.h>

static const char word[] = "trampoline<";

/* The number in a trampoline's name; NULL if it is not a trampoline. */
static const char *number_in(const char *name)
{
	const char *at = name;
	while ((at = strstr(at, word))) {
		const char *n = at + sizeof(word) - 1, *end = n + strspn(n, "0123456789");
		int whole = at == name || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
		if (whole && end > n && *end == '>')
			return n;
		at = n;
	}
	return NULL;
}

static int renamed(struct stacks *s, uint32_t name, uint32_t *out)
{
	const char *text = strtab_get(&s->strings, name), *n = number_in(text);
	struct buf b = {0};
	*out = name;
	if (!n)
		return 0;
	buf_add(&b, text, (size_t)(n - text));
	buf_char(&b, '0');
	buf_str(&b, n + strspn(n, "0123456789"));
	int r = strtab_intern(&s->strings, buf_cstr(&b), out) || buf_failed(&b);
	buf_release(&b);
	return r ? ERR_NOMEM : 0;
}

int trampolines_fold(struct stacks *s)
{
	int r = 0;
	for (size_t i = 1; i < s->frames.n && !r; i++)
		if (s->frames.v[i].name)
			r = renamed(s, s->frames.v[i].name, &s->frames.v[i].name);
	return r;
}
