/* Unwinds without CFI, by code bytes, section names and frame pointers. */
#include "libsym/unwind/unwind_internal.h"

/* --- calls ------------------------------------------------------------------------------ */

int after_call(struct cfi *c, uint64_t va)
{
	const struct arch *a = cfi_arch(c);
	uint8_t b[ARCH_CALL_MAX];
	/* fewer bytes at the start of a section */
	for (unsigned n = a->call_max; n >= a->call_min; n -= a->call_step)
		if (cfi_code(c, va - n, b, n) == n)
			return a->after_call(b, n);
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
	int call = m.cfi && cfi_arch(m.cfi) == w->u->arch ? after_call(m.cfi, ra - m.bias) : -1;
	return call == 1 || (call < 0 && !strict);
}

/* --- rules from code -------------------------------------------------------------------- */

static int code_is(struct cfi *c, uint64_t va, const uint8_t *want, size_t n)
{
	uint8_t b[16];
	return cfi_code(c, va, b, n) == n && !memcmp(b, want, n);
}

static struct unwind_rule sigframe_rule(const struct arch *a, enum unwind_trust trust)
{
	return (struct unwind_rule){
		.kind = RULE_DEREF_SP,
		.cfa_off = a->sigframe.sp,
		.fp = SLOT_SP,
		.fp_off = a->sigframe.fp,
		.ra = SLOT_SP,
		.ra_off = a->sigframe.pc,
		.flags = RULE_SIGNAL | RULE_EXACT,
		.trust = (uint8_t)trust,
	};
}

static int sigreturn_rule(struct cfi *c, uint64_t va, int exact, struct unwind_rule *r)
{
	const struct arch *a = cfi_arch(c);
	const uint8_t *code = a->sigframe.code;
	size_t n = a->sigframe.code_size;
	if (!n)
		return 0;
	/* sampled or interrupted inside: at the syscall instruction, or after it */
	if (!code_is(c, va, code, n) &&
	    !(exact &&
	      (code_is(c, va - a->sigframe.syscall, code, n) || code_is(c, va - n, code, n))))
		return 0;
	*r = sigframe_rule(a, UNWIND_SIGCODE);
	return 1;
}

/* How many bytes a PLT slot has pushed on top of the return address. */
static unsigned plt_pushed(struct cfi *c, uint64_t va, unsigned slot, int lazy)
{
	const struct arch *a = cfi_arch(c);
	uint8_t b[ARCH_PLT_SLOT];
	if (!a->plt_pushed || !lazy || cfi_code(c, va - slot, b, sizeof(b)) != sizeof(b))
		return 0;
	return a->plt_pushed(b, slot);
}

static int plt_rule(struct cfi *c, uint64_t va, struct unwind_rule *r)
{
	unsigned slot;
	int lazy;
	if (!cfi_in_plt(c, va, &slot, &lazy))
		return 0;
	*r = (struct unwind_rule){.kind = RULE_SP, .trust = UNWIND_PLT};
	if (cfi_arch(c)->lr == ARCH_NONE) { /* else the return address is in lr */
		uint8_t word = cfi_arch(c)->word;
		r->cfa_off = word + (int32_t)plt_pushed(c, va, slot, lazy);
		r->ra = SLOT_CFA;
		r->ra_off = (int16_t)-word;
	}
	return 1;
}

int rule_from_code(struct cfi *c, uint64_t va, int exact, struct unwind_rule *r)
{
	return sigreturn_rule(c, va, exact, r) || (exact && plt_rule(c, va, r));
}

/* 1 when the function around w->pc has set up a frame pointer, by the instructions between its
 * start and pc; 0 if no symbol covers it. */
static int frame_pointer_is_set(struct walk *w)
{
	enum { FUNCTION_MAX = 1 << 16, PROLOGUE = ARCH_PROLOGUE_MAX };
	struct unwind_module m = {0};
	uint64_t start;
	uint8_t b[64];
	if (!w->u->arch->sets_fp || !w->u->o.function_at ||
	    w->u->o.function_at(w->s->ctx, w->pc, &start) != 1 ||
	    w->u->o.module_at(w->s->ctx, w->pc, &m) != 1 || !m.cfi || start > w->pc ||
	    w->pc - start > FUNCTION_MAX)
		return 0;
	for (uint64_t at = start; at + PROLOGUE <= w->pc; at += sizeof(b) - (PROLOGUE - 1)) {
		unsigned n = w->pc - at < sizeof(b) ? (unsigned)(w->pc - at) : sizeof(b);
		if (cfi_code(m.cfi, at - m.bias, b, n) != n)
			return 0;
		for (unsigned i = 0; i + PROLOGUE <= n; i++)
			if (w->u->arch->sets_fp(b + i))
				return 1;
	}
	return 0;
}

int call_target(struct walk *w, uint64_t ra, uint64_t *target)
{
	const struct arch *a = w->u->arch;
	struct unwind_module m = {0};
	uint8_t b[ARCH_CALL_MAX];
	return a->call_target && w->u->o.module_at(w->s->ctx, ra - 1, &m) == 1 && m.cfi &&
	       cfi_code(m.cfi, ra - m.bias - a->call_max, b, a->call_max) == a->call_max &&
	       a->call_target(b, ra, target);
}

