/* unit.c - unit headers, root DIEs and range lists. */
#include "libsym/dwarf/reader.h"

#include "base/mem.h"
#include "base/search.h"

struct dwarf_unit *dwarf_unit_at(struct dwarf_object *o, uint64_t off)
{
	size_t lo = PARTITION_POINT(i, 0, o->units.n, o->units.v[i].end <= off);
	return lo < o->units.n && o->units.v[lo].off <= off ? &o->units.v[lo] : NULL;
}

/* --- headers and root DIEs -------------------------------------------------------------- */

/* The header at `off` (7.5.1). 1 = a unit (version 0 when unknown), 0 = no valid header. */
static int unit_header(struct dwarf_object *o, uint64_t off, struct dwarf_unit *u)
{
	struct bytes b = dwarf_cursor(o, SEC_INFO, off, UINT64_MAX);
	*u = (struct dwarf_unit){.obj = o, .off = off, .off_size = 4};
	uint64_t len = bytes_u32(&b);
	if (len == 0xffffffff) {
		len = bytes_u64(&b);
		u->off_size = 8;
	}
	if (!bytes_ok(&b) || !len || len > bytes_left(&b))
		return 0;
	u->end = off + (u->off_size == 8 ? 12 : 4) + len;
	b.end = o->sec[SEC_INFO].p + u->end;
	u->version = bytes_u16(&b);
	if (u->version >= 5) {
		u->unit_type = bytes_u8(&b);
		u->addr_size = bytes_u8(&b);
		u->abbrev_off = dwarf_uint(&b, u->off_size);
	} else {
		u->abbrev_off = dwarf_uint(&b, u->off_size);
		u->addr_size = bytes_u8(&b);
	}
	if (u->unit_type == DW_UT_skeleton || u->unit_type == DW_UT_split_compile) {
		u->dwo_id = bytes_u64(&b);
		u->has_dwo_id = 1;
	} else if (u->unit_type == DW_UT_type || u->unit_type == DW_UT_split_type) {
		bytes_skip(&b, 8 + u->off_size);
	}
	u->die = (uint64_t)(b.p - o->sec[SEC_INFO].p);
	if (!bytes_ok(&b) || u->version < 2 || u->version > 5 || u->abbrev_off >> 56 ||
	    (u->addr_size != 4 && u->addr_size != 8))
		u->version = 0;
	return 1;
}

/* Attribute values of a root DIE that depend on bases, which may come after them. */
struct root_values {
	struct dwarf_value name, comp_dir, dwo_name, low, high;
};

static void root_attr(struct dwarf_unit *u, struct root_values *r, unsigned name,
		      const struct dwarf_value *v)
{
	switch (name) {
	case DW_AT_name:
		r->name = *v;
		break;
	case DW_AT_comp_dir:
		r->comp_dir = *v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		r->dwo_name = *v;
		break;
	case DW_AT_low_pc:
		r->low = *v;
		break;
	case DW_AT_high_pc:
		r->high = *v;
		break;
	case DW_AT_language:
		u->lang = (uint16_t)v->u;
		break;
	case DW_AT_ranges:
		u->has_ranges = v->kind == DWV_SECOFF || v->kind == DWV_RNGX;
		u->ranges_indexed = v->kind == DWV_RNGX;
		u->ranges = v->u;
		break;
	case DW_AT_stmt_list:
		u->has_line = 1;
		u->line_off = v->u;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->u;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = v->u;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v->u;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->u;
		break;
	case DW_AT_GNU_dwo_id:
		u->dwo_id = v->u;
		u->has_dwo_id = 1;
		break;
	}
}

/* The code's abbreviation: from the unit's table if loaded, else by reading only up to it. */
static const struct dwarf_abbrev *root_abbrev(struct dwarf_unit *u, uint64_t code,
					      struct dwarf_abbrevs *scratch, int *err)
{
	scratch->list.n = scratch->specs.n = 0;
	*err = 0;
	struct bytes b = dwarf_cursor(u->obj, SEC_ABBREV, u->abbrev_off, UINT64_MAX);
	if (!code || !bytes_ok(&b))
		return NULL;
	*err = dwarf_abbrevs_until(u, code, scratch);
	for (size_t i = 0; !*err && i < scratch->list.n; i++)
		if (scratch->list.v[i].code == code)
			return &scratch->list.v[i];
	return NULL;
}

