/*
 * plain_input.h - decompresses recordings and folded text: perf.data.zst, .gz, .xz, .bz2. For
 * bundles see bundle_input.h.
 */
#ifndef CMD_INPUT_PLAIN_INPUT_H
#define CMD_INPUT_PLAIN_INPUT_H

#include "libparse/source.h"

/*
 * If `src`, opened from `path`, is a compressed recording, store or folded text, replace *src
 * by the decompressed file, still named `path`, in the scratch folder, made once for each path.
 * A stream is stored in a file first. Otherwise nothing changes. 0, or as unzip_read; ERR_IO if
 * it cannot be written.
 */
int plain_input_open(struct source *src, const char *path, struct err *e);

/* The file that plain_input_open made from `path`, or NULL. Borrowed. */
const char *plain_input_file(const char *path);

#endif
