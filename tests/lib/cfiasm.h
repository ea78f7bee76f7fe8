/*
 * cfiasm.h - call-frame information written by hand, byte by byte, for tests that know every
 * row they expect.
 *
 *	struct cfiasm a = {.va = 0x2000};
 *	size_t cie = cfiasm_cie(&a, "zR", EM_X86_64, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
 *	cfiasm_fde(&a, cie, 0x1000, 0x40, CFI_BYTES(0x41, 0x0e, 16));
 */
#ifndef TESTS_LIB_CFIASM_H
#define TESTS_LIB_CFIASM_H

#include <stddef.h>
#include <stdint.h>

struct cfiasm {
	uint64_t va; /* of b[0] */
	size_t n;
	uint8_t b[8192];
};

/* The instruction bytes and their number, as two arguments. */
#define CFI_BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Append a CIE of .eh_frame (version 1, data factor -8, code factor 1 or 4, pointers pcrel
 * sdata4); `aug` may hold z, R, S, B, P (an indirect pointer that must be skipped), L. Returns
 * its offset. */
size_t cfiasm_cie(struct cfiasm *a, const char *aug, uint16_t machine, const uint8_t *prog,
		  size_t n);

/* Append an FDE for [start, start + len); returns its offset. */
size_t cfiasm_fde(struct cfiasm *a, size_t cie, uint64_t start, uint32_t len,
		  const uint8_t *prog, size_t n);

/* Append a zero terminator. */
void cfiasm_zero(struct cfiasm *a);

/* Write an .eh_frame_hdr that will lie at `va` for FDEs given in ascending order of start. */
size_t cfiasm_hdr(const struct cfiasm *a, uint64_t va, const size_t *fde, const uint64_t *start,
		  size_t n, uint8_t *out);

#endif
