#include "libsym/unwind/cfi_decode.h"

#include <dwarf.h>
#include <limits.h>

enum {
	PROG_MAX = 128 << 10, /* bytes of one program; the longest of 4 million had 34 KiB */
	CIE_PROG_MAX = 256,   /* a CIE is read again for each of its FDEs in the worst case */
	CIE_MAX = 1024,       /* bytes of a CIE; normal ones have about 30 */
	CFA_negate_ra_state_with_pc = 0x2c,
	CFA_negate_ra_state = 0x2d, /* the number SPARC calls DW_CFA_GNU_window_save */
};

static const char *section_name(const struct cfi_section *s)
{
	return s->debug_frame ? ".debug_frame" : ".eh_frame";
}

static uint64_t position(const struct cfi_section *s, const struct bytes *b)
{
	return (uint64_t)(b->p - s->data);
}

static struct bytes cursor(const struct cfi_section *s, uint64_t from, uint64_t to)
{
	return bytes_init(s->data + from, to - from, s->swap);
}

int cfi_entry_read(const struct cfi_section *s, uint64_t offset, struct cfi_entry *out,
		   struct err *e)
{
	if (offset >= s->size)
		return err_set(e, ERR_FORMAT, "%s: entry at 0x%llx lies outside",
			       section_name(s), (unsigned long long)offset);
	struct bytes b = cursor(s, offset, s->size);
	uint64_t len = bytes_u32(&b);
	int dwarf64 = len == 0xffffffff;
	if (dwarf64)
		len = bytes_u64(&b);
	if (!bytes_ok(&b) || len > bytes_left(&b))
		return err_set(e, ERR_TRUNCATED,
			       "%s: entry at 0x%llx is longer than the section",
			       section_name(s), (unsigned long long)offset);
	if (!len) {
		*out = (struct cfi_entry){.kind = CFI_ENTRY_ZERO, .end = position(s, &b)};
		return 0;
	}
	uint64_t id_at = position(s, &b);
	uint64_t end = id_at + len;
	b.end = s->data + end;
	uint64_t id = dwarf64 ? bytes_u64(&b) : bytes_u32(&b);
	if (!bytes_ok(&b))
		return err_set(e, ERR_TRUNCATED,
			       "%s: entry at 0x%llx has no room for its CIE pointer",
			       section_name(s), (unsigned long long)offset);
	int is_cie = s->debug_frame ? id == (dwarf64 ? UINT64_MAX : UINT32_MAX) : id == 0;
	uint64_t cie = is_cie ? offset : s->debug_frame ? id : id_at - id;
	if (cie >= s->size)
		return err_set(e, ERR_FORMAT, "%s: FDE at 0x%llx points to a CIE outside",
			       section_name(s), (unsigned long long)offset);
	*out = (struct cfi_entry){.kind = is_cie ? CFI_ENTRY_CIE : CFI_ENTRY_FDE,
				  .cie = cie,
				  .body = position(s, &b),
				  .end = end};
	return 0;
}

/* The value part of an encoded pointer (the low four bits of the encoding). */
static int pointer_value(const struct cfi_section *s, struct bytes *b, uint8_t enc, uint64_t *v)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
		*v = s->narrow ? bytes_u32(b) : bytes_u64(b);
		return 0;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*v = bytes_u64(b);
		return 0;
	case DW_EH_PE_uleb128:
		*v = bytes_uleb(b);
		return 0;
	case DW_EH_PE_sleb128:
		*v = (uint64_t)bytes_sleb(b);
		return 0;
	case DW_EH_PE_udata2:
		*v = bytes_u16(b);
		return 0;
	case DW_EH_PE_sdata2:
		*v = (uint64_t)(int64_t)(int16_t)bytes_u16(b);
		return 0;
	case DW_EH_PE_udata4:
		*v = bytes_u32(b);
		return 0;
	case DW_EH_PE_sdata4:
		*v = (uint64_t)(int64_t)(int32_t)bytes_u32(b);
		return 0;
	default:
		return ERR_UNSUPPORTED;
	}
}

