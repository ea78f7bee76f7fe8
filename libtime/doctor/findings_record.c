/* findings_record.c - findings about the recording: file, losses, events, waits. */
#include "base/text/buf.h"
#include "base/text/shellword.h"
#include "libparse/simpleperf.h"
#include "libtime/build/build.h"
#include "libtime/doctor/findings_internal.h"
#include "libtime/sched/facts.h"
#include "libtime/record/calls.h"
#include "libtime/sched/timeline_answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- the file ------------------------------------------------------------------------- */

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* What was not read of a truncated file, as facts; returns how many. */
static size_t unread(const struct recording *rec, struct fact facts[2])
{
	const struct recording_stats *s = &rec->stats;
	uint64_t all = sum(rec->data_size, s->missing_bytes);
	uint64_t lost = sum(s->torn_bytes, s->missing_bytes);
	facts[0] = fact_text("what", FACT_MESSAGE, s->truncated);
	facts[1] = fact_share("unread", lost, all);
	return lost && lost <= all && !s->joined ? 2 : 1;
}

static void diagnose_cut(struct diagnosis *j)
{
	const struct recording_stats *s = &j->rec->stats;
	enum form torn = s->joined ? FORM_JOINED : FORM_TORN;
	struct finding *f = NULL;
	struct fact facts[2];
	size_t n = unread(j->rec, facts);
	if (j->rec->cut_off)
		f = diagnose_add(j, FORM_CUT_OFF, SEVERITY_PARTIAL, NO_FACTS);
	else if (s->truncated[0])
		f = diagnose_add(j, torn, SEVERITY_PARTIAL, facts, n);
	if (j->rec->cut_off && s->truncated[0])
		diagnose_detail(j, f, torn, facts, n);
	diagnose_remedy(j, f, s->joined ? FORM_OWN_FILES : FORM_INTERRUPT_PERF, NO_FACTS);
}

static void diagnose_bad(struct diagnosis *j)
{
	const struct recording_stats *s = &j->rec->stats;
	const struct aggregate_stats *t = &j->in->profile->totals;
	if (s->bad.n) {
		struct finding *f =
			diagnose_add(j, FORM_BAD_RECORDS, SEVERITY_PARTIAL,
				     FACTS(fact_number("broken", FACT_COUNT, s->bad.n),
					   fact_text("first", FACT_MESSAGE, s->bad.first)));
		diagnose_remedy(j, f, FORM_COPY_AGAIN, NO_FACTS);
	}
	if (t->no_event)
		diagnose_add(j, FORM_UNKNOWN_EVENT, SEVERITY_PARTIAL,
			     FACTS(fact_number("samples", FACT_COUNT, t->no_event)));
	if (t->guest)
		diagnose_add(j, FORM_GUEST_SAMPLES, SEVERITY_PARTIAL,
			     FACTS(fact_number("samples", FACT_COUNT, t->guest)));
}

/* Had the event samples? Without a survey it is assumed. */
static int has_samples(const struct diagnosis *j, size_t event)
{
	const struct survey *v = j->in->survey;
	return !v || (event < v->events.n && v->events.v[event].samples);
}

/* Name threads that were started during the recording: groups without inherit missed them. */
static void name_missed(struct diagnosis *j, struct finding *f)
{
	enum { NAMED = 5 };
	const struct timeline *tl = j->in->timeline;
	struct fact facts[NAMED + 1];
	size_t n = 0;
	for (size_t i = 0; tl && i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		if (!(t->flags & THREAD_BORN) || n++ >= NAMED)
			continue;
		facts[n - 1] =
			fact_number("thread", FACT_THREAD, t->tid > 0 ? (uint64_t)t->tid : 0);
		facts[n - 1].text = strtab_get(&tl->stacks->strings, t->comm);
	}
	if (n > NAMED)
		facts[NAMED] = fact_number("more", FACT_COUNT, n - NAMED);
	if (n)
		diagnose_detail(j, f, FORM_NOT_MEASURED, facts, n > NAMED ? NAMED + 1 : n);
}

