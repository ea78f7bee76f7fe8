/*
 * simpleperf.h - what Android's simpleperf adds to perf.data: sections from bit 128 on.
 *
 * Source: system/extras/simpleperf, record_file_format.h (FILE, META_INFO) and record_file.proto
 * (FILE2). All of it is in the recording's byte order and untrusted; damage ends a list early.
 */
#ifndef LIBPARSE_SIMPLEPERF_H
#define LIBPARSE_SIMPLEPERF_H

#include "libparse/recording.h"

/* 1 when simpleperf wrote it. */
int recording_by_simpleperf(const struct recording *rec);

/* The events that are known by a number only get the names that META_INFO has for their type and
 * config. ERR_NOMEM. */
int simpleperf_name_events(struct recording *rec, const uint8_t *p, uint64_t n);

/* A function of a file, as the recording host knew it; a view, not terminated. */
struct carried_symbol {
	uint64_t start, size; /* start as elf_file_vaddr would give it; kernel: absolute */
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
 * The symbols that the recording has of the file recorded as `path`: each goes to `take`, whose
 * result ends the list unless it is 0. 1 and *out, or 0 when the recording has none, or what
 * take returned.
 */
int simpleperf_symbols(const struct recording *rec, const char *path, struct carried_file *out,
		       int (*take)(void *ctx, const struct carried_symbol *s), void *ctx);

#endif
