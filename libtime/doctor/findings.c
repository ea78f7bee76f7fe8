#include "libtime/doctor/findings_internal.h"
#include "base/check.h"
#include "base/text/path.h"
#include "libtime/record/plan.h"
#include "libtime/sched/timeline_query.h"

#include <stdlib.h>
#include <string.h>

#define WAITING (ABOUT_OFFCPU | ABOUT_TAIL)
#define ALL (ABOUT_CPU | WAITING | ABOUT_COUNTS)

const struct finding_kind finding_kinds[] = {
	{"switch-sampled",
	 "Most context switches are missing, so waits look many times longer.", WAITING, 1},
	{"tracepoint-sampled", "Counts and spans made of it are incomplete.",
	 WAITING | ABOUT_COUNTS, 0},
	{"per-task", "It has switch-outs but no switch-ins.", WAITING, 1},
	{"some-cpus", "A thread that runs on another CPU meanwhile seems to wait.", WAITING, 0},
	{"no-switches", "Nothing shows when a thread waited.", WAITING, 1},
	{"no-event-names", "Switches may be present, but cannot be recognized.", WAITING, 1},
	{"offcpu-totals", "It has sums per stack, but no single waits.", ABOUT_TAIL, 1},
	{"clock-mixed", "Times of different events cannot be put in order.", ALL, 0},
	{"lost-records",
	 "What happened then is missing from every answer; waits there are suspect.", ALL, 0},
	{"lost-samples", "These samples are missing from every answer.", ALL, 0},
	{"holes",
	 "Waits that this may change by 1 % or more are suspect and left out of percentiles.",
	 WAITING, 0},
	{"short-waits", "What the others waited for may be unknown.", WAITING, 0},
	{"late-records",
	 "Read from a file, they are sorted into place; from a pipe, they count when they "
	 "arrived.",
	 WAITING, 0},
	{"cpu-clocks", "Waits that this changes by 1 % or more are suspect.", WAITING, 0},
	{"throttled", "The kernel paused sampling: busy phases are underrepresented.", ALL, 0},
	{"cut-off", "Everything after the cut is missing, including names kept at the end.",
	 ALL, 0},
	{"bad-records", "Their contents are missing.", ALL, 0},
	{"unknown-event", "Samples whose event the header does not describe are left out.", ALL,
	 0},
	{"guest-samples", "Time in virtual machines is left out, as perf does.", ABOUT_CPU, 0},
	{"hidden-pids", "They cannot be told apart, nor from the idle task: [pid 0].", ALL, 0},
	{"no-samples", "There is nothing to analyze.", ALL, 0},
	{"no-times", "Names and mappings cannot be matched by time.", ALL, 0},
	{"no-inherit", "Threads and children started later are missing.", ALL, 0},
	{"parted-group", "Page faults, switches and other counts per call are missing.",
	 ABOUT_COUNTS, 0},
	{"no-wakeups", "Blocked and runnable time cannot be separated, and wakers are unknown.",
	 WAITING, 0},
	{"wakeups-missing", "How these waits split into blocked and runnable is unknown.",
	 WAITING, 0},
	{"multiplexed", "Counts cover only the time that was counted.", ABOUT_CPU, 0},
	{"hybrid", "A cycle of one kind of core does not do the work of one of the other kind.",
	 ABOUT_CPU, 0},
	{"no-stacks", "The function is known, but not its callers.", ALL, 0},
	{"one-sided-stacks", "Half of each of these stacks is missing.", ALL, 0},
	{"truncated-dumps", "The outer callers are missing: stacks begin at [truncated].", ALL,
	 0},
	{"unwind-stopped", "Stacks end early: their outer callers are missing.", ALL, 0},
	{"unrooted-stacks", "Stacks end early: their outer callers are missing.", ALL, 0},
	{"return-probe", "The callers of that function are missing: stacks begin at [uprobes].",
	 ALL, 0},
	{"late-registers", "At a return instruction, the caller is guessed or missing.", ALL,
	 0},
	{"deep-stacks",
	 "The outer callers of deep stacks are missing: they begin at [truncated].", ALL, 0},
	{"fp-ends-in-libc", "The application's frames are missing above the C library.", ALL,
	 0},
	{"deferred-missing", "These stacks lack their user side.", ALL, 0},
	{"kptr-restrict", "Kernel addresses cannot be turned into names.", ABOUT_NAMES, 0},
	{"kernel-mismatch", "Symbols of another kernel are not used: addresses are shown.",
	 ABOUT_NAMES, 0},
	{"no-kernel-symbols", "Kernel frames are addresses.", ABOUT_NAMES, 0},
	{"build-id-mismatch", "Another build of the file is here; it is not used.", ABOUT_NAMES,
	 0},
	{"shared-path",
	 "The recording does not say which of them was mapped: addresses are shown.",
	 ABOUT_NAMES, 0},
	{"no-build-ids", "Files cannot be checked, so they are not used: addresses are shown.",
	 ABOUT_NAMES, 0},
	{"missing-symbols", "These frames are addresses.", ABOUT_NAMES, 0},
	{"interpreter", "Which functions of the program run is not shown.", ABOUT_NAMES, 0},
	{"debug-parts-missing", "Inlined functions and lines of that code are missing.",
	 ABOUT_NAMES, 0},
	{"mappings-missing", "Their user code can be neither named nor unwound.", ABOUT_NAMES,
	 0},
	{"unmapped-frames",
	 "These addresses lead nowhere: broken frame pointers, or code generated at run time.",
	 ABOUT_NAMES, 0},
	{"clock", "Times cannot be compared with logs or with other machines.", WAITING, 0},
	{NULL, NULL, 0, 0},
};

