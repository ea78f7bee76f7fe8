/*
 * runs_page.h - the page of compared runs: rows with their runs (runs_text.h), and the flame
 * graphs of the difference, each a picture of its own inside. It fetches nothing, and its policy
 * (CSP) allows only the pictures' script, by hash.
 */
#ifndef RENDER_HTML_RUNS_PAGE_H
#define RENDER_HTML_RUNS_PAGE_H

#include "render/text/runs_text.h"

#include <stdio.h>

/* Append everything before the pictures. */
void runs_page_begin(struct buf *b, const struct runs_answer *a);

/* A stream for an SVG below that heading, which the caller closes before it ends the picture.
 * NULL: no memory. */
FILE *runs_page_picture(const char *heading, FILE *out);
void runs_page_picture_end(FILE *out);

/* The end of the page. */
void runs_page_end(FILE *out);

#endif
