/*
 * missing_text.h - prints the list of missing.h, the same for `report` and `pack`.
 */
#ifndef RENDER_TEXT_MISSING_TEXT_H
#define RENDER_TEXT_MISSING_TEXT_H

#include "libtime/doctor/missing.h"

#include <stdio.h>

/* Print the first `top` files of `host` (0: all), some lines for each, and how to get all of
 * them from a server at once; nothing when there are none. `s` has their texts; `of` says what
 * the shares are of ("samples"). */
void missing_print(FILE *f, const struct strtab *s, const char *host,
		   const struct unnamed_files *m, const char *of, int top);

#endif
