/*
 * die_name.h - the walk over a unit's DIEs, and the name of a function, by way of
 * DW_AT_abstract_origin and DW_AT_specification, across units and into the dwz file.
 *
 * Private to die_index.c.
 */
#ifndef LIBSYM_DWARF_DIE_NAME_H
#define LIBSYM_DWARF_DIE_NAME_H

#include "libsym/dwarf/die_index.h"

/* A DIE visited by die_walk. */
struct die_at {
	uint64_t off; /* in .debug_info */
	size_t depth; /* 0 = the unit's root */
	const struct dwarf_abbrev *abbrev;
	struct bytes attrs; /* at its first attribute value; a copy that may be changed */
};

/*
 * Call `visit` for every DIE of the unit in file order (a parent before its children). Stops at
 * the end, at the visitor's first non-zero result (returned), at damaged DIEs (ERR_FORMAT) and
 * at a nesting beyond 1000 (ERR_LIMIT). Each byte of the unit is read once.
 */
int die_walk(struct dwarf_unit *u, int (*visit)(void *arg, const struct die_at *d), void *arg);

/* The attributes that name a function. Zero-initialised: none seen. */
struct die_ident {
	struct dwarf_value linkage, name, origin; /* origin: abstract_origin or specification */
};

/* Keep one attribute if it is a naming one. */
static inline void die_ident_attr(struct die_ident *d, unsigned attr,
				  const struct dwarf_value *v)
{
	switch (attr) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		d->linkage = *v;
		break;
	case DW_AT_name:
		d->name = *v;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		d->origin = *v;
		break;
	}
}

/* The name of the DIE at `off` of unit u, whose attributes are `d`; out->name is NULL if there
 * is none. ERR_LIMIT, ERR_NOMEM. */
int die_name_resolve(struct die_names *n, struct dwarf_unit *u, uint64_t off,
		     const struct die_ident *d, struct die_name *out);

#endif
