/*
 * scope.h - which findings touch the threads, CPUs and time that were asked about. What is
 * missing elsewhere in a recording is no warning.
 */
#ifndef CMD_QUERY_SCOPE_H
#define CMD_QUERY_SCOPE_H

#include "cmd/query/timeline_input.h"

/* Take out of `f` the findings about things that no wait or sample passing the filters of `ti`
 * has. Without filters all stay. ERR_NOMEM. */
int scope_findings(const struct tlinput *ti, struct findings *f);

#endif
