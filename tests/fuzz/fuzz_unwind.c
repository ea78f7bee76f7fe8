/*
 * fuzz_unwind - any call-frame information, any registers, any stack, and what else a sample
 * may have: a recorded chain, generated code, code without a file, names of roots.
 *
 * Input: one byte of flags (below), one byte of stack length in units of 16, 34 registers of 2
 * bytes each (offsets from the stack or the code), that stack, and the rest is .eh_frame bytes
 * or an ELF.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

#include <elf.h>
#include <string.h>

#define STACK_AT UINT64_C(0x7ff000000000)
#define CODE_AT UINT64_C(0x1000)

enum { REGS = 34, CODE_SIZE = 0x4000, CHAIN_MAX = 12 };

enum flag {
	ARM = 1,
	AS_ELF = 2,
	CHAIN = 4,    /* words of the stack, which ones the last registers tell */
	CODE = 8,     /* the .eh_frame bytes are machine code, too, over and over */
	HOLE = 16,    /* more was asked for than was copied */
	NAMES = 32,   /* functions have beginnings, one in 16 is a root, one main */
	FOREIGN = 64, /* the upper half of the code has no file, or none that was built */
	KERNEL = 128, /* sampled in the kernel, which keeps some registers for itself */
};

struct process {
	struct cfi *cfi;
	unsigned flags;
};

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	static const uint32_t kinds[] = {0, UNWIND_MOD_JIT, UNWIND_MOD_NO_FILE,
					 UNWIND_MOD_NO_FILE};
	const struct process *p = ctx;
	if (pc < CODE_AT || pc >= CODE_AT + CODE_SIZE)
		return 0;
	*out = (struct unwind_module){p->cfi, 0, 1, 0};
	if (p->flags & FOREIGN && pc - CODE_AT >= CODE_SIZE / 2)
		*out = (struct unwind_module){NULL, 0, 2, kinds[pc >> 10 & 3]};
	return 1;
}

static int is_root(void *ctx, uint64_t lookup)
{
	(void)ctx;
	unsigned function = lookup >> 6 & 15;
	return function == 7 ? UNWIND_ROOT : function == 9 ? UNWIND_MAIN : 0;
}

static int function_at(void *ctx, uint64_t lookup, uint64_t *start)
{
	(void)ctx;
	*start = lookup & ~UINT64_C(63);
	return (lookup >> 6 & 3) != 0;
}

/* How many of them go into chain[0..CHAIN_MAX). */
static size_t take_chain(const uint8_t *regs, const uint8_t *stack, size_t n, uint64_t *chain)
{
	const uint8_t *which = regs + 2 * (REGS - CHAIN_MAX);
	for (size_t i = 1; n >= 8 && i < CHAIN_MAX; i++)
		chain[i] = load_u64(stack + load_u16(which + 2 * i, 0) % (n / 8) * 8, 0);
	return n < 8 ? 1 : load_u16(which, 0) % CHAIN_MAX + 1;
}

/* What perf asks for, without the flags and segments of x86, with the VG of aarch64. */
static uint64_t mask_of(const struct arch *a)
{
	return a->machine == EM_X86_64    ? 0xff01ff
	       : a->machine == EM_AARCH64 ? a->dump_regs | UINT64_C(1) << ARM_VG
					  : a->dump_regs;
}

/* Where in the record register `dwarf` stands. */
static size_t word_of(const struct arch *a, uint64_t mask, unsigned dwarf)
{
	uint64_t below = (UINT64_C(1) << arch_perf_bit(a, dwarf)) - 1;
	return (size_t)__builtin_popcountll(mask & below);
}

static void unwind_all(struct process *p, const uint8_t *regs, const uint8_t *stack, size_t n)
{
	const struct arch *arch = cfi_arch(p->cfi);
	int names = p->flags & NAMES;
	struct unwind_opts o = {.machine = arch->machine,
				.module_at = module_at,
				.is_root = names ? is_root : NULL,
				.function_at = names ? function_at : NULL};
	struct unwinder *u;
	if (unwinder_new(&o, &u, NULL))
		return;
	uint64_t chain[CHAIN_MAX] = {0};
	uint64_t reg[REGS];
	for (size_t i = 0; i < REGS; i++) {
		uint64_t v = load_u16(regs + 2 * i, 0);
		reg[i] = v & 0x8000 ? STACK_AT + (v & 0x7fff) : CODE_AT + v;
	}
	uint64_t mask = mask_of(arch);
	reg[word_of(arch, mask, arch->sp)] = STACK_AT;
	for (size_t i = 0; p->flags & KERNEL && i < REGS; i += 3)
		reg[i] = UINT64_MAX;
	struct unwind_sample s = {
		.regs = reg,
		.regs_mask = mask,
		.abi = 2,
		.stack = stack,
		.stack_size = n,
		.stack_asked = p->flags & HOLE ? 4 * n : n,
		.chain = chain,
		.nchain = p->flags & CHAIN ? take_chain(regs, stack, n, chain) : 0,
		.space = 1,
		.in_kernel = (p->flags & KERNEL) != 0,
		.ctx = p,
	};
	for (uint64_t pc = CODE_AT; pc < CODE_AT + CODE_SIZE; pc += 0x3d) {
		struct unwind_stack st;
		reg[word_of(arch, mask, arch->pc)] = chain[0] = pc;
		s.precise = !s.in_kernel && pc & 1; /* every second of them */
		unwind_sample(u, &s, &st, NULL);
	}
	unwinder_free(u);
}

static size_t take_code(const uint8_t *p, size_t n, uint8_t *code)
{
	for (size_t at = 0; n && at < CODE_SIZE; at += n)
		memcpy(code + at, p, n < CODE_SIZE - at ? n : CODE_SIZE - at);
	return n ? CODE_SIZE : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	uint8_t code[CODE_SIZE];
	struct elf_file *f = NULL;
	if (n < 2 + 2 * REGS || n - 2 - 2 * REGS < (size_t)p[1] * 16)
		return 0;
	const uint8_t *regs = p + 2, *stack = regs + 2 * REGS, *rest = stack + p[1] * 16;
	size_t left = n - (size_t)(rest - p);
	struct process process = {.flags = p[0]};
	struct cfi_bytes b = {.machine = p[0] & ARM ? EM_AARCH64 : EM_X86_64,
			      .eh_frame = rest,
			      .eh_frame_size = left,
			      .eh_frame_va = CODE_AT + CODE_SIZE,
			      .code = code,
			      .code_size = p[0] & CODE ? take_code(rest, left, code) : 0,
			      .code_va = CODE_AT};
	if (!(p[0] & AS_ELF))
		cfi_open_bytes(&b, &process.cfi, NULL);
	else if (!elf_file_open_mem(rest, left, "fuzz", &f, NULL))
		cfi_open(f, NULL, &process.cfi, NULL);
	if (process.cfi)
		unwind_all(&process, regs, stack, (size_t)p[1] * 16);
	cfi_close(process.cfi);
	elf_file_close(f);
	return 0;
}
