#include "render/tail/tail_words.h"
#include "base/text/path.h"
#include "libsym/name/simplify.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"
#include "render/tail/told_text.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <string.h>

void describe_name(struct buf *b, const struct timeline *tl, uint32_t string)
{
	const struct strtab *s = &tl->stacks->strings;
	escape_visible(b, strtab_get(s, string), strtab_len(s, string));
}

void describe_thread(struct buf *b, const struct timeline *tl, uint32_t thread, uint32_t comm)
{
	if (thread == TL_NONE) {
		buf_char(b, '?');
		return;
	}
	if (strtab_len(&tl->stacks->strings, comm))
		describe_name(b, tl, comm);
	else
		buf_char(b, '?');
	buf_fmt(b, "/%d", tl->threads.v[thread].tid);
	const struct tl_part *p = timeline_part_of(tl, thread);
	if (p) {
		buf_char(b, '@');
		describe_name(b, tl, p->label);
	}
}

void describe_frame(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	const struct frame *f = frame ? &tl->stacks->frames.v[frame] : NULL;
	if (!f || (!f->name && !f->dso)) {
		buf_str(b, "[unknown]");
		return;
	}
	if (f->name) {
		describe_name(b, tl, f->name);
		return;
	}
	const char *base = path_base(strtab_get(&tl->stacks->strings, f->dso));
	int bare = base[0] != '['; /* "[vdso]" is its name */
	buf_str(b, bare ? "[" : "");
	escape_visible(b, base, strlen(base));
	buf_str(b, bare ? "]" : "");
}

/* A frame in a text: its name without template arguments if that is long. */
static void put_frame(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	enum { LONG_NAME = 60 };
	struct buf full = {0};
	describe_frame(&full, tl, frame);
	if (full.n > LONG_NAME)
		name_short(b, full.v, full.n);
	else
		buf_add(b, buf_cstr(&full), full.n);
	b->failed |= full.failed;
	buf_release(&full);
}

void describe_function(struct buf *b, const struct timeline *tl, uint32_t frame)
{
	size_t at = b->n;
	put_frame(b, tl, frame);
	if (!buf_failed(b) && b->n > at && b->v[b->n - 1] != ')' && b->v[b->n - 1] != ']')
		buf_str(b, "()");
}

const char *describe_cause(unsigned state, unsigned cause)
{
	if (state == PART_RUNNING || state == PART_UNKNOWN)
		return part_state_name(state);
	return cause_name(cause);
}

void describe_prio(struct buf *b, int prio)
{
	if (prio < 0)
		return;
	if (prio < 100)
		buf_fmt(b, "real-time priority %d", 99 - prio);
	else
		buf_fmt(b, "nice %d", prio - 120);
}

/* 1 for an address outside of mappings. */
static int is_unmapped(const struct stacks *s, uint32_t path)
{
	const struct frame *f = path ? &s->frames.v[s->paths.v[path].frame] : NULL;
	return f && !f->name && !f->dso;
}

void describe_stack(struct buf *b, const struct timeline *tl, uint32_t path, int max)
{
	const struct stacks *s = tl->stacks;
	uint32_t node, p;
	if (!path) {
		buf_str(b, "no stack recorded");
		return;
	}
	node = appframe_node(tl, path);
	p = node ? node : told_user_path(s, path);
	p = p ? p : path;
	uint32_t user = told_user_path(s, path), how = user ? s->paths.v[user].frame : 0;
	if (is_unmapped(s, p) && how && !is_unmapped(s, user)) {
		put_frame(b, tl, how); /* the place is not known, only how it waited */
		return;
	}
	for (int i = 0; p && i < max; i++, p = s->paths.v[p].parent) {
		if (i)
			buf_str(b, " < ");
		put_frame(b, tl, s->paths.v[p].frame);
	}
	if (p)
		buf_str(b, " < ...");
	if (node && how && how != s->paths.v[node].frame) {
		int bare = tl->stacks->frames.v[how].name != 0; /* else its name has brackets */
		buf_str(b, bare ? " [" : " ");
		put_frame(b, tl, how);
		buf_str(b, bare ? "]" : "");
	}
}

/* --- what a link did ------------------------------------------------------------------ */

/* "waiting for the GIL", "throttled, too many dirty pages". */
static void put_mechanism(struct buf *b, const struct mechanism *m)
{
	int state = m->kind == MECHANISM_STATE || m->kind == MECHANISM_STOP;
	buf_fmt(b, "%s%s", state ? "" : "waiting for ", m->words);
}