/* Read the root DIE into the unit; a damaged one leaves tag 0. ERR_LIMIT, ERR_NOMEM. */
static int unit_root(struct dwarf_unit *u, struct dwarf_abbrevs *scratch)
{
	struct bytes b = dwarf_cursor(u->obj, SEC_INFO, u->die, u->end);
	struct root_values r = {0};
	uint64_t addr;
	int err;
	const struct dwarf_abbrev *a = root_abbrev(u, bytes_uleb(&b), scratch, &err);
	if (!a)
		return err;
	/* Where this unit's table begins without an attribute (in a .dwo, 7.3.2.2).
	 */
	if (u->version >= 5) {
		u->str_offsets_base = u->off_size == 8 ? 16 : 8;
		u->rnglists_base = u->off_size == 8 ? 20 : 12;
		u->addr_base = u->off_size == 8 ? 16 : 8;
	}
	for (uint32_t i = 0; i < a->n; i++) {
		const struct dwarf_spec *s = &scratch->specs.v[a->first + i];
		struct dwarf_value v = {0};
		if (dwarf_value_read(&b, u, s->form, s->implicit, &v))
			return 0;
		root_attr(u, &r, s->name, &v);
	}
	u->tag = a->tag;
	u->name = dwarf_string(u, &r.name);
	u->comp_dir = dwarf_string(u, &r.comp_dir);
	u->dwo_name = dwarf_string(u, &r.dwo_name);
	u->has_low = (uint8_t)dwarf_address(u, &r.low, &u->low);
	u->high_is_size = r.high.kind == DWV_CONST || r.high.kind == DWV_SECOFF;
	u->has_high = u->high_is_size;
	u->high = r.high.u;
	if (dwarf_address(u, &r.high, &addr)) {
		u->has_high = 1;
		u->high = addr;
	}
	return 0;
}

int dwarf_units_load(struct dwarf_object *o, int *torn, size_t *skipped)
{
	struct dwarf_abbrevs scratch = {0};
	uint64_t off = 0;
	int r = 0;
	*torn = 0;
	*skipped = 0;
	while (!r && off < o->sec[SEC_INFO].n) {
		struct dwarf_unit u;
		if (!unit_header(o, off, &u)) {
			*torn = 1;
			break;
		}
		off = u.end;
		if (u.version)
			r = unit_root(&u, &scratch);
		if (!u.tag)
			++*skipped;
		if (!r && vec_push(&o->units, u))
			r = ERR_NOMEM;
	}
	vec_release(&scratch.list);
	vec_release(&scratch.specs);
	return r;
}

/* --- ranges ----------------------------------------------------------------------------- */

/* Units of work per range: bounds the memory to about 2 ranges per byte of DWARF. */
enum { RANGE_WORK = 32 };

static int range_add(struct dwarf_unit *u, uint64_t lo, uint64_t hi, dwarf_ranges_vec *out)
{
	int r = dwarf_work(u->obj, RANGE_WORK);
	if (r || lo >= hi)
		return r;
	return vec_push(out, ((struct dwarf_range){lo, hi}));
}

/* The unit that owns addresses and DWARF 4 ranges: the skeleton for a .dwo's unit. */
static const struct dwarf_unit *address_owner(const struct dwarf_unit *u)
{
	return u->obj->skel ? u->obj->skel : u;
}

/* .debug_ranges (DWARF 4, 2.17.3): pairs of addresses relative to a base. */
static int ranges_v4(struct dwarf_unit *u, uint64_t off, dwarf_ranges_vec *out)
{
	const struct dwarf_unit *owner = address_owner(u);
	uint64_t base = owner->has_low ? owner->low : 0;
	uint64_t max = u->addr_size == 4 ? UINT32_MAX : UINT64_MAX;
	if (u->obj->skel)
		off += owner->ranges_base;
	struct bytes b = dwarf_cursor(owner->obj, SEC_RANGES, off, UINT64_MAX);
	for (;;) {
		uint64_t lo = dwarf_uint(&b, u->addr_size), hi = dwarf_uint(&b, u->addr_size);
		if (!bytes_ok(&b))
			return ERR_FORMAT;
		if (!lo && !hi)
			return 0;
		int r = lo == max ? dwarf_work(u->obj, 1)
				  : range_add(u, (base + lo) & max, (base + hi) & max, out);
		if (lo == max)
			base = hi;
		if (r)
			return r;
	}
}