static int any_born(const struct timeline *tl)
{
	for (size_t i = 0; tl && i < tl->threads.n; i++)
		if (tl->threads.v[i].flags & THREAD_BORN)
			return 1;
	return 0;
}

static void diagnose_split_group(struct diagnosis *j)
{
	const struct event *ev = calls_split_event(j->rec);
	if (!ev)
		return;
	struct finding *f =
		diagnose_add(j, FORM_PARTED_GROUP, SEVERITY_PARTIAL, EVENT_FACT(ev->name));
	diagnose_remedy(j, f, FORM_GROUP_CYCLES, EVENT_FACT(ev->name));
}

/* perf ran a command: its groups count since exec. */
static int begins_at_exec(const struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (attr_flag(&rec->events.v[i].attr, ATTR_ENABLE_ON_EXEC))
			return 1;
	return 0;
}

static void diagnose_age(struct diagnosis *j)
{
	const struct event *bare = NULL, *single = NULL, *later = NULL;
	int command = begins_at_exec(j->rec);
	int per_task = j->in->timeline && j->in->timeline->flags & TL_PER_TASK;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		const struct event_attr *a = &ev->attr;
		int live = has_samples(j, i);
		if (live &&
		    (!(a->sample_type & PERF_SAMPLE_TIME) || !attr_flag(a, ATTR_SAMPLE_ID_ALL)))
			bare = ev;
		/* it may be the reason why there are no samples at all */
		if ((live || !j->samples) && !attr_flag(a, ATTR_INHERIT) &&
		    a->read_format & PERF_FORMAT_GROUP) {
			if (command)
				single = ev;
			else
				later = per_task ? ev : NULL;
		}
	}
	if (bare) {
		int samples_have = !!(bare->attr.sample_type & PERF_SAMPLE_TIME);
		struct finding *f =
			diagnose_add(j, samples_have ? FORM_NO_MAPPING_TIMES : FORM_NO_TIMES,
				     SEVERITY_ADVICE, EVENT_FACT(bare->name));
		diagnose_record(j, f, &(struct remedy){.times = 1});
	}
	if (single &&
	    (!single->is_tracepoint || !j->in->timeline || any_born(j->in->timeline))) {
		struct finding *f = diagnose_add(j, FORM_NO_INHERIT, SEVERITY_PARTIAL,
						 EVENT_FACT(single->name));
		if (single->is_tracepoint) /* because of the counters that it reads */
			diagnose_remedy(j, f, FORM_INHERIT_COUNTERS, NO_FACTS);
		else
			diagnose_record(j, f, &(struct remedy){.ungroup = 1});
		name_missed(j, f);
	} else if (later && any_born(j->in->timeline)) {
		struct finding *f = diagnose_add(j, FORM_NO_INHERIT_LATER, SEVERITY_PARTIAL,
						 EVENT_FACT(later->name));
		diagnose_remedy(j, f, FORM_INHERIT_COUNTERS, NO_FACTS);
		name_missed(j, f);
	}
}

void diagnose_file(struct diagnosis *j)
{
	diagnose_cut(j);
	diagnose_bad(j);
	uint64_t traced = j->rec->stats.aux_bytes;
	if (!j->samples && traced) {
		struct finding *f = diagnose_add(j, FORM_ONLY_AUX, SEVERITY_WRONG,
						 FACTS(fact_number("aux", FACT_SIZE, traced)));
		diagnose_remedy(j, f, FORM_PERF_SCRIPT, NO_FACTS);
	} else if (!j->samples && !(j->in->timeline && j->in->timeline->offcpu.n)) {
		struct finding *f = diagnose_add(j, FORM_NO_SAMPLES, SEVERITY_WRONG, NO_FACTS);
		diagnose_record(j, f, &(struct remedy){.stacks = 1, .samples = 1});
	}
	if (j->in->profile->machine.hidden) {
		struct finding *f =
			diagnose_add(j, FORM_HIDDEN_PIDS, SEVERITY_PARTIAL, NO_FACTS);
		diagnose_remedy(j, f, FORM_RECORD_OUTSIDE, NO_FACTS);
	}
	diagnose_age(j);
	diagnose_split_group(j);
}