int cfi_pointer(const struct cfi_section *s, struct bytes *b, uint8_t enc, uint64_t func,
		uint64_t *out, struct err *e)
{
	uint64_t at = s->vaddr + position(s, b), base = 0;
	switch (enc & 0x70) {
	case 0:
		break;
	case DW_EH_PE_pcrel:
		base = at;
		break;
	case DW_EH_PE_textrel:
		base = s->text_base;
		break;
	case DW_EH_PE_datarel:
		base = s->data_base;
		break;
	case DW_EH_PE_funcrel:
		base = func;
		break;
	case DW_EH_PE_aligned:
		bytes_skip(b, -at & (s->narrow ? 3 : 7));
		break;
	default:
		return err_set(e, ERR_UNSUPPORTED, "%s: pointer encoding 0x%02x",
			       section_name(s), enc);
	}
	uint64_t v;
	if (pointer_value(s, b, enc, &v))
		return err_set(e, ERR_UNSUPPORTED, "%s: pointer encoding 0x%02x",
			       section_name(s), enc);
	if (!bytes_ok(b))
		return err_set(e, ERR_TRUNCATED, "%s: a pointer runs past its entry",
			       section_name(s));
	*out = v + base;
	return 0;
}

/* The augmentation string and data of a CIE: "zRPLSB" in any order after the z. */
static int read_augmentation(const struct cfi_section *s, struct bytes *b, const char *aug,
			     struct cfi_cie *c, struct err *e)
{
	if (!*aug)
		return 0;
	const uint8_t *after = NULL;
	if (*aug == 'z') {
		uint64_t n = bytes_uleb(b);
		if (!bytes_ok(b) || n > bytes_left(b))
			return err_set(e, ERR_TRUNCATED,
				       "%s: CIE at 0x%llx: augmentation too long",
				       section_name(s), (unsigned long long)c->offset);
		after = b->p + n;
		c->has_aug = 1;
		aug++;
	}
	for (; *aug; aug++) {
		uint64_t ignored;
		uint8_t enc;
		switch (*aug) {
		case 'R':
			c->fde_enc = bytes_u8(b);
			break;
		case 'L':
			bytes_skip(b, 1);
			break;
		case 'P':
			enc = bytes_u8(b);
			if (enc != DW_EH_PE_omit && cfi_pointer(s, b, enc, 0, &ignored, e))
				return ERR_FORMAT;
			break;
		case 'S':
			c->signal = 1;
			break;
		case 'B': /* aarch64: the B key signs */
		case 'G': /* aarch64: memory tagging */
			break;
		default:
			if (!after)
				return err_set(e, ERR_UNSUPPORTED,
					       "%s: CIE at 0x%llx: unknown augmentation",
					       section_name(s), (unsigned long long)c->offset);
			aug += strlen(aug) - 1; /* the rest cannot be read, only skipped */
		}
	}
	if (after && bytes_ok(b))
		b->p = after;
	return 0;
}

static int cie_fields(const struct cfi_section *s, struct bytes *b, struct cfi_cie *c,
		      struct err *e)
{
	uint8_t version = bytes_u8(b);
	if (version != 1 && version != 3 && version != 4)
		return err_set(e, ERR_UNSUPPORTED, "%s: CIE at 0x%llx has version %u",
			       section_name(s), (unsigned long long)c->offset, version);
	const char *aug = (const char *)b->p;
	const void *nul = memchr(aug, 0, bytes_left(b));
	if (!nul)
		return err_set(e, ERR_TRUNCATED,
			       "%s: CIE at 0x%llx: augmentation not terminated",
			       section_name(s), (unsigned long long)c->offset);
	b->p = (const uint8_t *)nul + 1;
	c->addr_size = s->narrow ? 4 : 8;
	if (version == 4) {
		c->addr_size = bytes_u8(b);
		bytes_skip(b, 1); /* segment selector size */
	}
	if (!strcmp(aug, "eh")) { /* g++ 2: one pointer, not needed */
		bytes_skip(b, s->narrow ? 4 : 8);
		aug += 2;
	}
	c->code_align = bytes_uleb(b);
	c->data_align = bytes_sleb(b);
	uint64_t ra = version == 1 ? bytes_u8(b) : bytes_uleb(b);
	c->ra_reg = ra < CFI_REGS ? (uint32_t)ra : CFI_REGS;
	if (c->addr_size != (s->narrow ? 4 : 8) || c->code_align > 1024 ||
	    c->data_align > 1024 || c->data_align < -1024)
		return err_set(e, ERR_UNSUPPORTED, "%s: CIE at 0x%llx: absurd factors",
			       section_name(s), (unsigned long long)c->offset);
	int rc = read_augmentation(s, b, aug, c, e);
	if (rc)
		return rc;
	return bytes_ok(b) ? 0
			   : err_set(e, ERR_TRUNCATED, "%s: CIE at 0x%llx is torn",
				     section_name(s), (unsigned long long)c->offset);
}

