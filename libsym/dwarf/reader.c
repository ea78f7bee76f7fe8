/* reader.c - abbreviations and attribute values. */
#include "libsym/dwarf/reader.h"

#include "base/mem.h"

#include <stdlib.h>

/* Cut a string section after its last terminated string. */
static void trim_strings(struct dwarf_sec *s)
{
	while (s->n && s->p[s->n - 1])
		s->n--;
}

void dwarf_object_init(struct dwarf_object *o)
{
	uint64_t bytes = 0;
	trim_strings(&o->sec[SEC_STR]);
	trim_strings(&o->sec[SEC_LINE_STR]);
	for (int i = 0; i < SEC_COUNT; i++)
		bytes += o->sec[i].n;
	o->work = 64 * bytes + (1 << 16);
}

void dwarf_object_release(struct dwarf_object *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->abbrevs.n; i++) {
		vec_release(&o->abbrevs.v[i]->list);
		vec_release(&o->abbrevs.v[i]->specs);
		mem_free(o->abbrevs.v[i]);
	}
	vec_release(&o->abbrevs);
	vec_release(&o->units);
	u64map_release(&o->abbrev_index);
}

struct bytes dwarf_cursor(const struct dwarf_object *o, enum dwarf_sec_id id, uint64_t off,
			  uint64_t end)
{
	const struct dwarf_sec *s = &o->sec[id];
	if (end > s->n)
		end = s->n;
	if (!s->p || off > end) {
		struct bytes none = bytes_init("", 0, o->swap);
		none.bad = 1;
		return none;
	}
	return bytes_init(s->p + off, end - off, o->swap);
}

uint64_t dwarf_uint(struct bytes *b, unsigned size)
{
	switch (size) {
	case 1:
		return bytes_u8(b);
	case 2:
		return bytes_u16(b);
	case 3: {
		const uint8_t *p = bytes_take(b, 3);
		if (!p)
			return 0;
		int big = b->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		return big ? p[0] << 16 | p[1] << 8 | p[2] : p[0] | p[1] << 8 | p[2] << 16;
	}
	case 4:
		return bytes_u32(b);
	case 8:
		return bytes_u64(b);
	}
	b->bad = 1;
	return 0;
}

/* --- abbreviations ---------------------------------------------------------------------- */

/* The size of a form in bytes: a number up to 16, or one of these. */
enum {
	SIZE_ADDR = 32, /* an address */
	SIZE_OFF,       /* 4, or 8 in 64-bit DWARF */
	SIZE_REF_ADDR,  /* as SIZE_OFF, but an address in DWARF 2 */
	SIZE_IMPLICIT,  /* none: the value is in the abbreviation */
	SIZE_PRESENT,   /* none: the value is 1 */
	SIZE_ULEB,
	SIZE_SLEB,
	SIZE_STRING,
	SIZE_BLOCK, /* a length of SIZE_ULEB or 1, 2, 4 bytes, and that many */
	SIZE_BLOCK1,
	SIZE_BLOCK2,
	SIZE_BLOCK4,
	SIZE_INDIRECT,
};

/* A reference relative to its unit; converted to DWV_REF in this file. */
enum { DWV_UNIT_REF = DWV_OTHER + 1 };

