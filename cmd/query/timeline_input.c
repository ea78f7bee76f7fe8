#include "cmd/query/timeline_input.h"
#include "base/mem.h"
#include "base/text/glob.h"
#include "base/shortage.h"
#include "libtime/doctor/describe.h"
#include "libtime/doctor/missing.h"
#include "cmd/cli/say.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/recording_hash.h"
#include "libtime/doctor/scope.h"
#include "cmd/query/side_input.h"
#include "cmd/query/timeline_samples.h"
#include "cmd/query/waits.h"
#include "libtime/build/build.h"
#include "libtime/population/meant.h"
#include "libtime/record/recorded_for.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/store/store.h"
#include "libtime/store/kept_source.h"
#include "libtime/store/store_read.h"
#include "libsym/trampolines.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_join.h"
#include "render/tail/site_words.h"
#include "render/text/escape.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct tlinput_opts, field)

const struct opt tlinput_rows[] = {
	OPT_HEADING("Waits"),
	{"causes", 0, OPT_STRING, AT(causes), "FILE",
	 "more rules for causes, tried before the built-in ones\n(perfkit help causes prints "
	 "those and the grammar)"},
	{"idle-frame", 0, OPT_EACH, AT(idle_frames), "RE",
	 "waits whose innermost function of the application matches\nRE are at rest "
	 "(repeatable)"},
	{"work-frame", 0, OPT_EACH, AT(work_frames), "RE",
	 "waits with a function matching RE on the stack are work\n(repeatable)"},
	OPT_HEADING("Spans"),
	{"span", 0, OPT_LIST, AT(spans), "NAME=BEGIN..END[,key=FIELD]",
	 "work between two events; or syscalls, irq, softirq, block,\ncontention"},
	{"with", 0, OPT_EACH, AT(sides),
	 "FILE[,clock=mono|raw|real|tsc][,offset=NS][,cpu=N][,maps=FILE]",
	 "spans, labels or gaps that a program logged (CSV, OTLP,\nChrome trace, LDB, label "
	 "histories, jitter samplers), put\non the recording's clock (repeatable; "
	 "docs/requests.md)"},
	OPT_HEADING("Filters"),
	{"label", 0, OPT_STRING, AT(label), "KEY=VALUE",
	 "only what threads did with this label: in spans (also\nspan=NAME and key=ID) or "
	 "below "
	 "trampolines"},
	{"recording", 0, OPT_STRING, AT(recording), "N|HOST",
	 "of a store with several recordings: the Nth, or those of\nHOST (default: all)"},
	OPT_HEADING("Stacks"),
	{"keep-trampolines", 0, OPT_FLAG, AT(keep_trampolines), NULL,
	 "show trampoline<7> and the like with their numbers, not all\nas trampoline<0>"},
	OPT_END,
};

enum { ALL = -1 };

static int fail(const struct err *e)
{
	return input_fail(NULL, e);
}

/* Only a regular file is examined; libparse handles everything else. */
int tlinput_is_store(const char *path)
{
	char head[16];
	if (!strcmp(path, "-"))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	if (fd >= 0)
		close(fd);
	return n > 0 && store_is_sqlite(head, (unsigned long)n);
}

/* Find out who is meant, if the options do not say. */
static int mark_meant(struct tlinput *ti, struct err *e)
{
	int any;
	if (meant_mark(&ti->tl, &any, &ti->meant_name, e))
		return ERR_NOMEM;
	ti->meant = any && ti->opt->meant && !tlinput_names_threads(ti->opt);
	return 0;
}

static int make_causes(struct tlinput *ti)
{
	const struct tlinput_opts *o = ti->opt;
	struct err e = {0};
	int r = causes_new(&ti->causes, &e);
	if (!r && o->causes)
		r = causes_load(ti->causes, o->causes, &e);
	for (size_t i = 0; !r && i < o->idle_frames.n; i++)
		r = causes_idle_frame(ti->causes, o->idle_frames.v[i], &e);
	for (size_t i = 0; !r && i < o->work_frames.n; i++)
		r = causes_work_frame(ti->causes, o->work_frames.v[i], &e);
	return r ? fail(&e) : 0;
}

static int needs_binaries(const struct tlinput *ti, const char *verb)
{
	const struct input_opts *o = &ti->opt->in;
	if (ti->opt->spans.n) {
		say_line("perfkit %s: %s is a store: its spans are fixed; give --span to "
			 "import",
			 verb, input_shown(ti->path));
		return 2;
	}
	if (!o->symfs && !o->kallsyms && !o->vmlinux && !o->buildid_dir && !o->max_stack &&
	    !o->no_inline && !o->no_demangle && !o->constructors && !o->trust_paths &&
	    !o->no_names)
		return 0;
	say_line("perfkit %s: %s is a store: its names are fixed; options about binaries "
		 "and frames are for recordings",
		 verb, input_shown(ti->path));
	return 2;
}

