/*
 * side_file.h - `--with FILE[,clock=C][,offset=NS][,cpu=N]`: a side file of any kind,
 * recognised by its content, read and put on a timeline.
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
	int cpu;           /* of gaps that name none; -1: not given */
	int64_t offset_ns; /* added to the file's times; without a clock they are then on the
			    * recording's */
};

/* Take the text apart; the words behind the last commas are ours if they look so. ERR_USAGE,
 * ERR_NOMEM. *out is the caller's to release, always. */
int side_option_parse(const char *text, struct side_option *out, struct err *e);
void side_option_release(struct side_option *o);

/* What became of a file. */
struct side_report {
	struct side_clock_map map;
	struct side_counts counts;
	struct side_bound bound;
	struct side_placed placed;
	uint64_t unbound; /* labels that found no trampoline */
	uint64_t dropped; /* gaps that the sampler could not keep */
	uint64_t rows;    /* broken ones too */
	struct side_bad bad;
};

/*
 * Read the file and add its spans to the timeline, one finished recording. ERR_IO, ERR_FORMAT
 * (no kind that is known, nothing in it, or no row that is whole: the text names file and
 * line), ERR_REFUSED (its clock), ERR_LIMIT, ERR_NOMEM; the timeline is as it was, but after
 * the last two, where it is to be released. `p`: the recording's, to name calls by; NULL of a
 * store.
 */
int side_file_add(struct timeline *tl, struct profile *p, const struct side_option *o,
		  struct side_report *out, struct err *e);

/* Read a side file into *out, whose strings are set; on failure, too, it is the caller's to
 * release. For side_file_add and tests. */
int side_file_read(struct side *out, struct source *src, struct err *e);

#endif
