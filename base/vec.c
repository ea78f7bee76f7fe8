#include "base/vec.h"
#include "base/mem.h"

#include <stdint.h>

int vec_grow_(void **v, size_t *cap, size_t n, size_t more, size_t size)
{
	if (more > SIZE_MAX / 2 - n)
		return ERR_NOMEM;
	size_t want = *cap ? *cap + *cap / 2 : 8;
	if (want < n + more)
		want = n + more;
	void *p = mem_resize(*v, want, size);
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
