#include "render/html/html_source.h"
#include "base/mem.h"
#include "render/text/escape.h"
#include "render/text/source_json.h"

#include <stdio.h>
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

static void put_line(struct json *j, const struct source_text *t, uint32_t line, int is_row)
{
	const char *p = NULL;
	size_t n = 0;
	source_text_line(t, line, &p, &n);
	json_open(j, NULL, '[');
	json_u64(j, NULL, line);
	json_text(j, NULL, p, n);
	if (is_row)
		json_u64(j, NULL, 0);
	json_close(j, ']');
}

static void put_inlined(struct json *j, const struct source_sums *s, const struct source_row *r)
{
	json_open(j, NULL, '[');
	json_u64(j, NULL, r->line);
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
			put_line(j, t, i, 0);
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
		put_line(j, t, r->line, 1);
		last = r->line ? r->line : last;
	}
	if (last)
		put_between(j, t, last, 0);
	json_close(j, ']');
	json_close(j, '}');
}

/* Where the codes of a place are among its instructions: row + 1; 0: outside. */
static size_t row_of_code(const struct code_rows *c, const struct source_code *x)
{
	uint64_t va = c->v.n ? c->v.v[0].va + x->at : 0;
	size_t row;
	if (x->place != c->place || !c->v.n)
		return 0;
	return code_row_at(c, va, &row) ? row + 1 : row; /* inside one: it is that before */
}

/* Number the instructions that are put, from 1 (0: left out), with a row's number for one `null`
 * in each gap; *weighty: flags. */
static void choose_code(const struct source_sums *s, const struct code_rows *c,
			uint32_t *number, uint8_t *weighty)
{
	enum { AROUND = 6 };
	for (size_t i = 0; i < s->codes.n; i++) {
		size_t row = row_of_code(c, &s->codes.v[i]);
		if (row)
			weighty[row - 1] = 1;
	}
	size_t until = 0;
	uint32_t n = 0;
	for (size_t i = 0, next = 0; i < c->v.n; i++) {
		next = next < i ? i : next;
		while (next < c->v.n && !weighty[next])
			next++;
		until = weighty[i] ? i + AROUND + 1 : until;
		if (i >= until && (next >= c->v.n || next - i > AROUND))
			continue;
		n += n && !number[i - 1]; /* the gap */
		number[i] = ++n;
	}
}

static void put_code_row(struct json *j, const struct code_rows *c, size_t i,
			 const uint32_t *number, int weighty)
{
	const struct code_row *r = &c->v.v[i];
	char address[2 + 16 + 1];
	size_t to;
	snprintf(address, sizeof(address), "%llx", (unsigned long long)r->va);
	json_open(j, NULL, '[');
	json_str(j, NULL, address);
	json_str(j, NULL, strtab_get(&c->texts, r->text));
	json_u64(j, NULL, r->line);
	if (r->target && code_row_at(c, r->target, &to) && number[to] && to != i)
		json_u64(j, NULL, number[to] - 1);
	else
		json_i64(j, NULL, -1);
	if (weighty)
		json_u64(j, NULL, 0);
	json_close(j, ']');
}

/* Put the instructions, and number those with weight as rows. ERR_NOMEM. */
static int put_code(struct html_source *x, struct json *j, const struct source_sums *s,
		    const struct code_rows *c)
{
	uint32_t *number = mem_zalloc(c->v.n + 1, sizeof(*number)),
		 *row = mem_zalloc(c->v.n + 1, sizeof(*row)), last = 0;
	uint8_t *weighty = mem_zalloc(c->v.n + 1, 1);
	int rc = number && row && weighty ? 0 : ERR_NOMEM;
	if (!rc)
		choose_code(s, c, number, weighty);
	json_open(j, "code", '[');
	for (size_t i = 0; i < c->v.n && !rc; i++) {
		if (!number[i])
			continue;
		if (number[i] > last + 1)
			json_null(j, NULL);
		last = number[i];
		put_code_row(j, c, i, number, weighty[i]);
		row[i] = weighty[i] ? ++x->rows : 0;
	}
	json_close(j, ']');
	for (size_t i = 0; i < s->codes.n && i < x->ncodes && !rc; i++) {
		size_t at = row_of_code(c, &s->codes.v[i]);
		x->code_row[i] = at ? row[at - 1] : x->code_row[i];
	}
	mem_free(number);
	mem_free(row);
	mem_free(weighty);
	return rc;
}

/* --- which rows a stack passes through ---------------------------------------------------- */

static void list_rows(struct html_source *x, const struct source_rows *rows)
{
	for (size_t i = 0; i < rows->files.n; i++)
		for (uint32_t k = 0; k < rows->files.v[i].n; k++)
			x->row[rows->v.v[rows->files.v[i].first + k].of] = ++x->rows;
}

