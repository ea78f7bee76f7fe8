#include "libparse/source.h"
#include "base/diskroom.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The same descriptor, but never 0, which means standard input here, even if that is closed. */
static int not_stdin(int fd)
{
	if (fd)
		return fd;
	fd = fcntl(0, F_DUPFD_CLOEXEC, 1);
	close(0);
	return fd;
}

static int map_or_stream(struct source *s, int fd, int in_pieces, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(e, "%s: cannot stat", s->name);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "%s: is a directory", s->name);
	s->fd = fd;
	if (!S_ISREG(st.st_mode) || (fd == 0 && lseek(fd, 0, SEEK_CUR) != 0))
		return 0;
	if (!st.st_size)
		return err_set(e, ERR_FORMAT, "%s: is empty", s->name);
	void *p = in_pieces ? NULL : os_map(fd, (uint64_t)st.st_size);
	if (!p && !in_pieces && errno != EFBIG && errno != ENOMEM)
		return 0; /* a file system without mmap: read it as a stream */
	in_pieces = !p;   /* or there is no room for it in 32 bits */
	s->size = (uint64_t)st.st_size;
	s->mtime_ns = source_mtime_ns(&st);
	s->pieces = in_pieces;
	if (in_pieces) {
		s->fd = not_stdin(fd);
		return 0;
	}
	os_read_ahead(p, (size_t)st.st_size);
	s->data = p;
	s->mapped = 1;
	s->fd = -1;
	if (fd)
		close(fd);
	return 0;
}