const struct tlinput_needs tlinput_sums = {WAITS_SUMMED, .findings = FINDINGS_ASKED,
					   .is_of_stacks = 1};
const struct tlinput_needs tlinput_times = {WAITS_PLACED, .findings = FINDINGS_ASKED,
					    .is_of_stacks = 1};
const struct tlinput_needs tlinput_tail = {WAITS_PLACED, .findings = FINDINGS_ASKED,
					   .says_unnamed = 1, .is_of_stacks = 1};
const struct tlinput_needs tlinput_any_times = {WAITS_IF_ANY, .findings = FINDINGS_ASKED,
						.is_of_stacks = 1};
const struct tlinput_needs tlinput_samples = {.findings = FINDINGS_ASKED};
const struct tlinput_needs tlinput_contents = {
	.store = STORE_ALL, .tracepoints = EVENT_SAMPLES_ELSE, .is_of_stacks = 1};
const struct tlinput_needs tlinput_copy = {.store = STORE_ALL,
					   .tracepoints = EVENT_SAMPLES_ALL,
					   .findings = FINDINGS_SAID,
					   .is_copy = 1};
const struct tlinput_needs tlinput_report = {
	.store = STORE_REPORT, .tracepoints = EVENT_SAMPLES_ELSE, .is_of_stacks = 1};
const struct tlinput_needs tlinput_added_up = {
	.store = STORE_SUMS, .tracepoints = EVENT_SAMPLES_ELSE, .findings = FINDINGS_SAID};
const struct tlinput_needs tlinput_folded = {
	.store = STORE_FOLDED, .tracepoints = EVENT_SAMPLES_ELSE, .findings = FINDINGS_SAID};

/* --- stores --------------------------------------------------------------------------- */

static void list_recordings(const struct store_recording *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf b = {0};
		escape_visible(&b, v[i].host, strlen(v[i].host));
		buf_str(&b, *v[i].host ? ", " : "");
		escape_visible(&b, v[i].file, strlen(v[i].file));
		say_line("  --recording %lld  %s", (long long)v[i].id, buf_cstr(&b));
		buf_release(&b);
	}
}

/* A number is an id, anything else a host. */
static int is_chosen(const char *want, const struct store_recording *x)
{
	if (!want)
		return 1;
	if (want[strspn(want, "0123456789")])
		return !strcmp(want, x->host);
	return strtoll(want, NULL, 10) == x->id;
}

/* A label depends on its sample's time, so it needs all samples, not sums. */
static enum store_contents store_contents_for(const struct tlinput *ti,
					      const struct tlinput_needs *needs)
{
	int labels = needs->store == STORE_REPORT && tlinput_asks_labels(ti->opt);
	return labels ? STORE_ALL : needs->store;
}

/* The waits that an answer from this recording is made of. */
static enum needed_waits settled(const struct timeline *tl, const struct tlinput_needs *needs)
{
	const uint32_t waits =
		TL_SAMPLED | TL_HAS_SWITCH | TL_HAS_RECORDS | TL_HAS_DIRECT | TL_HAS_TOTALS;
	if (needs->waits != WAITS_IF_ANY)
		return needs->waits;
	return tl->flags & waits || timeline_unnamed_events(tl) ? WAITS_PLACED : WAITS_UNUSED;
}

/* Refuse a recording that cannot answer, unless --force. */
static int check_answerable(struct tlinput *ti, const struct timeline *tl,
			    const struct tlinput_needs *needs, struct err *e)
{
	enum needed_waits waits = settled(tl, needs);
	if (waits == WAITS_UNUSED || !timeline_answerable(tl, waits == WAITS_PLACED, e))
		return 0;
	if (!ti->opt->in.force)
		return ERR_REFUSED;
	input_warn(&ti->in, "%s: %s", input_shown(ti->path), e->msg);
	return 0;
}

/* Load one recording of the store; with rules given, its causes are determined again. */
static int load_one(struct tlinput *ti, struct store *s, int64_t id, struct timeline *tl,
		    const struct tlinput_needs *needs, struct err *e)
{
	enum store_contents what = store_contents_for(ti, needs);
	struct progress p;
	progress_start(&p, "reading", input_shows_progress(&ti->opt->in));
	int r = store_load(s, id, what, tl, &ti->stacks, e);
	progress_end(&p);
	if (!r && (ti->opt->causes || ti->opt->idle_frames.n || ti->opt->work_frames.n))
		r = causes_apply(ti->causes, tl, e);
	return r ? r : check_answerable(ti, tl, needs, e);
}

/* Which findings an answer needs. */
struct asking {
	unsigned asked, topics; /* for which findings are made, and which are printed */
	int may_refuse;         /* 0 if all contents are read, which cannot mislead */
};

