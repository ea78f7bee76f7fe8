/* parquetgen ROWS FILE - a Parquet table of every type, whose values follow from the row's
 * number: tests/parquetcheck.py has the same rules. ROWS % 131072 rows make the last group. */
#include "render/parquet/parquet.h"
#include "base/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROW_ID,
	FLAG,
	MAYBE_FLAG,
	SMALL,
	MAYBE_SMALL,
	WILD,
	FEW,
	TIME,
	NAME,
	MAYBE_NAME,
	LIST,
	WORDS,
	NEVER,
	COLUMNS
};

static const struct parquet_column columns[COLUMNS] = {
	[ROW_ID] = {"row_id", PARQUET_I64, 0, 0, 1},
	[FLAG] = {"flag", PARQUET_BOOL, 0, 0, 0},
	[MAYBE_FLAG] = {"maybe_flag", PARQUET_BOOL, 1, 0, 0},
	[SMALL] = {"small", PARQUET_I32, 0, 0, 0},
	[MAYBE_SMALL] = {"maybe_small", PARQUET_I32, 1, 0, 0},
	[WILD] = {"wild", PARQUET_I64, 0, 0, 0},
	[FEW] = {"few", PARQUET_I64, 1, 0, 0},
	[TIME] = {"time", PARQUET_TIME, 1, 0, 0},
	[NAME] = {"name", PARQUET_TEXT, 0, 0, 0},
	[MAYBE_NAME] = {"maybe_name", PARQUET_TEXT, 1, 0, 0},
	[LIST] = {"list", PARQUET_I32, 0, 1, 0},
	[WORDS] = {"words", PARQUET_TEXT, 0, 1, 0},
	[NEVER] = {"never", PARQUET_TEXT, 1, 0, 0},
};

struct table {
	uint64_t first; /* row of the group at hand */
	char (*names)[24];
	struct parquet_value (*lists)[4];
};

/* A number that looks like no other: splitmix64's last step. */
static uint64_t wild(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void list_of(struct table *t, uint64_t row, size_t i, int words, struct parquet_value *v)
{
	static const char *const some[] = {"", "a;b", "\xe2\x82\xac"};
	v->n = (uint32_t)(row % 4);
	v->list = t->lists[i];
	for (uint32_t k = 0; k < v->n; k++) {
		struct parquet_value *x = &t->lists[i][k];
		*x = (struct parquet_value){.i = (int64_t)(row + k) % 1000 - 500};
		if (words)
			*x = (struct parquet_value){.s = some[k],
						    .n = (uint32_t)strlen(some[k])};
	}
}

static void text_of(struct table *t, uint64_t row, size_t i, struct parquet_value *v)
{
	static const char hostile[] = "'; DROP TABLE x;--\n\xff\xc0\xaf\t\"";
	v->s = t->names[i];
	v->n = (uint32_t)snprintf(t->names[i], sizeof(t->names[i]), "name %llu",
				  (unsigned long long)(row / 3));
	if (row % 7 == 0)
		*v = (struct parquet_value){.s = hostile, .n = sizeof(hostile) - 1};
}

static int value_of(void *ctx, size_t column, size_t i, struct parquet_value *v, struct err *e)
{
	struct table *t = ctx;
	uint64_t row = t->first + i;
	(void)e;
	*v = (struct parquet_value){.i = 0};
	switch (column) {
	case ROW_ID:
		v->i = (int64_t)row;
		break;
	case FLAG:
		v->i = row % 3 == 0;
		break;
	case MAYBE_FLAG:
		v->i = row % 5 == 0;
		v->missing = row % 2 == 0;
		break;
	case SMALL:
		v->i = (int32_t)(uint32_t)wild(row);
		break;
	case MAYBE_SMALL:
		v->i = (int64_t)(row / 1000) - 7;
		v->missing = row / 100 % 3 == 1;
		break;
	case WILD:
		v->i = (int64_t)wild(row);
		break;
	case FEW:
		v->i = row % 2 ? INT64_MAX : INT64_MIN;
		v->missing = row % 11 == 0;
		break;
	case TIME:
		v->i = 1700000000123456789 + (int64_t)row * 1001;
		v->missing = row % 13 == 12;
		break;
	case NAME:
		text_of(t, row, i, v);
		break;
	case MAYBE_NAME:
		text_of(t, row % 50, i, v);
		v->missing = row % 4 == 3;
		break;
	case LIST:
		list_of(t, row, i, 0, v);
		break;
	case WORDS:
		list_of(t, row, i, 1, v);
		break;
	default:
		v->missing = 1;
	}
	return 0;
}

static int write_groups(struct parquet *p, struct table *t, uint64_t rows, struct err *e)
{
	int r = 0;
	for (t->first = 0; !r && t->first < rows; t->first += PARQUET_GROUP) {
		uint64_t left = rows - t->first;
		r = parquet_group(p, left < PARQUET_GROUP ? (size_t)left : PARQUET_GROUP,
				  value_of, t, e);
	}
	return r;
}

int main(int argc, char **argv)
{
	static char names[PARQUET_GROUP][24];
	static struct parquet_value lists[PARQUET_GROUP][4];
	struct table t = {.names = names, .lists = lists};
	struct outfile out;
	struct parquet *p;
	struct err e = {0};
	if (argc != 3 || outfile_open(&out, argv[2], &e))
		return 2;
	int r = parquet_open(&p, out.f, columns, COLUMNS, &e);
	r = r ? r : write_groups(p, &t, strtoull(argv[1], NULL, 10), &e);
	r = parquet_close(p, r, &e);
	r = outfile_end(&out, r, &e);
	if (r)
		fprintf(stderr, "%s\n", e.msg);
	return r != 0;
}
