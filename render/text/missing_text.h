/*
 * missing_text.h - the list of missing.h in print, the same for `report` and `pack`.
 */
#ifndef RENDER_TEXT_MISSING_TEXT_H
#define RENDER_TEXT_MISSING_TEXT_H

#include "libtime/doctor/missing.h"

#include <stdio.h>

/* What is printed around the list. */
#define MISSING_TITLE "unnamed frames (share of samples affected):\n"
#define MISSING_MORE "  %zu more (show all with --top 0)\n"

/* Append the lines about one of them. Commands are not broken: they are to be pasted. */
void missing_text(struct buf *out, const struct profile *p, const struct missing *m,
		  const struct missing_dso *d);

/* How to get all of them from a server at once; nothing where DEBUGINFOD_URLS is set. Worth
 * printing where missing_by_debuginfod. */
void missing_print_hint(FILE *f);

/* Print the first `top` of the list (0: all), some lines for each, nothing when it is empty. */
void missing_print(FILE *f, const struct profile *p, const struct missing *m, int top);

#endif
