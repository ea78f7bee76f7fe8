#include "render/text/source_json.h"

static void put_weight(struct json *j, const struct source_weight *w)
{
	json_u64(j, "self", w->self);
	json_u64(j, "inlined", w->inlined);
	json_u64(j, "total", w->total);
}

void source_json_counters(struct json *j, const char *key, const struct source_counters *c,
			  const uint64_t *counts)
{
	if (!c->n)
		return;
	json_open(j, key, '{');
	for (size_t k = 0; k < c->n; k++)
		json_u64(j, c->names[k], counts[k]);
	json_close(j, '}');
}

static void put_function(struct json *j, const char *key, const struct source_sums *s,
			 uint32_t function)
{
	json_str(j, key, strtab_get(&s->names, s->functions.v[function].name));
}

/* An id of the stacks' strings; 0: null. */
static void put_string(struct json *j, const char *key, const struct source_sums *s,
		       uint32_t id)
{
	json_str(j, key, id ? strtab_get(&s->stacks->strings, id) : NULL);
}

void source_json_functions(struct json *j, const struct source_sums *s,
			   const struct source_counters *c, const uint32_t *picks, size_t n,
			   size_t shown)
{
	json_open(j, "functions", '[');
	for (size_t i = 0; i < n && i < shown; i++) {
		const struct source_function *f = &s->functions.v[picks[i]];
		json_open(j, NULL, '{');
		put_function(j, "name", s, picks[i]);
		json_str(j, "module", strtab_get(&s->names, f->module));
		put_weight(j, &f->w);
		source_json_counters(j, "counters", c, f->counts);
		json_u64(j, "samples", f->samples);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_line(struct json *j, const struct source_sums *s,
		     const struct source_counters *c, const struct source_row *r,
		     const struct source_text *text, int two)
{
	const char *p;
	size_t n;
	json_u64(j, "line", r->line);
	if (r->depth) {
		put_function(j, "function", s, r->function);
		put_string(j, "file", s, r->file);
	} else if (!r->gone && source_text_line(text, r->line, &p, &n)) {
		json_text(j, "text", p, n);
	}
	if (r->gone)
		json_bool(j, "gone", 1);
	put_weight(j, &r->w[AFTER]);
	if (r->of < s->lines.n)
		source_json_counters(j, "counters", c, s->lines.v[r->of].counts);
	if (two) {
		json_open(j, "before", '{');
		put_weight(j, &r->w[BEFORE]);
		json_close(j, '}');
	}
}

void source_json_lines(struct json *j, const struct source_sums *s,
		       const struct source_counters *c, const struct source_rows *rows,
		       const struct source_text *texts, int two)
{
	json_open(j, "files", '[');
	for (size_t i = 0; i < rows->files.n; i++) {
		const struct source_part *p = &rows->files.v[i];
		json_open(j, NULL, '{');
		put_string(j, "file", s, p->file);
		json_str(j, "text", source_verdict_word(texts[i].verdict));
		json_str(j, "found", texts[i].path);
		json_open(j, "lines", '[');
		for (uint32_t k = 0; k < p->n; k++) {
			const struct source_row *r = &rows->v.v[p->first + k];
			uint32_t next = k + 1 < p->n ? r[1].depth : 0;
			json_open(j, NULL, '{');
			put_line(j, s, c, r, &texts[i], two);
			if (next > r->depth)
				json_open(j, "inlined_calls", '[');
			else
				json_close(j, '}');
			for (uint32_t d = r->depth; d > next; d--) {
				json_close(j, ']');
				json_close(j, '}');
			}
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

void source_json_places(struct json *j, const struct source_sums *s, uint32_t function)
{
	json_open(j, "places", '[');
	for (size_t i = 0; i < s->places.n; i++) {
		const struct source_place *p = &s->places.v[i];
		if (p->function != function)
			continue;
		json_open(j, NULL, '{');
		put_string(j, "module", s, p->dso);
		if (p->name) {
			json_u64_text(j, "address", p->addr);
		} else if (p->caller != NO_ID) {
			const struct source_line *l = &s->lines.v[p->caller];
			put_function(j, "inlined_into", s, l->function);
			put_string(j, "file", s, l->file);
			json_u64(j, "line", l->line);
		}
		put_weight(j, &p->w);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_runs(struct json *j, const struct code_rows *c)
{
	json_open(j, "paths", '[');
	for (size_t i = 0; i < c->runs.n; i++) {
		const struct code_run *r = &c->runs.v[i];
		json_open(j, NULL, '{');
		json_u64_text(j, "first", c->v.v[r->first].va);
		json_u64_text(j, "last", c->v.v[r->last].va);
		json_u64(j, "times", r->times);
		if (r->timed) {
			json_u64(j, "cycles", r->cycles);
			json_u64(j, "timed", r->timed);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

void source_json_code(struct json *j, const struct code_rows *c)
{
	json_open(j, "instructions", '[');
	for (size_t i = 0; i < c->v.n; i++) {
		const struct code_row *r = &c->v.v[i];
		json_open(j, NULL, '{');
		json_u64_text(j, "address", r->va);
		json_str(j, "text", strtab_get(&c->texts, r->text));
		if (r->target)
			json_u64_text(j, "target", r->target);
		if (r->line)
			json_u64(j, "line", r->line);
		json_u64(j, "self", r->self);
		json_u64(j, "total", r->total);
		if (r->taken) {
			json_u64(j, "taken", r->taken);
			json_u64(j, "mispredicted", r->mispredicted);
		}
		if (r->timed) {
			json_u64(j, "cycles", r->cycles);
			json_u64(j, "timed", r->timed);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
	if (c->runs.n)
		put_runs(j, c);
}