int cfi_cie_read(const struct cfi_section *s, uint64_t offset, struct cfi_cie *c, struct err *e)
{
	struct cfi_entry entry;
	int rc = cfi_entry_read(s, offset, &entry, e);
	if (rc)
		return rc;
	if (entry.kind != CFI_ENTRY_CIE)
		return err_set(e, ERR_FORMAT, "%s: no CIE at 0x%llx", section_name(s),
			       (unsigned long long)offset);
	if (entry.end - entry.body > CIE_MAX)
		return err_set(e, ERR_LIMIT, "%s: CIE at 0x%llx: %llu bytes", section_name(s),
			       (unsigned long long)offset,
			       (unsigned long long)(entry.end - entry.body));
	memset(c, 0, sizeof(*c));
	c->offset = offset;
	struct bytes b = cursor(s, entry.body, entry.end);
	rc = cie_fields(s, &b, c, e);
	if (rc)
		return rc;
	if (bytes_left(&b) > CIE_PROG_MAX)
		return err_set(e, ERR_LIMIT, "%s: CIE at 0x%llx: %zu bytes of instructions",
			       section_name(s), (unsigned long long)offset, bytes_left(&b));
	/* The CIE's instructions make one row; an advance inside it is ignored. */
	struct cfi_run run;
	struct cfi_fde whole = {0, UINT64_MAX, b.p, bytes_left(&b)};
	cfi_run_init(&run, s, c, &whole);
	rc = cfi_run_next(&run, e);
	if (rc < 0)
		return rc;
	c->init = run.row;
	return 0;
}

int cfi_fde_read(const struct cfi_section *s, const struct cfi_entry *entry,
		 const struct cfi_cie *cie, struct cfi_fde *out, struct err *e)
{
	struct bytes b = cursor(s, entry->body, entry->end);
	uint8_t enc = cie->fde_enc;
	uint64_t start, len;
	int rc = cfi_pointer(s, &b, enc, 0, &start, e);
	if (rc)
		return rc;
	/* the length has the pointer's format, but is absolute and not negative */
	uint8_t form = enc & 0x0f;
	rc = cfi_pointer(s, &b, form == DW_EH_PE_sdata4 ? DW_EH_PE_udata4 : form, 0, &len, e);
	if (rc)
		return rc;
	if (cie->has_aug) {
		uint64_t n = bytes_uleb(&b);
		if (!bytes_ok(&b) || n > bytes_left(&b))
			return err_set(e, ERR_TRUNCATED,
				       "%s: FDE at 0x%llx: augmentation too long",
				       section_name(s), (unsigned long long)entry->body);
		b.p += n;
	}
	if (!bytes_ok(&b))
		return err_set(e, ERR_TRUNCATED, "%s: FDE at 0x%llx is torn", section_name(s),
			       (unsigned long long)entry->body);
	if (len > UINT64_MAX - start)
		return err_set(e, ERR_FORMAT, "%s: FDE at 0x%llx: range wraps around",
			       section_name(s), (unsigned long long)entry->body);
	*out = (struct cfi_fde){start, start + len, b.p, bytes_left(&b)};
	return 0;
}

void cfi_run_init(struct cfi_run *r, const struct cfi_section *s, const struct cfi_cie *cie,
		  const struct cfi_fde *fde)
{
	r->s = s;
	r->cie = cie;
	r->prog = bytes_init(fde->prog, fde->prog_size, s->swap);
	r->loc = fde->start;
	r->end = fde->end;
	r->nsaved = 0;
	r->row = cie->init;
}

static int set_rule(struct cfi_run *r, uint64_t reg, enum cfi_how how, int64_t v)
{
	if (v < INT32_MIN || v > INT32_MAX)
		return ERR_LIMIT;
	if (reg < CFI_REGS)
		r->row.reg[reg] = (struct cfi_reg){(int32_t)v, (uint8_t)how};
	return 0;
}

