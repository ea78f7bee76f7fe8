/* The step that carries every register: rows with expressions or registers other than sp and
 * fp, and everything above them. */
#include "libsym/unwind/unwind_internal.h"
#include "libsym/unwind/cfi_expr.h"

enum { READ_FAILED = -100 };

struct full {
	struct walk *w;
	const struct cfi_section *s;
	struct cfi_row row;
	uint32_t ra_reg;
	uint64_t cfa;
	struct cfi_expr_env env;
	uint64_t unread_at;
	int unread;
};

void keep_registers(struct walk *w, int signal)
{
	const struct arch *a = w->u->arch;
	w->known &= signal ? 0 : a->kept;
	w->reg[a->sp] = w->sp;
	w->reg[a->pc] = w->pc;
	w->known |= UINT64_C(1) << a->sp | UINT64_C(1) << a->pc;
	w->reg[a->fp] = w->have_fp ? w->fp : 0;
	w->known &= ~(UINT64_C(1) << a->fp);
	w->known |= (uint64_t)w->have_fp << a->fp;
	if (w->have_lr) {
		w->reg[a->lr] = w->lr;
		w->known |= UINT64_C(1) << a->lr;
	}
}

static int read_stack(void *ctx, uint64_t addr, unsigned size, uint64_t *v)
{
	struct full *f = ctx;
	uint64_t off = addr - f->w->low;
	if (off > f->w->size || f->w->size - off < size) {
		f->unread_at = addr;
		f->unread = 1;
		return READ_FAILED;
	}
	*v = 0;
	for (unsigned i = size; i-- > 0;)
		*v = *v << 8 | ((const uint8_t *)f->w->s->stack)[off + i];
	return 0;
}

static int eval(struct full *f, int32_t pos, const uint64_t *initial, uint64_t *v)
{
	const uint8_t *p;
	size_t n;
	int rc = cfi_expr_at(f->s, pos, &p, &n);
	return rc ? rc : cfi_expr_eval(p, n, &f->env, initial, v);
}

static int full_cfa(struct full *f)
{
	const struct cfi_row *row = &f->row;
	const struct walk *w = f->w;
	if (row->cfa.how == CFI_EXPR)
		return eval(f, row->cfa.v, NULL, &f->cfa);
	if (row->cfa.how != CFI_REGISTER)
		return ERR_FORMAT;
	if (row->cfa_reg >= CFI_REGS || !(w->known >> row->cfa_reg & 1))
		return ERR_NOTFOUND;
	f->cfa = w->reg[row->cfa_reg] + (uint64_t)(int64_t)row->cfa.v;
	return 0;
}

/* The caller's value of register `i`: 0 and *v, or not known. */
static int caller_reg(struct full *f, unsigned i, uint64_t *v)
{
	const struct walk *w = f->w;
	const struct cfi_reg *r = &f->row.reg[i];
	uint64_t at;
	switch (r->how) {
	case CFI_UNSPEC:
	case CFI_SAME:
		*v = w->reg[i];
		return w->known >> i & 1 ? 0 : ERR_NOTFOUND;
	case CFI_OFFSET:
		at = f->cfa + (uint64_t)(int64_t)r->v;
		if (w->fresh && at < w->sp) { /* popped already */
			*v = w->reg[i];
			return w->known >> i & 1 ? 0 : ERR_NOTFOUND;
		}
		return read_stack(f, at, w->u->arch->word, v);
	case CFI_VAL_OFFSET:
		*v = f->cfa + (uint64_t)(int64_t)r->v;
		return 0;
	case CFI_REGISTER:
		if (r->v < 0 || r->v >= CFI_REGS || !(w->known >> r->v & 1))
			return ERR_NOTFOUND;
		*v = w->reg[r->v];
		return 0;
	case CFI_EXPR: {
		int rc = eval(f, r->v, &f->cfa, &at);
		return rc ? rc : read_stack(f, at, w->u->arch->word, v);
	}
	case CFI_VAL_EXPR:
		return eval(f, r->v, &f->cfa, v);
	default:
		return ERR_NOTFOUND;
	}
}

