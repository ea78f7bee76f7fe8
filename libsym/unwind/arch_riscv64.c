/*
 * riscv64.
 *
 * A frame record is below the address in s0, which is the CFA:
 *
 *	s0 - 16: the caller's s0    s0 - 8: return address    s0: the caller's sp
 *
 * The vdso's trampoline has call-frame information that only says "signal frame"; the registers
 * are located by its code (arch/riscv/kernel/vdso/rt_sigreturn.S).
 */
#include "libsym/unwind/arch.h"
#include "libsym/elf/symtab.h"

#include <elf.h>

enum { INSN = 4, COMPRESSED = 2, STUB = 16 };
enum { REG_RA = 1, REG_T0 = 5, REG_T3 = 28 };

/* In arch/riscv/include/uapi/asm/perf_regs.h bit 0 is pc, in DWARF register 0 is x0. */
static const uint8_t perf_bit[] = {ARCH_NONE, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				   11,        12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				   22,        23, 24, 25, 26, 27, 28, 29, 30, 31, 0};
_Static_assert(sizeof(perf_bit) == RISCV_PC + 1, "pc is the last one");

/* jal and jalr, if they leave the return address in ra, or in t0 as the calls of -msave-restore
 * do; c.jalr of compressed code. */
static int after_call(const uint8_t *before, unsigned n)
{
	uint32_t c = (uint32_t)before[n - 2] | (uint32_t)before[n - 1] << 8;
	if ((c & 0xf07f) == 0x9002 && c != 0x9002) /* 9002 itself is c.ebreak */
		return 1;
	if (n < INSN)
		return 0;
	uint32_t insn = arch_code32(before + n - INSN), rd = insn >> 7 & 31;
	return ((insn & 0x7f) == 0x6f || (insn & 0x707f) == 0x67) &&
	       (rd == REG_RA || rd == REG_T0);
}

/* --- PLT -------------------------------------------------------------------------------- */

/* auipc t3, page; ld t3, low(t3); jalr t1, t3; nop */
static int plt_stub(const struct plt_bytes *s, size_t at, struct plt_stub *out)
{
	const uint32_t auipc_t3 = 0x17 | REG_T3 << 7;
	const uint32_t ld_t3 = 0x3003 | REG_T3 << 7 | (uint32_t)REG_T3 << 15;
	if (s->n - at < STUB)
		return 0;
	uint32_t auipc = arch_code32(s->p + at), ld = arch_code32(s->p + at + INSN);
	if ((auipc & 0xfff) != auipc_t3 || (ld & 0xfffff) != ld_t3)
		return 0;
	int64_t page = (int32_t)(auipc & 0xfffff000), low = (int32_t)ld >> 20;
	*out = (struct plt_stub){.kind = PLT_SLOT,
				 .start = at,
				 .end = at + STUB,
				 .value = s->addr + at + (uint64_t)(page + low)};
	return 1;
}

#ifndef R_RISCV_IRELATIVE /* glibc before 2.32 */
#define R_RISCV_IRELATIVE 58
#endif

static const struct plt_shapes plt = {
	.jump_slot = R_RISCV_JUMP_SLOT,
	.glob_dat = R_RISCV_64,
	.irelative = R_RISCV_IRELATIVE,
	.step = INSN,
	.stub = plt_stub,
};

/* --- signals ---------------------------------------------------------------------------- */

/* li a7, __NR_rt_sigreturn; ecall */
static const uint8_t sigreturn[] = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0};

/* arch/riscv/include/uapi/asm/{ucontext,sigcontext,ptrace}.h: siginfo, then struct ucontext,
 * whose registers are aligned to 16; pc is the first of them, then x1, x2, ... */
enum { UCONTEXT = 128, REGS = UCONTEXT + 176, FCSR = REGS + 8 * 32 + 8 * 32 };

const struct arch arch_riscv64 = {
	.machine = EM_RISCV,
	.word = 8,
	.names = {"riscv64"},
	.pc = RISCV_PC,
	.sp = RISCV_SP,
	.fp = RISCV_FP,
	.ra = RISCV_RA,
	.lr = RISCV_RA,
	.perf_bit = perf_bit,
	.perf_bits = sizeof(perf_bit),
	.kept = 3 << 3 | 3 << 8 | 0x3ff << 18, /* psABI: gp, tp, s0 to s11 */
	.dump_regs = UINT64_C(0xffffffff),
	.record_fp = -16,
	.record_ra = -8,
	.record_end = 0,
	.after_call = after_call,
	.call_max = INSN,
	.call_min = COMPRESSED,
	.call_step = COMPRESSED,
	.sigframe = {.pc = REGS,
		     .sp = REGS + 8 * RISCV_SP,
		     .fp = REGS + 8 * RISCV_FP,
		     .lr = REGS + 8 * RISCV_RA,
		     .context = UCONTEXT,
		     .mark = FCSR, /* has no bits above frm and fflags */
		     .mark_mask = 0xffffff00,
		     .mark_is = 0,
		     .code = sigreturn,
		     .code_size = sizeof(sigreturn),
		     .syscall = INSN},
	.plt = &plt,
	.syscalls = arch_generic_syscalls,
	.first_arg = "%a0",
	.call_arg = ARCH_NONE, /* the kernel overwrites a0 (do_trap_ecall_u) */
	.call_mark = ARCH_NONE,
};
