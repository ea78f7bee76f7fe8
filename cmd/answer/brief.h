/*
 * brief.h - `report --brief`: what matters most in a recording, in at most 2 kB of Markdown or
 * JSON.
 */
#ifndef CMD_ANSWER_BRIEF_H
#define CMD_ANSWER_BRIEF_H

#include "cmd/answer/report_tables.h"

/* No answer is longer, in bytes. */
enum { BRIEF_MOST = 2048 };

/* Print whether the recording can answer, its functions and wait sites with most time, the
 * chain of its worst wait, and commands that say more. 0, or the exit status. */
int report_brief(const struct report_opts *o, const char *path);

#endif
