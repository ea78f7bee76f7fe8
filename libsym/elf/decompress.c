#include "libsym/elf/decompress.h"

#include "base/mem.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#if HAVE_LZMA
#include <lzma.h>
#endif
#if HAVE_DEFLATE
#include <libdeflate.h>
#endif

enum {
	RATIO_MAX = 1100,
	FIRST_BLOCK = 1 << 16,
	RATIO_WHOLE = 64, /* output of up to this many times the input is allocated at once */
};

/* The growing output. */
struct sink {
	uint8_t *v;
	size_t n, cap, max;
	const char *name;
};

static int sink_room(struct sink *s, struct err *e)
{
	if (s->n < s->cap)
		return 0;
	if (s->cap >= s->max)
		return err_set(e, ERR_LIMIT, "%s: inflates to more than %zu bytes", s->name,
			       s->max);
	size_t cap = s->cap > s->max / 2 ? s->max : s->cap * 2;
	uint8_t *v = mem_resize(s->v, cap, 1);
	if (!v)
		return err_nomem(e);
	s->v = v;
	s->cap = cap;
	return 0;
}

static int damaged(const struct sink *s, const char *how, struct err *e)
{
	return err_set(e, ERR_FORMAT, "%s: damaged %s data", s->name, how);
}

static int truncated(const struct sink *s, const char *how, struct err *e)
{
	return err_set(e, ERR_TRUNCATED, "%s: %s data ends early", s->name, how);
}

static int run_zlib(const uint8_t *src, size_t n, struct sink *s, struct err *e)
{
	z_stream z = {0};
	if (inflateInit2(&z, 15 + 32) != Z_OK) /* 32: zlib or gzip header */
		return err_nomem(e);
	size_t in = 0;
	int rc = 0, zrc = Z_OK;
	while (!rc && zrc != Z_STREAM_END) {
		if ((rc = sink_room(s, e)))
			break;
		size_t block = n - in < 1u << 30 ? n - in : 1u << 30;
		size_t room = s->cap - s->n < 1u << 30 ? s->cap - s->n : 1u << 30;
		z.next_in = (Bytef *)(uintptr_t)(src + in);
		z.avail_in = (uInt)block;
		z.next_out = s->v + s->n;
		z.avail_out = (uInt)room;
		zrc = inflate(&z, Z_NO_FLUSH);
		in += block - z.avail_in;
		s->n += room - z.avail_out;
		if (zrc == Z_BUF_ERROR || (zrc == Z_OK && in == n && z.avail_out))
			rc = truncated(s, "zlib", e);
		else if (zrc == Z_MEM_ERROR)
			rc = err_nomem(e);
		else if (zrc != Z_OK && zrc != Z_STREAM_END)
			rc = damaged(s, "zlib", e);
	}
	inflateEnd(&z);
	return rc;
}

static int run_zstd(const uint8_t *src, size_t n, struct sink *s, struct err *e)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	if (!z)
		return err_nomem(e);
	ZSTD_inBuffer in = {.src = src, .size = n};
	int rc = 0;
	size_t left = 1;
	while (!rc && (left || in.pos < in.size)) {
		if ((rc = sink_room(s, e)))
			break;
		ZSTD_outBuffer out = {.dst = s->v, .size = s->cap, .pos = s->n};
		left = ZSTD_decompressStream(z, &out, &in);
		s->n = out.pos;
		if (ZSTD_isError(left))
			rc = ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
				     ? err_nomem(e)
				     : damaged(s, "zstd", e);
		else if (left && in.pos == in.size && out.pos < out.size)
			rc = truncated(s, "zstd", e);
	}
	ZSTD_freeDCtx(z);
	return rc;
}

#if HAVE_LZMA
static int run_xz(const uint8_t *src, size_t n, struct sink *s, struct err *e)
{
	lzma_stream z = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&z, 256u << 20, 0) != LZMA_OK)
		return err_nomem(e);
	z.next_in = src;
	z.avail_in = n;
	int rc = 0;
	lzma_ret zrc = LZMA_OK;
	while (!rc && zrc != LZMA_STREAM_END) {
		if ((rc = sink_room(s, e)))
			break;
		z.next_out = s->v + s->n;
		z.avail_out = s->cap - s->n;
		zrc = lzma_code(&z, LZMA_FINISH);
		s->n = s->cap - z.avail_out;
		if (zrc == LZMA_BUF_ERROR)
			rc = truncated(s, "xz", e);
		else if (zrc == LZMA_MEM_ERROR)
			rc = err_nomem(e);
		else if (zrc != LZMA_OK && zrc != LZMA_STREAM_END)
			rc = damaged(s, "xz", e);
	}
	lzma_end(&z);
	return rc;
}
#else
static int run_xz(const uint8_t *src, size_t n, struct sink *s, struct err *e)
{
	(void)src, (void)n;
	return err_set(e, ERR_UNSUPPORTED, "%s: xz data, and this build has no liblzma",
		       s->name);
}
#endif

/*
 * Inflate zlib data of at most s->max - 1 bytes in one call, in less than half of zlib's time.
 * 1 on success; 0 to let zlib try, and report errors.
 */
static int run_whole(enum decompress_kind kind, const uint8_t *src, size_t n, struct sink *s)
{
#if HAVE_DEFLATE
	enum { ZLIB_CMF = 0x78 };
	if (kind != DECOMPRESS_ZLIB || !n || *src != ZLIB_CMF || s->max / RATIO_WHOLE > n)
		return 0;
	struct libdeflate_decompressor *z = libdeflate_alloc_decompressor();
	s->v = z ? mem_alloc_large(s->max) : NULL;
	int whole = s->v && libdeflate_zlib_decompress(z, src, n, s->v, s->max - 1, &s->n) ==
				    LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(z);
	if (whole)
		return 1;
	mem_free(s->v);
	s->v = NULL;
	s->n = 0;
#else
	(void)kind, (void)src, (void)n, (void)s;
#endif
	return 0;
}

static int grow_out(enum decompress_kind kind, const uint8_t *src, size_t n, struct sink *s,
		    struct err *e)
{
	s->cap = n < s->max / 4 ? 4 * n + FIRST_BLOCK : s->max;
	if (s->cap > s->max)
		s->cap = s->max;
	s->v = mem_alloc(s->cap);
	if (!s->v)
		return err_nomem(e);
	int rc = kind == DECOMPRESS_ZLIB   ? run_zlib(src, n, s, e)
		 : kind == DECOMPRESS_ZSTD ? run_zstd(src, n, s, e)
					   : run_xz(src, n, s, e);
	if (rc)
		mem_free(s->v);
	return rc;
}

int decompress(enum decompress_kind kind, const void *src, size_t n, size_t max,
	       const char *name, uint8_t **out, size_t *out_size, struct err *e)
{
	struct sink s = {.name = name, .max = max};
	if (n < max / RATIO_MAX)
		s.max = n * RATIO_MAX + FIRST_BLOCK < max ? n * RATIO_MAX + FIRST_BLOCK : max;
	/* One byte more than allowed, so that a full buffer shows that the limit was passed. */
	s.max++;
	int rc = run_whole(kind, src, n, &s) ? 0 : grow_out(kind, src, n, &s, e);
	if (rc)
		return rc;
	*out = s.v;
	*out_size = s.n;
	return 0;
}
