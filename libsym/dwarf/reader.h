/*
 * reader.h - the bytes of DWARF 2-5: units, abbreviations, attribute values, ranges.
 *
 *	elffile ──sections──► dwarfread ──DIEs────────► dieindex ┐
 *	                          └──────.debug_line──► linetable ┴─► debuginfo
 *
 * Why not libdw (docs/decisions.md): 0.188 cannot read zstd sections or .dwp files, opens .dwo
 * files itself by the path in the DWARF, and must not be used by two threads. Here every byte
 * is read through base/bytes.h, the walk only goes forward, and there are no globals. Formats:
 * DWARF 5 standard (section numbers in the comments), the GNU split-DWARF 4 and dwz extensions.
 *
 * Private to libsym's debuginfo; not thread-safe (debug_info.c holds a lock).
 */
#ifndef LIBSYM_DWARF_READER_H
#define LIBSYM_DWARF_READER_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/vec.h"

#include <dwarf.h>

enum dwarf_sec_id {
	SEC_INFO,
	SEC_ABBREV,
	SEC_STR,
	SEC_LINE,
	SEC_LINE_STR,
	SEC_STR_OFFSETS,
	SEC_ADDR,
	SEC_RANGES,   /* DWARF 2-4 */
	SEC_RNGLISTS, /* DWARF 5 */
	SEC_COUNT,
};

struct dwarf_sec {
	const uint8_t *p;
	size_t n;
};

/* One attribute of an abbreviation (7.5.3). */
struct dwarf_spec {
	uint16_t name, form;
	int64_t implicit; /* DW_FORM_implicit_const */
};

enum { DWARF_VARIES = UINT32_MAX };

struct dwarf_abbrev {
	uint64_t code;
	uint32_t first, n; /* attributes, in dwarf_abbrevs.specs */
	uint32_t skip;     /* bytes of all attributes together, or DWARF_VARIES */
	uint16_t tag;
	uint8_t children;
	uint8_t has_code; /* it has DW_AT_low_pc or DW_AT_ranges */
};

struct dwarf_abbrevs {
	VEC(struct dwarf_abbrev) list; /* by code */
	VEC(struct dwarf_spec) specs;
	uint8_t dense; /* list.v[code - 1] is the code's entry */
};

struct dwarf_object;

/* One unit of .debug_info: its header (7.5.1) and its root DIE's attributes. */
struct dwarf_unit {
	struct dwarf_object *obj;
	uint64_t off, end;   /* of the unit, including its header, in .debug_info */
	uint64_t die;        /* offset of the root DIE */
	uint64_t abbrev_off; /* in .debug_abbrev */
	uint64_t dwo_id;
	struct dwarf_abbrevs *abbrevs; /* loaded on first use */
	uint16_t version, tag;         /* tag of the root DIE; 0 when unreadable */
	uint8_t unit_type, addr_size, off_size;
	uint8_t has_low, has_high, high_is_size, has_ranges, has_line, has_dwo_id;
	uint16_t lang;
	/* The root DIE's attributes */
	uint64_t low, high, line_off;
	uint64_t addr_base, str_offsets_base, rnglists_base;
	uint64_t ranges_base; /* DW_AT_GNU_ranges_base: for DIEs of the .dwo only */
	uint64_t ranges;      /* section offset, or index with ranges_indexed */
	uint8_t ranges_indexed;
	const char *name, *comp_dir, *dwo_name; /* NULL = absent */
	struct die_scopes *scopes;              /* of die_name.c, made on first use */
};

/* The DWARF of one file: a module, its dwz file, a .dwo or one unit of a .dwp. */
struct dwarf_object {
	struct dwarf_sec sec[SEC_COUNT];
	uint8_t swap;
	struct dwarf_object *alt;      /* dwz file, for DW_FORM_GNU_ref_alt; NULL = missing */
	const struct dwarf_unit *skel; /* in a .dwo: the skeleton that owns addresses */
	uint8_t alt_missed;            /* a reference into a missing alt was seen */
	uint64_t work;                 /* steps left before ERR_LIMIT; see dwarf_object_init */
	VEC(struct dwarf_unit) units;  /* by offset; does not grow after dwarf_units_load */
	VEC(struct dwarf_abbrevs *) abbrevs;
	struct u64map abbrev_index; /* abbrev_key → abbrevs */
};

/*
 * Prepare an object whose sec[] and swap the caller has set (borrowed for the object's life).
 * Sets the work budget: normal DWARF needs a few steps per byte, hostile DWARF (a million DIEs
 * sharing one range list) may need their product, so steps are limited to 64 per byte; then all
 * functions below return ERR_LIMIT.
 */
void dwarf_object_init(struct dwarf_object *o);

/* Free the tables; the caller owns the sections. NULL is accepted. */
void dwarf_object_release(struct dwarf_object *o);

