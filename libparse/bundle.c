#include "libparse/bundle.h"
#include "base/mem.h"
#include "libparse/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PARTIAL BUNDLE_MANIFEST ".partial"

enum {
	IN_SIZE = 1 << 17,
	OUT_SIZE = 1 << 17,
	RATIO_MAX = 1100, /* deflate cannot do better; real bundles stay below 50 */
	RATIO_FREE = 64 << 20,
};

static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip_magic[] = {0x1f, 0x8b, 8};

int bundle_told(const uint8_t *head, size_t n)
{
	return (n >= sizeof(zstd_magic) && !memcmp(head, zstd_magic, sizeof(zstd_magic))) ||
	       (n >= sizeof(gzip_magic) && !memcmp(head, gzip_magic, sizeof(gzip_magic)));
}

int bundle_is_dir(const char *dir)
{
	char line[sizeof(BUNDLE_MAGIC_LINE)] = {0};
	size_t want = sizeof(BUNDLE_MAGIC_LINE) - 1;
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int fd = at < 0 || fstatat(at, BUNDLE_MANIFEST, &st, 0) || !S_ISREG(st.st_mode)
			 ? -1
			 : openat(at, BUNDLE_MANIFEST, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int is = fd >= 0 && read(fd, line, want) == (ssize_t)want &&
		 !strcmp(line, BUNDLE_MAGIC_LINE);
	if (fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	return is;
}

/* --- inflating ---------------------------------------------------------------------------- */

struct unzip {
	struct source *src;
	ZSTD_DStream *zstd; /* one of the two */
	z_stream gzip;
	int is_gzip, frame_ended, eof;
	uint64_t at, in, out; /* position in a mapped source; bytes taken, given */
	const uint8_t *p;     /* input not yet used */
	size_t left;
	uint8_t *chunk; /* input of a stream */
};

/* More input, if there is any. */
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
		int64_t got = source_read(s, u->chunk, IN_SIZE, e);
		if (got < 0)
			return (int)got;
		u->p = u->chunk;
		u->left = (size_t)got;
	}
	u->eof = !u->left;
	u->in += u->left;
	return 0;
}

static int damaged(const struct unzip *u, const char *why, struct err *e)
{
	return err_set(e, ERR_FORMAT, "%s: damaged compressed data (%s)", u->src->name, why);
}

static int inflate_zstd(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	ZSTD_inBuffer in = {.src = u->p, .size = u->left};
	ZSTD_outBuffer out = {.dst = to, .size = n};
	size_t rc = ZSTD_decompressStream(u->zstd, &out, &in);
	if (ZSTD_isError(rc))
		return damaged(u, ZSTD_getErrorName(rc), e);
	u->frame_ended = !rc;
	u->p += in.pos;
	u->left -= in.pos;
	*got = out.pos;
	return 0;
}

static int inflate_gzip(struct unzip *u, uint8_t *to, size_t n, size_t *got, struct err *e)
{
	z_stream *z = &u->gzip;
	z->next_in = (Bytef *)u->p;
	z->avail_in = (uInt)u->left;
	z->next_out = to;
	z->avail_out = (uInt)n;
	if (u->frame_ended && u->left && inflateReset(z) != Z_OK)
		return damaged(u, "gzip", e);
	int rc = inflate(z, Z_NO_FLUSH);
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return damaged(u, z->msg ? z->msg : "gzip", e);
	u->frame_ended = rc == Z_STREAM_END;
	u->p += u->left - z->avail_in;
	u->left = z->avail_in;
	*got = n - z->avail_out;
	return 0;
}

/* tar_reader.read */
static int unzip_read(void *ctx, void *to, size_t n, struct err *e)
{
	struct unzip *u = ctx;
	size_t have = 0;
	while (have < n) {
		size_t got = 0, want = n - have < OUT_SIZE ? n - have : OUT_SIZE;
		int rc = refill(u, e);
		if (rc)
			return rc;
		if (u->eof && u->frame_ended)
			break;
		rc = u->is_gzip ? inflate_gzip(u, (uint8_t *)to + have, want, &got, e)
				: inflate_zstd(u, (uint8_t *)to + have, want, &got, e);
		if (rc)
			return rc;
		if (!got && u->eof)
			break;
		have += got;
		u->out += got;
		if (u->out > RATIO_FREE && (u->out - RATIO_FREE) / RATIO_MAX > u->in)
			return err_set(e, ERR_LIMIT,
				       "%s: inflates to more than %d times its size",
				       u->src->name, RATIO_MAX);
	}
	if (have == n)
		return 1;
	if (!have && u->frame_ended)
		return 0;
	return err_set(e, ERR_TORN, "%s: cut off after %llu bytes", u->src->name,
		       (unsigned long long)u->in);
}

