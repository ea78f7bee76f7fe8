#include "render/export/gzip.h"

#include <string.h>

static const char comment[] = "perfkit export";

enum { GZIP_WINDOW = 15 + 16 /* a gzip header: zlib.h, deflateInit2 */, MEMORY = 8 };

/* RFC 1952, 2.3. */
enum { OS_UNKNOWN = 255, FLAGS_AT = 3, FLAG_COMMENT = 16, HEADER_BYTES = 10 };

static int deflate_all(struct gzip *g, int flush, struct err *e)
{
	unsigned char out[1 << 14];
	do {
		g->z.next_out = out;
		g->z.avail_out = sizeof(out);
		deflate(&g->z, flush);
		fwrite(out, 1, sizeof(out) - g->z.avail_out, g->f);
		if (ferror(g->f))
			return err_sys(e, "cannot write");
	} while (!g->z.avail_out);
	return 0;
}

static int deflate_buf(struct gzip *g, const struct buf *b, struct err *e)
{
	enum { AT_ONCE = 1 << 30 }; /* avail_in is 32 bits */
	int rc = 0;
	for (size_t at = 0; at < b->n && !rc; at += AT_ONCE) {
		size_t n = b->n - at;
		g->z.next_in = (unsigned char *)b->v + at;
		g->z.avail_in = n < AT_ONCE ? (unsigned)n : AT_ONCE;
		rc = deflate_all(g, Z_NO_FLUSH, e);
	}
	return rc;
}

/* The thread: while it compresses what was handed over, `handed` is not empty, and so it is the
 * thread's. */
static void *work(void *gzip)
{
	struct gzip *g = gzip;
	pthread_mutex_lock(&g->lock);
	while (g->handed.n || !g->closing) {
		if (!g->handed.n) {
			pthread_cond_wait(&g->changed, &g->lock);
			continue;
		}
		pthread_mutex_unlock(&g->lock);
		struct err why = {0};
		int failed = g->failed ? 0 : deflate_buf(g, &g->handed, &why);
		pthread_mutex_lock(&g->lock);
		if (failed) {
			g->failed = failed;
			g->why = why;
		}
		buf_clear(&g->handed);
		pthread_cond_signal(&g->changed);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

int gzip_begin(struct gzip *g, FILE *f, struct err *e)
{
	/* the default level takes half of an export's time to make a fifth less of it */
	*g = (struct gzip){.f = f, .header = {.os = OS_UNKNOWN, .comment = (Bytef *)comment}};
	if (deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_nomem(e);
	deflateSetHeader(&g->z, &g->header);
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	g->threaded = !pthread_create(&g->thread, NULL, work, g);
	return 0;
}

/* What `b` holds for the memory that the thread is done with. */
static int hand_over(struct gzip *g, struct buf *b, struct err *e)
{
	pthread_mutex_lock(&g->lock);
	while (g->handed.n)
		pthread_cond_wait(&g->changed, &g->lock);
	int rc = g->failed;
	if (rc && e)
		*e = g->why;
	struct buf done = g->handed;
	g->handed = *b;
	*b = done;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
	return rc;
}

int gzip_add(struct gzip *g, struct buf *b, struct err *e)
{
	int rc = buf_failed(b) ? err_nomem(e) : 0;
	if (!rc && b->n)
		rc = g->threaded ? hand_over(g, b, e) : deflate_buf(g, b, e);
	buf_clear(b);
	return rc;
}

static void stop(struct gzip *g)
{
	pthread_mutex_lock(&g->lock);
	g->closing = 1;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
}

int gzip_end(struct gzip *g, int rc, struct err *e)
{
	if (g->threaded)
		stop(g);
	if (!rc && g->failed) {
		rc = g->failed;
		if (e)
			*e = g->why;
	}
	rc = rc ? rc : deflate_all(g, Z_FINISH, e);
	deflateEnd(&g->z);
	buf_release(&g->handed);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->changed);
	return rc;
}

int gzip_is_own(const uint8_t *p, size_t n)
{
	return n >= HEADER_BYTES + sizeof(comment) && p[0] == 0x1f && p[1] == 0x8b &&
	       p[FLAGS_AT] == FLAG_COMMENT &&
	       !memcmp(p + HEADER_BYTES, comment, sizeof(comment));
}
