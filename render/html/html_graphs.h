/*
 * html_graphs.h - a report's flame graphs that the program computes, not the page: waits with
 * their wakers and chains, the tail against the median, and for each episode shown its chain
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
 * Add the columns to d, and "graphs", which says what they are, to an open JSON object: of the
 * waits of `which` (WAITS_BY_WAKER), and of what `t` shows, at most `episodes` of them. Graphs
 * without stacks are left out. ERR_NOMEM, ERR_LIMIT.
 */
int html_graphs_add(struct html_data *d, const struct tail *t,
		    const struct wait_selection *which, size_t episodes, struct json *j,
		    struct err *e);

#endif
