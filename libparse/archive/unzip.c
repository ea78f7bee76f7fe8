#include "libparse/archive/unzip.h"
#include "base/mem.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#if HAVE_BZ2
#include <bzlib.h>
#endif
#if HAVE_LZMA
#include <lzma.h>
#endif

enum {
	IN_SIZE = 1 << 17,
	OUT_SIZE = 1 << 17,
	RATIO_MAX = 1100,
	RATIO_FREE = 64 << 20,
	XZ_MEMORY = 256 << 20,
};

enum zip_kind { ZIP_NONE, ZIP_ZSTD, ZIP_GZIP, ZIP_BZIP2, ZIP_XZ };

struct unzip {
	struct source *src;
	struct unzip *outer; /* the archive that contains src, or NULL */
	enum zip_kind kind;  /* ZIP_NONE until its decoder is open */
	ZSTD_DStream *zstd;
	z_stream gzip;
#if HAVE_BZ2
	bz_stream bzip2;
#endif
#if HAVE_LZMA
	lzma_stream xz;
#endif
	int frame_ended, eof;
	uint64_t at, in, out; /* position in a mapped source; bytes read, returned */
	const uint8_t *p;     /* input not yet used */
	size_t left;
	uint8_t *chunk; /* input of a stream */
};

/* --- which ------------------------------------------------------------------------------- */

static enum zip_kind kind_of(const uint8_t *head, size_t n)
{
	static const struct {
		enum zip_kind kind;
		uint8_t magic[6];
		size_t len;
	} kinds[] = {
		{ZIP_ZSTD, {0x28, 0xb5, 0x2f, 0xfd}, 4},
		{ZIP_GZIP, {0x1f, 0x8b, 8}, 3},
		{ZIP_BZIP2, {'B', 'Z', 'h'}, 3},
		{ZIP_XZ, {0xfd, '7', 'z', 'X', 'Z', 0}, 6},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (n >= kinds[i].len && !memcmp(head, kinds[i].magic, kinds[i].len))
			return kinds[i].kind;
	return ZIP_NONE;
}

int unzip_detect(const uint8_t *head, size_t n)
{
	/* after bzip2's three letters and digit comes a block, or the end of an empty stream */
	static const uint8_t block[] = {0x31, 0x41, 0x59, 0x26, 0x53, 0x59},
			     end[] = {0x17, 0x72, 0x45, 0x38, 0x50, 0x90};
	enum zip_kind kind = kind_of(head, n);
	if (kind == ZIP_BZIP2)
		return n >= 10 && head[3] >= '1' && head[3] <= '9' &&
		       (!memcmp(head + 4, block, 6) || !memcmp(head + 4, end, 6));
	return kind != ZIP_NONE;
}

/* --- the four decoders: each call uses input or makes output, or is at the end */

static int damaged(const struct unzip *u, const char *why, struct err *e)
{
	return err_set(e, ERR_FORMAT, "%s: damaged compressed data (%s)", u->src->name, why);
}

static void use_input(struct unzip *u, size_t left)
{
	u->p += u->left - left;
	u->left = left;
}

static int run_zstd(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	ZSTD_inBuffer in = {.src = u->p, .size = u->left};
	ZSTD_outBuffer out = {.dst = to, .size = n};
	size_t rc = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_isError(rc) && ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
		return err_nomem(e);
	if (ZSTD_isError(rc)) /* what it was differs between machines and versions */
		return damaged(u, "zstd", e);
	u->frame_ended = !rc;
	use_input(u, u->left - in.pos);
	*got = out.pos;
	return 0;
}

static int run_gzip(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	z_stream *z = &u->gzip;
	z->next_in = (Bytef *)u->p;
	z->avail_in = (uInt)u->left;
	z->next_out = to;
	z->avail_out = (uInt)n;
	if (u->frame_ended && u->left && inflateReset(z) != Z_OK)
		return damaged(u, "gzip", e);
	int rc = inflate(z, Z_NO_FLUSH);
	if (rc == Z_MEM_ERROR)
		return err_nomem(e);
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return damaged(u, z->msg ? z->msg : "gzip", e);
	u->frame_ended = rc == Z_STREAM_END;
	use_input(u, z->avail_in);
	*got = n - z->avail_out;
	return 0;
}

#if HAVE_BZ2
static int run_bzip2(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	bz_stream *z = &u->bzip2;
	if (u->frame_ended && u->left) {
		BZ2_bzDecompressEnd(z);
		*z = (bz_stream){0};
		if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) {
			u->kind = ZIP_NONE;
			return err_nomem(e);
		}
	}
	*got = 0;
	if (!u->left && u->frame_ended)
		return 0;
	z->next_in = (char *)(uintptr_t)u->p;
	z->avail_in = (unsigned)u->left;
	z->next_out = (char *)to;
	z->avail_out = (unsigned)n;
	int rc = BZ2_bzDecompress(z);
	if (rc != BZ_OK && rc != BZ_STREAM_END)
		return rc == BZ_MEM_ERROR ? err_nomem(e) : damaged(u, "bzip2", e);
	u->frame_ended = rc == BZ_STREAM_END;
	use_input(u, z->avail_in);
	*got = n - z->avail_out;
	return 0;
}
#endif

