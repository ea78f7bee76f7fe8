/*
 * perf_archive.h - what `perf archive` makes: a tar of the part of a build-id cache that a
 * recording needs.
 *
 *	.build-id/48/dc54…  -> ../../[kernel.kallsyms]/48dc54…          in perf's tarball
 *	[kernel.kallsyms]/48dc54…/kallsyms
 *	usr/bin/ls/a1b2c3…/elf, /debug, /probes
 *
 *	.build-id/48/dc54…/kallsyms                                     as it is unpacked here
 *	.build-id/a1/b2c3…/elf
 *
 * The links are not made: the build-id is in the file's own name. Caches of perf before 4.12
 * have a file in the place of the folder that is called like the id. Compressed in any way that
 * unzip.h reads (perf itself: bzip2). `perf archive --all` (perf 6.8) puts such a tarball and
 * the recording into another one: bundle.h reads that.
 */
#ifndef LIBPARSE_ARCHIVE_PERF_ARCHIVE_H
#define LIBPARSE_ARCHIVE_PERF_ARCHIVE_H

#include "libparse/source.h"
#include "libparse/archive/tar.h"
#include "libparse/archive/tree.h"

struct unzip;

/*
 * Unpack what `src` holds below `dir`, which is made if it is not there, as a build-id cache.
 * Entries that are no part of one are passed over. ERR_FORMAT (also: no file of any build-id in
 * it), ERR_TRUNCATED, ERR_LIMIT, ERR_REFUSED, ERR_UNSUPPORTED, ERR_IO, ERR_NOMEM.
 * `outer` is what the archive itself came out of (unzip_within), or NULL.
 */
int perfarchive_unpack(struct source *src, const char *dir, struct unzip *outer, struct err *e);

/* 1 when a tar that begins with this entry is one of perf archive. */
int perfarchive_begins(const struct tar_entry *f);

#endif
