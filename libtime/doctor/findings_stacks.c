/* findings_stacks.c - findings about stacks: what was asked for and what came. */
#include "base/count.h"
#include "base/mem.h"
#include "libparse/sample.h"
#include "libtime/doctor/findings_internal.h"

#include <string.h>

typedef unsigned long long ull;

static int is_switch(const struct event *ev)
{
	return ev->name && !strncmp(ev->name, "sched:sched_switch", 18);
}

static int has_stacks(const struct event *ev)
{
	const struct event_attr *a = &ev->attr;
	return !!(a->sample_type & PERF_SAMPLE_CALLCHAIN) || sample_is_off_cpu(ev) ||
	       (a->sample_type & PERF_SAMPLE_STACK_USER &&
		a->sample_type & PERF_SAMPLE_REGS_USER);
}

/* Another event records the switches with stacks, perhaps of some threads only. */
static int switches_have_stacks(const struct diagnosis *j)
{
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (is_switch(&j->rec->events.v[i]) && has_stacks(&j->rec->events.v[i]))
			return 1;
	return 0;
}

static void diagnose_no_stacks(struct diagnosis *j)
{
	const struct survey *v = j->in->survey;
	const struct event *bare = NULL;
	int elsewhere = switches_have_stacks(j);
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		int live = !v || (i < v->events.n && v->events.v[i].samples);
		if (!live || has_stacks(ev) || (ev->is_tracepoint && !is_switch(ev)) ||
		    (is_switch(ev) && elsewhere) ||
		    (ev->name && !strncmp(ev->name, "dummy", 5)))
			continue;
		if (!bare || is_switch(ev))
			bare = ev;
	}
	if (!bare)
		return;
	struct finding *f = diagnose_add(j, "no-stacks",
					 is_switch(bare) ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
					 "%s was recorded without stacks", bare->name);
	diagnose_record(j, f, &(struct remedy){.stacks = 1});
}

uint32_t diagnose_dump_asked(const struct diagnosis *j)
{
	uint32_t asked = 0;
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (j->rec->events.v[i].attr.sample_stack_user > asked)
			asked = j->rec->events.v[i].attr.sample_stack_user;
	return asked;
}

uint32_t diagnose_dump_smaller(const struct diagnosis *j)
{
	uint32_t asked = diagnose_dump_asked(j), half = asked / 2 & ~7u;
	if (asked <= DUMP_LEAST)
		return asked;
	half = half < DUMP_LEAST ? DUMP_LEAST : half;
	return half > DUMP_ENOUGH ? DUMP_ENOUGH : half;
}

void diagnose_copy_instead(struct diagnosis *j, struct finding *f)
{
	uint32_t asked = diagnose_dump_asked(j);
	uint32_t dump = asked > DUMP_ENOUGH ? asked : DUMP_ENOUGH;
	if (j->remedy.spare)
		diagnose_remedy(
			j, f,
			"stack copies (--call-graph dwarf) would show it, but records are "
			"missing and copies would lose more: first make a recording that "
			"loses none");
	else if (asked && remedy_is_perfkit(j->rec))
		diagnose_remedy(j, f,
				"in such a recording only switches have stack copies; perfkit "
				"record cpu takes them for CPU time, too");
	else
		diagnose_record(j, f, &(struct remedy){.stacks = 1, .dump = dump, .copies = 1});
}

/* Missing user callchains: because of --kernel-callchains, or because perf, asked to copy the
 * stacks of all events, leaves them out of one that is to have a chain instead. */
static void diagnose_left_out(struct diagnosis *j, const char *event)
{
	if (diagnose_dump_asked(j)) {
		struct finding *f = diagnose_add(
			j, "one-sided-stacks", SEVERITY_PARTIAL,
			"%s has no user callchains: --call-graph dwarf, given for all events, "
			"takes them from call-graph=fp",
			event);
		diagnose_record(j, f, &(struct remedy){.stacks = 1});
		return;
	}
	struct finding *f = diagnose_add(j, "one-sided-stacks", SEVERITY_PARTIAL,
					 "user callchains were left out on request");
	if (j->remedy.spare)
		diagnose_record(j, f, &(struct remedy){.stacks = 1});
	else
		diagnose_copy_instead(j, f);
}

