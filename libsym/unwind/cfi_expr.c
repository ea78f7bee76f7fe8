#include "libsym/unwind/cfi_expr.h"
#include "libsym/unwind/cfi_decode.h"

#include <dwarf.h>

enum { STEPS_MAX = 256, DEPTH_MAX = 64 };

struct machine {
	const struct cfi_expr_env *env;
	struct bytes code;
	const uint8_t *start;
	unsigned depth;
	uint64_t stack[DEPTH_MAX];
};

static int push(struct machine *m, uint64_t v)
{
	if (m->depth == DEPTH_MAX)
		return ERR_LIMIT;
	m->stack[m->depth++] = v;
	return 0;
}

static int push_reg(struct machine *m, uint64_t reg, int64_t off)
{
	if (reg >= CFI_REGS || !(m->env->known >> reg & 1))
		return ERR_NOTFOUND;
	return push(m, m->env->reg[reg] + (uint64_t)off);
}

/* Opcodes that push a constant operand: 1 when `op` was one, 0, or ERR_LIMIT. */
static int run_constant(struct machine *m, uint8_t op)
{
	struct bytes *b = &m->code;
	uint64_t v;
	switch (op) {
	case DW_OP_addr:
		v = bytes_u64(b) + m->env->bias;
		break;
	case DW_OP_const1u:
		v = bytes_u8(b);
		break;
	case DW_OP_const1s:
		v = (uint64_t)(int64_t)(int8_t)bytes_u8(b);
		break;
	case DW_OP_const2u:
		v = bytes_u16(b);
		break;
	case DW_OP_const2s:
		v = (uint64_t)(int64_t)(int16_t)bytes_u16(b);
		break;
	case DW_OP_const4u:
		v = bytes_u32(b);
		break;
	case DW_OP_const4s:
		v = (uint64_t)(int64_t)(int32_t)bytes_u32(b);
		break;
	case DW_OP_const8u:
	case DW_OP_const8s:
		v = bytes_u64(b);
		break;
	case DW_OP_constu:
		v = bytes_uleb(b);
		break;
	case DW_OP_consts:
		v = (uint64_t)bytes_sleb(b);
		break;
	default:
		if (op < DW_OP_lit0 || op > DW_OP_lit31)
			return 0;
		v = op - DW_OP_lit0;
	}
	int rc = push(m, v);
	return rc ? rc : 1;
}

static int pick(struct machine *m, unsigned from_top)
{
	if (from_top >= m->depth)
		return ERR_FORMAT;
	return push(m, m->stack[m->depth - 1 - from_top]);
}

static int rotate(struct machine *m, unsigned n)
{
	if (m->depth < n)
		return ERR_FORMAT;
	uint64_t *top = &m->stack[m->depth - 1], v = *top;
	for (unsigned i = 1; i < n; i++)
		top[1 - (int)i] = top[-(int)i];
	top[1 - (int)n] = v;
	return 0;
}

/* Opcodes that replace the top of the stack by a result. */
static int run_unary(struct machine *m, uint8_t op)
{
	if (!m->depth)
		return ERR_FORMAT;
	uint64_t *top = &m->stack[m->depth - 1];
	unsigned size = m->env->word ? m->env->word : 8;
	switch (op) {
	case DW_OP_abs:
		*top = (int64_t)*top < 0 ? -*top : *top;
		return 0;
	case DW_OP_neg:
		*top = -*top;
		return 0;
	case DW_OP_not:
		*top = ~*top;
		return 0;
	case DW_OP_plus_uconst:
		*top += bytes_uleb(&m->code);
		return 0;
	case DW_OP_deref_size:
		size = bytes_u8(&m->code);
		if (size < 1 || size > 8)
			return ERR_FORMAT;
		/* fallthrough */
	default: /* DW_OP_deref */
		return m->env->read(m->env->ctx, *top, size, top);
	}
}

static int divide(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	if (!b)
		return ERR_FORMAT;
	if (op == DW_OP_mod)
		*out = a % b;
	else if (b == UINT64_MAX)
		*out = -a; /* INT64_MIN / -1 traps */
	else
		*out = (uint64_t)((int64_t)a / (int64_t)b);
	return 0;
}