static struct asking asking_for(const struct timeline *tl, const struct tlinput_needs *needs)
{
	static const unsigned about[] = {[WAITS_UNUSED] = ABOUT_CPU,
					 [WAITS_SUMMED] = ABOUT_OFFCPU,
					 [WAITS_PLACED] = ABOUT_TAIL};
	int answer = needs->findings == FINDINGS_ASKED;
	unsigned topics = ABOUT_NAMES | about[settled(tl, needs)];
	if (!answer)
		topics = ABOUT_CPU | ABOUT_COUNTS | ABOUT_OFFCPU | ABOUT_TAIL | ABOUT_NAMES;
	return (struct asking){answer ? topics : 0, topics, answer};
}

/* Print the findings, or refuse. */
static int say_found(struct tlinput *ti, struct findings *f, const struct asking *q,
		     const char *of, struct err *e)
{
	struct population asked = waits_population(ti, NULL);
	if (q->asked & ASKED_OF_SAMPLES) /* as those of samples that are folded */
		asked.meant = 0;
	if (scope_findings(&ti->tl, &asked, q->topics, f))
		return err_nomem(e);
	if (q->may_refuse && input_refuse(&ti->in, f, q->topics, of))
		return ERR_REFUSED;
	input_say_findings(&ti->in, f, q->topics, of);
	return 0;
}

/* Print the stored findings like a recording's own; with several recordings, for which.
 * *status: 3 if the answer is refused, after a message. */
static int warn_stored(struct tlinput *ti, struct store *s, const struct store_recording *x,
		       int several, const struct asking *q, int *status, struct err *e)
{
	struct findings f;
	struct buf of = {0};
	unsigned intended_for;
	if (several)
		buf_fmt(&of, ", recording %lld%s%s", (long long)x->id, *x->host ? " of " : "",
			x->host);
	int r = store_findings(s, x->id, q->asked, &f, &intended_for, e);
	if (!r && (r = say_found(ti, &f, q, buf_cstr(&of), e)) == ERR_REFUSED)
		*status = 3;
	findings_release(&f);
	buf_release(&of);
	return r == ERR_REFUSED ? 0 : r;
}

static int is_loaded(const struct tlinput *ti, int64_t id)
{
	for (size_t i = 0; i < ti->tl.parts.n; i++)
		if (ti->tl.parts.v[i].id == id)
			return 1;
	return !ti->tl.parts.n && ti->recording == id;
}

static int warn_all_stored(struct tlinput *ti, struct asking q, int *status, struct err *e)
{
	const struct store_recording *v;
	struct store *s;
	size_t n = 0;
	int r = store_open(&s, ti->path, e);
	if (r)
		return r;
	r = store_recordings(s, &v, &n, e);
	for (size_t i = 0; !r && !*status && i < n; i++)
		if (is_loaded(ti, v[i].id))
			r = warn_stored(ti, s, &v[i], n > 1, &q, status, e);
	store_close(s);
	return r;
}

static int join_one(struct tlinput *ti, struct store *s, const struct store_recording *x,
		    const struct tlinput_needs *needs, struct err *e)
{
	struct timeline tl;
	int first = !ti->tl.nstates;
	int r = load_one(ti, s, x->id, first ? &ti->tl : &tl, needs, e);
	if (first)
		return r ? r : mark_meant(ti, e);
	if (!r)
		r = timeline_join(&ti->tl, &tl, e);
	if (!r)
		ti->tl.parts.v[ti->tl.parts.n - 1].id = x->id;
	timeline_release(&tl);
	return r ? r : mark_meant(ti, e);
}

/* Refuse --time for several clocks, which have no common time. */
static int check_time(struct tlinput *ti, const char *verb)
{
	if (!ti->opt->in.time || timeline_one_clock(&ti->tl))
		return 0;
	say_line("perfkit %s: %s: --time: its recordings have clocks of their own; choose one "
		 "with --recording",
		 verb, input_shown(ti->path));
	return 2;
}

static int load_chosen(struct tlinput *ti, const char *verb, struct store *s,
		       const struct tlinput_needs *needs, long nth, size_t *of, struct err *e)
{
	const struct store_recording *v, *first = NULL;
	size_t n;
	int r = store_recordings(s, &v, &n, e), status = 0;
	*of = 0;
	for (size_t i = 0; i < n && !r && !status; i++) {
		if (!is_chosen(ti->opt->recording, &v[i]))
			continue;
		if (nth == ALL || *of == (size_t)nth) {
			r = join_one(ti, s, &v[i], needs, e);
			const struct asking q = asking_for(&ti->tl, needs);
			if (!r && !needs->tracepoints)
				r = warn_stored(ti, s, &v[i], n > 1, &q, &status, e);
			first = first ? first : &v[i];
			ti->recording = v[i].id;
		}
		++*of;
	}
	if (status)
		return status;
	if (!r && !*of) {
		say_line("perfkit %s: %s has no recording '%s', but", verb,
			 input_shown(ti->path), ti->opt->recording ? ti->opt->recording : "1");
		list_recordings(v, n);
		return 2;
	}
	if (!r)
		r = causes_roles(ti->causes, &ti->tl, e);
	if (!r && ti->tl.parts.n) {
		ti->tl.parts.v[0].id = first->id;
		r = timeline_label_parts(&ti->tl, e);
	}
	return r ? fail(e) : check_time(ti, verb);
}