static void diagnose_sides(struct diagnosis *j)
{
	const struct survey *v = j->in->survey;
	uint64_t kernel = 0, no_user = 0, user = 0, bare = 0;
	const char *left_out = NULL;
	for (size_t i = 0; v && i < v->events.n; i++) {
		const struct survey_event *se = &v->events.v[i];
		const struct event_attr *a = &j->rec->events.v[i].attr;
		if (se->samples && a->sample_type & PERF_SAMPLE_CALLCHAIN &&
		    !(a->sample_type & PERF_SAMPLE_STACK_USER) &&
		    attr_flag(a, ATTR_EXCLUDE_CALLCHAIN_USER))
			left_out = j->rec->events.v[i].name;
		kernel += se->kernel_mode;
		no_user += se->no_user;
		user += se->user_mode;
		bare += se->user_without_frames;
	}
	struct finding *f = NULL;
	if (left_out) {
		diagnose_left_out(j, left_out);
		return;
	}
	if (no_user >= 20 && percent(no_user, kernel) >= 50)
		f = diagnose_add(j, "one-sided-stacks", SEVERITY_PARTIAL,
				 "%.0f %% of %s in system calls have no user stack",
				 percent(no_user, kernel), COUNT(kernel, "sample"));
	else if (bare >= 20 && percent(bare, user) >= 50)
		f = diagnose_add(j, "one-sided-stacks", SEVERITY_PARTIAL,
				 "%.0f %% of %s in user code have no user stack",
				 percent(bare, user), COUNT(user, "sample"));
	diagnose_copy_instead(j, f);
}

/*
 * The copy that would have held all but a hundredth of the stacks: from the size asked for on,
 * each doubling leaves the part of the stacks too long that the last one left (full of half).
 * Above a thread's stack is other memory, which fills copies as well; where all that are half
 * full are full, only the share that was cut helps: as much again leaves that part of the rest.
 */
static uint32_t dump_needed(const struct diagnosis *j, double cut)
{
	uint64_t full = 0, half = 0;
	uint64_t size = diagnose_dump_asked(j);
	const struct survey *v = j->in->survey;
	for (size_t i = 0; v && i < v->events.n; i++) {
		full += v->events.v[i].full;
		half += v->events.v[i].half;
	}
	uint64_t asked = size;
	double all = cut, left = half ? (double)full / (double)half : 1;
	while (cut > 0.01 && size < DUMP_MAX) {
		size += left < 0.9 ? size : asked;
		cut *= left < 0.9 ? left : all;
	}
	return size < DUMP_MAX ? (uint32_t)size : DUMP_MAX;
}

/* The next size to try: where every switch of all CPUs is copied, a step of four at most. */
static uint32_t next_dump(const struct diagnosis *j, uint32_t need)
{
	uint32_t asked = diagnose_dump_asked(j);
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (is_switch(&j->rec->events.v[i]) && asked && need / 4 > asked)
			return asked * 4;
	return need;
}

/* Why copies did not lead to a root, in words and with what would help. */
static const struct end_text {
	const char *why, *remedy;
	enum unwind_end ends[3];
} end_texts[] = {
	{"in code without unwind information",
	 "build that code with -fasynchronous-unwind-tables, or with -fno-omit-frame-pointer "
	 "and record with -g; run-time compilers have an option to keep frame pointers",
	 {UNWIND_NO_CFI}},
	{"at a page of the stack that had never been touched, so it was not copied",
	 "larger copies do not help: build with -fno-omit-frame-pointer, then record with -g",
	 {UNWIND_HOLE}},
	{"at a signal handler with a stack of its own: only that one was copied",
	 "larger copies do not help: build with -fno-omit-frame-pointer, then record with -g; "
	 "or let the handler run on the thread's stack (sigaction without SA_ONSTACK)",
	 {UNWIND_OTHER_STACK}},
	{"in 32-bit programs, which are not unwound",
	 "build with -fno-omit-frame-pointer, then record with -g",
	 {UNWIND_NO_REGS}},
	{"at a return instruction of a precise event, whose registers are one instruction late",
	 "record the event without the P modifier: -e cycles, not -e cycles:P",
	 {UNWIND_LATE}},
	{"where there is no code, or because of broken unwind information",
	 "if that code keeps frame pointers (run-time compilers have an option for it),"
	 " record with -g",
	 {UNWIND_NO_MAP, UNWIND_BAD_READ, UNWIND_LOOP}},
};

enum { END_TEXTS = sizeof(end_texts) / sizeof(*end_texts) };

static uint64_t ended(const struct expand_counts *c, const struct end_text *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof(t->ends) / sizeof(*t->ends) && t->ends[i]; i++)
		n += c->by_end[t->ends[i]];
	return n;
}

