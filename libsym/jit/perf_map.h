/*
 * perf_map.h - names of JIT code from /tmp/perf-PID.map (tools/perf/Documentation/
 * jit-interface.txt): lines of `START SIZE name with blanks`, both hexadecimal.
 *
 * The file has no times, and JITs reuse addresses, so ranges overlap. Where lines of several
 * names do, which of them a sample was in is not known.
 */
#ifndef LIBSYM_JIT_PERF_MAP_H
#define LIBSYM_JIT_PERF_MAP_H

#include "base/text/strtab.h"
#include "base/text/buf.h"
#include "base/vec.h"
#include "libsym/elf/symtab.h"

struct perfmap {
	char *text; /* contains the names */
	VEC(struct perfmap_line {
		uint64_t start, end;
		uint32_t name; /* offset into text */
	})
	lines;
	VEC(struct perfmap_piece { /* disjoint, ascending */
				   uint64_t start, end;
				   uint32_t line; /* the last; PERFMAP_SEVERAL */
	})
	pieces;
	size_t others; /* whole lines of the text that are none of a map */
};

#define PERFMAP_SEVERAL UINT32_MAX

/* Parse n bytes (< 4 GiB); malformed lines are skipped, `name` is for messages. An empty text
 * gives 0; ERR_LIMIT, ERR_NOMEM. On failure *out is empty. */
int perfmap_parse(const char *text, size_t n, const char *name, struct perfmap *out,
		  struct err *e);

/* The same from an open file of at most 1 GiB, which stays open. ERR_IO, too. */
int perfmap_read(int fd, const char *name, struct perfmap *out, struct err *e);

/* Append the lines of the map, and nothing else that its file had. */
void perfmap_write(const struct perfmap *m, struct buf *out);

/* The code at an absolute address: 1 and *hit (its name lives as long as the map), 0, or 2:
 * functions of several names had it. O(log n). */
int perfmap_find(const struct perfmap *m, uint64_t addr, struct symbol_hit *hit);

/* Free everything; the object is empty and usable again. */
void perfmap_release(struct perfmap *m);

#endif
