/*
 * tail_spans.h - what the episodes of `tail` are: --by, --key, --where, --group label:KEY, once
 * the names of the recording's spans are known.
 */
#ifndef CMD_QUERY_TAIL_SPANS_H
#define CMD_QUERY_TAIL_SPANS_H

#include "cmd/query/tail_query.h"

/* Print why, and which spans there are, in one line; returns 2. */
int tail_list_names(const struct tail_run *r, const char *why, const uint32_t *names, size_t n);

/*
 * Turn the options into r->query. The default of --by is the recording's spans if they have one
 * name, else waits. names[0..*n) are the names of spans (at most TAIL_NAMES). *several: only
 * percentiles of each name are shown. 0, or 2 after one line on stderr.
 */
int tail_choose(struct tail_run *r, uint32_t *names, size_t *n, int *several);

/* Without --by, spans of a name are windows if none of them is a single thread's work. */
void tail_settle_kind(struct tail_run *r);

#endif
