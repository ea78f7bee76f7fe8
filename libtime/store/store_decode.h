/*
 * store_decode.h - the columns of a store's row → the struct that they are declared for
 * (schema.h), each value checked.
 */
#ifndef LIBTIME_STORE_STORE_DECODE_H
#define LIBTIME_STORE_STORE_DECODE_H

#include "libtime/store/store_rows.h"

/* Decode the current row of l->st. An impossible value sets l->bad. ERR_NOMEM. */
int decode_row(struct load *l, void *row);

#endif
