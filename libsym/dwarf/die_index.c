/* die_index.c - which DIEs own which code. */
#include "libsym/dwarf/die_index.h"

#include "base/mem.h"
#include "libsym/dwarf/die_name.h"

struct build {
	struct die_index *ix;
	struct dwarf_unit *u;
	const struct line_table *lines;
	struct die_names *names;
	dwarf_ranges_vec ranges; /* of the current DIE */
	spans_vec spans;
	VEC(uint32_t) level; /* function around each open DIE */
};

/* The attributes of a function's DIE about its code; the name is resolved separately. */
struct code_attrs {
	struct dwarf_value low, high, ranges;
	struct die_ident ident;
	uint64_t call_file, call_line;
};

static int code_attrs_read(struct bytes *b, struct dwarf_unit *u, const struct dwarf_abbrev *a,
			   struct code_attrs *c)
{
	*c = (struct code_attrs){0};
	if (dwarf_work(u->obj, a->n))
		return ERR_LIMIT;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct dwarf_spec *s = &u->abbrevs->specs.v[a->first + i];
		struct dwarf_value v = {0};
		if (dwarf_value_read(b, u, s->form, s->implicit, &v))
			return ERR_FORMAT;
		switch (s->name) {
		case DW_AT_low_pc:
			c->low = v;
			break;
		case DW_AT_high_pc:
			c->high = v;
			break;
		case DW_AT_ranges:
			c->ranges = v;
			break;
		case DW_AT_call_file:
			c->call_file = v.u;
			break;
		case DW_AT_call_line:
			c->call_line = v.u;
			break;
		default:
			die_ident_attr(&c->ident, s->name, &v);
		}
	}
	return 0;
}

/* Put the DIE's ranges into *out (emptied first). A damaged list keeps its valid beginning. */
static int code_ranges(struct dwarf_unit *u, const struct code_attrs *c, dwarf_ranges_vec *out)
{
	struct dwarf_range r;
	out->n = 0;
	if (c->ranges.kind) {
		int err = dwarf_ranges_read(u, &c->ranges, out);
		return err == ERR_FORMAT ? 0 : err;
	}
	if (!dwarf_address(u, &c->low, &r.lo) || !c->high.kind)
		return 0;
	if (!dwarf_address(u, &c->high, &r.hi))
		r.hi = r.lo + c->high.u;
	return r.lo < r.hi ? vec_push(out, r) : 0;
}

/* A subprogram or inlined subroutine: a function, unless it is a declaration without code. */
static int func_add(struct build *w, const struct dwarf_abbrev *a, struct bytes *b,
		    uint64_t off, uint32_t around, uint32_t *func)
{
	struct code_attrs c;
	int inlined = a->tag == DW_TAG_inlined_subroutine;
	int r = code_attrs_read(b, w->u, a, &c);
	if (!r)
		r = code_ranges(w->u, &c, &w->ranges);
	if (r || (!inlined && !w->ranges.n))
		return r;
	struct die_func f = {.inlined = (uint8_t)inlined,
			     .parent = inlined ? around : DIE_NONE};
	if (w->ranges.n)
		f.entry = w->ranges.v[0].lo;
	if (inlined) {
		f.call_file = line_table_file(w->lines, c.call_file);
		f.call_line = c.call_line > UINT32_MAX ? 0 : (uint32_t)c.call_line;
	}
	r = die_name_resolve(w->names, w->u, off, &c.ident, &f.name);
	if (r)
		return r;
	*func = (uint32_t)w->ix->funcs.n;
	if (*func >= DIE_NONE - 1 || vec_push(&w->ix->funcs, f))
		return ERR_NOMEM;
	for (size_t i = 0; i < w->ranges.n; i++) {
		struct span s = {w->ranges.v[i].lo, w->ranges.v[i].hi, *func};
		if (s.lo && vec_push(&w->spans, s)) /* 0: discarded by the linker */
			return ERR_NOMEM;
	}
	return 0;
}

static int has_function(const struct dwarf_abbrev *a)
{
	return a->tag == DW_TAG_inlined_subroutine ||
	       (a->tag == DW_TAG_subprogram && a->has_code);
}

static int die_visit(void *arg, const struct die_at *d)
{
	struct build *w = arg;
	uint32_t func = d->depth ? w->level.v[d->depth - 1] : DIE_NONE;
	struct bytes b = d->attrs;
	if (has_function(d->abbrev)) {
		int r = func_add(w, d->abbrev, &b, d->off, func, &func);
		if (r)
			return r;
	}
	if (!d->abbrev->children)
		return 0;
	w->level.n = d->depth;
	return vec_push(&w->level, func);
}

/* --- the interface ---------------------------------------------------------------------- */

int die_index_build(struct die_index *ix, struct dwarf_unit *u, const struct line_table *lines,
		    struct die_names *names)
{
	struct build w = {.ix = ix, .u = u, .lines = lines, .names = names};
	int r = die_walk(u, die_visit, &w);
	if (r != ERR_NOMEM && segments_build(&w.spans, &ix->segs))
		r = ERR_NOMEM;
	vec_release(&w.ranges);
	vec_release(&w.spans);
	vec_release(&w.level);
	return r;
}

struct subprogram_ranges {
	struct dwarf_unit *u;
	dwarf_ranges_vec one, *out;
};

static int ranges_visit(void *arg, const struct die_at *d)
{
	struct subprogram_ranges *s = arg;
	struct code_attrs c;
	struct bytes b = d->attrs;
	if (d->abbrev->tag != DW_TAG_subprogram || !d->abbrev->has_code)
		return 0;
	int r = code_attrs_read(&b, s->u, d->abbrev, &c);
	if (!r)
		r = code_ranges(s->u, &c, &s->one);
	for (size_t i = 0; !r && i < s->one.n; i++)
		if (vec_push(s->out, s->one.v[i]))
			r = ERR_NOMEM;
	return r;
}

int die_subprogram_ranges(struct dwarf_unit *u, dwarf_ranges_vec *out)
{
	struct subprogram_ranges s = {.u = u, .out = out};
	int r = die_walk(u, ranges_visit, &s);
	vec_release(&s.one);
	return r;
}

void die_index_release(struct die_index *ix)
{
	vec_release(&ix->funcs);
	vec_release(&ix->segs);
}