static int load(struct tlinput *ti, const char *verb, const struct tlinput_needs *needs,
		long nth, size_t *of)
{
	struct err e = {0};
	struct store *s;
	int rc = needs_binaries(ti, verb);
	if (!rc)
		rc = input_open_filters(&ti->in, verb, &ti->opt->in, ti->path);
	if (rc)
		return rc;
	ti->names = &ti->stacks;
	if (store_open(&s, ti->path, &e))
		return fail(&e);
	if (ti->opt->in.places)
		store_want_places(s);
	rc = load_chosen(ti, verb, s, needs, nth, of, &e);
	store_close(s);
	return rc;
}

int tlinput_one_recording(const struct tlinput_opts *opt, const char *verb, const char *path,
			  struct store *s, int64_t *id)
{
	const struct store_recording *v;
	struct err e = {0};
	size_t n, chosen = 0;
	if (store_recordings(s, &v, &n, &e))
		return fail(&e);
	for (size_t i = 0; i < n; i++)
		if (is_chosen(opt->recording, &v[i])) {
			*id = v[i].id;
			chosen++;
		}
	if (chosen == 1)
		return 0;
	say_line("perfkit %s: %s holds %zu recordings; choose one:", verb, path, n);
	list_recordings(v, n);
	return 2;
}

static int stored_findings(const struct tlinput *ti, unsigned asked, struct findings *out,
			   struct err *e)
{
	struct store *s;
	unsigned intended_for;
	int rc = store_open(&s, ti->path, e);
	if (rc)
		return rc;
	rc = store_findings(s, ti->recording, asked, out, &intended_for, e);
	store_close(s);
	return rc;
}

/* Count the samples of a recording's timeline by stack into its profile's `folded`, with
 * `waits` each wait as one, as findings do, else those of tracepoints, too: path and samples are
 * set. The caller empties it. */
static int fold_paths(struct tlinput *ti, int waits)
{
	struct profile *p = ti->in.profile;
	const struct timeline *tl = &ti->tl;
	size_t paths = p->stacks.paths.n;
	uint64_t *n = mem_zalloc(paths + 1, sizeof(*n));
	int r = n ? 0 : ERR_NOMEM;
	p->folded.n = 0;
	for (size_t i = 0; i < tl->samples.n && !r; i++)
		n[tl->samples.v[i].path]++;
	for (size_t i = 0; i < tl->event_samples.n && !waits && !r; i++)
		n[tl->event_samples.v[i].path]++;
	for (size_t i = 0; i < tl->offcpu.n && waits && paths > 1 && !r; i++)
		n[tl->offcpu.v[i].path]++;
	for (size_t i = 0; i < tl->totals.n && waits && !r; i++)
		n[tl->totals.v[i].path]++;
	for (uint32_t i = waits != 0; i <= paths && !r; i++) { /* 0: without a stack */
		struct folded f = {.path = i, .samples = n[i]};
		r = n[i] && vec_push(&p->folded, f) ? ERR_NOMEM : 0;
	}
	mem_free(n);
	return r;
}

/* The findings of an open recording. */
static int own_findings(struct tlinput *ti, unsigned asked, struct findings *out, struct err *e)
{
	struct findings_input in = {.profile = ti->in.profile,
				    .asked = asked & ~(unsigned)ASKED_OF_SAMPLES,
				    .names = &ti->names_of[!!(asked & ASKED_OF_SAMPLES)],
				    .maps = &ti->maps};
	int rc = 0;
	if (!(asked & ASKED_OF_SAMPLES)) {
		in.timeline = &ti->tl;
		in.survey = &ti->survey;
	} else if (fold_paths(ti, 0)) {
		rc = err_nomem(e);
	}
	rc = rc ? rc : findings_gather(out, &in, e);
	ti->in.profile->folded.n = 0;
	return rc;
}

int tlinput_findings(struct tlinput *ti, unsigned asked, struct findings *out, struct err *e)
{
	*out = (struct findings){0};
	if (!ti->in.profile)
		return stored_findings(ti, asked, out, e);
	return own_findings(ti, asked, out, e);
}

int tlinput_finding_rows(struct tlinput *ti, unsigned topics, struct finding_rows *out,
			 struct err *e)
{
	int r = 0;
	*out = (struct finding_rows){0};
	for (const struct finding_question *q = finding_questions; q->name && !r; q++) {
		struct findings f;
		r = tlinput_findings(ti, q->asked, &f, e);
		if (!r && finding_rows_add(out, q, &f, topics))
			r = err_nomem(e);
		findings_release(&f);
	}
	return r;
}

