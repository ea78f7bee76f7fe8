/*
 * against.h - `report --against` and `tail --against`: two recordings beside each other.
 */
#ifndef CMD_ANSWER_AGAINST_H
#define CMD_ANSWER_AGAINST_H

#include "cmd/query/tail_query.h"
#include "cmd/answer/report_tables.h"

/* The tables of --by, or of wait sites and spans, of both recordings. The exit status. */
int report_against(const struct report_opts *o, const char *before, const char *after);

/* Percentiles of the episodes of both, and by root those that reach the length that picks the
 * worst of `before`. The exit status. */
int tail_against(const struct tail_opts *o, const char *before, const char *after);

#endif
