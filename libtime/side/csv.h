/*
 * csv.h - requests that a program wrote as CSV, one per line, after a line of column names:
 *
 *	start_us,duration_us,tid,key,route,status
 *	7183812494.120,912.5,29451,req-17,/pay,200
 *
 * Columns, in any order and case: two of start (begin), end (stop) and duration, each with its
 * unit as a suffix (_ns _us _ms _s), or none for ISO 8601; name, key (id), pid, tid. Every
 * other column is a label. Cells are as in RFC 4180, separated by commas, semicolons or tabs. A
 * span without a name is called "request".
 */
#ifndef LIBTIME_SIDE_CSV_H
#define LIBTIME_SIDE_CSV_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts with such a line of names. */
int side_is_csv(const char *text, size_t n);

/* Read all of it. ERR_FORMAT, with the reason, if the line of names is unusable; ERR_* of
 * lines.h. Malformed rows are counted in out->bad. */
int side_csv_read(struct side *out, struct side_lines *l, struct err *e);

#endif
