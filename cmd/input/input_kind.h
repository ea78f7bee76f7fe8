/*
 * input_kind.h - what a file is, by its first bytes, never by its name.
 */
#ifndef CMD_INPUT_INPUT_KIND_H
#define CMD_INPUT_INPUT_KIND_H

#include "base/err.h"
#include "libparse/source.h"

enum input_kind {
	INPUT_UNKNOWN,
	INPUT_PERF_DATA, /* PERFILE2, PERFFILE in either byte order, or a directory of one;
			    a bundle of `perfkit pack` (zstd or gzip), packed or unpacked */
	INPUT_STORE,     /* SQLite */
	INPUT_FOLDED,    /* text: "a;b;c 12" */
};

/* The kind of these first n bytes. */
enum input_kind input_kind_of_bytes(const uint8_t *p, size_t n);

/*
 * Open `path` ("-" is stdin) and tell its kind without taking its bytes. A store on a stream is
 * refused: SQLite reads files. So is text of perf script or bpftrace: no verb reads it. What is
 * merely compressed comes out plain (plain_input.h). A directory is INPUT_PERF_DATA with *src
 * left closed: open it by path. input_open_source knows bundles. The source is the caller's to
 * close.
 */
int input_kind_open(const char *path, struct source *src, enum input_kind *kind, struct err *e);

/* Close what input_kind_open opened. A stream, whose first bytes are there once, is kept and
 * given to whoever opens this path next; `path` is borrowed until then. */
void input_kind_close(const char *path, struct source *src);

#endif
