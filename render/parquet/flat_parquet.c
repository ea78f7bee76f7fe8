#include "render/parquet/flat_parquet.h"
#include "base/check.h"
#include "render/parquet/parquet.h"

#include <string.h>

enum { COLUMNS = 48, NAME = 32 };

/* Columns of the file that are not in the table. */
enum { OF_RECORDING = -1, OF_TIME = -2 };

struct flat_file {
	struct flat *f;
	const struct flat_origin *origin;
	const struct flat_table *table;
	struct parquet_column columns[COLUMNS];
	int from[COLUMNS]; /* the table's column, or one of the above */
	char names[COLUMNS][NAME];
	size_t n;
	size_t time; /* the table's column */
};

static int is_name(const struct column *c)
{
	return schema_is_text(c) || (c->kind >= COLUMN_COMM && c->kind <= COLUMN_EVENT);
}

/* The Parquet type for a declared kind. */
static enum parquet_type type_of(const struct column *c)
{
	switch (c->kind) {
	case COLUMN_I32:
	case COLUMN_I32_OR_NEGATIVE:
	case COLUMN_I16_OR_NEGATIVE:
	case COLUMN_CPU:
		return PARQUET_I32;
	default:
		return is_name(c)                 ? PARQUET_TEXT
		       : !strcmp(c->unit, "0, 1") ? PARQUET_BOOL
						  : PARQUET_I64;
	}
}

static void add_column(struct flat_file *x, const char *name, enum parquet_type type,
		       int optional, int from)
{
	x->from[x->n] = from;
	x->columns[x->n++] = (struct parquet_column){
		.name = name, .type = (uint8_t)type, .optional = optional != 0};
}

/* comm_id refers to a text, which the file contains instead, as comm. */
static const char *name_in_place(struct flat_file *x, const struct column *c)
{
	char *name = x->names[x->n];
	size_t n = strlen(c->name);
	if (c->kind < COLUMN_COMM || n < 4 || n >= NAME || strcmp(c->name + n - 3, "_id") != 0)
		return c->name;
	memcpy(name, c->name, n - 3);
	name[n - 3] = '\0';
	return name;
}

static void add_declared(struct flat_file *x)
{
	for (size_t i = 0; i < x->table->n; i++) {
		const struct column *c = &x->table->columns[i];
		/* row numbers of a store mean nothing for one recording */
		if (c->kind == COLUMN_RECORDING || c->kind == COLUMN_FIRST_OFF ||
		    (c->kind == COLUMN_ID && x->table == &flat_tables[FLAT_RECORDINGS]))
			continue;
		if (x->table->time && !strcmp(c->name, x->table->time))
			x->time = i;
		add_column(x, is_name(c) ? name_in_place(x, c) : c->name, type_of(c),
			   schema_is_optional(c), (int)i);
	}
}

static void declare(struct flat_file *x)
{
	add_column(x, "recording", PARQUET_I64, 0, OF_RECORDING);
	if (x->table->time) {
		add_column(x, "time", PARQUET_TIME, 1, OF_TIME);
		x->columns[1].sorted = 1;
	}
	add_declared(x);
}

/* The row's wall-clock time; missing if it or the recording's is unknown. */
static int time_of(const struct flat_file *x, size_t row, struct cell *cell, struct err *e)
{
	const struct flat_origin *o = x->origin;
	int r = flat_cell(x->f, x->time, row, cell, e);
	if (r || cell->type != SQLITE_INTEGER)
		return r;
	uint64_t wall = o->wall_ns + ((uint64_t)cell->i - o->origin_ns);
	if (!o->wall_ns || wall > INT64_MAX)
		cell_null(cell);
	else
		cell->i = (int64_t)wall;
	return 0;
}

static int value_of(void *ctx, size_t column, size_t row, struct parquet_value *out,
		    struct err *e)
{
	const struct flat_file *x = ctx;
	struct cell cell = {.i = x->origin->recording, .type = SQLITE_INTEGER};
	int from = x->from[column];
	int r = from == OF_RECORDING ? 0
		: from == OF_TIME    ? time_of(x, row, &cell, e)
				     : flat_cell(x->f, (size_t)from, row, &cell, e);
	*out = (struct parquet_value){.n = (uint32_t)cell.n,
				      .missing = cell.type == SQLITE_NULL};
	if (cell.type == SQLITE_TEXT)
		out->s = cell.s;
	else
		out->i = cell.i;
	return r;
}

int flat_parquet_write(struct flat *f, enum flat_table_id table, const struct flat_origin *o,
		       FILE *out, size_t *rows, struct err *e)
{
	struct flat_file x = {.f = f, .origin = o, .table = &flat_tables[table]};
	struct parquet *p = NULL;
	CHECK(x.table->n + 2 <= COLUMNS);
	declare(&x);
	int r = flat_begin(f, table, rows, e);
	r = r ? r : parquet_open(&p, out, x.columns, x.n, e);
	/* stacks as texts are long: fewer rows in a group */
	size_t group = table == FLAT_CALL_PATHS ? PARQUET_GROUP / 8 : PARQUET_GROUP;
	for (size_t at = 0; !r && at < *rows; at += group) {
		size_t n = *rows - at < group ? *rows - at : group;
		r = flat_gather(f, at, n, e);
		r = r ? r : parquet_group(p, n, value_of, &x, e);
	}
	return parquet_close(p, r, e);
}