/* 1 when a register without a rule keeps its value: over a call only if the ABI says so; over a
 * signal only if the trampoline restores it. */
static int keeps_value(const struct full *f, unsigned i, int signal)
{
	uint8_t how = f->row.reg[i].how;
	if (how != CFI_UNSPEC && how != CFI_SAME)
		return 1;
	return !signal && (f->w->u->arch->kept >> i & 1);
}

/* Only the signal handler's stack was copied: beyond it registers are lost, too. */
static enum unwind_end give_up(const struct full *f)
{
	const struct walk *w = f->w;
	int elsewhere = w->nsignals && w->frame_sp - w->low > w->size;
	return f->unread || elsewhere ? read_failure(w, f->unread_at) : UNWIND_BAD_READ;
}

/* A return address of 0 is planted below the root, whose frame may be empty. */
static int returns_to_zero(struct full *f)
{
	uint64_t ra;
	return !caller_reg(f, f->ra_reg, &ra) && !ra;
}

static enum unwind_end load_caller(struct full *f, int signal)
{
	struct walk *w = f->w;
	const struct arch *a = w->u->arch;
	uint64_t reg[CFI_REGS] = {0}, known = 0, ra;
	uint8_t ra_how = f->row.reg[f->ra_reg].how;
	int in_place = ra_how == CFI_UNSPEC || ra_how == CFI_SAME;
	/* it was pushed, or is in lr, which only a live frame still has */
	if (in_place && (a->lr == ARCH_NONE || !w->fresh))
		return UNWIND_BAD_READ;
	f->unread = 0;
	if (caller_reg(f, f->ra_reg, &ra))
		return give_up(f);
	for (unsigned i = 0; i < CFI_REGS; i++)
		if (keeps_value(f, i, signal) && !caller_reg(f, i, &reg[i]))
			known |= UINT64_C(1) << i;
	uint8_t sp = a->sp, fp = a->fp;
	uint8_t sp_how = f->row.reg[sp].how;
	if (sp_how == CFI_UNSPEC || sp_how == CFI_SAME || !(known >> sp & 1))
		reg[sp] = f->cfa;
	known |= UINT64_C(1) << sp;
	walk_to(w, ra, reg[sp], UNWIND_CFI);
	reg[a->pc] = w->pc;
	known |= UINT64_C(1) << a->pc;
	memcpy(w->reg, reg, sizeof(reg));
	w->known = known;
	w->fp = reg[fp];
	w->have_fp = known >> fp & 1;
	w->fresh = (uint8_t)signal;
	return UNWIND_CONTINUE;
}

enum unwind_end step_full(struct walk *w, const struct cached_rule *k)
{
	struct unwind_module m = {0};
	struct full f;
	int exact = w->fresh || (k->rule.flags & RULE_EXACT);
	int signal = (k->rule.flags & RULE_SIGNAL) != 0;
	uint64_t pc = w->pc - !exact;
	f.w = w;
	f.unread = 0;
	f.unread_at = w->sp;
	int rc = w->u->o.module_at(w->s->ctx, pc, &m);
	if (rc <= 0 || !m.cfi) {
		w->rc = rc < 0 ? rc : 0;
		return UNWIND_NO_MAP;
	}
	rc = cfi_row(m.cfi, pc - m.bias, &f.row, &f.s, &f.ra_reg, w->e);
	if (rc <= 0 || f.ra_reg >= CFI_REGS) {
		w->rc = rc < 0 ? rc : 0;
		return UNWIND_NO_CFI;
	}
	f.env = (struct cfi_expr_env){.reg = w->reg,
				      .known = w->known,
				      .bias = m.bias,
				      .swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
				      .word = w->u->arch->word,
				      .read = read_stack,
				      .ctx = &f};
	if (full_cfa(&f))
		return give_up(&f);
	if (signal) {
		enum unwind_end end = count_signal(w);
		if (end)
			return end;
	} else if (f.cfa < w->sp) {
		return UNWIND_BAD_READ;
	} else if (f.cfa == w->sp && !w->fresh && !returns_to_zero(&f)) {
		return UNWIND_LOOP;
	}
	return load_caller(&f, signal);
}
