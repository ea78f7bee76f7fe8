#include "libtime/store/store_feed.h"
#include "base/mem.h"
#include "base/text/buf.h"
#include "libtime/store/btree.h"
#include "libtime/store/sqlite_file.h"

#include <pthread.h>

enum {
	CELLS = 16384, /* per batch */
	QUEUED = 6,    /* batches waiting */
};

struct batch {
	struct batch *next; /* in a list of free ones */
	enum store_table table;
	size_t rows;
	struct cell cells[CELLS];
};

/* A table of the file. */
struct table_pages {
	struct btree tree;
	int by_sqlite; /* rows came that did not ascend: the tree is finished, SQLite inserts */
};

struct row_feed {
	const char *path, *name;
	struct stat is;
	/* the writer's: until a failure, the file is open in one of two ways */
	struct page_file *file; /* for pages, or NULL */
	sqlite3 *db;            /* by SQLite, in a transaction, or NULL */
	sqlite3_stmt *insert;   /* of rows of the table `inserted` */
	enum store_table inserted;
	struct table_pages tables[STORE_TABLES];
	struct batch *open[STORE_TABLES]; /* the caller's, being filled */
	struct batch *unused;             /* the caller's */
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

/* --- the file ------------------------------------------------------------------------- */

/* An empty tree for each table, at the place where SQLite declared it. */
static int init_trees(struct row_feed *f, sqlite3 *db, size_t page_size, struct err *e)
{
	sqlite3_stmt *st = NULL;
	int r = sqlite_file_prepare(db, "SELECT rootpage FROM sqlite_schema WHERE name = ?1",
				    &st, f->name, e);
	for (size_t i = 0; !r && i < STORE_TABLES; i++) {
		const struct table *t = &store_tables[i];
		enum btree_kind kind =
			t->columns[0].kind == COLUMN_ID ? BTREE_ROWID : BTREE_KEYED;
		sqlite3_bind_text(st, 1, t->name, -1, SQLITE_STATIC);
		if (sqlite3_step(st) != SQLITE_ROW)
			r = sqlite_file_failed(db, f->name, e);
		else
			r = btree_init(&f->tables[i].tree, kind,
				       (uint32_t)sqlite3_column_int64(st, 0), page_size, e);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	return r;
}

static int open_file(struct row_feed *f, struct err *e)
{
	sqlite3 *db;
	int r = sqlite_file_open(&db, f->path, &f->is, f->name, e);
	r = r ? r : page_file_open(&f->file, f->path, &f->is, f->name, e);
	r = r ? r : init_trees(f, db, page_file_page_size(f->file), e);
	sqlite3_close(db);
	return r;
}

/* Finish what SQLite has open. */
static int close_sqlite(struct row_feed *f, int r, struct err *e)
{
	sqlite3 *db = f->db;
	sqlite3_finalize(f->insert);
	f->insert = NULL;
	f->db = NULL;
	return db ? sqlite_file_close(db, r, f->name, e) : r;
}

/* Have the file open for pages. */
static int turn_to_pages(struct row_feed *f, struct err *e)
{
	if (f->file)
		return 0;
	int r = close_sqlite(f, 0, e);
	return r ? r : page_file_open(&f->file, f->path, &f->is, f->name, e);
}

static int close_pages(struct row_feed *f, struct err *e)
{
	struct page_file *file = f->file;
	f->file = NULL;
	return page_file_close(file, e);
}

/* Have it open by SQLite. */
static int turn_to_sqlite(struct row_feed *f, struct err *e)
{
	if (f->db)
		return 0;
	int r = close_pages(f, e);
	r = r ? r : sqlite_file_open(&f->db, f->path, &f->is, f->name, e);
	return r ? r : sqlite_file_run(f->db, "BEGIN", f->name, e);
}

/* --- rows that do not ascend ---------------------------------------------------------- */

/* INSERT INTO name VALUES(?,?,...) */
static int prepare_insert(struct row_feed *f, enum store_table table, struct err *e)
{
	const struct table *t = &store_tables[table];
	struct buf sql = {0};
	if (f->insert && f->inserted == table)
		return 0;
	sqlite3_finalize(f->insert);
	f->insert = NULL;
	f->inserted = table;
	buf_fmt(&sql, "INSERT INTO %s VALUES(?", t->name);
	for (size_t i = 1; i < t->n; i++)
		buf_str(&sql, ",?");
	buf_str(&sql, ")");
	int r = buf_failed(&sql)
			? err_nomem(e)
			: sqlite_file_prepare(f->db, buf_cstr(&sql), &f->insert, f->name, e);
	buf_release(&sql);
	return r;
}

static int insert_row(const struct row_feed *f, const struct cell *row, size_t n, struct err *e)
{
	sqlite3_stmt *st = f->insert;
	for (size_t i = 0; i < n; i++)
		if (row[i].type == SQLITE_INTEGER)
			sqlite3_bind_int64(st, (int)i + 1, row[i].i);
		else if (row[i].type == SQLITE_TEXT)
			sqlite3_bind_text(st, (int)i + 1, row[i].s, row[i].n, SQLITE_STATIC);
		else if (row[i].type == SQLITE_BLOB)
			sqlite3_bind_blob(st, (int)i + 1, row[i].s, row[i].n, SQLITE_STATIC);
		else
			sqlite3_bind_null(st, (int)i + 1);
	int r = sqlite3_step(st) == SQLITE_DONE ? 0 : sqlite_file_failed(f->db, f->name, e);
	sqlite3_reset(st);
	return r;
}

/* The samples of another recording may be of the same time. From the first row on that does not
 * ascend, SQLite inserts a table's rows; the other trees go on behind its pages. */
static int by_sqlite(struct row_feed *f, const struct batch *b, size_t from, struct err *e)
{
	struct table_pages *t = &f->tables[b->table];
	size_t n = store_tables[b->table].n;
	int r = 0;
	if (!t->by_sqlite)
		r = btree_finish(&t->tree, f->file, e);
	t->by_sqlite = 1;
	r = r ? r : turn_to_sqlite(f, e);
	r = r ? r : prepare_insert(f, b->table, e);
	for (size_t i = from; !r && i < b->rows; i++)
		r = insert_row(f, b->cells + i * n, n, e);
	return r;
}

/* --- writing -------------------------------------------------------------------------- */

static int write_batch(struct row_feed *f, const struct batch *b, struct err *e)
{
	struct table_pages *t = &f->tables[b->table];
	size_t n = store_tables[b->table].n, i = 0;
	int r = t->by_sqlite ? 0 : turn_to_pages(f, e);
	for (; !r && i < b->rows && !t->by_sqlite; i++) {
		const struct cell *row = b->cells + i * n;
		if (!btree_ascends(&t->tree, row))
			break;
		r = btree_add(&t->tree, f->file, row, n, e);
	}
	return r || i == b->rows ? r : by_sqlite(f, b, i, e);
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

int feed_open(struct row_feed **out, const char *path, const struct stat *is, const char *name,
	      struct err *e)
{
	*out = NULL;
	struct row_feed *f = mem_zalloc(1, sizeof(*f));
	if (!f)
		return err_nomem(e);
	f->path = path;
	f->is = *is;
	f->name = name;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	int r = open_file(f, e);
	if (r) {
		feed_close(f);
		return r;
	}
	*out = f;
	f->threaded = !pthread_create(&f->thread, NULL, write_batches, f);
	return 0;
}

int feed_finish(struct row_feed *f, struct err *e)
{
	int r = feed_wait(f, e);
	r = r ? r : turn_to_pages(f, e);
	for (size_t i = 0; !r && i < STORE_TABLES; i++)
		r = f->tables[i].by_sqlite ? 0 : btree_finish(&f->tables[i].tree, f->file, e);
	return r ? r : close_pages(f, e);
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
		btree_release(&f->tables[i].tree);
		mem_free(f->open[i]);
	}
	(void)close_sqlite(f, ERR_IO, NULL); /* open after a failure only: nothing to commit */
	page_file_abort(f->file);
	free_batches(f->unused);
	free_batches(f->done);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}
