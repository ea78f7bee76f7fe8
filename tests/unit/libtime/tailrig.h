/*
 * tailrig.h - hand-made timelines for the tests of `tail`.
 *
 * Times are µs. A rig's threads run wherever they have no interval.
 */
#ifndef TESTS_TAILRIG_H
#define TESTS_TAILRIG_H

#include "tests/lib/unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "libtime/explain/tail_model.h"

struct rig {
	struct stacks stacks;
	struct timeline tl;
};

static inline void rig_init(struct rig *r, uint64_t end_us)
{
	*r = (struct rig){0};
	assert_int_equal(timeline_init(&r->tl, &r->stacks), 0);
	r->tl.flags = TL_HAS_SWITCH | TL_HAS_WAKING | TL_HAS_WAKEUP;
	r->tl.rec.end_ns = end_us * 1000;
	r->tl.rec.ncpus = 2;
}

static inline void rig_release(struct rig *r)
{
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

static inline uint32_t text(struct rig *r, const char *s)
{
	uint32_t id;
	assert_int_equal(strtab_intern(&r->stacks.strings, s, &id), 0);
	return id;
}

/* "main;serve@12;[k]futex_wait": user frames of /bin/app, at line 12; those of libc after
 * "c:", of Ruby after "r:". */
static inline uint32_t path(struct rig *r, const char *s)
{
	uint32_t at = 0;
	char copy[256], *save = NULL;
	snprintf(copy, sizeof(copy), "%s", s);
	for (char *w = strtok_r(copy, ";", &save); w; w = strtok_r(NULL, ";", &save)) {
		struct frame f = {.kind = FRAME_USER};
		uint32_t id;
		f.dso = text(r, "/bin/app");
		if (!strncmp(w, "[k]", 3)) {
			f.kind = FRAME_KERNEL;
			f.dso = text(r, "[kernel.kallsyms]");
			w += 3;
		} else if (!strncmp(w, "c:", 2)) {
			f.dso = text(r, "/lib/libc.so.6");
			w += 2;
		} else if (!strncmp(w, "r:", 2)) {
			f.dso = text(r, "/lib/libruby.so.3.1");
			w += 2;
		}
		char *line = strchr(w, '@');
		f.line = line ? (uint32_t)atoi(line + 1) : 0;
		if (line)
			*line = 0;
		f.name = text(r, w);
		assert_int_equal(stacks_frame(&r->stacks, &f, &id), 0);
		assert_int_equal(stacks_push(&r->stacks, at, id, &at), 0);
	}
	return at;
}

static inline uint32_t thread(struct rig *r, const char *name, int tid, uint16_t cpu)
{
	struct tl_thread t = {.pid = 100,
			      .tid = tid,
			      .comm = text(r, name),
			      .last_ns = r->tl.rec.end_ns,
			      .first_cpu = cpu,
			      .first_prio = 120};
	assert_int_equal(vec_push(&r->tl.threads, t), 0);
	return (uint32_t)r->tl.threads.n - 1;
}

/* An interval; change what differs from a plain wait on CPU 0 in the returned one, before the
 * next call. */
static inline struct offcpu *off(struct rig *r, uint32_t t, uint64_t out, uint64_t woken,
				 uint64_t in, uint8_t cause, const char *stack)
{
	struct offcpu o = {.start_ns = out * 1000,
			   .end_ns = in * 1000,
			   .blocked_ns = (woken - out) * 1000,
			   .thread = t,
			   .comm = r->tl.threads.v[t].comm,
			   .path = path(r, stack),
			   .waker = TL_NONE,
			   .waker_context = WAKER_HARDIRQ,
			   .prio_in = 120,
			   .cpu_queue = TL_NOCPU,
			   .cause = cause};
	assert_int_equal(bigvec_push(&r->tl.offcpu, o, NULL), 0);
	return &r->tl.offcpu.v[r->tl.offcpu.n - 1];
}

static inline void woken_by(struct offcpu *o, uint32_t waker)
{
	o->waker = waker;
	o->waker_context = WAKER_TASK;
}

static inline void finish(struct rig *r)
{
	struct err e = {0};
	assert_int_equal(timeline_finish(&r->tl, &e), 0);
	if (timeline_check(&r->tl, &e))
		fail_msg("%s", e.msg);
}

/* What the built-in rules say of the frames there are. */
static inline void roles(struct rig *r)
{
	struct frame_table *t;
	assert_int_equal(frame_table_new(&t, NULL), 0);
	assert_int_equal(timeline_set_roles(&r->tl, t, NULL), 0);
	frame_table_free(t);
}

static inline struct tail make(struct rig *r, struct tail_query q)
{
	struct tail t;
	struct err e = {0};
	roles(r);
	if (tail_make(&r->tl, &q, &t, &e))
		fail_msg("%s", e.msg);
	return t;
}

static inline struct tail_query top(uint64_t n)
{
	return (struct tail_query){.pick = {.kind = PICK_TOP, .top = n}};
}

static inline void assert_sums(const struct explanation *x, const struct episode *ep)
{
	uint64_t blocked = 0;
	assert_int_equal(x->run_ns + x->blocked_ns + x->runnable_ns + x->unknown_ns,
			 episode_ns(ep));
	for (int c = 0; c < CAUSE_COUNT; c++)
		blocked += x->blocked_by[c];
	assert_int_equal(blocked, x->blocked_ns);
	assert_true(x->preempted_ns <= x->runnable_ns);
}

/* The one episode of threads of that name. */
static inline struct tail explain_one(struct rig *r, const char *comm, struct explanation *x)
{
	struct tail_query q = top(1);
	q.episodes.of.comms = &comm;
	q.episodes.of.ncomms = 1;
	finish(r);
	struct tail t = make(r, q);
	assert_int_equal(t.rows.n, 1);
	const struct episode *ep = &t.episodes.v.v[t.rows.v[0].episode];
	assert_int_equal(explain(t.explainer, ep, x, NULL), 0);
	assert_sums(x, ep);
	return t;
}

static inline const char *name(struct rig *r, uint32_t id)
{
	return strtab_get(&r->stacks.strings, id);
}

static inline const char *function(struct rig *r, uint32_t frame)
{
	return frame ? name(r, r->stacks.frames.v[frame].name) : "-";
}

/* `victim` wants CPU 0 from 100 to 200; three hogs have it, the first up to `first`. */
static inline uint32_t rig_queue(struct rig *r, uint64_t first)
{
	rig_init(r, 1000);
	uint32_t victim = thread(r, "victim", 1, 0);
	off(r, victim, 100, 100, 200, CAUSE_PREEMPT, "main;work")->flags = OFF_RUNNING;
	const uint64_t on[] = {100, first, 180, 200};
	for (int i = 0; i < 3; i++) {
		uint32_t t = thread(r, "hog", 10 + i, TL_NOCPU);
		off(r, t, 0, 0, on[i], CAUSE_SLEEP, "main;nap");
		off(r, t, on[i + 1], 1000, 1000, CAUSE_SLEEP, "main;nap");
	}
	return victim;
}

#endif
