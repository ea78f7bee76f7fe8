/*
 * when.h - parses times as people and programs write them into integer nanoseconds.
 */
#ifndef LIBTIME_SIDE_WHEN_H
#define LIBTIME_SIDE_WHEN_H

#include <stddef.h>
#include <stdint.h>

/*
 * A decimal number of units of `scale` ns (1, 1000, 10^6, 10^9): "12", "1718000000.123456".
 * Fractions of 1 ns are cut off. 0; -1 if it is not a time, negative, or past 2^63.
 */
int when_number(const char *s, size_t n, uint64_t scale, uint64_t *ns);

/*
 * ISO 8601, from 1970 on: "2026-11-22T18:50:29.123456789Z", "2026-11-22 19:50:29+01:00". The
 * time zone is required, because it cannot be guessed. 0 or -1.
 */
int when_iso(const char *s, size_t n, uint64_t *ns);

#endif
