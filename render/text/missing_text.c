#include "render/text/missing_text.h"
#include "render/text/escape.h"
#include "render/text/fill.h"

#include <stdlib.h>
#include <string.h>

static void visible(struct buf *b, const char *s)
{
	escape_visible(b, s, strlen(s));
}

/* The lines about one file. Commands are not wrapped, so that they can be pasted. */
static void add_file(struct buf *out, const struct strtab *s, const char *host,
		     const struct unnamed_files *m, const struct unnamed_file *d)
{
	enum { INDENT = 11 };
	struct buf b = {0};
	buf_fmt(out, "  %5.1f %%  ", 100.0 * (double)d->samples / (double)m->samples);
	visible(&b, d->name ? strtab_get(s, d->name) : "[unknown]");
	buf_fmt(&b, ": %s", missing_reason(d));
	if (d->detail) {
		buf_str(&b, " (");
		visible(&b, strtab_get(s, d->detail));
		buf_char(&b, ')');
	}
	fill_text(out, INDENT, INDENT, buf_cstr(&b));
	if (d->build_id) {
		buf_fmt(out, "%*sbuild-id ", INDENT, "");
		visible(out, strtab_get(s, d->build_id));
		buf_char(out, '\n');
	}
	buf_clear(&b);
	if (missing_remedy(s, host, d, &b) && !strncmp(buf_cstr(&b), "# ", 2)) {
		buf_fmt(out, "%*s", INDENT, "");
		fill_text(out, INDENT, INDENT, buf_cstr(&b) + 2);
	} else if (b.n) {
		buf_fmt(out, "%*sget it:  ", INDENT, "");
		visible(out, buf_cstr(&b));
		buf_char(out, '\n');
	}
	buf_release(&b);
}

/* How to get all files from a server at once. */
static void print_hint(FILE *f)
{
	if (!getenv("DEBUGINFOD_URLS"))
		fprintf(f,
			"get all that a server has:\n           "
			"DEBUGINFOD_URLS=https://debuginfod.elfutils.org perfkit report …\n");
}

void missing_print(FILE *f, const struct strtab *s, const char *host,
		   const struct unnamed_files *m, const char *of, int top)
{
	size_t n = top > 0 && (size_t)top < m->v.n ? (size_t)top : m->v.n;
	struct buf out = {0};
	if (!n)
		return;
	fprintf(f, "unnamed frames (share of %s affected):\n", of);
	for (size_t i = 0; i < n; i++)
		add_file(&out, s, host, m, &m->v.v[i]);
	fputs(buf_cstr(&out), f);
	buf_release(&out);
	if (n < m->v.n)
		fprintf(f, "  %zu more (show all with --top 0)\n", m->v.n - n);
	if (missing_by_debuginfod(s, m))
		print_hint(f);
}