static int unzip_init(struct unzip *u, struct source *src, struct err *e)
{
	const uint8_t *head;
	size_t n;
	*u = (struct unzip){.src = src};
	int rc = source_peek(src, &head, &n, e);
	if (rc)
		return rc;
	if (!bundle_told(head, n))
		return err_set(e, ERR_FORMAT, "%s: no bundle: neither zstd nor gzip data",
			       src->name);
	u->is_gzip = head[0] == gzip_magic[0];
	u->chunk = source_is_mapped(src) ? NULL : mem_alloc(IN_SIZE);
	if (!source_is_mapped(src) && !u->chunk)
		return err_nomem(e);
	if (u->is_gzip) {
		enum { GZIP_ONLY = 16 };
		if (inflateInit2(&u->gzip, MAX_WBITS + GZIP_ONLY) == Z_OK)
			return 0;
		u->is_gzip = 0;
		return err_nomem(e);
	}
	u->zstd = ZSTD_createDStream();
	return u->zstd ? 0 : err_nomem(e);
}

static void unzip_release(struct unzip *u)
{
	if (u->is_gzip)
		inflateEnd(&u->gzip);
	ZSTD_freeDStream(u->zstd);
	mem_free(u->chunk);
}

/* --- unpacking ---------------------------------------------------------------------------- */

struct unpacker {
	struct unzip zip;
	struct tar_reader tar;
	const char *dir;
	int dirfd, flags;
	struct bundle_counts counts;
};

/* The directory that holds `name`, made on the way; *leaf is the last component. The caller
 * closes *fd. No component may be a symbolic link. */
