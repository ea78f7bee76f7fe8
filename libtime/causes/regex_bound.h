/*
 * regex_bound.h - regular expressions that users give are compiled only where they stay small.
 *
 * regcomp(3) writes repetitions out: ((a{1,1000}){1,1000}) takes gigabytes and half a minute
 * before it fails. Back references take time exponential in the text.
 */
#ifndef LIBTIME_CAUSES_REGEX_BOUND_H
#define LIBTIME_CAUSES_REGEX_BOUND_H

#include "base/err.h"

/*
 * 0 where the extended regular expression has at most 1,000 bytes, writes out to at most 10,000
 * characters and has no back reference; else ERR_USAGE with the reason. Says nothing about
 * whether it is well-formed: that is regcomp's to say.
 */
int regex_bounded(const char *re, struct err *e);

#endif
