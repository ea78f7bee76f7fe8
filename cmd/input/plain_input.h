/*
 * plain_input.h - recordings and folded text that somebody compressed to send them:
 * perf.data.zst, .gz, .xz, .bz2. (Bundles are compressed, too, but not plain: bundle_input.h.)
 */
#ifndef CMD_INPUT_PLAIN_INPUT_H
#define CMD_INPUT_PLAIN_INPUT_H

#include "libparse/source.h"

/*
 * If `src`, opened from `path`, is compressed and there is a recording, a store or folded text
 * in it, let *src be that, still called `path`: a file in the scratch folder, made once for
 * each path. A stream is kept in a file for it. Otherwise nothing is changed. 0, or as
 * unzip_read; ERR_IO when it cannot be written.
 */
int plain_input_open(struct source *src, const char *path, struct err *e);

/* The file that plain_input_open made of `path`; NULL when it made none. Borrowed. */
const char *plain_input_file(const char *path);

#endif