static int open_parent(struct unpacker *u, const char *name, int *fd, const char **leaf,
		       struct err *e)
{
	int at = dup(u->dirfd);
	if (at < 0)
		return err_sys(e, "%s", u->dir);
	for (const char *slash; (slash = strchr(name, '/')); name = slash + 1) {
		char part[256];
		snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
		int made = mkdirat(at, part, 0777);
		int next = made && errno != EEXIST
				   ? -1
				   : openat(at, part,
					    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int why = errno;
		close(at);
		errno = why;
		at = next;
		if (at < 0)
			return err_sys(e, "%s: cannot make the folder '%s'", u->dir, part);
	}
	*fd = at;
	*leaf = name;
	return 0;
}

static int create(struct unpacker *u, const char *name, int replace, int *fd, struct err *e)
{
	const char *leaf;
	int at, rc = open_parent(u, name, &at, &leaf, e);
	if (rc)
		return rc;
	if (replace)
		unlinkat(at, leaf, 0);
	*fd = openat(at, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (*fd < 0)
		rc = errno == EEXIST ? err_set(e, ERR_IO,
					       "%s/%s: exists already (--force "
					       "replaces it)",
					       u->dir, name)
				     : err_sys(e, "%s/%s: cannot write", u->dir, name);
	close(at);
	return rc;
}

static int write_all(int fd, const void *p, size_t n)
{
	const char *at = p;
	while (n) {
		ssize_t k = write(fd, at, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

static int unpack_file(struct unpacker *u, const struct tar_entry *f, struct err *e)
{
	uint8_t piece[65536];
	int fd, rc = create(u, f->name, u->flags & BUNDLE_OVERWRITE, &fd, e);
	if (rc)
		return rc;
	int64_t got;
	while ((got = tar_read(&u->tar, piece, sizeof(piece), e)) > 0) {
		if (write_all(fd, piece, (size_t)got)) {
			got = err_sys(e, "%s/%s: cannot write", u->dir, f->name);
			break;
		}
		u->counts.bytes += (uint64_t)got;
	}
	if (close(fd) && !got)
		got = err_sys(e, "%s/%s: cannot write", u->dir, f->name);
	u->counts.files++;
	return (int)got;
}

static int unpack_dir(struct unpacker *u, const char *name, struct err *e)
{
	char inside[TAR_NAME_MAX + 8];
	const char *leaf;
	int at;
	snprintf(inside, sizeof(inside), "%s/.", name);
	int rc = open_parent(u, inside, &at, &leaf, e);
	if (!rc)
		close(at);
	return rc;
}

/* The first entry: is this a bundle, and one that this version knows? */
static int unpack_manifest(struct unpacker *u, struct err *e)
{
	struct tar_entry f;
	char *text = NULL;
	int fd, rc = tar_next(&u->tar, &f, e);
	if (rc < 0)
		return err_prefix(e, "no bundle");
	if (!rc || f.is_dir || strcmp(f.name, BUNDLE_MANIFEST) || f.size > BUNDLE_MANIFEST_MAX)
		return err_set(e, ERR_FORMAT, "%s: no bundle: it does not begin with a %s",
			       u->zip.src->name, BUNDLE_MANIFEST);
	text = mem_alloc((size_t)f.size + 1);
	if (!text)
		return err_nomem(e);
	size_t n = 0;
	int64_t got;
	while ((got = tar_read(&u->tar, text + n, (size_t)f.size - n, e)) > 0)
		n += (size_t)got;
	rc = (int)got;
	size_t magic = sizeof(BUNDLE_MAGIC_LINE) - 1, stem = magic - 2;
	if (!rc && (n < magic || memcmp(text, BUNDLE_MAGIC_LINE, stem)))
		rc = err_set(e, ERR_FORMAT, "%s: no bundle: its %s is another program's",
			     u->zip.src->name, BUNDLE_MANIFEST);
	if (!rc && memcmp(text, BUNDLE_MAGIC_LINE, magic))
		rc = err_set(e, ERR_UNSUPPORTED, "%s: a bundle of a newer perfkit",
			     u->zip.src->name);
	struct stat st;
	if (!rc && !(u->flags & BUNDLE_OVERWRITE) &&
	    !fstatat(u->dirfd, BUNDLE_MANIFEST, &st, AT_SYMLINK_NOFOLLOW))
		rc = err_set(e, ERR_IO, "%s: holds a bundle already (--force replaces it)",
			     u->dir);
	if (!rc)
		rc = create(u, PARTIAL, 1, &fd, e);
	if (!rc) {
		unlinkat(u->dirfd, BUNDLE_MANIFEST, 0);
		if (write_all(fd, text, n))
			rc = err_sys(e, "%s/%s: cannot write", u->dir, PARTIAL);
		close(fd);
	}
	u->counts.files++;
	u->counts.bytes += n;
	mem_free(text);
	return rc;
}

/* Behind the end mark: tar's padding, and the checksum over everything. */
static int drain(struct unpacker *u, struct err *e)
{
	uint8_t waste[TAR_BLOCK];
	int rc;
	while ((rc = unzip_read(&u->zip, waste, sizeof(waste), e)) == 1)
		;
	return rc;
}

static int unpack_all(struct unpacker *u, struct err *e)
{
	struct tar_entry f;
	int rc = unpack_manifest(u, e);
	while (!rc && (rc = tar_next(&u->tar, &f, e)) == 1) {
		/* the name that says "not whole yet" is ours */
		if (!strcmp(f.name, PARTIAL))
			rc = err_set(e, ERR_REFUSED, "%s: refused: it holds a %s",
				     u->zip.src->name, PARTIAL);
		else
			rc = f.is_dir ? unpack_dir(u, f.name, e) : unpack_file(u, &f, e);
	}
	if (!rc)
		rc = drain(u, e);
	if (!rc && renameat(u->dirfd, PARTIAL, u->dirfd, BUNDLE_MANIFEST))
		rc = err_sys(e, "%s/%s", u->dir, BUNDLE_MANIFEST);
	return rc;
}

int bundle_unpack(struct source *src, const char *dir, int flags, struct bundle_counts *counts,
		  struct err *e)
{
	struct unpacker u = {.dir = dir, .flags = flags, .dirfd = -1};
	int rc = unzip_init(&u.zip, src, e);
	u.tar = (struct tar_reader){.read = unzip_read, .ctx = &u.zip, .name = src->name};
	if (!rc && mkdir(dir, 0777) && errno != EEXIST)
		rc = err_sys(e, "%s: cannot make the folder", dir);
	if (!rc) {
		u.dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (u.dirfd < 0)
			rc = err_sys(e, "%s", dir);
	}
	if (!rc)
		rc = unpack_all(&u, e);
	if (u.dirfd >= 0)
		close(u.dirfd);
	tar_reader_release(&u.tar);
	unzip_release(&u.zip);
	if (counts)
		*counts = u.counts;
	return rc;
}
