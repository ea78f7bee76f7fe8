/*
 * tar.h - tar archives as streams: a bundle without its compression.
 *
 * Written: POSIX ustar, with a pax header if a name or size does not fit. Read: that, GNU long
 * names and base-256 sizes, as `tar` on any Linux writes them. Only regular files and
 * directories exist here: links, devices and everything else are refused, and so are names that
 * are absolute, climb with "..", or come twice (but see `lenient`). Entries returned by
 * tar_next can be created below a directory without leaving it.
 *
 * Formats: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
 */
#ifndef LIBPARSE_ARCHIVE_TAR_H
#define LIBPARSE_ARCHIVE_TAR_H

#include "base/text/buf.h"
#include "base/err.h"
#include "base/text/strtab.h"

#include <stdint.h>

enum {
	TAR_BLOCK = 512,
	TAR_NAME_MAX = 4000,       /* bytes of a whole name */
	TAR_DEPTH_MAX = 64,        /* components of a name */
	TAR_ENTRIES_MAX = 1 << 16, /* entries of one archive */
};

/* 1 when `name` may be created below a directory: relative, no empty, "." or ".." component,
 * none over 255 bytes, not longer or deeper than TAR_NAME_MAX and TAR_DEPTH_MAX. */
int tar_name_is_safe(const char *name);

/* One entry; the name is without a trailing slash and lives until the next tar_next. */
struct tar_entry {
	const char *name;
	uint64_t size; /* of a file's content; 0 for a directory or link */
	int is_dir;
	int is_link; /* only if the reader is lenient */
};

/*
 * A reader over a stream of bytes. Set `read`, `ctx` and `name`, the rest zero. `read` fills
 * all n bytes: 1, 0 at the end of the stream before the first byte, ERR_TRUNCATED inside,
 * ERR_*. `lenient` is for other programs' archives: links are entries (without their targets),
 * and a name may come twice.
 */
struct tar_reader {
	int (*read)(void *ctx, void *to, size_t n, struct err *e);
	void *ctx;
	const char *name; /* for messages */
	int lenient;
	uint64_t left;    /* content of the current entry not yet read */
	uint64_t padding; /* … and the zeroes after it */
	struct buf path, link_name;
	uint64_t pax_size;
	int has_path, has_size;
	struct strtab seen;
	size_t entries;
};

/* The next entry; the rest of the current one is skipped. 1, 0 at the archive's end,
 * ERR_FORMAT, ERR_TRUNCATED, ERR_LIMIT, ERR_REFUSED (an unsafe name, a link, a device, a
 * duplicate), ERR_NOMEM, or what `read` returned. */
int tar_next(struct tar_reader *t, struct tar_entry *out, struct err *e);

/* Up to n bytes of the current entry's content: how many, 0 at its end, < 0. */
int64_t tar_read(struct tar_reader *t, void *to, size_t n, struct err *e);

/* Free the reader's memory; the source stays open. */
void tar_reader_release(struct tar_reader *t);

/*
 * Append to `out` the archive's header of a file of `size` bytes (or of a directory): owner 0,
 * time 0, mode 0644 or 0755. The content follows, padded with zeroes to a multiple of
 * TAR_BLOCK; two blocks of zeroes end an archive. ERR_USAGE for an unsafe name, ERR_NOMEM.
 */
int tar_header(struct buf *out, const char *name, uint64_t size, int is_dir, struct err *e);

#endif
