#include "libsym/chain_limits.h"

#include <stdio.h>

/* Stacks of perf record --off-cpu: MAX_STACKS of tools/perf/util/bpf_skel/off_cpu.bpf.c. */
enum { OFF_CPU_FRAMES = 32 };

uint32_t chain_limit(const struct event_attr *a)
{
	if (!(a->sample_type & PERF_SAMPLE_CALLCHAIN) || attr_flag(a, ATTR_DEFER_CALLCHAIN))
		return 0;
	return a->sample_max_stack ? a->sample_max_stack : CHAIN_USUAL;
}

static int is_off_cpu(const struct event *ev)
{
	return ev->name && event_name_is_off_cpu(ev->name);
}

/* 1 when only kernel.perf_event_max_stack limits the event's callchains. */
static int by_kernel(const struct event *ev)
{
	return !ev->attr.sample_max_stack && chain_limit(&ev->attr) && !is_off_cpu(ev);
}

static uint64_t frames_of(const uint8_t *words, uint64_t n, int swap)
{
	uint64_t frames = 0;
	for (uint64_t i = 0; i < n; i++)
		frames += load_u64(words + i * 8, swap) < PERF_CONTEXT_MAX;
	return frames;
}

void chain_limits_note(struct chain_limits *c, const struct sample *s)
{
	if (!c->raised && s->callchain.n > CHAIN_USUAL && c->rec && by_kernel(s->event))
		c->raised =
			frames_of(s->callchain.p, s->callchain.n, c->rec->swap) > CHAIN_USUAL;
}

void chain_limits_note_run(struct chain_limits *c, const uint8_t *p, const uint8_t *end)
{
	enum { LEAST = RECORD_HEADER_SIZE + 8 * (CHAIN_USUAL + 1) };
	int swap = c->rec->swap;
	struct record r = {.type = PERF_RECORD_SAMPLE};
	struct sample s;
	for (; p < end && !c->raised; p += r.size) {
		r.p = p;
		r.misc = load_u16(p + 4, swap);
		r.size = load_u16(p + 6, swap);
		const struct event *ev = r.size > LEAST ? recording_event(c->rec, &r) : NULL;
		if (ev && by_kernel(ev) && !sample_decode(&r, ev, swap, &s, NULL))
			chain_limits_note(c, &s);
	}
}

/* 1 when markers count as frames: kernel.perf_event_max_contexts_per_stack is of Linux 4.7. */
static int markers_count(const struct recording *rec)
{
	int major, minor;
	return rec->features.osrelease &&
	       sscanf(rec->features.osrelease, "%d.%d", &major, &minor) == 2 &&
	       (major < 4 || (major == 4 && minor < 7));
}

int chain_is_full(const struct chain_limits *c, const struct stack_entry *x, int swap)
{
	if (!c->rec || x->kind == CHAIN_NONE || x->event >= c->rec->events.n)
		return 0;
	const struct event *ev = &c->rec->events.v[x->event];
	uint64_t max = is_off_cpu(ev) ? OFF_CPU_FRAMES : chain_limit(&ev->attr), n = 0;
	if (!max || x->nwords < max || (c->raised && by_kernel(ev)))
		return 0;
	for (uint32_t i = 0; i < x->nwords; i++) {
		uint64_t word = load_u64(x->words + (size_t)i * 8, swap);
		if (is_chain_marker(word) && word < PERF_CONTEXT_MAX)
			return 0; /* unwound: the copy's end is known */
		n += word < PERF_CONTEXT_MAX;
	}
	/* expand.h may have added a leaf's caller */
	return n == max || (x->kind == CHAIN_UNWOUND && n == max + 1) ||
	       (x->nwords == max && markers_count(c->rec));
}
