/*
 * fetch_line.h - progress of downloads from debuginfod servers: on a terminal a line that is
 * redrawn, elsewhere one line for each file.
 */
#ifndef CMD_INPUT_FETCH_LINE_H
#define CMD_INPUT_FETCH_LINE_H

#include "libsym/elf/dso_find.h"

/* dso_options.fetching on a terminal: "fetching debuginfo of X from HOST 3.1 of 12.0 MB". */
void fetchline_draw(void *unused, const struct dso_fetch *f);

/* dso_options.fetching elsewhere: "perfkit: fetched debuginfo of X from HOST, 12.0 MB". */
void fetchline_log(void *unused, const struct dso_fetch *f);

#endif
