/*
 * bundle_cache.h - what bundles hold, unpacked once and kept for the next command:
 *
 *	$XDG_CACHE_HOME/perfkit (else ~/.cache/perfkit), 0700, the user's own
 *		key			192 random bytes
 *		KEY/tree/…		what the bundle holds
 *		KEY/INDEX		its size, and a line for each file
 *		tmp.XXXXXX		being made, or being removed
 *
 * KEY is a hash of all of the bundle's bytes, keyed by `key`, so that nobody else can make a
 * bundle that is taken for another. INDEX has the name, size and hash of the content of every
 * file. An entry is used only if what is there now, read again whole, gives the same INDEX
 * byte for byte: the same files, no others, no byte changed. Any other entry is unpacked anew.
 * So nothing is believed of a disk that lost content in a crash, either.
 *
 * An entry appears by a rename when it is whole. Who reads one holds a shared lock on its
 * INDEX; who removes one, an exclusive lock. Together they hold at most 2 GB; the longest
 * unused goes first. Where any of this does not work, there is no cache.
 */
#ifndef CMD_INPUT_BUNDLE_CACHE_H
#define CMD_INPUT_BUNDLE_CACHE_H

#include "libparse/source.h"

enum { BUNDLE_CACHE_PATH = 4096 };

/* $XDG_CACHE_HOME/perfkit, or ~/.cache/perfkit, made if it is not there: 1, or 0 where none can
 * be made or others may enter it. */
int bundle_cache_dir(char dir[BUNDLE_CACHE_PATH]);

/*
 * The folder that the bundle `src` is unpacked in: *dir on the heap, and in *lock a descriptor
 * to keep open as long as it is read (-1: none is needed). 1; 0 where it is not cached (a
 * stream, a bundle too small to gain by it, no folder to keep it in): the caller unpacks it; or
 * as bundle_unpack.
 */
int bundle_cache_get(struct source *src, char **dir, int *lock, struct err *e);

#endif
