#include "base/vec.h"
#include "base/mem.h"

#include <stdint.h>
#include <string.h>

enum {
	LARGE = 4 << 20, /* bytes from which a vector has room to grow … */
	ROOM = 64 << 20, /* … to this size: always a mapping of its own in the C library */
};

/*
 * A vector that becomes large gets address space for much more than it holds: the unused part
 * costs no memory, and growing by copying would touch each page again. Beyond it, the kernel
 * moves the pages. NULL: address space is short, or it has grown beyond that.
 */
static void *move_to_room(void *v, size_t used)
{
	void *p = mem_try_large(ROOM);
	if (p && used)
		memcpy(p, v, used);
	if (p)
		mem_free(v);
	return p;
}

int vec_grow_(void **v, size_t *cap, size_t n, size_t more, size_t size)
{
	if (more > SIZE_MAX / 2 - n)
		return ERR_NOMEM;
	size_t want = *cap ? *cap + *cap / 2 : 8, room = ROOM / size;
	if (want < n + more)
		want = n + more;
	void *p = want > LARGE / size && want <= room ? move_to_room(*v, n * size) : NULL;
	if (p)
		want = room;
	else
		p = mem_resize(*v, want, size);
	if (!p)
		return ERR_NOMEM;
	*v = p;
	*cap = want;
	return 0;
}

void vec_free_(void *v)
{
	mem_free(v);
}
