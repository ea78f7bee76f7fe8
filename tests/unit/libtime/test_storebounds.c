/* store: what a small file claims to hold without end, and what is left beside one. */
#include "tests/lib/tempdb.h"

#include "libtime/doctor/findings.h"
#include "libtime/store/schema.h"
#include "libtime/doctor/store_findings.h"
#include "libtime/store/store_read.h"
#include "libtime/store/file_facts.h"

#include <endian.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void run(const char *sql, int64_t *first)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
	for (const char *rest = sql; *rest;) {
		if (sqlite3_prepare_v2(db, rest, -1, &st, &rest))
			fail_msg("%s: %s", rest, sqlite3_errmsg(db));
		if (st && sqlite3_step(st) == SQLITE_ROW && first)
			*first = sqlite3_column_int64(st, 0);
		sqlite3_finalize(st);
	}
	sqlite3_close(db);
}

/* A store of one recording with a row in each table, in pages of 4096 bytes. */
static void write_store(const char *more)
{
	struct buf sql = {0};
	unlink(db_path);
	run("PRAGMA page_size = 4096", NULL);
	schema_sql(&sql);
	run(buf_cstr(&sql), NULL);
	buf_release(&sql);
	run("INSERT INTO recordings "
	    "VALUES(1,'h','f','c','k','a','c',0,100,NULL,0,4,0,1,0,1,1,0,"
	    "0,0,0,0,NULL,1,1,1);"
	    "INSERT INTO comms VALUES(1,'c');"
	    "INSERT INTO threads VALUES(1,1,1,1,1,NULL,0,100,0,120,1,1,0,0,0,0,0);"
	    "INSERT INTO offcpu_kinds "
	    "VALUES(1,'S','lock',NULL,NULL,0,0,0,0,0,NULL,NULL,NULL,NULL);"
	    "INSERT INTO offcpu_rows VALUES(1,1,10,10,5,1,NULL,NULL,1,NULL,NULL,NULL,0,0,NULL,"
	    "NULL,NULL);"
	    "INSERT INTO symbols VALUES(1,NULL,'s');"
	    "INSERT INTO recording_files "
	    "VALUES(1,1,'f','file',0,0,9,NULL,NULL,NULL,1,NULL,NULL,"
	    "NULL,NULL,NULL,0,0,0,0,0,0,NULL,0,0,0);"
	    "INSERT INTO record_counts VALUES(1,1,9,5);",
	    NULL);
	run(more, NULL);
}

/* The table's only page, which is put back after `change` had it. */
static void change_page(const char *table, void (*change)(FILE *f, uint8_t *page))
{
	char sql[96];
	uint8_t page[PAGE];
	int64_t root = 0;
	snprintf(sql, sizeof(sql), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'",
		 table);
	run(sql, &root);
	FILE *f = fopen(db_path, "r+");
	fseek(f, (root - 1) * PAGE, SEEK_SET);
	assert_int_equal(fread(page, 1, PAGE, f), PAGE);
	change(f, page);
	fseek(f, (root - 1) * PAGE, SEEK_SET);
	assert_int_equal(fwrite(page, 1, PAGE, f), PAGE);
	fclose(f);
}

static void put_u16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put_u32(uint8_t *p, size_t v)
{
	put_u16(p, v >> 16);
	put_u16(p + 2, v);
}

/* Pages that name one page 500 times, and above them such as name these: 10^13 rows. */
static void use_again(FILE *f, uint8_t *page)
{
	enum { CELLS = 500, LEVELS = 5 };
	for (int level = 0; level < LEVELS; level++) {
		fseek(f, 0, SEEK_END);
		size_t below = (size_t)ftell(f) / PAGE + 1;
		assert_int_equal(fwrite(page, 1, PAGE, f), PAGE);
		memset(page, 0, PAGE);
		page[0] = 5;
		put_u16(page + 3, CELLS);
		put_u16(page + 5, PAGE - 5 * CELLS);
		put_u32(page + 8, below);
		for (size_t i = 0; i < CELLS; i++) {
			put_u16(page + 12 + 2 * i, PAGE - 5 * (i + 1));
			put_u32(page + PAGE - 5 * (i + 1), below);
			page[PAGE - 5 * i - 1] = 1;
		}
	}
	uint8_t pages[4];
	fseek(f, 0, SEEK_END);
	put_u32(pages, (size_t)ftell(f) / PAGE);
	fseek(f, 28, SEEK_SET);
	assert_int_equal(fwrite(pages, 1, 4, f), 4);
}

/* Its one row, whose text goes on on other pages, seven times: the id is the third byte of a
 * row that long behind its length. */
