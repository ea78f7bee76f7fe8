#include "libtime/store/store_bulk.h"
#include "base/radix.h"

static int root_of(sqlite3 *db, const char *name, uint32_t *root)
{
	static const char sql[] = "SELECT rootpage FROM sqlite_master WHERE name = ?";
	sqlite3_stmt *st = NULL;
	int ok = !sqlite3_prepare_v2(db, sql, -1, &st, NULL) &&
		 !sqlite3_bind_text(st, 1, name, -1, SQLITE_STATIC) &&
		 sqlite3_step(st) == SQLITE_ROW;
	*root = ok ? (uint32_t)sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return ok;
}

static int page_size_of(sqlite3 *db, size_t *size)
{
	sqlite3_stmt *st = NULL;
	int ok = !sqlite3_prepare_v2(db, "PRAGMA page_size", -1, &st, NULL) &&
		 sqlite3_step(st) == SQLITE_ROW;
	*size = ok ? (size_t)sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return ok;
}

int bulk_init(struct bulk *b, sqlite3 *db, const char *path, const char *name, struct err *e)
{
	const struct {
		const char *table;
		enum btree_kind kind;
		struct btree *tree;
	} trees[] = {{"offcpu", BTREE_TABLE, &b->off},
		     {"offcpu_thread", BTREE_INDEX, &b->off_by_thread},
		     {"offcpu_start", BTREE_INDEX, &b->off_by_start},
		     {"samples", BTREE_TABLE, &b->samples},
		     {"event_samples", BTREE_TABLE, &b->event_samples}};
	size_t page_size;
	uint32_t root;
	*b = (struct bulk){.path = path, .name = name};
	int ok = page_size_of(db, &page_size), r = 0;
	for (size_t i = 0; ok && !r && i < sizeof(trees) / sizeof(*trees); i++) {
		ok = root_of(db, trees[i].table, &root);
		if (ok)
			r = btree_init(trees[i].tree, trees[i].kind, root, page_size, e);
	}
	return ok ? r
		  : err_set(e, ERR_IO, "%s: cannot write the store: %s", name,
			    sqlite3_errmsg(db));
}

int bulk_begin(struct bulk *b, struct err *e)
{
	return pagefile_open(&b->file, b->path, b->name, e);
}

int bulk_suspend(struct bulk *b, struct err *e)
{
	struct pagefile *f = b->file;
	b->file = NULL;
	return pagefile_close(f, e);
}

/* Times are signed in SQLite, and so is its order. */
static uint64_t sortable(int64_t v)
{
	return (uint64_t)v ^ (uint64_t)INT64_MIN;
}

int bulk_off(struct bulk *b, const struct cell row[OFFCPU_COLUMNS], struct err *e)
{
	struct cell entry[3] = {row[OFFCPU_THREAD], row[OFFCPU_START]};
	int64_t thread = entry[0].i, ns = entry[1].i;
	if (thread < b->thread || (thread == b->thread && ns < b->start_ns))
		return err_set(e, ERR_FORMAT,
			       "%s: cannot write the store: the off-CPU intervals of a thread "
			       "are not in "
			       "the order of time",
			       b->name);
	b->thread = thread;
	b->start_ns = ns;
	cell_int(&entry[2], ++b->offs);
	int r = btree_add(&b->off, b->file, b->offs, row, OFFCPU_COLUMNS, e);
	if (!r)
		r = btree_add_entry(&b->off_by_thread, b->file, entry, 3, e);
	return r ? r : bigvec_push(&b->starts, sortable(ns), e);
}

int bulk_sample(struct bulk *b, const struct cell row[SAMPLES_COLUMNS], struct err *e)
{
	return btree_add(&b->samples, b->file, ++b->nsamples, row, SAMPLES_COLUMNS, e);
}

int bulk_event_sample(struct bulk *b, const struct cell row[EVENT_SAMPLES_COLUMNS],
		      struct err *e)
{
	return btree_add(&b->event_samples, b->file, ++b->nevent_samples, row,
			 EVENT_SAMPLES_COLUMNS, e);
}

static int add_sorted(struct bulk *b, const struct radix_key *v, struct err *e)
{
	struct cell entry[2];
	int r = 0;
	for (size_t i = 0; !r && i < b->starts.n; i++) {
		cell_int(&entry[0], (int64_t)sortable((int64_t)v[i].key));
		cell_int(&entry[1], (int64_t)v[i].at);
		r = btree_add_entry(&b->off_by_start, b->file, entry, 2, e);
	}
	return r;
}

static int add_starts(struct bulk *b, struct err *e)
{
	BIGVEC(struct radix_key) v = {0}, other = {0};
	int r = bigvec_reserve(&v, b->starts.n + 1, e);
	if (!r)
		r = bigvec_reserve(&other, b->starts.n + 1, e);
	for (size_t i = 0; !r && i < b->starts.n; i++)
		v.v[i] = (struct radix_key){b->starts.v[i], i + 1};
	if (!r)
		r = add_sorted(b, radix_sort(v.v, other.v, b->starts.n), e);
	bigvec_release(&v);
	bigvec_release(&other);
	return r;
}

int bulk_finish(struct bulk *b, struct err *e)
{
	struct btree *const trees[] = {&b->off, &b->off_by_thread, &b->off_by_start,
				       &b->samples, &b->event_samples};
	int r = add_starts(b, e);
	for (size_t i = 0; !r && i < sizeof(trees) / sizeof(*trees); i++)
		r = btree_finish(trees[i], b->file, e);
	return r ? r : bulk_suspend(b, e);
}

void bulk_release(struct bulk *b)
{
	pagefile_abort(b->file);
	btree_release(&b->off);
	btree_release(&b->off_by_thread);
	btree_release(&b->off_by_start);
	btree_release(&b->samples);
	btree_release(&b->event_samples);
	bigvec_release(&b->starts);
	*b = (struct bulk){0};
}
