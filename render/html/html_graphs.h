/*
 * html_graphs.h - the flame graphs of a report that perfkit computes, not the page: waits with
 * their wakers and chains, the tail against the median, and for each shown episode its chain
 * and its comparison with the median.
 *
 *	node.frame, .ups, .v0, .v1   all nodes, graph by graph, as flame_data.h has them; frames
 *	                             are those of html_data.h
 */
#ifndef RENDER_HTML_HTML_GRAPHS_H
#define RENDER_HTML_HTML_GRAPHS_H

#include "libtime/explain/stack_rows.h"
#include "render/html/html_data.h"

/*
 * Add the columns to d, and their description "graphs" to an open JSON object: for the waits
 * `which` (WAITS_BY_WAKER), and for at most `episodes` episodes that `t` shows. Graphs without
 * stacks are left out. ERR_NOMEM, ERR_LIMIT.
 */
int html_graphs_add(struct html_data *d, const struct tail *t,
		    const struct wait_selection *which, size_t episodes, struct json *j,
		    struct err *e);

#endif
