#include "libtime/store/store_feed.h"
#include "base/text/buf.h"
#include "base/check.h"
#include "base/mem.h"

#include <pthread.h>

enum {
	CELLS = 16384, /* per batch */
	QUEUED = 6,    /* batches waiting */
};

/* The number of columns of the widest table. */
#define COLUMNS                                                                              \
	"c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22," \
	"c23,c24,c25,c26,c27,c28,c29"

struct batch {
	struct batch *next; /* in a list of free ones */
	enum store_table table;
	size_t rows;
	struct cell cells[CELLS];
};

struct row_feed {
	sqlite3 *db;
	const char *path;
	sqlite3_stmt *insert[STORE_TABLES]; /* the writer's, like the two below */
	uint64_t rows[STORE_TABLES];        /* written */
	const struct batch *reading;        /* what the virtual table shows */
	struct batch *open[STORE_TABLES];   /* the caller's, being filled */
	struct batch *unused;               /* the caller's */
	int threaded;
	pthread_t thread;
	/* all below is under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *queue[QUEUED], *done;
	size_t put, taken, written;
	int closing;
	int failed; /* the first failure, with `why` */
	struct err why;
};

/* --- the virtual table ---------------------------------------------------------------- */

struct feed_vtab {
	sqlite3_vtab base;
	struct row_feed *feed;
};

struct feed_cursor {
	sqlite3_vtab_cursor base;
	const struct batch *batch;
	const struct cell *row;
	size_t at;
};

static int vtab_connect(sqlite3 *db, void *feed, int argc, const char *const *argv,
			sqlite3_vtab **out, char **error)
{
	(void)argc;
	(void)argv;
	(void)error;
	struct feed_vtab *v = mem_zalloc(1, sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	v->feed = feed;
	int code = sqlite3_declare_vtab(db, "CREATE TABLE feed(" COLUMNS ")");
	if (code)
		mem_free(v);
	else
		*out = &v->base;
	return code;
}

static int vtab_disconnect(sqlite3_vtab *v)
{
	mem_free(v);
	return SQLITE_OK;
}

/* The table can only be read from the first row to the last. */
static int vtab_best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	(void)v;
	(void)info;
	return SQLITE_OK;
}

static int vtab_open(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct feed_cursor *c = mem_zalloc(1, sizeof(*c));
	(void)v;
	*out = c ? &c->base : NULL;
	return c ? SQLITE_OK : SQLITE_NOMEM;
}

static int vtab_close(sqlite3_vtab_cursor *c)
{
	mem_free(c);
	return SQLITE_OK;
}

static int vtab_filter(sqlite3_vtab_cursor *cursor, int plan, const char *name, int argc,
		       sqlite3_value **argv)
{
	struct feed_cursor *c = (struct feed_cursor *)cursor;
	(void)plan;
	(void)name;
	(void)argc;
	(void)argv;
	c->batch = ((struct feed_vtab *)cursor->pVtab)->feed->reading;
	c->row = c->batch->cells;
	c->at = 0;
	return SQLITE_OK;
}

static int vtab_next(sqlite3_vtab_cursor *cursor)
{
	struct feed_cursor *c = (struct feed_cursor *)cursor;
	c->row += store_tables[c->batch->table].n;
	c->at++;
	return SQLITE_OK;
}

static int vtab_eof(sqlite3_vtab_cursor *cursor)
{
	const struct feed_cursor *c = (const struct feed_cursor *)cursor;
	return c->at >= c->batch->rows;
}

static int vtab_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
	const struct cell *cell = &((const struct feed_cursor *)cursor)->row[column];
	if (cell->type == SQLITE_INTEGER)
		sqlite3_result_int64(out, cell->i);
	else if (cell->type == SQLITE_TEXT)
		sqlite3_result_text(out, cell->s, cell->n, SQLITE_STATIC);
	return SQLITE_OK; /* nothing set is NULL */
}