const struct finding_kind *finding_kind(const char *id)
{
	const struct finding_kind *k = finding_kinds;
	while (k->id && (!id || strcmp(k->id, id) != 0))
		k++;
	return k->id ? k : NULL;
}

/* --- adding --------------------------------------------------------------------------- */

static const char *keep(struct diagnosis *j, const char *text)
{
	const char *s = *text ? arena_strndup(&j->out->text, text, strlen(text)) : "";
	if (!s)
		j->failed = ERR_NOMEM;
	return s ? s : "";
}

static struct statement state(struct diagnosis *j, enum form form, const struct fact *facts,
			      size_t n)
{
	struct fact *v = n ? arena_alloc(&j->out->text, n * sizeof(*v)) : NULL;
	struct statement s = {form, v, v ? n : 0};
	if (n && !v)
		j->failed = ERR_NOMEM;
	for (size_t i = 0; i < s.n; i++) {
		v[i] = facts[i];
		v[i].text = keep(j, facts[i].text);
	}
	CHECK(j->failed || statement_is_whole(&s));
	return s;
}

/* The kind of a title's form: the part of its key before the slash. */
static const struct finding_kind *kind_of(enum form title)
{
	const struct finding_kind *k = finding_kinds;
	size_t n = strcspn(form_key(title), "/");
	while (strncmp(k->id, form_key(title), n) != 0 || k->id[n])
		k++;
	return k;
}

struct finding *diagnose_add(struct diagnosis *j, enum form title,
			     enum finding_severity severity, const struct fact *facts, size_t n)
{
	struct finding f = {.kind = kind_of(title), .severity = (uint8_t)severity};
	f.wrong_for = severity == SEVERITY_WRONG ? f.kind->topics : 0;
	f.title = state(j, title, facts, n);
	if (vec_push(&j->out->v, f)) {
		j->failed = ERR_NOMEM;
		return NULL;
	}
	return &j->out->v.v[j->out->v.n - 1];
}

void diagnose_remedy(struct diagnosis *j, struct finding *f, enum form form,
		     const struct fact *facts, size_t n)
{
	if (!f)
		return;
	f->remedies[0] = state(j, form, facts, n);
	f->nremedies = 1;
}

