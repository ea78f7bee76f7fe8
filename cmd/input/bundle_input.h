/*
 * bundle_input.h - a bundle as input: unpacked into the cache or the scratch folder, or, if it
 * is unpacked already, read in place. Also the tarball of `perf archive`, which has its
 * binaries.
 */
#ifndef CMD_INPUT_BUNDLE_INPUT_H
#define CMD_INPUT_BUNDLE_INPUT_H

#include "libparse/source.h"

/* Paths of the parts of an open bundle; zeros if the input is not a bundle. */
struct bundle_input {
	char *dir, *recording, *symfs, *buildid_dir;
	int cached;           /* descriptor of the cache's lock + 1; 0: not in the cache */
	uint64_t cache_grown; /* bytes in the cache, if it was added to it; else 0 */
};

/*
 * If `src` (or, if that is closed, the folder `path`) is a bundle, fill in `out`, and make *src
 * the recording in it, still named `path`; it remains closed if that is a folder. Otherwise
 * nothing changes. `cache` permits the use of bundle_cache.h. 0, or as bundle_unpack. The
 * caller releases *out in any case.
 */
int bundle_input_open(struct bundle_input *out, const char *path, struct source *src, int cache,
		      struct err *e);

/*
 * Unpack the tarball of `perf archive` at `path` into the scratch folder, as out->buildid_dir.
 * 0, or as perf_archive_unpack.
 */
int bundle_input_archive(struct bundle_input *out, const char *path, struct err *e);

/* Release the names; the scratch folder remains until the process ends. */
void bundle_input_release(struct bundle_input *b);

#endif
