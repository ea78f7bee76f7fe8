/*
 * html_blob.h - data inside a report: deflated (zlib's format) and as base64, so that nothing
 * that a recording says can be taken for HTML. Same input, same bytes.
 */
#ifndef RENDER_HTML_HTML_BLOB_H
#define RENDER_HTML_HTML_BLOB_H

#include "base/text/buf.h"
#include "base/err.h"

#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

struct html_blob {
	z_stream z;
	FILE *out; /* borrowed */
	uint8_t left[3];
	unsigned nleft;   /* bytes that wait for a group of three */
	uint64_t written; /* characters */
	int failed;       /* of the stream into it: 0, or why it takes no more */
};

/* Begin <script type="text/plain" id="ID">, which browsers do not run. ERR_NOMEM. */
int html_blob_begin(struct html_blob *b, const char *id, FILE *out, struct err *e);

/* Add what `data` holds, and give its memory back. ERR_IO; ERR_NOMEM, also of an append to
 * `data` before. */
int html_blob_add(struct html_blob *b, struct buf *data, struct err *e);

/* End the element when `rc` is 0, and give everything back; `rc`, or the failure. */
int html_blob_end(struct html_blob *b, int rc, struct err *e);

/* A stream into the blob, for writers of pictures; fclose ends the stream, not the blob. NULL:
 * no memory. */
FILE *html_blob_file(struct html_blob *b);

/* All of it in one call. */
int html_blob_write(const char *id, struct buf *data, FILE *out, struct err *e);

#endif
