/*
 * fuzz_unwind - any call-frame information, any registers, any stack.
 *
 * Input: one byte (bit 0: aarch64; bit 1: .eh_frame_hdr decides, as a whole ELF), one byte of
 * stack length in units of 16, 34 registers of 2 bytes each (offsets from the stack or the
 * code), that stack, and the rest is .eh_frame bytes or an ELF.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libsym/cfi.h"
#include "libsym/unwind.h"

#include <elf.h>

#define STACK_AT UINT64_C(0x7ff000000000)
#define CODE_AT UINT64_C(0x1000)

enum { REGS = 34, CODE_SIZE = 0x4000 };

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	if (pc < CODE_AT || pc >= CODE_AT + CODE_SIZE)
		return 0;
	*out = (struct unwind_module){ctx, 0, 1, 0};
	return 1;
}

static void unwind_all(struct cfi *c, const uint8_t *regs, const uint8_t *stack, size_t n)
{
	struct unwind_opts o = {.machine = cfi_machine(c), .module_at = module_at};
	struct unwinder *u;
	if (unwinder_new(&o, &u, NULL))
		return;
	uint64_t reg[REGS];
	for (size_t i = 0; i < REGS; i++) {
		uint64_t v = load_u16(regs + 2 * i, 0);
		reg[i] = v & 0x8000 ? STACK_AT + (v & 0x7fff) : CODE_AT + v;
	}
	int arm = o.machine == EM_AARCH64;
	reg[arm ? ARM_SP : 7] = STACK_AT;
	struct unwind_sample s = {
		.regs = reg,
		.regs_mask = arm ? 0x1ffffffff | UINT64_C(1) << 46 : 0xff01ff,
		.abi = 2,
		.stack = stack,
		.stack_size = n,
		.stack_asked = n,
		.space = 1,
		.ctx = c,
	};
	for (uint64_t pc = CODE_AT; pc < CODE_AT + CODE_SIZE; pc += 0x3d) {
		struct unwind_stack st;
		reg[arm ? ARM_PC : 8] = pc;
		unwind_sample(u, &s, &st, NULL);
	}
	unwinder_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct elf_file *f = NULL;
	struct cfi *c = NULL;
	if (n < 2 + 2 * REGS || n - 2 - 2 * REGS < (size_t)p[1] * 16)
		return 0;
	const uint8_t *regs = p + 2, *stack = regs + 2 * REGS, *rest = stack + p[1] * 16;
	size_t left = n - (size_t)(rest - p);
	struct cfi_bytes b = {.machine = p[0] & 1 ? EM_AARCH64 : EM_X86_64,
			      .eh_frame = rest,
			      .eh_frame_size = left,
			      .eh_frame_va = CODE_AT + CODE_SIZE};
	if (!(p[0] & 2))
		cfi_open_bytes(&b, &c, NULL);
	else if (!elf_file_open_mem(rest, left, "fuzz", &f, NULL))
		cfi_open(f, NULL, &c, NULL);
	if (c)
		unwind_all(c, regs, stack, (size_t)p[1] * 16);
	cfi_close(c);
	elf_file_close(f);
	return 0;
}
