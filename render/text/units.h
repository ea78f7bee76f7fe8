/*
 * units.h - times and counts as text for people: "890 us", "6.4 ms", "1,234".
 *
 * Integers in, text out: rounding happens only here.
 */
#ifndef RENDER_TEXT_UNITS_H
#define RENDER_TEXT_UNITS_H

#include "base/text/buf.h"

/* A duration in the unit that fits it, with one decimal below 100: "18.2 us", "890 us". */
void units_duration(struct buf *b, uint64_t ns);

/* "9.3–9.6 ms", or "9.3 ms" where both read the same. */
void units_range(struct buf *b, uint64_t low_ns, uint64_t high_ns);

/* The same in the unit that fits `whole`, for parts of a sum ("12.3 ms", "0.1 ms"); a part too
 * small for that gets its own unit. */
void units_part(struct buf *b, uint64_t ns, uint64_t whole);

/* A moment as perf script prints it: seconds with six decimals. */
void units_seconds(struct buf *b, uint64_t ns);

/* The same counted from the recording's first record: "+0.539214". */
void units_since(struct buf *b, uint64_t ns, uint64_t origin_ns);

/* Both: "+0.539214 s (45745.723042 to 45745.735454)". */
void units_stretch(struct buf *b, uint64_t from_ns, uint64_t to_ns, uint64_t origin_ns);

/* A moment since 1970 in ns: "2026-11-22 15:45:54.631561 UTC"; after "≈" unless `exact`. */
void units_wall_clock(struct buf *b, uint64_t wall_ns, int exact);

/* "1,234,567". */
void units_count(struct buf *b, uint64_t n);

/* n of something: "1 wait", "1,234 waits". */
void units_plural(struct buf *b, uint64_t n, const char *one, const char *many);

/* "500us", "2ms", "1.5s", "250ns", "3m" → ns. 0, or -1 if it is not a duration. */
int units_parse_duration(const char *text, uint64_t *ns);

/* "99.95" → 99950, thousandths of a percent; 0 < x ≤ 100. 0, or -1. */
int units_parse_percent(const char *text, uint32_t *millipercent);

/* 99950 → "99.95". */
void units_percent(struct buf *b, uint32_t millipercent);

#endif
