#include "libtime/store/store_write.h"
#include "libtime/store/file_facts.h"
#include "libtime/store/finding_rows.h"
#include "libtime/store/kept_source.h"
#include "base/mem.h"
#include "base/regular.h"
#include "base/shortage.h"
#include "base/outfile.h"
#include "libtime/store/sqlite_file.h"
#include "libtime/store/store.h"
#include "libtime/store/store_encode.h"
#include "libtime/store/store_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROGRESS_EVERY = 1 << 16 };

struct store_writer {
	struct row_feed *feed;
	char *path, *tmp;
	int fd; /* of tmp: nothing is written through it, it tells which file that is */
	struct stat is;
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	uint64_t done, total;
	int64_t rows[STORE_TABLES]; /* so far: the next timeline's ids start after them */
};

/* --- SQLite ------------------------------------------------------------------------------ */

/* Declare the tables in a new file. */
static int declare(struct store_writer *w, struct err *e)
{
	struct buf sql = {0};
	sqlite3 *db;
	schema_sql(&sql);
	int r = sqlite_file_open(&db, w->tmp, &w->is, w->path, e);
	r = r ? r : sqlite_file_run(db, "BEGIN", w->path, e);
	if (!r)
		r = buf_failed(&sql) ? err_nomem(e)
				     : sqlite_file_run(db, buf_cstr(&sql), w->path, e);
	r = r ? r
	      : sqlite_file_run(db,
				"INSERT INTO meta VALUES('perfkit', '" PERFKIT_VERSION "'),"
				"('time_unit', 'ns')",
				w->path, e);
	buf_release(&sql);
	return sqlite_file_close(db, r, w->path, e);
}

/* Indexes are made of finished tables. */
static int make_indexes(struct store_writer *w, struct err *e)
{
	static const char indexes[] =
		"CREATE INDEX findings_of ON findings(recording_id, question);"
		"CREATE INDEX facts_of ON finding_facts(finding_id)";
	sqlite3 *db;
	int r = sqlite_file_open(&db, w->tmp, &w->is, w->path, e);
	r = r ? r : sqlite_file_run(db, "BEGIN", w->path, e);
	r = r ? r : sqlite_file_run(db, indexes, w->path, e);
	return sqlite_file_close(db, r, w->path, e);
}

/* --- rows -------------------------------------------------------------------------------- */

int writing_row(struct writing *l, enum store_table table, const void *row)
{
	struct store_writer *w = l->w;
	struct cell *cells;
	int r = feed_row(w->feed, table, &cells, l->e);
	if (r)
		return r;
	w->rows[table]++;
	if (++w->done % PROGRESS_EVERY == 0 && w->progress)
		w->progress(w->progress_arg, w->done, w->total);
	return encode_row(l, table, w->rows[table], row, cells);
}

/* Write n structs of `size` bytes at v; the first one is row `first` of this timeline. */
static int write_rows(struct writing *l, enum store_table table, const void *v, size_t n,
		      size_t size)
{
	int r = 0;
	for (size_t i = 0; !r && i < n; i++)
		r = writing_row(l, table, (const char *)v + i * size);
	return r;
}

#define WRITE(l, table, vec, from)                                                            \
	((vec).n > (from)                                                                     \
		 ? write_rows(l, table, (vec).v + (from), (vec).n - (from), sizeof(*(vec).v)) \
		 : 0)

