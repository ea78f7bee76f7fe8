/*
 * longname.h - bounds the length of untrusted names where they are repeated.
 *
 * A perf map names a function in 400 KB once, and a picture of 150,000 boxes would repeat it in
 * each. A name longer than LONG_NAME bytes is cut in the middle, since the function's own name is
 * at its end; the number of bytes cut out and their hash replace them, so that different names
 * stay different.
 */
#ifndef BASE_TEXT_LONGNAME_H
#define BASE_TEXT_LONGNAME_H

#include <stddef.h>

enum { LONG_NAME = 4096 };

/* `s` itself if *n is at most LONG_NAME; else the cut name, written to `out` without NUL, with
 * its length in *n. A UTF-8 character is kept or dropped whole. */
const char *long_name(const char *s, size_t *n, char out[LONG_NAME]);

#endif
