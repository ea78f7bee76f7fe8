/* output.h - where pictures, folded stacks and bundles go. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "base/outfile.h"

/* outfile_open of what an option names; NULL is stdout. A recording or a store, which cannot be
 * made again, is not replaced by what is made of it: ERR_REFUSED. */
int output_open(struct outfile *o, const char *path, struct err *e);

/* 1 when both paths lead to one regular file, which must not be replaced by what is made of it.
 */
int output_is_input(const char *output, const char *input);

#endif