static int write_model(struct writing *l)
{
	const struct timeline *tl = l->tl;
	int r = writing_row(l, TABLE_RECORDINGS, tl);
	r = r ? r : WRITE(l, TABLE_THREADS, tl->threads, 0);
	r = r ? r : WRITE(l, TABLE_EVENTS, tl->events, 0);
	r = r ? r : WRITE(l, TABLE_FRAMES, tl->stacks->frames, 1);
	r = r ? r : WRITE(l, TABLE_CALL_PATHS, tl->stacks->paths, 1);
	r = r ? r : WRITE(l, TABLE_SITES, tl->sites, 1);
	r = r ? r : WRITE(l, TABLE_TOTALS, tl->totals, 0);
	r = r ? r : WRITE(l, TABLE_SPANS, tl->spans, 0);
	r = r ? r : WRITE(l, TABLE_LABELS, tl->labels, 0);
	r = r ? r : WRITE(l, TABLE_COUNTERS, tl->counters, 0);
	r = r ? r : WRITE(l, TABLE_TRAMPOLINES, tl->trampolines, 0);
	r = r ? r : WRITE(l, TABLE_BINDINGS, tl->bindings, 0);
	r = r ? r : WRITE(l, TABLE_MARKS, tl->marks, 0);
	r = r ? r : WRITE(l, TABLE_INTERRUPTS, tl->interrupts, 0);
	r = r ? r : WRITE(l, TABLE_GAPS, tl->gaps, 0);
	r = r ? r : WRITE(l, TABLE_LOSSES, tl->losses, 0);
	return r ? r : WRITE(l, TABLE_CONTEXT, tl->facts, 0);
}

static int writing_begin(struct writing *l, struct store_writer *w, const struct timeline *tl,
			 struct err *e)
{
	size_t n = strtab_count(&tl->stacks->strings) + 1;
	*l = (struct writing){.w = w, .tl = tl, .e = e, .rows = w->rows};
	memcpy(l->first, w->rows, sizeof(l->first));
	l->comm_id = mem_zalloc(n, sizeof(*l->comm_id));
	l->dso_id = mem_zalloc(n, sizeof(*l->dso_id));
	l->file_id = mem_zalloc(n, sizeof(*l->file_id));
	return l->comm_id && l->dso_id && l->file_id ? 0 : err_nomem(e);
}

static void writing_end(struct writing *l)
{
	mem_free(l->comm_id);
	mem_free(l->dso_id);
	mem_free(l->file_id);
	u64map_release(&l->symbol_id);
}

int store_writer_add(struct store_writer *w, const struct timeline *tl, struct err *e)
{
	struct writing l;
	if (tl->rec.end_ns > INT64_MAX)
		return err_set(
			e, ERR_LIMIT,
			"%s: cannot write the store: the recording's times are past 2^63 ns",
			w->path);
	int r = writing_begin(&l, w, tl, e);
	w->total += tl->threads.n + tl->events.n + tl->stacks->frames.n + tl->stacks->paths.n +
		    tl->offcpu.n + tl->samples.n + tl->event_samples.n + tl->totals.n +
		    tl->sites.n + tl->spans.n + tl->labels.n + tl->counters.n +
		    tl->trampolines.n + tl->bindings.n + tl->marks.n + tl->interrupts.n +
		    tl->gaps.n + tl->losses.n + tl->facts.n;
	struct store_sums *sums = NULL;
	r = r ? r : store_sums_begin(&sums, tl, e);
	r = r ? r : write_model(&l);
	r = r ? r : write_offcpu(&l);
	r = r ? r : write_samples(&l, sums);
	store_sums_free(sums);
	if (r) /* in any case, since the writer still uses texts of the timeline */
		feed_drop(w->feed);
	else
		r = feed_wait(w->feed, e);
	writing_end(&l);
	return r;
}

/* The writer must be done with texts before the caller releases them. */
static int texts_written(struct store_writer *w, int r, struct err *e)
{
	if (!r)
		return feed_wait(w->feed, e);
	feed_drop(w->feed);
	return r;
}

int store_write_file(struct store_writer *w, const struct file_facts *f, struct err *e)
{
	const struct timeline texts = {.stacks = f->stacks};
	struct writing l = {.w = w, .tl = &texts, .e = e, .rows = w->rows};
	if (!f->stacks)
		return 0;
	int r = writing_row(&l, TABLE_RECORDING_FILES, f);
	r = r ? r : WRITE(&l, TABLE_RECORDED_EVENTS, f->events, 0);
	r = r ? r : WRITE(&l, TABLE_RECORD_COUNTS, f->records, 0);
	r = r ? r : WRITE(&l, TABLE_UNNAMED_FILES, f->unnamed.v, 0);
	return texts_written(w, r, e);
}

