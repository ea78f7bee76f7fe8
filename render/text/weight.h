/*
 * weight.h - weights and units as text for people, the same in every picture and table.
 */
#ifndef RENDER_TEXT_WEIGHT_H
#define RENDER_TEXT_WEIGHT_H

#include "base/text/buf.h"

/* Nanoseconds per unit of "ns", "us", "µs", "ms", "s"; 0 = not a time. */
double weight_unit_ns(const char *countname);

/*
 * Append a weight for people: "1,234 samples", "12.3 ms", "4.5 MiB". `ticks` in the graph's
 * scale; `factor` multiplies it.
 */
void weight_text(struct buf *b, double ticks, double scale, double factor,
		 const char *countname);

#endif
