/*
 * json.h - JSON text, written front to back into a buffer; nothing else escapes for JSON.
 *
 *	struct json j = {.b = &buf};
 *	json_open(&j, NULL, '{');
 *	json_u64(&j, "count", 3);
 *	json_close(&j, '}');
 *
 * Commas are added automatically. A key of NULL is for an element of an array (or the top).
 */
#ifndef RENDER_TEXT_JSON_H
#define RENDER_TEXT_JSON_H

#include "base/text/buf.h"

struct json {
	struct buf *b; /* borrowed; its failure state is the only error */
	int comma;     /* the next value needs one */
};

/* Begin '{' or '['; json_close ends it with '}' or ']'. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);

/* One value; `key` is NULL inside an array. */
void json_u64(struct json *j, const char *key, uint64_t x);
void json_i64(struct json *j, const char *key, int64_t x);
void json_bool(struct json *j, const char *key, int x);
void json_null(struct json *j, const char *key);

/* An untrusted text of n bytes; NULL is null. Bytes that are not UTF-8 are in visible form
 * (\xNN as text), so that every reader accepts it. */
void json_text(struct json *j, const char *key, const char *s, size_t n);
void json_str(struct json *j, const char *key, const char *s);

/* A value that is JSON already, as a number with decimals. */
void json_raw(struct json *j, const char *key, const char *value);

/* An integer as a string, for readers whose numbers are doubles. */
void json_u64_text(struct json *j, const char *key, uint64_t x);

#endif
