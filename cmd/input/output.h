/* output.h - opens and checks output files; the width of the terminal. */
#ifndef CMD_INPUT_OUTPUT_H
#define CMD_INPUT_OUTPUT_H

#include "base/outfile.h"

/* outfile_open for an option's value; NULL is stdout. ERR_REFUSED if it would replace a
 * recording or store, which cannot be made again, or exceed the budget (budget.h). */
int output_open(struct outfile *o, const char *path, struct err *e);

/* Characters in a line of stdout: COLUMNS if set, else the terminal's width, else 80; 80 to
 * 200; TABLE_DATA if the answer is printed in another form (form.h). */
size_t output_width(void);

/* 0 if a file can probably be made at `path` (NULL or "-" is stdout), before the work is done;
 * else ERR_IO. */
int output_check(const char *path, struct err *e);

/* Say on stderr that a picture or page was written, unless it is on stdout (NULL, "-") or
 * `quiet`. */
void output_say_written(const char *path, int quiet);

/* 1 if both paths are the same regular file, so that the output would replace the input.
 */
int output_is_input(const char *output, const char *input);

#endif
