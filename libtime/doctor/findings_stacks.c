/* findings_stacks.c - findings about stacks: what was requested and what was recorded. */
#include "base/mem.h"
#include "libparse/sample.h"
#include "libsym/chain_limits.h"
#include "libtime/doctor/findings_internal.h"

#include <string.h>

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

/* Does another event record the switches with stacks, perhaps for some threads only? */
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
	struct finding *f = diagnose_add(j, FORM_NO_STACKS,
					 is_switch(bare) ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
					 EVENT_FACT(bare->name));
	diagnose_record(j, f, &(struct remedy){.stacks = 1});
}

uint32_t diagnose_dump_size(const struct diagnosis *j)
{
	uint32_t asked = 0;
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (j->rec->events.v[i].attr.sample_stack_user > asked)
			asked = j->rec->events.v[i].attr.sample_stack_user;
	return asked;
}

uint32_t diagnose_dump_smaller(const struct diagnosis *j)
{
	uint32_t asked = diagnose_dump_size(j), half = asked / 2 & ~7u;
	if (asked <= DUMP_LEAST)
		return asked;
	half = half < DUMP_LEAST ? DUMP_LEAST : half;
	return half > DUMP_ENOUGH ? DUMP_ENOUGH : half;
}

void diagnose_suggest_copies(struct diagnosis *j, struct finding *f)
{
	uint32_t asked = diagnose_dump_size(j);
	uint32_t dump = asked > DUMP_ENOUGH ? asked : DUMP_ENOUGH;
	if (j->remedy.lossy)
		diagnose_remedy(j, f, FORM_COPIES_LOSE, NO_FACTS);
	else if (asked && remedy_is_perfkit(j->rec))
		diagnose_remedy(j, f, FORM_RECORD_CPU, NO_FACTS);
	else
		diagnose_record(j, f, &(struct remedy){.stacks = 1, .dump = dump, .copies = 1});
}

/* User callchains are missing: because of --kernel-callchains, or because perf copies the
 * stacks of all events and then leaves user chains out of an event that has terms for a
 * chain. */
static void diagnose_left_out(struct diagnosis *j, const char *event)
{
	if (diagnose_dump_size(j)) {
		struct finding *f = diagnose_add(j, FORM_NO_USER_CHAINS, SEVERITY_PARTIAL,
						 EVENT_FACT(event));
		diagnose_record(j, f, &(struct remedy){.stacks = 1});
		return;
	}
	struct finding *f = diagnose_add(j, FORM_LEFT_OUT, SEVERITY_PARTIAL, NO_FACTS);
	if (j->remedy.lossy)
		diagnose_record(j, f, &(struct remedy){.stacks = 1});
	else
		diagnose_suggest_copies(j, f);
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
		f = diagnose_add(j, FORM_NO_USER_STACK, SEVERITY_PARTIAL,
				 FACTS(fact_share("bare", no_user, kernel),
				       fact_number("samples", FACT_COUNT, kernel)));
	else if (bare >= 20 && percent(bare, user) >= 50)
		f = diagnose_add(j, FORM_NO_USER_FRAMES, SEVERITY_PARTIAL,
				 FACTS(fact_share("bare", bare, user),
				       fact_number("samples", FACT_COUNT, user)));
	diagnose_suggest_copies(j, f);
}

/*
 * The size of copy that would have held all but a hundredth of the stacks. Each doubling of the
 * size leaves the same share of stacks too long as the last doubling did (full of half full).
 * But a copy may also be full because other memory follows the stack: if all that are half full
 * are full, the share that was cut is used instead.
 */
static uint32_t dump_needed(const struct diagnosis *j, double cut)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t size = diagnose_dump_size(j), asked = size;
	double all = cut, left = c->half ? (double)c->full / (double)c->half : 1;
	while (cut > 0.01 && size < DUMP_MAX) {
		size += left < 0.9 ? size : asked;
		cut *= left < 0.9 ? left : all;
	}
	return size < DUMP_MAX ? (uint32_t)size : DUMP_MAX;
}

