#include "cmd/input/plain_input.h"
#include "base/text/buf.h"
#include "base/diskroom.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cmd/input/input_kind.h"
#include "cmd/input/scratch.h"
#include "libparse/archive/unzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct made {
	char *path, *file;
};

/* Files made so far, because verbs open their input more than once. Lives as long as the
 * process. */
static VEC(struct made) all_made;

const char *plain_input_file(const char *path)
{
	for (size_t i = 0; i < all_made.n; i++)
		if (!strcmp(all_made.v[i].path, path))
			return all_made.v[i].file;
	return NULL;
}

/* 1 in *holds when the decompressed data is readable input. */
static int holds_input(struct source *src, int *holds, struct err *e)
{
	struct unzip *u;
	uint8_t head[SOURCE_HEAD];
	size_t n = 0, got;
	int rc = unzip_open(&u, src, e);
	*holds = 0;
	if (rc)
		return rc;
	while (n < sizeof(head) &&
	       (rc = unzip_some(u, head + n, sizeof(head) - n, &got, e)) == 1)
		n += got;
	unzip_close(u);
	if (rc < 0 && !n)
		return rc;
	*holds = !unzip_detect(head, n) && input_kind_of_bytes(head, n) != INPUT_UNKNOWN;
	return 0;
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t put = write(fd, p, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return -1;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

static int copy_plain(struct source *src, const char *file, struct err *e)
{
	enum { PIECE = 1 << 20 };
	struct unzip *u = NULL;
	uint8_t *piece = mem_alloc(PIECE);
	size_t got;
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc = !piece   ? err_nomem(e)
		 : fd < 0 ? err_sys(e, "%s: cannot unpack it to %s", src->name, file)
			  : unzip_open(&u, src, e);
	struct diskroom room = {0};
	while (!rc && (rc = unzip_some(u, piece, PIECE, &got, e)) == 1) {
		rc = diskroom_reserve(&room, fd, got, file, e);
		if (!rc && write_all(fd, piece, got))
			rc = err_sys(e, "%s: cannot unpack it to %s", src->name, file);
	}
	unzip_close(u);
	mem_free(piece);
	if (fd >= 0 && close(fd) && !rc)
		rc = err_sys(e, "%s: cannot unpack it to %s", src->name, file);
	return rc;
}

static int make(struct source *src, const char *path, struct err *e)
{
	const char *dir;
	struct buf name = {0};
	int rc = scratch_dir(&dir, e);
	if (rc)
		return rc;
	buf_fmt(&name, "%s/plain%zu", dir, all_made.n);
	buf_cstr(&name);
	struct made m = {name.failed ? NULL : mem_strdup(path), name.v};
	rc = m.path ? copy_plain(src, m.file, e) : err_nomem(e);
	if (!rc && vec_push(&all_made, m))
		rc = err_nomem(e);
	if (rc) {
		mem_free(m.path);
		buf_release(&name);
	}
	return rc;
}

int plain_input_open(struct source *src, const char *path, struct err *e)
{
	const char *file = plain_input_file(path);
	const uint8_t *head;
	size_t n;
	int holds, rc = source_peek(src, &head, &n, e);
	if (rc || !unzip_detect(head, n))
		return rc;
	if (!file) {
		rc = source_is_file(src) ? 0 : source_spool(src, e);
		if (!rc)
			rc = holds_input(src, &holds, e);
		if (rc || !holds)
			return rc;
		rc = make(src, path, e);
		file = plain_input_file(path);
	}
	struct source plain;
	if (!rc)
		rc = source_open(&plain, file, e);
	char *name = rc ? NULL : mem_strdup(src->name);
	if (rc)
		return rc;
	if (!name) {
		source_close(&plain);
		return err_nomem(e);
	}
	plain.origin = source_origin(src);
	mem_free(plain.name);
	plain.name = name;
	source_close(src);
	*src = plain;
	return 0;
}
