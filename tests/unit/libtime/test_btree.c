/* btree: pages that we write are tables and indexes to SQLite. SQLite itself is the witness: it
 * checks the file's structure, and it holds the same rows, inserted by its own means. */
#include "tests/lib/tempdb.h"

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

/* Of the rows of an integrity check, keep in text[256] the last that tells of a fault. */
static int keep_fault(void *text, int n, char **values, char **names)
{
	(void)names;
	if (n == 1 && strcmp(values[0], "ok") && !strstr(values[0], "never used"))
		snprintf(text, 256, "%s", values[0]);
	return 0;
}

/* A database with `t`, its index by (a, b), and `u` for the same rows by SQLite's hand. */
static void make_db(int page_size, uint32_t *table, uint32_t *index)
{
	char sql[64];
	unlink(db_path);
	sqlite3 *db = open_db();
	snprintf(sql, sizeof(sql), "PRAGMA page_size = %d; PRAGMA synchronous = OFF",
		 page_size);
	run(db, sql);
	run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c TEXT, d);"
		"CREATE INDEX t_ab ON t(a, b);"
		"CREATE TABLE u(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c TEXT, d)");
	*table = (uint32_t)atoi(ask(db, "SELECT rootpage FROM sqlite_master WHERE name = 't'"));
	*index = (uint32_t)atoi(ask(db, "SELECT rootpage FROM sqlite_master WHERE name = "
					"'t_ab'"));
	sqlite3_close(db);
}

enum { COLUMNS = 5 };

