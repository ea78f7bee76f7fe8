/*
 * bundle_input.h - a bundle as the input of a verb: unpacked into the cache or the scratch
 * folder, or an unpacked one read where it is. And the tarball of `perf archive`, which is
 * half of one.
 */
#ifndef CMD_INPUT_BUNDLE_INPUT_H
#define CMD_INPUT_BUNDLE_INPUT_H

#include "libparse/source.h"

/* Where the parts of an open bundle lie; zeroes if the input is not a bundle. */
struct bundle_input {
	char *recording, *symfs, *buildid_dir;
	int cached; /* it is in use: a descriptor + 1; 0: it is not in the cache */
};

/*
 * If `src` (or, when that is closed, the folder `path`) is a bundle: fill in `out` and let
 * *src be the recording inside, still called `path`; it stays closed when that is a folder.
 * With `cache` it may come from the cache of bundles (bundle_cache.h), or be put there.
 * Otherwise nothing is changed. 0, or as bundle_unpack. Released by the caller either way.
 */
int bundle_input_open(struct bundle_input *out, const char *path, struct source *src, int cache,
		      struct err *e);

/*
 * Unpack the tarball of `perf archive` at `path` into the scratch folder and let it be
 * out->buildid_dir. 0, or as perfarchive_unpack.
 */
int bundle_input_archive(struct bundle_input *out, const char *path, struct err *e);

/* Give back the names; the scratch folder stays until the process ends. */
void bundle_input_release(struct bundle_input *b);

#endif