void diagnose_detail(struct diagnosis *j, struct finding *f, enum form form,
		     const struct fact *facts, size_t n)
{
	if (f && f->ndetails < FINDING_DETAILS)
		f->details[f->ndetails++] = state(j, form, facts, n);
}

void diagnose_record(struct diagnosis *j, struct finding *f, const struct remedy *change)
{
	if (!f)
		return;
	remedy_merge(&j->remedy, change);
	f->change = *change;
	f->again = 1;
}

/* Stack copies of all switches do not fit into perf's default buffers: a finding whose change
 * adds copies to switches, or all switches to copies, takes larger ones. */
static void give_room(struct diagnosis *j)
{
	struct remedy *r = &j->remedy;
	uint32_t copied = diagnose_dump_size(j);
	int switches = 0;
	for (size_t i = 0; i < j->rec->events.n; i++) {
		const char *name = j->rec->events.v[i].name;
		switches |= name && !strncmp(name, "sched:sched_switch", 18);
	}
	for (size_t i = 0; i < j->out->v.n; i++) {
		struct remedy *c = &j->out->v.v[i].change;
		c->ring |= (c->dump && (switches || r->sched)) || (c->sched && copied);
		r->ring |= c->ring;
	}
}

int diagnose_line_changes(struct diagnosis *j, const struct remedy *change)
{
	struct remedy with = *change;
	with.all_cpus = j->remedy.all_cpus;
	int changes = remedy_changes(j->rec, &with);
	j->failed = changes < 0 ? changes : j->failed;
	return changes > 0;
}

/* Is the recording empty for another reason than its line? Then the corrected line would stay
 * empty, too, whatever else it changes (its clock). */
static int stays_empty(struct diagnosis *j)
{
	const struct remedy change = {
		.samples = 1, .sched = j->remedy.sched, .ungroup = j->remedy.ungroup};
	return !diagnose_line_changes(j, &change);
}

struct change {
	struct diagnosis *j;
	struct finding *f;
};

static int say_option(void *ctx, enum option_effect effect, const char *option)
{
	static const enum form forms[] = {
		[OPTION_ONE_EVENT] = FORM_ONE_EVENT,
		[OPTION_SCHED] = FORM_ALL_SWITCHES,
		[OPTION_EXITS] = FORM_EXITS,
		[OPTION_EACH_TIME] = FORM_EACH_TIME,
		[OPTION_NO_GROUP] = FORM_NO_GROUP,
		[OPTION_MAPPINGS] = FORM_ALL_MAPPINGS,
		[OPTION_SAMPLES] = FORM_SAMPLES,
		[OPTION_CLOCK] = FORM_COMMON_CLOCK,
		[OPTION_TIMES] = FORM_TIMES,
		[OPTION_MAPPED_IDS] = FORM_MAPPED_IDS,
		[OPTION_ALL_IDS] = FORM_ALL_IDS,
		[OPTION_COPIES] = FORM_STACK_COPIES,
		[OPTION_LARGER_COPIES] = FORM_LARGER_COPIES,
		[OPTION_SMALLER_COPIES] = FORM_SMALLER_COPIES,
		[OPTION_BOTH_SIDES] = FORM_BOTH_SIDES,
		[OPTION_STACKS] = FORM_STACKS,
		[OPTION_RING] = FORM_LARGER_BUFFERS,
		[OPTION_FEWER_SAMPLES] = FORM_FEWER_SAMPLES,
	};
	ENTRIES(forms, OPTION_EFFECTS);
	const struct change *c = ctx;
	struct finding *f = c->f;
	if (f->nremedies < FINDING_REMEDIES)
		f->remedies[f->nremedies++] = state(
			c->j, forms[effect], FACTS(fact_text("option", FACT_OPTION, option)));
	return c->j->failed;
}

