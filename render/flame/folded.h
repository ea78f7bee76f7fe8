/*
 * folded.h - reads folded stacks as written by stackcollapse-*, bcc, py-spy and others.
 *
 *	root;caller;leaf 31           one weight
 *	root;caller;leaf 31 47        two: before and after (difffolded)
 *
 * The last whitespace-delimited token of a line is its count; decimals are kept to six places.
 * Lines end in \n or \r\n. Frames after a "--" are the waker's (bcc offwaketime). Lines without
 * a count are skipped and counted, as are empty lines (not counted). Any byte may be in a name.
 */
#ifndef RENDER_FLAME_FOLDED_H
#define RENDER_FLAME_FOLDED_H

#include "render/flame/flame.h"

struct folded_options {
	int columns;      /* counts per line: 1, 2, or 0 = two if every counted line among the
			     first megabyte has two */
	const void *head; /* bytes already read from the descriptor (to detect its content) */
	size_t head_n;
	int before; /* with one column: the weights go to v[1], not v[0] */
};

struct folded_stats {
	uint64_t lines;   /* with a count */
	uint64_t skipped; /* without one */
	uint64_t bytes;
	int columns;            /* as read: 1 or 2 */
	char first_skipped[80]; /* the beginning of the first skipped line, raw bytes */
};

/*
 * Add every stack of the file to `f`. `name` is for messages. Reads to the end of `fd` in
 * large blocks; memory grows with unique stacks only. May be called again for another file.
 * 0, ERR_IO, ERR_NOMEM, ERR_LIMIT (a line above 64 MiB, sums above 2^63).
 */
int folded_read_fd(struct flame *f, int fd, const char *name, const struct folded_options *o,
		   struct folded_stats *st, struct err *e);

/* The same for a path; "-" is stdin. */
int folded_read(struct flame *f, const char *path, const struct folded_options *o,
		struct folded_stats *st, struct err *e);

/* 1 when the first bytes of a file look like folded text: a line with a count, no NUL. */
int folded_sniff(const char *p, size_t n);

#endif
