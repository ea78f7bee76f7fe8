/* findings_record.c - findings about the recording: file, losses, events, waits. */
#include "base/count.h"
#include "base/text/shellword.h"
#include "libtime/build/build.h"
#include "libtime/doctor/findings_internal.h"
#include "libtime/record/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

/* --- the file ------------------------------------------------------------------------- */

/* What became of the rest of a torn file: "; 77 % of the recording could not be read". */
static const char *unread(const struct recording *rec, char *out, size_t n)
{
	const struct recording_stats *s = &rec->stats;
	double all = (double)rec->data_size + (double)s->missing_bytes;
	double lost = (double)s->torn_bytes + (double)s->missing_bytes;
	*out = '\0';
	if (s->joined)
		snprintf(out, n, "; it is not read");
	else if (all > 0 && lost > 0 && lost <= all)
		snprintf(out, n, "; %s%.*f %% of the recording could not be read",
			 lost / all < 0.001 ? "less than " : "",
			 lost / all < 0.1 || lost / all > 0.99,
			 lost / all < 0.001 ? 0.1 : 100 * lost / all);
	return out;
}

static void diagnose_cut(struct diagnosis *j)
{
	const struct recording_stats *s = &j->rec->stats;
	struct finding *f = NULL;
	char rest[80];
	if (j->rec->cut_off)
		f = diagnose_add(
			j, "cut-off", SEVERITY_PARTIAL,
			"perf did not finish this file (killed?): build-ids and event names "
			"are missing");
	else if (s->torn[0])
		f = diagnose_add(j, "cut-off", SEVERITY_PARTIAL, "%s%s", s->torn,
				 unread(j->rec, rest, sizeof(rest)));
	if (j->rec->cut_off && s->torn[0])
		diagnose_detail(j, f, "%s%s", s->torn, unread(j->rec, rest, sizeof(rest)));
	diagnose_remedy(
		j, f, "%s",
		s->joined ? "keep recordings in files of their own; perfkit import A B -o "
			    "run.db puts several into one store"
			  : "end perf with Ctrl-C (kill -INT), not kill -9, and copy the "
			    "file after perf has ended");
}

static void diagnose_bad(struct diagnosis *j)
{
	const struct recording_stats *s = &j->rec->stats;
	const struct aggregate_stats *t = &j->in->profile->totals;
	if (s->bad.n) {
		struct finding *f = diagnose_add(
			j, "bad-records", SEVERITY_PARTIAL, "%s skipped, first: %s",
			COUNT(s->bad.n, "broken record"), s->bad.first);
		diagnose_remedy(
			j, f,
			"copy the file again; if that does not help, record with another "
			"version of perf");
	}
	if (t->no_event)
		diagnose_add(j, "unknown-event", SEVERITY_PARTIAL,
			     "skipped %s of an event that the header does not describe",
			     COUNT(t->no_event, "sample"));
	if (t->guest)
		diagnose_add(j, "guest-samples", SEVERITY_PARTIAL,
			     "left out %s taken in guests", COUNT(t->guest, "sample"));
}

/* Events that had samples; without a survey all count. */
static int is_live(const struct diagnosis *j, size_t event)
{
	const struct survey *v = j->in->survey;
	return !v || (event < v->events.n && v->events.v[event].samples);
}

#define REMEDY_OF_COUNTERS                                                 \
	"attach when all threads run (-p), or record with Linux 6.12 and " \
	"perf 6.13: perfkit record calls --inherit"

/* The threads that were started while recording: groups that are not inherited missed them. */
static void name_missed(struct diagnosis *j, struct finding *f)
{
	enum { NAMED = 5 };
	const struct timeline *tl = j->in->timeline;
	struct buf b = {0};
	size_t n = 0;
	for (size_t i = 0; tl && i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		if (!(t->flags & THREAD_BORN) || n++ >= NAMED)
			continue;
		const char *comm = strtab_get(&tl->stacks->strings, t->comm);
		buf_str(&b, b.n ? ", " : "");
		buf_str(&b, comm);
		buf_fmt(&b, *comm ? "/%d" : "tid %d", t->tid);
	}
	if (n > NAMED)
		buf_fmt(&b, " and %zu more", n - NAMED);
	if (n)
		diagnose_detail(j, f, "not measured: %s", buf_cstr(&b));
	j->failed |= buf_failed(&b) != 0;
	buf_release(&b);
}