static int stored_file_facts(const struct tlinput *ti, struct file_facts *out, struct err *e)
{
	struct store *s;
	int r = store_open(&s, ti->path, e);
	if (r)
		return r;
	r = store_read_file(s, ti->recording, out, e);
	store_close(s);
	return r;
}

int tlinput_file_facts(struct tlinput *ti, struct file_facts *out, struct err *e)
{
	struct profile *p = ti->in.profile;
	*out = (struct file_facts){0};
	if (!p)
		return stored_file_facts(ti, out, e);
	int r = describe_recording(out, p, input_shown(ti->in.path));
	if (!r)
		describe_timeline(out, &ti->tl);
	r = r ? r : fold_paths(ti, tlinput_has_scheduler(ti));
	out->has_names = p->folded.n > 0;
	r = r ||
	    (out->has_names && missing_find(&out->unnamed, p, p->folded.v, p->folded.n, NULL));
	p->folded.n = 0;
	return r ? err_nomem(e) : 0;
}

int tlinput_check_findings(struct tlinput *ti, unsigned asked, unsigned topics, int may_refuse)
{
	const struct asking q = {asked, topics, may_refuse};
	struct findings f = {0};
	struct err e = {0};
	int status = 0;
	int rc = ti->in.profile ? own_findings(ti, asked, &f, &e)
				: warn_all_stored(ti, q, &status, &e);
	if (!rc && ti->in.profile && (rc = say_found(ti, &f, &q, "", &e)) == ERR_REFUSED)
		rc = status = 3;
	findings_release(&f);
	return status ? status : rc ? input_fail(&ti->in, &e) : 0;
}

int tlinput_refuse_empty(struct tlinput *ti)
{
	const struct recording *rec = ti->in.profile ? ti->in.profile->rec : NULL;
	int any = rec ? rec->stats.by_type[PERF_RECORD_SAMPLE] != 0 : ti->tl.samples.n != 0;
	if (any || ti->tl.offcpu.n || ti->opt->in.force)
		return 0;
	struct findings f;
	struct err e = {0};
	int rc = tlinput_findings(ti, ASKED_OF_SAMPLES | ABOUT_CPU, &f, &e);
	rc = rc ? input_fail(&ti->in, &e) : input_refuse(&ti->in, &f, ABOUT_CPU, "");
	findings_release(&f);
	return rc;
}

int tlinput_asks_labels(const struct tlinput_opts *opt)
{
	return opt->label || opt->by_labels.n ||
	       (opt->split && !strncmp(opt->split, "label:", 6));
}

int tlinput_asks_threads(const struct tlinput_opts *opt)
{
	return opt->label || opt->cgroup || opt->in.comms.n || opt->in.pids.n || opt->in.tids.n;
}

int tlinput_names_threads(const struct tlinput_opts *opt)
{
	return opt->cgroup || opt->in.comms.n || opt->in.pids.n || opt->in.tids.n;
}

int tlinput_has_scheduler(const struct tlinput *ti)
{
	return timeline_has_switches(&ti->tl);
}

int tlinput_only_one(const struct tlinput *ti, const char *verb)
{
	const struct strtab *s = &ti->names->strings;
	if (!ti->tl.parts.n)
		return 0;
	say_line("perfkit %s: %s holds %zu recordings; choose one:", verb,
		 input_shown(ti->path), ti->tl.parts.n);
	for (size_t i = 0; i < ti->tl.parts.n; i++) {
		const struct tl_part *p = &ti->tl.parts.v[i];
		struct store_recording x = {p->id, strtab_get(s, p->rec.host),
					    strtab_get(s, p->rec.file)};
		list_recordings(&x, 1);
	}
	return 2;
}

/* --- recordings ----------------------------------------------------------------------- */

/* Load the context next to the recording, if there is one; a stream has none. */
static int load_context(const struct tlinput *ti, struct fd_context **out, struct err *e)
{
	const char *recording = ti->in.bundle.recording ? ti->in.bundle.recording : ti->path;
	*out = NULL;
	return strcmp(recording, "-") ? fd_context_load(out, recording, e) : 0;
}

/* Build the timeline, and for a store hash the file meanwhile. */
static int build_and_hash(struct tlinput *ti, const struct build_options *bo, int hashed,
			  struct err *e)
{
	struct recording_hashing h;
	if (!hashed)
		return timeline_build(ti->in.profile, bo, &ti->tl, e);
	recording_hash_begin(&h, &ti->in);
	int r = timeline_build(ti->in.profile, bo, &ti->tl, e);
	if (r)
		recording_hash_stop(&h);
	int no_memory = recording_hash_end(&h, &ti->tl.rec.hash);
	return r ? r : no_memory ? err_nomem(e) : 0;
}