/* The next size to try; if every switch of all CPUs is copied, at most four times as much. */
static uint32_t next_dump(const struct diagnosis *j, uint32_t need)
{
	uint32_t asked = diagnose_dump_size(j);
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (is_switch(&j->rec->events.v[i]) && asked && need / 4 > asked)
			return asked * 4;
	return need;
}

/* Why copies did not lead to a root, and what would help. */
static const struct end_form {
	enum form why, remedy;
	enum unwind_end ends[3];
} end_forms[] = {
	{FORM_END_NO_CFI, FORM_BUILD_TABLES, {UNWIND_NO_CFI}},
	{FORM_END_HOLE, FORM_BUILD_POINTERS, {UNWIND_HOLE}},
	{FORM_END_OTHER_STACK, FORM_SIGNAL_STACK, {UNWIND_OTHER_STACK}},
	{FORM_END_32BIT, FORM_POINTERS_32BIT, {UNWIND_NO_REGS}},
	{FORM_END_LATE, FORM_NOT_PRECISE, {UNWIND_LATE}},
	{FORM_END_NO_CODE, FORM_KEPT_POINTERS, {UNWIND_NO_MAP, UNWIND_BAD_READ, UNWIND_LOOP}},
};

enum { END_FORMS = sizeof(end_forms) / sizeof(*end_forms) };

static uint64_t ended(const struct expand_counts *c, const struct end_form *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof(t->ends) / sizeof(*t->ends) && t->ends[i]; i++)
		n += c->by_end[t->ends[i]];
	return n;
}

/* Copies that are large enough, but could not be unwound to their end. If files are missing,
 * guesses may go wrong; unwind-stopped reports those. */
static void diagnose_unrooted(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	const struct end_form *most = end_forms;
	uint64_t all = 0;
	uint64_t stopped = c->by_end[UNWIND_NO_FILE];
	size_t n = percent(stopped, c->unwound) >= 1 ? END_FORMS - 1 : END_FORMS;
	for (const struct end_form *t = end_forms; t < end_forms + n; t++) {
		all += ended(c, t);
		most = ended(c, t) > ended(c, most) ? t : most;
	}
	double share = percent(all, c->unwound);
	if (share < 1)
		return;
	struct finding *f =
		diagnose_add(j, FORM_UNROOTED, share >= 5 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
			     FACTS(fact_share("ended", all, c->unwound)));
	for (const struct end_form *t = end_forms; t < end_forms + n; t++)
		if (ended(c, t))
			diagnose_detail(j, f, t->why,
					FACTS(fact_share("ended", ended(c, t), c->unwound)));
	diagnose_remedy(j, f, most->remedy, NO_FACTS);
}

/* The function below most [uprobes] at roots (strings id), by samples; 0: none has a name. */
static uint32_t probed_function(struct diagnosis *j)
{
	const struct stacks *s = &j->in->profile->stacks;
	uint32_t page, most = 0;
	uint64_t *sums = diagnose_path_sums(j->in);
	int found = strtab_find(&s->strings, "[uprobes]", &page);
	if (!sums)
		j->failed = ERR_NOMEM;
	for (size_t i = s->paths.n; sums && i-- > 1;) /* callers have lower ids */
		sums[s->paths.v[i].parent] += sums[i];
	for (uint32_t i = 1; sums && found && i < s->paths.n; i++) {
		uint32_t parent = s->paths.v[i].parent;
		if (parent && !s->paths.v[parent].parent &&
		    s->frames.v[s->paths.v[parent].frame].name == page &&
		    (!most || sums[i] > sums[most]))
			most = i;
	}
	mem_free(sums);
	return most ? s->frames.v[s->paths.v[most].frame].name : 0;
}

/* Return probes put the address of the kernel's page [uprobes] in place of the caller's. */
static void diagnose_return_probes(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t ended = c->by_end[UNWIND_UPROBES];
	if (percent(ended, c->unwound) < 1)
		return;
	uint32_t function = probed_function(j);
	struct fact facts[2] = {fact_share("ended", ended, c->unwound)};
	if (function)
		facts[1] = fact_text("function", FACT_MESSAGE,
				     strtab_get(&j->in->profile->stacks.strings, function));
	struct finding *f =
		diagnose_add(j, FORM_RETURN_PROBE, SEVERITY_PARTIAL, facts, function ? 2 : 1);
	diagnose_remedy(j, f, FORM_OTHER_PROBE, NO_FACTS);
}

