/*
 * gzip.h - bytes on their way into a file, compressed as gzip does, on a thread of their own;
 * the same bytes each time. The header's comment says who wrote them: what was exported may be
 * exported again to the same file, which a compressed recording, by its first bytes alike, may
 * not.
 */
#ifndef RENDER_EXPORT_GZIP_H
#define RENDER_EXPORT_GZIP_H

#include "base/text/buf.h"
#include "base/err.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream z;
	gz_header header;
	FILE *f; /* borrowed; the thread's between begin and end */
	int threaded;
	pthread_t thread;
	/* all below is under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct buf handed; /* what is to be compressed; empty: nothing */
	int closing, failed;
	struct err why;
};

/* Begin a stream into `f`, which belongs to the module until the end. Without a thread, bytes
 * are compressed as they are added. ERR_NOMEM. */
int gzip_begin(struct gzip *g, FILE *f, struct err *e);

/* Take what `b` holds and empty it. ERR_IO, also of what was taken before; ERR_NOMEM, also of
 * an append to `b` before. */
int gzip_add(struct gzip *g, struct buf *b, struct err *e);

/* Write the end when `rc` is 0, and give everything back; `rc`, or the failure. */
int gzip_end(struct gzip *g, int rc, struct err *e);

/* 1 when a file that begins with these n bytes was written by this module. */
int gzip_is_own(const uint8_t *p, size_t n);

#endif
