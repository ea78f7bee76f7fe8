#include "cmd/answer/html_source.h"
#include "base/mem.h"
#include "cmd/answer/source_side.h"
#include "cmd/query/source_input.h"

enum { LEAST_PER_MILLE = 1 };

/* The event with the most selected samples, which the page shows first, or NO_ID for none, in
 * *best. 0 or ERR_NOMEM. */
static int event_of_most(const struct timeline *tl, const struct sample_selection *sel,
			 uint32_t *best)
{
	uint64_t *n = mem_zalloc(tl->events.n + 1, sizeof(*n)), most = 0;
	*best = NO_ID;
	for (size_t i = 0; n && i < tl->samples.n; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		if (x->event < tl->events.n)
			n[x->event] += sample_is_selected(sel, tl, x) != 0;
	}
	for (uint32_t k = 0; n && k < tl->events.n; k++)
		if (n[k] > most) {
			most = n[k];
			*best = k;
		}
	mem_free(n);
	return n ? 0 : ERR_NOMEM;
}

/* What is being made. */
struct making {
	struct tlinput *ti;
	const struct html_source_opts *o;
	const struct sample_selection *samples;
	const struct population *waits;
	struct source_sums sums;
	struct function_sums stacks; /* to be added to the sums */
	source_picks picks;
	VEC(uint8_t) has; /* flags by function: picked */
	struct html_source *out;
	struct err *e;
};

/* Add the stacks gathered to the sums, whose functions have only their weights then. */
static int add_stacks(struct making *m)
{
	for (size_t i = 0; i < m->sums.functions.n; i++)
		m->sums.functions.v[i].w = (struct source_weight){0};
	m->sums.all = 0;
	int rc = source_sums_add_all(&m->sums, &m->stacks);
	function_sums_release(&m->stacks);
	m->stacks = (struct function_sums){.stacks = m->sums.stacks};
	while (!rc && m->has.n < m->sums.functions.n)
		rc = vec_push(&m->has, 0);
	return rc;
}

/* The samples of one event, or (`others`) of all others, whose lines are there without weight. */
static int add_samples(struct making *m, uint32_t event, int others)
{
	const struct timeline *tl = &m->ti->tl;
	int rc = 0;
	for (size_t i = 0; i < tl->samples.n && !rc; i++) {
		const struct tl_sample *x = &tl->samples.v[i];
		if ((x->event == event) != others && sample_is_selected(m->samples, tl, x))
			rc = function_sums_add(&m->stacks, 0, x->path, others ? 0 : x->period,
					       1);
	}
	return rc ? rc : add_stacks(m);
}

static int add_waits(struct making *m)
{
	const struct timeline *tl = &m->ti->tl;
	int rc = 0;
	m->sums.waits_of = tl;
	for (size_t i = 0; i < tl->offcpu.n && !rc; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		struct wait w;
		if (population_wait(m->waits, tl, o, &w) && w.apart == APART_NOT)
			rc = function_sums_add(&m->stacks, 0, o->path,
					       w.blocked + w.unknown + w.runnable, 1);
	}
	rc = rc ? rc : add_stacks(m);
	m->sums.waits_of = NULL;
	return rc;
}

static int add_picks(struct making *m, const source_picks *more)
{
	int rc = 0;
	for (size_t i = 0; i < more->n && !rc; i++) {
		if (!m->has.v[more->v[i]])
			rc = vec_push(&m->picks, more->v[i]);
		m->has.v[more->v[i]] = 1;
	}
	return rc;
}

static int pick_named(struct making *m)
{
	int rc = 0;
	for (size_t i = 0; i < m->o->functions.n && !rc; i++) {
		source_picks v = {0};
		rc = source_pick_functions(&m->sums, m->o->functions.v[i], &v);
		rc = rc ? rc : add_picks(m, &v);
		vec_release(&v);
	}
	return rc;
}

/* Those with enough of what was added last. */
static int pick_heavy(struct making *m)
{
	const struct source_sums *s = &m->sums;
	source_picks v = {0};
	size_t n = 0;
	int rc = m->o->functions.n ? 0 : source_pick_functions(s, NULL, &v);
	for (size_t i = 0; i < v.n && !rc; i++) {
		uint64_t w = s->functions.v[v.v[i]].w.total;
		if (w && (double)w * 1000 >= (double)s->all * LEAST_PER_MILLE)
			v.v[n++] = v.v[i];
	}
	v.n = n;
	rc = rc ? rc : add_picks(m, &v);
	vec_release(&v);
	return rc;
}

static int sum_up(struct making *m)
{
	uint32_t event;
	int rc = event_of_most(&m->ti->tl, m->samples, &event);
	rc = rc || event == NO_ID ? rc : add_samples(m, event, 0);
	rc = rc ? rc : pick_heavy(m);
	rc = rc ? rc : add_waits(m);
	rc = rc ? rc : pick_heavy(m);
	rc = rc || event == NO_ID ? rc : add_samples(m, event, 1);
	return rc || !m->o->functions.n ? rc : pick_named(m);
}