static int set_cfa(struct cfi_run *r, uint64_t reg, int64_t off)
{
	if (off < INT32_MIN || off > INT32_MAX || reg > UINT32_MAX)
		return ERR_LIMIT;
	r->row.cfa_reg = (uint32_t)reg;
	r->row.cfa = (struct cfi_reg){(int32_t)off, CFI_REGISTER};
	return 0;
}

static int64_t factored(const struct cfi_run *r, int64_t v)
{
	int64_t out;
	return __builtin_mul_overflow(v, r->cie->data_align, &out) ? INT64_MAX : out;
}

/* An unsigned factored offset; the setters refuse what does not fit. */
static int64_t factored_u(const struct cfi_run *r, uint64_t v)
{
	return v > INT32_MAX ? INT64_MAX : factored(r, (int64_t)v);
}

static int64_t plain_u(uint64_t v)
{
	return v > INT32_MAX ? INT64_MAX : (int64_t)v;
}

/* Remember where the expression block starts and step over it. */
static int64_t read_expr(struct cfi_run *r)
{
	int64_t pos = (int64_t)position(r->s, &r->prog);
	uint64_t n = bytes_uleb(&r->prog);
	bytes_skip(&r->prog, n);
	return pos;
}

static int restore_rule(struct cfi_run *r, uint64_t reg)
{
	if (reg < CFI_REGS)
		r->row.reg[reg] = r->cie->init.reg[reg];
	return 0;
}

static int remember_state(struct cfi_run *r)
{
	if (r->nsaved == CFI_REMEMBERED)
		return ERR_LIMIT;
	r->saved[r->nsaved++] = r->row;
	return 0;
}

/* GCC and later producers restore the CFA, too, although DWARF does not say so. */
static int restore_state(struct cfi_run *r)
{
	if (!r->nsaved)
		return ERR_FORMAT;
	uint64_t start = r->row.start;
	r->row = r->saved[--r->nsaved];
	r->row.start = start;
	return 0;
}

/* Opcodes that set a register's rule. */
static int run_register_op(struct cfi_run *r, uint8_t op)
{
	struct bytes *b = &r->prog;
	uint64_t reg = bytes_uleb(b);
	switch (op) {
	case DW_CFA_offset_extended:
		return set_rule(r, reg, CFI_OFFSET, factored_u(r, bytes_uleb(b)));
	case DW_CFA_offset_extended_sf:
		return set_rule(r, reg, CFI_OFFSET, factored(r, bytes_sleb(b)));
	case DW_CFA_GNU_negative_offset_extended:
		return set_rule(r, reg, CFI_OFFSET, -factored_u(r, bytes_uleb(b)));
	case DW_CFA_val_offset:
		return set_rule(r, reg, CFI_VAL_OFFSET, factored_u(r, bytes_uleb(b)));
	case DW_CFA_val_offset_sf:
		return set_rule(r, reg, CFI_VAL_OFFSET, factored(r, bytes_sleb(b)));
	case DW_CFA_restore_extended:
		return restore_rule(r, reg);
	case DW_CFA_undefined:
		return set_rule(r, reg, CFI_UNDEFINED, 0);
	case DW_CFA_same_value:
		return set_rule(r, reg, CFI_SAME, 0);
	case DW_CFA_register:
		return set_rule(r, reg, CFI_REGISTER, plain_u(bytes_uleb(b)));
	case DW_CFA_expression:
		return set_rule(r, reg, CFI_EXPR, read_expr(r));
	case DW_CFA_val_expression:
		return set_rule(r, reg, CFI_VAL_EXPR, read_expr(r));
	default:
		return ERR_FORMAT;
	}
}

