#include "render/parquet/names_parquet.h"
#include "base/vec.h"
#include "render/parquet/parquet.h"

#include <string.h>

enum { BUILD_ID, START, END, NAMES, COLUMNS };

static const struct parquet_column columns[COLUMNS] = {
	[BUILD_ID] = {.name = "build_id", .type = PARQUET_TEXT},
	[START] = {.name = "start_offset", .type = PARQUET_I64, .sorted = 1},
	[END] = {.name = "end_offset", .type = PARQUET_I64},
	[NAMES] = {.name = "names", .type = PARQUET_TEXT, .list = 1},
};

struct row {
	uint64_t start, end;
	size_t first; /* of its names */
	uint32_t n;
};

/* The rows of one group. */
struct gathered {
	const char *hex;
	VEC(struct row) rows;
	VEC(struct parquet_value) names;
};

static int add_range(struct gathered *g, const struct named_range *r)
{
	struct row row = {r->start, r->end, g->names.n, (uint32_t)r->n};
	for (size_t i = 0; i < r->n; i++) {
		struct parquet_value v = {.s = r->names[i], .n = (uint32_t)strlen(r->names[i])};
		if (vec_push(&g->names, v))
			return ERR_NOMEM;
	}
	return vec_push(&g->rows, row);
}

static int64_t number(uint64_t v)
{
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

static int value_of(void *ctx, size_t column, size_t at, struct parquet_value *out,
		    struct err *e)
{
	const struct gathered *g = ctx;
	const struct row *r = &g->rows.v[at];
	(void)e;
	*out = (struct parquet_value){.n = column == NAMES ? r->n : (uint32_t)strlen(g->hex)};
	if (column == NAMES)
		out->list = g->names.v + r->first;
	else if (column == BUILD_ID)
		out->s = g->hex;
	else
		out->i = number(column == START ? r->start : r->end);
	return 0;
}

int names_parquet_write(struct file_names *names, const char *hex, FILE *out, size_t *rows,
			struct err *e)
{
	struct gathered g = {.hex = hex};
	struct named_range range;
	struct parquet *p;
	int got = 1, r = parquet_open(&p, out, columns, COLUMNS, e);
	*rows = 0;
	while (!r && got == 1) {
		g.rows.n = g.names.n = 0;
		while (g.rows.n < PARQUET_GROUP &&
		       (got = file_names_next(names, &range, e)) == 1)
			if (add_range(&g, &range))
				got = err_nomem(e);
		r = got < 0 ? got : parquet_group(p, g.rows.n, value_of, &g, e);
		*rows += g.rows.n;
	}
	vec_release(&g.rows);
	vec_release(&g.names);
	return parquet_close(p, r, e);
}