int store_write_finding_rows(struct store_writer *w, struct finding_rows *f, struct err *e)
{
	const struct timeline texts = {.stacks = &f->stacks};
	struct writing l = {.w = w, .tl = &texts, .e = e, .rows = w->rows};
	memcpy(l.first, w->rows, sizeof(l.first));
	int r = WRITE(&l, TABLE_FINDINGS, f->findings, 0);
	r = r ? r : WRITE(&l, TABLE_FINDING_FACTS, f->facts, 0);
	return texts_written(w, r, e);
}

int store_write_source(struct store_writer *w, const struct kept_source *k, struct err *e)
{
	const struct timeline texts = {.stacks = (struct stacks *)&k->stacks};
	struct writing l = {.w = w, .tl = &texts, .e = e, .rows = w->rows};
	int r = WRITE(&l, TABLE_CODE, k->code, 0);
	r = r ? r : WRITE(&l, TABLE_TEXTS, k->texts, 0);
	return texts_written(w, r, e);
}

void store_writer_progress(struct store_writer *w,
			   void (*progress)(void *arg, uint64_t done, uint64_t total),
			   void *arg)
{
	w->progress = progress;
	w->progress_arg = arg;
}

/* A store may replace a store, but no other file. */
static int check_target(const char *path, struct err *e)
{
	char head[16];
	struct stat st;
	int fd = regular_open(AT_FDCWD, path, 0, &st);
	if (fd < 0 && errno == EINVAL)
		return err_set(e, ERR_IO, "%s: cannot write the store: not a regular file",
			       path);
	if (fd < 0)
		return errno == ENOENT ? 0
				       : err_sys(e, "%s: cannot look at what is there", path);
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	if (n && !(n > 0 && store_is_sqlite(head, (unsigned long)n)))
		return err_set(e, ERR_REFUSED, "%s: exists and is not a store; not replaced",
			       path);
	return 0;
}

int store_writer_open(struct store_writer **out, const char *path, struct err *e)
{
	*out = NULL;
	int r = check_target(path, e);
	if (r)
		return r;
	/* SQLite's statistics would take a lock at every allocation */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	struct store_writer *w = mem_zalloc(1, sizeof(*w));
	if (!w)
		return err_nomem(e);
	w->fd = -1;
	w->path = mem_strdup(path);
	if (!w->path) {
		store_writer_abort(w);
		return err_nomem(e);
	}
	/* SQLite opens files by name, so it cannot have one without */
	r = outfile_temporary(path, 0666, &w->tmp, &w->fd, e);
	if (!r && fstat(w->fd, &w->is))
		r = err_sys(e, "%s: cannot write the store", path);
	r = r ? r : declare(w, e);
	r = r ? r : feed_open(&w->feed, w->tmp, &w->is, w->path, e);
	if (r)
		store_writer_abort(w);
	else
		*out = w;
	return r;
}

const char *store_writer_temporary(const struct store_writer *w)
{
	return w->tmp;
}

/* 1 if the temporary file is the one that was made. */
static int is_still_ours(const struct store_writer *w)
{
	struct stat there;
	return !lstat(w->tmp, &there) && w->is.st_dev == there.st_dev &&
	       w->is.st_ino == there.st_ino;
}

int store_writer_commit(struct store_writer *w, struct err *e)
{
	int r = feed_finish(w->feed, e);
	r = r ? r : make_indexes(w, e);
	if (!r)
		r = shortage(e);
	if (!r && fsync(w->fd))
		r = err_sys(e, "%s: cannot write the store", w->path);
	if (!r && !is_still_ours(w))
		r = err_set(e, ERR_REFUSED, "%s: %s was replaced meanwhile", w->path, w->tmp);
	if (!r && rename(w->tmp, w->path))
		r = err_sys(e, "%s: cannot rename into place", w->path);
	if (!r) {
		mem_free(w->tmp);
		w->tmp = NULL;
	}
	store_writer_abort(w);
	return r;
}

void store_writer_abort(struct store_writer *w)
{
	if (!w)
		return;
	feed_close(w->feed);
	if (w->tmp)
		unlink(w->tmp);
	if (w->fd >= 0)
		close(w->fd);
	mem_free(w->tmp);
	mem_free(w->path);
	mem_free(w);
}
