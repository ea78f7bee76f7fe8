/*
 * err.h - how every library of perfkit reports what went wrong.
 *
 * Functions return int: 0 is success, a negative enum err_code is a failure. Cursors return 1
 * for "got one", 0 for the end and < 0 for a failure. The last parameter, `struct err *e`, may
 * be NULL; it is filled by the innermost function that knows what happened, in one line of
 * plain text that says which file, what and where. Libraries never print and never exit: cmd/
 * does both.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

enum err_code {
	ERR_NOMEM = -1,       /* short of memory or descriptors (shortage.h) */
	ERR_IO = -2,          /* open, read, write, rename failed; errno is in the text */
	ERR_FORMAT = -3,      /* the input breaks the structure of its format */
	ERR_TRUNCATED = -4,   /* the input ends before the structure it announced */
	ERR_UNSUPPORTED = -5, /* a valid input that this build or version cannot read */
	ERR_LIMIT = -6,       /* a stated ceiling (size, depth, count) would be passed */
	ERR_NOTFOUND = -7,    /* not there; often not a fault */
	ERR_MISMATCH = -8,    /* found, but its identity (build-id, CRC, version) differs */
	ERR_USAGE = -9,       /* the caller's options contradict each other */
	ERR_REFUSED = -10,    /* the input cannot answer this question; exit status 3 */
};

/* One failure. Zero-initialised means "none". The text never ends in a newline. */
struct err {
	int code;
	char msg[512];
};

/*
 * Record a failure: format `fmt` into e->msg (cut at its size), set e->code and return `code`,
 * so that `return err_set(e, ERR_FORMAT, "...")` is the usual line. `e` may be NULL.
 */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set, with strerror(errno) appended after ": ". The code is ERR_IO. Keeps errno. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Out of memory, or of whatever was noted as a shortage (shortage.h). Returns ERR_NOMEM. */
int err_nomem(struct err *e);

/* Prepend "<prefix>: " to the message in `e`. Returns e->code. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