int64_t source_mtime_ns(const struct stat *st)
{
	int64_t ns;
	if (__builtin_mul_overflow((int64_t)st->st_mtim.tv_sec, 1000000000, &ns) ||
	    __builtin_add_overflow(ns, st->st_mtim.tv_nsec, &ns))
		return st->st_mtim.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static int open_as(struct source *s, const char *path, int in_pieces, struct err *e)
{
	struct stat st;
	int is_stdin = !strcmp(path, "-");
	*s = (struct source){.fd = -1};
	s->name = mem_strdup(is_stdin ? "stdin" : path);
	if (!s->name)
		return err_nomem(e);
	int fd = is_stdin                  ? 0
		 : regular_is_pinned(path) ? not_stdin(regular_open(AT_FDCWD, path, 0, &st))
					   : not_stdin(open(path, O_RDONLY | O_CLOEXEC));
	int r = fd < 0 ? err_sys(e, "%s: cannot open", path)
		       : map_or_stream(s, fd, in_pieces, e);
	if (r) {
		if (fd > 0 && s->fd != fd)
			close(fd);
		source_close(s);
	}
	return r;
}

int source_open(struct source *s, const char *path, struct err *e)
{
	return open_as(s, path, os_map_is_copy(), e);
}

int source_open_pieces(struct source *s, const char *path, struct err *e)
{
	return open_as(s, path, 1, e);
}

int source_open_regular(struct source *s, const char *path, struct err *e)
{
	struct stat st;
	*s = (struct source){.fd = -1};
	s->name = mem_strdup(path);
	if (!s->name)
		return err_nomem(e);
	int fd = not_stdin(regular_open(AT_FDCWD, path, 0, &st));
	int r = fd >= 0           ? st.st_size ? map_or_stream(s, fd, os_map_is_copy(), e) : 1
		: errno == EINVAL ? err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", path)
		: errno == ENOENT ? err_set(e, ERR_NOTFOUND, "%s: no such file", path)
				  : err_sys(e, "%s: cannot open", path);
	if (r) {
		if (fd > 0 && s->fd != fd)
			close(fd);
		source_close(s);
	}
	return r;
}

int source_open_mem(struct source *s, const void *p, size_t n, const char *name, struct err *e)
{
	*s = (struct source){.fd = -1, .data = p, .size = n};
	s->name = mem_strdup(name);
	return s->name ? 0 : err_nomem(e);
}

/* Return what source_peek has read ahead. */
static size_t read_head(struct source *s, void *buf, size_t n)
{
	size_t k = n < s->head_n ? n : s->head_n;
	memcpy(buf, s->head, k);
	memmove(s->head, s->head + k, s->head_n - k);
	s->head_n -= k;
	return k;
}

int source_peek(struct source *s, const uint8_t **p, size_t *n, struct err *e)
{
	*p = s->data ? s->data : s->head;
	*n = s->data ? (s->size < SOURCE_HEAD ? (size_t)s->size : SOURCE_HEAD) : s->head_n;
	if (s->data)
		return 0;
	if (s->pieces) {
		int64_t got = source_read_at(s, 0, s->head, SOURCE_HEAD, e);
		*n = got > 0 ? (size_t)got : 0;
		return got < 0 ? (int)got : 0;
	}
	while (s->head_n < SOURCE_HEAD) {
		uint8_t more[SOURCE_HEAD];
		size_t had = s->head_n;
		s->head_n = 0; /* read after what is already there */
		int64_t got = source_read(s, more, SOURCE_HEAD - had, e);
		s->head_n = had;
		if (got < 0)
			return (int)got;
		if (!got)
			break;
		memcpy(s->head + had, more, (size_t)got);
		s->head_n += (size_t)got;
		s->size -= (uint64_t)got; /* counted when returned */
	}
	*n = s->head_n;
	return 0;
}

int64_t source_read_at(const struct source *s, uint64_t offset, void *buf, size_t n,
		       struct err *e)
{
	enum { PIECE = 1 << 30 };
	uint64_t left = offset < s->size ? s->size - offset : 0;
	size_t want = n < left ? n : (size_t)left, have = 0;
	if (s->data) {
		memcpy(buf, s->data + offset, want);
		return (int64_t)want;
	}
	while (have < want) {
		size_t piece = want - have < PIECE ? want - have : PIECE;
		long got = os_read_at(s->fd, (char *)buf + have, piece, offset + have);
		if (got < 0 && errno != EINTR)
			return err_sys(e, "%s: read error at byte %llu", s->name,
				       (unsigned long long)(offset + have));
		if (!got)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	return (int64_t)have;
}

/* Sections of a sound file do not overlap. */
const uint8_t *source_bytes(struct source *s, uint64_t offset, uint64_t n)
{
	enum { OVERLAP = 64 << 20 };
	if (offset > s->size || n > s->size - offset)
		return NULL;
	if (s->data)
		return s->data + offset;
	if (n > SIZE_MAX / 2 || s->kept.total + n > s->size + OVERLAP)
		return NULL;
	uint8_t *p = arena_bytes(&s->kept, n ? (size_t)n : 1);
	int64_t got = p ? source_read_at(s, offset, p, (size_t)n, NULL) : -1;
	return got == (int64_t)n ? p : NULL;
}

int64_t source_read(struct source *s, void *buf, size_t n, struct err *e)
{
	if (s->pieces) {
		int64_t got = source_read_at(s, s->at, buf, n, e);
		s->at += got > 0 ? (uint64_t)got : 0;
		return got;
	}
	if (s->head_n) {
		size_t k = read_head(s, buf, n);
		s->size += k;
		return (int64_t)k;
	}
	for (;;) {
		ssize_t got = read(s->fd, buf, n);
		if (got >= 0) {
			s->size += (uint64_t)got;
			return got;
		}
		if (errno != EINTR)
			return err_sys(e, "%s: read error at byte %llu", s->name,
				       (unsigned long long)s->size);
	}
}

static int copy_all(struct source *s, int to, struct err *e)
{
	uint8_t buf[1 << 16];
	struct diskroom room = {0};
	for (;;) {
		int64_t got = source_read(s, buf, sizeof(buf), e);
		if (got <= 0)
			return (int)got;
		int rc = diskroom_reserve(&room, to, (size_t)got, s->name, e);
		if (rc)
			return rc;
		for (int64_t at = 0; at < got;) {
			ssize_t put = write(to, buf + at, (size_t)(got - at));
			if (put < 0 && errno != EINTR)
				return err_sys(e, "%s: cannot keep it in a temporary file",
					       s->name);
			at += put > 0 ? put : 0;
		}
	}
}

int source_spool(struct source *s, struct err *e)
{
	const char *dir = getenv("TMPDIR");
	int fd = not_stdin(os_unnamed_file(dir && *dir ? dir : "/tmp"));
	if (fd < 0)
		return err_sys(e, "%s: no temporary file", s->name);
	int rc = copy_all(s, fd, e), in_pieces = os_map_is_copy();
	void *p = rc || !s->size || in_pieces ? NULL : os_map(fd, s->size);
	if (!rc && !p && !in_pieces)
		rc = err_sys(e, "%s: cannot map its temporary file", s->name);
	if (rc) {
		close(fd);
		return rc;
	}
	if (s->fd > 0)
		close(s->fd);
	s->fd = in_pieces ? fd : -1;
	if (!in_pieces)
		close(fd);
	s->data = p;
	s->mapped = !in_pieces;
	s->pieces = in_pieces;
	return 0;
}

void source_close(struct source *s)
{
	if (s->mapped)
		os_unmap(s->data, (size_t)s->size);
	if (s->fd > 0)
		close(s->fd);
	arena_release(&s->kept);
	mem_free(s->name);
	*s = (struct source){.fd = -1};
}