/* Copies that hold what they should, and still could not be followed to their end. Where files
 * are missing, guesses through them lead astray: unwind-stopped reports those. */
static void diagnose_unrooted(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	const struct end_text *most = end_texts;
	uint64_t all = 0;
	uint64_t stopped = c->by_end[UNWIND_NO_FILE];
	size_t n = percent(stopped, c->unwound) >= 1 ? END_TEXTS - 1 : END_TEXTS;
	for (const struct end_text *t = end_texts; t < end_texts + n; t++) {
		all += ended(c, t);
		most = ended(c, t) > ended(c, most) ? t : most;
	}
	double share = percent(all, c->unwound);
	if (share < 1)
		return;
	struct finding *f = diagnose_add(
		j, "unrooted-stacks", share >= 5 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
		"%.1f %% of stack copies could not be followed to the outermost caller", share);
	for (const struct end_text *t = end_texts; t < end_texts + n; t++)
		if (ended(c, t))
			diagnose_detail(j, f, "%5.1f %%  end %s",
					percent(ended(c, t), c->unwound), t->why);
	diagnose_remedy(j, f, "%s", most->remedy);
}

/* Precise events: pc is exact, but the other registers are those after that instruction. */
static void diagnose_late(struct diagnosis *j)
{
	static const char *const what[UNWIND_LATE_LOST + 1] = {
		[UNWIND_LATE_CALL] = "at a call: exact, without the return address it pushed",
		[UNWIND_LATE_RETURN] =
			"at a return: the caller is the only one that fits (guessed)",
		[UNWIND_LATE_LOST] = "at a return: no caller fits, the stack ends there",
	};
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t n = 0;
	for (int i = UNWIND_LATE_CALL; i <= UNWIND_LATE_LOST; i++)
		n += c->late[i];
	if (percent(n, c->unwound) < 1)
		return;
	struct finding *f = diagnose_add(
		j, "late-registers",
		percent(c->late[UNWIND_LATE_LOST], c->unwound) < 1 ? SEVERITY_ADVICE
								   : SEVERITY_PARTIAL,
		"%.1f %% of stack copies are of precise events at a call or return, their "
		"registers one instruction late",
		percent(n, c->unwound));
	for (int i = UNWIND_LATE_CALL; i <= UNWIND_LATE_LOST; i++)
		if (c->late[i])
			diagnose_detail(j, f, "%5.1f %%  %s", percent(c->late[i], c->unwound),
					what[i]);
	if (c->late[UNWIND_LATE_RETURN] || c->late[UNWIND_LATE_LOST])
		diagnose_remedy(j, f,
				"record the event without the P modifier: -e cycles, not "
				"-e cycles:P");
}

/* What stacks of `depth` frames and more begin with. */
struct deep {
	uint32_t depth;
	uint64_t stacks, astray; /* all; those that begin at an address of no mapping */
	uint32_t *frames;        /* of each path */
	uint8_t *lost;           /* … 1 where it begins so */
};

static void count_deep(struct deep *d, uint32_t path, uint64_t samples)
{
	if (!path || d->frames[path] < d->depth)
		return;
	d->stacks += samples;
	d->astray += d->lost[path] ? samples : 0;
}

/* The part of them that goes round in circles: a frame pointer that was none, as of a list head
 * that points to itself, gives the kernel one address for ever. Callers have lower numbers. */
static double astray(struct diagnosis *j, uint32_t depth)
{
	const struct profile *p = j->in->profile;
	const struct timeline *tl = j->in->timeline;
	size_t n = p->stacks.paths.n;
	struct deep d = {.depth = depth};
	d.frames = mem_zalloc(n + 1, sizeof(*d.frames));
	d.lost = mem_zalloc(n + 1, sizeof(*d.lost));
	if (!d.frames || !d.lost) {
		j->failed = ERR_NOMEM;
		n = 0;
	}
	for (size_t i = 1; i < n; i++) {
		const struct call_path *at = &p->stacks.paths.v[i];
		const struct frame *fr = &p->stacks.frames.v[at->frame];
		d.frames[i] = d.frames[at->parent] + 1;
		d.lost[i] =
			at->parent ? d.lost[at->parent] : fr->kind == FRAME_USER && !fr->dso;
	}
	for (size_t i = 0; !tl && n && i < p->folded.n; i++)
		count_deep(&d, p->folded.v[i].path, p->folded.v[i].samples);
	for (size_t i = 0; tl && n && i < tl->samples.n; i++)
		count_deep(&d, tl->samples.v[i].path, 1);
	for (size_t i = 0; tl && n && i < tl->off.n; i++)
		count_deep(&d, tl->off.v[i].path, 1);
	mem_free(d.frames);
	mem_free(d.lost);
	return d.stacks ? (double)d.astray / (double)d.stacks : 0;
}