/* Add the options that would fix a finding. */
static void add_options(struct diagnosis *j, struct finding *f)
{
	int empty = !strcmp(f->kind->id, "no-samples");
	f->nremedies = 0;
	if ((!empty || !stays_empty(j)) &&
	    remedy_why(j->rec, &f->change, &j->remedy, say_option,
		       &(struct change){.j = j, .f = f}))
		j->failed = ERR_NOMEM;
	f->again = f->nremedies > 0;
	if (!f->again)
		diagnose_remedy(j, f, empty ? FORM_NOTHING_RAN : FORM_NO_OPTION, NO_FACTS);
}

/* Make one line for all findings: a recording made with it has none of them. */
static void set_line(struct diagnosis *j)
{
	struct record_plan p;
	struct buf b = {0};
	int again = 0;
	give_room(j);
	j->remedy.all_cpus = j->in->survey && j->in->survey->all_threads;
	for (size_t i = 0; i < j->out->v.n; i++) {
		struct finding *f = &j->out->v.v[i];
		if (f->again)
			add_options(j, f);
		again |= f->again;
	}
	if (!again)
		return;
	if (record_plan(
		    &p,
		    &(struct record_wish){.perf = "perf", .like = j->rec, .change = j->remedy},
		    NULL))
		j->failed = ERR_NOMEM;
	record_plan_line(&b, &p);
	j->failed = buf_failed(&b) ? ERR_NOMEM : j->failed;
	j->out->line = keep(j, buf_cstr(&b));
	buf_release(&b);
	j->out->change = j->remedy;
	record_plan_release(&p);
}

/* --- all of them ---------------------------------------------------------------------- */

/* Kinds of a newer version are in no table, and last. */
static int compare_kinds(const struct finding_kind *a, const struct finding_kind *b)
{
	const struct finding_kind *k = finding_kinds;
	while (k->id && k != a && k != b)
		k++;
	return a == b ? 0 : k->id ? (k == a ? -1 : 1) : strcmp(a->id, b->id);
}

static int by_severity(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	int kinds = compare_kinds(x->kind, y->kind);
	return kinds ? kinds : statement_compare(&x->title, &y->title);
}

void findings_sort(struct findings *f)
{
	if (f->v.n)
		qsort(f->v.v, f->v.n, sizeof(*f->v.v), by_severity);
}

unsigned findings_event_topics(const char *name, int is_tracepoint)
{
	int off = event_name_is_off_cpu(name);
	if (is_tracepoint && strncmp(name, "sched:", 6) != 0)
		return strchr(name, ':') ? ABOUT_COUNTS
					 : WAITING; /* without a name: it may be of switches */
	if (is_tracepoint) /* others, such as exits, accompany switches or are counted */
		return strncmp(name, "sched:sched_switch", 18) &&
				       strncmp(name, "sched:sched_wak", 15)
			       ? 0
			       : WAITING;
	return (off ? (unsigned)ABOUT_OFFCPU : 0) |
	       (!off && strncmp(name, "dummy", 5) != 0 ? (unsigned)ABOUT_CPU : 0);
}

unsigned findings_all_topics(unsigned topics)
{
	int spans = topics & ABOUT_OFFCPU && topics & ABOUT_COUNTS;
	topics |= topics & ~(unsigned)ABOUT_NAMES ? 0 : ABOUT_COUNTS;
	return spans ? topics | ABOUT_TAIL : topics;
}

int findings_is_trace(const char *name)
{
	static const char *const pmus[] = {"intel_pt", "intel_bts", "arm_spe", "cs_etm"};
	for (size_t i = 0; i < sizeof(pmus) / sizeof(*pmus); i++)
		if (!strncmp(name, pmus[i], strlen(pmus[i])))
			return 1;
	return 0;
}

unsigned findings_intended_topics(const struct recording *rec)
{
	unsigned topics = ABOUT_NAMES;
	int trace = 0;
	for (size_t i = 0; i < rec->events.n; i++)
		trace |= findings_is_trace(rec->events.v[i].name ? rec->events.v[i].name : "");
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		topics |= findings_event_topics(ev->name ? ev->name : "", ev->is_tracepoint);
		if (!trace && attr_flag(&ev->attr, ATTR_CONTEXT_SWITCH))
			topics |= ABOUT_OFFCPU;
	}
	return findings_all_topics(topics);
}