/* 1 when pc is in a PLT. */
static int is_plt(struct walk *w, uint64_t pc)
{
	struct unwind_module m = {0};
	unsigned slot;
	int lazy;
	return w->u->o.module_at(w->s->ctx, pc, &m) == 1 && m.cfi &&
	       cfi_in_plt(m.cfi, pc - m.bias, &slot, &lazy);
}

/*
 * 1 when the call before `ra` may lead to the code at w->pc. A direct call must target that
 * function (without a symbol, an address shortly before pc), or a PLT slot. An indirect one may
 * lead anywhere except to a function that has a frame pointer on top of its return address.
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

/* --- guesses, most certain first
 * ------------------------------------------------------------------------- */

/* A function that has not yet pushed anything, or never does: the return address is on top.
 * certain: only if the call before it leads here, because the word may be stale. */
static int guess_leaf(struct walk *w, int certain)
{
	uint64_t ra;
	if (w->u->arch->lr != ARCH_NONE) {
		if (!w->have_lr || !is_return_address(w, strip(w, w->lr), 1))
			return 0;
		walk_to(w, w->lr, w->sp, UNWIND_LEAF_GUESS);
		return 1;
	}
	if (!walk_read(w, w->sp, &ra) || !is_return_address(w, ra, 1) ||
	    (certain && !calls_here(w, ra)))
		return 0;
	walk_to(w, ra, w->sp + w->u->arch->word, UNWIND_LEAF_GUESS);
	return 1;
}

/* 1 for an address planted by the code that made the stack: no call precedes it (Go's goexit +
 * 1). */
static int is_planted_root(const struct walk *w, uint64_t ra)
{
	return ra && w->u->o.is_root && w->u->o.is_root(w->s->ctx, ra) == UNWIND_ROOT;
}

/* The frame pointer leads to the caller's frame pointer and the return address. */
static int guess_fp(struct walk *w)
{
	const struct arch *a = w->u->arch;
	uint64_t ra, fp;
	if (!w->have_fp || record_word(w->fp, a->record_fp) < w->sp ||
	    (w->fp & (a->word - 1u)) || !walk_read(w, record_word(w->fp, a->record_fp), &fp) ||
	    !walk_read(w, record_word(w->fp, a->record_ra), &ra) ||
	    (!is_return_address(w, strip(w, ra), 0) && !is_planted_root(w, strip(w, ra))))
		return 0;
	uint64_t sp = record_word(w->fp, a->record_end);
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
 * A return address into code without bytes (another machine's vdso): it is a signal frame if
 * uc_flags is small, uc_link 0, the architecture's mark in its place, and the interrupted pc is
 * code.
 */
static int guess_sigframe(struct walk *w)
{
	const struct arch_sigframe *f = &w->u->arch->sigframe;
	uint64_t uc = w->sp + (uint64_t)f->context, pc;
	struct unwind_rule r = sigframe_rule(w->u->arch, UNWIND_SIG_GUESS);
	if (!stack_word_is(w, uc, ~UINT64_C(0xff), 0) ||
	    !stack_word_is(w, uc + 8, UINT64_MAX, 0) ||
	    !stack_word_is(w, w->sp + (uint64_t)f->mark, f->mark_mask, f->mark_is) ||
	    !walk_read(w, w->sp + (uint64_t)f->pc, &pc))
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

enum unwind_end step_guess(struct walk *w, const struct cached_rule *k)
{
	enum unwind_end why = k->rule.end;
	int jit = k->rule.module_flags & UNWIND_MOD_JIT;
	if (why == UNWIND_UPROBES)
		return why;
	if (why ==
	    UNWIND_NO_MAP) /* a call through a null pointer: only the top word can help */
		return w->fresh && guess_leaf(w, 0) ? UNWIND_CONTINUE : why;
	if (!jit && w->fresh && guess_leaf(w, 1))
		return UNWIND_CONTINUE;
	if (!w->fresh && why == UNWIND_NO_FILE && w->u->arch->sigframe.code_size &&
	    guess_sigframe(w))
		return UNWIND_CONTINUE;
	if (guess_fp(w))
		return UNWIND_CONTINUE;
	if (w->fresh && guess_leaf(w, 0))
		return UNWIND_CONTINUE;
	/* generated code keeps frame pointers: one beyond the copy means the copy is too short;
	 * so does code of a file that was reached by one, as V8's builtins are */
	if ((jit || w->trust == UNWIND_FP_GUESS) && w->have_fp && w->fp >= w->sp &&
	    !(w->fp & (w->u->arch->word - 1u))) {
		enum unwind_end end = read_failure(w, w->fp);
		if (end == UNWIND_OTHER_STACK ||
		    (end == UNWIND_TRUNCATED &&
		     record_word(w->fp, w->u->arch->record_ra) + w->u->arch->word >
			     w->low + w->size))
			return end;
	}
	return why;
}
