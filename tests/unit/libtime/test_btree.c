/* btree: pages that we write are tables to SQLite, with a row id and without. SQLite itself is the
 * witness: it checks the file's structure, and it holds the same rows, inserted by its own means. */
#include "tests/lib/tempdb.h"

#include "base/hash.h"
#include "base/mem.h"
#include "libtime/store/btree.h"

#include <sqlite3.h>
#include <unistd.h>

static sqlite3 *open_db(void)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
	return db;
}

static void run(sqlite3 *db, const char *sql)
{
	char *why = NULL;
	if (sqlite3_exec(db, sql, NULL, NULL, &why))
		fail_msg("%s: %s", sql, why);
}

/* The first column of the first row as text, in a buffer of its own. */
static const char *ask(sqlite3 *db, const char *sql)
{
	static char text[4096];
	sqlite3_stmt *st;
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	const unsigned char *got = sqlite3_column_text(st, 0);
	snprintf(text, sizeof(text), "%s", got ? (const char *)got : "NULL");
	sqlite3_finalize(st);
	return text;
}

/* A database with `t`, `k`, which has no row id, and `u` for the same rows by SQLite's hand. */
static void make_db(int page_size, uint32_t *table, uint32_t *keyed)
{
	char sql[64];
	unlink(db_path);
	sqlite3 *db = open_db();
	snprintf(sql, sizeof(sql), "PRAGMA page_size = %d; PRAGMA synchronous = OFF",
		 page_size);
	run(db, sql);
	run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c TEXT, d);"
		"CREATE TABLE k(a INTEGER, id INTEGER, b INTEGER, d, PRIMARY KEY(a, id)) "
		"WITHOUT ROWID;"
		"CREATE TABLE u(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c TEXT, d)");
	*table = (uint32_t)atoi(ask(db, "SELECT rootpage FROM sqlite_master WHERE name = 't'"));
	*keyed = (uint32_t)atoi(ask(db, "SELECT rootpage FROM sqlite_master WHERE name = 'k'"));
	sqlite3_close(db);
}

enum { COLUMNS = 5 };

static int64_t id_of(size_t i)
{
	return (int64_t)(i + 1 + (i > 50) * 1000000000000);
}

static uint64_t seed; /* of random rows; 0: those below */

/* Of any width and either sign. */
static int64_t random_integer(uint64_t r)
{
	int64_t v = (int64_t)(hash_u64(r) >> (r % 64));
	return r & 64 ? ~v : v;
}

/* Texts of any bytes, mostly no UTF-8; 0 is among them. */
static void make_random_row(size_t i, struct cell row[COLUMNS])
{
	static char text[4000];
	uint64_t r = hash_u64(seed << 32 | i);
	size_t length = (r >> 32) % (r % 16 ? 40 : sizeof(text));
	for (size_t k = 0; k < length; k++)
		text[k] = (char)hash_u64(r + k);
	cell_int(&row[0], (int64_t)((uint64_t)i << seed % 24) - 500000000000);
	cell_int(&row[1], (int64_t)(i / 100) - 5);
	cell_int(&row[2], random_integer(r >> 1));
	row[3] = (struct cell){.s = text, .type = SQLITE_TEXT, .n = (int)length};
	cell_int(&row[4], random_integer(r >> 3));
	for (int c = 3; c < COLUMNS; c++)
		if (r >> c * 8 & 1)
			cell_null(&row[c]);
}

/* Values at the edges of every integer size, of either sign; texts of all lengths, some of them
 * longer than a page or several. */
static void make_row(size_t i, struct cell row[COLUMNS])
{
	static char text[9000];
	if (seed) {
		make_random_row(i, row);
		return;
	}
	size_t length = i % 97 ? i % 81 : i * 13 % (sizeof(text) - 1);
	uint64_t bit = 1ull << (i % 64);
	for (size_t k = 0; !*text && k + 1 < sizeof(text); k++)
		text[k] = (char)('0' + k % 71);
	cell_int(&row[0], id_of(i));
	cell_int(&row[1], (int64_t)(i / 100) - 5);
	cell_int(&row[2], (int64_t)(i * i));
	row[3] = (struct cell){.s = text, .type = SQLITE_TEXT, .n = (int)length};
	if (i % 7)
		cell_int(&row[4], (int64_t)(i % 2 ? bit - i % 5 : ~bit + i % 5));
	else
		cell_null(&row[4]);
}

static void bind(sqlite3_stmt *st, int col, const struct cell *c)
{
	if (c->type == SQLITE_INTEGER)
		sqlite3_bind_int64(st, col, c->i);
	else if (c->type == SQLITE_TEXT)
		sqlite3_bind_text(st, col, c->s, c->n, SQLITE_STATIC);
	else
		sqlite3_bind_null(st, col);
}

