/*
 * json_pull.h - reads JSON piece by piece, without a tree, for files of a hundred megabytes of
 * which little is kept.
 *
 *	struct json_pull j;
 *	json_pull_init(&j, text, n);
 *	while (json_pull_key(&j))               // inside of an object
 *		if (json_pull_is(&j, "name")) json_pull_string(&j, &s, &len);
 *		else json_pull_skip(&j);
 *
 * Malformed input, or nesting deeper than JSON_DEPTH, sets `bad`; from then on every call
 * reports the end, so a loop like the above needs one check, after it. Texts are borrowed until
 * the next piece is read; those without escapes, as long as the input. Follows RFC 8259, except
 * that strings may contain control characters.
 */
#ifndef LIBTIME_SIDE_JSON_PULL_H
#define LIBTIME_SIDE_JSON_PULL_H

#include "base/text/buf.h"

enum { JSON_DEPTH = 64 };

struct json_pull {
	const char *p, *end;
	struct buf unescaped;
	const char *key; /* of the next value, if that is in an object */
	size_t key_n;
	struct buf key_buf;
	int depth;
	int first; /* no element of the innermost object or array has been read yet */
	int bad;   /* malformed, or one of the next two */
	const char *bad_at;
	int truncated; /* the text ends too soon */
	int nomem;     /* no memory for a text with escapes: the caller returns ERR_NOMEM */
};

/* Begin with n bytes, borrowed. */
void json_pull_init(struct json_pull *j, const char *text, size_t n);
void json_pull_release(struct json_pull *j);

/* First character of the next value: '{' '[' '"' '0' (a number) 't' 'f' 'n'; 0: no value. */
char json_pull_peek(struct json_pull *j);

/* Enter the next value if it is that object or array: 1; else 0, and nothing is read. */
int json_pull_enter(struct json_pull *j, char bracket);

/* In an object: read the next key; its value comes next. In an array: step to the next value.
 * 1; 0 at the end, which has then been read. */
int json_pull_key(struct json_pull *j);
int json_pull_item(struct json_pull *j);

/* Is this the current key? */
int json_pull_is(const struct json_pull *j, const char *key);

/* Read the next value as text if it is a string, a number, true or false: 1. Others are
 * skipped: 0. */
int json_pull_string(struct json_pull *j, const char **s, size_t *n);
int json_pull_scalar(struct json_pull *j, const char **s, size_t *n);

/* Skip the next value. */
void json_pull_skip(struct json_pull *j);

/* 1 if only blanks are left, outside all objects. */
int json_pull_done(struct json_pull *j);

#endif