static int vtab_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
	*row = (sqlite3_int64)((const struct feed_cursor *)cursor)->at;
	return SQLITE_OK;
}

/* Without xCreate the table needs no CREATE and leaves no trace in the file. */
static const sqlite3_module feed_module = {
	.xConnect = vtab_connect,
	.xBestIndex = vtab_best_index,
	.xDisconnect = vtab_disconnect,
	.xOpen = vtab_open,
	.xClose = vtab_close,
	.xFilter = vtab_filter,
	.xNext = vtab_next,
	.xEof = vtab_eof,
	.xColumn = vtab_column,
	.xRowid = vtab_rowid,
};

/* --- writing -------------------------------------------------------------------------- */

static int db_failed(struct row_feed *f, struct err *e)
{
	return err_set(e, ERR_IO, "%s: cannot write the store: %s", f->path,
		       sqlite3_errmsg(f->db));
}

/*
 * INSERT INTO name(a,b,...) SELECT c1,c2,... FROM feed, without the id: it counts from 1, as
 * SQLite's does. SQLite then appends the row; with an id it would search for its place first,
 * which took a ninth of an import.
 */
static int prepare(struct row_feed *f, enum store_table table, struct err *e)
{
	const struct table *t = &store_tables[table];
	struct buf sql = {0};
	size_t first = t->columns[0].kind == COLUMN_ID;
	buf_fmt(&sql, "INSERT INTO %s(", t->name);
	for (size_t i = first; i < t->n; i++)
		buf_fmt(&sql, "%s%s", i > first ? "," : "", t->columns[i].name);
	buf_str(&sql, ") SELECT ");
	for (size_t i = first; i < t->n; i++)
		buf_fmt(&sql, "%sc%zu", i > first ? "," : "", i);
	buf_str(&sql, " FROM feed");
	int r = buf_failed(&sql) ? err_nomem(e)
		: sqlite3_prepare_v2(f->db, buf_cstr(&sql), -1, &f->insert[table], NULL)
			? db_failed(f, e)
			: 0;
	buf_release(&sql);
	return r;
}

static int write_batch(struct row_feed *f, const struct batch *b, struct err *e)
{
	int r = f->insert[b->table] ? 0 : prepare(f, b->table, e);
	f->reading = b;
	CHECK(!b->rows || store_tables[b->table].columns[0].kind != COLUMN_ID ||
	      b->cells[0].i == (int64_t)f->rows[b->table] + 1);
	f->rows[b->table] += b->rows;
	if (!r && sqlite3_step(f->insert[b->table]) != SQLITE_DONE)
		r = db_failed(f, e);
	if (f->insert[b->table])
		sqlite3_reset(f->insert[b->table]);
	return r;
}

