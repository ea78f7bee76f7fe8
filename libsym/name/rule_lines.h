/*
 * rule_lines.h - shared by the readers of rules (frames.rules, causes.rules, mechanisms.rules).
 */
#ifndef LIBSYM_NAME_RULE_LINES_H
#define LIBSYM_NAME_RULE_LINES_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

struct rule_line {
	const char *name; /* of the file */
	unsigned number;
	void *ctx;
	struct err *e;
};

/* Call `parse` with a copy of each line of the n bytes, which it may change. A return other
 * than 0 stops and is returned. ERR_NOMEM. */
int rule_lines_each(const char *text, size_t n, const char *name,
		    int (*parse)(const struct rule_line *at, char *line), void *ctx,
		    struct err *e);

/* ERR_FORMAT: "NAME:LINE: why: what". */
int rule_line_bad(const struct rule_line *at, const char *why, const char *what);

/* "a|__b" → "a\0b\0\0" in `text`. With `frames`, leading underscores are dropped, as in frames'
 * names. NULL: no memory. */
const char *globs_parse(struct arena *text, const char *s, int frames);

/* 1 if the name matches one of such globs. */
int globs_match(const char *globs, const char *name);

#endif