static int run_binary(struct machine *m, uint8_t op)
{
	if (m->depth < 2)
		return ERR_FORMAT;
	uint64_t b = m->stack[--m->depth], *top = &m->stack[m->depth - 1], a = *top;
	int64_t sa = (int64_t)a, sb = (int64_t)b;
	switch (op) {
	case DW_OP_and:
		*top = a & b;
		return 0;
	case DW_OP_div:
	case DW_OP_mod:
		return divide(op, a, b, top);
	case DW_OP_minus:
		*top = a - b;
		return 0;
	case DW_OP_mul:
		*top = a * b;
		return 0;
	case DW_OP_or:
		*top = a | b;
		return 0;
	case DW_OP_plus:
		*top = a + b;
		return 0;
	case DW_OP_shl:
		*top = b < 64 ? a << b : 0;
		return 0;
	case DW_OP_shr:
		*top = b < 64 ? a >> b : 0;
		return 0;
	case DW_OP_shra:
		*top = (uint64_t)(sa >> (b < 64 ? b : 63));
		return 0;
	case DW_OP_xor:
		*top = a ^ b;
		return 0;
	case DW_OP_eq:
		*top = a == b;
		return 0;
	case DW_OP_ne:
		*top = a != b;
		return 0;
	case DW_OP_ge:
		*top = sa >= sb;
		return 0;
	case DW_OP_gt:
		*top = sa > sb;
		return 0;
	case DW_OP_le:
		*top = sa <= sb;
		return 0;
	case DW_OP_lt:
		*top = sa < sb;
		return 0;
	default:
		return ERR_FORMAT;
	}
}

static int run_branch(struct machine *m, uint8_t op)
{
	int16_t by = (int16_t)bytes_u16(&m->code);
	if (op == DW_OP_bra) {
		if (!m->depth)
			return ERR_FORMAT;
		if (!m->stack[--m->depth])
			return 0;
	}
	if (by < 0 ? -by > m->code.p - m->start : by > m->code.end - m->code.p)
		return ERR_FORMAT;
	m->code.p += by;
	return 0;
}

static int run_one(struct machine *m, uint8_t op)
{
	int rc = run_constant(m, op);
	if (rc)
		return rc < 0 ? rc : 0;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return push_reg(m, op - DW_OP_breg0, bytes_sleb(&m->code));
	switch (op) {
	case DW_OP_nop:
		return 0;
	case DW_OP_bregx: {
		uint64_t reg = bytes_uleb(&m->code);
		return push_reg(m, reg, bytes_sleb(&m->code));
	}
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, bytes_u8(&m->code));
	case DW_OP_drop:
		return m->depth ? (m->depth--, 0) : ERR_FORMAT;
	case DW_OP_swap:
		return rotate(m, 2);
	case DW_OP_rot:
		return rotate(m, 3);
	case DW_OP_skip:
	case DW_OP_bra:
		return run_branch(m, op);
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
	case DW_OP_deref:
	case DW_OP_deref_size:
		return run_unary(m, op);
	default:
		return run_binary(m, op);
	}
}

int cfi_expr_eval(const uint8_t *p, size_t n, const struct cfi_expr_env *env,
		  const uint64_t *initial, uint64_t *out)
{
	struct machine m;
	m.env = env;
	m.code = bytes_init(p, n, env->swap);
	m.start = p;
	m.depth = 0;
	if (initial)
		m.stack[m.depth++] = *initial;
	for (unsigned step = 0; bytes_left(&m.code); step++) {
		if (step == STEPS_MAX)
			return ERR_LIMIT;
		int rc = run_one(&m, bytes_u8(&m.code));
		if (rc)
			return rc;
		if (!bytes_ok(&m.code))
			return ERR_FORMAT;
	}
	if (!m.depth)
		return ERR_FORMAT;
	*out = m.stack[m.depth - 1];
	return 0;
}
