/* bundle_write.c - writes bundles (bundle.h). */
#include "base/mem.h"
#include "base/outfile.h"
#include "libparse/archive/bundle.h"
#include "libparse/archive/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { PIECE = 1 << 17, LEVEL = 3, ZSTD_THREADS = 2 };

struct bundle_writer {
	struct outfile out;
	ZSTD_CStream *zstd;
	uint64_t size; /* compressed bytes so far */
	uint8_t piece[PIECE], zipped[PIECE];
};

int bundle_create(struct bundle_writer **out, const char *path, int derived, struct err *e)
{
	struct bundle_writer *w = mem_zalloc(1, sizeof(*w));
	*out = NULL;
	if (!w)
		return err_nomem(e);
	w->zstd = ZSTD_createCStream();
	int rc = !w->zstd  ? err_nomem(e)
		 : derived ? outfile_open_derived(&w->out, path, 0600, e)
			   : outfile_open_private(&w->out, path, e);
	if (rc) {
		bundle_abort(w);
		return rc;
	}
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	/* A library without threads refuses and compresses without them. */
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_nbWorkers, ZSTD_THREADS);
	*out = w;
	return 0;
}

static int compress(struct bundle_writer *w, const void *p, size_t n, ZSTD_EndDirective how,
		    struct err *e)
{
	ZSTD_inBuffer in = {.src = p, .size = n};
	size_t left;
	do {
		ZSTD_outBuffer out = {.dst = w->zipped, .size = sizeof(w->zipped)};
		left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return err_set(e, ERR_NOMEM, "zstd: %s", ZSTD_getErrorName(left));
		if (fwrite(w->zipped, 1, out.pos, w->out.f) != out.pos)
			return err_sys(e, "%s: cannot write",
				       w->out.path ? w->out.path : "output");
		w->size += out.pos;
	} while (in.pos < in.size || (how == ZSTD_e_end && left));
	return 0;
}

static int put_header(struct bundle_writer *w, const char *name, uint64_t size, struct err *e)
{
	struct buf h = {0};
	int rc = tar_header(&h, name, size, 0, e);
	if (!rc)
		rc = compress(w, h.v, h.n, ZSTD_e_continue, e);
	buf_release(&h);
	return rc;
}

static int put_zeroes(struct bundle_writer *w, size_t n, struct err *e)
{
	static const char zeroes[2 * TAR_BLOCK];
	return n ? compress(w, zeroes, n, ZSTD_e_continue, e) : 0;
}

static size_t padding(uint64_t n)
{
	return (TAR_BLOCK - n % TAR_BLOCK) % TAR_BLOCK;
}

int bundle_add(struct bundle_writer *w, const char *name, const void *p, size_t n,
	       struct err *e)
{
	int rc = put_header(w, name, n, e);
	if (!rc && n)
		rc = compress(w, p, n, ZSTD_e_continue, e);
	return rc ? rc : put_zeroes(w, padding(n), e);
}

/* Exactly `size` bytes of fd, whatever it has grown to since. */
static int put_file(struct bundle_writer *w, int fd, uint64_t size, const char *path,
		    struct err *e)
{
	for (uint64_t left = size; left;) {
		size_t want = left < PIECE ? (size_t)left : PIECE;
		ssize_t got = read(fd, w->piece, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "%s: read error", path);
		if (!got)
			return err_set(e, ERR_IO, "%s: became shorter while it was read", path);
		int rc = compress(w, w->piece, (size_t)got, ZSTD_e_continue, e);
		if (rc)
			return rc;
		left -= (uint64_t)got;
	}
	return put_zeroes(w, padding(size), e);
}

int bundle_add_fd(struct bundle_writer *w, const char *name, int fd, const char *path,
		  struct err *e)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(e, "%s: cannot read", path);
	int rc = put_header(w, name, (uint64_t)st.st_size, e);
	return rc ? rc : put_file(w, fd, (uint64_t)st.st_size, path, e);
}

int bundle_commit(struct bundle_writer *w, uint64_t *size, struct err *e)
{
	int rc = put_zeroes(w, 2 * (size_t)TAR_BLOCK, e);
	if (!rc)
		rc = compress(w, NULL, 0, ZSTD_e_end, e);
	if (!rc) {
		rc = outfile_commit(&w->out, e);
		w->out = (struct outfile){0};
	}
	if (size)
		*size = w->size;
	bundle_abort(w);
	return rc;
}

void bundle_abort(struct bundle_writer *w)
{
	if (!w)
		return;
	outfile_abort(&w->out);
	ZSTD_freeCStream(w->zstd);
	mem_free(w);
}
