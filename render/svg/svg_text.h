/*
 * svg_text.h - small pieces of SVG: pixel values, text elements, packed numbers.
 */
#ifndef RENDER_SVG_SVG_TEXT_H
#define RENDER_SVG_SVG_TEXT_H

#include "base/text/buf.h"
#include "base/err.h"

#include <stdio.h>

/* A pixel value with at most two decimals. */
void svg_px(struct buf *b, double x);

/* ` name="x"`. */
void svg_attr_px(struct buf *b, const char *name, double x);

/* <text ATTRS x y>s</text>, s untrusted. */
void svg_text(struct buf *b, const char *attrs, double x, double y, const char *s);

/*
 * The untrusted text s in lines of `room` characters: one <text ATTRS> with a <tspan> per line,
 * the first at y, each dy below the one before. With b NULL nothing is written. Returns how
 * many lines there are; 0 for no text.
 */
int svg_text_lines(struct buf *b, const char *attrs, double x, double y, double dy, size_t room,
		   const char *s);

/* "BEFORE TEXT. " of a <desc>, text untrusted; nothing if it is NULL or "". */
void svg_desc_line(struct buf *b, const char *before, const char *text);

/* A number in the form flame_data.h describes; a signed one doubled, less one if negative. */
void svg_number(struct buf *b, uint64_t x);
void svg_signed(struct buf *b, int64_t x);

#endif
