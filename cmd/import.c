/*
 * import.c - `perfkit import`: recordings → one SQLite store.
 */
#include "base/count.h"
#include "base/outfile.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/scratch.h"
#include "cmd/query/source_input.h"
#include "cmd/verbs.h"
#include "cmd/cli/say.h"
#include "base/arena.h"
#include "libtime/store/store_write.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

struct import_opts {
	struct tlinput_opts tl;
	const char *output;
};

#define AT(field) offsetof(struct import_opts, field)
static const struct opt rows[] = {
	OPT_HEADING("Output"),
	{"output", 'o', OPT_OUTPUT, AT(output), "FILE", "the store to write (default perf.db)"},
	{"addrs", 0, OPT_FLAG, AT(tl.addrs), NULL,
	 "keep the addresses of frames in no mapping"},
	OPT_END,
};

/* The recordings imported so far, to check that the next one's clock agrees with theirs, and
 * that it is not one of them. */
struct before {
	char clock[32], host[256];
	int n, exact;
	VEC(struct imported {
		const char *host, *path;
		uint64_t origin_ns, end_ns;
	})
	v;
	struct arena strings;
};

/* Times of two recordings are comparable if they are on one clock of one boot, or if both have
 * CLOCK_DATA. The host's name and the kernel's clock identify the boot. */
static int clocks_agree(struct before *c, const struct timeline *tl, const char *path)
{
	const char *clock = strtab_get(&tl->stacks->strings, tl->rec.clock);
	const char *host = strtab_get(&tl->stacks->strings, tl->rec.host);
	int same = !c->n || (!strcmp(c->clock, clock) && !strcmp(c->host, host));
	c->exact = (c->exact || !c->n) && tl->rec.wall_exact;
	if (!c->n++) {
		snprintf(c->clock, sizeof(c->clock), "%s", clock);
		snprintf(c->host, sizeof(c->host), "%s", host);
		return 1;
	}
	if (same || c->exact)
		return 1;
	say("%s: its times (%s of %s) cannot be compared with earlier ones (%s of "
	    "%s): no clock data; record with -k CLOCK_MONOTONIC, or --force",
	    path, clock, *host ? host : "an unknown host", c->clock,
	    *c->host ? c->host : "an unknown host");
	return 0;
}

/* Warn if it has the host and the times, to the nanosecond, of an earlier one. 0, or ERR_NOMEM.
 */
static int warn_again(struct before *b, struct tlinput *ti, const char *path, struct err *e)
{
	const struct tl_recording *r = &ti->tl.rec;
	const char *host = strtab_get(&ti->tl.stacks->strings, r->host);
	for (size_t i = 0; r->end_ns && i < b->v.n; i++) {
		const struct imported *x = &b->v.v[i];
		if (x->origin_ns != r->origin_ns || x->end_ns != r->end_ns ||
		    strcmp(x->host, host) != 0)
			continue;
		input_warn(&ti->in,
			   "%s: the same recording as %s, so everything in it counts twice",
			   path, x->path);
		return 0;
	}
	struct imported x = {.host = arena_strndup(&b->strings, host, strlen(host)),
			     .path = arena_strndup(&b->strings, path, strlen(path)),
			     .origin_ns = r->origin_ns,
			     .end_ns = r->end_ns};
	return !x.host || !x.path || vec_push(&b->v, x) ? err_nomem(e) : 0;
}

/* Add the findings of doctor, for all questions. */
static int add_findings(struct store_writer *w, struct tlinput *ti, struct err *e)
{
	struct finding_rows f;
	int r = tlinput_finding_rows(ti, ABOUT_ALL, &f, e);
	r = r ? r : store_write_finding_rows(w, &f, e);
	finding_rows_release(&f);
	return r;
}

/* Add the facts that report shows. */
static int add_file(struct store_writer *w, struct tlinput *ti, struct err *e)
{
	struct file_facts f;
	int r = tlinput_file_facts(ti, &f, e);
	r = r ? r : store_write_file(w, &f, e);
	file_facts_release(&f);
	return r;
}

/* Add the code and texts that source shows. */
static int add_source(struct store_writer *w, struct tlinput *ti, struct err *e)
{
	struct kept_source k;
	int r = tlinput_kept_source(ti, &k, e);
	r = r ? r : store_write_source(w, &k, e);
	kept_source_release(&k);
	return r;
}