static int any_born(const struct timeline *tl)
{
	for (size_t i = 0; tl && i < tl->threads.n; i++)
		if (tl->threads.v[i].flags & THREAD_BORN)
			return 1;
	return 0;
}

static void diagnose_parted(struct diagnosis *j)
{
	const struct event *ev = calls_parted(j->rec);
	if (!ev)
		return;
	struct finding *f = diagnose_add(
		j, "parted-group", SEVERITY_PARTIAL,
		"%s is not in the group of its counters (perf 6.12 and newer take it out): "
		"calls have no counters",
		ev->name);
	diagnose_remedy(j, f,
			"record with perfkit record calls, or put cycles into the group: "
			"-e '{%s,cycles,...}:S'",
			ev->name);
}

/* perf ran a command: its groups count from there on. */
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
		int live = is_live(j, i);
		if (live &&
		    (!(a->sample_type & PERF_SAMPLE_TIME) || !attr_flag(a, ATTR_SAMPLE_ID_ALL)))
			bare = ev;
		/* that there are no samples at all may be its doing */
		if ((live || !j->samples) && !attr_flag(a, ATTR_INHERIT) &&
		    a->read_format & PERF_FORMAT_GROUP) {
			if (command)
				single = ev;
			else
				later = per_task ? ev : NULL;
		}
	}
	if (bare) {
		struct finding *f = diagnose_add(j, "no-times", SEVERITY_ADVICE,
						 "%s was recorded without times%s", bare->name,
						 bare->attr.sample_type & PERF_SAMPLE_TIME
							 ? " of mappings and names"
							 : "");
		diagnose_record(j, f, &(struct remedy){.times = 1});
	}
	if (single &&
	    (!single->is_tracepoint || !j->in->timeline || any_born(j->in->timeline))) {
		struct finding *f = diagnose_add(
			j, "no-inherit", SEVERITY_PARTIAL,
			"%s in a group (:S): only the first thread was measured", single->name);
		if (single->is_tracepoint) /* for the counters that it reads */
			diagnose_remedy(j, f, REMEDY_OF_COUNTERS);
		else
			diagnose_record(j, f, &(struct remedy){.ungroup = 1});
		name_missed(j, f);
	} else if (later && any_born(j->in->timeline)) {
		struct finding *f = diagnose_add(
			j, "no-inherit", SEVERITY_PARTIAL,
			"%s in a group (:S): threads that started later were not measured",
			later->name);
		diagnose_remedy(j, f, REMEDY_OF_COUNTERS);
		name_missed(j, f);
	}
}

void diagnose_file(struct diagnosis *j)
{
	diagnose_cut(j);
	diagnose_bad(j);
	uint64_t traced = j->rec->stats.aux_bytes;
	if (!j->samples && traced) {
		struct finding *f =
			diagnose_add(j, "no-samples", SEVERITY_WRONG,
				     "no samples, only %s of AUX trace, which perfkit does not "
				     "decode",
				     COUNT(traced, "byte"));
		diagnose_remedy(j, f,
				"perf script decodes it; or record samples: perf record -g");
	} else if (!j->samples && !(j->in->timeline && j->in->timeline->off.n)) {
		struct finding *f = diagnose_add(j, "no-samples", SEVERITY_WRONG,
						 "no samples were recorded");
		diagnose_record(j, f, &(struct remedy){.stacks = 1, .samples = 1});
	}
	diagnose_age(j);
	diagnose_parted(j);
}

/* --- losses --------------------------------------------------------------------------- */

enum { BINS = 50 };

