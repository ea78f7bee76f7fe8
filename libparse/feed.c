/* feed.c - contiguous bytes from a mapping, a pipe, or a zstd stream; see reader.h. */
#include "libparse/reader.h"
#include "base/mem.h"

enum {
	CHUNK_SIZE = 1 << 18, /* stays in a CPU's cache until it has been read */
	/* A record has at most 64 KB; one that differs from the last only by its time costs
	 * about 20 bytes (stack dumps of a loop compress 1600 times). */
	RATIO_MAX = 4096,
	RATIO_FREE = 64 << 20,
};

/* A new chunk with one reference, or NULL. References are counted by one thread only. */
static struct chunk *chunk_new(size_t size)
{
	struct chunk *c = mem_alloc(sizeof(*c) + size);
	if (c)
		*c = (struct chunk){.refs = 1, .size = size};
	return c;
}

void chunk_hold(struct chunk *c)
{
	if (c)
		c->refs++;
}

void chunk_drop(struct chunk *c)
{
	if (c && !--c->refs)
		mem_free(c);
}

/* Start a new chunk of n bytes or more with what is left of the old one.
 */
static int feed_new_chunk(struct feed *f, size_t n, struct err *e)
{
	size_t left = (size_t)(f->end - f->p);
	struct chunk *c = chunk_new(n > CHUNK_SIZE ? n : CHUNK_SIZE);
	if (!c)
		return err_nomem(e);
	if (left)
		memcpy(c->data, f->p, left);
	chunk_drop(f->chunk);
	f->chunk = c;
	f->p = c->data;
	f->end = c->data + left;
	return 0;
}

static int64_t feed_read(struct feed *f, uint8_t *to, size_t n, struct err *e)
{
	if (!f->src->pieces)
		return source_read(f->src, to, n, e);
	uint64_t at = f->offset + (uint64_t)(f->end - f->p);
	int64_t got = source_read_at(f->src, at, to, n < f->unread ? n : (size_t)f->unread, e);
	f->unread = got > 0 ? f->unread - (uint64_t)got : 0;
	return got;
}

/* feed_need for what is not mapped: at least n bytes in one chunk. */
static int feed_fill(struct feed *f, size_t n, struct err *e)
{
	if (!f->chunk || (size_t)(f->chunk->data + f->chunk->size - f->p) < n) {
		int r = feed_new_chunk(f, n, e);
		if (r)
			return r;
	}
	uint8_t *fill = f->chunk->data + (f->end - f->chunk->data);
	size_t room = (size_t)(f->chunk->data + f->chunk->size - fill);
	while ((size_t)(f->end - f->p) < n) {
		int64_t got = feed_read(f, fill, room, e);
		if (got < 0)
			return (int)got;
		if (!got) {
			f->eof = 1;
			return 0;
		}
		fill += got;
		room -= (size_t)got;
		f->end = fill;
	}
	return 1;
}

/* The n claimed bytes may never come, so memory grows only to twice what came. */
int feed_need(struct feed *f, size_t n, struct err *e)
{
	size_t have;
	while ((have = (size_t)(f->end - f->p)) < n) {
		if (!f->src || f->eof)
			return 0;
		size_t step = have < CHUNK_SIZE / 2 ? CHUNK_SIZE : 2 * have;
		int r = feed_fill(f, step < n ? step : n, e);
		if (r != 1)
			return r;
	}
	return 1;
}

int feed_skip(struct feed *f, uint64_t n, struct err *e)
{
	uint64_t here = (uint64_t)(f->end - f->p);
	if (f->unread && n > here) { /* without reading it */
		uint64_t step = n - here < f->unread ? n - here : f->unread;
		feed_advance(f, (size_t)here);
		f->offset += step;
		f->unread -= step;
		n -= here + step;
	}
	while (n) {
		int r = feed_need(f, 1, e);
		if (r != 1)
			return r;
		uint64_t have = (uint64_t)(f->end - f->p), step = n < have ? n : have;
		feed_advance(f, (size_t)step);
		n -= step;
	}
	return 1;
}

/* Make room for at least one byte of output after z->end. */
static int inflater_room(struct inflater *z, struct err *e)
{
	if (z->chunk && z->end < z->chunk->data + z->chunk->size)
		return 0;
	size_t left = (size_t)(z->end - z->p);
	struct chunk *c = chunk_new(left + CHUNK_SIZE);
	if (!c)
		return err_nomem(e);
	if (left)
		memcpy(c->data, z->p, left);
	chunk_drop(z->chunk);
	z->chunk = c;
	z->p = c->data;
	z->end = c->data + left;
	return 0;
}

int inflater_push(struct inflater *z, const uint8_t *p, size_t n, uint64_t offset,
		  struct err *e)
{
	if (!z->zstd) {
		z->zstd = ZSTD_createDStream();
		if (!z->zstd)
			return err_nomem(e);
		ZSTD_initDStream(z->zstd);
	}
	z->lost &= !(n >= 4 &&
		     load_u32(p, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) == ZSTD_MAGICNUMBER);
	if (z->lost)
		return err_set(e, ERR_FORMAT, "COMPRESSED at 0x%llx: continues damaged data",
			       (unsigned long long)offset);
	z->in = (ZSTD_inBuffer){.src = p, .size = n};
	z->offset = offset;
	z->more = 1;
	z->corrupt = 0;
	z->taken += n;
	return 0;
}

int inflater_more(struct inflater *z, struct err *e)
{
	if (!z->more)
		return 0;
	int r = inflater_room(z, e);
	if (r)
		return r;
	size_t room = (size_t)(z->chunk->data + z->chunk->size - z->end);
	ZSTD_outBuffer out = {.dst = z->end, .size = room};
	size_t rc = ZSTD_decompressStream(z->zstd, &out, &z->in);
	if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
		return err_nomem(e);
	if (ZSTD_isError(rc)) { /* out.pos says nothing then */
		z->more = 0;
		ZSTD_initDStream(z->zstd); /* else it would continue its unfinished output */
		return err_set(e, ERR_FORMAT, "COMPRESSED at 0x%llx: damaged compressed data",
			       (unsigned long long)z->offset);
	}
	z->end += out.pos;
	z->given += out.pos;
	z->more = z->in.pos < z->in.size || out.pos == room;
	if (z->allowed && z->given > z->allowed)
		return err_set(e, ERR_REFUSED,
			       "inflates to more than %llu MB, which its size does not explain "
			       "(--force reads it anyway)",
			       (unsigned long long)(z->allowed >> 20));
	if (z->given > RATIO_FREE && (z->given - RATIO_FREE) / RATIO_MAX > z->taken)
		return err_set(e, ERR_LIMIT,
			       "COMPRESSED at 0x%llx: inflates to more than %d times its size",
			       (unsigned long long)z->offset, RATIO_MAX);
	return 1;
}

void inflater_release(struct inflater *z)
{
	ZSTD_freeDStream(z->zstd);
	chunk_drop(z->chunk);
	*z = (struct inflater){0};
}