/* Values at the edges of every integer size, of either sign, and texts of all lengths. */
static void make_row(size_t i, struct cell row[COLUMNS])
{
	static const char text[] = "0123456789012345678901234567890123456789"
				   "0123456789012345678901234567890123456789";
	uint64_t bit = 1ull << (i % 64);
	cell_null(&row[0]);
	if (i < 3)
		cell_null(&row[1]);
	else
		cell_int(&row[1], (int64_t)(i / 100) - 5);
	cell_int(&row[2], (int64_t)(i * i));
	cell_text(&row[3], text + i % 81);
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

static int64_t id_of(size_t i)
{
	return (int64_t)(i + 1 + (i > 50) * 1000000000000);
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
		sqlite3_bind_int64(st, 1, id_of(i));
		for (int c = 1; c < COLUMNS; c++)
			bind(st, c + 1, &row[c]);
		assert_int_equal(sqlite3_step(st), SQLITE_DONE);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	run(db, "COMMIT");
}

static void add_rows(struct pagefile *f, struct btree *t, struct btree *x, size_t from,
		     size_t to)
{
	struct cell row[COLUMNS], entry[3];
	struct err e = {0};
	for (size_t i = from; i < to; i++) {
		make_row(i, row);
		entry[0] = row[1];
		entry[1] = row[2];
		cell_int(&entry[2], id_of(i));
		if (btree_add(t, f, id_of(i), row, COLUMNS, &e) ||
		    btree_add_entry(x, f, entry, 3, &e))
			fail_msg("%s", e.msg);
	}
}

/* n rows in two goes, between which SQLite has the file and adds pages of its own. */
static void fill(int page_size, size_t n)
{
	uint32_t table, index;
	struct pagefile *f;
	struct btree t, x;
	struct err e = {0};
	make_db(page_size, &table, &index);
	assert_int_equal(pagefile_open(&f, db_path, "run.db", &e), 0);
	assert_int_equal(btree_init(&t, BTREE_TABLE, table, (size_t)page_size, &e), 0);
	assert_int_equal(btree_init(&x, BTREE_INDEX, index, (size_t)page_size, &e), 0);
	add_rows(f, &t, &x, 0, n / 3);
	assert_int_equal(pagefile_close(f, &e), 0);

	sqlite3 *db = open_db();
	insert_all(db, n);
	sqlite3_close(db);

	assert_int_equal(pagefile_open(&f, db_path, "run.db", &e), 0);
	add_rows(f, &t, &x, n / 3, n);
	assert_int_equal(btree_finish(&t, f, &e), 0);
	assert_int_equal(btree_finish(&x, f, &e), 0);
	assert_int_equal(pagefile_close(f, &e), 0);
	btree_release(&t);
	btree_release(&x);
}

static void expect_same(size_t n)
{
	char count[32];
	sqlite3 *db = open_db();
	snprintf(count, sizeof(count), "%zu", n);
	assert_string_equal(ask(db, "PRAGMA integrity_check"), "ok");
	assert_string_equal(ask(db, "SELECT count(*) FROM t NOT INDEXED"), count);
	assert_string_equal(ask(db, "SELECT count(*) FROM (SELECT * FROM t NOT INDEXED "
				    "EXCEPT SELECT * FROM u)"),
			    "0");
	assert_string_equal(ask(db, "SELECT count(*) FROM t JOIN u USING(id) WHERE "
				    "t.a IS u.a AND t.b IS u.b AND t.c IS u.c AND t.d IS u.d "
				    "AND typeof(t.d) = typeof(u.d)"),
			    count);
	/* each row is found by the index, from the root down */
	assert_string_equal(ask(db, "SELECT count(*) FROM u WHERE EXISTS (SELECT 1 FROM t "
				    "INDEXED BY t_ab WHERE t.a IS u.a AND t.b IS u.b AND "
				    "t.id = u.id)"),
			    count);
	/* and both go on as trees of SQLite's own */
	run(db, "INSERT INTO t SELECT id + 2000000000000, a, b, c, d FROM u;"
		"DELETE FROM t WHERE id % 3 = 0; UPDATE t SET a = -a WHERE id % 5 = 0");
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
	for (int size = 1024; size <= PAGE_MAX; size *= 2) {
		fill(size, 3000);
		expect_same(3000);
	}
}

static void rows_too_long_for_a_page_are_refused(void **state)
{
	(void)state;
	char text[1024];
	uint32_t table, index;
	struct pagefile *f;
	struct btree t;
	struct cell row[BTREE_COLUMNS + 1];
	struct err e = {0};
	memset(text, 'x', sizeof(text));
	make_db(512, &table, &index);
	assert_int_equal(pagefile_open(&f, db_path, "run.db", &e), 0);
	assert_int_equal(btree_init(&t, BTREE_TABLE, table, 512, &e), 0);
	int64_t id = 1, added = 0;
	for (int n = 400; n < (int)sizeof(text); n++) {
		make_row(5, row);
		row[3] = (struct cell){.s = text, .type = SQLITE_TEXT, .n = n};
		int r = btree_add(&t, f, id++, row, COLUMNS, &e);
		assert_true(r == 0 || r == ERR_LIMIT);
		assert_true(n > 440 ? n < 480 || r == ERR_LIMIT : r == 0);
		added += !r;
	}
	for (int i = 0; i <= BTREE_COLUMNS; i++)
		cell_null(&row[i]);
	assert_int_equal(btree_add(&t, f, id, row, BTREE_COLUMNS + 1, &e), ERR_LIMIT);
	assert_memory_equal(e.msg, "run.db: ", 8);
	assert_int_equal(btree_finish(&t, f, &e), 0);
	assert_int_equal(pagefile_close(f, &e), 0);
	btree_release(&t);
	sqlite3 *db = open_db();
	run(db, "DROP INDEX t_ab");
	assert_string_equal(ask(db, "PRAGMA integrity_check"), "ok");
	assert_int_equal(atoi(ask(db, "SELECT count(*) FROM t")), added);
	sqlite3_close(db);
}

/* The page at 1 GiB is used for locks only. The file is mostly a hole here, whose pages nobody
 * uses; SQLite's check must have nothing else to say. */
static void the_lock_page_is_left_out(void **state)
{
	(void)state;
	enum { SIZE = 65536, LOCK = (1 << 30) / SIZE + 1, BEFORE = LOCK - 4 };
	uint32_t table, index;
	struct pagefile *f;
	struct btree t, x;
	struct err e = {0};
	uint8_t pages[4] = {0, 0, BEFORE >> 8, BEFORE & 0xff};
	make_db(SIZE, &table, &index);
	FILE *file = fopen(db_path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, 28, SEEK_SET), 0);
	assert_int_equal(fwrite(pages, 4, 1, file), 1);
	fclose(file);
	assert_int_equal(truncate(db_path, (off_t)BEFORE * SIZE), 0);
	assert_int_equal(pagefile_open(&f, db_path, "run.db", &e), 0);
	assert_int_equal(btree_init(&t, BTREE_TABLE, table, SIZE, &e), 0);
	assert_int_equal(btree_init(&x, BTREE_INDEX, index, SIZE, &e), 0);
	add_rows(f, &t, &x, 0, 20000);
	assert_int_equal(btree_finish(&t, f, &e), 0);
	assert_int_equal(btree_finish(&x, f, &e), 0);
	assert_int_equal(pagefile_close(f, &e), 0);
	btree_release(&t);
	btree_release(&x);
	sqlite3 *db = open_db();
	assert_true(atoi(ask(db, "PRAGMA page_count")) > LOCK + 4);
	assert_string_equal(ask(db, "SELECT count(*) FROM t NOT INDEXED"), "20000");
	assert_string_equal(ask(db, "SELECT count(*) FROM t INDEXED BY t_ab WHERE a IS NOT "
				    "NULL"),
			    "19997");
	char fault[256] = "";
	sqlite3_exec(db, "PRAGMA integrity_check(100000)", keep_fault, fault, NULL);
	assert_string_equal(fault, "");
	sqlite3_close(db);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	uint32_t table, index;
	struct pagefile *f;
	struct err e = {0};
	assert_int_equal(pagefile_open(&f, "/nonexistent/t.db", "t.db", &e), ERR_IO);
	assert_memory_equal(e.msg, "t.db: ", 6);
	assert_null(f);
	make_db(4096, &table, &index);
	assert_int_equal(truncate(db_path, 4096 + 100), 0);
	assert_int_equal(pagefile_open(&f, db_path, "run.db", &e), ERR_FORMAT);
	assert_int_equal(truncate(db_path, 10), 0);
	assert_int_equal(pagefile_open(&f, db_path, "run.db", &e), ERR_FORMAT);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_rows),
		cmocka_unit_test(trees_of_four_levels),
		cmocka_unit_test(all_page_sizes),
		cmocka_unit_test(rows_too_long_for_a_page_are_refused),
		cmocka_unit_test(the_lock_page_is_left_out),
		cmocka_unit_test(other_files_are_refused),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
