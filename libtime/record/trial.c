#include "libtime/record/trial.h"
#include "base/vec.h"
#include "libparse/sample.h"
#include "libsym/profile.h"

#include <string.h>

enum {
	TRIAL_DUMP = 16384,
	ENOUGH = 20,          /* waits to judge by */
	ALIKE_PERCENT = 98,   /* of all waits ... */
	OF_EACH_PERCENT = 90, /* ... and of those of each thread */
	START_FRAMES = 2,     /* __libc_start_main and _start, or clone */
	NEAR_NS = 10000000,   /* two samples of one switch */
	COPY_FLOOR = 2048,    /* less is hardly a stack */
	COPY_STEP = 8,        /* perf takes multiples of it */
	WAIT_REST = 650,      /* bytes of a wait's records beside the copy, as in price.c */
};

void trial_words(struct words *w, const struct chosen *c)
{
	words_pair(w, "-k", "CLOCK_MONOTONIC");
	words_add(w, "-aNBq");
	words_pair(w, "-c", "1");
	words_add(w, "-e");
	words_add(w, "%s/call-graph=dwarf,stack-size=%d/", plan_sched_events[0].name,
		  TRIAL_DUMP);
	words_pair(w, "--filter", c->leaving);
	words_add(w, "-e");
	words_add(w, "%s/call-graph=fp/", plan_sched_events[0].name);
	words_pair(w, "--filter", c->leaving);
}

/* A thread's waits. */
struct trial_thread {
	int32_t tid;
	uint64_t waits, alike;
};

/* A stack of user addresses, leaf first, and whose it is. */
struct trial_stack {
	int32_t tid;
	uint32_t cpu;
	int whole;   /* of a copy: it was unwound to the thread's start */
	uint64_t ns; /* 0: none */
	VEC(uint64_t) words;
};

struct trial_reader {
	struct profile *p;
	struct expander *expander;
	struct trial_stack copied, chain; /* the last of each kind */
	VEC(struct trial_thread) threads;
	uint64_t first_ns, last_ns;
};

static struct trial_thread *thread_of(struct trial_reader *r, int32_t tid)
{
	for (size_t i = 0; i < r->threads.n; i++)
		if (r->threads.v[i].tid == tid)
			return &r->threads.v[i];
	struct trial_thread t = {.tid = tid};
	return vec_push(&r->threads, t) ? NULL : &r->threads.v[r->threads.n - 1];
}

/* Return addresses of unwound frames are those of the calls, one byte earlier. */
static int are_alike(const struct trial_stack *copied, const struct trial_stack *chain)
{
	size_t n = copied->words.n, same = 0;
	if (!copied->whole || !n)
		return 0;
	while (same < n && same < chain->words.n &&
	       chain->words.v[same] - copied->words.v[same] <= 1)
		same++;
	return same == n || (same > START_FRAMES && same + START_FRAMES >= n);
}

static int compare(struct trial_reader *r)
{
	const struct trial_stack *a = &r->copied, *b = &r->chain;
	uint64_t apart = a->ns > b->ns ? a->ns - b->ns : b->ns - a->ns;
	if (!a->ns || !b->ns || a->tid != b->tid || a->cpu != b->cpu || apart > NEAR_NS)
		return 0;
	struct trial_thread *t = thread_of(r, a->tid);
	if (!t)
		return ERR_NOMEM;
	r->first_ns = r->first_ns ? r->first_ns : a->ns;
	r->last_ns = a->ns;
	t->waits++;
	t->alike += (uint64_t)are_alike(a, b);
	r->copied.ns = r->chain.ns = 0;
	return 0;
}

/* Keep the user's part of a stack. */
static int keep(struct trial_stack *out, const struct sample *s, const uint8_t *words, size_t n,
		int swap)
{
	int user = 0;
	out->tid = s->tid;
	out->cpu = s->cpu;
	out->ns = s->time;
	out->words.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t w = load_u64(words + i * 8, swap);
		if (is_chain_marker(w))
			user = w == PERF_CONTEXT_USER || w == UNWOUND_USER ||
			       (user && w == UNWOUND_GUESS);
		else if (user && vec_push(&out->words, w))
			return ERR_NOMEM;
	}
	return 0;
}

