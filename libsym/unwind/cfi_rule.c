/* Reduces a row of rules for every register to a rule of 16 bytes. */
#include "libsym/unwind/cfi.h"

#include <dwarf.h>

static int fits16(int64_t v)
{
	return v >= INT16_MIN && v <= INT16_MAX;
}

/* "DW_OP_bregN off" for N = sp or fp: 1 and the slot kind and offset. */
static int read_breg(struct bytes *b, const struct arch *a, uint8_t *slot, int64_t *off)
{
	uint8_t op = bytes_u8(b);
	if (op == DW_OP_breg0 + a->sp)
		*slot = SLOT_SP;
	else if (op == DW_OP_breg0 + a->fp)
		*slot = SLOT_FP;
	else
		return 0;
	*off = bytes_sleb(b);
	return bytes_ok(b);
}

/* The expression that linkers write for .plt if calls push the return address: "breg(sp) 8;
 * breg(pc) 0; lit15; and; litN; ge; lit3; shl; plus". */
static int match_plt(const uint8_t *p, size_t n, const struct arch *a, struct unwind_rule *r)
{
	if (a->lr != ARCH_NONE || n != 11 || p[0] != DW_OP_breg0 + a->sp || p[1] > 63 ||
	    p[2] != DW_OP_breg0 + a->pc || p[3] != 0 || p[4] != DW_OP_lit15 ||
	    p[5] != DW_OP_and || p[6] < DW_OP_lit0 || p[6] > DW_OP_lit31 || p[7] != DW_OP_ge ||
	    p[8] != DW_OP_lit3 || p[9] != DW_OP_shl || p[10] != DW_OP_plus)
		return 0;
	r->kind = RULE_PLT;
	r->cfa_off = p[1];
	r->cfa_add = (int16_t)(p[6] - DW_OP_lit0);
	return 1;
}

/* bregN a; [deref; [plus_uconst b]]. */
static int match_deref(const uint8_t *p, size_t n, const struct arch *a, struct unwind_rule *r)
{
	struct bytes b = bytes_init(p, n, 0);
	uint8_t slot;
	int64_t off;
	uint64_t add = 0;
	if (!read_breg(&b, a, &slot, &off) || off < INT32_MIN || off > INT32_MAX)
		return 0;
	int deref = bytes_left(&b) > 0;
	if (deref && bytes_u8(&b) != DW_OP_deref)
		return 0;
	if (bytes_left(&b)) {
		if (bytes_u8(&b) != DW_OP_plus_uconst)
			return 0;
		add = bytes_uleb(&b);
	}
	if (!bytes_ok(&b) || bytes_left(&b) || add > INT16_MAX)
		return 0;
	if (deref)
		r->kind = slot == SLOT_SP ? RULE_DEREF_SP : RULE_DEREF_FP;
	else
		r->kind = slot == SLOT_SP ? RULE_SP : RULE_FP;
	r->cfa_off = (int32_t)off;
	r->cfa_add = (int16_t)add;
	return 1;
}

static int cfa_rule(const struct cfi_section *s, const struct cfi_row *row,
		    const struct arch *a, struct unwind_rule *r)
{
	if (row->cfa.how == CFI_REGISTER) {
		r->cfa_off = row->cfa.v;
		r->kind = row->cfa_reg == a->sp   ? RULE_SP
			  : row->cfa_reg == a->fp ? RULE_FP
						  : RULE_FULL;
		return r->kind != RULE_FULL;
	}
	const uint8_t *p;
	size_t n;
	if (row->cfa.how != CFI_EXPR || cfi_expr_at(s, row->cfa.v, &p, &n))
		return 0;
	return match_plt(p, n, a, r) || match_deref(p, n, a, r);
}

/* A register saved at CFA + off, sp + off or fp + off. */
static int saved_rule(const struct cfi_section *s, const struct cfi_reg *reg,
		      const struct arch *a, uint8_t *slot, int16_t *off)
{
	int64_t v = reg->v;
	if (reg->how == CFI_OFFSET) {
		*slot = SLOT_CFA;
	} else if (reg->how == CFI_EXPR) {
		const uint8_t *p;
		size_t n;
		if (cfi_expr_at(s, reg->v, &p, &n))
			return 0;
		struct bytes b = bytes_init(p, n, 0);
		if (!read_breg(&b, a, slot, &v) || bytes_left(&b))
			return 0;
	} else {
		return 0;
	}
	*off = (int16_t)v;
	return fits16(v);
}

static int fp_rule(const struct cfi_section *s, const struct cfi_reg *reg, const struct arch *a,
		   struct unwind_rule *r)
{
	switch (reg->how) {
	case CFI_UNSPEC:
	case CFI_SAME:
		r->fp = SLOT_SAME;
		return 1;
	case CFI_UNDEFINED:
		r->fp = SLOT_LOST;
		return 1;
	default:
		return saved_rule(s, reg, a, &r->fp, &r->fp_off);
	}
}

static int ra_rule(const struct cfi_section *s, const struct cfi_reg *reg, const struct arch *a,
		   struct unwind_rule *r)
{
	if (reg->how == CFI_UNSPEC || reg->how == CFI_SAME) {
		r->ra = SLOT_SAME;
		return a->lr != ARCH_NONE;
	}
	return saved_rule(s, reg, a, &r->ra, &r->ra_off);
}

void cfi_rule_of(const struct arch *a, const struct cfi_section *s, const struct cfi_cie *cie,
		 const struct cfi_row *row, struct unwind_rule *r)
{
	*r = (struct unwind_rule){.flags = cie->signal ? RULE_SIGNAL : 0};
	if (cie->ra_reg < CFI_REGS && row->reg[cie->ra_reg].how == CFI_UNDEFINED) {
		r->kind = RULE_END;
		return;
	}
	if (cie->ra_reg != a->ra || !cfa_rule(s, row, a, r) ||
	    !fp_rule(s, &row->reg[a->fp], a, r) || !ra_rule(s, &row->reg[a->ra], a, r))
		r->kind = RULE_FULL;
}