/* Where on the time axis records were lost: one character a fiftieth. */
static void lost_where(struct diagnosis *j, struct finding *f)
{
	static const char ramp[] = " .:-=+*#@";
	const struct timeline *tl = j->in->timeline;
	uint64_t bins[BINS] = {0}, most = 0;
	char text[BINS + 1];
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
	for (int i = 0; i < BINS; i++) {
		int level = (int)((double)bins[i] / (double)most * 8);
		text[i] = ramp[bins[i] && !level ? 1 : level];
	}
	text[BINS] = '\0';
	diagnose_detail(j, f, "0 s |%s| %.2f s", text, (double)span / 1e9);
	diagnose_detail(j, f, "@ = %s lost in %.0f ms", COUNT(most, "record"),
			(double)span / 1e6 / BINS);
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
			j, "lost-records",
			share >= (waiting ? 10 : 50) ? SEVERITY_WRONG : SEVERITY_PARTIAL,
			"perf lost %s while recording (%.*f %%)", COUNT(s->lost, "record"),
			share < 1 ? 3 : 1, share);
		if (f && f->harm == SEVERITY_WRONG && share < 50)
			f->wrong_for = ABOUT_OFFCPU | ABOUT_TAIL;
		lost_where(j, f);
		struct remedy change = {.ring = 1, .spare = 1};
		if (share >= 10) { /* larger buffers alone will not do */
			change.max_freq = 999;
			change.max_dump = diagnose_dump_smaller(j);
		}
		diagnose_record(j, f, &change);
	}
	uint64_t dropped = recording_dropped_samples(j->rec);
	if (dropped) {
		struct finding *f = diagnose_add(
			j, "lost-samples", SEVERITY_PARTIAL, "the kernel dropped %s (%.1f %%)",
			COUNT(dropped, "sample"),
			100.0 * (double)dropped /
				((double)dropped + (double)s->lost + (double)kept));
		diagnose_record(j, f, &(struct remedy){.ring = 1, .spare = 1});
	}
}

enum { LOST_MOST = 1000 }; /* that holes are compared with */

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

static void diagnose_holes(struct diagnosis *j)
{
	const struct timeline *tl = j->in->timeline;
	uint64_t holes = count_holes(tl), suspect = 0;
	for (size_t i = 0; i < tl->off.n; i++)
		suspect += !!(tl->off.v[i].flags & OFF_SUSPECT);
	if (!holes || tl->flags & TL_SAMPLED) /* reported as switch-sampled: no loss at all */
		return;
	double share = percent(suspect, tl->off.n);
	struct finding *f = diagnose_add(
		j, "holes", share >= 50 ? SEVERITY_WRONG : SEVERITY_PARTIAL,
		"%s missing, although perf reported no lost records; %.1f %% of waits "
		"are suspect",
		COUNT_MANY(holes, "context switch is", "context switches are"), share);
	if (tl->disorder.moved) /* they are there, and came late */
		diagnose_ask_the_file(j, f);
	else
		diagnose_record(j, f, &(struct remedy){.sched = 1, .ring = 1, .spare = 1});
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
	struct finding *f = diagnose_add(
		j, "throttled",
		percent(n, j->samples) >= 1 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
		"the kernel throttled sampling %s: the rate was lower than requested",
		COUNT(n, "time"));
	diagnose_record(
		j, f,
		&(struct remedy){.max_freq = asked > 2000 || asked < 2 ? 999 : asked / 2});
}

void diagnose_loss(struct diagnosis *j)
{
	diagnose_lost(j);
	if (j->in->timeline)
		diagnose_holes(j);
	diagnose_throttle(j);
}

/* --- events --------------------------------------------------------------------------- */

/* Asked for otherwise than each time. */
static int is_rated(const struct event_attr *a)
{
	return attr_flag(a, ATTR_FREQ) ? a->sample_period != 0 : a->sample_period > 1;
}

/* What the periods of its samples say: how many events there were, 0 where they do not. */
static uint64_t events_behind(const struct diagnosis *j, size_t event, uint64_t *samples)
{
	const struct survey *v = j->in->survey;
	*samples = v && event < v->events.n ? v->events.v[event].samples : 0;
	return *samples ? v->events.v[event].stand_for : 0;
}

static int starts(const char *s, const char *with)
{
	return s && !strncmp(s, with, strlen(with));
}

/* What an event misleads about when it was sampled. Counts of it are too small, and their
 * shares right; but waits are made of scheduler events, and spans of the probes a user has set.
 */
