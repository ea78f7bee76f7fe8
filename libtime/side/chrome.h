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
 * are labels; a span's key is its id. Other kinds of events are passed over.
 */
#ifndef LIBTIME_SIDE_CHROME_H
#define LIBTIME_SIDE_CHROME_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 when the text begins as JSON does; that there are events in it, reading tells. */
int side_chrome_told(const char *text, size_t n);

/* Read all of it. A list that was cut off is used as far as it goes. ERR_FORMAT where there is
 * none; ERR_* of lines.h, ERR_NOMEM, ERR_LIMIT. */
int side_chrome_read(struct side *out, struct side_lines *l, struct err *e);

#endif