/* Import the nth recording of a file. */
static int import_one(struct store_writer *w, const struct import_opts *o, const char *path,
		      size_t nth, size_t *of, struct before *before)
{
	struct tlinput ti;
	struct err e = {0};
	struct progress p;
	int rc = tlinput_open_nth(&ti, "import", &o->tl, path, &tlinput_copy, nth, of);
	if (rc)
		return rc;
	if (!clocks_agree(before, &ti.tl, path) && !o->tl.in.force)
		rc = 3;
	else if (warn_again(before, &ti, path, &e))
		rc = input_fail(&ti.in, &e);
	store_writer_progress(w, progress_show, &p);
	progress_start(&p, "writing", !rc && input_shows_progress(&o->tl.in));
	if (!rc && (store_writer_add(w, &ti.tl, &e) || add_findings(w, &ti, &e) ||
		    add_file(w, &ti, &e) || add_source(w, &ti, &e)))
		rc = input_fail(&ti.in, &e);
	store_writer_progress(w, NULL, NULL);
	progress_end(&p);
	if (!rc && !o->tl.in.quiet)
		say("%s: %s, %s, %s, %s", input_shown(path), COUNT(ti.tl.threads.n, "thread"),
		    COUNT(ti.tl.offcpu.n, "off-CPU interval"), COUNT(ti.tl.samples.n, "sample"),
		    COUNT_MANY(ti.tl.losses.n, "loss", "losses"));
	if (!rc && ti.tl.stray_samples)
		input_warn(&ti.in,
			   "%s: %" PRIu64
			   " samples fell into no running interval of their thread",
			   path, ti.tl.stray_samples);
	if (!rc)
		rc = input_status(&ti.in);
	tlinput_close(&ti);
	return rc;
}

static int import_file(struct store_writer *w, const struct import_opts *o, const char *path,
		       struct before *before)
{
	size_t of = 1;
	int rc = 0;
	for (size_t i = 0; i < of && !rc; i++)
		rc = import_one(w, o, path, i, &of, before);
	return rc;
}

static const char default_output[] = "perf.db";

/* Signals are blocked until the temporary file is registered for removal. */
static int open_writer(struct store_writer **w, const char *path, struct err *e)
{
	char target[PATH_MAX];
	sigset_t all, old;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	/* a link that has the default's name may be a stranger's */
	int r = store_writer_open(
		w, path == default_output ? path : outfile_target(path, target), e);
	if (!r)
		scratch_file(store_writer_temporary(*w));
	sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}

/* Print what was written, with its name, because without -o that is a default. */
static void summary(const char *output, int recordings)
{
	struct stat st;
	if (!stat(output, &st))
		say("%s: a store of %d recording%s, %.1f MB", output, recordings,
		    recordings == 1 ? "" : "s", (double)st.st_size / 1e6);
}

static int run(const void *opts, const char *const *files, size_t nfiles)
{
	const struct import_opts *o = opts;
	const char *output = o->output;
	const char *one = o->tl.in.input ? o->tl.in.input : "perf.data";
	struct before before = {0};
	struct store_writer *w;
	struct err e = {0};
	int rc = 0;
	for (size_t i = 0; i < nfiles; i++) { /* before the first is read */
		if (strcmp(files[i], "-") && access(files[i], R_OK)) {
			err_sys(&e, "%s: cannot open", files[i]);
			return input_fail(NULL, &e);
		}
		input_keep_private(files[i]);
	}
	if (!nfiles)
		input_keep_private(one);
	if (open_writer(&w, output, &e))
		return input_fail(NULL, &e);
	if (!nfiles)
		rc = import_file(w, o, one, &before);
	for (size_t i = 0; !rc && i < nfiles; i++)
		rc = import_file(w, o, files[i], &before);
	if (rc)
		store_writer_abort(w);
	else if (store_writer_commit(w, &e))
		rc = input_fail(NULL, &e);
	else if (!o->tl.in.quiet)
		summary(output, before.n);
	scratch_file(NULL);
	vec_release(&before.v);
	arena_release(&before.strings);
	return rc;
}

static void defaults(void *opts)
{
	struct import_opts *o = opts;
	o->output = default_output;
	o->tl.in.places = 1;
}

const struct verb verb_import = {
	.name = "import",
	.brief = "write recordings into one SQLite store, which every command reads",
	.usage = "[options] [FILE...] -o run.db",
	.text = "The store is plain SQLite; docs/schema.md lists its tables, docs/store.md "
		"its\n"
		"views. It can hold several recordings (or stores): commands then answer "
		"over\n"
		"all of them, or over those chosen by --recording. The file appears whole or "
		"not\n"
		"at all.",
	.examples =
		"  perfkit import perf.data -o run.db\n"
		"  sqlite3 run.db 'SELECT comm, tid, run_ns, blocked_ns FROM v_thread_time'",
	.tables = {rows, tlinput_rows, input_rows},
	.options_size = sizeof(struct import_opts),
	.max_files = 256,
	.modes = {{NULL, "label " INPUT_FILTERS}},
	.run = run,
	.defaults = defaults,
};
