#include "cmd/export/export_tables.h"
#include "base/count.h"
#include "base/outfile.h"
#include "cmd/cli/say.h"
#include "libtime/explain/episodes.h"
#include "render/parquet/flat_parquet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* For unknown ones: a date that engines accept and on which no recording was made, and a
 * name. */
static const char no_date[] = "1970-01-01", no_host[] = "unknown";

enum { DATE = 32, HOST = 200 };

struct exporting {
	const char *dir;
	struct tlinput *ti;
	struct flat_origin origin;
	char date[DATE], host[HOST];
	struct outfile out[FLAT_TABLES];
	struct file_facts file;
	struct finding_rows findings;
	uint64_t rows, bytes;
};

/* A positive number, as of tlinput_open_nth: engines have signed ones. */
static int identify(struct exporting *x, struct err *e)
{
	const struct tlinput *ti = x->ti;
	char of[64] = "";
	x->origin.recording = (int64_t)ti->tl.rec.hash;
	if (ti->tl.rec.hash)
		return 0;
	if (ti->recording)
		snprintf(of, sizeof(of), ", recording %lld", (long long)ti->recording);
	return err_set(
		e, ERR_USAGE,
		"%s%s: has no id: that is a hash of a file's bytes, which a stream (or a "
		"folder within a folder) does not have",
		input_shown(ti->path), of);
}

/* --- where it goes -------------------------------------------------------------------- */

/* The host as one folder's name: characters other than letters, digits and -._ become %XX, as
 * in Hive. Names that do not fit are cut. */
static void host_folder(const char *host, char to[HOST])
{
	size_t n = 0;
	for (const char *p = host; *p && n + 4 < HOST; p++) {
		int plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9') || strchr("-._", *p);
		n += (size_t)snprintf(to + n, HOST - n, plain ? "%c" : "%%%02X",
				      (unsigned char)*p);
	}
	if (!n)
		snprintf(to, HOST, "%s", no_host);
}

static void locate(struct exporting *x)
{
	const struct timeline *tl = &x->ti->tl;
	time_t wall = (time_t)(tl->rec.wall_ns / 1000000000);
	struct tm day;
	x->origin.origin_ns = tl->rec.origin_ns;
	x->origin.wall_ns = tl->rec.wall_ns;
	if (!tl->rec.wall_ns || !gmtime_r(&wall, &day) ||
	    !strftime(x->date, sizeof(x->date), "%Y-%m-%d", &day))
		snprintf(x->date, sizeof(x->date), "%s", no_date);
	host_folder(strtab_get(&tl->stacks->strings, tl->rec.host), x->host);
}

/* Create the parent folders of `path`. */
static int make_folders(char *path, struct err *e)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int bad = mkdir(path, 0777) && errno != EEXIST;
		if (bad)
			err_sys(e, "%s: cannot make the folder", path);
		*slash = '/';
		if (bad)
			return ERR_IO;
	}
	return 0;
}

static int open_table(struct exporting *x, enum flat_table_id table, struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s/date=%s/host=%s/%016" PRIx64 ".parquet",
			 x->dir, flat_tables[table].name, x->date, x->host,
			 (uint64_t)x->origin.recording);
	if (n >= PATH_MAX)
		return err_set(e, ERR_IO, "%s: the folder's name is too long", x->dir);
	int r = make_folders(path, e);
	return r ? r : outfile_open_derived(&x->out[table], path, 0666, e);
}

/* --- one recording -------------------------------------------------------------------- */

/* Gather the tables; with --no-names, missing names are not a finding. */
static int gather(struct exporting *x, struct err *e)
{
	int names = !x->ti->opt->in.no_names;
	unsigned topics = names ? ABOUT_ALL : ABOUT_ALL & ~(unsigned)ABOUT_NAMES;
	int r = tlinput_file_facts(x->ti, &x->file, e);
	if (!names) {
		x->file.has_names = 0;
		x->file.unnamed.v.n = 0;
	}
	return r ? r : tlinput_finding_rows(x->ti, topics, &x->findings, e);
}

