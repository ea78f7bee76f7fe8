/* aarch64, also called arm64. */
#include "libsym/unwind/arch.h"
#include "libsym/elf/symtab.h"

#include <elf.h>

enum { INSN = 4 };

static int after_call(const uint8_t *before, unsigned n)
{
	uint32_t insn = arch_code32(before + n - INSN);
	return (insn & 0xfc000000) == 0x94000000 || /* bl */
	       (insn & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (insn & 0xfefff800) == 0xd63f0800;   /* blraa, blrab, blraaz, blrabz */
}

/* --- PLT -------------------------------------------------------------------------------- */

static uint32_t insn_at(const struct plt_bytes *s, size_t at)
{
	return arch_code32(s->p + at);
}

/* adrp x16, page; ldr x17, [x16, #low] at `at`: the slot they load. */
static int slot_at(const struct plt_bytes *s, size_t at, uint64_t *slot)
{
	if (s->n - at < 2 * INSN)
		return 0;
	uint32_t adrp = insn_at(s, at), ldr = insn_at(s, at + INSN);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	uint64_t imm = (uint64_t)(adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	uint64_t pages = (imm ^ 0x100000) - 0x100000; /* sign of 21 bits */
	*slot = ((s->addr + at) & ~(uint64_t)4095) + (pages << 12) + ((ldr >> 10 & 0xfff) << 3);
	return 1;
}

/* A stub begins at its adrp, or at the `bti c` before it, and ends after its br x17 and the
 * following nops. */
static int plt_stub(const struct plt_bytes *s, size_t at, struct plt_stub *out)
{
	const uint32_t bti_c = 0xd503245f, br_x17 = 0xd61f0220, nop = 0xd503201f;
	*out = (struct plt_stub){.kind = PLT_SLOT};
	if (!slot_at(s, at, &out->value))
		return 0;
	size_t end = at + 2 * INSN;
	while (end + INSN <= s->n && end < at + 8 * INSN && insn_at(s, end - INSN) != br_x17)
		end += INSN;
	while (end + INSN <= s->n && insn_at(s, end) == nop)
		end += INSN;
	out->start = at >= INSN && insn_at(s, at - INSN) == bti_c ? at - INSN : at;
	out->end = end;
	return 1;
}

static const struct plt_shapes plt = {
	.jump_slot = R_AARCH64_JUMP_SLOT,
	.glob_dat = R_AARCH64_GLOB_DAT,
	.irelative = R_AARCH64_IRELATIVE,
	.step = INSN,
	.stub = plt_stub,
};

/* --- signals ---------------------------------------------------------------------------- */

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static const uint8_t sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

/* arch/arm64/include/uapi/asm/{ucontext,sigcontext}.h: siginfo, then struct ucontext. */
enum {
	UCONTEXT = 128,
	REGS = UCONTEXT + 176 + 8,
	RECORDS = REGS + 8 * 34 + 8, /* aligned to 16 */
};

const struct arch arch_aarch64 = {
	.machine = EM_AARCH64,
	.word = 8,
	.names = {"aarch64", "arm64"},
	.pc = ARM_PC,
	.sp = ARM_SP,
	.fp = ARM_FP,
	.ra = ARM_LR,
	.lr = ARM_LR,
	.kept = UINT64_C(0x3ff80000) | UINT64_C(1) << ARM_VG, /* AAPCS64 6.1.1 */
	.dump_regs = UINT64_C(0x1ffffffff),
	.own_regs = 1 << 28 | 1 << ARM_LR,
	.pac_bits = 48,
	.record_fp = 0,
	.record_ra = 8,
	.record_end = 16,
	.after_call = after_call,
	.call_max = INSN,
	.call_min = INSN,
	.call_step = INSN,
	.sigframe = {.pc = REGS + 8 * 32,
		     .sp = REGS + 8 * 31,
		     .fp = REGS + 8 * 29,
		     .lr = REGS + 8 * 30,
		     .context = UCONTEXT,
		     .mark = RECORDS, /* the first context record: FPSIMD_MAGIC */
		     .mark_mask = UINT32_MAX,
		     .mark_is = 0x46508001,
		     .code = sigreturn,
		     .code_size = sizeof(sigreturn),
		     .syscall = INSN},
	.plt = &plt,
	.syscalls = arch_generic_syscalls,
	.first_arg = "%x0",
	.call_arg = 0, /* x0 */
	.call_mark = ARCH_NONE,
};