/* Precise events: the instruction pointer is exact, but the other registers are those after
 * that instruction. */
static void diagnose_late(struct diagnosis *j)
{
	static const enum form what[UNWIND_LATE_LOST + 1] = {
		[UNWIND_LATE_CALL] = FORM_LATE_CALL,
		[UNWIND_LATE_RETURN] = FORM_LATE_RETURN,
		[UNWIND_LATE_LOST] = FORM_LATE_LOST,
	};
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t n = 0;
	for (int i = UNWIND_LATE_CALL; i <= UNWIND_LATE_LOST; i++)
		n += c->late[i];
	if (percent(n, c->unwound) < 1)
		return;
	struct finding *f = diagnose_add(j, FORM_LATE_REGISTERS,
					 percent(c->late[UNWIND_LATE_LOST], c->unwound) < 1
						 ? SEVERITY_ADVICE
						 : SEVERITY_PARTIAL,
					 FACTS(fact_share("copies", n, c->unwound)));
	for (int i = UNWIND_LATE_CALL; i <= UNWIND_LATE_LOST; i++)
		if (c->late[i])
			diagnose_detail(j, f, what[i],
					FACTS(fact_share("copies", c->late[i], c->unwound)));
	if (c->late[UNWIND_LATE_RETURN] || c->late[UNWIND_LATE_LOST])
		diagnose_remedy(j, f, FORM_NOT_PRECISE, NO_FACTS);
}

/* Callchains, by the marks at their roots. */
struct chains {
	uint8_t *cut; /* by path: 1 if it begins with [truncated] */
	uint64_t all, marked;
	uint32_t max; /* the most frames of an event that has cut ones */
};

/* Note the stacks of `n` samples of an event, unless they are copies. */
static void count_chain(struct chains *c, const struct event_attr *a, uint32_t path, uint64_t n)
{
	uint32_t max = chain_limit(a);
	if (!max || a->sample_type & PERF_SAMPLE_STACK_USER)
		return;
	c->all += n;
	c->marked += c->cut[path] ? n : 0;
	if (c->cut[path] && max > c->max)
		c->max = max;
}

/* Callers have lower ids. */
static int find_marks(struct chains *c, const struct stacks *s)
{
	c->cut = mem_zalloc(s->paths.n + 1, sizeof(*c->cut));
	for (size_t i = 1; c->cut && i < s->paths.n; i++) {
		const struct call_path *at = &s->paths.v[i];
		c->cut[i] = at->parent ? c->cut[at->parent]
				       : s->frames.v[at->frame].kind == FRAME_MARK;
	}
	return c->cut ? 0 : ERR_NOMEM;
}

/* The event of the timeline's waits; NULL: none, or several with different limits. */
static const struct event_attr *switch_attr(const struct diagnosis *j)
{
	const struct event_attr *found = NULL;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event_attr *a = &j->rec->events.v[i].attr;
		if (!is_switch(&j->rec->events.v[i]) || !has_stacks(&j->rec->events.v[i]))
			continue;
		if (found && (chain_limit(found) != chain_limit(a) ||
			      (found->sample_type ^ a->sample_type) & PERF_SAMPLE_STACK_USER))
			return NULL;
		found = a;
	}
	return found;
}

static void count_chains(struct chains *c, const struct diagnosis *j)
{
	const struct profile *p = j->in->profile;
	const struct timeline *tl = j->in->timeline;
	const struct event_attr *waits = tl ? switch_attr(j) : NULL;
	for (size_t i = 0; !tl && i < p->folded.n; i++)
		count_chain(c, &j->rec->events.v[p->folded.v[i].event].attr,
			    p->folded.v[i].path, p->folded.v[i].samples);
	for (size_t i = 0; tl && i < tl->samples.n; i++)
		count_chain(c, &j->rec->events.v[tl->samples.v[i].event].attr,
			    tl->samples.v[i].path, 1);
	for (size_t i = 0; waits && i < tl->offcpu.n; i++)
		count_chain(c, waits, tl->offcpu.v[i].path, 1);
}

