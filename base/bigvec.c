#include "base/bigvec.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	STEP = 32 << 20,  /* bytes that a large one grows by */
	PAGES = 64 << 10, /* a multiple of any page size */
};

static const char *folder(void)
{
	const char *dir = getenv("TMPDIR");
	return dir && *dir ? dir : "/tmp";
}

/* Room for `bytes` in the file, and the mapping with it. */
static int grow_file(void **v, struct bigvec_map *m, size_t bytes, struct err *e)
{
	int failed;
	bytes = (bytes + PAGES - 1) / PAGES * PAGES;
	do
		failed = posix_fallocate(m->fd, 0, (off_t)bytes);
	while (failed == EINTR);
	if (failed) {
		errno = failed;
		return err_sys(e, "%s: no room for %zu MB of temporary data", folder(),
			       bytes >> 20);
	}
	void *p = m->bytes ? mremap(*v, m->bytes, bytes, MREMAP_MAYMOVE)
			   : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (p == MAP_FAILED)
		return err_nomem(e);
#ifdef MADV_POPULATE_WRITE /* where it fails, pages come one by one as they are used */
	madvise((char *)p + m->bytes, bytes - m->bytes, MADV_POPULATE_WRITE);
#endif
	*v = p;
	m->bytes = bytes;
	return 0;
}

/* From memory into a file. 1 when there is none to be had. */
static int move_out(void **v, struct bigvec_map *m, size_t used, size_t bytes, struct err *e)
{
	m->fd = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (m->fd < 0)
		return 1;
	void *p = NULL;
	int r = grow_file(&p, m, bytes, e);
	if (r) {
		close(m->fd);
		return r;
	}
	if (used)
		memcpy(p, *v, used);
	mem_free(*v);
	*v = p;
	return 0;
}

static int resize(void **v, struct bigvec_map *m, size_t n, size_t want, size_t size,
		  struct err *e)
{
	int r = 1;
	if (m->bytes)
		r = grow_file(v, m, want * size, e);
	else if (want * size > BIGVEC_IN_MEMORY)
		r = move_out(v, m, n * size, want * size, e);
	if (r != 1)
		return r;
	void *p = mem_resize(*v, want, size);
	if (!p)
		return err_nomem(e);
	*v = p;
	return 0;
}

int bigvec_grow_(void **v, size_t *cap, struct bigvec_map *m, size_t n, size_t more,
		 size_t size, struct err *e)
{
	size_t step = *cap / 2 * size < STEP ? *cap / 2 : STEP / size;
	size_t want = *cap + (step > 8 ? step : 8);
	int fits = more <= SIZE_MAX / 2 - n;
	if (fits && want < n + more)
		want = n + more;
	m->failed = fits && want <= SIZE_MAX / 2 / size ? resize(v, m, n, want, size, e)
							: err_nomem(e);
	if (!m->failed)
		*cap = want;
	return m->failed;
}

void bigvec_free_(void *v, struct bigvec_map *m)
{
	if (m->bytes) {
		munmap(v, m->bytes);
		close(m->fd);
	} else {
		mem_free(v);
	}
	*m = (struct bigvec_map){0};
}
