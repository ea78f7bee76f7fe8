/* output.h - where pictures and folded stacks go. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include "base/outfile.h"

/* outfile_open of what an option names; NULL is stdout. A recording or a store, which cannot be
 * made again, is not replaced by what is made of it: ERR_REFUSED. */
int output_open(struct outfile *o, const char *path, struct err *e);

#endif
