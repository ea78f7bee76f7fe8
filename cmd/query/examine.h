/*
 * examine.h - the findings of one recording, all its records read: for commands that ask what
 * it can answer rather than for an answer.
 */
#ifndef CMD_QUERY_EXAMINE_H
#define CMD_QUERY_EXAMINE_H

#include "cmd/input/input.h"
#include "libtime/doctor/findings.h"

/* Findings of an opened recording for the questions `asked` (enum finding_topic; 0: those it
 * was made for). *f is the caller's to release, also after a failure. 0 or a negative code. */
int input_examine(struct input *in, unsigned asked, struct findings *f, struct err *e);

#endif