#if HAVE_LZMA
static int run_xz(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	lzma_stream *z = &u->xz;
	z->next_in = u->p;
	z->avail_in = u->left;
	z->next_out = to;
	z->avail_out = n;
	lzma_ret rc = lzma_code(z, u->eof ? LZMA_FINISH : LZMA_RUN);
	if (rc != LZMA_OK && rc != LZMA_STREAM_END && rc != LZMA_BUF_ERROR)
		return rc == LZMA_MEM_ERROR ? err_nomem(e) : damaged(u, "xz", e);
	u->frame_ended = rc == LZMA_STREAM_END;
	use_input(u, z->avail_in);
	*got = n - z->avail_out;
	return 0;
}
#endif

static int run(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	switch (u->kind) {
	case ZIP_ZSTD:
		return run_zstd(u, to, n, got, e);
	case ZIP_GZIP:
		return run_gzip(u, to, n, got, e);
#if HAVE_BZ2
	case ZIP_BZIP2:
		return run_bzip2(u, to, n, got, e);
#endif
#if HAVE_LZMA
	case ZIP_XZ:
		return run_xz(u, to, n, got, e);
#endif
	default:
		return damaged(u, "no decoder", e);
	}
}

static int start(struct unzip *u, enum zip_kind kind, struct err *e)
{
	enum { GZIP_ONLY = 16 };
	const char *lacks = NULL;
	int ok = 0;
	switch (kind) {
	case ZIP_ZSTD:
		ok = (u->zstd = ZSTD_createDStream()) != NULL;
		break;
	case ZIP_GZIP:
		ok = inflateInit2(&u->gzip, MAX_WBITS + GZIP_ONLY) == Z_OK;
		break;
	case ZIP_BZIP2:
#if HAVE_BZ2
		ok = BZ2_bzDecompressInit(&u->bzip2, 0, 0) == BZ_OK;
#else
		lacks = "bzip2 data, and this build has no libbz2";
#endif
		break;
	case ZIP_XZ:
#if HAVE_LZMA
		ok = lzma_stream_decoder(&u->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
#else
		lacks = "xz data, and this build has no liblzma";
#endif
		break;
	case ZIP_NONE:
		lacks = "not compressed";
		break;
	}
	if (lacks)
		return err_set(e, ERR_UNSUPPORTED, "%s: %s", u->src->name, lacks);
	if (!ok)
		return err_nomem(e);
	u->kind = kind;
	return 0;
}

/* --- reading ------------------------------------------------------------------------------ */

/* Get more input, if there is any. */
static int refill(struct unzip *u, struct err *e)
{
	struct source *s = u->src;
	if (u->left || u->eof)
		return 0;
	if (source_is_mapped(s)) {
		uint64_t rest = s->size - u->at;
		u->p = s->data + u->at;
		u->left = rest < IN_SIZE ? (size_t)rest : IN_SIZE;
		u->at += u->left;
	} else {
		int64_t got = source_is_file(s) ? source_read_at(s, u->at, u->chunk, IN_SIZE, e)
						: source_read(s, u->chunk, IN_SIZE, e);
		if (got < 0)
			return (int)got;
		u->p = u->chunk;
		u->at += (uint64_t)got;
		u->left = (size_t)got;
	}
	u->eof = !u->left;
	u->in += u->left;
	return 0;
}

void unzip_within(struct unzip *u, struct unzip *outer)
{
	u->outer = outer;
}

/* Count n bytes of output. */
static int count(struct unzip *u, size_t n, struct err *e)
{
	for (; u; u = u->outer) {
		u->out += n;
		if (u->out > RATIO_FREE && (u->out - RATIO_FREE) / RATIO_MAX > u->in)
			return err_set(e, ERR_LIMIT,
				       "%s: inflates to more than %d times its size",
				       u->src->name, RATIO_MAX);
	}
	return 0;
}

int unzip_some(struct unzip *u, void *to, size_t n, size_t *got, struct err *e)
{
	*got = 0;
	while (!*got) {
		int rc = refill(u, e);
		if (rc)
			return rc;
		if (u->eof && u->frame_ended)
			return 0;
		rc = run(u, to, n < OUT_SIZE ? n : OUT_SIZE, got, e);
		if (rc)
			return rc;
		if (!*got && u->eof && u->frame_ended)
			return 0;
		if (!*got && u->eof)
			return err_set(e, ERR_TRUNCATED, "%s: cut off after %llu bytes",
				       u->src->name, (unsigned long long)u->in);
	}
	int rc = count(u, *got, e);
	return rc ? rc : 1;
}

int unzip_read(void *ctx, void *to, size_t n, struct err *e)
{
	struct unzip *u = ctx;
	for (size_t have = 0, got; have < n; have += got) {
		int rc = unzip_some(u, (uint8_t *)to + have, n - have, &got, e);
		if (rc == 1)
			continue;
		if (!rc && have)
			rc = err_set(e, ERR_TRUNCATED, "%s: ends after %llu bytes",
				     u->src->name, (unsigned long long)u->out);
		return rc;
	}
	return 1;
}

int unzip_drain(struct unzip *u, struct err *e)
{
	uint8_t waste[4096];
	int rc = 1;
	while (rc == 1) {
		size_t got = 0;
		rc = unzip_some(u, waste, sizeof(waste), &got, e);
	}
	return rc;
}

int unzip_open(struct unzip **out, struct source *src, struct err *e)
{
	const uint8_t *head;
	size_t n;
	*out = NULL;
	int rc = source_peek(src, &head, &n, e);
	if (rc)
		return rc;
	if (!unzip_detect(head, n))
		return err_set(e, ERR_FORMAT, "%s: not compressed data", src->name);
	struct unzip *u = mem_zalloc(1, sizeof(*u));
	if (!u)
		return err_nomem(e);
	u->src = src;
	u->chunk = source_is_mapped(src) ? NULL : mem_alloc(IN_SIZE);
	rc = source_is_mapped(src) || u->chunk ? start(u, kind_of(head, n), e) : err_nomem(e);
	if (rc)
		unzip_close(u);
	else
		*out = u;
	return rc;
}

void unzip_close(struct unzip *u)
{
	if (!u)
		return;
	if (u->kind == ZIP_GZIP)
		inflateEnd(&u->gzip);
#if HAVE_BZ2
	if (u->kind == ZIP_BZIP2)
		BZ2_bzDecompressEnd(&u->bzip2);
#endif
#if HAVE_LZMA
	lzma_end(&u->xz);
#endif
	ZSTD_freeDStream(u->zstd);
	mem_free(u->chunk);
	mem_free(u);
}
