/*
 * nest.h - finds the parent of each span: the one that its file or its probes name, else the
 * innermost one of its thread that contains it.
 */
#ifndef LIBTIME_TABLES_NEST_H
#define LIBTIME_TABLES_NEST_H

#include "libtime/sched/timeline.h"

/* (*parent)[i]: index of timeline.spans, TL_NONE for none; a parent has the lower index. The
 * caller frees it (mem_free), after a failure too. ERR_NOMEM. */
int spans_nest(const struct timeline *tl, uint32_t **parent);

#endif
