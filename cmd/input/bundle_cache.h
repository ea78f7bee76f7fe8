/*
 * bundle_cache.h - keeps unpacked bundles for the next command:
 *
 *	$XDG_CACHE_HOME/perfkit (else ~/.cache/perfkit), 0700, the user's own
 *		key			192 random bytes
 *		KEY/tree/…		the contents of the bundle
 *		KEY/INDEX		its size, and a line for each file
 *		tmp.XXXXXX		an entry that is being made or removed
 *
 * KEY is a hash of all of the bundle's bytes, keyed by `key`, so that no one else can make a
 * bundle with the KEY of another. INDEX has the name, size and hash of every file. An entry is
 * used only if the files, read again, give the same INDEX byte for byte: the same files, no
 * others, no byte changed. Otherwise the bundle is unpacked again. So a disk that lost content
 * in a crash does no harm.
 *
 * A complete entry appears by a rename. Readers hold a shared lock on its INDEX; removing needs
 * an exclusive one. All entries have at most 2 GB; the least recently used one is removed
 * first. If any of this fails, there is no cache.
 */
#ifndef CMD_INPUT_BUNDLE_CACHE_H
#define CMD_INPUT_BUNDLE_CACHE_H

#include "libparse/source.h"

enum { BUNDLE_CACHE_PATH = 4096 };

/* $XDG_CACHE_HOME/perfkit, or ~/.cache/perfkit, created if missing: 1, or 0 if that fails or
 * others have access to it. */
int bundle_cache_dir(char dir[BUNDLE_CACHE_PATH]);

/* An unpacked bundle. */
struct bundle_cached {
	char *tree;     /* its folder, on the heap */
	int lock;       /* a descriptor to keep open while it is read; -1: none */
	uint64_t grown; /* bytes of all entries, if it is a new one; else 0 */
};

/*
 * The folder with the contents of the bundle `src`: 1. 0 if it is not cached (a stream, a small
 * bundle, no folder for the cache), so that the caller unpacks it; or as bundle_unpack.
 */
int bundle_cache_get(struct source *src, struct bundle_cached *out, struct err *e);

#endif
