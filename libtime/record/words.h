/*
 * words.h - a command line as words, which is printed exactly as it runs, without a shell.
 */
#ifndef LIBTIME_RECORD_WORDS_H
#define LIBTIME_RECORD_WORDS_H

#include "base/text/buf.h"
#include "base/vec.h"

/* Zero-initialised is empty. */
struct words {
	VEC(char *) v;
	int failed; /* ERR_NOMEM: a word is missing, and all after it */
};

/* Append a word made like printf; does nothing after a failure. ERR_NOMEM. */
int words_add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append an option and its value, which words_option makes like printf. */
void words_pair(struct words *w, const char *option, const char *value);
void words_option(struct words *w, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Append the words as a line that sh splits into the same words. */
void words_line(struct buf *out, const struct words *w);

/* Release the words. */
void words_release(struct words *w);

#endif