/* The kind and size of a form (7.5.6). kind 0: unknown. */
static const struct form {
	uint8_t kind, size;
} forms[] = {
	[DW_FORM_addr] = {DWV_ADDR, SIZE_ADDR},
	[DW_FORM_block] = {DWV_OTHER, SIZE_BLOCK},
	[DW_FORM_block1] = {DWV_OTHER, SIZE_BLOCK1},
	[DW_FORM_block2] = {DWV_OTHER, SIZE_BLOCK2},
	[DW_FORM_block4] = {DWV_OTHER, SIZE_BLOCK4},
	[DW_FORM_exprloc] = {DWV_OTHER, SIZE_BLOCK},
	[DW_FORM_data1] = {DWV_CONST, 1},
	[DW_FORM_data2] = {DWV_CONST, 2},
	[DW_FORM_data4] = {DWV_CONST, 4},
	[DW_FORM_data8] = {DWV_CONST, 8},
	[DW_FORM_data16] = {DWV_OTHER, 16},
	[DW_FORM_udata] = {DWV_CONST, SIZE_ULEB},
	[DW_FORM_sdata] = {DWV_CONST, SIZE_SLEB},
	[DW_FORM_implicit_const] = {DWV_CONST, SIZE_IMPLICIT},
	[DW_FORM_flag] = {DWV_CONST, 1},
	[DW_FORM_flag_present] = {DWV_CONST, SIZE_PRESENT},
	[DW_FORM_string] = {DWV_STR, SIZE_STRING},
	[DW_FORM_strp] = {DWV_STRP, SIZE_OFF},
	[DW_FORM_line_strp] = {DWV_LINE_STRP, SIZE_OFF},
	[DW_FORM_strp_sup] = {DWV_ALT_STRP, SIZE_OFF},
	[DW_FORM_strx] = {DWV_STRX, SIZE_ULEB},
	[DW_FORM_strx1] = {DWV_STRX, 1},
	[DW_FORM_strx2] = {DWV_STRX, 2},
	[DW_FORM_strx3] = {DWV_STRX, 3},
	[DW_FORM_strx4] = {DWV_STRX, 4},
	[DW_FORM_addrx] = {DWV_ADDRX, SIZE_ULEB},
	[DW_FORM_addrx1] = {DWV_ADDRX, 1},
	[DW_FORM_addrx2] = {DWV_ADDRX, 2},
	[DW_FORM_addrx3] = {DWV_ADDRX, 3},
	[DW_FORM_addrx4] = {DWV_ADDRX, 4},
	[DW_FORM_ref1] = {DWV_UNIT_REF, 1},
	[DW_FORM_ref2] = {DWV_UNIT_REF, 2},
	[DW_FORM_ref4] = {DWV_UNIT_REF, 4},
	[DW_FORM_ref8] = {DWV_UNIT_REF, 8},
	[DW_FORM_ref_udata] = {DWV_UNIT_REF, SIZE_ULEB},
	[DW_FORM_ref_addr] = {DWV_REF, SIZE_REF_ADDR},
	[DW_FORM_ref_sup4] = {DWV_ALT_REF, 4},
	[DW_FORM_ref_sup8] = {DWV_ALT_REF, 8},
	[DW_FORM_ref_sig8] = {DWV_OTHER, 8},
	[DW_FORM_sec_offset] = {DWV_SECOFF, SIZE_OFF},
	[DW_FORM_rnglistx] = {DWV_RNGX, SIZE_ULEB},
	[DW_FORM_loclistx] = {DWV_OTHER, SIZE_ULEB},
	[DW_FORM_indirect] = {DWV_OTHER, SIZE_INDIRECT},
};

/* The entry of a form, the GNU ones by their DWARF 5 successors; NULL when unknown. */
static const struct form *form_of(const struct dwarf_unit *u, unsigned form)
{
	switch (form) {
	case DW_FORM_GNU_addr_index:
		form = DW_FORM_addrx;
		break;
	case DW_FORM_GNU_str_index:
		form = DW_FORM_strx;
		break;
	case DW_FORM_GNU_strp_alt:
		form = DW_FORM_strp_sup;
		break;
	case DW_FORM_GNU_ref_alt:
		form = u->off_size == 8 ? DW_FORM_ref_sup8 : DW_FORM_ref_sup4;
		break;
	}
	return form < sizeof(forms) / sizeof(forms[0]) && forms[form].kind ? &forms[form]
									   : NULL;
}

/* The bytes of a form whose size does not depend on the data, or DWARF_VARIES. */
static uint32_t form_size(const struct dwarf_unit *u, const struct form *f)
{
	switch (f ? f->size : SIZE_INDIRECT) {
	case SIZE_ADDR:
		return u->addr_size;
	case SIZE_OFF:
		return u->off_size;
	case SIZE_REF_ADDR:
		return u->version <= 2 ? u->addr_size : u->off_size;
	case SIZE_IMPLICIT:
	case SIZE_PRESENT:
		return 0;
	}
	return f && f->size <= 16 ? f->size : DWARF_VARIES;
}

/* Read the attributes of one abbreviation at the cursor into t. */
static int abbrev_specs(struct bytes *b, const struct dwarf_unit *u, struct dwarf_abbrevs *t,
			struct dwarf_abbrev *a)
{
	uint64_t skip = 0;
	a->first = (uint32_t)t->specs.n;
	for (;;) {
		uint64_t name = bytes_uleb(b), form = bytes_uleb(b);
		struct dwarf_spec s = {.name = name > UINT16_MAX ? UINT16_MAX : (uint16_t)name,
				       .form = form > UINT16_MAX ? UINT16_MAX : (uint16_t)form};
		if (form == DW_FORM_implicit_const)
			s.implicit = bytes_sleb(b);
		if (!bytes_ok(b))
			return ERR_FORMAT;
		if (!name && !form)
			break;
		if (name == DW_AT_low_pc || name == DW_AT_ranges)
			a->has_code = 1;
		uint32_t size = form_size(u, form_of(u, s.form));
		skip = size == DWARF_VARIES || skip == DWARF_VARIES ? DWARF_VARIES
								    : skip + size;
		if (vec_push(&t->specs, s))
			return ERR_NOMEM;
	}
	a->n = (uint32_t)t->specs.n - a->first;
	a->skip = skip > DWARF_VARIES ? DWARF_VARIES : (uint32_t)skip;
	return 0;
}

