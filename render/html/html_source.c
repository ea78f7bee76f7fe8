#include "render/html/html_source.h"
#include "render/text/escape.h"
#include "render/text/source_json.h"

#include <string.h>

enum { CONTEXT = 5 }; /* lines around one with weight */

/* As the page's other names are: visible. */
static void put_name(struct json *j, const char *key, const char *name)
{
	struct buf b = {0};
	escape_visible(&b, name, strlen(name));
	json_text(j, key, b.v ? b.v : "", b.n);
	if (buf_failed(&b))
		j->b->failed = ERR_NOMEM;
	buf_release(&b);
}

static void begin_row(struct json *j, uint32_t line, const struct source_weight *w)
{
	json_open(j, NULL, '[');
	json_u64(j, NULL, line);
	json_u64(j, NULL, w ? w->self + w->inlined : 0);
	json_u64(j, NULL, w ? w->total : 0);
}

static void put_line(struct json *j, const struct source_text *t, uint32_t line,
		     const struct source_weight *w)
{
	const char *p = NULL;
	size_t n = 0;
	source_text_line(t, line, &p, &n);
	begin_row(j, line, w);
	json_text(j, NULL, p, n);
	json_close(j, ']');
}

static void put_inlined(struct json *j, const struct source_sums *s, const struct source_row *r)
{
	begin_row(j, r->line, &r->w[AFTER]);
	json_null(j, NULL);
	json_u64(j, NULL, r->depth);
	put_name(j, NULL, strtab_get(&s->names, s->functions.v[r->function].name));
	json_str(j, NULL, r->file ? strtab_get(&s->stacks->strings, r->file) : NULL);
	json_close(j, ']');
}

/* The lines without weight between two that have some (`next` 0: none follows). */
static void put_between(struct json *j, const struct source_text *t, uint32_t last,
			uint32_t next)
{
	uint32_t n = (uint32_t)t->lines.n, end = next ? next : n + 1;
	for (uint32_t i = last ? last + 1 : 1; i < end && i <= n; i++) {
		int near = (last && i - last <= CONTEXT) || (next && next - i <= CONTEXT);
		if (near)
			put_line(j, t, i, NULL);
		else if (next && next - i > CONTEXT)
			i = next - CONTEXT - 1; /* goes on with those near it */
		else
			break;
	}
}

static void put_file(struct json *j, const struct source_sums *s,
		     const struct source_rows *rows, const struct source_part *part,
		     const struct source_text *t)
{
	uint32_t last = 0;
	json_open(j, NULL, '{');
	json_str(j, "file", part->file ? strtab_get(&s->stacks->strings, part->file) : NULL);
	json_str(j, "text", source_verdict_word(t->verdict));
	json_open(j, "lines", '[');
	for (uint32_t i = 0; i < part->n; i++) {
		const struct source_row *r = &rows->v.v[part->first + i];
		if (r->depth) {
			put_inlined(j, s, r);
			continue;
		}
		if (r->line)
			put_between(j, t, last, r->line);
		put_line(j, t, r->line, &r->w[AFTER]);
		last = r->line ? r->line : last;
	}
	if (last)
		put_between(j, t, last, 0);
	json_close(j, ']');
	json_close(j, '}');
}

void html_source_function(struct json *j, const struct source_sums *s, uint32_t function,
			  const struct source_rows *rows, const struct source_text *texts)
{
	const struct source_function *f = &s->functions.v[function];
	json_open(j, NULL, '{');
	put_name(j, "name", strtab_get(&s->names, f->name));
	put_name(j, "module", strtab_get(&s->names, f->module));
	json_u64(j, "self", f->w.self);
	json_u64(j, "inlined", f->w.inlined);
	json_u64(j, "total", f->w.total);
	json_open(j, "files", '[');
	for (size_t i = 0; i < rows->files.n; i++)
		put_file(j, s, rows, &rows->files.v[i], &texts[i]);
	json_close(j, ']');
	json_close(j, '}');
}
