#include "cmd/answer/html_source.h"
#include "base/mem.h"
#include "cmd/answer/source_side.h"
#include "render/html/html_source.h"

enum { LEAST_PER_MILLE = 1 };

/* The event with the most selected samples, which the page shows first; NO_ID: none. */
static uint32_t event_of_most(const struct timeline *tl, const struct sample_selection *sel)
{
	uint64_t most = 0;
	uint32_t best = NO_ID;
	for (uint32_t k = 0; k < tl->events.n; k++) {
		uint64_t n = 0;
		for (size_t i = 0; i < tl->samples.n; i++)
			n += tl->samples.v[i].event == k &&
			     sample_is_selected(sel, tl, &tl->samples.v[i]);
		if (n > most) {
			most = n;
			best = k;
		}
	}
	return best;
}

static int add_samples(struct function_sums *out, const struct timeline *tl,
		       const struct sample_selection *sel, uint32_t event)
{
	int rc = 0;
	for (size_t i = 0; i < tl->samples.n && !rc; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		if (x->event == event && sample_is_selected(sel, tl, x))
			rc = function_sums_add(out, 0, x->path,
					       tl->events.v[event].tracepoint ? 1 : x->period,
					       1);
	}
	return rc;
}

static int add_picks(source_picks *out, uint8_t *has, const source_picks *more)
{
	int rc = 0;
	for (size_t i = 0; i < more->n && !rc; i++) {
		if (!has[more->v[i]])
			rc = vec_push(out, more->v[i]);
		has[more->v[i]] = 1;
	}
	return rc;
}

static int pick_named(const struct source_sums *s, const struct opt_list *names,
		      source_picks *out)
{
	uint8_t *has = mem_zalloc(s->functions.n + 1, 1);
	int rc = has ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < names->n && !rc; i++) {
		source_picks v = {0};
		rc = source_pick_functions(s, names->v[i], &v);
		rc = rc ? rc : add_picks(out, has, &v);
		vec_release(&v);
	}
	mem_free(has);
	return rc;
}

static int pick(const struct source_sums *s, const struct html_source_opts *o,
		source_picks *out)
{
	size_t n = 0;
	if (o->functions.n)
		return pick_named(s, &o->functions, out);
	int rc = source_pick_functions(s, NULL, out);
	for (size_t i = 0; i < out->n && !rc; i++)
		if ((double)s->functions.v[out->v[i]].w.total * 1000 >=
		    (double)s->all * LEAST_PER_MILLE)
			out->v[n++] = out->v[i];
	out->n = n;
	return rc;
}

static int has_lines(const struct source_rows *r)
{
	for (size_t i = 0; i < r->files.n; i++)
		if (r->files.v[i].file)
			return 1;
	return 0;
}

static int put_function(struct json *j, const struct tlinput *ti,
			const struct html_source_opts *o, const struct source_sums *s,
			uint32_t function)
{
	struct source_rows rows = {0};
	struct source_options roots = {
		.dirs = o->dirs.v, .ndirs = o->dirs.n, .maps = o->maps.v, .nmaps = o->maps.n};
	int rc = source_rows_of(&rows, s, function, 1);
	struct source_text *texts = mem_zalloc(rows.files.n + 1, sizeof(*texts));
	rc = rc || texts ? rc : ERR_NOMEM;
	int has = !rc && has_lines(&rows);
	for (size_t i = 0; i < rows.files.n && has && !rc; i++)
		rc = source_text_of(&ti->in, &roots, &s->stacks->strings, rows.files.v[i].file,
				    rows.v.v[rows.files.v[i].first].dso, &texts[i]);
	if (has && !rc)
		html_source_function(j, s, function, &rows, texts);
	for (size_t i = 0; texts && i < rows.files.n; i++)
		source_text_release(&texts[i]);
	mem_free(texts);
	source_rows_release(&rows);
	return rc;
}

static int put_all(struct buf *out, const struct tlinput *ti, const struct html_source_opts *o,
		   const struct source_sums *s, uint32_t event)
{
	struct json j = {.b = out};
	source_picks picks = {0};
	int rc = pick(s, o, &picks);
	json_open(&j, NULL, '{');
	json_u64(&j, "event", event);
	json_u64(&j, "weight", s->all);
	json_open(&j, "functions", '[');
	size_t before = out->n;
	for (size_t i = 0; i < picks.n && !rc; i++)
		rc = put_function(&j, ti, o, s, picks.v[i]);
	int some = out->n > before;
	json_close(&j, ']');
	json_close(&j, '}');
	if (!some)
		buf_clear(out);
	vec_release(&picks);
	return rc;
}

int html_source_make(const struct tlinput *ti, const struct sample_selection *samples,
		     const struct html_source_opts *o, struct buf *out)
{
	const struct timeline *tl = &ti->tl;
	struct function_sums stacks = {.stacks = tl->stacks};
	struct source_sums sums = {.stacks = tl->stacks};
	uint32_t event = event_of_most(tl, samples);
	int rc = event == NO_ID ? 0 : add_samples(&stacks, tl, samples, event);
	rc = rc ? rc : source_sums_add_all(&sums, &stacks);
	if (!rc && event != NO_ID)
		rc = put_all(out, ti, o, &sums, event);
	source_sums_release(&sums);
	function_sums_release(&stacks);
	return rc ? rc : buf_failed(out) ? ERR_NOMEM : 0;
}