static int by_code(const void *pa, const void *pb)
{
	const struct dwarf_abbrev *a = pa, *b = pb;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* A damaged table keeps what was read: DIEs that need the rest fail later. */
int dwarf_abbrevs_until(struct dwarf_unit *u, uint64_t only, struct dwarf_abbrevs *t)
{
	struct bytes b = dwarf_cursor(u->obj, SEC_ABBREV, u->abbrev_off, UINT64_MAX);
	const uint8_t *start = b.p;
	int r = dwarf_work(u->obj, 1);
	if (r)
		return r;
	t->dense = 1;
	while (bytes_left(&b)) {
		struct dwarf_abbrev a = {.code = bytes_uleb(&b)};
		if (!a.code)
			break;
		uint64_t tag = bytes_uleb(&b);
		a.tag = tag > UINT16_MAX ? UINT16_MAX : (uint16_t)tag;
		a.children = bytes_u8(&b) != 0;
		r = abbrev_specs(&b, u, t, &a);
		if (r)
			break;
		if (a.code != t->list.n + 1)
			t->dense = 0;
		if (vec_push(&t->list, a))
			return ERR_NOMEM;
		if (a.code == only)
			break;
	}
	if (r == ERR_NOMEM)
		return r;
	if (!t->dense)
		qsort(t->list.v, t->list.n, sizeof(*t->list.v), by_code);
	return dwarf_work(u->obj, (uint64_t)(b.p - start));
}

/* Units of work for keeping an abbreviation or one of its attributes: bounds the memory of
 * overlapping tables to about one entry per byte of DWARF. */
enum { ABBREV_WORK = 64 };

/* The index key of a table: form sizes depend on the unit's format, too. */
static uint64_t abbrev_key(const struct dwarf_unit *u)
{
	return u->abbrev_off | (uint64_t)u->addr_size << 56 |
	       (uint64_t)(u->off_size == 8) << 60 | (uint64_t)(u->version <= 2) << 61;
}

int dwarf_unit_abbrevs(struct dwarf_unit *u)
{
	struct dwarf_object *o = u->obj;
	uint32_t at;
	if (u->abbrevs)
		return 0;
	if (u64map_get(&o->abbrev_index, abbrev_key(u), &at)) {
		u->abbrevs = o->abbrevs.v[at];
		return 0;
	}
	struct dwarf_abbrevs *t = mem_zalloc(1, sizeof(*t));
	if (!t)
		return ERR_NOMEM;
	int r = dwarf_abbrevs_until(u, 0, t);
	if (!r)
		r = dwarf_work(o, ABBREV_WORK * (t->list.n + t->specs.n));
	at = (uint32_t)o->abbrevs.n;
	if (!r &&
	    (vec_reserve(&o->abbrevs, 1) || u64map_put(&o->abbrev_index, abbrev_key(u), at)))
		r = ERR_NOMEM;
	if (r) {
		vec_release(&t->list);
		vec_release(&t->specs);
		mem_free(t);
		return r;
	}
	o->abbrevs.v[o->abbrevs.n++] = t;
	u->abbrevs = t;
	return 0;
}

/* --- values ----------------------------------------------------------------------------- */

static void value_block(struct bytes *b, uint64_t n)
{
	if (n > bytes_left(b))
		b->bad = 1;
	else
		bytes_skip(b, n);
}

static int value_indirect(struct bytes *b, const struct dwarf_unit *u, struct dwarf_value *v)
{
	uint64_t form = bytes_uleb(b);
	if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > UINT16_MAX)
		return ERR_FORMAT;
	return dwarf_value_read(b, u, (unsigned)form, 0, v);
}