static int indexed_address(struct dwarf_unit *u, uint64_t index, uint64_t *addr)
{
	struct dwarf_value v = {.kind = DWV_ADDRX, .u = index};
	return dwarf_address(u, &v, addr) ? 0 : ERR_FORMAT;
}

/* One entry of a range list (DWARF 5, 7.25). 1 = [*lo, *hi) set, 0 = base set, 2 = the end. */
static int rnglist_entry(struct dwarf_unit *u, struct bytes *b, uint64_t *base, uint64_t *lo,
			 uint64_t *hi)
{
	int r = 0;
	switch (bytes_u8(b)) {
	case DW_RLE_end_of_list:
		return bytes_ok(b) ? 2 : ERR_FORMAT;
	case DW_RLE_base_addressx:
		return indexed_address(u, bytes_uleb(b), base);
	case DW_RLE_base_address:
		*base = dwarf_uint(b, u->addr_size);
		return 0;
	case DW_RLE_startx_endx:
		r = indexed_address(u, bytes_uleb(b), lo);
		if (!r)
			r = indexed_address(u, bytes_uleb(b), hi);
		break;
	case DW_RLE_startx_length:
		r = indexed_address(u, bytes_uleb(b), lo);
		*hi = *lo + bytes_uleb(b);
		break;
	case DW_RLE_offset_pair:
		*lo = *base + bytes_uleb(b);
		*hi = *base + bytes_uleb(b);
		break;
	case DW_RLE_start_end:
		*lo = dwarf_uint(b, u->addr_size);
		*hi = dwarf_uint(b, u->addr_size);
		break;
	case DW_RLE_start_length:
		*lo = dwarf_uint(b, u->addr_size);
		*hi = *lo + bytes_uleb(b);
		break;
	default:
		return ERR_FORMAT;
	}
	if (r)
		return r;
	return bytes_ok(b) ? 1 : ERR_FORMAT;
}

static int ranges_v5(struct dwarf_unit *u, const struct dwarf_value *v, dwarf_ranges_vec *out)
{
	const struct dwarf_unit *owner = address_owner(u);
	uint64_t base = owner->has_low ? owner->low : 0;
	uint64_t off = v->u, lo = 0, hi = 0;
	if (v->kind == DWV_RNGX) {
		uint64_t n = u->obj->sec[SEC_RNGLISTS].n;
		if (u->rnglists_base > n || v->u >= (n - u->rnglists_base) / u->off_size)
			return ERR_FORMAT;
		struct bytes t =
			dwarf_cursor(u->obj, SEC_RNGLISTS,
				     u->rnglists_base + v->u * u->off_size, UINT64_MAX);
		off = u->rnglists_base + dwarf_uint(&t, u->off_size);
	}
	struct bytes b = dwarf_cursor(u->obj, SEC_RNGLISTS, off, UINT64_MAX);
	for (;;) {
		int r = rnglist_entry(u, &b, &base, &lo, &hi);
		if (r == 2)
			return 0;
		if (r == 1)
			r = range_add(u, lo, hi, out);
		else if (!r)
			r = dwarf_work(u->obj, 1);
		if (r < 0)
			return r;
	}
}

int dwarf_ranges_read(struct dwarf_unit *u, const struct dwarf_value *v, dwarf_ranges_vec *out)
{
	if (v->kind != DWV_SECOFF && v->kind != DWV_RNGX)
		return ERR_FORMAT;
	return u->version >= 5 ? ranges_v5(u, v, out) : ranges_v4(u, v->u, out);
}

int dwarf_unit_ranges(struct dwarf_unit *u, dwarf_ranges_vec *out)
{
	if (u->has_ranges) {
		struct dwarf_value v = {.kind = u->ranges_indexed ? DWV_RNGX : DWV_SECOFF,
					.u = u->ranges};
		return dwarf_ranges_read(u, &v, out);
	}
	if (!u->has_low || !u->has_high)
		return 0;
	return range_add(u, u->low, u->high_is_size ? u->low + u->high : u->high, out);
}
