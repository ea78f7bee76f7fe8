/*
 * csv.h - requests that a program wrote as CSV, a line each below a line of names:
 *
 *	start_us,duration_us,tid,key,route,status
 *	7183812494.120,912.5,29451,req-17,/pay,200
 *
 * Columns, in any order, capitals or not: start (begin), end (stop) and duration, two of the
 * three, with the unit behind the name (_ns _us _ms _s), or without for ISO 8601; name, key
 * (id), pid, tid. Every other column is a label. Cells as in RFC 4180, between commas,
 * semicolons or tabs. A span without a name is called "request".
 */
#ifndef LIBTIME_SIDE_CSV_H
#define LIBTIME_SIDE_CSV_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 when the text begins with such a line of names. */
int side_csv_told(const char *text, size_t n);

/* Read all of it. ERR_FORMAT where the line of names will not do, with the reason; ERR_* of
 * lines.h. Rows that break are in out->bad. */
int side_csv_read(struct side *out, struct side_lines *l, struct err *e);

#endif