/* Take n steps from the budget: 0, or ERR_LIMIT from then on. Work whose cost is only known
 * afterwards takes a step before it begins. */
static inline int dwarf_work(struct dwarf_object *o, uint64_t n)
{
	if (n > o->work) {
		o->work = 0;
		return ERR_LIMIT;
	}
	o->work -= n;
	return 0;
}

/*
 * Read all unit headers and root DIEs of .debug_info into o->units. A damaged header ends the
 * list (*torn is set); a unit of an unknown version is kept with tag 0 (*skipped counts them).
 * ERR_NOMEM, ERR_LIMIT.
 */
int dwarf_units_load(struct dwarf_object *o, int *torn, size_t *skipped);

/* The unit that contains a .debug_info offset, or NULL. */
struct dwarf_unit *dwarf_unit_at(struct dwarf_object *o, uint64_t off);

enum dwarf_kind {
	DWV_NONE,
	DWV_ADDR,   /* u: address */
	DWV_ADDRX,  /* u: index in .debug_addr */
	DWV_CONST,  /* u: unsigned, or two's complement for sdata */
	DWV_SECOFF, /* u: offset in another section */
	DWV_RNGX,   /* u: index in .debug_rnglists */
	DWV_STR,    /* p: text inside .debug_info, NUL-terminated */
	DWV_STRP,   /* u: offset in .debug_str */
	DWV_LINE_STRP,
	DWV_STRX,     /* u: index in .debug_str_offsets */
	DWV_ALT_STRP, /* u: offset in the dwz file's .debug_str */
	DWV_REF,      /* u: offset in this object's .debug_info */
	DWV_ALT_REF,  /* u: offset in the dwz file's */
	DWV_OTHER,    /* blocks, expressions, signatures: skipped */
};

struct dwarf_value {
	uint8_t kind;
	uint64_t u;
	const char *p;
};

/* Decode one value of `form` at the cursor (7.5.6). ERR_FORMAT for unknown forms and for
 * values that pass the end. */
int dwarf_value_read(struct bytes *b, const struct dwarf_unit *u, unsigned form,
		     int64_t implicit, struct dwarf_value *v);

/* The text of a string value, which lives as long as the sections; NULL if it is not one, or
 * out of bounds. */
const char *dwarf_string(const struct dwarf_unit *u, const struct dwarf_value *v);

/* The address of an address or address-index value: 1 and *addr, or 0. */
int dwarf_address(const struct dwarf_unit *u, const struct dwarf_value *v, uint64_t *addr);

/* The unit and offset a reference points at: 1, or 0 (no reference, missing alt, bad offset).
 */
int dwarf_reference(struct dwarf_unit *u, const struct dwarf_value *v, struct dwarf_unit **to,
		    uint64_t *off);

/* Load the unit's abbreviations. ERR_FORMAT, ERR_LIMIT, ERR_NOMEM. */
int dwarf_unit_abbrevs(struct dwarf_unit *u);

/* Append the abbreviations at u->abbrev_off to the empty *t, up to and including code `only` (0
 * = all), without caching them in the object. ERR_LIMIT, ERR_NOMEM. */
int dwarf_abbrevs_until(struct dwarf_unit *u, uint64_t only, struct dwarf_abbrevs *t);

/* The abbreviation of a code, or NULL. */
static inline const struct dwarf_abbrev *dwarf_abbrev(const struct dwarf_abbrevs *t,
						      uint64_t code)
{
	if (t->dense)
		return code - 1 < t->list.n ? &t->list.v[code - 1] : NULL;
	size_t lo = PARTITION_POINT(i, 0, t->list.n, t->list.v[i].code < code);
	return lo < t->list.n && t->list.v[lo].code == code ? &t->list.v[lo] : NULL;
}

/* A value of 1, 2, 3, 4 or 8 bytes; other sizes are `bad`. */
uint64_t dwarf_uint(struct bytes *b, unsigned size);

/* A cursor over [off, end) of a section; empty and `bad` when outside. */
struct bytes dwarf_cursor(const struct dwarf_object *o, enum dwarf_sec_id id, uint64_t off,
			  uint64_t end);

struct dwarf_range {
	uint64_t lo, hi; /* [lo, hi), never empty */
};
typedef VEC(struct dwarf_range) dwarf_ranges_vec;

/*
 * Append the ranges of a DW_AT_ranges value of unit `u` (2.17.3, 7.25, 7.28), without empty
 * ones. ERR_FORMAT (those before the damage are kept), ERR_LIMIT, ERR_NOMEM.
 */
int dwarf_ranges_read(struct dwarf_unit *u, const struct dwarf_value *v, dwarf_ranges_vec *out);

/* Append the ranges of the unit's root DIE; it may have none. */
int dwarf_unit_ranges(struct dwarf_unit *u, dwarf_ranges_vec *out);

#endif