static int has_lines(const struct source_rows *r)
{
	for (size_t i = 0; i < r->files.n; i++)
		if (r->files.v[i].file)
			return 1;
	return 0;
}

/* With its instructions, if they are known. */
static int add_function(struct making *m, struct json *j, struct html_source_function *f)
{
	struct source_side side = {.src = {.ti = m->ti, .stacks = m->sums.stacks},
				   .sums = m->sums}; /* borrowed */
	struct code_rows code = {0};
	struct buf why = {0};
	int rc = source_side_code(&side, f->function, &code, &why, m->e);
	if (rc >= 0) {
		f->code = rc ? &code : NULL;
		f->no_code = buf_cstr(&why);
		rc = html_source_add(m->out, j, &m->sums, f);
	}
	source_code_release(&code);
	buf_release(&why);
	return rc;
}

static int put_function(struct making *m, struct json *j, uint32_t function)
{
	const struct html_source_opts *o = m->o;
	const struct source_sums *s = &m->sums;
	struct source_rows rows = {0};
	struct source_options roots = {.dirs = o->dirs.v,
				       .ndirs = o->dirs.n,
				       .maps = o->maps.v,
				       .nmaps = o->maps.n,
				       .git = o->texts};
	int rc = source_rows_of(&rows, s, function, 1);
	struct source_text *texts = mem_zalloc(rows.files.n + 1, sizeof(*texts));
	rc = rc || texts ? rc : ERR_NOMEM;
	int has = !rc && has_lines(&rows);
	for (size_t i = 0; i < rows.files.n && has && !rc; i++)
		rc = tlinput_text(m->ti, &roots, &s->stacks->strings, rows.files.v[i].file,
				  rows.v.v[rows.files.v[i].first].dso, &texts[i], m->e);
	if (has && !rc)
		rc = add_function(m, j,
				  &(struct html_source_function){
					  .function = function, .rows = &rows, .texts = texts});
	for (size_t i = 0; texts && i < rows.files.n; i++)
		source_text_release(&texts[i]);
	mem_free(texts);
	source_rows_release(&rows);
	return rc;
}

/* Which rows the stack of each sample and wait passes through. */
static int number_stacks(struct making *m)
{
	const struct timeline *tl = &m->ti->tl;
	struct html_source *x = m->out;
	x->npaths = tl->stacks->paths.n;
	x->of_sample = mem_zalloc(x->npaths + 1, sizeof(*x->of_sample));
	x->of_wait = mem_zalloc(x->npaths + 1, sizeof(*x->of_wait));
	int rc = x->of_sample && x->of_wait ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < tl->samples.n && !rc; i++) {
		uint32_t path = tl->samples.v[i].path;
		if (path && !x->of_sample[path])
			rc = html_source_stack(x, &m->sums, path, &x->of_sample[path]);
	}
	m->sums.waits_of = tl;
	for (size_t i = 0; i < tl->offcpu.n && !rc; i++) {
		uint32_t path = tl->offcpu.v[i].path;
		if (path && !x->of_wait[path])
			rc = html_source_stack(x, &m->sums, path, &x->of_wait[path]);
	}
	return rc;
}

static int put_all(struct making *m, struct buf *b)
{
	struct json j = {.b = b};
	int rc = html_source_begin(m->out, &m->sums);
	json_open(&j, NULL, '{');
	json_open(&j, "functions", '[');
	for (size_t i = 0; i < m->picks.n && !rc; i++)
		rc = put_function(m, &j, m->picks.v[i]);
	json_close(&j, ']');
	if (m->out->rows && !rc) {
		rc = number_stacks(m);
		html_source_end(m->out, &j);
	}
	json_close(&j, '}');
	if (!m->out->rows)
		buf_clear(b);
	return rc ? rc : buf_failed(b) ? ERR_NOMEM : 0;
}

int html_source_make(struct tlinput *ti, const struct sample_selection *samples,
		     const struct population *waits, const struct html_source_opts *o,
		     struct html_source *out, struct buf *b, struct err *e)
{
	struct making m = {.ti = ti,
			   .o = o,
			   .samples = samples,
			   .waits = waits,
			   .sums = {.stacks = ti->tl.stacks, .code = 1},
			   .stacks = {.stacks = ti->tl.stacks},
			   .out = out,
			   .e = e};
	int rc = sum_up(&m);
	rc = rc ? rc : put_all(&m, b);
	source_sums_release(&m.sums);
	function_sums_release(&m.stacks);
	vec_release(&m.picks);
	vec_release(&m.has);
	return rc == ERR_NOMEM ? err_nomem(e) : rc;
}
