/*
 * perf_package.h - what installs perf on a distribution.
 */
#ifndef LIBTIME_RECORD_PERF_PACKAGE_H
#define LIBTIME_RECORD_PERF_PACKAGE_H

#include "base/text/buf.h"

/* Append the command, "apt install linux-perf", for a distribution by the text of its
 * os-release(5), and the running kernel's release, which Ubuntu's package is named after. An
 * unknown one: "the package is called perf, linux-perf or linux-tools". */
void perf_package(struct buf *out, const char *os_release, const char *kernel);

#endif