static int write_tables(struct exporting *x, struct err *e)
{
	struct flat *f = NULL;
	int r = gather(x, e);
	r = r ? r : flat_open(&f, &x->ti->tl, &x->file, &x->findings, e);
	for (int i = 0; !r && i < FLAT_TABLES; i++) {
		size_t rows = 0;
		r = open_table(x, (enum flat_table_id)i, e);
		r = r ? r
		      : flat_parquet_write(f, (enum flat_table_id)i, &x->origin, x->out[i].f,
					   &rows, e);
		if (r && x->out[i].failed.code) /* the stream's error, which came first */
			*e = x->out[i].failed;
		x->rows += rows;
	}
	flat_close(f);
	return r;
}

/* All files are complete and on disk before the first appears: if one cannot be finished, none
 * appears. */
static int finish_tables(struct exporting *x, int r, struct err *e)
{
	for (int i = 0; i < FLAT_TABLES && !r; i++) {
		if (x->out[i].f && (fflush(x->out[i].f) || fsync(x->out[i].fd)))
			r = err_sys(e, "%s: cannot write", flat_tables[i].name);
		else if (!x->ti->opt->in.force)
			r = outfile_keep_other(&x->out[i], e);
		x->bytes += x->out[i].written;
	}
	for (int i = 0; i < FLAT_TABLES; i++)
		if (x->out[i].f)
			r = outfile_end(&x->out[i], r, e);
	return r;
}

/* Refuse if stack dumps cannot be unwound: they can only be unwound here, and without the files
 * they would look like complete stacks. About one in ten always ends early. */
static int check_unwound(const struct tlinput *ti, struct err *e)
{
	enum { MOST_PERCENT = 10 };
	const struct input_opts *o = &ti->opt->in;
	const struct expand_counts *c = ti->in.profile ? &ti->in.profile->unwinding : NULL;
	if (!o->no_names || o->force || !c ||
	    c->by_end[UNWIND_NO_FILE] * 100 <= c->unwound * MOST_PERCENT)
		return 0;
	return err_set(e, ERR_REFUSED,
		       "%s: %" PRIu64 " of %" PRIu64
		       " stack dumps cannot be unwound without the binaries, which are not "
		       "here; --no-names suits frame pointers and LBR (--force exports "
		       "what there is)",
		       input_shown(ti->path), c->by_end[UNWIND_NO_FILE], c->unwound);
}

static int export_one(const struct tlinput_opts *opt, const char *dir, const char *path,
		      size_t nth, size_t *of)
{
	struct tlinput ti;
	struct err e = {0};
	int rc = tlinput_open_nth(&ti, "export", opt, path, &tlinput_copy, nth, of);
	if (rc)
		return rc;
	struct exporting x = {.dir = dir, .ti = &ti};
	int r = identify(&x, &e);
	r = r ? r : check_unwound(&ti, &e);
	if (!r) {
		locate(&x);
		r = finish_tables(&x, write_tables(&x, &e), &e);
		file_facts_release(&x.file);
		finding_rows_release(&x.findings);
	}
	if (!r && !opt->in.quiet)
		say("%s: %s, %.1f MB: %s, %s, recording %016" PRIx64, path,
		    COUNT(x.rows, "row"), (double)x.bytes / 1e6, x.host,
		    ti.tl.rec.wall_ns ? x.date : "no date", (uint64_t)x.origin.recording);
	rc = r ? input_fail(&ti.in, &e) : input_status(&ti.in);
	tlinput_close(&ti);
	return rc;
}

int export_tables(const struct tlinput_opts *opt, const char *dir, const char *const *paths,
		  size_t n)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		size_t of = 1;
		for (size_t k = 0; k < of && !rc; k++)
			rc = export_one(opt, dir, paths[i], k, &of);
	}
	return rc;
}