/* --- losses --------------------------------------------------------------------------- */

enum { BINS = 50 };

/* "[0,12,3]" */
static void put_array(struct buf *b, const uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_char(b, i ? ',' : '[');
		buf_u64(b, v[i]);
	}
	buf_char(b, ']');
}

/* When records were lost: how many in each fiftieth of the time. */
static void lost_where(struct diagnosis *j, struct finding *f)
{
	const struct timeline *tl = j->in->timeline;
	uint64_t bins[BINS] = {0}, most = 0;
	struct buf text = {0};
	if (!tl || tl->rec.end_ns <= tl->rec.origin_ns)
		return;
	uint64_t from = tl->rec.origin_ns, span = tl->rec.end_ns - from;
	for (size_t i = 0; i < tl->losses.n; i++) {
		const struct tl_loss *l = &tl->losses.v[i];
		if (l->kind != LOSS_LOST || l->to_ns < from)
			continue;
		double at = (double)(l->to_ns - from) / (double)span * BINS;
		uint64_t *bin = &bins[at >= BINS ? BINS - 1 : (int)at];
		*bin = *bin > UINT64_MAX - l->count ? UINT64_MAX : *bin + l->count;
		most = *bin > most ? *bin : most;
	}
	if (!most)
		return;
	const struct fact duration = fact_number("duration", FACT_TIME, span);
	put_array(&text, bins, BINS);
	diagnose_detail(j, f, FORM_LOST_WHERE,
			FACTS(fact_text("lost", FACT_COUNTS, buf_cstr(&text)), duration));
	diagnose_detail(j, f, FORM_LOST_SCALE,
			FACTS(fact_number("most", FACT_COUNT, most), duration));
	j->failed = buf_failed(&text) ? ERR_NOMEM : j->failed;
	buf_release(&text);
}

static void diagnose_lost(struct diagnosis *j)
{
	const struct recording_stats *s = &j->rec->stats;
	uint64_t kept = s->by_type[PERF_RECORD_SAMPLE] + s->by_type[PERF_RECORD_SWITCH] +
			s->by_type[PERF_RECORD_SWITCH_CPU_WIDE];
	if (s->lost) {
		double share = 100.0 * (double)s->lost / ((double)s->lost + (double)kept);
		int waiting = !!(j->asked & (ABOUT_OFFCPU | ABOUT_TAIL));
		struct finding *f = diagnose_add(
			j, FORM_LOST_RECORDS,
			share >= (waiting ? 10 : 50) ? SEVERITY_WRONG : SEVERITY_PARTIAL,
			FACTS(fact_share("lost", s->lost, sum(s->lost, kept))));
		if (f && f->severity == SEVERITY_WRONG && share < 50)
			f->wrong_for = ABOUT_OFFCPU | ABOUT_TAIL;
		lost_where(j, f);
		struct remedy change = {.ring = 1, .lossy = 1};
		if (share >= 10) { /* larger buffers alone are not enough */
			change.max_freq = 999;
			change.max_dump = diagnose_dump_smaller(j);
		}
		diagnose_record(j, f, &change);
	}
	int at_end;
	uint64_t dropped = recording_dropped_samples(j->rec, &at_end);
	if (dropped) {
		struct finding *f = diagnose_add(
			j, at_end ? FORM_LOST_AT_END : FORM_LOST_SAMPLES, SEVERITY_PARTIAL,
			FACTS(fact_share("dropped", dropped,
					 sum(dropped, sum(s->lost, kept)))));
		diagnose_record(j, f, &(struct remedy){.ring = 1, .lossy = 1});
	}
}

enum { LOST_MOST = 1000 }; /* most losses that holes are compared with */

static int in_lost(const struct tl_loss *const *lost, size_t n, const struct tl_loss *hole)
{
	for (size_t i = 0; i < n; i++) {
		const struct tl_loss *l = lost[i];
		if ((l->cpu == hole->cpu || l->cpu == TL_NOCPU) && l->from_ns < hole->to_ns &&
		    hole->from_ns < l->to_ns)
			return 1;
	}
	return 0;
}

