#include "cmd/input/bundle_cache.h"
#include "cmd/input/input.h"
#include "base/text/buf.h"
#include "base/text/shellword.h"
#include "base/mem.h"
#include "base/text/nearest.h"
#include "base/shortage.h"
#include "cmd/input/budget.h"
#include "cmd/input/fetch_line.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/sandbox.h"
#include "cmd/cli/say.h"
#include "libparse/listed_files.h"
#include "libsym/elf/kallsyms.h"
#include "render/text/escape.h"
#include "render/text/finding_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define AT(field) offsetof(struct input_opts, field)

const struct opt input_rows[] = {
	OPT_HEADING("Filters"),
	{"event", 'e', OPT_EVENTS, AT(events), "NAME", "only this event (repeatable)"},
	{"comm", 0, OPT_LIST, AT(comms), "GLOB,...", "only threads with these names"},
	{"comms", 'c', OPT_LIST, AT(comms), "GLOB,...", NULL},
	{"pid", 'p', OPT_LIST, AT(pids), "PID,...", "only these processes"},
	{"tid", 't', OPT_LIST, AT(tids), "TID,...", "only these threads"},
	{"cpu", 'C', OPT_LIST, AT(cpus), "LIST", "only these CPUs: 0,2-3"},
	{"time", 0, OPT_STRING, AT(time), "START,STOP",
	 "only this stretch of time, in seconds as perf script\nprints them; either side may "
	 "be "
	 "empty"},
	OPT_HEADING("Symbols"),
	{"symfs", 0, OPT_STRING, AT(symfs), "DIR", "look for the recorded paths below DIR"},
	{"kallsyms", 0, OPT_STRING, AT(kallsyms), "FILE",
	 "kernel symbols: a copy of /proc/kallsyms"},
	{"vmlinux", 'k', OPT_STRING, AT(vmlinux), "FILE", "kernel image with symbols"},
	{"buildid-dir", 0, OPT_STRING, AT(buildid_dir), "DIR",
	 "build-id cache (default ~/.debug), or a tarball made by\nperf archive"},
	{"no-demangle", 0, OPT_FLAG, AT(no_demangle), NULL, "show mangled C++ and Rust names"},
	{"constructors", 0, OPT_FLAG, AT(constructors), NULL,
	 "C++: keep copy and move constructors apart from other\nconstructors "
	 "(Foo::copy_construct)"},
	{"trust-paths", 0, OPT_FLAG, AT(trust_paths), NULL,
	 "use files at the recorded paths even where no build-id\nwas recorded to check them "
	 "by"},
	{"no-cache", 0, OPT_FLAG, AT(no_cache), NULL,
	 "unpack a bundle again, and do not cache its files"},
	{"no-local", 0, OPT_FLAG, AT(no_local), NULL,
	 "read only the files named here; do not ask debuginfod"},
	OPT_HEADING("Stacks"),
	{"no-inline", 0, OPT_FLAG, AT(no_inline), NULL, "leave out inlined functions"},
	{"inline-frames", 0, OPT_UNFLAG, AT(no_inline), NULL, NULL},
	{"max-stack", 0, OPT_INT, AT(max_stack), "N",
	 "keep N frames of each stack, from the leaf (default 1536;\n1024 where stacks are "
	 "unwound)"},
	OPT_HEADING("General"),
	{"input", 'i', OPT_STRING, AT(input), "FILE",
	 "the recording (default perf.data; - is standard input)"},
	{"max-memory", 0, OPT_STRING, AT(max_memory), "SIZE",
	 "memory and output that may be taken, such as 500M (2G)"},
	{"force", 'f', OPT_FLAG, AT(force), NULL,
	 "answer even if the answer cannot be trusted"},
	SANDBOX_OPTION(AT(no_sandbox)),
	{"strict", 0, OPT_FLAG, AT(strict), NULL, "exit with status 3 after any warning"},
	{"quiet", 'q', OPT_FLAG, AT(quiet), NULL, "no warnings, no progress"},
	{"verbose", 'v', OPT_FLAG, AT(verbose), NULL, "say more on standard error"},
	OPT_END,
};

