/*
 * side_input.h - --with: side files put on the timeline of what is read.
 */
#ifndef CMD_QUERY_SIDE_INPUT_H
#define CMD_QUERY_SIDE_INPUT_H

#include "cmd/query/timeline_input.h"

/* Add every file of --with to ti->tl, and say what became of each. 0, or the exit status after
 * one line on stderr. */
int side_input_add(struct tlinput *ti, const char *verb);

#endif
