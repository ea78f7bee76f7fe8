/*
 * chrome.h - traces in the format that Chrome made, and that viztracer, uftrace, Perfetto's
 * tools and many others write ("Trace Event Format"): a list of events, or an object that has
 * it as "traceEvents".
 *
 *	{"ph":"X","name":"f","cat":"c","ts":1.5,"dur":2,"pid":1,"tid":2,"args":{"k":"v"}}
 *	{"ph":"B",...} ... {"ph":"E",...}                of one thread, one in another
 *	{"ph":"b","id":"0x1",...} ... {"ph":"e",...}     of one id: of no thread alone
 *
 * Times are microseconds with decimals, on a clock that the file does not name. Plain arguments
 * are labels; a span's key is its id. Without "tid", "pid" is the thread (uftrace). Other kinds
 * of events are skipped.
 */
#ifndef LIBTIME_SIDE_CHROME_H
#define LIBTIME_SIDE_CHROME_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts like JSON; only reading shows whether it has events. */
int side_is_chrome(const char *text, size_t n);

/* Read all of it. A truncated list is used as far as it goes. ERR_FORMAT if there is no list;
 * ERR_* of lines.h, ERR_NOMEM, ERR_LIMIT. */
int side_chrome_read(struct side *out, struct side_lines *l, struct err *e);

#endif
