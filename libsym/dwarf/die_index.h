/*
 * die_index.h - one unit's code as sorted, disjoint segments: address → innermost function, and
 * from there outwards to the function in the symbol table.
 *
 * Built by one forward walk over the unit's DIEs, then immutable: lookups from any thread.
 * Where ranges overlap (GCC gives inlined bodies more than their caller has, linkers fold equal
 * functions) the later DIE in the file wins, which is the innermost of nested ones; a
 * function's caller is its parent DIE, never the one whose range contains it. Both as
 * llvm-symbolizer does.
 */
#ifndef LIBSYM_DWARF_DIE_INDEX_H
#define LIBSYM_DWARF_DIE_INDEX_H

#include "base/text/strtab.h"
#include "libsym/dwarf/reader.h"
#include "libsym/dwarf/line_table.h"
#include "libsym/dwarf/segments.h"

enum { DIE_NONE = SPAN_NONE };

/* A function as DWARF names it. */
struct die_name {
	const char *name;  /* linkage name if there is one, else DW_AT_name; NULL = none */
	const char *scope; /* "ns::Class" around a DW_AT_name; NULL = none, or in the linkage
			      name */
};

struct die_func {
	struct die_name name;
	uint64_t entry;        /* lowest address of its first range */
	const char *call_file; /* inlined: file of the call; NULL = unknown */
	uint32_t call_line;
	uint32_t parent; /* inlined: the function it was inlined into, else DIE_NONE */
	uint8_t inlined;
};

/* Zero-initialised is valid and empty. */
struct die_index {
	VEC(struct die_func) funcs; /* in DIE order: a parent precedes its children */
	span_segs_vec segs;         /* address → index in funcs */
};

/* Names already resolved, by DIE offset; shared by all units of a module. */
struct die_names {
	struct strtab *scopes; /* the "ns::Class" texts */
	struct u64map index;
	VEC(struct die_name) names;
};

/*
 * Walk unit `u`. `lines` (may be empty) turns DW_AT_call_file into paths. What was read before
 * damage stays usable: ERR_FORMAT, or ERR_LIMIT (nesting beyond 1000, work spent). ERR_NOMEM.
 */
int die_index_build(struct die_index *ix, struct dwarf_unit *u, const struct line_table *lines,
		    struct die_names *names);

/* Append the ranges of all subprograms of a unit whose root DIE has none. Errors as above. */
int die_subprogram_ranges(struct dwarf_unit *u, dwarf_ranges_vec *out);

/* The innermost function at va, or DIE_NONE. */
static inline uint32_t die_index_find(const struct die_index *ix, uint64_t va)
{
	return segments_find(&ix->segs, va);
}

/* Free the tables. */
void die_index_release(struct die_index *ix);
void die_names_release(struct die_names *n);

/* Free the scopes that name lookups attached to the object's units. */
void die_scopes_release(struct dwarf_object *o);

#endif
