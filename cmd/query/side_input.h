/*
 * side_input.h - --with: puts side files on the timeline of the input.
 */
#ifndef CMD_QUERY_SIDE_INPUT_H
#define CMD_QUERY_SIDE_INPUT_H

#include "cmd/query/timeline_input.h"

/* Add every file of --with to ti->tl, and report the result of each. 0, or the exit status
 * after one line on stderr. */
int side_input_add(struct tlinput *ti, const char *verb);

#endif
