/* csv.h - fields of CSV, RFC 4180; the one place that quotes for it. */
#ifndef RENDER_TEXT_CSV_H
#define RENDER_TEXT_CSV_H

#include "base/text/buf.h"

/* A field in quotes where it must be, without anything that a terminal obeys. */
void csv_field(struct buf *b, const char *text, size_t size);

#endif
