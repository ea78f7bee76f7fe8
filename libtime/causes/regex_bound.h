/*
 * regex_bound.h - checks that a user's regular expression is small enough to compile.
 *
 * regcomp(3) expands repetitions: ((a{1,1000}){1,1000}) takes gigabytes and half a minute
 * before it fails. Back references take time exponential in the text.
 */
#ifndef LIBTIME_CAUSES_REGEX_BOUND_H
#define LIBTIME_CAUSES_REGEX_BOUND_H

#include "base/err.h"

/*
 * 0 if the extended regular expression has at most 1,000 bytes, expands to at most 10,000
 * characters and has no back reference; else ERR_USAGE with the reason. Whether it is
 * well-formed is left to regcomp.
 */
int regex_bounded(const char *re, struct err *e);

#endif