static int take_sample(struct trial_reader *r, const struct record *rec)
{
	const struct event *ev = recording_event(r->p->rec, rec);
	struct thread_view v;
	struct sample s;
	const uint64_t *words;
	size_t n;
	int swap = r->p->rec->swap;
	if (!ev || sample_decode(rec, ev, swap, &s, NULL) || s.pid <= 0)
		return 0;
	const struct expand_counts *counts = expander_counts(r->expander);
	uint64_t whole = counts->by_end[UNWIND_COMPLETE];
	machine_thread_at(&r->p->machine, s.pid, s.tid, s.time, &v);
	int got = expander_expand(r->expander, &s, &v, swap, &words, &n);
	if (got < 0)
		return got;
	if (got)
		r->copied.whole = counts->by_end[UNWIND_COMPLETE] > whole;
	int rc = got ? keep(&r->copied, &s, (const uint8_t *)words, n, 0)
		     : keep(&r->chain, &s, s.callchain.p, s.callchain.n, swap);
	return rc ? rc : compare(r);
}

static int read_sideband(struct profile *p, struct err *e)
{
	struct record r;
	struct record_id id;
	int got;
	while ((got = recording_next(p->rec, &r, e)) == 1) {
		if (!record_is_sideband(r.type))
			continue;
		recording_id(p->rec, &r, &id);
		int rc =
			machine_apply(&p->machine, p->rec, &r, id.has_time ? id.time : 0, NULL);
		if (rc && rc != ERR_FORMAT)
			return err_nomem(e);
	}
	if (got < 0)
		return got;
	if (machine_advance(&p->machine, TIME_END, NULL) ||
	    machine_set_build_ids(&p->machine, p->rec, NULL))
		return err_nomem(e);
	return recording_rewind(p->rec, e);
}

static int read_all(struct trial_reader *r, struct err *e)
{
	struct record rec;
	int got, rc = read_sideband(r->p, e);
	rc = rc ? rc
		: expander_new(&r->expander, r->p->rec, &r->p->machine, r->p->modules, NULL, 0,
			       e);
	if (rc)
		return rc;
	while ((got = recording_next(r->p->rec, &rec, e)) == 1)
		if (rec.type == PERF_RECORD_SAMPLE && take_sample(r, &rec))
			return err_nomem(e);
	return got;
}

static void judge(struct stack_trial *t, const struct trial_reader *r)
{
	int each = 1;
	for (size_t i = 0; i < r->threads.n; i++) {
		const struct trial_thread *x = &r->threads.v[i];
		t->waits += x->waits;
		t->alike += x->alike;
		each &= x->alike * 100 >= x->waits * OF_EACH_PERCENT;
	}
	uint64_t ns = r->last_ns > r->first_ns ? r->last_ns - r->first_ns : 0;
	uint64_t all = t->waits + r->p->rec->stats.lost / 2;
	if (ns && t->waits >= ENOUGH)
		t->per_second = (uint64_t)((double)all * 1e9 / (double)ns);
	t->fp = each && t->waits >= ENOUGH && t->alike * 100 >= t->waits * ALIKE_PERCENT;
}

int trial_read(struct stack_trial *t, const char *path, struct err *e)
{
	struct profile_options opt = {0};
	struct trial_reader r = {0};
	*t = (struct stack_trial){0};
	int rc = profile_open(&r.p, path, &opt, e);
	rc = rc ? rc : read_all(&r, e);
	if (!rc)
		judge(t, &r);
	expander_free(r.expander);
	vec_release(&r.copied.words);
	vec_release(&r.chain.words);
	vec_release(&r.threads);
	profile_close(r.p);
	return rc;
}

int trial_copy(const struct stack_trial *t, int copy)
{
	if (t->fp)
		return GRAPH_FP;
	while (copy > COPY_FLOOR && t->per_second * (uint64_t)(copy + WAIT_REST) > PLAN_BUDGET)
		copy = copy / 2 > COPY_FLOOR ? copy / 2 / COPY_STEP * COPY_STEP : COPY_FLOOR;
	return t->per_second * (uint64_t)(copy + WAIT_REST) > PLAN_BUDGET ? GRAPH_FP : copy;
}

void trial_text(struct buf *b, const struct stack_trial *t, int copy)
{
	int got = trial_copy(t, copy);
	if (got == GRAPH_FP)
		buf_str(b, "# stacks by frame pointers");
	else
		buf_fmt(b, "# stack copies of %d bytes", got);
	if (got != copy && !t->fp)
		buf_fmt(b,
			", not copies of %d (--stacks dwarf:%d): a trial had %llu waits a "
			"second, "
			"and they may take %d MB/s\n# ",
			copy, copy, (unsigned long long)t->per_second, PLAN_BUDGET / 1000000);
	else
		buf_str(b, ": ");
	if (t->waits < ENOUGH)
		buf_fmt(b,
			"too few waits (%llu) in a trial to know if frame pointers suffice\n",
			(unsigned long long)t->waits);
	else
		buf_fmt(b,
			"in a trial, %llu of %llu waits had the same stack by frame pointers "
			"as "
			"by copies\n",
			(unsigned long long)t->alike, (unsigned long long)t->waits);
}
