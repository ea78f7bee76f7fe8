/*
 * export_source.h - the rows of an export: samples of every event, waits, both, or the time
 * inside the worst episodes, of recordings, bundles and stores.
 */
#ifndef CMD_EXPORT_EXPORT_SOURCE_H
#define CMD_EXPORT_EXPORT_SOURCE_H

#include "cmd/query/stack_source.h"
#include "render/export/export_rows.h"

struct export_request {
	/* Samples: every event is a column of its own. Wall-clock time: a second column has the
	 * waiting alone. */
	enum stack_question asked;
	int cgroup; /* samples of recordings: keep cgroups apart */
	const struct tail_opts *opt;
};

/*
 * Read `path` and pass its rows, sorted, to `write`; they are valid during the call. 0, or the
 * exit status after one line on stderr, for failures of `write` too.
 */
int export_source_read(const struct export_request *rq, const char *path,
		       int (*write)(void *ctx, const struct export_rows *rows, struct err *e),
		       void *ctx);

#endif
