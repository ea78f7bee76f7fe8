/*
 * source_json.h - the answer of `source` as JSON: docs/source.md.
 */
#ifndef RENDER_TEXT_SOURCE_JSON_H
#define RENDER_TEXT_SOURCE_JSON_H

#include "render/text/json.h"
#include "render/text/source_table.h"

/* {"NAME": count, ...} of counters; nothing if there are none. */
void source_json_counters(struct json *j, const char *key, const struct source_counters *c,
			  const uint64_t *counts);

/* "functions": the first `shown` of n. */
void source_json_functions(struct json *j, const struct source_sums *s,
			   const struct source_counters *c, const uint32_t *picks, size_t n,
			   size_t shown);

/* "files": the lines of a function, each file's text being texts[i] of rows->files[i]. `two`:
 * lines have weights before, too. */
void source_json_lines(struct json *j, const struct source_sums *s,
		       const struct source_counters *c, const struct source_rows *rows,
		       const struct source_text *texts, int two);

/* "places": the copies of a function. */
void source_json_places(struct json *j, const struct source_sums *s, uint32_t function);

/* "instructions". */
void source_json_code(struct json *j, const struct code_rows *c);

#endif
