/*
 * tail_spans.h - which spans, or what else, the episodes of `tail` are: --by, --key, --where,
 * --group label:KEY, once the names that the recording has are known.
 */
#ifndef CMD_QUERY_TAIL_SPANS_H
#define CMD_QUERY_TAIL_SPANS_H

#include "cmd/query/tail_query.h"

/* Say in one line why, and which spans there are; 2. */
int tail_list_names(const struct tail_run *r, const char *why, const uint32_t *names, size_t n);

/*
 * Turn the options into r->query: --by, or the default, which is the recording's own spans if
 * they have one name, else waits. names[0..*n) are those there are (at most TAIL_NAMES).
 * *several: percentiles of each name are all that is asked. 0, or 2 after one line on stderr.
 */
int tail_choose(struct tail_run *r, uint32_t *names, size_t *n, int *several);

/* Spans of a name of which not one is a single thread's work are windows, unless --by says what
 * they are. */
void tail_settle_kind(struct tail_run *r);

#endif
