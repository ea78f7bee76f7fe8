/*
 * bundle.h - one compressed tar with a recording and the files that name its frames.
 *
 *	MANIFEST                     text, the first entry: what is inside
 *	perf.data                    the recording (a folder for `record --threads`)
 *	perf.data.context            what the host's file descriptors were (fd_context.h)
 *	perf.data.gaps               what a jitter sampler measured (libtime/side/gaps.h)
 *	debug/.build-id/xx/yyyy…/    files by build-id, as perf's cache: elf, debug, vdso, kallsyms
 *	symfs/<path>                 a --symfs folder: files without build-id, perf maps, jitdumps
 *
 * Unpacked it is `--buildid-dir DIR/debug --symfs DIR/symfs DIR/perf.data`; reading needs no
 * more than that. perfkit writes zstd; anything that unzip.h knows is read. What
 * `perf archive --all` makes (the recording, and its perf.symbols.tar.bz2)
 * unpacks into the same folders. MANIFEST begins with the line "perfkit-bundle 1"; nothing in
 * it is needed for reading.
 *
 * A bundle is untrusted: see tar.h for what is refused; unzip.h bounds what comes out,
 * and tree.h creates nothing through a symbolic link.
 */
#ifndef LIBPARSE_ARCHIVE_BUNDLE_H
#define LIBPARSE_ARCHIVE_BUNDLE_H

#include "libparse/source.h"

#define BUNDLE_MANIFEST "MANIFEST"
#define BUNDLE_MAGIC_LINE "perfkit-bundle 1\n"

enum { BUNDLE_MANIFEST_MAX = 1 << 24 };

/* 1 when a file with these first bytes is compressed, as bundles are; nothing else that perfkit
 * reads is. */
int bundle_detect(const uint8_t *head, size_t n);

/* 1 when `dir` is an unpacked bundle: a directory with a complete MANIFEST. */
int bundle_is_dir(const char *dir);

enum bundle_flag {
	BUNDLE_OVERWRITE = 1, /* replace files that exist */
	BUNDLE_DERIVED = 2,   /* the user did not type the folder's name: it may be no link */
};

struct bundle_counts {
	uint64_t files, bytes;
};

/*
 * Unpack all of `src` below `dir`, which is made if it is not there (its parent must be). The
 * MANIFEST is called MANIFEST.partial until everything is unpacked, so that what a kill or an
 * error leaves behind is recognizable. ERR_FORMAT (no bundle, damage), ERR_TRUNCATED (cut off),
 * ERR_LIMIT, ERR_REFUSED (an entry that bundles do not have), ERR_IO (also: a file exists and
 * BUNDLE_OVERWRITE is not given), ERR_UNSUPPORTED (made by a newer version), ERR_NOMEM.
 * `counts` may be NULL.
 */
int bundle_unpack(struct source *src, const char *dir, int flags, struct bundle_counts *counts,
		  struct err *e);

/* --- writing ----------------------------------------------------------------------------- */

struct bundle_writer;

/* Start a bundle at `path` ("-" is stdout), readable by its owner alone; it appears there when
 * committed. `derived`: the user did not type the name (outfile_open_derived). ERR_IO,
 * ERR_NOMEM. */
int bundle_create(struct bundle_writer **out, const char *path, int derived, struct err *e);

/* Add a file of n bytes. Names must be safe and unique; MANIFEST comes first. Same input, same
 * bytes: neither time nor owner is kept. */
int bundle_add(struct bundle_writer *w, const char *name, const void *p, size_t n,
	       struct err *e);

/* Add a copy of an open regular file, which stays open; `path` is for messages. ERR_IO also when
 * it shrinks meanwhile. */
int bundle_add_fd(struct bundle_writer *w, const char *name, int fd, const char *path,
		  struct err *e);

/* Finish and rename into place; *size is the bundle's size (may be NULL). Frees w. */
int bundle_commit(struct bundle_writer *w, uint64_t *size, struct err *e);

/* Abandon it; nothing is left behind. NULL is accepted. */
void bundle_abort(struct bundle_writer *w);

#endif