int input_is_read_by(const struct verb *v)
{
	for (size_t i = 0; i < OPT_TABLES && v->tables[i]; i++)
		if (v->tables[i] == input_rows)
			return 1;
	return 0;
}

void input_warn(struct input *in, const char *fmt, ...)
{
	in->warned++;
	if (in->opt->quiet)
		return;
	va_list ap;
	va_start(ap, fmt);
	say_args(fmt, ap);
	va_end(ap);
}

int input_exit(const struct err *e)
{
	if (e->code == ERR_USAGE)
		return 2;
	if (e->code == ERR_NOMEM)
		return budget_status();
	return e->code == ERR_REFUSED ? 3 : 1;
}

int input_fail(const struct input *in, const struct err *e)
{
	(void)in;
	say("%s", e->msg);
	return input_exit(e);
}

const char *input_shown(const char *path)
{
	return strcmp(path, "-") ? path : "stdin";
}

int input_status(const struct input *in)
{
	return in->opt->strict && in->warned ? 3 : 0;
}

/* --- filters -------------------------------------------------------------------------- */

static int usage(const struct input *in, const char *what, const char *arg)
{
	say_line("perfkit %s: %s '%s'", in->verb, what, arg);
	return 2;
}

static int parse_ids(const struct input *in, const struct opt_list *l, const char *what,
		     void *vec_of_i32)
{
	VEC(int32_t) *out = vec_of_i32;
	for (size_t i = 0; i < l->n; i++) {
		char *end;
		errno = 0;
		long x = strtol(l->v[i], &end, 10);
		if (errno || *end || end == l->v[i] || x < -1 || x > INT32_MAX)
			return usage(in, what, l->v[i]);
		if (vec_push(out, (int32_t)x))
			return 1;
	}
	return 0;
}

static int parse_cpus(struct input *in)
{
	enum { MAX_CPU = 1 << 16 };
	const struct opt_list *l = &in->opt->cpus;
	for (size_t i = 0; i < l->n; i++) {
		char *end;
		unsigned long a = strtoul(l->v[i], &end, 10), b = a;
		if (end != l->v[i] && *end == '-')
			b = strtoul(end + 1, &end, 10);
		if (end == l->v[i] || *end || a > b || b > MAX_CPU)
			return usage(in, "not a list of CPUs:", l->v[i]);
		for (; a <= b; a++)
			if (vec_push(&in->cpus, (uint32_t)a))
				return 1;
	}
	return 0;
}

/* "12.000345678" seconds into ns, exactly; returns the end or NULL. */
static const char *parse_seconds(const char *s, uint64_t *ns)
{
	uint64_t sec = 0, frac = 0, scale = 1000000000;
	const char *start = s;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (sec > UINT64_MAX / 10000000000u)
			return NULL;
		sec = sec * 10 + (uint64_t)(*s - '0');
	}
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++)
			if (scale > 1) {
				scale /= 10;
				frac += (uint64_t)(*s - '0') * scale;
			}
	if (s == start)
		return NULL;
	*ns = sec * 1000000000 + frac;
	return s;
}

static int parse_time(struct input *in)
{
	const char *s = in->opt->time;
	struct sample_filter *f = &in->fold.aggregate.filter;
	if (!s)
		return 0;
	const char *comma = strchr(s, ',');
	if (!comma)
		return usage(in, "--time takes START,STOP, not", s);
	if (comma != s && parse_seconds(s, &f->start) != comma)
		return usage(in, "--time: not a number of seconds:", s);
	if (comma[1]) {
		const char *end = parse_seconds(comma + 1, &f->stop);
		if (!end || *end)
			return usage(in, "--time: not a number of seconds:", s);
		if (f->stop < f->start)
			return usage(in, "--time ends before it starts:", s);
	}
	return 0;
}

int input_no_event(const struct input *in, const char *name, input_event_name *event,
		   const void *ctx, size_t n)
{
	struct nearest x = nearest_to(name, strlen(name));
	struct buf has = {0};
	for (size_t k = 0; k < n; k++) {
		buf_fmt(&has, " %s", event(ctx, k));
		nearest_offer(&x, event(ctx, k));
	}
	if (x.best)
		buf_fmt(&has, "; did you mean '%s'?", x.best);
	say_line("perfkit %s: no event '%s' in %s; it has:%s", in->verb, name,
		 input_shown(in->path), buf_cstr(&has));
	buf_release(&has);
	return 2;
}

