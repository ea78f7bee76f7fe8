#include "base/text/form_text.h"

#include <string.h>

static void split_place(const char *in, size_t n, struct form_piece *p)
{
	const char *colon = memchr(in, ':', n);
	p->name = in;
	p->nname = colon ? (size_t)(colon - in) : n;
	p->how = colon ? colon + 1 : "";
	p->nhow = colon ? n - p->nname - 1 : 0;
}

int form_next(const char **text, struct form_piece *p)
{
	const char *at = *text;
	*p = (struct form_piece){.kind = 't', .text = at, .n = strcspn(at, "{[]")};
	if (p->n) {
		*text = at + p->n;
		return 1;
	}
	if (!*at)
		return 0;
	if (at[0] == '{' && at[1] == '{') {
		p->n = 1;
		*text = at + 2;
		return 1;
	}
	p->kind = *at++;
	if (p->kind == '{') {
		size_t n = strcspn(at, "}");
		split_place(at, n, p);
		at += n + (at[n] == '}');
	}
	*text = at;
	return 1;
}

int form_how_is(const struct form_piece *p, const char *how)
{
	return p->nhow == strlen(how) && !memcmp(p->how, how, p->nhow);
}