/* Choose the processes that are meant, once all records are read. */
static int choose_meant(struct tlinput *ti, const struct recorded_for *w, struct err *e)
{
	const struct profile *p = ti->in.profile;
	struct meant meant = {0};
	int r = ti->tl.flags & TL_PER_TASK
			? 0
			: meant_find(&meant, w, &p->machine, &p->activity, e);
	r = r ? r : meant_keep(&meant, &ti->tl, e);
	meant_release(&meant);
	return r ? r : mark_meant(ti, e);
}

/* Build the timeline of the open recording. */
static int build(struct tlinput *ti, const struct tlinput_needs *needs)
{
	struct err e = {0};
	struct progress p;
	struct fd_context *context;
	struct recorded_for recorded_for = {0};
	struct build_options bo = {
		.watch = survey_watch, .rewatch = survey_rewatch, .watch_ctx = &ti->survey};
	ti->names = &ti->in.profile->stacks;
	/* a sample's label depends on its time, so all samples are needed */
	bo.event_samples = needs->tracepoints && tlinput_asks_labels(ti->opt)
				   ? EVENT_SAMPLES_ALL
				   : needs->tracepoints;
	bo.spans = ti->opt->spans.v;
	bo.nspans = ti->opt->spans.n;
	bo.addrs = ti->opt->addrs;
	bo.no_bystanders = ti->opt->no_bystanders;
	bo.progress = progress_show;
	bo.progress_ctx = &p;
	progress_start(&p, "reading", input_shows_progress(&ti->opt->in));
	bo.activity = 1;
	int r = load_context(ti, &context, &e);
	bo.context = context;
	if (!r)
		r = build_and_hash(ti, &bo, needs->is_copy, &e);
	fd_context_free(context);
	if (!r)
		r = recorded_for_read(&recorded_for, ti->in.profile->rec, &e);
	if (!r)
		r = choose_meant(ti, &recorded_for, &e);
	recorded_for_release(&recorded_for);
	if (!r)
		r = causes_apply(ti->causes, &ti->tl, &e);
	if (!r && ti->survey.failed)
		r = err_nomem(&e);
	progress_end(&p);
	return r ? fail(&e) : 0;
}

/* Check a recording's findings for the question: refuse it, or print them. */
static int check_findings(struct tlinput *ti, const struct tlinput_needs *needs)
{
	struct findings f;
	struct err e = {0};
	const struct asking q = asking_for(&ti->tl, needs);
	if (needs->findings == FINDINGS_UNSAID)
		return 0;
	int rc = tlinput_findings(ti, q.asked, &f, &e);
	if (!rc)
		rc = say_found(ti, &f, &q, "", &e);
	findings_release(&f);
	return rc == ERR_REFUSED ? 3 : rc ? fail(&e) : 0;
}

int tlinput_no_choice(const struct tlinput_opts *opt, const char *verb, const char *path)
{
	if (!opt->recording)
		return 0;
	say_line("perfkit %s: %s is one recording; --recording is for stores", verb, path);
	return 2;
}

/* 1 if --comm has the name of a sample without a thread, such as the idle task's. */
static int is_named(const struct tlinput *ti, uint32_t comm)
{
	const struct opt_list *l = &ti->opt->in.comms;
	return glob_any(l->v, l->n, strtab_get(&ti->names->strings, comm));
}

/* 1 when a thread passes --comm, --pid and --tid, by any name it had while it was recorded. */
static int has_named_thread(const struct tlinput *ti)
{
	for (uint32_t i = 0; i < ti->tl.threads.n; i++)
		if (tl_thread_passes(ti, i, ti->tl.threads.v[i].comm))
			return 1;
	for (size_t i = 0; i < ti->tl.offcpu.n; i++)
		if (tl_thread_passes(ti, ti->tl.offcpu.v[i].thread, ti->tl.offcpu.v[i].comm))
			return 1;
	for (size_t i = 0; i < ti->tl.samples.n; i++) {
		const struct tl_sample *s = &ti->tl.samples.v[i];
		if (s->thread == TL_NONE ? is_named(ti, s->comm)
					 : tl_thread_passes(ti, s->thread, s->comm))
			return 1;
	}
	return 0;
}

void tlinput_warn_unnamed(const struct tlinput *ti)
{
	struct buf b = {0};
	if (!ti->opt->in.quiet && describe_unnamed_waits(&b, &ti->tl))
		say("%s", buf_cstr(&b));
	buf_release(&b);
}

/* An answer about everybody is then without stacks but for the chosen. */
static void warn_stacks_of_some(const struct tlinput *ti)
{
	const struct input_opts *o = &ti->opt->in;
	struct buf b = {0};
	if (!o->quiet && !ti->meant && !tlinput_asks_threads(ti->opt) && !ti->in.pids.n &&
	    describe_chosen(&b, &ti->tl))
		say("%s", buf_cstr(&b));
	buf_release(&b);
}

int tlinput_fold_trampolines(struct tlinput *ti, struct stacks *s)
{
	struct err e = {0};
	return ti->opt->keep_trampolines || !trampolines_fold(s) ? 0
								 : fail((err_nomem(&e), &e));
}