static unsigned misleading(const char *event)
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
	struct finding *f;
	if (behind ? behind <= samples : !attr_samples_tracepoint(&ev->attr))
		f = diagnose_add(j, "tracepoint-sampled", SEVERITY_ADVICE,
				 "%s was asked for with %s; none of %s is missing", ev->name,
				 how, DIGITS(samples));
	else if (behind)
		f = diagnose_add(j, "tracepoint-sampled", SEVERITY_WRONG,
				 "%s was sampled (%s): %s of %s were recorded", ev->name, how,
				 DIGITS(samples), DIGITS(behind));
	else
		f = diagnose_add(j, "tracepoint-sampled", SEVERITY_WRONG,
				 "%s was sampled (%s), not recorded each time", ev->name, how);
	if (f && f->harm == SEVERITY_WRONG) {
		f->wrong_for = (uint8_t)misleading(ev->name);
		f->harm = f->wrong_for ? SEVERITY_WRONG : SEVERITY_PARTIAL;
	}
	diagnose_record(j, f, &(struct remedy){.every = 1});
}

/* Each was asked for, but the samples speak of more: another tool has been at work. */
static void diagnose_switches(struct diagnosis *j)
{
	if (!j->in->timeline || !(j->in->timeline->flags & TL_SAMPLED))
		return;
	struct finding *f =
		diagnose_add(j, "switch-sampled", SEVERITY_WRONG,
			     "samples of sched:sched_switch stand for others that are "
			     "missing (perf inject -s?)");
	diagnose_record(j, f, &(struct remedy){.sched = 1});
}

static void diagnose_tracepoints(struct diagnosis *j)
{
	int told = 0;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		int sw = ev->name && !strncmp(ev->name, "sched:sched_switch", 18);
		if (!ev->is_tracepoint || !is_rated(&ev->attr) || (!sw && !is_live(j, i)))
			continue;
		char how[32];
		snprintf(how, sizeof(how), "%s %llu",
			 attr_flag(&ev->attr, ATTR_FREQ) ? "-F" : "-c",
			 (ull)ev->attr.sample_period);
		uint64_t samples, behind = events_behind(j, i, &samples);
		if (!sw || (!attr_samples_tracepoint(&ev->attr) && behind <= samples)) {
			diagnose_probe(j, ev, how, samples, behind);
			continue;
		}
		struct finding *f = diagnose_add(j, "switch-sampled", SEVERITY_WRONG,
						 "%s was sampled (%s), not recorded each time",
						 ev->name, how);
		diagnose_record(j, f, &(struct remedy){.sched = 1});
		told = 1;
	}
	if (!told)
		diagnose_switches(j);
}

static void diagnose_hybrid(struct diagnosis *j)
{
	const struct event *core = NULL, *atom = NULL;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		if (!is_live(j, i))
			continue;
		core = starts(ev->name, "cpu_core/") ? ev : core;
		atom = starts(ev->name, "cpu_atom/") ? ev : atom;
	}
	if (!core || !atom)
		return;
	struct finding *f = diagnose_add(j, "hybrid", SEVERITY_PARTIAL,
					 "two kinds of cores, two events: %s and %s",
					 core->name, atom->name);
	diagnose_record(j, f, &(struct remedy){.only = "cpu-clock"});
}

/* The first event that counts something, as it would be asked for alone. */
static const char *first_counted(const struct diagnosis *j)
{
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (is_live(j, i) && !j->rec->events.v[i].is_tracepoint &&
		    shell_is_printable(j->rec->events.v[i].name))
			return j->rec->events.v[i].name;
	return NULL;
}

static void diagnose_multiplexed(struct diagnosis *j)
{
	uint64_t enabled = 0, running = 0;
	const struct survey *v = j->in->survey;
	for (size_t i = 0; v && i < v->readings.n; i++) {
		enabled += v->readings.v[i].enabled >> 8; /* sums stay below 2^64 */
		running += v->readings.v[i].running >> 8;
	}
	if (!enabled || percent(running, enabled) >= 99)
		return;
	struct finding *f =
		diagnose_add(j, "multiplexed", SEVERITY_PARTIAL,
			     "counters took turns: they counted %.1f %% of the time",
			     percent(running, enabled));
	diagnose_record(j, f, &(struct remedy){.only = first_counted(j)});
}