/* The severity (enum finding_severity) for questions about `topics`. */
static unsigned severity_for(const struct finding *f, unsigned topics)
{
	return f->severity == SEVERITY_WRONG && !(f->wrong_for & topics) ? SEVERITY_PARTIAL
									 : f->severity;
}

/* perf's own part, if all threads' switches were recorded. */
static int64_t cpu_of_recorder(const struct recording *rec, const struct timeline *tl)
{
	const char *name = rec->features.nargv ? path_base(rec->features.argv[0]) : "perf";
	uint64_t ns = 0;
	struct tl_sums sums;
	if (!tl || !timeline_has_switches(tl) || tl->flags & TL_PER_TASK)
		return -1;
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		if (strcmp(strtab_get(&tl->stacks->strings, tl->threads.v[i].comm), name) != 0)
			continue;
		timeline_thread_sums(tl, i, &sums);
		ns += sums.run;
	}
	return (int64_t)ns;
}

static void add_paid(struct price_paid *out, const struct findings_input *in)
{
	price_paid_read(out, in->profile->rec);
	out->cpu_ns = cpu_of_recorder(in->profile->rec, in->timeline);
	if (in->survey) {
		out->first_ns = in->survey->first_ns;
		out->last_ns = in->survey->last_ns;
	}
}

int findings_gather(struct findings *out, const struct findings_input *in, struct err *e)
{
	struct diagnosis j = {.in = in, .rec = in->profile->rec, .out = out};
	*out = (struct findings){.line = "", .host = ""};
	j.asked = in->asked ? in->asked | ABOUT_NAMES : findings_intended_topics(j.rec);
	j.samples = j.rec->stats.by_type[PERF_RECORD_SAMPLE];
	if (j.rec->features.hostname)
		out->host = keep(&j, j.rec->features.hostname);
	diagnose_file(&j);
	diagnose_loss(&j);
	diagnose_order(&j);
	diagnose_events(&j);
	diagnose_waits(&j);
	diagnose_stacks(&j);
	diagnose_maps(&j);
	diagnose_names(&j);
	diagnose_runtimes(&j);
	set_line(&j);
	add_paid(&out->paid, in);
	for (size_t i = 0; i < out->v.n; i++)
		out->v.v[i].severity = (uint8_t)severity_for(&out->v.v[i], j.asked);
	findings_sort(out);
	return j.failed ? err_nomem(e) : 0;
}

void findings_release(struct findings *f)
{
	vec_release(&f->v);
	arena_release(&f->text);
}

int findings_worst(const struct findings *f, unsigned topics)
{
	int worst = -1;
	for (size_t i = 0; i < f->v.n; i++) {
		int severity = (int)severity_for(&f->v.v[i], topics);
		if (f->v.v[i].kind->topics & topics && severity > worst)
			worst = severity;
	}
	return worst;
}

const char *findings_verdict(const struct findings *f, unsigned topic)
{
	static const char *const verdicts[] = {
		"can answer", "can answer; it could be better next time", "can answer in part",
		"an answer would be wrong"};
	static const char *const names[] = {NULL, "some are missing", "many are missing",
					    "wrong"};
	int worst = findings_worst(f, topic);
	return (topic == ABOUT_NAMES ? names : verdicts)[worst + 1];
}

const struct finding *findings_refusal(const struct findings *f, unsigned topics)
{
	for (size_t i = 0; i < f->v.n; i++)
		if (f->v.v[i].kind->topics & topics &&
		    severity_for(&f->v.v[i], topics) == SEVERITY_WRONG)
			return &f->v.v[i];
	return NULL;
}

const char *finding_severity_name(unsigned severity)
{
	static const char *const names[] = {"advice", "partial", "wrong"};
	ENTRIES(names, SEVERITY_WRONG + 1);
	return severity < sizeof(names) / sizeof(*names) ? names[severity] : "";
}
