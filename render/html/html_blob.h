/*
 * html_blob.h - data inside a report: deflated (zlib's format) and as base64, so that no text
 * of a recording can be read as HTML. Same input, same bytes.
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
	unsigned nleft;   /* bytes of an incomplete group of three */
	uint64_t written; /* characters */
	int failed;       /* error of the stream into it, or 0 */
};

/* Begin a <script type="text/plain" id="ID">, which browsers do not run. ERR_NOMEM. */
int html_blob_begin(struct html_blob *b, const char *id, FILE *out, struct err *e);

/* Add the contents of `data`, and release it. ERR_IO; ERR_NOMEM, also if an append to `data`
 * has failed. */
int html_blob_add(struct html_blob *b, struct buf *data, struct err *e);

/* End the element if `rc` is 0, and release everything. Returns `rc`, or the failure. */
int html_blob_end(struct html_blob *b, int rc, struct err *e);

/* A stream into the blob, for writers of pictures; fclose ends only the stream. NULL: no
 * memory. */
FILE *html_blob_file(struct html_blob *b);

/* Write a whole blob. */
int html_blob_write(const char *id, struct buf *data, FILE *out, struct err *e);

#endif
