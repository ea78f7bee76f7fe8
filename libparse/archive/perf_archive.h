/*
 * perf_archive.h - the tar that `perf archive` makes: the part of a build-id cache that a
 * recording needs.
 *
 *	.build-id/48/dc54…  -> ../../[kernel.kallsyms]/48dc54…          in perf's tarball
 *	[kernel.kallsyms]/48dc54…/kallsyms
 *	usr/bin/ls/a1b2c3…/elf, /debug, /probes
 *
 *	.build-id/48/dc54…/kallsyms                                     as it is unpacked here
 *	.build-id/a1/b2c3…/elf
 *
 * Links are not created, because the file's own path has the build-id. Caches of perf before
 * 4.12 have a file named by the id instead of a folder. Compressed in any way that unzip.h
 * reads (perf itself: bzip2). `perf archive --all` (perf 6.8) puts such a tarball and the
 * recording into another one, which bundle.h reads.
 */
#ifndef LIBPARSE_ARCHIVE_PERF_ARCHIVE_H
#define LIBPARSE_ARCHIVE_PERF_ARCHIVE_H

#include "libparse/source.h"
#include "libparse/archive/tar.h"
#include "libparse/archive/tree.h"

struct unzip;

/*
 * Unpack `src` below `dir`, which is created if needed, as a build-id cache. Other entries are
 * skipped. ERR_FORMAT (also: no file of any build-id in it), ERR_TRUNCATED, ERR_LIMIT,
 * ERR_REFUSED, ERR_UNSUPPORTED, ERR_IO, ERR_NOMEM. `outer` is the archive that contains this
 * one (unzip_within), or NULL.
 */
int perf_archive_unpack(struct source *src, const char *dir, struct unzip *outer,
			struct err *e);

/* 1 when a tar that begins with this entry is one of perf archive. */
int perf_archive_begins(const struct tar_entry *f);

#endif