/* Opcodes that set the CFA, and those that keep state; the rest go to run_register_op. */
static int run_op(struct cfi_run *r, uint8_t op)
{
	struct bytes *b = &r->prog;
	uint64_t reg;
	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_remember_state:
		return remember_state(r);
	case DW_CFA_restore_state:
		return restore_state(r);
	case DW_CFA_def_cfa:
		reg = bytes_uleb(b);
		return set_cfa(r, reg, plain_u(bytes_uleb(b)));
	case DW_CFA_def_cfa_sf:
		reg = bytes_uleb(b);
		return set_cfa(r, reg, factored(r, bytes_sleb(b)));
	case DW_CFA_def_cfa_register:
		return set_cfa(r, bytes_uleb(b), r->row.cfa.v);
	case DW_CFA_def_cfa_offset:
		return set_cfa(r, r->row.cfa_reg, plain_u(bytes_uleb(b)));
	case DW_CFA_def_cfa_offset_sf:
		return set_cfa(r, r->row.cfa_reg, factored(r, bytes_sleb(b)));
	case DW_CFA_def_cfa_expression: {
		int64_t pos = read_expr(r);
		if (pos > INT32_MAX)
			return ERR_LIMIT;
		r->row.cfa = (struct cfi_reg){(int32_t)pos, CFI_EXPR};
		return 0;
	}
	case CFA_negate_ra_state:
	case CFA_negate_ra_state_with_pc:
		r->row.ra_signed ^= 1;
		return 0;
	case DW_CFA_GNU_args_size:
		bytes_uleb(b);
		return 0;
	default:
		return run_register_op(r, op);
	}
}

/*
 * If `op` moves the location, read its operand and set *to. 1 when it did, 0 for another
 * opcode, ERR_*.
 */
static int run_advance(struct cfi_run *r, uint8_t op, uint64_t *to, struct err *e)
{
	struct bytes *b = &r->prog;
	uint64_t delta;
	if ((op & 0xc0) == DW_CFA_advance_loc)
		delta = op & 0x3f;
	else if (op == DW_CFA_advance_loc1)
		delta = bytes_u8(b);
	else if (op == DW_CFA_advance_loc2)
		delta = bytes_u16(b);
	else if (op == DW_CFA_advance_loc4)
		delta = bytes_u32(b);
	else if (op == DW_CFA_MIPS_advance_loc8)
		delta = bytes_u64(b);
	else if (op == DW_CFA_set_loc) {
		int rc = cfi_pointer(r->s, b, r->cie->fde_enc, 0, to, e);
		return rc ? rc : 1;
	} else
		return 0;
	/* the factor is at most 1024, so only advance_loc8 can overflow; it then goes back */
	*to = r->loc + delta * r->cie->code_align;
	return 1;
}

static int run_fail(const struct cfi_run *r, int rc, struct err *e)
{
	return err_set(e, rc, "%s: the CFI program before 0x%llx %s", section_name(r->s),
		       (unsigned long long)position(r->s, &r->prog),
		       rc == ERR_LIMIT       ? "uses absurd numbers or nesting"
		       : rc == ERR_TRUNCATED ? "is torn"
					     : "has an opcode that cannot be run");
}

int cfi_run_next(struct cfi_run *r, struct err *e)
{
	struct bytes *b = &r->prog;
	if (r->loc >= r->end)
		return 0;
	if (bytes_left(b) > PROG_MAX)
		return run_fail(r, ERR_LIMIT, e);
	r->row.start = r->loc;
	while (bytes_left(b)) {
		uint8_t op = bytes_u8(b);
		uint64_t to = 0;
		int rc = run_advance(r, op, &to, e);
		if (rc == 1) {
			if (!bytes_ok(b))
				return run_fail(r, ERR_TRUNCATED, e);
			if (to < r->loc)
				return run_fail(r, ERR_FORMAT, e);
			if (to == r->loc)
				continue;
			r->loc = to;
			r->row.end = to < r->end ? to : r->end;
			return 1;
		}
		if (rc == 0 && (op & 0xc0) == DW_CFA_offset)
			rc = set_rule(r, op & 0x3f, CFI_OFFSET, factored_u(r, bytes_uleb(b)));
		else if (rc == 0 && (op & 0xc0) == DW_CFA_restore)
			rc = restore_rule(r, op & 0x3f);
		else if (rc == 0)
			rc = run_op(r, op);
		if (rc)
			return run_fail(r, rc, e);
		if (!bytes_ok(b))
			return run_fail(r, ERR_TRUNCATED, e);
	}
	r->row.end = r->end;
	r->loc = r->end;
	return 1;
}

int cfi_expr_at(const struct cfi_section *s, int32_t pos, const uint8_t **p, size_t *n)
{
	if (pos < 0 || (size_t)pos >= s->size)
		return ERR_FORMAT;
	struct bytes b = cursor(s, (uint64_t)pos, s->size);
	uint64_t len = bytes_uleb(&b);
	if (!bytes_ok(&b) || len > bytes_left(&b))
		return ERR_FORMAT;
	*p = b.p;
	*n = len;
	return 0;
}