/* --- labels --------------------------------------------------------------------------- */

/* `r`: what looking for the label `key` returned. */
static int check_found(const struct tlinput *ti, const char *verb, const char *key, int r)
{
	struct err e = {0};
	if (r < 0)
		return fail((err_nomem(&e), &e));
	if (!r)
		say_line("perfkit %s: nothing in %s has the label %s", verb,
			 input_shown(ti->path), key);
	return r ? 0 : 3;
}

static int split_by(struct tlinput *ti, const char *verb, const char *key)
{
	if (!ti->split)
		ti->split = mem_zalloc(1, sizeof(*ti->split));
	return check_found(ti, verb, key,
			   ti->split ? label_sets_add(ti->split, &ti->tl, key) : ERR_NOMEM);
}

/* --split label:KEY and --by-label. */
static int find_splits(struct tlinput *ti, const char *verb)
{
	const struct tlinput_opts *o = ti->opt;
	int rc = 0;
	if (o->split && !strncmp(o->split, "label:", 6))
		rc = split_by(ti, verb, o->split + 6);
	for (size_t i = 0; i < o->by_labels.n && !rc; i++)
		rc = split_by(ti, verb, o->by_labels.v[i]);
	return rc;
}

/* --label, and those. */
static int find_labels(struct tlinput *ti, const char *verb)
{
	const struct tlinput_opts *o = ti->opt;
	const char *is = o->label ? strchr(o->label, '=') : NULL;
	int rc = 0;
	if (o->label && !is) {
		say_line("perfkit %s: --label is KEY=VALUE, not %s", verb, o->label);
		return 2;
	}
	if (o->label) {
		struct buf key = {0};
		struct err e = {0};
		buf_add(&key, o->label, (size_t)(is - o->label));
		rc = buf_failed(&key) ? fail((err_nomem(&e), &e))
				      : check_found(ti, verb, buf_cstr(&key),
						    label_lanes_build(&ti->tl, buf_cstr(&key),
								      &ti->label));
		buf_release(&key);
		if (!strtab_find(&ti->names->strings, is + 1, &ti->label_value))
			ti->label_value = TL_NONE;
	}
	return rc ? rc : find_splits(ti, verb);
}

int tlinput_check_label(const struct tlinput *ti, struct err *e)
{
	if (!ti->opt->label || ti->label_value != TL_NONE)
		return 0;
	return err_set(e, ERR_REFUSED, "%s: nothing has the label %s", input_shown(ti->path),
		       ti->opt->label);
}

/* --- cgroups -------------------------------------------------------------------------- */

/* 1 if a glob matches "/a/b/c", one of its parents, or the last part of one of these: "/a",
 * "b", "c*". */
static int path_fits(const char *glob, const char *path)
{
	char at[1024];
	int fits = 0;
	snprintf(at, sizeof(at), "%s", path);
	while (*at && !fits) {
		char *cut = strrchr(at, '/');
		fits = !fnmatch(glob, at, 0) || (cut && cut[1] && !fnmatch(glob, cut + 1, 0));
		*(cut ? cut : at) = '\0';
	}
	return fits;
}

/* 1 if --cgroup matches the path, or the container's name NAMESPACE/POD/CONTAINER. */
static int cgroup_fits(const struct tlinput *ti, uint32_t thread, uint32_t cgroup)
{
	const struct strtab *s = &ti->names->strings;
	uint32_t name = fact_container(&ti->tl, thread, cgroup);
	return path_fits(ti->opt->cgroup, strtab_get(s, cgroup)) ||
	       path_fits(ti->opt->cgroup, strtab_get(s, name));
}

static int says_no_cgroup(const struct tlinput *ti, const char *verb, int known)
{
	if (known)
		say_line("perfkit %s: no process of %s is in a cgroup like %s; perfkit report "
			 "--by cgroup lists them",
			 verb, input_shown(ti->path), ti->opt->cgroup);
	else
		say_line("perfkit %s: %s does not say which cgroups processes were in: record "
			 "with perfkit record, which keeps that beside it",
			 verb, input_shown(ti->path));
	return known ? 2 : 3;
}