int html_source_begin(struct html_source *x, const struct source_sums *s)
{
	x->nlines = s->lines.n;
	x->ncodes = s->codes.n;
	x->row = mem_zalloc(x->nlines + 1, sizeof(*x->row));
	x->code_row = mem_zalloc(x->ncodes + 1, sizeof(*x->code_row));
	return x->row && x->code_row ? 0 : ERR_NOMEM;
}

int html_source_add(struct html_source *x, struct json *j, const struct source_sums *s,
		    const struct html_source_function *of)
{
	const struct source_function *f = &s->functions.v[of->function];
	int rc = 0;
	json_open(j, NULL, '{');
	put_name(j, "name", strtab_get(&s->names, f->name));
	put_name(j, "module", strtab_get(&s->names, f->module));
	json_open(j, "files", '[');
	for (size_t i = 0; i < of->rows->files.n; i++)
		put_file(j, s, of->rows, &of->rows->files.v[i], &of->texts[i]);
	json_close(j, ']');
	list_rows(x, of->rows);
	if (of->code)
		rc = put_code(x, j, s, of->code);
	else
		json_str(j, "no_code", of->no_code);
	json_close(j, '}');
	return rc;
}

/* The number of the set x->now, which many stacks share. */
static int group_of(struct html_source *x, uint32_t *out)
{
	uint64_t h = 0;
	size_t at = 0;
	for (size_t i = 0; i < x->now.n; i++)
		h = hash_u64(h ^ x->now.v[i]);
	while (idmap_next(&x->group_index, h, &at, out)) {
		const uint32_t *v = &x->group_rows.v[x->groups.v[*out]];
		if (*v == x->now.n && !memcmp(v + 1, x->now.v, x->now.n * sizeof(*v)))
			return 0;
	}
	*out = (uint32_t)x->groups.n;
	if (vec_push(&x->groups, x->group_rows.n) ||
	    vec_push(&x->group_rows, (uint32_t)x->now.n))
		return ERR_NOMEM;
	for (size_t i = 0; i < x->now.n; i++)
		if (vec_push(&x->group_rows, x->now.v[i]))
			return ERR_NOMEM;
	return idmap_put(&x->group_index, h, *out);
}

/* The code of one symbol on the way of a stack. */
static int take_lines(void *source, const struct source_passed *p)
{
	struct html_source *x = source;
	uint32_t group, stack, code = p->code < x->ncodes ? x->code_row[p->code] : 0;
	x->now.n = 0;
	for (size_t i = 0; i < p->n; i++) {
		uint32_t row = p->lines[i] < x->nlines ? x->row[p->lines[i]] : 0;
		size_t k = 0;
		while (k < x->now.n && x->now.v[k] != row - 1)
			k++;
		if (row && k == x->now.n && vec_push(&x->now, row - 1))
			return ERR_NOMEM;
	}
	if (code && vec_push(&x->now, code - 1))
		return ERR_NOMEM;
	if (!x->now.n)
		return 0;
	if (group_of(x, &group))
		return ERR_NOMEM;
	uint64_t key = (uint64_t)x->at << 32 | group;
	if (!u64map_get(&x->stack_index, key, &stack)) {
		struct html_source_stack new = {.up = x->at, .group = group};
		if (vec_push(&x->stacks, new))
			return ERR_NOMEM;
		stack = (uint32_t)x->stacks.n;
		if (u64map_put(&x->stack_index, key, stack))
			return ERR_NOMEM;
	}
	x->at = stack;
	x->ends = p->ends;
	return 0;
}

int html_source_stack(struct html_source *x, struct source_sums *s, uint32_t path,
		      uint32_t *out)
{
	x->at = 0;
	x->ends = 0;
	int rc = source_sums_lines(s, path, take_lines, x);
	*out = x->at << 1 | (uint32_t)x->ends;
	return rc;
}

void html_source_end(const struct html_source *x, struct json *j)
{
	json_open(j, "groups", '[');
	for (size_t i = 0; i < x->groups.n; i++) {
		const uint32_t *v = &x->group_rows.v[x->groups.v[i]];
		json_open(j, NULL, '[');
		for (uint32_t k = 1; k <= *v; k++)
			json_u64(j, NULL, v[k]);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_open(j, "up", '[');
	for (size_t i = 0; i < x->stacks.n; i++)
		json_u64(j, NULL, x->stacks.v[i].up);
	json_close(j, ']');
	json_open(j, "group", '[');
	for (size_t i = 0; i < x->stacks.n; i++)
		json_u64(j, NULL, x->stacks.v[i].group);
	json_close(j, ']');
}

void html_source_release(struct html_source *x)
{
	mem_free(x->row);
	mem_free(x->code_row);
	mem_free(x->of_sample);
	mem_free(x->of_wait);
	vec_release(&x->groups);
	vec_release(&x->group_rows);
	vec_release(&x->stacks);
	vec_release(&x->now);
	idmap_release(&x->group_index);
	u64map_release(&x->stack_index);
	*x = (struct html_source){0};
}
