/* What code bytes, section names and frame pointers tell where there is no CFI. */
#include "libsym/unwind/unwind_internal.h"

#include <elf.h>

/* --- calls ------------------------------------------------------------------------------ */

/* Length of an x86 instruction FF /2 (call through register or memory) at p, 0 when it is none;
 * n readable bytes. A prefix before it does not matter here. */
static unsigned x86_call_indirect(const uint8_t *p, unsigned n)
{
	if (n < 2 || p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return 0;
	unsigned mod = p[1] >> 6, rm = p[1] & 7, len = 2;
	if (mod == 3)
		return len;
	if (rm == 4) { /* SIB */
		if (n < 3)
			return 0;
		if (mod == 0 && (p[2] & 7) == 5)
			len += 4;
		len++;
	} else if (mod == 0 && rm == 5) {
		len += 4; /* rip + disp32 */
	}
	return len + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static int x86_indirect_before(const uint8_t *before, unsigned n)
{
	for (unsigned len = 2; len <= 7 && len <= n; len++)
		if (x86_call_indirect(before + n - len, len) == len)
			return 1;
	return 0;
}

int x86_is_call(const uint8_t *b, unsigned n)
{
	/* notrack, operand size, bnd, REX: without a meaning here */
	while (n && (*b == 0x3e || *b == 0x66 || *b == 0xf2 || (*b & 0xf0) == 0x40)) {
		b++;
		n--;
	}
	return (n == 5 && *b == 0xe8) || (n && x86_call_indirect(b, n) == n);
}

static int x86_after_call(const uint8_t *before, unsigned n)
{
	return (n >= 5 && before[n - 5] == 0xe8) || x86_indirect_before(before, n);
}

static int arm_after_call(uint32_t insn)
{
	return (insn & 0xfc000000) == 0x94000000 || /* bl */
	       (insn & 0xfffffc1f) == 0xd63f0000 || /* blr */
	       (insn & 0xfefff800) == 0xd63f0800;   /* blraa, blrab, blraaz, blrabz */
}

int after_call(struct cfi *c, uint64_t va)
{
	uint8_t b[7];
	if (cfi_machine(c) == EM_AARCH64) {
		if (cfi_code(c, va - 4, b, 4) != 4)
			return -1;
		return arm_after_call(load_u32(b, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	}
	for (unsigned n = 7; n >= 2; n--) /* fewer at the start of a section */
		if (cfi_code(c, va - n, b, n) == n)
			return x86_after_call(b, n);
	return -1;
}

int is_return_address(struct walk *w, uint64_t ra, int strict)
{
	struct unwind_module m = {0};
	if (!ra)
		return 0;
	int rc = w->u->o.module_at(w->s->ctx, ra - 1, &m);
	if (rc <= 0) {
		w->rc = rc;
		return 0;
	}
	int call = m.cfi && cfi_machine(m.cfi) == w->u->o.machine
			   ? after_call(m.cfi, ra - m.bias)
			   : -1;
	return call == 1 || (call < 0 && !strict);
}

/* --- rules from code -------------------------------------------------------------------- */

/* mov $__NR_rt_sigreturn,%rax; syscall */
static const uint8_t x86_sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
/* mov x8, #__NR_rt_sigreturn; svc #0 */
static const uint8_t arm_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

static int code_is(struct cfi *c, uint64_t va, const uint8_t *want, size_t n)
{
	uint8_t b[16];
	return cfi_code(c, va, b, n) == n && !memcmp(b, want, n);
}

/*
 * The trampoline's frame: sp points to the rt_sigframe (x86: past its return address), whose
 * ucontext holds the interrupted registers. struct ucontext and sigcontext in
 * arch/x86/include/uapi/asm/ (ucontext first, then siginfo) and arch/arm64/include/uapi/asm/
 * (siginfo first).
 */
enum {
	X86_GREGS = 40,
	X86_CS = X86_GREGS + 8 * 18,
	ARM_UCONTEXT = 128,
	ARM_REGS = 128 + 176 + 8,
	ARM_RECORDS = ARM_REGS + 8 * 34 + 8, /* aligned to 16 */
};

static struct unwind_rule sigframe_rule(int arm, enum unwind_trust trust)
{
	return (struct unwind_rule){
		.kind = RULE_DEREF_SP,
		.cfa_off = arm ? ARM_REGS + 8 * 31 : X86_GREGS + 8 * 15,
		.fp = SLOT_SP,
		.fp_off = arm ? ARM_REGS + 8 * 29 : X86_GREGS + 8 * 10,
		.ra = SLOT_SP,
		.ra_off = arm ? ARM_REGS + 8 * 32 : X86_GREGS + 8 * 16,
		.flags = RULE_SIGNAL | RULE_EXACT,
		.spare = {0, (uint8_t)trust},
	};
}

static int sigreturn_rule(struct cfi *c, uint64_t va, int exact, struct unwind_rule *r)
{
	int arm = cfi_machine(c) == EM_AARCH64;
	const uint8_t *code = arm ? arm_sigreturn : x86_sigreturn;
	size_t n = arm ? sizeof(arm_sigreturn) : sizeof(x86_sigreturn);
	/* sampled or interrupted inside: at the syscall instruction, or after it */
	if (!code_is(c, va, code, n) && !(exact && (code_is(c, va - (arm ? 4 : 7), code, n) ||
						    code_is(c, va - n, code, n))))
		return 0;
	*r = sigframe_rule(arm, UNWIND_SIGCODE);
	return 1;
}

/* How much an x86 PLT slot has pushed on top of the return address, by the slot's bytes. */
static int x86_plt_pushed(struct cfi *c, uint64_t va, unsigned slot, int lazy)
{
	static const uint8_t endbr_push[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68};
	uint8_t b[16];
	if (!lazy || cfi_code(c, va - slot, b, sizeof(b)) != sizeof(b))
		return 0;
	if (b[0] == 0xff && b[1] == 0x35) /* PLT0: push GOT[1]; jmp *GOT[2] */
		return slot < 6 ? 8 : 16;
	unsigned push_end = 0;
	if (b[0] == 0xff && b[1] == 0x25 && b[6] == 0x68)
		push_end = 11;
	else if (!memcmp(b, endbr_push, sizeof(endbr_push)))
		push_end = 9;
	else if (b[0] == 0x68)
		push_end = 5;
	return push_end && slot >= push_end ? 8 : 0;
}

static int plt_rule(struct cfi *c, uint64_t va, struct unwind_rule *r)
{
	unsigned slot;
	int lazy;
	if (!cfi_in_plt(c, va, &slot, &lazy))
		return 0;
	*r = (struct unwind_rule){.kind = RULE_SP, .spare = {0, UNWIND_PLT}};
	if (cfi_machine(c) == EM_X86_64) {
		r->cfa_off = 8 + x86_plt_pushed(c, va, slot, lazy);
		r->ra = SLOT_CFA;
		r->ra_off = -8;
	}
	return 1; /* aarch64: the return address is in lr */
}

int rule_from_code(struct cfi *c, uint64_t va, int exact, struct unwind_rule *r)
{
	return sigreturn_rule(c, va, exact, r) || (exact && plt_rule(c, va, r));
}

/* Has the x86 function around w->pc set up a frame pointer by then? Told by push %rbp;
 * mov %rsp,%rbp (two encodings) anywhere between its start and pc; 0 where no symbol tells. */
static int frame_pointer_is_set(struct walk *w)
{
	enum { FUNCTION_MAX = 1 << 16, PROLOGUE = 4 };
	struct unwind_module m = {0};
	uint64_t start;
	uint8_t b[64];
	if (w->u->o.machine != EM_X86_64 || !w->u->o.function_at ||
	    w->u->o.function_at(w->s->ctx, w->pc, &start) != 1 ||
	    w->u->o.module_at(w->s->ctx, w->pc, &m) != 1 || !m.cfi || start > w->pc ||
	    w->pc - start > FUNCTION_MAX)
		return 0;
	for (uint64_t at = start; at + PROLOGUE <= w->pc; at += sizeof(b) - (PROLOGUE - 1)) {
		unsigned n = w->pc - at < sizeof(b) ? (unsigned)(w->pc - at) : sizeof(b);
		if (cfi_code(m.cfi, at - m.bias, b, n) != n)
			return 0;
		for (unsigned i = 0; i + PROLOGUE <= n; i++)
			if (!memcmp(b + i, "\x55\x48\x89\xe5", PROLOGUE) ||
			    !memcmp(b + i, "\x55\x48\x8b\xec", PROLOGUE))
				return 1;
	}
	return 0;
}

int call_target(struct walk *w, uint64_t ra, uint64_t *target)
{
	struct unwind_module m = {0};
	uint8_t b[7];
	if (w->u->o.module_at(w->s->ctx, ra - 1, &m) != 1 || !m.cfi ||
	    cfi_code(m.cfi, ra - m.bias - 7, b, 7) != 7 || b[2] != 0xe8 ||
	    x86_indirect_before(b, 7))
		return 0;
	*target = ra + (uint64_t)(int64_t)(int32_t)load_u32(
			       b + 3, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return 1;
}

/* 1 when pc lies in a PLT. */
static int is_plt(struct walk *w, uint64_t pc)
{
	struct unwind_module m = {0};
	unsigned slot;
	int lazy;
	return w->u->o.module_at(w->s->ctx, pc, &m) == 1 && m.cfi &&
	       cfi_in_plt(m.cfi, pc - m.bias, &slot, &lazy);
}

/*
 * Does the call in front of `ra` lead to the code at w->pc? A direct one names its target: that
 * function (where no symbol tells, something shortly before pc), or a PLT slot. An indirect one
 * may lead anywhere, but not to where a frame pointer stands on top of its return address.
 */
static int calls_here(struct walk *w, uint64_t ra)
{
	enum { NEAR = 1 << 16 };
	uint64_t start, target;
	if (!call_target(w, ra, &target))
		return !frame_pointer_is_set(w);
	if (is_plt(w, target))
		return 1;
	if (w->u->o.function_at && w->u->o.function_at(w->s->ctx, w->pc, &start) == 1)
		return target >= start && target <= w->pc;
	return target <= w->pc && w->pc - target < NEAR;
}

/* --- the ladder ------------------------------------------------------------------------- */

/* A function that has not yet pushed anything, or never does: the return address is on top.
 * certain: only if the call in front of it leads here, for the word may be an old one. */
static int guess_leaf(struct walk *w, int certain)
{
	uint64_t ra;
	if (w->u->o.machine == EM_AARCH64) {
		if (!w->have_lr || !is_return_address(w, strip(w, w->lr), 1))
			return 0;
		walk_to(w, w->lr, w->sp, UNWIND_LEAF_GUESS);
		return 1;
	}
	if (!walk_read(w, w->sp, &ra) || !is_return_address(w, ra, 1) ||
	    (certain && !calls_here(w, ra)))
		return 0;
	walk_to(w, ra, w->sp + 8, UNWIND_LEAF_GUESS);
	return 1;
}

/* Planted by whoever made the stack: no call stands in front of it (Go's goexit + 1). */
static int is_planted_root(const struct walk *w, uint64_t ra)
{
	return ra && w->u->o.is_root && w->u->o.is_root(w->s->ctx, ra) == UNWIND_ROOT;
}

/* The frame pointer leads to { caller's frame pointer, return address }. */
static int guess_fp(struct walk *w)
{
	uint64_t ra, fp;
	if (!w->have_fp || w->fp < w->sp || (w->fp & 7) || !walk_read(w, w->fp, &fp) ||
	    !walk_read(w, w->fp + 8, &ra) ||
	    (!is_return_address(w, strip(w, ra), 0) && !is_planted_root(w, strip(w, ra))))
		return 0;
	uint64_t sp = w->fp + 16;
	w->fp = fp;
	walk_to(w, ra, sp, UNWIND_FP_GUESS);
	return 1;
}

static int stack_word_is(const struct walk *w, uint64_t addr, uint64_t mask, uint64_t want)
{
	uint64_t v;
	return walk_read(w, addr, &v) && (v & mask) == want;
}

/*
 * A return address into code of which there are no bytes (the vdso of another machine): is a
 * signal frame what lies at sp? uc_flags is small, uc_link 0, the code segment or the first
 * context record (FPSIMD_MAGIC) the expected one, and the interrupted pc is code.
 */
static int guess_sigframe(struct walk *w)
{
	int arm = w->u->o.machine == EM_AARCH64;
	uint64_t uc = w->sp + (arm ? ARM_UCONTEXT : 0), pc;
	struct unwind_rule r = sigframe_rule(arm, UNWIND_SIG_GUESS);
	if (!stack_word_is(w, uc, ~UINT64_C(0xff), 0) ||
	    !stack_word_is(w, uc + 8, UINT64_MAX, 0) ||
	    !(arm ? stack_word_is(w, w->sp + ARM_RECORDS, UINT32_MAX, 0x46508001)
		  : stack_word_is(w, w->sp + X86_CS, 0xffff, 0x33)) ||
	    !walk_read(w, w->sp + (uint64_t)r.ra_off, &pc))
		return 0;
	struct unwind_module m = {0};
	int rc = w->u->o.module_at(w->s->ctx, pc, &m);
	if (rc <= 0) {
		w->rc = rc;
		return 0;
	}
	struct unwind_frame *trampoline = &w->u->frames[w->n - 1];
	if (step_rule(w, &r))
		return 0;
	trampoline->lookup = trampoline->ip;
	trampoline->signal = 1;
	return 1;
}

enum unwind_end step_guess(struct walk *w, const struct known *k)
{
	enum unwind_end why = k->rule.spare[0];
	int jit = k->rule.spare[1] & UNWIND_MOD_JIT;
	if (why == UNWIND_NO_MAP) /* a call through a null pointer: only the top word helps */
		return w->fresh && guess_leaf(w, 0) ? GOING : why;
	if (!jit && w->fresh && guess_leaf(w, 1))
		return GOING;
	if (!w->fresh && why == UNWIND_NO_FILE && guess_sigframe(w))
		return GOING;
	if (guess_fp(w))
		return GOING;
	if (w->fresh && guess_leaf(w, 0))
		return GOING;
	/* generated code keeps frame pointers: one beyond the copy means the copy is short; so
	 * does code that lies in a file and was reached by one, as V8's builtins are */
	if ((jit || w->trust == UNWIND_FP_GUESS) && w->have_fp && w->fp >= w->sp &&
	    !(w->fp & 7)) {
		enum unwind_end end = unread(w, w->fp);
		if (end == UNWIND_OTHER_STACK ||
		    (end == UNWIND_TRUNCATED && w->fp + 16 > w->low + w->size))
			return end;
	}
	return why;
}
