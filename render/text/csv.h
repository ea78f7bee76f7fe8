/* csv.h - fields of CSV, RFC 4180; nothing else quotes for CSV. */
#ifndef RENDER_TEXT_CSV_H
#define RENDER_TEXT_CSV_H

#include "base/text/buf.h"

/* Append a field, quoted if needed, without terminal control characters. */
void csv_field(struct buf *b, const char *text, size_t size);

#endif
