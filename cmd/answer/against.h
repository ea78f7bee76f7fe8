/*
 * against.h - `report --against` and `tail --against`: two recordings compared.
 */
#ifndef CMD_ANSWER_AGAINST_H
#define CMD_ANSWER_AGAINST_H

#include "cmd/query/tail_query.h"
#include "cmd/answer/report_tables.h"

/* Compare the table of --by, or wait sites and spans. Returns the exit status. */
int report_against(const struct report_opts *o, const char *before, const char *after);

/* Compare percentiles, and by root the episodes at least as long as the worst ones of `before`.
 * Returns the exit status. */
int tail_against(const struct tail_opts *o, const char *before, const char *after);

#endif
