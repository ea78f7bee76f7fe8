/*
 * html_page.h - the page around a report's data: head, what stands without scripts, style,
 * scripts. The page's policy (CSP) lets it fetch nothing and run its own script alone, known by
 * its hash; workers of it, too.
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
	const char *note;   /* what else may be the answer, and where it stands */
	const char *text;   /* the answer of `tail` as preformatted text, for them */
};

/* Everything up to the data; failures stay in `out` and `b`, which is scratch. */
void html_page_begin(const struct html_page *p, struct buf *b, FILE *out);

/* The script and the end. */
void html_page_end(FILE *out);

#endif
