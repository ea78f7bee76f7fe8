/*
 * report_lines.h - what report says of a recording whose timeline was built, apart from who ran
 * and waited: import keeps it in the store, report prints it, from there too.
 */
#ifndef CMD_REPORT_LINES_H
#define CMD_REPORT_LINES_H

#include "cmd/query/timeline_input.h"
#include "libtime/doctor/store_report.h"

/* Of the recording that `ti` was built of, or kept in the store it was read of (then perhaps
 * none). *out is the caller's to release, after a failure too. ERR_NOMEM, ERR_IO, ERR_FORMAT.
 */
int report_lines_of(struct report_lines *out, struct tlinput *ti, struct err *e);

/* Print what it is; 0 when there is nothing. */
int report_lines_head(const struct report_lines *l);

/* Print how well names were found, and the first `top` files (0: all) without. */
void report_lines_names(const struct report_lines *l, int top);

#endif