void describe_blocked(struct buf *b, const struct explanation *x, const struct chain_link *l)
{
	const struct mechanism *m = l->state == PART_BLOCKED ? link_mechanism(x, l) : NULL;
	if (m)
		put_mechanism(b, m);
	else
		buf_str(b, part_state_name(l->state));
	if (l->state == PART_BLOCKED)
		buf_fmt(b, " (%s)", cause_name(l->cause));
}

/* Put what was told into words, and forget it. */
static void put_told(struct buf *b, const struct timeline *tl, struct told *x)
{
	told_text(b, tl, x, 0, x->v.n, BRIEF_NOT);
	told_release(x);
}

void describe_target(struct buf *b, const struct timeline *tl, const struct offcpu *o)
{
	struct told x = {.failed = 0};
	told_target(&x, tl, o, 0);
	put_told(b, tl, &x);
}

void describe_disk(struct buf *b, struct evidence *ev, uint32_t offcpu)
{
	struct told x = {.failed = 0};
	told_disk(&x, ev, offcpu, 0);
	put_told(b, ev->tl, &x);
}

void describe_root(struct buf *b, struct evidence *ev, const struct explanation *x)
{
	struct told root = {.failed = 0};
	told_root(&root, ev, x);
	put_told(b, ev->tl, &root);
}

static void gaps_fit(struct buf *b, const struct period *beat)
{
	buf_fmt(b, " (%llu of %llu gaps fit)", (unsigned long long)beat->fitting,
		(unsigned long long)beat->of);
}

void describe_period(struct buf *b, const struct recurrence *r, const char *they)
{
	if (!recurrence_found(r))
		return;
	buf_fmt(b, "%s recur ", they);
	if (r->rate.ns) {
		buf_str(b, "every ~");
		units_duration(b, r->rate.ns);
		gaps_fit(b, &r->rate);
	}
	if (r->pause.ns) {
		buf_str(b, r->rate.ns ? ", " : "~");
		units_duration(b, r->pause.ns);
		buf_str(b, " after the previous one ended");
		if (!r->rate.ns)
			gaps_fit(b, &r->pause);
		buf_str(b, "; something sleeps in between");
	}
	buf_char(b, '.');
}

void describe_root_brief(struct buf *b, const struct tail *t, const struct tail_root *r)
{
	struct told x = {.failed = 0};
	told_root_brief(&x, t->tl, r);
	put_told(b, t->tl, &x);
}

void describe_group(struct buf *b, const struct tail *t, const struct tail_group *g)
{
	struct told x = {.failed = 0};
	told_group(&x, t, g);
	put_told(b, t->tl, &x);
}

void more_details(struct buf *b, size_t n, size_t explained)
{
	if (!explained || explained >= n)
		return;
	buf_str(b, "\n... ");
	units_count(b, n - explained);
	buf_fmt(b, " more (explain all with --details %zu)\n", n);
}

void describe_missing(const struct timeline *tl, unsigned missing,
		      void (*say)(void *ctx, const char *line), void *ctx)
{
	const struct {
		unsigned bit;
		const char *line;
	} lines[] = {
		{MISSING_WAKING_EVENT,
		 "no wakeup recorded; -e sched:sched_waking shows who ends a wait"},
		{MISSING_WAKEUP,
		 "this wakeup was not recorded, although others were: lost, or "
		 "from an interrupt where perf cannot record (perfkit doctor says "
		 "whether records were lost)"},
		{MISSING_STACK, "no stack at the switch; record with -g or --call-graph dwarf"},
		{MISSING_HOLE,
		 "records are missing inside, so its length and what happened are "
		 "uncertain (perfkit doctor says why)"},
		{MISSING_OPEN, "cut off by the edge of the recording or of --time: it lasted "
			       "longer"},
		{MISSING_SAMPLES,
		 tl->samples.n ? "no sample fell where the root cause ran; with more samples "
				 "(perfkit record -F 1999) one may"
			       : "no CPU samples were recorded; -e cpu-clock/freq=1999/ shows "
				 "what ran"},
	};
	if (missing & MISSING_STACK && fact_own_recorder(tl, NULL)) {
		missing &= ~(unsigned)MISSING_STACK;
		say(ctx,
		    "no stack at the switch: perfkit's recorder keeps those of the longest "
		    "waits of chosen threads, from when it began");
	} else if (missing & MISSING_STACK && timeline_stacks_of_some(tl)) {
		missing &= ~(unsigned)MISSING_STACK;
		say(ctx, "no stack at the switch: stacks were recorded of chosen threads only "
			 "(perfkit record -p, --comm ...), by the names that they had at the "
			 "start");
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (missing & lines[i].bit)
			say(ctx, lines[i].line);
}
