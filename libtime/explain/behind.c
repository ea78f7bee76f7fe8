#include "libtime/explain/behind.h"
#include "libtime/sched/timeline_query.h"

#include <string.h>

enum { MAX_DEPTH = 4, MAX_GIVERS = 16, MAX_STEPS = 4096 };

int kthread_is_idle(const struct timeline *tl, const struct offcpu *o)
{
	static const char *const waits[] = {"schedule", "__schedule", "schedule_timeout",
					    "kswapd_try_to_sleep", "irq_wait_for_interrupt"};
	const struct stacks *s = tl->stacks;
	int functions = 0;
	for (uint32_t p = o->flags & OFF_RUNNING ? 0 : o->path; p; p = s->paths.v[p].parent) {
		const char *name =
			strtab_get(&s->strings, s->frames.v[s->paths.v[p].frame].name);
		if (!strcmp(name, "kthread"))
			return functions == 1;
		functions++;
		for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
			functions -= !strcmp(name, waits[i]);
	}
	return 0;
}

static int is_kernel(const struct timeline *tl, uint32_t thread)
{
	return tl->threads.v[thread].flags & THREAD_KERNEL;
}

/* Did the interval's end give the kernel thread work? Without a stack, a program's thread that
 * ended it shows that: devices and other kernel threads end the rest. */
static int ended_idle(const struct timeline *tl, const struct offcpu *o)
{
	if (o->flags & (OFF_RUNNING | OFF_SUSPECT) || o->unknown)
		return 0;
	if (o->path)
		return kthread_is_idle(tl, o);
	return o->waker != TL_NONE && o->waker_context == WAKER_TASK &&
	       !is_kernel(tl, o->waker);
}

/* The thread's last interval before `to` that ended with work for it; NULL: not recorded. */
static const struct offcpu *got_work(const struct timeline *tl, uint32_t thread, uint64_t to)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	uint32_t i = timeline_offcpu_after(tl, thread, to - 1);
	if (i < t->offcpu_first + t->offcpu_n && tl->offcpu.v[i].start_ns < to)
		i++;
	for (int n = 0; i > t->offcpu_first && n < MAX_STEPS; i--, n++) {
		const struct offcpu *o = &tl->offcpu.v[i - 1];
		if (o->start_ns + o->blocked_ns < to && ended_idle(tl, o))
			return o;
	}
	return NULL;
}

/* Who gave the work with which that idle wait ended: 1, or 0 if that is not known. */
static int giver_of(const struct timeline *tl, const struct offcpu *o, struct behind *out)
{
	static const char *const queues[] = {"__queue_work", "queue_work_on", NULL};
	for (int depth = 0; o && depth < MAX_DEPTH; depth++) {
		*out = (struct behind){.thread = TL_NONE};
		if (o->waker_context == WAKER_HARDIRQ || o->waker_context == WAKER_SOFTIRQ)
			return 1;
		if (o->waker == TL_NONE)
			return 0;
		*out = (struct behind){.thread = o->waker, .path = o->waker_path};
		if (!is_kernel(tl, o->waker))
			return 1;
		/* a worker that blocks wakes the next one of its pool, for anybody's work */
		if (!evidence_stack_has(tl, o->waker_path, queues))
			return 0;
		o = got_work(tl, o->waker, o->start_ns + o->blocked_ns);
	}
	return 0;
}

static void add(struct behind *v, int *n, const struct behind *b, uint64_t ns)
{
	int i = 0;
	while (i < *n && v[i].thread != b->thread)
		i++;
	if (i == MAX_GIVERS)
		return;
	if (i == *n) {
		v[(*n)++] = *b;
		v[i].ns = 0;
	}
	v[i].ns += ns;
}

struct behind kthread_behind(const struct timeline *tl, const struct window *w, size_t n)
{
	struct behind v[MAX_GIVERS], b, best = {.thread = TL_NONE};
	int givers = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t to = w[i].to_ns;
		for (int steps = 0; to > w[i].from_ns && steps < MAX_STEPS; steps++) {
			const struct offcpu *o = got_work(tl, w[i].thread, to);
			if (!o)
				break;
			uint64_t since = o->start_ns + o->blocked_ns;
			since = since > w[i].from_ns ? since : w[i].from_ns;
			if (giver_of(tl, o, &b))
				add(v, &givers, &b, to - since);
			to = o->start_ns < since ? o->start_ns : since;
		}
	}
	for (int i = 0; i < givers; i++)
		if (v[i].ns > best.ns)
			best = v[i];
	return best;
}
