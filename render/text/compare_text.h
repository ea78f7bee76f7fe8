/*
 * compare_text.h - two recordings compared, as tables and as JSON.
 */
#ifndef RENDER_TEXT_COMPARE_TEXT_H
#define RENDER_TEXT_COMPARE_TEXT_H

#include "base/text/buf.h"
#include "libtime/tables/compare.h"
#include "render/text/json.h"

/* A percentile of both. */
struct compared_percentile {
	uint32_t millipercent;
	struct estimate of[COMPARE_SIDES];
};

/* Percentiles before and after, their ranges in brackets, and which of them changed. */
void compare_percentiles_text(struct buf *b, const struct compared_percentile *v, size_t n,
			      size_t width);

/* Names with their mean times and rates; `head` is the heading of the names. At most `rows` (0:
 * all); the others are counted. */
void compare_text(struct buf *b, const struct comparison *c, const char *head, size_t rows,
		  size_t width);

/* "percentiles":[{"percent","before":{"value","low","high"},"after","change"}], in ns */
void compare_percentiles_json(struct json *j, const struct compared_percentile *v, size_t n);

/* KEY:[{"name","mean":{...},"time":{"before":{"value","low","high"},"after","change"},
 * "count":{...}}]; time in ns per second. "change" is 1, 0 or -1; high is null if it is
 * unbounded. */
void compare_json(struct json *j, const struct comparison *c, const char *key);

#endif
