/*
 * examine.h - reads all records of a recording for its findings, for commands that do not
 * answer another question from it.
 */
#ifndef CMD_QUERY_EXAMINE_H
#define CMD_QUERY_EXAMINE_H

#include "cmd/input/input.h"
#include "libtime/doctor/findings.h"

/* Findings of an opened recording for the topics `asked` (enum finding_topic; 0: those it was
 * made for). The caller releases *f, after a failure too. 0 or a negative code. */
int input_examine(struct input *in, unsigned asked, struct findings *f, struct err *e);

#endif
