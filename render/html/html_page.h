/*
 * html_page.h - the page around a report's data: head, text for readers without scripts, style,
 * scripts. The page's policy (CSP) forbids to fetch anything, and allows only its own script,
 * by hash, and that script's workers.
 *
 *	html_page_begin(&page, out);
 *	html_blob_write("head", &json, out, &e);       // and the others
 *	html_page_end(out);
 */
#ifndef RENDER_HTML_HTML_PAGE_H
#define RENDER_HTML_HTML_PAGE_H

#include "base/text/buf.h"

#include <stdio.h>

/* Texts are plain and borrowed; "" for none. */
struct html_page {
	const char *title;    /* of the window */
	const char *subtitle; /* host, date, file, length */
	const char *filters;
	const char *answer; /* the sentence that matters; also for readers without scripts */
	const char *also;   /* about the same: how often, of which programs */
	const char *note;   /* what else may be the answer, and where it stands */
	const char *text;   /* the answer of `tail` as preformatted text, for them */
};

/* Everything before the data. `out` and `b`, which is scratch, keep failures. */
void html_page_begin(const struct html_page *p, struct buf *b, FILE *out);

/* The script and the end of the page. */
void html_page_end(FILE *out);

#endif
