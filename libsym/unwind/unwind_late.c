/*
 * Precise events (Intel's PEBS): pc is the instruction that caused the event, but all other
 * registers, and the stack copied from sp on, are those after it.
 *
 *	call f               the return address has been pushed: it is the word at sp
 *	ret                  it has been popped: the copy does not show the caller
 *	push, pop, leave,    sp is where the rule of the next instruction expects it
 *	add/sub $n,%rsp
 *
 * Other instructions do not change sp, and the rule at pc is right. AMD's IBS has the exact pc,
 * too, but registers of some later time; so each correction must lead to a return address.
 */
#include "libsym/unwind/unwind_internal.h"

enum { LATE_CALL_MAX = 9, CALLERS_MAX = 256 };

/* Bytes of the file at pc; *m is its module. Returns how many there are. */
static size_t code_at(struct walk *w, uint64_t pc, struct unwind_module *m, uint8_t *b)
{
	*m = (struct unwind_module){0};
	if (w->u->o.module_at(w->s->ctx, pc, m) != 1 || !m->cfi)
		return 0;
	return cfi_code(m->cfi, pc - m->bias, b, ARCH_INSN_MAX);
}

/* 1 when the call pushed its return address. If there are no code bytes, that word is the
 * proof. */
static int after_late_call(struct walk *w, const uint8_t *b, size_t n)
{
	uint64_t ra;
	if (!walk_read(w, w->sp, &ra) || ra - w->pc < 2 || ra - w->pc > LATE_CALL_MAX)
		return 0;
	return !n || (ra - w->pc <= n && w->u->arch->late->is_call(b, (unsigned)(ra - w->pc)));
}

/* The return address that a rule leads to from the current registers; 0 if it is not one.
 */
static uint64_t returns_to(struct walk *w, const struct unwind_rule *r)
{
	uint64_t ra, base = r->kind == RULE_FP ? w->fp : w->sp;
	if ((r->kind != RULE_SP && r->kind != RULE_FP) || r->ra != SLOT_CFA ||
	    (r->kind == RULE_FP && !w->have_fp) ||
	    !walk_read(w, base + (uint64_t)(int64_t)r->cfa_off + (uint64_t)(int64_t)r->ra_off,
		       &ra))
		return 0;
	return is_return_address(w, ra, 0) ? ra : 0;
}

void late_registers(struct walk *w)
{
	const struct arch_late *late = w->u->arch->late;
	struct unwind_module m;
	uint8_t b[ARCH_INSN_MAX];
	size_t n = code_at(w, w->pc, &m, b);
	unsigned length;
	w->late = UNWIND_NOT_LATE;
	w->late_skip = 0;
	if (after_late_call(w, b, n)) {
		w->sp += 8;
		w->late = UNWIND_LATE_CALL;
	} else if (late->is_return(b, n)) {
		w->late = UNWIND_LATE_RETURN;
	} else if ((length = late->moves_sp(b, n))) {
		const struct cached_rule *k = rule_at(w, w->pc + length, 1);
		w->late_skip = (uint8_t)(k && returns_to(w, &k->rule) ? length : 0);
	}
}

/* The calls of the code around pc, from those already collected. NULL: no memory. */
static const struct callsites *callsites_at(struct walk *w, const struct unwind_module *m)
{
	struct unwinder *u = w->u;
	for (size_t i = 0; i < u->late_calls.n; i++)
		if (u->late_calls.v[i].cfi == m->cfi)
			return &u->late_calls.v[i].sites;
	struct late_calls all = {.cfi = m->cfi};
	if (callsites_init(&all.sites, m->cfi, w->pc - m->bias) ||
	    vec_push(&u->late_calls, all)) {
		callsites_release(&all.sites);
		w->rc = ERR_NOMEM;
		return NULL;
	}
	return &u->late_calls.v[u->late_calls.n - 1].sites;
}

/* The start of the code around an address, by its FDE, because symbols may be missing; or 0. */
static uint64_t fde_start(struct walk *w, uint64_t pc)
{
	struct unwind_module m = {0};
	struct cfi_hit hit;
	if (w->u->o.module_at(w->s->ctx, pc, &m) != 1 || !m.cfi ||
	    cfi_find(m.cfi, pc - m.bias, &hit, w->e) != 1)
		return 0;
	return hit.start + m.bias;
}

/* The start of the function of `ra` if that may be the caller's return address with the current
 * registers, so that the function has a caller in turn; else 0. */
static uint64_t caller_at(struct walk *w, uint64_t ra)
{
	uint64_t target, start = fde_start(w, ra - 1);
	const struct cached_rule *k = rule_at(w, ra, 0);
	uint64_t outer = k ? returns_to(w, &k->rule) : 0;
	return outer && (!call_target(w, outer, &target) || target == start) ? start : 0;
}

/*
 * The return address of a function that has returned: in the only function with a direct call
 * to it whose frame fits the words at sp. 0: none, or several fit. If that function calls it
 * several times, the first call.
 */
static uint64_t late_caller(struct walk *w)
{
	struct unwind_module m = {0};
	uint64_t caller = 0, found = 0, start = fde_start(w, w->pc);
	size_t n;
	if (!start || w->u->o.module_at(w->s->ctx, w->pc, &m) != 1)
		return 0;
	const struct callsites *all = callsites_at(w, &m);
	const struct callsite *c = all ? callsites_of(all, start - m.bias, &n) : NULL;
	for (size_t i = 0; c && i < n && n <= CALLERS_MAX && w->rc >= 0; i++) {
		uint64_t ra = all->base + c[i].returns + m.bias;
		uint64_t at = caller_at(w, ra);
		if (at && found && at != caller)
			return 0;
		if (at && !found) {
			caller = at;
			found = ra;
		}
	}
	return found;
}

enum unwind_end step_late_return(struct walk *w)
{
	uint64_t caller = late_caller(w);
	if (!caller) {
		w->late = UNWIND_LATE_LOST;
		return UNWIND_LATE;
	}
	walk_to(w, caller, w->sp, UNWIND_LEAF_GUESS);
	return UNWIND_CONTINUE;
}
