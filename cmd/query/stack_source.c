#include "cmd/query/stack_source.h"
#include "base/mem.h"
#include "base/radix.h"

static int open_timeline(struct stack_source *s, const char *verb, const char *path)
{
	int times = s->asked == STACKS_OF_WALL || s->asked == STACKS_OF_CHAINS;
	struct wait_selection unused;
	struct err e;
	if (waits_shown(&unused, &s->opt->wait, &e)) /* before the input is read */
		return input_fail(NULL, &e);
	return tlinput_open(&s->own, verb, &s->opt->wait.tl, path,
			    times ? &tlinput_times : &tlinput_sums);
}

int stack_source_open(struct stack_source *s, const char *verb, enum stack_question asked,
		      const struct tail_opts *opt, const char *path, struct source *src,
		      unsigned by)
{
	*s = (struct stack_source){
		.asked = asked, .opt = opt, .by = by, .event = NO_ID, .run.opt = opt};
	int samples = asked == STACKS_OF_SAMPLES, tail = asked >= STACKS_OF_TAIL;
	int rc = samples ? samples_open(&s->samples, verb, &opt->wait.tl, path, src, by)
		 : tail  ? tail_open(&s->run, verb, path, &s->tail)
			 : open_timeline(s, verb, path);
	s->ti = samples ? &s->samples.ti : tail ? &s->run.ti : &s->own;
	s->stacks = samples ? s->samples.stacks : s->ti->tl.stacks;
	return rc;
}

/* The same for threads or processes that are rows of their own. */
static int group_by_thread(const struct samples *x, unsigned by, uint32_t *order)
{
	struct radix_key *a = mem_zalloc(x->n + 1, sizeof(*a)),
			 *b = mem_zalloc(x->n + 1, sizeof(*b));
	for (size_t i = 0; a && b && i < x->n; i++) {
		uint32_t id = (uint32_t)(by & BY_TID ? x->v[i].tid : x->v[i].pid);
		a[i] = (struct radix_key){(uint64_t)x->v[i].comm << 32 | id, i};
	}
	const struct radix_key *sorted = a && b ? radix_sort(a, b, x->n) : NULL;
	for (size_t i = 0; sorted && i < x->n; i++)
		order[i] = (uint32_t)sorted[i].at;
	mem_free(a);
	mem_free(b);
	return sorted ? 0 : ERR_NOMEM;
}

/* The rows in *order, those of one root of the tree together, each group as it was: their stacks
 * then share callers with the row before. 0 or ERR_NOMEM. */
static int group_rows(const struct samples *x, unsigned by, uint32_t **order)
{
	*order = mem_alloc(x->n * sizeof(**order));
	if (*order && by & (BY_PID | BY_TID))
		return group_by_thread(x, by, *order);
	uint32_t *first = mem_zalloc(strtab_count(&x->stacks->strings) + 2, sizeof(*first));
	for (size_t i = 0; first && *order && i < x->n; i++)
		first[x->v[i].comm + 1]++;
	for (size_t i = 1; first && i < strtab_count(&x->stacks->strings) + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; first && *order && i < x->n; i++)
		(*order)[first[x->v[i].comm]++] = (uint32_t)i;
	int rc = first && *order ? 0 : ERR_NOMEM;
	mem_free(first);
	return rc;
}

static int sample_rows(struct stack_source *s, stack_row_sink *add, void *ctx, struct err *e)
{
	const struct samples *x = &s->samples;
	uint32_t *order;
	int rc = group_rows(x, s->by, &order) ? err_nomem(e) : 0;
	for (size_t i = 0; i < x->n && !rc; i++) {
		enum { AHEAD = 16 };
		struct stack_row r = {.of = x->v[order[i]]};
		__builtin_prefetch(&x->v[order[i + AHEAD < x->n ? i + AHEAD : i]]);
		if (s->event != NO_ID && !s->is(x, r.of.event, s->event)) {
			s->left_out += r.of.samples;
			continue;
		}
		s->shown += r.of.samples;
		r.of.weight = s->count ? r.of.samples : samples_weight(x, &r.of);
		rc = add(ctx, &r, e);
	}
	mem_free(order);
	return rc;
}

static int wait_rows_of(struct stack_source *s, stack_row_sink *add, void *ctx, struct err *e)
{
	struct wait_selection which;
	unsigned by = (s->by & BY_PID ? WAITS_BY_PID : 0) |
		      (s->by & BY_TID ? WAITS_BY_TID : 0) | (s->causes ? WAITS_BY_CAUSE : 0) |
		      (s->states ? WAITS_BY_STATE : 0) |
		      (s->asked == STACKS_OF_WAKERS ? WAITS_BY_WAKER : 0);
	int rc = waits_selection(&which, s->ti, &s->opt->wait, by, e);
	return rc ? rc : stack_rows_waits(&s->ti->tl, &which, add, ctx, &s->hidden, e);
}

int stack_source_rows(struct stack_source *s, stack_row_sink *add, void *ctx, struct err *e)
{
	const struct population of = waits_population(s->ti, &s->opt->wait);
	switch (s->asked) {
	case STACKS_OF_SAMPLES:
		return sample_rows(s, add, ctx, e);
	case STACKS_OF_WALL:
		return stack_rows_wall(&s->ti->tl, &of, add, ctx, &s->hidden, e);
	case STACKS_OF_CHAINS:
		return stack_rows_chains(&s->ti->tl, &of, add, ctx, &s->hidden, e);
	case STACKS_OF_TAIL:
		return stack_rows_tail(&s->tail, add, ctx, e);
	case STACKS_OF_TAIL_ROOTS:
		return stack_rows_tail_roots(&s->tail, add, ctx, e);
	default:
		return wait_rows_of(s, add, ctx, e);
	}
}

void stack_source_close(struct stack_source *s)
{
	set_apart_release(&s->hidden);
	if (s->asked == STACKS_OF_SAMPLES) {
		samples_close(&s->samples);
		return;
	}
	if (s->asked >= STACKS_OF_TAIL)
		tail_release(&s->tail);
	tlinput_close(s->ti);
}