static void insert_all(sqlite3 *db, size_t n)
{
	sqlite3_stmt *st;
	struct cell row[COLUMNS];
	run(db, "BEGIN");
	assert_int_equal(
		sqlite3_prepare_v2(db, "INSERT INTO u VALUES(?,?,?,?,?)", -1, &st, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		make_row(i, row);
		for (int c = 0; c < COLUMNS; c++)
			bind(st, c + 1, &row[c]);
		assert_int_equal(sqlite3_step(st), SQLITE_DONE);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	run(db, "COMMIT");
}

static void add_rows(struct page_file *f, struct btree *t, struct btree *x, size_t from,
		     size_t to)
{
	struct cell row[COLUMNS];
	struct err e = {0};
	for (size_t i = from; i < to; i++) {
		make_row(i, row);
		struct cell entry[] = {row[1], row[0], row[2], row[4]};
		assert_true(btree_ascends(t, row) && btree_ascends(x, entry));
		if (btree_add(t, f, row, COLUMNS, &e) || btree_add(x, f, entry, 4, &e))
			fail_msg("%s", e.msg);
	}
}

/* n rows in two goes, between which SQLite has the file and adds pages of its own. */
static void fill(int page_size, size_t n)
{
	uint32_t table, keyed;
	struct page_file *f;
	struct btree t, x;
	struct err e = {0};
	make_db(page_size, &table, &keyed);
	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), 0);
	assert_int_equal(page_file_page_size(f), page_size);
	assert_int_equal(btree_init(&t, BTREE_ROWID, table, page_file_page_size(f), &e), 0);
	assert_int_equal(btree_init(&x, BTREE_KEYED, keyed, page_file_page_size(f), &e), 0);
	add_rows(f, &t, &x, 0, n / 3);
	assert_int_equal(page_file_close(f, &e), 0);

	sqlite3 *db = open_db();
	insert_all(db, n);
	sqlite3_close(db);

	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), 0);
	add_rows(f, &t, &x, n / 3, n);
	assert_int_equal(btree_finish(&t, f, &e), 0);
	assert_int_equal(btree_finish(&x, f, &e), 0);
	assert_int_equal(page_file_close(f, &e), 0);
	btree_release(&t);
	btree_release(&x);
}

static void expect_same(size_t n)
{
	char count[32];
	sqlite3 *db = open_db();
	snprintf(count, sizeof(count), "%zu", n);
	assert_string_equal(ask(db, "PRAGMA integrity_check"), "ok");
	assert_string_equal(ask(db, "SELECT count(*) FROM t"), count);
	assert_string_equal(
		ask(db, "SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM u)"), "0");
	assert_string_equal(ask(db, "SELECT count(*) FROM t JOIN u USING(id) WHERE "
				    "t.a IS u.a AND t.b IS u.b AND t.c IS u.c AND t.d IS u.d "
				    "AND typeof(t.d) = typeof(u.d)"),
			    count);
	/* each row is found by its key, from the root down */
	assert_string_equal(ask(db, "SELECT count(*) FROM k"), count);
	assert_string_equal(ask(db, "SELECT count(*) FROM u CROSS JOIN k ON k.a = u.a AND "
				    "k.id = u.id WHERE k.b = u.b AND k.d IS u.d"),
			    count);
	/* and both go on as trees of SQLite's own */
	run(db, "INSERT INTO t SELECT id + 2000000000000, a, b, c, d FROM u;"
		"DELETE FROM t WHERE id % 3 = 0; UPDATE t SET a = -a WHERE id % 5 = 0;"
		"INSERT INTO k SELECT a, id + 2000000000000, b, d FROM u;"
		"DELETE FROM k WHERE id % 3 = 0; UPDATE k SET b = -b WHERE id % 5 = 0");
	assert_string_equal(ask(db, "PRAGMA integrity_check"), "ok");
	sqlite3_close(db);
}

static void any_number_of_rows(void **state)
{
	(void)state;
	for (size_t n = 0; n < 150; n++) {
		fill(512, n);
		expect_same(n);
	}
}

static void trees_of_four_levels(void **state)
{
	(void)state;
	fill(512, 20000);
	expect_same(20000);
}

static void all_page_sizes(void **state)
{
	(void)state;
	for (int size = 1024; size <= 65536; size *= 2) {
		fill(size, 3000);
		expect_same(3000);
	}
}

static void random_rows(void **state)
{
	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		size_t n = hash_u64(seed) % 800;
		fill(512 << seed % 8, n);
		expect_same(n);
	}
	seed = 0;
}

/* Around each limit of what a page holds, the text's end goes to one, two or three more. */
static void long_texts_go_on_on_other_pages(void **state)
{
	(void)state;
	static char text[2000];
	uint32_t table, keyed;
	struct page_file *f;
	struct btree t;
	struct cell row[COLUMNS];
	struct err e = {0};
	memset(text, 'x', sizeof(text));
	make_db(512, &table, &keyed);
	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), 0);
	assert_int_equal(btree_init(&t, BTREE_ROWID, table, 512, &e), 0);
	for (size_t n = 400; n < sizeof(text); n++) {
		make_row(5, row);
		cell_int(&row[0], (int64_t)n);
		row[3] = (struct cell){.s = text, .type = SQLITE_TEXT, .n = (int)n};
		assert_int_equal(btree_add(&t, f, row, COLUMNS, &e), 0);
	}
	assert_int_equal(btree_finish(&t, f, &e), 0);
	assert_int_equal(page_file_close(f, &e), 0);
	btree_release(&t);
	sqlite3 *db = open_db();
	assert_string_equal(ask(db, "PRAGMA integrity_check"), "ok");
	assert_string_equal(ask(db, "SELECT count(*) FROM t WHERE length(c) = id AND "
				    "replace(c, 'x', '') = '' AND b = 25"),
			    "1600");
	sqlite3_close(db);
}

