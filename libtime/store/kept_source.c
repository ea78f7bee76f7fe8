#include "libtime/store/kept_source.h"
#include "base/mem.h"
#include "libsym/elf/decompress.h"

#include <string.h>
#include <zstd.h>

enum { LEVEL = 3 };

int kept_pack(struct kept_source *k, const void *v, size_t n, struct store_bytes *out)
{
	size_t most = ZSTD_compressBound(n);
	char *packed = mem_alloc(most);
	size_t m = packed ? ZSTD_compress(packed, most, v, n, LEVEL) : 0;
	char *copy = packed && !ZSTD_isError(m) ? arena_bytes(&k->bytes, m) : NULL;
	if (copy)
		*out = (struct store_bytes){memcpy(copy, packed, m), m};
	mem_free(packed);
	return copy ? 0 : ERR_NOMEM;
}

int kept_unpack(const struct store_bytes *b, size_t max, char **out, size_t *n)
{
	uint8_t *v;
	*out = NULL;
	*n = 0;
	int rc = decompress(DECOMPRESS_ZSTD, b->v, b->n, max, "store", &v, n, NULL);
	if (rc)
		return rc == ERR_NOMEM ? rc : ERR_FORMAT;
	*out = mem_resize(v, *n + 1, 1);
	if (*out)
		(*out)[*n] = '\0';
	else
		mem_free(v);
	return *out ? 0 : ERR_NOMEM;
}

void kept_source_release(struct kept_source *k)
{
	stacks_release(&k->stacks);
	arena_release(&k->bytes);
	vec_release(&k->code);
	vec_release(&k->texts);
	*k = (struct kept_source){0};
}