/* Select the processes of --cgroup, among those of --pid if given. */
static int select_cgroup(struct tlinput *ti, const char *verb)
{
	VEC(int32_t) fit = {0};
	struct u64map seen = {0};
	uint32_t yes;
	struct err e = {0};
	int known = 0, r = 0;
	if (!ti->opt->cgroup)
		return 0;
	if (ti->tl.parts.n) {
		say_line("perfkit %s: --cgroup is for one recording: choose it with "
			 "--recording",
			 verb);
		return 2;
	}
	for (uint32_t t = 0; !r && t < ti->tl.threads.n; t++) {
		int32_t pid = ti->tl.threads.v[t].pid;
		if (pid <= 0 || u64map_get(&seen, (uint64_t)pid, &yes))
			continue;
		r = u64map_put(&seen, (uint64_t)pid, 1);
		uint32_t cgroup = fact_cgroup(&ti->tl, t);
		known |= cgroup != 0;
		int wanted = !ti->in.pids.n;
		for (size_t i = 0; i < ti->in.pids.n; i++)
			wanted |= ti->in.pids.v[i] == pid;
		if (!r && wanted && cgroup && cgroup_fits(ti, t, cgroup))
			r = vec_push(&fit, pid);
	}
	u64map_release(&seen);
	ti->in.pids.n = 0;
	for (size_t i = 0; !r && i < fit.n; i++)
		r = vec_push(&ti->in.pids, fit.v[i]);
	ti->in.fold.aggregate.filter.pids = ti->in.pids.v;
	ti->in.fold.aggregate.filter.npids = ti->in.pids.n;
	vec_release(&fit);
	if (r)
		return fail((err_nomem(&e), &e));
	return ti->in.pids.n ? 0 : says_no_cgroup(ti, verb, known);
}

static int opened(struct tlinput *ti, const char *verb, const struct tlinput_needs *needs,
		  int rc)
{
	struct err e = {0};
	rc = rc ? rc : side_input_add(ti, verb);
	rc = rc ? rc : select_cgroup(ti, verb);
	if (!rc && tlinput_asks_labels(ti->opt))
		tl_meant_by_spans(ti);
	rc = rc ? rc : find_labels(ti, verb);
	rc = rc ? rc : waits_find_site(ti);
	if (!rc && tl_choose_events(ti))
		rc = fail((err_nomem(&e), &e));
	if (!rc && !needs->tracepoints && !has_named_thread(ti))
		input_warn_no_thread(&ti->in);
	if (!rc && !needs->is_copy)
		rc = tlinput_fold_trampolines(ti, ti->in.profile ? &ti->in.profile->stacks
								 : &ti->stacks);
	if (!rc && shortage(&e))
		rc = fail(&e);
	if (!rc && needs->waits != WAITS_UNUSED && !needs->says_unnamed)
		tlinput_warn_unnamed(ti);
	if (!rc && needs->is_of_stacks)
		warn_stacks_of_some(ti);
	if (rc)
		tlinput_close(ti);
	return rc;
}

static int build_checked(struct tlinput *ti, const struct tlinput_needs *needs)
{
	struct err e = {0};
	int rc = build(ti, needs);
	if (rc)
		return rc;
	rc = check_answerable(ti, &ti->tl, needs, &e) ? fail(&e) : 0;
	return rc ? rc : check_findings(ti, needs);
}

static int open_some(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     const char *path, const struct tlinput_needs *needs, long nth, size_t *of)
{
	*ti = (struct tlinput){.opt = opt, .path = path, .in.opt = &opt->in};
	*of = 1;
	int rc = make_causes(ti);
	if (!rc && tlinput_is_store(path)) {
		input_keep_private(path);
		rc = load(ti, verb, needs, nth, of);
	} else if (!rc) {
		rc = tlinput_no_choice(opt, verb, path);
		rc = rc ? rc : input_open(&ti->in, verb, &ti->opt->in, &ti->path, 1);
		rc = rc ? rc : build_checked(ti, needs);
	}
	return opened(ti, verb, needs, rc);
}

int tlinput_of_input(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     struct input *in, const struct tlinput_needs *needs)
{
	*ti = (struct tlinput){.opt = opt, .path = in->path, .in = *in};
	*in = (struct input){.opt = &opt->in};
	int rc = tlinput_no_choice(opt, verb, ti->path);
	rc = rc ? rc : make_causes(ti);
	rc = rc ? rc : build_checked(ti, needs);
	return opened(ti, verb, needs, rc);
}

int tlinput_open(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		 const char *path, const struct tlinput_needs *needs)
{
	size_t of;
	return open_some(ti, verb, opt, path, needs, ALL, &of);
}

int tlinput_open_nth(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     const char *path, const struct tlinput_needs *needs, size_t nth,
		     size_t *of)
{
	return open_some(ti, verb, opt, path, needs, (long)nth, of);
}

void tlinput_close(struct tlinput *ti)
{
	mem_free(ti->sites);
	label_lanes_release(&ti->label);
	label_sets_release(ti->split);
	mem_free(ti->split);
	timeline_release(&ti->tl);
	survey_release(&ti->survey);
	name_weights_free(ti->names_of[0]);
	name_weights_free(ti->names_of[1]);
	mapless_free(ti->maps);
	if (ti->kept)
		kept_source_release(ti->kept);
	mem_free(ti->kept);
	causes_free(ti->causes);
	mem_free(ti->events);
	ti->names_of[0] = ti->names_of[1] = NULL;
	ti->maps = NULL;
	ti->kept = NULL;
	ti->split = NULL;
	ti->events = NULL;
	input_close(&ti->in);
	buf_release(&ti->meant_name);
	stacks_release(&ti->stacks);
	ti->causes = NULL;
}