static void say_again(FILE *f, uint8_t *page)
{
	enum { TIMES = 7 };
	size_t at = (size_t)page[8] << 8 | page[9], n = PAGE - at;
	(void)f;
	assert_true(page[0] == 13 && page[4] == 1 && page[at + 3] == 1);
	for (size_t i = 1; i < TIMES; i++) {
		uint8_t *to = page + at - i * n;
		memcpy(to, page + at, n);
		to[3] = (uint8_t)(i + 1);
		put_u16(page + 8 + 2 * i, at - i * n);
	}
	put_u16(page + 3, TIMES);
	put_u16(page + 5, at - (TIMES - 1) * n);
}

static int read_all(struct err *e)
{
	struct store *s;
	struct timeline tl = {0};
	struct stacks st = {0};
	struct findings f = {0};
	struct file_facts file = {0};
	const struct store_recording *v;
	unsigned topics;
	size_t n;
	int r = store_open(&s, db_path, e);
	if (!r)
		r = store_recordings(s, &v, &n, e);
	if (!r)
		r = store_load(s, 1, 1, &tl, &st, e);
	if (!r)
		r = store_findings(s, 1, 0, &f, &topics, e);
	if (!r)
		r = store_read_file(s, 1, &file, e);
	timeline_release(&tl);
	stacks_release(&st);
	findings_release(&f);
	file_facts_release(&file);
	store_close(s);
	return r;
}

static void endless(const char *table)
{
	struct err e = {0};
	if (read_all(&e) != ERR_FORMAT || !strstr(e.msg, "damaged store"))
		fail_msg("%s: '%s'", table, e.msg);
}

static void pages_that_are_used_again_do_not_make_rows_without_end(void **state)
{
	(void)state;
	static const char *const tables[] = {"comms", "threads", "offcpu_rows", "record_counts",
					     "symbols"};
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		write_store("");
		change_page(tables[i], use_again);
		endless(tables[i]);
	}
	/* rows that SQLite passes over */
	write_store("INSERT INTO marks VALUES(1,2,1,5,0,'n','t',NULL)");
	change_page("marks", use_again);
	endless("marks");
	write_store("INSERT INTO losses VALUES(1,2,'lost',0,5,6,1,1)");
	change_page("losses", use_again);
	endless("losses");
	/* and those that are counted because their ids may be anything */
	write_store("UPDATE offcpu_rows SET id = -1");
	change_page("offcpu_rows", use_again);
	endless("offcpu of negative ids");
}

static void a_text_that_many_rows_name_counts_for_each(void **state)
{
	(void)state;
	struct err e = {0};
	/* as many bytes of text as the rest of the file has, and no more, are in order */
	write_store("INSERT INTO comms VALUES(2,CAST(zeroblob(100000) AS TEXT))");
	assert_int_equal(read_all(&e), 0);
	/* of 299205 bytes with the row's header, 489 stay on the row's page */
	write_store("UPDATE symbols SET name = substr(hex(zeroblob(150000)), 1, 299199)");
	assert_int_equal(read_all(&e), 0);
	change_page("symbols", say_again);
	endless("symbols");
}

static void recordings_without_end_are_refused(void **state)
{
	(void)state;
	struct err e = {0};
	write_store(
		"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < "
		"4097) INSERT INTO recordings SELECT i,'h','f','c','k','a','c',0,100,NULL,0,4,"
		"0,1,0,1,1,0,0,0,0,0,NULL,1,1,1 FROM n");
	assert_int_equal(read_all(&e), ERR_LIMIT);
	assert_non_null(strstr(e.msg, "recordings"));
}

static void a_store_left_in_wal_mode_gets_nothing_beside_it(void **state)
{
	(void)state;
	struct err e = {0};
	write_store("PRAGMA journal_mode = WAL; UPDATE comms SET comm = 'd'");
	assert_int_equal(read_all(&e), 0);
	unlink(db_path);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
}

/* A path that SQLite would read more into, once it is told to read paths as names of the web.
 */
static void any_path_is_a_path(void **state)
{
	(void)state;
	struct err e = {0};
	char plain[sizeof(db_path) - 1];
	memcpy(plain, db_path, sizeof(plain));
	write_store("");
	snprintf(db_path, sizeof(db_path), "%s/a%%41?mode=rw#b.db", dir);
	assert_int_equal(rename(plain, db_path), 0);
	assert_int_equal(read_all(&e), 0);
	assert_int_equal(rename(db_path, plain), 0);
	snprintf(db_path, sizeof(db_path), "/%s", plain);
	assert_int_equal(read_all(&e), 0);
	unlink(db_path);
	memcpy(db_path, plain, sizeof(plain));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_are_used_again_do_not_make_rows_without_end),
		cmocka_unit_test(a_text_that_many_rows_name_counts_for_each),
		cmocka_unit_test(recordings_without_end_are_refused),
		cmocka_unit_test(a_store_left_in_wal_mode_gets_nothing_beside_it),
		cmocka_unit_test(any_path_is_a_path),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
