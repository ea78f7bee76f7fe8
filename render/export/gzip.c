#include "render/export/gzip.h"

#include <string.h>

static const char comment[] = "perfkit export";

enum { GZIP_WINDOW = 15 + 16 /* a gzip header: zlib.h, deflateInit2 */, MEMORY = 8 };

/* RFC 1952, 2.3. */
enum { OS_UNKNOWN = 255, FLAGS_AT = 3, FLAG_COMMENT = 16, HEADER_BYTES = 10 };

int gzip_begin(struct gzip *g, FILE *f, struct err *e)
{
	/* the default level takes half of an export's time to make a fifth less of it */
	*g = (struct gzip){.f = f, .header = {.os = OS_UNKNOWN, .comment = (Bytef *)comment}};
	if (deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_nomem(e);
	deflateSetHeader(&g->z, &g->header);
	return 0;
}

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

int gzip_add(struct gzip *g, struct buf *b, struct err *e)
{
	enum { AT_ONCE = 1 << 30 }; /* avail_in is 32 bits */
	int rc = buf_failed(b) ? err_nomem(e) : 0;
	for (size_t at = 0; at < b->n && !rc; at += AT_ONCE) {
		size_t n = b->n - at;
		g->z.next_in = (unsigned char *)b->v + at;
		g->z.avail_in = n < AT_ONCE ? (unsigned)n : AT_ONCE;
		rc = deflate_all(g, Z_NO_FLUSH, e);
	}
	buf_clear(b);
	return rc;
}

int gzip_end(struct gzip *g, int rc, struct err *e)
{
	rc = rc ? rc : deflate_all(g, Z_FINISH, e);
	deflateEnd(&g->z);
	return rc;
}

int gzip_is_own(const uint8_t *p, size_t n)
{
	return n >= HEADER_BYTES + sizeof(comment) && p[0] == 0x1f && p[1] == 0x8b &&
	       p[FLAGS_AT] == FLAG_COMMENT &&
	       !memcmp(p + HEADER_BYTES, comment, sizeof(comment));
}