static const char *recorded_name(const void *rec, size_t event)
{
	return ((const struct recording *)rec)->events.v[event].name;
}

static int parse_events(struct input *in)
{
	const struct opt_list *l = &in->opt->events;
	if (!l->n || !in->profile)
		return 0;
	const struct recording *rec = in->profile->rec;
	in->events = mem_zalloc(rec->events.n, 1);
	if (!in->events)
		return 1;
	for (size_t i = 0; i < l->n; i++) {
		const struct event *ev = recording_find_event(rec, l->v[i]);
		if (!ev) {
			return input_no_event(in, l->v[i], recorded_name, rec, rec->events.n);
		}
		for (size_t k = 0; k < rec->events.n; k++)
			in->events[k] |=
				event_is_chosen(rec->events.v[k].name, ev->name, l->v[i]);
	}
	return 0;
}

static int parse_filters(struct input *in)
{
	struct sample_filter *f = &in->fold.aggregate.filter;
	int rc = parse_ids(in, &in->opt->pids, "not a process id:", &in->pids);
	if (!rc)
		rc = parse_ids(in, &in->opt->tids, "not a thread id:", &in->tids);
	if (!rc)
		rc = parse_cpus(in);
	if (!rc)
		rc = parse_time(in);
	if (!rc)
		rc = parse_events(in);
	f->pids = in->pids.v;
	f->npids = in->pids.n;
	f->tids = in->tids.v;
	f->ntids = in->tids.n;
	f->cpus = in->cpus.v;
	f->ncpus = in->cpus.n;
	f->events = in->events;
	f->comms = in->opt->comms.v;
	f->ncomms = in->opt->comms.n;
	return rc;
}

/* --- perf archive ----------------------------------------------------------------------- */

