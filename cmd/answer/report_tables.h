/* report_tables.h - `report --by WHAT`: its options, and its tables printed. */
#ifndef CMD_ANSWER_REPORT_TABLES_H
#define CMD_ANSWER_REPORT_TABLES_H

#include "cmd/query/waits.h"
#include "libtime/tables/tables.h"

struct report_opts {
	struct wait_opts wait;
	int top; /* < 0: not given */
	int brief, stats, csv, json, in_tail, outermost, offcpu;
	const char *by, *sort, *every, *expected, *against;
	struct opt_list filters, where;
};

extern const struct opt report_table_rows[];

/* Names of the options that only tables use. */
#define REPORT_TABLE_OPTIONS \
	"offcpu state sort filter every expected where in-tail outermost csv json"

/* The kind of table that --by names; NULL after one line on stderr if there is none.
 */
const struct table_kind *report_kind(const struct report_opts *o);

/* How many rows of text to show: 0 is all. */
uint64_t report_top(const struct report_opts *o);

/* Print the table of an open timeline, and warnings. 0, or the exit status. */
int report_table(struct tlinput *ti, const struct report_opts *o,
		 const struct table_kind *kind);

/* The same for cgroups, which need only samples. */
int report_cgroups(struct input *in, const struct report_opts *o);

/* The rows of a table in windows of every_ns, unfiltered. The caller releases them, after a
 * failure too. 0, or the exit status. */
int report_window_rows(struct tlinput *ti, const struct report_opts *o,
		       const struct table_kind *kind, uint64_t every_ns, struct rows *out);

/* The rows of a table for the report without --by, sorted; the caller releases them, after a
 * failure too. 0, or the exit status. */
int report_rows(struct tlinput *ti, const struct report_opts *o, const struct table_kind *kind,
		struct rows *out);

#endif