/* Holes that no lost records explain. */
static uint64_t count_holes(const struct timeline *tl)
{
	const struct tl_loss *lost[LOST_MOST];
	uint64_t holes = 0, n = 0;
	for (size_t i = 0; i < tl->losses.n; i++)
		if (tl->losses.v[i].kind == LOSS_LOST && n++ < LOST_MOST)
			lost[n - 1] = &tl->losses.v[i];
	for (size_t i = 0; i < tl->losses.n; i++)
		holes += tl->losses.v[i].kind == LOSS_HOLE &&
			 (n > LOST_MOST || !in_lost(lost, n, &tl->losses.v[i]));
	return holes;
}

/* With the first record that a full buffer takes again, the kernel reports those that it did
 * not take: what is missing without such a report was never offered to the buffer. */
static void remedy_holes(struct diagnosis *j, struct finding *f)
{
	struct buf filter = {0};
	remedy_switch_filter(&filter, j->rec);
	j->failed = buf_failed(&filter) ? ERR_NOMEM : j->failed;
	if (j->in->timeline->disorder.moved) { /* they are there, and came late */
		diagnose_suggest_file(j, f);
	} else if (j->rec->stats.bad.n) { /* they may be among the records that were skipped */
		diagnose_remedy(j, f, FORM_COPY_AGAIN, NO_FACTS);
	} else if (filter.n) {
		diagnose_detail(j, f, FORM_HOLES_FILTER,
				FACTS(fact_text("option", FACT_OPTION, buf_cstr(&filter))));
		diagnose_record(j, f, &(struct remedy){.sched = 1});
	} else {
		diagnose_remedy(j, f, FORM_NOT_THE_BUFFERS, NO_FACTS);
	}
	buf_release(&filter);
}

static void diagnose_holes(struct diagnosis *j)
{
	const struct timeline *tl = j->in->timeline;
	uint64_t holes = count_holes(tl);
	if (!holes || tl->flags & TL_SAMPLED) /* reported as switch-sampled: nothing was lost */
		return;
	struct finding *f = diagnose_add(
		j, FORM_HOLES,
		percent(j->suspect, tl->offcpu.n) >= 50 ? SEVERITY_WRONG : SEVERITY_PARTIAL,
		FACTS(fact_number("missing", FACT_COUNT, holes),
		      fact_share("suspect", j->suspect, tl->offcpu.n)));
	remedy_holes(j, f);
}

static void diagnose_short_waits(struct diagnosis *j)
{
	uint64_t over;
	if (!fact_own_recorder(j->in->timeline, &over) || !over)
		return;
	struct finding *f = diagnose_add(j, FORM_SHORT_WAITS, SEVERITY_ADVICE,
					 FACTS(fact_number("over", FACT_TIME, over)));
	diagnose_remedy(j, f, FORM_MORE_STACKS, NO_FACTS);
}

static void diagnose_throttle(struct diagnosis *j)
{
	uint64_t n = j->rec->stats.by_type[PERF_RECORD_THROTTLE], asked = 0;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event_attr *a = &j->rec->events.v[i].attr;
		if (attr_flag(a, ATTR_FREQ) && a->sample_period > asked)
			asked = a->sample_period;
	}
	if (!n)
		return;
	struct finding *f =
		diagnose_add(j, FORM_THROTTLED,
			     percent(n, j->samples) >= 1 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
			     FACTS(fact_number("times", FACT_COUNT, n)));
	diagnose_record(
		j, f,
		&(struct remedy){.max_freq = asked > 2000 || asked < 2 ? 999 : asked / 2});
}

void diagnose_loss(struct diagnosis *j)
{
	const struct timeline *tl = j->in->timeline;
	for (size_t i = 0; tl && i < tl->offcpu.n; i++) {
		j->suspect += !!(tl->offcpu.v[i].flags & OFF_SUSPECT);
		j->unwoken += tl->offcpu.v[i].unknown == UNKNOWN_NO_WAKE;
	}
	diagnose_lost(j);
	if (tl)
		diagnose_holes(j);
	if (tl)
		diagnose_short_waits(j);
	diagnose_throttle(j);
}