static void rows_that_do_not_ascend_are_told(void **state)
{
	(void)state;
	uint32_t table, keyed;
	struct page_file *f;
	struct btree t, k;
	struct cell row[2];
	struct err e = {0};
	make_db(512, &table, &keyed);
	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), 0);
	assert_int_equal(btree_init(&t, BTREE_ROWID, table, 512, &e), 0);
	assert_int_equal(btree_init(&k, BTREE_KEYED, keyed, 512, &e), 0);
	cell_int(&row[0], 7);
	cell_int(&row[1], 3);
	assert_true(btree_ascends(&t, row) && btree_ascends(&k, row));
	assert_int_equal(btree_add(&t, f, row, 2, &e) || btree_add(&k, f, row, 2, &e), 0);
	assert_false(btree_ascends(&t, row) || btree_ascends(&k, row));
	cell_int(&row[1], 4);
	assert_false(btree_ascends(&t, row));
	assert_true(btree_ascends(&k, row));
	cell_int(&row[0], 6);
	assert_false(btree_ascends(&t, row) || btree_ascends(&k, row));
	page_file_abort(f);
	btree_release(&t);
	btree_release(&k);
}

/* Damage besides pages that nobody uses. SQLite tells all in one row, line by line. */
static size_t count_damage(sqlite3 *db)
{
	size_t n = 0;
	sqlite3_stmt *st;
	assert_int_equal(
		sqlite3_prepare_v2(db, "PRAGMA integrity_check(1000000)", -1, &st, NULL), 0);
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *line = (const char *)sqlite3_column_text(st, 0);
		while (line && *line) {
			size_t length = strcspn(line, "\n");
			n += *line != '*' && !memmem(line, length, "never used", 10);
			line += length + (line[length] == '\n');
		}
	}
	sqlite3_finalize(st);
	return n;
}

/* The page at 1 GiB is used for locks only. The file is mostly a hole here, whose pages nobody
 * uses; SQLite's check must have nothing else to say. */
static void the_lock_page_is_left_out(void **state)
{
	(void)state;
	enum { SIZE = 8192, LOCK = (1 << 30) / SIZE + 1, BEFORE = LOCK - 4 };
	uint32_t table, keyed;
	struct page_file *f;
	struct btree t, x;
	struct err e = {0};
	uint8_t pages[4] = {0, BEFORE >> 16, BEFORE >> 8 & 0xff, BEFORE & 0xff};
	make_db(SIZE, &table, &keyed);
	FILE *file = fopen(db_path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, 28, SEEK_SET), 0);
	assert_int_equal(fwrite(pages, 4, 1, file), 1);
	fclose(file);
	assert_int_equal(truncate(db_path, (off_t)BEFORE * SIZE), 0);
	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), 0);
	assert_int_equal(btree_init(&t, BTREE_ROWID, table, SIZE, &e), 0);
	assert_int_equal(btree_init(&x, BTREE_KEYED, keyed, SIZE, &e), 0);
	add_rows(f, &t, &x, 0, 20000);
	assert_int_equal(btree_finish(&t, f, &e), 0);
	assert_int_equal(btree_finish(&x, f, &e), 0);
	assert_int_equal(page_file_close(f, &e), 0);
	btree_release(&t);
	btree_release(&x);
	sqlite3 *db = open_db();
	assert_true(atoi(ask(db, "PRAGMA page_count")) > LOCK + 4);
	assert_string_equal(ask(db, "SELECT count(*) FROM t"), "20000");
	assert_string_equal(ask(db, "SELECT count(*) FROM k"), "20000");
	assert_int_equal(count_damage(db), 0);
	sqlite3_close(db);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	uint32_t table, keyed;
	struct page_file *f;
	struct err e = {0};
	assert_int_equal(page_file_open(&f, "/nonexistent/t.db", NULL, "t.db", &e), ERR_IO);
	assert_memory_equal(e.msg, "t.db: ", 6);
	assert_null(f);
	make_db(4096, &table, &keyed);
	assert_int_equal(truncate(db_path, 4096 + 100), 0);
	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), ERR_FORMAT);
	assert_int_equal(truncate(db_path, 10), 0);
	assert_int_equal(page_file_open(&f, db_path, NULL, "run.db", &e), ERR_FORMAT);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_rows),
		cmocka_unit_test(trees_of_four_levels),
		cmocka_unit_test(all_page_sizes),
		cmocka_unit_test(random_rows),
		cmocka_unit_test(long_texts_go_on_on_other_pages),
		cmocka_unit_test(rows_that_do_not_ascend_are_told),
		cmocka_unit_test(the_lock_page_is_left_out),
		cmocka_unit_test(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
