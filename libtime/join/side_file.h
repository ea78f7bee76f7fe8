/*
 * side_file.h - `--with FILE[,clock=C][,offset=NS][,cpu=N][,maps=FILE]`: recognizes the kind of
 * a side file by its content, reads it and puts it on a timeline.
 */
#ifndef LIBTIME_JOIN_SIDE_FILE_H
#define LIBTIME_JOIN_SIDE_FILE_H

#include "base/text/buf.h"
#include "libparse/source.h"
#include "libtime/join/attach.h"
#include "libsym/profile.h"
#include "libtime/join/bind.h"
#include "libtime/join/place_gaps.h"

/* What was given. */
struct side_option {
	struct buf path;
	enum side_clock clock; /* UNKNOWN: not given */
	int has_offset;
	int cpu;           /* of gaps without one; -1: not given */
	struct buf maps;   /* for LDB's events; empty: maps.data beside them, if it exists */
	int64_t offset_ns; /* added to the file's times; implies the recording's clock if no
			    * other is given */
};

/* Parse the option; words after the last commas that do not look like ours are part of the
 * file's name. ERR_USAGE, ERR_NOMEM. The caller always releases *out. */
int side_option_parse(const char *text, struct side_option *out, struct err *e);
void side_option_release(struct side_option *o);

/* What side_file_add did. */
struct side_report {
	struct side_clock_map map;
	struct side_counts counts;
	struct side_bound bound;
	struct side_placed placed;
	uint64_t unbound; /* labels that found no trampoline */
	uint64_t dropped; /* gaps that the sampler could not keep */
	uint64_t rows;    /* including malformed ones */
	struct side_bad bad;
};

/*
 * Read the file and add its spans to the timeline, which is one finished recording. `p` is the
 * recording's profile, for addresses in the file (code_at.h); NULL for a store. ERR_IO,
 * ERR_FORMAT (of unknown kind, empty, or without a valid row: the text names file and line),
 * ERR_REFUSED (its clock): the timeline is unchanged. ERR_LIMIT, ERR_NOMEM: release the
 * timeline.
 */
int side_file_add(struct timeline *tl, struct profile *p, const struct side_option *o,
		  struct side_report *out, struct err *e);

/* Read a side file into *out, whose `strings` is set; the caller releases it, after a failure
 * too. For side_file_add and tests. */
int side_file_read(struct side *out, struct source *src, struct err *e);

#endif