static int is_file(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* 1 when this machine's build-id cache lacks a file of the recording. Newer perfs list the
 * vdso, but neither cache nor archive it. */
static int lacks_files(const struct recording *rec)
{
	static const struct dso_options by_default;
	for (size_t i = 0; i < rec->features.build_ids.n; i++) {
		const struct recorded_build_id *b = &rec->features.build_ids.v[i];
		struct build_id id = {.len = b->size};
		memcpy(id.v, b->id, sizeof(b->id));
		if (strcmp(b->filename, "[vdso]") != 0 && !dso_cache_has(&by_default, &id))
			return 1;
	}
	return 0;
}

/*
 * A tarball of perf archive as build-id cache: the file that --buildid-dir names, or, without
 * the recorded machine's cache, the one next to the recording.
 */
static int open_archive(struct input *in, const struct recording *rec, struct err *e)
{
	const struct input_opts *opt = in->opt;
	struct buf beside = {0};
	struct err why = {0};
	size_t n = strlen(in->path);
	int rc = 0;
	if (opt->buildid_dir) {
		if (is_file(opt->buildid_dir))
			rc = bundle_input_archive(&in->bundle, opt->buildid_dir, e);
		in->archive = !rc && is_file(opt->buildid_dir);
		return rc;
	}
	if (in->bundle.recording || opt->no_local || !strcmp(in->path, "-"))
		return 0;
	while (n > 1 && in->path[n - 1] == '/')
		n--;
	buf_fmt(&beside, "%.*s.tar.bz2", (int)n, in->path);
	if (is_file(buf_cstr(&beside)) && lacks_files(rec)) {
		rc = bundle_input_archive(&in->bundle, buf_cstr(&beside), &why);
		in->archive = !rc;
		if (rc)
			input_warn(in, "%s; it is not used", why.msg);
		else if (opt->verbose)
			say("files are taken from %s", buf_cstr(&beside));
	}
	buf_release(&beside);
	return rc == ERR_NOMEM ? err_nomem(e) : 0;
}

static const char *buildid_dir(const struct input *in)
{
	const char *given = in->opt->buildid_dir, *own = in->bundle.buildid_dir;
	if (in->archive || (own && !given))
		return own;
	return given || !in->opt->no_local ? given : "";
}

/* The recording's folder, where JIT maps may have been copied. Heap, or NULL. */
static char *folder_of(const struct input *in)
{
	const char *slash = strrchr(in->path, '/');
	if (in->opt->no_local || in->bundle.recording || !strcmp(in->path, "-"))
		return NULL;
	return slash ? mem_strndup(in->path, (size_t)(slash - in->path) + (slash == in->path))
		     : mem_strdup(".");
}

/* A bundle is both symfs and build-id cache; other files of this machine are not used. */
static struct profile_options profile_options(const struct input *in)
{
	static const char *const everywhere = "/";
	const struct input_opts *opt = in->opt;
	const struct bundle_input *b = &in->bundle;
	return (struct profile_options){
		.modules = {.find = {.symfs = opt->symfs ? opt->symfs : b->symfs,
				     .buildid_dir = buildid_dir(in),
				     .kallsyms = opt->kallsyms,
				     .vmlinux = opt->vmlinux,
				     .handed_on = opt->handed_on,
				     .trust_paths = &everywhere,
				     .ntrust_paths = opt->trust_paths ? 1 : 0,
				     .no_local = opt->no_local || b->recording,
				     .debuginfod = !opt->no_local,
				     .fetching = opt->quiet  ? NULL
						 : isatty(2) ? fetchline_draw
							     : fetchline_log},
			    .map_dir = in->folder,
			    .no_demangle = opt->no_demangle,
			    .constructors = opt->constructors,
			    .lines = opt->lines,
			    .no_lines = opt->no_lines,
			    .offsets = opt->no_names,
			    .inlines = !opt->no_inline},
		.names = {.inlines = !opt->no_inline,
			  .lines = opt->lines,
			  .places = opt->places,
			  .offsets = opt->no_names,
			  .max_stack = opt->max_stack},
	};
}

/* A missing file that the user named is an error, not a reason to use another. */
static int check_given(struct input *in, const char *option, const char *path)
{
	if (!path || !access(path, R_OK))
		return 0;
	say_line("perfkit %s: --%s %s: %s", in->verb, option, path, strerror(errno));
	return 2;
}

/* Any other file would leave the kernel's frames unnamed, without trying the running kernel.
 */
static int check_kallsyms(struct input *in, const char *path)
{
	int rc = check_given(in, "kallsyms", path);
	if (rc || !path || kallsyms_detect(path))
		return rc;
	say_line("perfkit %s: --kallsyms %s: not a list of kernel symbols", in->verb, path);
	return 2;
}

/* Warn of a missing folder of files that name frames. */
static void warn_absent(struct input *in, const char *option, const char *path, int how)
{
	if (path && *path && access(path, how))
		input_warn(in, "--%s %s: %s", option, path, strerror(errno));
}

/* Unpacked bundles take room that nobody sees. */
static void say_cache(const struct input *in)
{
	const uint64_t many = 500000000;
	char dir[BUNDLE_CACHE_PATH];
	if (!in->opt->quiet && in->bundle.cache_grown > many && bundle_cache_dir(dir))
		say("%s now has %.1f GB of unpacked bundles, and never more than 2 GB", dir,
		    (double)in->bundle.cache_grown / 1e9);
}

int input_open_source(struct input *in, const char *verb, const struct input_opts *opt,
		      const char *path, struct source *src)
{
	struct recording *rec = NULL;
	struct err e = {0};
	struct progress p;
	*in = (struct input){.opt = opt, .verb = verb, .path = path};
	int rc = check_kallsyms(in, opt->kallsyms);
	rc = rc ? rc : check_given(in, "vmlinux", opt->vmlinux);
	if (rc) {
		source_close(src);
		return rc;
	}
	warn_absent(in, "symfs", opt->symfs, X_OK);
	warn_absent(in, "buildid-dir", opt->buildid_dir, F_OK);
	progress_start(&p, "reading", input_shows_progress(opt));
	rc = bundle_input_open(&in->bundle, path, src, !opt->no_cache, &e);
	src->unbounded = opt->force;
	if (!rc && (src->data || src->fd >= 0)) {
		rc = recording_open_source(&rec, src, &e);
		if (!rc)
			rc = listed_files_load(
				rec, in->bundle.recording ? in->bundle.recording : path, &e);
		if (rc)
			recording_close(rec);
	} else if (!rc)
		rc = recording_open_as(&rec, in->bundle.recording ? in->bundle.recording : path,
				       path, &e);
	if (!rc && (rc = open_archive(in, rec, &e)))
		recording_close(rec);
	if (!rc) {
		in->folder = folder_of(in);
		struct profile_options po = profile_options(in);
		rc = profile_of(&in->profile, rec, &po, &e);
	}
	progress_end(&p);
	if (rc) {
		source_close(src);
		mem_free(in->folder);
		in->folder = NULL;
		bundle_input_release(&in->bundle);
		return input_fail(in, &e);
	}
	say_cache(in);
	rc = parse_filters(in);
	if (rc)
		input_close(in);
	return rc;
}

int input_shows_progress(const struct input_opts *opt)
{
	return isatty(2) && !opt->quiet;
}

int input_open_filters(struct input *in, const char *verb, const struct input_opts *opt,
		       const char *path)
{
	*in = (struct input){.opt = opt, .verb = verb, .path = path};
	int rc = parse_filters(in);
	if (rc)
		input_close(in);
	return rc;
}

int input_open(struct input *in, const char *verb, const struct input_opts *opt,
	       const char *const *files, size_t nfiles)
{
	const char *path = nfiles ? files[0] : opt->input ? opt->input : "perf.data";
	struct source src;
	enum input_kind kind;
	struct err e = {0};
	*in = (struct input){.opt = opt, .verb = verb, .path = path};
	if (input_kind_open(path, &src, &kind, &e))
		return input_fail(in, &e);
	if (kind == INPUT_PERF_DATA)
		return input_open_source(in, verb, opt, path, &src);
	source_close(&src);
	err_set(&e, ERR_UNSUPPORTED, "%s: %s", path,
		kind == INPUT_FOLDED  ? "is folded text; a recording is needed"
		: kind == INPUT_STORE ? "is a store; the recording itself is needed"
				      : "not a perf.data file");
	return input_fail(in, &e);
}

void input_close(struct input *in)
{
	profile_close(in->profile);
	vec_release(&in->pids);
	vec_release(&in->tids);
	vec_release(&in->cpus);
	mem_free(in->events);
	mem_free(in->folder);
	bundle_input_release(&in->bundle);
	in->profile = NULL;
	in->events = NULL;
	in->folder = NULL;
}

/* " called a or b" */
static void name_list(struct buf *b, const char *how, const struct opt_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		buf_str(b, i ? " or " : how);
		escape_visible(b, l->v[i], strlen(l->v[i]));
	}
}