/* Callchains with the maximum number of frames lack their outermost callers. */
static void diagnose_chains(struct diagnosis *j)
{
	struct chains c = {0};
	if (find_marks(&c, &j->in->profile->stacks))
		j->failed = ERR_NOMEM;
	else
		count_chains(&c, j);
	mem_free(c.cut);
	if (percent(c.marked, c.all) < 1)
		return;
	/* some versions of perf write the kernel's own limit, too */
	int asked = c.max < CHAIN_USUAL;
	struct finding *f =
		diagnose_add(j, asked ? FORM_DEEP_ASKED : FORM_DEEP_KERNEL, SEVERITY_PARTIAL,
			     FACTS(fact_share("deep", c.marked, c.all),
				   fact_number("frames", FACT_COUNT, c.max)));
	uint32_t more = asked ? c.max : c.max < 512 ? 512 : 2 * c.max;
	diagnose_remedy(j, f, asked ? FORM_ASK_FOR_FRAMES : FORM_ALLOW_FRAMES,
			FACTS(fact_number("frames", FACT_COUNT, more)));
}

/* Stacks with more frames than the kernel or the unwinder follows. */
static void diagnose_depth(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	diagnose_chains(j);
	if (percent(c->by_end[UNWIND_DEPTH], c->unwound) >= 1 &&
	    !j->in->profile->names.opt.max_stack) {
		struct finding *f = diagnose_add(
			j, FORM_DEEP_UNWOUND, SEVERITY_PARTIAL,
			FACTS(fact_share("deep", c->by_end[UNWIND_DEPTH], c->unwound)));
		diagnose_remedy(j, f, FORM_SHOW_FRAMES, NO_FACTS);
	}
}

static void diagnose_dumps(struct diagnosis *j)
{
	const struct expand_counts *c = &j->in->profile->unwinding;
	uint64_t cut = c->by_end[UNWIND_TRUNCATED];
	uint64_t stopped = c->by_end[UNWIND_NO_FILE];
	uint32_t asked = diagnose_dump_size(j);
	if (asked && percent(cut, c->unwound) >= 1) {
		uint32_t need = dump_needed(j, (double)cut / (double)c->unwound);
		struct finding *f = diagnose_add(j, FORM_TRUNCATED_DUMPS, SEVERITY_PARTIAL,
						 FACTS(fact_share("short", cut, c->unwound),
						       fact_number("size", FACT_SIZE, asked),
						       fact_number("needed", FACT_SIZE, need)));
		if (need > asked && j->remedy.lossy)
			diagnose_remedy(j, f, FORM_LARGER_LOSE, NO_FACTS);
		else if (need > asked)
			diagnose_record(
				j, f,
				&(struct remedy){.stacks = 1, .dump = next_dump(j, need)});
		else
			diagnose_remedy(j, f, FORM_LARGEST_COPIES, NO_FACTS);
	}
	if (percent(stopped, c->unwound) >= 1) {
		struct finding *f =
			diagnose_add(j, FORM_UNWIND_STOPPED, SEVERITY_PARTIAL,
				     FACTS(fact_share("stopped", stopped, c->unwound)));
		diagnose_remedy(j, f, FORM_COPY_NAMED_FILES, NO_FACTS);
	}
	if (c->deferred_missing)
		diagnose_add(j, FORM_DEFERRED_MISSING, SEVERITY_PARTIAL,
			     FACTS(fact_number("samples", FACT_COUNT, c->deferred_missing)));
}

void diagnose_stacks(struct diagnosis *j)
{
	diagnose_no_stacks(j);
	diagnose_sides(j);
	diagnose_dumps(j);
	diagnose_unrooted(j);
	diagnose_return_probes(j);
	diagnose_late(j);
	diagnose_depth(j);
}
