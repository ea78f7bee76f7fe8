#include "base/bigvec.h"
#include "base/mem.h"
#include "base/os/os.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SMALL = 1 << 20,
	STEP = 32 << 20,  /* bytes by which a large vector grows */
	PAGES = 64 << 10, /* a multiple of any page size */
	AHEAD = 2 << 20,
};

static const char *folder(void)
{
	const char *dir = getenv("TMPDIR");
	return dir && *dir ? dir : "/tmp";
}

/* Grow the file and its mapping to `bytes`. */
static int grow_file(void **v, struct bigvec_map *m, size_t bytes, struct err *e)
{
	bytes = (bytes + PAGES - 1) / PAGES * PAGES;
	if (diskroom_reserve(&m->disk, m->fd, bytes - m->bytes, folder(), e))
		return ERR_IO;
	void *p = os_grow_paging(m->fd, *v, m->bytes, bytes);
	if (!p && errno != ENOMEM)
		return err_sys(e, "%s: no room for %zu MB of temporary data", folder(),
			       bytes >> 20);
	if (!p)
		return err_nomem(e);
	if (bytes - m->bytes <= STEP + PAGES)
		os_populate((char *)p + m->bytes, bytes - m->bytes);
	*v = p;
	m->bytes = bytes;
	return 0;
}

/* Move the elements from memory into a file. 1 when no file can be created. */
static int move_out(void **v, struct bigvec_map *m, size_t used, size_t bytes, struct err *e)
{
	m->fd = os_paging_file(folder());
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
	m->reserved = 0;
	*v = p;
	return 0;
}

/* The kernel clears pages more slowly than a vector is filled, above all in a virtual machine:
 * another thread gets the next ones meanwhile. Populating changes no content. */
static void *populate(void *from)
{
	os_populate(from, AHEAD);
	return from;
}

static void begin_ahead(void *from, struct bigvec_map *m)
{
	pthread_t thread;
	m->is_ahead = !pthread_create(&thread, NULL, populate, from);
	m->ahead = m->is_ahead ? (uintptr_t)thread : 0;
}

static void end_ahead(struct bigvec_map *m)
{
	if (m->is_ahead)
		pthread_join((pthread_t)m->ahead, NULL);
	m->is_ahead = 0;
}

static void *reserve(void *v, size_t used)
{
	void *p = mem_try_large(BIGVEC_IN_MEMORY);
	if (p && used)
		memcpy(p, v, used);
	if (p)
		mem_free(v);
	return p;
}

/*
 * A vector that becomes large reserves all of its memory at once, on large pages: the unused
 * part is only address space, and growing would copy, which touches each page again. If address
 * space is short, it grows in steps.
 */
static int grow_memory(void **v, struct bigvec_map *m, size_t used, size_t *want, size_t size,
		       struct err *e)
{
	size_t bytes = *want * size;
	void *p = m->reserved ? *v : NULL;
	if (bytes > BIGVEC_IN_MEMORY)
		p = NULL;
	else if (!p && bytes > SMALL && os_can_reserve())
		p = reserve(*v, used);
	m->reserved = p ? BIGVEC_IN_MEMORY : 0;
	if (p) {
		bytes = (bytes + AHEAD - 1) / AHEAD * AHEAD;
		*want = bytes / size;
		if (bytes < BIGVEC_IN_MEMORY)
			begin_ahead((char *)p + bytes, m);
	} else {
		p = mem_resize(*v, *want, size);
	}
	if (!p)
		return err_nomem(e);
	*v = p;
	return 0;
}

/* The next capacity, at least `least` elements: in memory half as much again, in a file one
 * step more. */
static size_t next_room(size_t room, size_t least, size_t size)
{
	size_t most = BIGVEC_IN_MEMORY / size, want = room + room / 2 + 8;
	if (room >= most)
		want = room + STEP / size;
	else if (want > most)
		want = most;
	return want < least ? least : want;
}

static int resize(void **v, struct bigvec_map *m, size_t n, size_t *want, size_t size,
		  struct err *e)
{
	int r = 1;
	end_ahead(m);
	if (m->bytes)
		r = grow_file(v, m, *want * size, e);
	else if (*want * size > BIGVEC_IN_MEMORY)
		r = move_out(v, m, n * size, *want * size, e);
	return r == 1 ? grow_memory(v, m, n * size, want, size, e) : r;
}

int bigvec_grow_(void **v, size_t *room, struct bigvec_map *m, size_t n, size_t more,
		 size_t size, struct err *e)
{
	size_t want = 0;
	if (more <= SIZE_MAX / 2 - n)
		want = !m->reserved && (*room || more == 1) ? next_room(*room, n + more, size)
							    : n + more;
	m->failed = want && want <= SIZE_MAX / 2 / size ? resize(v, m, n, &want, size, e)
							: err_nomem(e);
	if (!m->failed)
		*room = want;
	return m->failed;
}

void bigvec_drop_(void *v, struct bigvec_map *m, size_t bytes)
{
	uintptr_t from = ((uintptr_t)v + m->dropped + PAGES - 1) / PAGES * PAGES;
	uintptr_t to = ((uintptr_t)v + bytes) / PAGES * PAGES;
	if (to <= from)
		return;
	if (m->bytes)
		os_punch(m->fd, from - (uintptr_t)v, to - from);
	else
		os_drop_pages((void *)from, to - from);
	m->dropped = to - (uintptr_t)v;
}

void bigvec_free_(void *v, struct bigvec_map *m)
{
	end_ahead(m);
	if (m->bytes) {
		os_unmap(v, m->bytes);
		close(m->fd);
	} else {
		mem_free(v);
	}
	*m = (struct bigvec_map){0};
}