/* The writer's thread. After a failure it only empties the queue. */
static void *write_batches(void *feed)
{
	struct row_feed *f = feed;
	struct err why = {0};
	pthread_mutex_lock(&f->lock);
	for (;;) {
		while (f->taken == f->put && !f->closing)
			pthread_cond_wait(&f->changed, &f->lock);
		if (f->taken == f->put)
			break;
		struct batch *b = f->queue[f->taken++ % QUEUED];
		int skip = f->failed || f->closing;
		pthread_mutex_unlock(&f->lock);
		int r = skip ? 0 : write_batch(f, b, &why);
		pthread_mutex_lock(&f->lock);
		if (r) {
			f->failed = r;
			f->why = why;
		}
		b->next = f->done;
		f->done = b;
		f->written++;
		pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* --- the caller's side ---------------------------------------------------------------- */

static int failure_of(const struct row_feed *f, struct err *e)
{
	if (f->failed && e)
		*e = f->why;
	return f->failed;
}

static void write_here(struct row_feed *f, struct batch *b)
{
	if (!f->failed)
		f->failed = write_batch(f, b, &f->why);
	b->next = f->unused;
	f->unused = b;
}

/* Hand a batch over as soon as the queue has room. */
static int queue_batch(struct row_feed *f, struct batch *b, struct err *e)
{
	if (!f->threaded) {
		write_here(f, b);
		return failure_of(f, e);
	}
	pthread_mutex_lock(&f->lock);
	while (f->put - f->taken == QUEUED)
		pthread_cond_wait(&f->changed, &f->lock);
	f->queue[f->put++ % QUEUED] = b;
	pthread_cond_broadcast(&f->changed);
	if (!f->unused) {
		f->unused = f->done;
		f->done = NULL;
	}
	int r = failure_of(f, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

static int new_batch(struct row_feed *f, enum store_table table, struct err *e)
{
	struct batch *b = f->unused;
	if (b)
		f->unused = b->next;
	else if (!(b = mem_alloc(sizeof(*b))))
		return err_nomem(e);
	b->table = table;
	b->rows = 0;
	f->open[table] = b;
	return 0;
}

int feed_row(struct row_feed *f, enum store_table table, struct cell **row, struct err *e)
{
	size_t columns = store_tables[table].n;
	struct batch *b = f->open[table];
	int r = 0;
	*row = NULL;
	if (b && (b->rows + 1) * columns > CELLS) {
		f->open[table] = NULL;
		r = queue_batch(f, b, e);
		b = NULL;
	}
	if (!r && !b)
		r = new_batch(f, table, e);
	if (r)
		return r;
	b = f->open[table];
	*row = b->cells + b->rows++ * columns;
	return 0;
}

/* Wait until the writer is idle. Returns its first failure. */
static int wait_for_writer(struct row_feed *f, struct err *e)
{
	pthread_mutex_lock(&f->lock);
	while (f->threaded && f->written != f->put)
		pthread_cond_wait(&f->changed, &f->lock);
	int r = failure_of(f, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

int feed_wait(struct row_feed *f, struct err *e)
{
	for (int i = 0; i < STORE_TABLES; i++) {
		struct batch *b = f->open[i];
		f->open[i] = NULL;
		if (b) /* a failure is returned below */
			(void)queue_batch(f, b, NULL);
	}
	return wait_for_writer(f, e);
}

void feed_drop(struct row_feed *f)
{
	for (int i = 0; i < STORE_TABLES; i++) {
		struct batch *b = f->open[i];
		f->open[i] = NULL;
		if (!b)
			continue;
		b->next = f->unused;
		f->unused = b;
	}
	(void)wait_for_writer(f, NULL); /* the caller has a failure already */
}

int feed_open(struct row_feed **out, sqlite3 *db, const char *path, struct err *e)
{
	*out = NULL;
	struct row_feed *f = mem_zalloc(1, sizeof(*f));
	if (!f)
		return err_nomem(e);
	f->db = db;
	f->path = path;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	*out = f;
	if (sqlite3_create_module(db, "feed", &feed_module, f)) {
		int r = db_failed(f, e);
		feed_close(f);
		*out = NULL;
		return r;
	}
	f->threaded = !pthread_create(&f->thread, NULL, write_batches, f);
	return 0;
}

static void free_batches(struct batch *b)
{
	while (b) {
		struct batch *next = b->next;
		mem_free(b);
		b = next;
	}
}

void feed_close(struct row_feed *f)
{
	if (!f)
		return;
	if (f->threaded) {
		pthread_mutex_lock(&f->lock);
		f->closing = 1;
		pthread_cond_broadcast(&f->changed);
		pthread_mutex_unlock(&f->lock);
		pthread_join(f->thread, NULL);
	}
	for (int i = 0; i < STORE_TABLES; i++) {
		sqlite3_finalize(f->insert[i]);
		mem_free(f->open[i]);
	}
	sqlite3_create_module(f->db, "feed", NULL, NULL);
	free_batches(f->unused);
	free_batches(f->done);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}
