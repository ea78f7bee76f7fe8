#include "tests/lib/cfiasm.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

static void put(struct cfiasm *a, const void *p, size_t n)
{
	if (n > sizeof(a->b) - a->n)
		__builtin_trap();
	if (n) /* no program is no bytes */
		memcpy(a->b + a->n, p, n);
	a->n += n;
}

static void put_u8(struct cfiasm *a, uint8_t v)
{
	put(a, &v, 1);
}

static void put_u32(struct cfiasm *a, uint32_t v)
{
	v = htole32(v);
	put(a, &v, 4);
}

/* The length in front, nops behind. */
static void close_entry(struct cfiasm *a, size_t at)
{
	while ((a->n - at) % 8 != 4)
		put_u8(a, 0);
	uint32_t len = htole32((uint32_t)(a->n - at - 4));
	memcpy(a->b + at, &len, 4);
}

size_t cfiasm_cie(struct cfiasm *a, const char *aug, uint16_t machine, const uint8_t *prog,
		  size_t n)
{
	size_t at = a->n;
	put_u32(a, 0);
	put_u32(a, 0);
	put_u8(a, 1);
	put(a, aug, strlen(aug) + 1);
	put_u8(a, machine == EM_AARCH64 ? 4 : 1);
	put_u8(a, 0x78); /* -8 */
	put_u8(a, machine == EM_AARCH64 ? 30 : machine == EM_RISCV ? 1 : 16);
	if (*aug == 'z') {
		size_t len_at = a->n;
		put_u8(a, 0);
		for (const char *c = aug + 1; *c; c++) {
			if (*c == 'R')
				put_u8(a, 0x1b);
			else if (*c == 'L')
				put_u8(a, 0x1b);
			else if (*c == 'P') {
				put_u8(a, 0x9b);
				put_u32(a, 0x1234);
			}
		}
		a->b[len_at] = (uint8_t)(a->n - len_at - 1);
	}
	put(a, prog, n);
	close_entry(a, at);
	return at;
}

size_t cfiasm_fde(struct cfiasm *a, size_t cie, uint64_t start, uint32_t len,
		  const uint8_t *prog, size_t n)
{
	size_t at = a->n;
	put_u32(a, 0);
	put_u32(a, (uint32_t)(a->n - cie));
	put_u32(a, (uint32_t)(start - (a->va + a->n)));
	put_u32(a, len);
	put_u8(a, 0); /* augmentation data: none */
	put(a, prog, n);
	close_entry(a, at);
	return at;
}

void cfiasm_zero(struct cfiasm *a)
{
	put_u32(a, 0);
}

size_t cfiasm_hdr(const struct cfiasm *a, uint64_t va, const size_t *fde, const uint64_t *start,
		  size_t n, uint8_t *out)
{
	const uint8_t head[4] = {1, 0x1b, 0x03, 0x3b};
	uint32_t v = htole32((uint32_t)(a->va - (va + 4)));
	memcpy(out, head, 4);
	memcpy(out + 4, &v, 4);
	v = htole32((uint32_t)n);
	memcpy(out + 8, &v, 4);
	for (size_t i = 0; i < n; i++) {
		v = htole32((uint32_t)(start[i] - va));
		memcpy(out + 12 + 8 * i, &v, 4);
		v = htole32((uint32_t)(a->va + fde[i] - va));
		memcpy(out + 16 + 8 * i, &v, 4);
	}
	return 12 + 8 * n;
}
