#include "cmd/answer/compared_rows.h"
#include "render/tail/site_words.h"

#include <inttypes.h>
#include <string.h>

void compared_stretch(const struct timeline *tl, const struct population *of, uint64_t *from,
		      uint64_t *to)
{
	*from = of->start_ns > tl->rec.origin_ns ? of->start_ns : tl->rec.origin_ns;
	*to = of->stop_ns && of->stop_ns < tl->rec.end_ns ? of->stop_ns : tl->rec.end_ns;
	*to = *to > *from ? *to : *from;
}

enum column compared_time_column(const struct rows *r)
{
	static const enum column columns[] = {COL_WAITING, COL_BLOCKED, COL_TOTAL};
	if (r->slot[COL_TOTAL] < r->ncolumns)
		return COL_TOTAL;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (r->slot[columns[i]] < r->ncolumns)
			return columns[i];
	return 0;
}

enum column compared_count_column(const struct rows *r)
{
	static const enum column columns[] = {COL_WAITS, COL_CALLS, COL_COUNT, COL_GAPS};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (r->slot[columns[i]] < r->ncolumns)
			return columns[i];
	return 0;
}

void compared_row_name(struct buf *b, const struct timeline *tl, const struct rows *r,
		       uint32_t row)
{
	buf_clear(b);
	for (size_t i = 0; i < r->ncolumns; i++) {
		enum column c = r->columns[i].column;
		enum cell cell = rows_info(r, c)->cell;
		if (c == COL_TIME || c == COL_ADDRESS)
			continue;
		if (c == COL_CPU)
			buf_fmt(b, "%" PRIu64, rows_get(r, row, c));
		if (cell > CELL_SITE || c == COL_CPU)
			break;
		const char *text = cell == CELL_SITE ? "" : rows_text(r, tl, row, c);
		if (b->n && (*text || cell == CELL_SITE))
			buf_str(b, ", ");
		buf_str(b, text);
		if (cell == CELL_SITE)
			describe_site(b, tl, (uint32_t)rows_get(r, row, c));
	}
	if (!b->n)
		buf_str(b, "[unknown]");
}

enum match_group compared_group_of(const char *module)
{
	return !*module || *module == '[' ? MATCH_KERNEL
	       : strstr(module, ".map")   ? MATCH_JIT
					  : MATCH_USER;
}
