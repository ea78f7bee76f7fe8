#include "libtime/sched/timeline_answers.h"

#include <string.h>

const char *timeline_unnamed_events(const struct timeline *tl)
{
	if (tl->flags & TL_HAS_SWITCH)
		return NULL;
	for (size_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		const char *name = strtab_get(&tl->stacks->strings, ev->name);
		/* by its number only, or without the format of its records */
		if (ev->tracepoint &&
		    (!strncmp(name, "tracepoint ", 11) || !strcmp(name, "sched:sched_switch")))
			return TIMELINE_NAMELESS;
	}
	return NULL;
}

uint64_t timeline_unnamed_waits(const struct timeline *tl, uint64_t *all)
{
	uint64_t n = 0;
	*all = 0;
	for (size_t i = 0; i < tl->offcpu.n && tl->stacks->paths.n > 1; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		if (!o->path ||
		    tl->threads.v[o->thread].flags & (THREAD_SYSTEM | THREAD_IDLE_TASK))
			continue;
		const struct frame *f =
			&tl->stacks->frames.v[tl->stacks->paths.v[o->path].frame];
		++*all;
		n += !f->name && (f->kind == FRAME_KERNEL || f->addr >> 48 == 0xffff);
	}
	return n;
}

int timeline_stacks_of_some(const struct timeline *tl)
{
	int with = 0, without = 0;
	for (size_t i = 0; i < tl->parts.n; i++)
		if (tl->parts.v[i].chosen_stacks)
			return 1;
	for (size_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		if (strcmp(strtab_get(&tl->stacks->strings, ev->name), "sched:sched_switch"))
			continue;
		with |= ev->stacks != STACKS_NONE;
		without |= ev->stacks == STACKS_NONE;
	}
	return with && without;
}

/* The process of a wait with a stack; -1 for a wait without. */
static int32_t stacked_pid(const struct timeline *tl, size_t i)
{
	const struct offcpu *o = &tl->offcpu.v[i];
	return o->path && !(o->flags & OFF_NO_STACK) ? tl->threads.v[o->thread].pid : -1;
}

/* The only process that can have most of the stacks: each other cancels one of its own. */
static int32_t most_stacked_pid(const struct timeline *tl)
{
	int32_t most = -1;
	size_t lead = 0;
	for (size_t i = 0; i < tl->offcpu.n && tl->stacks->paths.n > 1; i++) {
		int32_t pid = stacked_pid(tl, i);
		if (pid < 0)
			continue;
		most = lead ? most : pid;
		lead = pid == most ? lead + 1 : lead - 1;
	}
	return most;
}

/* Its main thread, else another one. */
static uint32_t thread_of_process(const struct timeline *tl, int32_t pid)
{
	uint32_t any = TL_NONE;
	for (uint32_t i = 0; i < tl->threads.n; i++)
		if (tl->threads.v[i].pid == pid &&
		    (any == TL_NONE || tl->threads.v[i].tid == pid))
			any = i;
	return any;
}

uint32_t timeline_stacked_process(const struct timeline *tl)
{
	int32_t most = most_stacked_pid(tl);
	size_t its = 0, all = 0;
	for (size_t i = 0; i < tl->offcpu.n && most >= 0; i++) {
		int32_t pid = stacked_pid(tl, i);
		all += pid >= 0;
		its += pid >= 0 && pid == most;
	}
	int sure = tl->parts.n < 2 && its && its >= all - all / 10; /* hosts may share a pid */
	return sure ? thread_of_process(tl, most) : TL_NONE;
}

int timeline_answerable(const struct timeline *tl, int in_time, struct err *e)
{
	static const char right[] =
		"perfkit record tail"; /* doctor and --dry-run: perf's line */
	uint32_t f = tl->flags;
	if (f & TL_SAMPLED)
		return err_set(e, ERR_REFUSED,
			       "sched_switch was sampled (as by -F), so waits are missing; "
			       "record with: %s",
			       right);
	if (f & TL_HAS_TOTALS && !in_time)
		return 0;
	if (f & TL_PER_TASK && f & TL_HAS_SWITCH && !(f & TL_HAS_RECORDS))
		return err_set(e, ERR_REFUSED,
			       "recorded per thread: it has switch-outs but no switch-ins; "
			       "record with: %s",
			       right);
	if (f & (TL_HAS_SWITCH | TL_HAS_RECORDS | TL_HAS_DIRECT))
		return 0;
	if (f & TL_HAS_TOTALS)
		return err_set(e, ERR_REFUSED,
			       "perf record --off-cpu kept sums per stack, not when they "
			       "happened; record with: %s",
			       right);
	const char *unnamed = timeline_unnamed_events(tl);
	if (unnamed)
		return err_set(e, ERR_REFUSED, "%s: %s",
			       strtab_get(&tl->stacks->strings, tl->rec.file), unnamed);
	return err_set(e, ERR_REFUSED, "no context switches were recorded; record with: %s",
		       right);
}