void input_warn_no_thread(const struct input *in)
{
	struct buf b = {0};
	if (in->opt->quiet || !(in->opt->comms.n || in->opt->pids.n || in->opt->tids.n))
		return;
	name_list(&b, " called ", &in->opt->comms);
	name_list(&b, " of pid ", &in->opt->pids);
	name_list(&b, " with tid ", &in->opt->tids);
	say("%s: no thread%s", input_shown(in->path), buf_cstr(&b));
	buf_release(&b);
}

/* 1 if input_warn_no_thread explains an empty answer. */
static int filters_name_threads_only(const struct input_opts *o)
{
	return !o->cpus.n && !o->events.n && !o->time;
}

void input_say_none(const struct input *in, const char *what, const char *more)
{
	const struct input_opts *o = in->opt;
	const struct {
		const char *name;
		int given;
	} filters[] = {{"--event", o->events.n > 0}, {"--comm", o->comms.n > 0},
		       {"--pid", o->pids.n > 0},     {"--tid", o->tids.n > 0},
		       {"--cpu", o->cpus.n > 0},     {"--time", o->time != NULL}};
	struct buf b = {0};
	if (!more && filters_name_threads_only(o))
		return;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (filters[i].given)
			buf_fmt(&b, "%s %s", b.n ? "," : "", filters[i].name);
	if (more)
		buf_fmt(&b, "%s %s", b.n ? "," : "", more);
	if (!o->quiet)
		say("%s: no %s passes%s", input_shown(in->path), what, buf_cstr(&b));
	buf_release(&b);
}