static void diagnose_clocks(struct diagnosis *j)
{
	const struct event *first = NULL, *other = NULL;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const struct event *ev = &j->rec->events.v[i];
		if (!is_live(j, i) || event_name_is_off_cpu(ev->name) ||
		    starts(ev->name, "dummy"))
			continue;
		first = first ? first : ev;
		if (attr_flag(&ev->attr, ATTR_USE_CLOCKID) !=
			    attr_flag(&first->attr, ATTR_USE_CLOCKID) ||
		    ev->attr.clockid != first->attr.clockid)
			other = ev;
	}
	if (other) {
		struct finding *f = diagnose_add(j, "clock-mixed", SEVERITY_WRONG,
						 "%s and %s were recorded on different clocks",
						 first->name, other->name);
		diagnose_record(j, f, &(struct remedy){.clock = 1});
	}
	/* where a clock was chosen, the wall clock's time stood in the end that was torn off */
	int torn = (j->rec->cut_off || j->rec->stats.torn[0]) && first &&
		   attr_flag(&first->attr, ATTR_USE_CLOCKID);
	if (j->asked & (ABOUT_OFFCPU | ABOUT_TAIL) && !j->rec->features.has_clock_data &&
	    !torn) {
		struct finding *f = diagnose_add(
			j, "clock", SEVERITY_ADVICE,
			"no wall-clock reference was recorded (times are on %s clock)",
			first && attr_flag(&first->attr, ATTR_USE_CLOCKID) ? "the chosen"
									   : "perf's own");
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
	const char *nameless = timeline_nameless(j->in->timeline);
	if (flags & TL_HAS_TOTALS && !(flags & (TL_HAS_SWITCH | TL_HAS_RECORDS))) {
		f = diagnose_add(j, "offcpu-totals",
				 j->in->asked & ABOUT_TAIL ? SEVERITY_WRONG : SEVERITY_PARTIAL,
				 "--off-cpu kept %s of waiting, without their times",
				 COUNT(j->in->timeline->totals.n, "sum"));
	} else if (flags & TL_PER_TASK && flags & TL_HAS_SWITCH && !(flags & TL_HAS_RECORDS)) {
		f = diagnose_add(j, "per-task", SEVERITY_WRONG,
				 "sched_switch was recorded for some threads only (no -a)");
	} else if (flags & (TL_HAS_SWITCH | TL_HAS_RECORDS | TL_HAS_DIRECT | TL_HAS_TOTALS)) {
		return;
	} else if (nameless && j->asked & (ABOUT_OFFCPU | ABOUT_TAIL)) {
		f = diagnose_add(j, "no-event-names", SEVERITY_WRONG, "%s", nameless);
		diagnose_remedy(
			j, f,
			"copy the file again after perf has ended; if that does not help, "
			"record again and end perf with Ctrl-C");
		return;
	} else if (j->asked & (ABOUT_OFFCPU | ABOUT_TAIL)) {
		f = diagnose_add(j, "no-switches", SEVERITY_WRONG,
				 "no context switches were recorded");
	} else {
		return;
	}
	diagnose_record(j, f, &(struct remedy){.sched = 1});
}

/* Harmless if the threads in question are bound to these CPUs, which is not recorded. */
static void diagnose_some_cpus(struct diagnosis *j)
{
	if (!(j->in->timeline->flags & TL_SOME_CPUS))
		return;
	struct finding *f =
		diagnose_add(j, "some-cpus", SEVERITY_PARTIAL,
			     "switches of only %zu of %u CPUs were recorded (-C)",
			     build_switch_cpus(j->rec), j->rec->features.cpus_online);
	diagnose_record(j, f, &(struct remedy){.sched = 1});
}

static void diagnose_wakeups(struct diagnosis *j, uint32_t flags)
{
	const struct timeline *tl = j->in->timeline;
	uint64_t missing = 0;
	struct finding *f = NULL;
	for (size_t i = 0; i < tl->off.n; i++)
		missing += tl->off.v[i].unknown == UNKNOWN_NO_WAKE;
	if (!(flags & (TL_HAS_SWITCH | TL_HAS_RECORDS)) || flags & TL_SAMPLED ||
	    (flags & TL_PER_TASK && !(flags & TL_HAS_RECORDS)))
		return;
	if (!(flags & (TL_HAS_WAKING | TL_HAS_WAKEUP)))
		f = diagnose_add(j, "no-wakeups", SEVERITY_PARTIAL,
				 "switches were recorded, wakeups were not");
	else if (percent(missing, tl->off.n) >= 1)
		f = diagnose_add(j, "wakeups-missing", SEVERITY_PARTIAL,
				 "%s of %s ended without a recorded wakeup", DIGITS(missing),
				 COUNT(tl->off.n, "wait"));
	if (tl->disorder.skew_ns) /* they are there, and seem to come later */
		return;
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
