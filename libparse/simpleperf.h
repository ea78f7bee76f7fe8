/*
 * simpleperf.h - what Android's simpleperf adds to perf.data: sections from bit 128 on.
 *
 * Source: system/extras/simpleperf, record_file_format.h (FILE, META_INFO) and record_file.proto
 * (FILE2). Untrusted, as all of a recording; damage ends a list early.
 */
#ifndef LIBPARSE_SIMPLEPERF_H
#define LIBPARSE_SIMPLEPERF_H

#include "libparse/recording.h"

/* 1 when simpleperf wrote it. */
int recording_by_simpleperf(const struct recording *rec);

/* Name tracepoints, of which the events have only the number, as META_INFO does. 0 or ERR_NOMEM;
 * what is not understood is skipped. */
int simpleperf_name_events(struct recording *rec, const uint8_t *p, uint64_t n);

/* Note the files of FILE, or (is_proto) FILE2, by path; views of p. 0 or ERR_NOMEM. */
int simpleperf_index(struct recording *rec, const uint8_t *p, uint64_t n, int is_proto);

/* A function of a file, as the recording host knew it; a view, not terminated. */
struct carried_symbol {
	uint64_t start,
		size; /* bytes; start is an address in the file, of the kernel in memory */
	const char *name;
	size_t n;
};

/* Where the addresses of a file's symbols lie. */
struct carried_file {
	int is_kernel;
	int has_offset;      /* min_offset is known; older files do not say it */
	uint64_t min_vaddr;  /* of the segment with code … */
	uint64_t min_offset; /* … and its place in the file */
};

/*
 * The symbols that the recording has of the file recorded as `path`: each goes to `take`, until
 * that returns a failure (negative). 1 and *out, 0 when the recording has none, or that failure.
 */
int simpleperf_symbols(const struct recording *rec, const char *path, struct carried_file *out,
		       int (*take)(void *ctx, const struct carried_symbol *s), void *ctx);

#endif
