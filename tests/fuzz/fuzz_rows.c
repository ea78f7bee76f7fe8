/*
 * fuzz_rows - a well-formed store whose rows say what they like.
 *
 * Input: edits of a small good store, EDIT bytes each: table, column, row, kind of value, and
 * the value (a number, a text or a blob of it, NULL, or another row's value).
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/asktimeline.h"
#include "tests/fuzz/smallstore.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDIT = 12, EDITS_MAX = 12, COLUMNS_MAX = 32 };

static const char *const tables[] = {
	"recordings",
	"comms",
	"threads",
	"selected_events",
	"dsos",
	"symbols",
	"frames",
	"call_paths",
	"sample_sums",
	"offcpu_rows",
	"offcpu_totals",
	"spans",
	"marks",
	"losses",
	"offcpu_kinds",
	"sample_tasks",
	"event_sample_rows",
	"sites",
	"folded_paths",
	"folded_sums",
};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

static struct {
	sqlite3 *db;
	char path[128], columns[TABLES][COLUMNS_MAX][32];
	int ncolumns[TABLES];
} good;

static void must(int rc)
{
	if (rc != SQLITE_OK)
		abort();
}

static void read_columns(int t)
{
	sqlite3_stmt *st;
	must(sqlite3_prepare_v2(good.db, "SELECT name FROM pragma_table_info(?)", -1, &st,
				NULL));
	sqlite3_bind_text(st, 1, tables[t], -1, SQLITE_STATIC);
	while (sqlite3_step(st) == SQLITE_ROW && good.ncolumns[t] < COLUMNS_MAX)
		snprintf(good.columns[t][good.ncolumns[t]++], 32, "%s",
			 sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

/* The file stays the same from input to input: each one's edits are undone behind it. */
static void open_good(void)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/rows.db", fuzz_dir());
	snprintf(good.path, sizeof(good.path), "%s", path);
	if (smallstore_write(path))
		abort();
	must(sqlite3_open(path, &good.db));
	must(sqlite3_exec(good.db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY",
			  NULL, NULL, NULL));
	for (int t = 0; t < TABLES; t++)
		read_columns(t);
}

static void bind(sqlite3_stmt *st, const uint8_t *p)
{
	int64_t number = (int64_t)load_u64(p + 4, 0);
	switch (p[3] % 8) {
	case 0:
		sqlite3_bind_null(st, 1);
		break;
	case 1:
		sqlite3_bind_text(st, 1, (const char *)p + 4, 8, SQLITE_STATIC);
		break;
	case 2:
		sqlite3_bind_blob(st, 1, p + 4, 8, SQLITE_STATIC);
		break;
	case 3:
		sqlite3_bind_double(st, 1, (double)number);
		break;
	case 4:
		sqlite3_bind_int64(st, 1, number);
		break;
	default: /* small ones are often ids */
		sqlite3_bind_int64(st, 1, (int16_t)number);
	}
}

static void edit(const uint8_t *p)
{
	char sql[200];
	sqlite3_stmt *st;
	int t = p[0] % TABLES;
	const char *column = good.columns[t][p[1] % good.ncolumns[t]];
	snprintf(sql, sizeof(sql), "UPDATE %s SET %s = ? WHERE rowid = %d", tables[t], column,
		 p[2] % 64);
	if (p[3] == 255)
		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE rowid = %d + ifnull(?, 0) * 0",
			 tables[t], p[2] % 64);
	must(sqlite3_prepare_v2(good.db, sql, -1, &st, NULL));
	bind(st, p);
	sqlite3_step(st); /* a constraint may forbid it */
	sqlite3_finalize(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	if (!good.db)
		open_good();
	must(sqlite3_exec(good.db, "PRAGMA ignore_check_constraints = ON; BEGIN", NULL, NULL,
			  NULL));
	for (size_t i = 0; i < EDITS_MAX && n >= EDIT; i++, p += EDIT, n -= EDIT)
		edit(p);
	/* the edited pages as a file of their own; the good one is left as it was */
	sqlite3_int64 size;
	unsigned char *db = sqlite3_serialize(good.db, "main", &size, 0);
	if (db)
		ask_store(fuzz_file("edited.db", db, (size_t)size));
	sqlite3_free(db);
	must(sqlite3_exec(good.db, "ROLLBACK", NULL, NULL, NULL));
	return 0;
}
