#include "render/text/missing_text.h"
#include "render/text/escape.h"
#include "render/text/fill.h"

#include <stdlib.h>
#include <string.h>

static void visible(struct buf *b, const char *s)
{
	escape_visible(b, s, strlen(s));
}

void missing_text(struct buf *out, const struct profile *p, const struct missing *m,
		  const struct missing_dso *d)
{
	enum { INDENT = 11 };
	struct buf b = {0};
	char hex[2 * BUILD_ID_MAX + 1];
	buf_fmt(out, "  %5.1f %%  ", 100.0 * (double)d->samples / (double)m->samples);
	visible(&b, d->name ? strtab_get(&p->stacks.strings, d->name) : "[unknown]");
	buf_fmt(&b, ": %s", missing_reason(d));
	if (*d->detail) {
		buf_str(&b, " (");
		visible(&b, d->detail);
		buf_char(&b, ')');
	}
	fill_text(out, INDENT, INDENT, buf_cstr(&b));
	if (d->dso != NO_ID && p->machine.dsos.v[d->dso].id.len)
		buf_fmt(out, "%*sbuild-id %s\n", INDENT, "",
			build_id_hex(&p->machine.dsos.v[d->dso].id, hex));
	buf_clear(&b);
	if (missing_remedy(p, d, &b) && !strncmp(buf_cstr(&b), "# ", 2)) {
		buf_fmt(out, "%*s", INDENT, "");
		fill_text(out, INDENT, INDENT, buf_cstr(&b) + 2);
	} else if (b.n) {
		buf_fmt(out, "%*sget it:  %s\n", INDENT, "", buf_cstr(&b));
	}
	buf_release(&b);
}

void missing_print_hint(FILE *f)
{
	if (!getenv("DEBUGINFOD_URLS"))
		fprintf(f,
			"get all that a server has:\n           "
			"DEBUGINFOD_URLS=https://debuginfod.elfutils.org perfkit report …\n");
}

void missing_print(FILE *f, const struct profile *p, const struct missing *m, int top)
{
	size_t n = top > 0 && (size_t)top < m->dsos.n ? (size_t)top : m->dsos.n;
	struct buf out = {0};
	if (!n)
		return;
	fputs(MISSING_TITLE, f);
	for (size_t i = 0; i < n; i++)
		missing_text(&out, p, m, &m->dsos.v[i]);
	fputs(buf_cstr(&out), f);
	buf_release(&out);
	if (n < m->dsos.n)
		fprintf(f, MISSING_MORE, m->dsos.n - n);
	if (missing_by_debuginfod(p, m))
		missing_print_hint(f);
}
