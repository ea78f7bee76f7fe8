/* tail_csv.h - the episodes of `tail` as CSV; times are those of tail_json.h. */
#ifndef RENDER_TAIL_TAIL_CSV_H
#define RENDER_TAIL_TAIL_CSV_H

#include "base/text/buf.h"
#include "libtime/explain/tail_model.h"

/* Append a header line and one line for each of the first `rows` episodes (0 = all; RFC 4180,
 * "\n" ends). ERR_NOMEM. */
int tailcsv_write(struct buf *b, struct tail *t, uint64_t rows, struct err *e);

#endif
