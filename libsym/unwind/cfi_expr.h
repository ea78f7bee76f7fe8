/*
 * cfi_expr.h - DWARF expressions in call-frame information.
 *
 * The integer half of DWARF 5 section 2.5: registers, constants, stack and arithmetic
 * operations, dereferences, branches. Every run is bounded in steps and depth.
 */
#ifndef LIBSYM_UNWIND_CFI_EXPR_H
#define LIBSYM_UNWIND_CFI_EXPR_H

#include <stddef.h>
#include <stdint.h>

/* What an expression can read. */
struct cfi_expr_env {
	const uint64_t *reg; /* CFI_REGS values */
	uint64_t known;      /* bit n: reg[n] is valid */
	uint64_t bias;       /* added to DW_OP_addr */
	uint8_t swap;
	uint8_t word; /* bytes of DW_OP_deref; 0: 8 */
	/* `size` bytes (1..8) at addr, zero-extended: 0 and *v, or a negative number, which
	 * cfi_expr_eval then returns. */
	int (*read)(void *ctx, uint64_t addr, unsigned size, uint64_t *v);
	void *ctx;
};

/*
 * Run n bytes at p; `initial` (may be NULL) is pushed first: the CFA, for the rules of
 * registers. 0 and *out; ERR_FORMAT (bad opcode, empty stack, runs out of its bytes), ERR_LIMIT
 * (steps, depth), ERR_NOTFOUND (an unknown register), or what `read` returned.
 */
int cfi_expr_eval(const uint8_t *p, size_t n, const struct cfi_expr_env *env,
		  const uint64_t *initial, uint64_t *out);

#endif
