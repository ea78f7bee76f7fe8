/*
 * json_pull.h - JSON read piece by piece, without a tree: for files of a hundred megabytes of
 * which little is kept.
 *
 *	struct json_pull j;
 *	json_pull_init(&j, text, n);
 *	while (json_pull_key(&j))               // inside of an object
 *		if (json_pull_is(&j, "name")) json_pull_string(&j, &s, &len);
 *		else json_pull_skip(&j);
 *
 * What is malformed, or nested deeper than JSON_DEPTH, sets `bad`, and from then on everything
 * ends: a loop like the above needs no other check, and whoever keeps what was read asks once.
 * Texts are borrowed: until the next piece is read, as long as the input where they had no
 * escapes. RFC 8259, but that control characters may stand in strings.
 */
#ifndef LIBTIME_SIDE_JSON_PULL_H
#define LIBTIME_SIDE_JSON_PULL_H

#include "base/text/buf.h"

enum { JSON_DEPTH = 64 };

struct json_pull {
	const char *p, *end;
	struct buf unescaped;
	const char *key; /* of the value that comes next, where that is in an object */
	size_t key_n;
	struct buf key_buf;
	int depth;
	int first; /* no element of the innermost object or array was read yet */
	int bad;   /* malformed; */
	int torn;  /* because the text ends too soon, or */
	int nomem; /* there was no memory for an escaped text: ERR_NOMEM is what to return */
};

/* Begin with n bytes, borrowed. */
void json_pull_init(struct json_pull *j, const char *text, size_t n);
void json_pull_release(struct json_pull *j);

/* What the next value begins with: '{' '[' '"' '0' (a number) 't' 'f' 'n'; 0 for none. */
char json_pull_peek(struct json_pull *j);

/* Step into the object or array that comes next: 1; 0 (and nothing read) if it is no such. */
int json_pull_enter(struct json_pull *j, char bracket);

/* Inside of an object: 1 and the next key, whose value comes next; 0 at its end, which is then
 * read. Of an array: 1 when one more value comes. */
int json_pull_key(struct json_pull *j);
int json_pull_item(struct json_pull *j);

/* Is that the key at hand? */
int json_pull_is(const struct json_pull *j, const char *key);

/* The value that comes next, if it is a string, or a number, true or false, as text: 1. Other
 * values are skipped: 0. */
int json_pull_string(struct json_pull *j, const char **s, size_t *n);
int json_pull_scalar(struct json_pull *j, const char **s, size_t *n);

/* Pass the value that comes next, whatever it is. */
void json_pull_skip(struct json_pull *j);

/* 1 when nothing but blanks is left, outside of all objects. */
int json_pull_done(struct json_pull *j);

#endif