/* Callchains with all the frames that the kernel was to take: their outermost callers are not
 * in it. */
static void diagnose_chains(struct diagnosis *j)
{
	const struct survey *v = j->in->survey;
	uint64_t chains = 0, longest = 0;
	uint32_t max = 0;
	for (size_t i = 0; v && i < v->events.n; i++) {
		const struct survey_event *se = &v->events.v[i];
		chains += se->chains;
		if (!se->longest || se->longer)
			continue;
		longest += se->longest;
		max = survey_chain_max(&j->rec->events.v[i].attr);
	}
	double share = percent(longest, chains);
	int asked = max < CHAIN_USUAL; /* some perfs write the kernel's own limit, too */
	if (share >= 1)
		share *= 1 - astray(j, max);
	if (share < 1)
		return;
	struct finding *f =
		diagnose_add(j, "deep-stacks", SEVERITY_PARTIAL,
			     "%.1f %% of callchains have %u frames, the most %s", share, max,
			     asked ? "the recording asked for" : "the kernel took");
	if (asked)
		diagnose_remedy(
			j, f,
			"ask for more: --call-graph fp without ,%u, or a larger max-stack= "
			"of the event; perf lock record always asks for 8",
			max);
	else
		diagnose_remedy(
			j, f,
			"as root on the recorded machine, while nothing records: sysctl "
			"kernel.perf_event_max_stack=%u; then record again",
			max < 512 ? 512 : 2 * max);
}

/* More frames than are taken: by the kernel into a callchain, or by the unwinder. */
static void diagnose_depth(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	diagnose_chains(j);
	if (percent(c->by_end[UNWIND_DEPTH], c->unwound) >= 1 &&
	    !j->in->profile->names.opt.max_stack) {
		struct finding *f =
			diagnose_add(j, "deep-stacks", SEVERITY_PARTIAL,
				     "%.1f %% of stacks are deeper than 1024 frames",
				     percent(c->by_end[UNWIND_DEPTH], c->unwound));
		diagnose_remedy(j, f, "--max-stack 8192 shows more of them");
	}
}

static void diagnose_dumps(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t cut = c->by_end[UNWIND_TRUNCATED];
	uint64_t stopped = c->by_end[UNWIND_NO_FILE];
	uint32_t asked = diagnose_dump_asked(j);
	if (asked && percent(cut, c->unwound) >= 1) {
		uint32_t need = dump_needed(j, (double)cut / (double)c->unwound);
		struct finding *f = diagnose_add(
			j, "truncated-dumps", SEVERITY_PARTIAL,
			"%.1f %% of stack copies were too short: %u bytes, about %u needed",
			percent(cut, c->unwound), asked, need);
		if (need > asked && j->remedy.spare)
			diagnose_remedy(
				j, f,
				"records are missing, and larger copies lose more: first make "
				"a recording that loses none; then use larger copies, fewer "
				"events with stacks, or --call-graph fp where programs keep "
				"frame pointers");
		else if (need > asked)
			diagnose_record(
				j, f,
				&(struct remedy){.stacks = 1, .dump = next_dump(j, need)});
		else
			diagnose_remedy(j, f,
					"the kernel copies no more: build the program with "
					"-fno-omit-frame-pointer, then record with -g");
	}
	if (percent(stopped, c->unwound) >= 1) {
		struct finding *f = diagnose_add(
			j, "unwind-stopped", SEVERITY_PARTIAL,
			"%.1f %% of stack copies end where the right file is not available",
			percent(stopped, c->unwound));
		diagnose_remedy(j, f,
				"copy the files named below, or run perfkit pack on the "
				"recorded machine");
	}
	if (c->deferred_missing)
		diagnose_add(j, "deferred-missing", SEVERITY_PARTIAL,
			     "%s announced a user stack that never arrived",
			     COUNT(c->deferred_missing, "sample"));
}

void diagnose_stacks(struct diagnosis *j)
{
	diagnose_no_stacks(j);
	diagnose_sides(j);
	diagnose_dumps(j);
	diagnose_unrooted(j);
	diagnose_late(j);
	diagnose_depth(j);
}
