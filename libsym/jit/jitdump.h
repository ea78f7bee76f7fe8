/*
 * jitdump.h - JIT code with its times, lines and unwind tables, from jit-PID.dump, as the
 * program wrote it (tools/perf/Documentation/jitdump-specification.txt; no `perf inject`).
 *
 *	DEBUG_INFO ─┐
 *	UNWINDING ──┼─► CODE_LOAD (addr, size, name, time) ─► CODE_MOVE (new addr, time)
 *	            (both describe the next load)
 *
 * An address is looked up at a time: of the code that covered it, the latest loaded before that
 * time. Times are those of the file: CLOCK_MONOTONIC ns, so that the recording must have been
 * made with -k mono, unless `arch_timestamp` says they are cycles. Both byte orders. What
 * precedes a truncated end is used.
 */
#ifndef LIBSYM_JIT_JITDUMP_H
#define LIBSYM_JIT_JITDUMP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* One piece of code at one place. All pointers live as long as the jitdump. */
struct jit_code {
	uint64_t start, size;
	uint64_t loaded; /* from this time on ... */
	uint64_t until;  /* ... up to this one, when it moved away; UINT64_MAX = to the end */
	uint64_t origin; /* where it was loaded; after a move not equal to start */
	uint64_t index;  /* the writer's number for it */
	uint32_t pid, tid;
	const char *name;    /* raw: demangle() knows the JVM agents' form */
	const uint8_t *code; /* `size` bytes, or NULL when the record has none */
	const uint8_t *eh_frame, *eh_frame_hdr; /* or NULL */
	size_t eh_frame_size, eh_frame_hdr_size;
	/* Relative pointers in them assume .eh_frame at start + size rounded up to 8.
	 */
	const uint8_t *lines; /* raw line entries, see jitdump_line */
	size_t lines_size;
	uint64_t nlines;
};

struct jitdump;

/* Read an open regular file, which stays open, or borrow memory for the object's life (`name`
 * is for messages). ERR_FORMAT when it is not a jitdump, ERR_UNSUPPORTED for other versions,
 * ERR_IO, ERR_NOMEM. */
int jitdump_open_fd(int fd, const char *name, struct jitdump **out, struct err *e);
int jitdump_open_mem(const void *data, size_t size, const char *name, struct jitdump **out,
		     struct err *e);

/* Header and records as they were read: what follows them in the file is no part of it. */
const uint8_t *jitdump_bytes(const struct jitdump *j, size_t *n);

/* NULL is accepted. */
void jitdump_close(struct jitdump *j);

struct jitdump_info {
	uint32_t pid, elf_machine;
	int arch_timestamp; /* times are cycles, not ns */
	int truncated;      /* the file ends inside a record */
	size_t codes;       /* loads and moves */
	size_t bad;         /* records skipped because their content is damaged */
};

/* Facts about the whole file. */
struct jitdump_info jitdump_info(const struct jitdump *j);

/* The code that covered addr at `time` (UINT64_MAX: at the end); 1 and *code, or 0. */
int jitdump_find(const struct jitdump *j, uint64_t addr, uint64_t time,
		 const struct jit_code **code);

/* All loads and moves, *n of them; they live as long as the jitdump. */
const struct jit_code *jitdump_codes(const struct jitdump *j, size_t *n);

/* The times at which code at some address was replaced, ascending, *n of them. They live as
 * long as the jitdump. */
const uint64_t *jitdump_changes(const struct jitdump *j, size_t *n);

/* The source line of an address inside `code`: 1, *file (lives as long as the jitdump) and
 * *line, or 0. */
int jitdump_line(const struct jitdump *j, const struct jit_code *code, uint64_t addr,
		 const char **file, uint32_t *line);

#endif
