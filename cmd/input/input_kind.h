/*
 * input_kind.h - recognizes the kind of a file by its first bytes, never by its name.
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

/* What is made of a file is for those alone who may read the file: set umask(2) so, for a regular
 * file or a folder; "-" is stdin. */
void input_keep_private(const char *path);

/*
 * Open `path` ("-" is stdin) and find its kind without consuming its bytes. Refuses a store
 * from a stream, since SQLite needs a file, and text of perf script or bpftrace, which no verb
 * reads. Does input_keep_private. Compressed files are decompressed (plain_input.h). A
 * directory is INPUT_PERF_DATA, and
 * *src remains closed: open it by path. input_open_source handles bundles. The caller closes
 * *src.
 */
int input_kind_open(const char *path, struct source *src, enum input_kind *kind, struct err *e);

/* Close a source of input_kind_open. A stream, whose first bytes cannot be read again, is kept
 * for the next opening of this path; `path` is borrowed until then. */
void input_kind_close(const char *path, struct source *src);

#endif