/* --- events --------------------------------------------------------------------------- */

/* Is not every event recorded? */
static int is_rated(const struct event_attr *a)
{
	return attr_flag(a, ATTR_FREQ) ? a->sample_period != 0 : a->sample_period > 1;
}

/* How many events there were, by the periods of the samples; 0: not known. */
static uint64_t events_of_samples(const struct diagnosis *j, size_t event, uint64_t *samples)
{
	const struct survey *v = j->in->survey;
	*samples = v && event < v->events.n ? v->events.v[event].samples : 0;
	return *samples ? v->events.v[event].stand_for : 0;
}

static int starts(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

/* The topics that an event misleads about if it was sampled. Its counts are too low, but their
 * shares are right. Waits, however, are made of scheduler events, and spans of a user's probes.
 */
static unsigned misleading_topics(const char *event)
{
	if (starts(event, "sched:"))
		return ABOUT_OFFCPU | ABOUT_TAIL;
	return starts(event, "probe") || starts(event, "sdt_") || starts(event, "perfkit")
		       ? ABOUT_TAIL
		       : 0;
}

static void diagnose_probe(struct diagnosis *j, const struct event *ev, const char *how,
			   uint64_t samples, uint64_t behind)
{
	const struct fact facts[] = {fact_text("event", FACT_EVENT, ev->name),
				     fact_text("option", FACT_OPTION, how),
				     fact_number("samples", FACT_COUNT, samples),
				     fact_number("events", FACT_COUNT, behind)};
	struct finding *f;
	if (behind ? behind <= samples : !attr_samples_tracepoint(&ev->attr))
		f = diagnose_add(j, FORM_NONE_MISSING, SEVERITY_ADVICE, facts, 3);
	else if (behind)
		f = diagnose_add(j, FORM_SOME_RECORDED, SEVERITY_WRONG, facts, 4);
	else
		f = diagnose_add(j, FORM_TRACEPOINT_SAMPLED, SEVERITY_WRONG, facts, 2);
	if (f && f->severity == SEVERITY_WRONG) {
		f->wrong_for = (uint8_t)misleading_topics(ev->name);
		f->severity = f->wrong_for ? SEVERITY_WRONG : SEVERITY_PARTIAL;
	}
	diagnose_record(j, f, &(struct remedy){.every = 1});
}

/* Every switch was requested, but periods show that there were more: another tool has changed
 * the recording. */
static void diagnose_switches(struct diagnosis *j)
{
	if (!j->in->timeline || !(j->in->timeline->flags & TL_SAMPLED))
		return;
	struct finding *f = diagnose_add(j, FORM_SWITCH_STANDS, SEVERITY_WRONG, NO_FACTS);
	diagnose_record(j, f, &(struct remedy){.sched = 1});
}

static void diagnose_tracepoints(struct diagnosis *j)
{
	int found = 0;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		int sw = ev->name && !strncmp(ev->name, "sched:sched_switch", 18);
		if (!ev->is_tracepoint || !is_rated(&ev->attr) || (!sw && !has_samples(j, i)))
			continue;
		char how[32];
		snprintf(how, sizeof(how), "%s %llu",
			 attr_flag(&ev->attr, ATTR_FREQ) ? "-F" : "-c",
			 (ull)ev->attr.sample_period);
		uint64_t samples, behind = events_of_samples(j, i, &samples);
		if (!sw || (!attr_samples_tracepoint(&ev->attr) && behind <= samples)) {
			diagnose_probe(j, ev, how, samples, behind);
			continue;
		}
		struct finding *f = diagnose_add(j, FORM_SWITCH_SAMPLED, SEVERITY_WRONG,
						 FACTS(fact_text("event", FACT_EVENT, ev->name),
						       fact_text("option", FACT_OPTION, how)));
		diagnose_record(j, f, &(struct remedy){.sched = 1});
		found = 1;
	}
	if (!found)
		diagnose_switches(j);
}

