/* dwarfread.c - abbreviations and attribute values. */
#include "libsym/dwarfread.h"

#include "base/mem.h"

#include <stdlib.h>

void dwarf_object_init(struct dwarf_object *o)
{
	uint64_t bytes = 0;
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

/* The size of a form whose size does not depend on the data, or DWARF_VARIES. */
static uint32_t form_size(const struct dwarf_unit *u, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->addr_size;
	case DW_FORM_ref_addr:
		return u->version <= 2 ? u->addr_size : u->off_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return u->off_size;
	}
	return DWARF_VARIES;
}

/* Read the attributes of one abbreviation at the cursor into t. */
static int abbrev_specs(struct bytes *b, const struct dwarf_unit *u, struct dwarf_abbrevs *t,
			struct dwarf_abbrev *a)
{
	uint64_t skip = 0;
	a->first = (uint32_t)t->specs.n;
	for (;;) {
		uint64_t name = dwarf_uleb(b), form = dwarf_uleb(b);
		struct dwarf_spec s = {.name = name > UINT16_MAX ? UINT16_MAX : (uint16_t)name,
				       .form = form > UINT16_MAX ? UINT16_MAX : (uint16_t)form};
		if (form == DW_FORM_implicit_const)
			s.implicit = dwarf_sleb(b);
		if (!bytes_ok(b))
			return ERR_FORMAT;
		if (!name && !form)
			break;
		if (name == DW_AT_low_pc || name == DW_AT_ranges)
			a->has_code = 1;
		uint32_t size = form_size(u, s.form);
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

/* A torn table keeps what was read: DIEs that use the rest fail on their own. */
int dwarf_abbrevs_until(struct dwarf_unit *u, uint64_t only, struct dwarf_abbrevs *t)
{
	struct bytes b = dwarf_cursor(u->obj, SEC_ABBREV, u->abbrev_off, UINT64_MAX);
	const uint8_t *start = b.p;
	int r = 0;
	t->dense = 1;
	while (bytes_left(&b)) {
		struct dwarf_abbrev a = {.code = dwarf_uleb(&b)};
		if (!a.code)
			break;
		uint64_t tag = dwarf_uleb(&b);
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

/* The index key of a table: form sizes depend on the unit's format too. */
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

static void value_block(struct bytes *b, uint64_t n, struct dwarf_value *v)
{
	v->kind = DWV_OTHER;
	if (n > bytes_left(b))
		b->bad = 1;
	else
		bytes_skip(b, n);
}

static void value_uint(struct bytes *b, unsigned size, enum dwarf_kind kind,
		       struct dwarf_value *v)
{
	v->kind = kind;
	v->u = dwarf_uint(b, size);
}

/* A reference relative to the unit becomes an offset in .debug_info. */
static void value_ref(const struct dwarf_unit *u, uint64_t rel, struct dwarf_value *v)
{
	v->kind = DWV_REF;
	v->u = rel < u->end - u->off ? u->off + rel : UINT64_MAX;
}

static void value_cstr(struct bytes *b, struct dwarf_value *v)
{
	const uint8_t *nul = memchr(b->p, 0, bytes_left(b));
	v->kind = DWV_STR;
	v->p = (const char *)b->p;
	if (nul)
		bytes_skip(b, (size_t)(nul - b->p) + 1);
	else
		b->bad = 1;
}

static int value_indirect(struct bytes *b, const struct dwarf_unit *u, struct dwarf_value *v)
{
	uint64_t form = dwarf_uleb(b);
	if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > UINT16_MAX)
		return ERR_FORMAT;
	return dwarf_value_read(b, u, (unsigned)form, 0, v);
}

int dwarf_value_read(struct bytes *b, const struct dwarf_unit *u, unsigned form,
		     int64_t implicit, struct dwarf_value *v)
{
	switch (form) {
	case DW_FORM_addr:
		value_uint(b, u->addr_size, DWV_ADDR, v);
		break;
	case DW_FORM_data1:
	case DW_FORM_flag:
		value_uint(b, 1, DWV_CONST, v);
		break;
	case DW_FORM_data2:
		value_uint(b, 2, DWV_CONST, v);
		break;
	case DW_FORM_data4: /* DWARF 2 and 3 use data4 and data8 for section offsets too */
		value_uint(b, 4, u->version < 4 ? DWV_SECOFF : DWV_CONST, v);
		break;
	case DW_FORM_data8:
		value_uint(b, 8, u->version < 4 ? DWV_SECOFF : DWV_CONST, v);
		break;
	case DW_FORM_udata:
		v->kind = DWV_CONST;
		v->u = dwarf_uleb(b);
		break;
	case DW_FORM_sdata:
		v->kind = DWV_CONST;
		v->u = (uint64_t)dwarf_sleb(b);
		break;
	case DW_FORM_implicit_const:
		v->kind = DWV_CONST;
		v->u = (uint64_t)implicit;
		break;
	case DW_FORM_flag_present:
		v->kind = DWV_CONST;
		v->u = 1;
		break;
	case DW_FORM_string:
		value_cstr(b, v);
		break;
	case DW_FORM_strp:
		value_uint(b, u->off_size, DWV_STRP, v);
		break;
	case DW_FORM_line_strp:
		value_uint(b, u->off_size, DWV_LINE_STRP, v);
		break;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		value_uint(b, u->off_size, DWV_ALT_STRP, v);
		break;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		v->kind = DWV_STRX;
		v->u = dwarf_uleb(b);
		break;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
		value_uint(b, form - DW_FORM_strx1 + 1, DWV_STRX, v);
		break;
	case DW_FORM_strx4:
		value_uint(b, 4, DWV_STRX, v);
		break;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		v->kind = DWV_ADDRX;
		v->u = dwarf_uleb(b);
		break;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
		value_uint(b, form - DW_FORM_addrx1 + 1, DWV_ADDRX, v);
		break;
	case DW_FORM_addrx4:
		value_uint(b, 4, DWV_ADDRX, v);
		break;
	case DW_FORM_ref1:
		value_ref(u, dwarf_uint(b, 1), v);
		break;
	case DW_FORM_ref2:
		value_ref(u, dwarf_uint(b, 2), v);
		break;
	case DW_FORM_ref4:
		value_ref(u, dwarf_uint(b, 4), v);
		break;
	case DW_FORM_ref8:
		value_ref(u, dwarf_uint(b, 8), v);
		break;
	case DW_FORM_ref_udata:
		value_ref(u, dwarf_uleb(b), v);
		break;
	case DW_FORM_ref_addr:
		value_uint(b, u->version <= 2 ? u->addr_size : u->off_size, DWV_REF, v);
		break;
	case DW_FORM_ref_sup4:
		value_uint(b, 4, DWV_ALT_REF, v);
		break;
	case DW_FORM_ref_sup8:
		value_uint(b, 8, DWV_ALT_REF, v);
		break;
	case DW_FORM_GNU_ref_alt:
		value_uint(b, u->off_size, DWV_ALT_REF, v);
		break;
	case DW_FORM_sec_offset:
		value_uint(b, u->off_size, DWV_SECOFF, v);
		break;
	case DW_FORM_rnglistx:
		v->kind = DWV_RNGX;
		v->u = dwarf_uleb(b);
		break;
	case DW_FORM_loclistx:
		v->kind = DWV_OTHER;
		v->u = dwarf_uleb(b);
		break;
	case DW_FORM_ref_sig8:
		value_block(b, 8, v);
		break;
	case DW_FORM_data16:
		value_block(b, 16, v);
		break;
	case DW_FORM_block1:
		value_block(b, dwarf_uint(b, 1), v);
		break;
	case DW_FORM_block2:
		value_block(b, dwarf_uint(b, 2), v);
		break;
	case DW_FORM_block4:
		value_block(b, dwarf_uint(b, 4), v);
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		value_block(b, dwarf_uleb(b), v);
		break;
	case DW_FORM_indirect:
		return value_indirect(b, u, v);
	default:
		return ERR_FORMAT;
	}
	return bytes_ok(b) ? 0 : ERR_FORMAT;
}

const char *dwarf_sec_string(const struct dwarf_sec *s, uint64_t off)
{
	if (off >= s->n || !memchr(s->p + off, 0, s->n - off))
		return NULL;
	return (const char *)s->p + off;
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
	/* A .dwo has no addresses: its skeleton's .debug_addr does (7.27). */
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
