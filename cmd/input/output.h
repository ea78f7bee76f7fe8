/* output.h - where pictures, folded stacks and bundles go, and how wide the terminal is. */
#ifndef CMD_INPUT_OUTPUT_H
#define CMD_INPUT_OUTPUT_H

#include "base/outfile.h"

/* outfile_open of what an option names; NULL is stdout. A recording or a store, which cannot be
 * made again, is not replaced by what is made of it: ERR_REFUSED, as for
 * more bytes than the budget (budget.h) allows. */
int output_open(struct outfile *o, const char *path, struct err *e);

/* Characters in a line of stdout: COLUMNS where it is set, the terminal's width, else 80;
 * between 80 and 200. */
size_t output_width(void);

/* 0 when a file can be made at `path` (NULL or "-" is stdout), as far as that can be seen
 * before the work is done; else ERR_IO. */
int output_check(const char *path, struct err *e);

/* 1 when both paths lead to one regular file, which must not be replaced by what is made of it.
 */
int output_is_input(const char *output, const char *input);

#endif