/* Two halves of one event, on two kinds of cores, that both have samples. */
static int hybrid_pair(const struct diagnosis *j, const struct event **a,
		       const struct event **b)
{
	*a = NULL;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		if (!has_samples(j, i) || !event_of_core(ev->name))
			continue;
		*a = *a ? *a : ev;
		*b = ev;
		if (strcmp((*a)->name, ev->name) != 0 &&
		    event_names_match((*a)->name, ev->name))
			return 1;
	}
	return 0;
}

static void diagnose_hybrid(struct diagnosis *j)
{
	const struct event *core, *atom;
	if (!hybrid_pair(j, &core, &atom))
		return;
	struct finding *f = diagnose_add(j, FORM_HYBRID, SEVERITY_ADVICE,
					 FACTS(fact_text("core", FACT_EVENT, core->name),
					       fact_text("atom", FACT_EVENT, atom->name)));
	diagnose_record(j, f, &(struct remedy){.only = "cpu-clock"});
}

/* The first event that counts something, as an option for it alone. */
static const char *first_counted(const struct diagnosis *j)
{
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (has_samples(j, i) && !j->rec->events.v[i].is_tracepoint &&
		    shell_is_printable(j->rec->events.v[i].name))
			return j->rec->events.v[i].name;
	return NULL;
}

static void diagnose_multiplexed(struct diagnosis *j)
{
	uint64_t enabled = 0, running = 0;
	const struct survey *v = j->in->survey;
	const struct event *core, *atom;
	if (hybrid_pair(j, &core, &atom)) /* each stands while its task is on the other kind */
		return;
	for (size_t i = 0; v && i < v->readings.n; i++) {
		enabled += v->readings.v[i].enabled >> 8; /* so that the sums stay below 2^64 */
		running += v->readings.v[i].running >> 8;
	}
	if (!enabled || percent(running, enabled) >= 99)
		return;
	struct finding *f = diagnose_add(j, FORM_MULTIPLEXED, SEVERITY_PARTIAL,
					 FACTS(fact_share("counted", running, enabled)));
	diagnose_record(j, f, &(struct remedy){.only = first_counted(j)});
}

static void diagnose_clocks(struct diagnosis *j)
{
	const struct event *first = NULL, *other = NULL;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		if (!has_samples(j, i) || event_name_is_off_cpu(ev->name) ||
		    starts(ev->name, "dummy"))
			continue;
		first = first ? first : ev;
		if (attr_flag(&ev->attr, ATTR_USE_CLOCKID) !=
			    attr_flag(&first->attr, ATTR_USE_CLOCKID) ||
		    ev->attr.clockid != first->attr.clockid)
			other = ev;
	}
	if (other) {
		struct finding *f =
			diagnose_add(j, FORM_CLOCK_MIXED, SEVERITY_WRONG,
				     FACTS(fact_text("event", FACT_EVENT, first->name),
					   fact_text("other", FACT_EVENT, other->name)));
		diagnose_record(j, f, &(struct remedy){.clock = 1});
	}
	/* if a clock was chosen, its wall-clock time was in the part that was cut off */
	int torn = (j->rec->cut_off || j->rec->stats.truncated[0]) && first &&
		   attr_flag(&first->attr, ATTR_USE_CLOCKID);
	if (j->asked & (ABOUT_OFFCPU | ABOUT_TAIL) && !j->rec->features.has_clock_data &&
	    !torn) {
		int chosen = first && attr_flag(&first->attr, ATTR_USE_CLOCKID);
		struct finding *f = diagnose_add(j, chosen ? FORM_CLOCK : FORM_CLOCK_OF_PERF,
						 SEVERITY_ADVICE, NO_FACTS);
		diagnose_record(j, f, &(struct remedy){.clock = 1});
	}
}

void diagnose_events(struct diagnosis *j)
{
	diagnose_tracepoints(j);
	diagnose_hybrid(j);
	diagnose_multiplexed(j);
	diagnose_clocks(j);
}