void input_say_empty(const struct input *in, size_t samples)
{
	if (!samples && filters_name_threads_only(in->opt))
		input_warn_no_thread(in);
	else if (!samples)
		input_say_none(in, "sample", NULL);
}

int input_fold(struct input *in)
{
	enum { LARGE = 1 << 20 }; /* sections and lists of symbols that are read into tables */
	struct progress p;
	struct err e = {0};
	mem_return_freed(LARGE);
	in->fold.progress = progress_show;
	in->fold.progress_ctx = &p;
	progress_start(&p, "reading", input_shows_progress(in->opt));
	int rc = profile_fold(in->profile, &in->fold, &e);
	progress_end(&p);
	if (!rc)
		input_say_empty(in, in->profile->folded.n);
	rc = rc ? rc : shortage(&e);
	return rc ? input_fail(in, &e) : 0;
}

/* Print a finding that made perfkit read the file twice, although the answer is right. */
static void say_note(const struct input *in, const struct finding *x, const char *of,
		     const char *title)
{
	if (!in->opt->quiet && x->severity == SEVERITY_ADVICE &&
	    !strcmp(x->kind->id, "late-records"))
		say("%s%s: %s", input_shown(in->path), of, title);
}

/* 1 for a finding to warn of: not for advice, nor for those that timeline_answerable
 * refuses. */
static int is_said(const struct finding *x, unsigned topics)
{
	return x->severity >= SEVERITY_PARTIAL && !x->kind->refused && x->kind->topics & topics;
}

static void hint_at_doctor(struct input *in, size_t more)
{
	struct buf file = {0};
	if (in->opt->quiet || in->hinted++)
		return;
	shell_word(&file, in->path);
	if (more)
		say("%zu more finding%s, and remedies: perfkit doctor %s", more,
		    more == 1 ? "" : "s", buf_cstr(&file));
	else
		say("remedies: perfkit doctor %s", buf_cstr(&file));
	buf_release(&file);
}

void input_say_findings(struct input *in, const struct findings *f, unsigned topics,
			const char *of)
{
	enum { SHOWN = 3 };
	struct buf title = {0};
	size_t said = 0;
	for (size_t i = 0; i < f->v.n; i++) {
		const struct finding *x = &f->v.v[i];
		buf_clear(&title);
		finding_title(&title, x);
		if (x->kind->topics & topics)
			say_note(in, x, of, buf_cstr(&title));
		if (is_said(x, topics) && said++ < SHOWN)
			input_warn(in, "%s%s: %s", input_shown(in->path), of, buf_cstr(&title));
	}
	buf_release(&title);
	if (said)
		hint_at_doctor(in, said > SHOWN ? said - SHOWN : 0);
}

int input_refuse(const struct input *in, const struct findings *f, unsigned topics,
		 const char *of)
{
	const struct finding *x = findings_refusal(f, topics);
	struct buf title = {0};
	if (!x || x->kind->refused || in->opt->force)
		return 0;
	finding_title(&title, x);
	say("%s%s: refused, as the answer would mislead: %s; --force answers all the same, "
	    "perfkit doctor %s says what would help",
	    input_shown(in->path), of, buf_cstr(&title), in->path);
	buf_release(&title);
	return 3;
}

static int check_findings(struct input *in, unsigned topics, int may_refuse)
{
	struct findings_input what = {.profile = in->profile, .asked = topics};
	struct findings f;
	struct err e = {0};
	int rc = 0;
	if (!in->profile)
		return 0;
	if (findings_gather(&f, &what, &e))
		rc = input_fail(in, &e);
	else if (!may_refuse || !(rc = input_refuse(in, &f, topics, "")))
		input_say_findings(in, &f, topics, "");
	findings_release(&f);
	return rc;
}

int input_check_findings(struct input *in, unsigned topics)
{
	return check_findings(in, topics, 1);
}

int input_warn_findings(struct input *in, unsigned topics)
{
	return check_findings(in, topics, 0);
}
