/*
 * store_decode.h - the columns of a store's row → the struct they are declared of (schema.h),
 * each value checked.
 */
#ifndef LIBTIME_STORE_STORE_DECODE_H
#define LIBTIME_STORE_STORE_DECODE_H

#include "libtime/store/store_rows.h"

/* The row that l->st is at. What cannot be sets l->bad. ERR_NOMEM. */
int decode_row(struct load *l, void *row);

#endif
