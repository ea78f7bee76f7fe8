/* svg.h - the picture of `svg --diff`, for a page that has it. */
#ifndef CMD_SVG_H
#define CMD_SVG_H

#include "cmd/query/waits.h"

#include <stdio.h>

/* Write the difference of BEFORE... -- AFTER... to `to`: of CPU samples or of waits, sums as they
 * are if `per_recording`. 0, or the exit status after a line on stderr. */
int svg_of_groups(const struct wait_opts *filters, int offcpu, int per_recording,
		  const char *const *files, size_t nfiles, FILE *to);

#endif
