#include "libsym/unwind/unwind_internal.h"
#include "base/check.h"
#include "base/mem.h"

#include <string.h>

enum { DEPTH_DEFAULT = 1024, ENTRY_CODE = 64 };
enum { ABI_32 = 1, ABI_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_* */

/* An empty cache of 1 << bits sets. 0 or ERR_NOMEM, with the old one as it was. */
static int cache_make(struct unwinder *u, unsigned bits)
{
	struct cached_rule_set *cache = mem_zalloc_table(sizeof(*cache) << bits);
	if (!cache)
		return ERR_NOMEM;
	u->cache = cache;
	u->cache_bits = bits;
	u->grow_at = u->stats.misses + (UINT64_C(1) << bits);
	return 0;
}

static struct cached_rule *cache_set(const struct unwinder *u, uint64_t key, uint32_t space)
{
	uint64_t h = (key ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return u->cache[h >> (64 - u->cache_bits)].way;
}

/* Move the cache's rules into a larger one; if memory is short it stays. Rules in use would
 * move, so call it only between stacks. */
static void cache_grow(struct unwinder *u)
{
	struct cached_rule_set *old = u->cache;
	size_t n = (size_t)1 << u->cache_bits;
	u->grow_at = UINT64_MAX;
	if (u->cache_bits >= CACHE_BITS_MAX || cache_make(u, u->cache_bits + CACHE_BITS_STEP))
		return;
	for (size_t i = 0; i < 2 * n; i++) {
		const struct cached_rule *k =
			&old[i / 2].way[!(i & 1)]; /* the newer one last */
		struct cached_rule *set = cache_set(u, k->key, k->space);
		if (!k->key)
			continue;
		set[1] = set[0];
		set[0] = *k;
	}
	mem_free(old);
}

int unwinder_new(const struct unwind_opts *o, struct unwinder **out, struct err *e)
{
	*out = NULL;
	const struct arch *arch = arch_of(o->machine);
	if (!arch)
		return err_set(e, ERR_UNSUPPORTED, "unwinding for ELF machine %u", o->machine);
	struct unwinder *u = mem_zalloc(1, sizeof(*u));
	if (!u)
		return err_nomem(e);
	u->o = *o;
	u->arch = arch;
	if (!u->o.max_depth)
		u->o.max_depth = DEPTH_DEFAULT;
	u->frames = mem_zalloc(u->o.max_depth, sizeof(*u->frames));
	if (!u->frames || cache_make(u, CACHE_BITS_FIRST)) {
		unwinder_free(u);
		return err_nomem(e);
	}
	unsigned bits = arch->pac_bits && o->va_bits ? o->va_bits : arch->pac_bits;
	u->pac_mask = bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	memset(u->at, ARCH_NONE, sizeof(u->at));
	*out = u;
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	mem_free(u->frames);
	mem_free(u->cache);
	for (size_t i = 0; i < u->late_calls.n; i++)
		callsites_release(&u->late_calls.v[i].sites);
	vec_release(&u->late_calls);
	mem_free(u);
}

void unwind_get_stats(const struct unwinder *u, struct unwind_stats *out)
{
	*out = u->stats;
}

/* --- the sample's registers ------------------------------------------------------------- */

static void use_mask(struct unwinder *u, uint64_t mask)
{
	u->mask = mask;
	for (unsigned i = 0; i < CFI_REGS; i++) {
		unsigned bit = arch_perf_bit(u->arch, i);
		u->at[i] = ARCH_NONE;
		if (bit != ARCH_NONE && mask >> bit & 1)
			u->at[i] = (uint8_t)__builtin_popcountll(mask &
								 ((UINT64_C(1) << bit) - 1));
	}
}

/* Register `dwarf` of the sample: 1 and *v, 0 when it was not recorded or is unknown. */
static int sample_reg(const struct walk *w, unsigned dwarf, uint64_t *v)
{
	unsigned at = w->u->at[dwarf];
	if (at == ARCH_NONE)
		return 0;
	*v = load_u64((const uint8_t *)w->s->regs + 8 * at, 0);
	return !(w->s->in_kernel && w->u->arch->ones_unknown && *v == UINT64_MAX);
}

/* All registers of the sample into w->reg. */
static void load_registers(struct walk *w)
{
	w->known = 0;
	for (unsigned i = 0; i < CFI_REGS; i++)
		if (sample_reg(w, i, &w->reg[i]))
			w->known |= UINT64_C(1) << i;
	w->full = 1;
}

/* At the sample's own pc: 1, or 0 when there is nothing to start from. */
static int walk_start(struct walk *w)
{
	struct unwinder *u = w->u;
	const struct arch *a = u->arch;
	w->n = 0;
	w->nsignals = 0;
	w->late = w->late_skip = 0;
	w->fresh = 1;
	w->trust = UNWIND_REGS;
	w->full = 0;
	if (!w->s->abi || !w->s->regs)
		return 0;
	if (w->s->regs_mask != u->mask)
		use_mask(u, w->s->regs_mask);
	w->sp = 0;
	if (!sample_reg(w, a->pc, &w->pc))
		return 0;
	w->sp_known =
		w->s->abi == (a->word == 8 ? ABI_64 : ABI_32) && sample_reg(w, a->sp, &w->sp);
	w->have_fp = (uint8_t)sample_reg(w, a->fp, &w->fp);
	w->have_lr = a->lr != ARCH_NONE && sample_reg(w, a->lr, &w->lr);
	w->low = w->sp;
	w->size = w->s->stack ? w->s->stack_size : 0;
	if (w->s->precise && a->late)
		late_registers(w);
	return 1;
}

/* --- the rule of an address ------------------------------------------------------------- */

/*
 * The rule at a return address is that of the call before it, at va - 1. But an address that
 * was planted (a signal trampoline, makecontext's __start_context) is not a return address: a
 * function starts there, and no call precedes it.
 */
static int find_return(struct cfi *c, uint64_t va, struct cfi_hit *hit, struct err *e)
{
	int rc = cfi_find(c, va - 1, hit, e);
	if (rc < 0)
		return rc;
	if (rc == 1 && (hit->rule.flags & RULE_SIGNAL)) {
		hit->rule.flags |= RULE_EXACT;
		return 1;
	}
	if (rc == 1 && va != hit->end)
		return 1;
	struct cfi_hit at;
	int planted = cfi_find(c, va, &at, e);
	if (planted < 0)
		return planted;
	int no_call = !rc || after_call(c, va) == 0;
	if (planted && at.start == va && (no_call || (at.rule.flags & RULE_SIGNAL))) {
		*hit = at;
		hit->rule.flags |= RULE_EXACT;
		return 1;
	}
	return rc && !no_call; /* 0: planted in code without CFI */
}

static void no_rule(struct cached_rule *k, enum unwind_end why)
{
	k->rule.kind = RULE_NONE;
	k->rule.end = (uint8_t)why;
}

/* 1 for CFI that marks a signal trampoline but does not locate the interrupted registers, as in
 * riscv64's vdso: the interrupted pc is never in the link register. */
static int is_bare_signal_rule(const struct unwind_rule *r)
{
	return r->kind == RULE_SP && r->flags & RULE_SIGNAL && r->ra == SLOT_SAME;
}

static int find_rule(const struct unwind_module *m, uint64_t pc, int exact,
		     struct cached_rule *k, struct err *e)
{
	struct cfi *c = m->cfi;
	uint64_t va = pc - m->bias;
	struct cfi_hit hit;
	int rc = exact ? cfi_find(c, va, &hit, e) : find_return(c, va, &hit, e);
	if (rc < 0)
		return rc;
	if (rc == 1 && !is_bare_signal_rule(&hit.rule)) {
		k->rule = hit.rule;
		k->rule.trust = UNWIND_CFI;
		return 0;
	}
	if (rule_from_code(c, va, exact, &k->rule))
		return 0;
	/* perf inject writes one file for each function, and its address as the entry point */
	uint64_t entry = m->flags & UNWIND_MOD_JIT ? 0 : cfi_entry_point(c);
	if (entry && va >= entry && va - entry < ENTRY_CODE)
		k->rule.kind = RULE_END; /* _start without CFI: musl */
	else
		no_rule(k, UNWIND_NO_CFI);
	return 0;
}

/* Find the rule for a pc that is not in the cache. 0 or < 0. */
static int resolve(struct walk *w, uint64_t pc, int exact, struct cached_rule *k)
{
	struct unwinder *u = w->u;
	struct unwind_module m = {0};
	int rc = u->o.module_at(w->s->ctx, exact ? pc : pc - 1, &m);
	if (rc == 0 && !exact) {
		m = (struct unwind_module){0};
		rc = u->o.module_at(w->s->ctx, pc, &m);
	}
	memset(&k->rule, 0, sizeof(k->rule));
	k->module = 0;
	if (rc < 0)
		return rc;
	if (rc == 0) {
		no_rule(k, UNWIND_NO_MAP);
		return 0;
	}
	k->module = m.id;
	if (m.cfi && cfi_arch(m.cfi) == u->arch)
		rc = find_rule(&m, pc, exact, k, w->e);
	else
		no_rule(k, m.flags & UNWIND_MOD_UPROBES   ? UNWIND_UPROBES
			   : m.flags & UNWIND_MOD_NO_FILE ? UNWIND_NO_FILE
							  : UNWIND_NO_CFI);
	if (m.flags & UNWIND_MOD_UPROBES)
		k->rule.flags = RULE_EXACT; /* no call leads to it */
	if (k->rule.kind == RULE_NONE)
		k->rule.module_flags = (uint8_t)m.flags;
	return rc < 0 ? rc : 0;
}

const struct cached_rule *rule_at(struct walk *w, uint64_t pc, int exact)
{
	uint64_t key = pc << 1 | (uint64_t)exact;
	struct cached_rule *set = cache_set(w->u, key, w->s->space);
	for (int i = 0; i < 2; i++)
		if (set[i].key == key && set[i].space == w->s->space && key)
			return &set[i];
	w->u->stats.misses++;
	struct cached_rule *k = &set[0];
	set[1] = *k;
	k->key = 0; /* resolve may fail half way */
	int rc = resolve(w, pc, exact, k);
	if (rc < 0) {
		w->rc = rc;
		return NULL;
	}
	k->key = key;
	k->space = w->s->space;
	return k;
}

/* --- one step --------------------------------------------------------------------------- */

enum unwind_end read_failure(const struct walk *w, uint64_t addr)
{
	enum { FAR = 1 << 30, NEAR = 1 << 17 }; /* a copy has 64 KB at most */
	/* above a signal frame the stack may be another one, which is not copied */
	if (w->nsignals && w->frame_sp - w->low > w->size)
		return w->frame_sp - w->low < NEAR ? UNWIND_TRUNCATED : UNWIND_OTHER_STACK;
	int shorter = w->s->stack_asked && w->s->stack_size < w->s->stack_asked;
	uint64_t off = addr - w->low;
	if (addr < w->low || off > FAR)
		return UNWIND_BAD_READ;
	return shorter ? UNWIND_HOLE : UNWIND_TRUNCATED;
}

void walk_to(struct walk *w, uint64_t pc, uint64_t sp, enum unwind_trust trust)
{
	w->pc = strip(w, pc);
	w->sp = sp;
	w->fresh = 0;
	w->have_lr = 0;
	w->trust = (uint8_t)trust;
}

/* The address of a register's slot; the caller handles SLOT_SAME and SLOT_LOST. */
static uint64_t slot_address(const struct walk *w, uint64_t cfa, uint8_t slot, int16_t off)
{
	uint64_t base = slot == SLOT_CFA ? cfa : slot == SLOT_SP ? w->sp : w->fp;
	return base + (uint64_t)(int64_t)off;
}

static enum unwind_end rule_cfa(const struct walk *w, const struct unwind_rule *r,
				uint64_t *cfa)
{
	uint64_t off = (uint64_t)(int64_t)r->cfa_off;
	switch (r->kind) {
	case RULE_SP:
		*cfa = w->sp + off;
		return UNWIND_CONTINUE;
	case RULE_FP:
		*cfa = w->fp + off;
		return w->have_fp ? UNWIND_CONTINUE : UNWIND_NEEDS_FULL;
	case RULE_PLT:
		*cfa = w->sp + off + 8 * ((w->pc & 15) >= (uint64_t)r->cfa_add);
		return UNWIND_CONTINUE;
	default: {
		uint64_t at = (r->kind == RULE_DEREF_SP ? w->sp : w->fp) + off;
		if (r->kind == RULE_DEREF_FP && !w->have_fp)
			return UNWIND_NEEDS_FULL;
		if (!walk_read(w, at, cfa))
			return read_failure(w, at);
		*cfa += (uint64_t)(int64_t)r->cfa_add;
		return UNWIND_CONTINUE;
	}
	}
}

/* The frame pointer of the caller. */
static void rule_fp(struct walk *w, const struct unwind_rule *r, uint64_t cfa)
{
	if (r->fp == SLOT_SAME)
		return;
	if (r->fp == SLOT_LOST || (r->fp == SLOT_FP && !w->have_fp)) {
		w->have_fp = 0;
		return;
	}
	uint64_t at = slot_address(w, cfa, r->fp, r->fp_off);
	/* In an epilogue the slot may be below sp already: the register has been popped. */
	if (w->fresh && at < w->sp)
		return;
	w->have_fp = (uint8_t)walk_read(w, at, &w->fp);
}

/* The sp of signal frames may decrease (sigaltstack), so their number is bounded, and none may
 * come twice. */
enum unwind_end count_signal(struct walk *w)
{
	for (unsigned i = 0; i < w->nsignals; i++)
		if (w->signal_at[i] == w->sp)
			return UNWIND_LOOP;
	if (w->nsignals == SIGNALS_MAX)
		return UNWIND_LOOP;
	w->signal_at[w->nsignals++] = w->sp;
	return UNWIND_CONTINUE;
}

enum unwind_end step_rule(struct walk *w, const struct unwind_rule *r)
{
	uint64_t cfa = 0, ra, lr = 0;
	enum unwind_end end = rule_cfa(w, r, &cfa);
	if (end)
		return end;
	int signal = r->flags & RULE_SIGNAL, have_lr = 0;
	if (signal) {
		end = count_signal(w);
		if (end)
			return end;
	} else if (cfa < w->sp || (cfa == w->sp && !w->fresh)) {
		return cfa < w->sp ? UNWIND_BAD_READ : UNWIND_LOOP;
	}
	if (r->ra == SLOT_SAME) { /* still in lr, which only a live frame has */
		if (!w->fresh || !w->have_lr)
			return UNWIND_BAD_READ;
		ra = w->lr;
	} else {
		if (r->ra == SLOT_FP && !w->have_fp)
			return UNWIND_NEEDS_FULL;
		uint64_t at = slot_address(w, cfa, r->ra, r->ra_off);
		if (!walk_read(w, at, &ra))
			return read_failure(w, at);
	}
	if (signal && r->trust != UNWIND_CFI && w->u->arch->sigframe.lr)
		have_lr = walk_read(w, w->sp + (uint64_t)w->u->arch->sigframe.lr, &lr);
	rule_fp(w, r, cfa);
	walk_to(w, ra, cfa, r->trust);
	if (signal) {
		w->fresh = 1;
		w->have_lr = (uint8_t)have_lr;
		w->lr = lr;
	}
	return UNWIND_CONTINUE;
}

static enum unwind_end step(struct walk *w, const struct cached_rule *k)
{
	const struct unwind_rule *r = &k->rule;
	if (r->kind == RULE_END)
		return UNWIND_COMPLETE;
	enum unwind_end end;
	if (w->full && r->kind != RULE_NONE && r->trust == UNWIND_CFI) {
		end = step_full(w, k);
	} else if (r->kind == RULE_FULL) {
		return UNWIND_NEEDS_FULL;
	} else {
		end = r->kind == RULE_NONE ? step_guess(w, k) : step_rule(w, r);
		if (w->full && !end)
			keep_registers(w, w->fresh);
	}
	if (!end && !w->pc && !w->fresh)
		return UNWIND_COMPLETE; /* a return address of 0 is planted below the root */
	return end;
}

/* --- one stack -------------------------------------------------------------------------- */

static void emit(struct walk *w, const struct cached_rule *k)
{
	int exact = w->fresh || (k->rule.flags & RULE_EXACT);
	int signal = k->rule.kind != RULE_NONE && (k->rule.flags & RULE_SIGNAL);
	w->frame_sp = w->sp;
	w->planted = !w->fresh && exact && !signal && k->rule.kind != RULE_NONE;
	w->u->frames[w->n++] = (struct unwind_frame){
		.ip = w->pc,
		.lookup = w->pc - !exact,
		.module = k->module,
		.trust = w->trust,
		.signal = (uint8_t)signal,
	};
}

/* The step from the sampled frame. */
static enum unwind_end first_step(struct walk *w, const struct cached_rule *k)
{
	if (w->late == UNWIND_LATE_RETURN) {
		enum unwind_end end = step_late_return(w);
		if (w->full && !end)
			keep_registers(w, 0);
		return end;
	}
	if (w->late_skip) {
		w->pc += w->late_skip;
		k = rule_at(w, w->pc, 1);
	}
	return k ? step(w, k) : UNWIND_NO_MAP;
}

/* Walk outwards from the current frame as far as possible. */
static enum unwind_end walk_on(struct walk *w)
{
	for (;;) {
		const struct cached_rule *k = rule_at(w, w->pc, w->fresh);
		if (!k)
			return UNWIND_NO_MAP; /* see w->rc */
		if (!w->fresh && k->rule.kind == RULE_NONE && k->rule.end == UNWIND_NO_MAP)
			return UNWIND_NO_MAP;
		if (w->n == w->u->o.max_depth)
			return UNWIND_DEPTH;
		emit(w, k);
		if (!w->sp_known)
			return UNWIND_NO_REGS;
		enum unwind_end end = w->n == 1 ? first_step(w, k) : step(w, k);
		if (end || w->rc < 0)
			return end;
	}
}

static enum unwind_end walk_stack(struct walk *w)
{
	if (!walk_start(w))
		return UNWIND_NO_REGS;
	enum unwind_end end = walk_on(w);
	if (end != UNWIND_NEEDS_FULL)
		return end;
	w->u->stats.restarts++;
	walk_start(w);
	load_registers(w);
	w->reg[w->u->arch->sp] = w->sp; /* as set by late_registers */
	end = walk_on(w);
	return end == UNWIND_NEEDS_FULL ? UNWIND_BAD_READ : end;
}

/*
 * 1 when the walk stopped at the root. makecontext plants the address of __start_context, whose
 * CFI leads to something that is not code (uc_link). Else the function's name decides.
 */
static int ends_in_root(const struct walk *w, enum unwind_end end)
{
	if (!w->n || end == UNWIND_COMPLETE || end == UNWIND_DEPTH)
		return 0;
	if (w->planted)
		return 1;
	if (!w->u->o.is_root || end == UNWIND_TRUNCATED)
		return 0;
	const struct unwind_frame *last = &w->u->frames[w->n - 1];
	if (w->u->o.is_root(w->s->ctx, last->lookup) == UNWIND_ROOT)
		return 1;
	/* a C library without symbols and unwind information: musl */
	return end == UNWIND_NO_CFI && w->n > 1 &&
	       w->u->o.is_root(w->s->ctx, last[-1].lookup) == UNWIND_MAIN;
}

/*
 * The walk is a chain of dependent loads of cold memory: prefetching all of it halves the time
 * of a stack (8 KiB dumps, 17-24 frames). Always inlined: gcc drops calls of a function that
 * only prefetches.
 */
static inline __attribute__((always_inline)) void prefetch_stack(const struct unwind_sample *s)
{
	enum { LINE = 64, AHEAD = 8192 };
	size_t n = s->stack ? s->stack_size : 0;
	for (size_t i = 0; i < n && i < AHEAD; i += LINE)
		__builtin_prefetch((const uint8_t *)s->stack + i);
}

int unwind_sample(struct unwinder *u, const struct unwind_sample *s, struct unwind_stack *out,
		  struct err *e)
{
	struct walk w;
	w.u = u;
	w.s = s;
	w.e = e;
	w.rc = 0;
	prefetch_stack(s);
	if (u->stats.misses > u->grow_at)
		cache_grow(u);
	enum unwind_end end = walk_stack(&w);
	if (w.rc >= 0 && ends_in_root(&w, end))
		end = UNWIND_COMPLETE;
	*out = (struct unwind_stack){.frames = u->frames,
				     .n = w.n,
				     .end = end,
				     .stopped = end,
				     .late = w.late,
				     .recorded = w.n};
	if (w.rc >= 0 && s->nchain && end != UNWIND_COMPLETE && end != UNWIND_DEPTH) {
		out->end = append_chain(&w, end);
		out->n = w.n;
	}
	u->stats.stacks++;
	u->stats.frames += w.n;
	return w.rc < 0 ? w.rc : 0;
}

const char *unwind_end_name(enum unwind_end end)
{
	static const char *const name[] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_CHAIN] = "chain",
		[UNWIND_TRUNCATED] = "truncated",
		[UNWIND_HOLE] = "hole",
		[UNWIND_OTHER_STACK] = "other_stack",
		[UNWIND_NO_MAP] = "no_map",
		[UNWIND_NO_FILE] = "no_file",
		[UNWIND_NO_CFI] = "no_cfi",
		[UNWIND_BAD_READ] = "bad_read",
		[UNWIND_LOOP] = "loop",
		[UNWIND_DEPTH] = "depth",
		[UNWIND_LATE] = "late",
		[UNWIND_UPROBES] = "uprobes",
		[UNWIND_NO_REGS] = "no_registers",
	};
	ENTRIES(name, UNWIND_NO_REGS + 1);
	return end >= UNWIND_COMPLETE && end <= UNWIND_NO_REGS ? name[end] : "unknown";
}