int dwarf_value_read(struct bytes *b, const struct dwarf_unit *u, unsigned form,
		     int64_t implicit, struct dwarf_value *v)
{
	const struct form *f = form_of(u, form);
	if (!f)
		return ERR_FORMAT;
	v->kind = f->kind;
	switch (f->size) {
	case SIZE_IMPLICIT:
		v->u = (uint64_t)implicit;
		break;
	case SIZE_PRESENT:
		v->u = 1;
		break;
	case SIZE_ULEB:
		v->u = bytes_uleb(b);
		break;
	case SIZE_SLEB:
		v->u = (uint64_t)bytes_sleb(b);
		break;
	case SIZE_STRING:
		v->p = bytes_string(b);
		break;
	case SIZE_BLOCK:
		value_block(b, bytes_uleb(b));
		break;
	case SIZE_BLOCK1:
	case SIZE_BLOCK2:
	case SIZE_BLOCK4:
		value_block(b, dwarf_uint(b, 1u << (f->size - SIZE_BLOCK1)));
		break;
	case SIZE_INDIRECT:
		return value_indirect(b, u, v);
	case 16:
		bytes_skip(b, 16);
		break;
	default:
		v->u = dwarf_uint(b, form_size(u, f));
	}
	if (f->kind == DWV_UNIT_REF) {
		v->kind = DWV_REF;
		v->u = v->u < u->end - u->off ? u->off + v->u : UINT64_MAX;
	} else if (f->kind == DWV_CONST && f->size >= 4 && f->size <= 8 && u->version < 4) {
		v->kind = DWV_SECOFF; /* DWARF 2 and 3 have no separate form for offsets */
	}
	return bytes_ok(b) ? 0 : ERR_FORMAT;
}

/* The text at `off` in a string section, or NULL if that is outside. (dwarf_object_init has cut
 * off unterminated text.) */
static const char *dwarf_sec_string(const struct dwarf_sec *s, uint64_t off)
{
	return off < s->n ? (const char *)s->p + off : NULL;
}

/* Entry `index` of .debug_str_offsets (7.26). */
static const char *string_indexed(const struct dwarf_unit *u, uint64_t index)
{
	const struct dwarf_object *o = u->obj;
	uint64_t n = o->sec[SEC_STR_OFFSETS].n;
	if (u->str_offsets_base > n || index >= (n - u->str_offsets_base) / u->off_size)
		return NULL;
	struct bytes b = dwarf_cursor(o, SEC_STR_OFFSETS,
				      u->str_offsets_base + index * u->off_size, UINT64_MAX);
	return dwarf_sec_string(&o->sec[SEC_STR], dwarf_uint(&b, u->off_size));
}

const char *dwarf_string(const struct dwarf_unit *u, const struct dwarf_value *v)
{
	struct dwarf_object *o = u->obj;
	switch (v->kind) {
	case DWV_STR:
		return v->p;
	case DWV_STRP:
		return dwarf_sec_string(&o->sec[SEC_STR], v->u);
	case DWV_LINE_STRP:
		return dwarf_sec_string(&o->sec[SEC_LINE_STR], v->u);
	case DWV_STRX:
		return string_indexed(u, v->u);
	case DWV_ALT_STRP:
		if (o->alt)
			return dwarf_sec_string(&o->alt->sec[SEC_STR], v->u);
		o->alt_missed = 1;
		return NULL;
	}
	return NULL;
}

int dwarf_address(const struct dwarf_unit *u, const struct dwarf_value *v, uint64_t *addr)
{
	if (v->kind == DWV_ADDR) {
		*addr = v->u;
		return 1;
	}
	if (v->kind != DWV_ADDRX)
		return 0;
	/* A .dwo has no addresses: they are in its skeleton's .debug_addr (7.27). */
	const struct dwarf_unit *owner = u->obj->skel ? u->obj->skel : u;
	uint64_t n = owner->obj->sec[SEC_ADDR].n;
	if (owner->addr_base > n || v->u >= (n - owner->addr_base) / owner->addr_size)
		return 0;
	struct bytes b = dwarf_cursor(owner->obj, SEC_ADDR,
				      owner->addr_base + v->u * owner->addr_size, UINT64_MAX);
	*addr = dwarf_uint(&b, owner->addr_size);
	return bytes_ok(&b);
}

int dwarf_reference(struct dwarf_unit *u, const struct dwarf_value *v, struct dwarf_unit **to,
		    uint64_t *off)
{
	struct dwarf_object *o = u->obj;
	if (v->kind == DWV_ALT_REF) {
		if (!o->alt)
			o->alt_missed = 1;
		o = o->alt;
	} else if (v->kind != DWV_REF) {
		return 0;
	}
	if (!o)
		return 0;
	*off = v->u;
	*to = v->u >= u->off && v->u < u->end && o == u->obj ? u : dwarf_unit_at(o, v->u);
	return *to && (*to)->tag && v->u >= (*to)->die;
}