/* --- waits ---------------------------------------------------------------------------- */

static void diagnose_answerable(struct diagnosis *j, uint32_t flags)
{
	struct finding *f;
	int unnamed = timeline_unnamed_events(j->in->timeline) != NULL;
	if (flags & TL_HAS_TOTALS && !(flags & (TL_HAS_SWITCH | TL_HAS_RECORDS))) {
		f = diagnose_add(
			j, FORM_OFFCPU_TOTALS,
			j->in->asked & ABOUT_TAIL ? SEVERITY_WRONG : SEVERITY_PARTIAL,
			FACTS(fact_number("sums", FACT_COUNT, j->in->timeline->totals.n)));
	} else if (flags & TL_PER_TASK && flags & TL_HAS_SWITCH && !(flags & TL_HAS_RECORDS)) {
		f = diagnose_add(j, FORM_PER_TASK, SEVERITY_WRONG, NO_FACTS);
	} else if (flags & (TL_HAS_SWITCH | TL_HAS_RECORDS | TL_HAS_DIRECT | TL_HAS_TOTALS)) {
		return;
	} else if (unnamed && j->asked & (ABOUT_OFFCPU | ABOUT_TAIL)) {
		f = diagnose_add(j, FORM_NO_EVENT_NAMES, SEVERITY_WRONG, NO_FACTS);
		diagnose_remedy(j, f,
				recording_by_simpleperf(j->rec) ? FORM_NOT_SIMPLEPERF
								: FORM_COPY_AT_THE_END,
				NO_FACTS);
		return;
	} else if (j->asked & (ABOUT_OFFCPU | ABOUT_TAIL)) {
		f = diagnose_add(j, FORM_NO_SWITCHES, SEVERITY_WRONG, NO_FACTS);
	} else {
		return;
	}
	diagnose_record(j, f, &(struct remedy){.sched = 1});
}

/* Harmless if the threads are bound to these CPUs, but that is not recorded. */
static void diagnose_some_cpus(struct diagnosis *j)
{
	if (!(j->in->timeline->flags & TL_SOME_CPUS))
		return;
	struct finding *f = diagnose_add(
		j, FORM_SOME_CPUS, SEVERITY_PARTIAL,
		FACTS(fact_number("cpus", FACT_COUNT, build_switch_cpus(j->rec)),
		      fact_number("online", FACT_COUNT, j->rec->features.cpus_online)));
	diagnose_record(j, f, &(struct remedy){.sched = 1});
}

static void diagnose_wakeups(struct diagnosis *j, uint32_t flags)
{
	const struct timeline *tl = j->in->timeline;
	struct finding *f = NULL;
	if (!(flags & (TL_HAS_SWITCH | TL_HAS_RECORDS)) || flags & TL_SAMPLED ||
	    (flags & TL_PER_TASK && !(flags & TL_HAS_RECORDS)))
		return;
	if (!(flags & (TL_HAS_WAKING | TL_HAS_WAKEUP)))
		f = diagnose_add(j, FORM_NO_WAKEUPS, SEVERITY_PARTIAL, NO_FACTS);
	else if (percent(j->unwoken, tl->offcpu.n) >= 1)
		f = diagnose_add(j, FORM_WAKEUPS_MISSING, SEVERITY_PARTIAL,
				 FACTS(fact_number("missing", FACT_COUNT, j->unwoken),
				       fact_number("waits", FACT_COUNT, tl->offcpu.n)));
	if (tl->disorder.skew_ns) /* they are not missing: they seem to come later */
		return;
	if (remedy_counts_calls(j->rec)) /* on all CPUs, its counters would count everybody */
		diagnose_remedy(j, f, FORM_RECORD_WAITS, NO_FACTS);
	else
		diagnose_record(j, f, &(struct remedy){.sched = 1});
}

void diagnose_waits(struct diagnosis *j)
{
	if (!j->in->timeline)
		return;
	diagnose_answerable(j, j->in->timeline->flags);
	diagnose_some_cpus(j);
	diagnose_wakeups(j, j->in->timeline->flags);
}
