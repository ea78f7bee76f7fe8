/* die_name.c - walking DIEs and following references to a name. */
#include "libsym/dwarf/die_name.h"

#include "base/text/buf.h"
#include "base/mem.h"
#include "base/search.h"

enum {
	NEST_LIMIT = 1000,
	REF_LIMIT = 16,   /* origin → specification → ...; real chains have three links */
	SCOPE_LIMIT = 64, /* namespaces and classes around a name */
	SCOPE_BYTES = 16384,
};

/* --- the walk --------------------------------------------------------------------------- */

/* Step over the attributes of a DIE. */
static int attrs_skip(struct bytes *b, struct dwarf_unit *u, const struct dwarf_abbrev *a)
{
	if (a->skip != DWARF_VARIES) {
		bytes_skip(b, a->skip);
		return bytes_ok(b) ? 0 : ERR_FORMAT;
	}
	if (dwarf_work(u->obj, a->n)) /* attributes may have no bytes */
		return ERR_LIMIT;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct dwarf_spec *s = &u->abbrevs->specs.v[a->first + i];
		struct dwarf_value v;
		if (dwarf_value_read(b, u, s->form, s->implicit, &v))
			return ERR_FORMAT;
	}
	return 0;
}

int die_walk(struct dwarf_unit *u, int (*visit)(void *arg, const struct die_at *d), void *arg)
{
	int r = dwarf_unit_abbrevs(u);
	if (!r)
		r = dwarf_work(u->obj, u->end - u->off);
	if (r)
		return r;
	struct bytes b = dwarf_cursor(u->obj, SEC_INFO, u->die, u->end);
	const uint8_t *info = u->obj->sec[SEC_INFO].p;
	size_t depth = 0;
	while (bytes_left(&b)) {
		struct die_at d = {.off = (uint64_t)(b.p - info), .depth = depth};
		uint64_t code = bytes_uleb(&b);
		if (!code) { /* end of a list of siblings */
			if (depth <= 1)
				break;
			depth--;
			continue;
		}
		d.abbrev = dwarf_abbrev(u->abbrevs, code);
		d.attrs = b;
		if (!d.abbrev || !bytes_ok(&b))
			return ERR_FORMAT;
		r = attrs_skip(&b, u, d.abbrev);
		if (!r)
			r = visit(arg, &d);
		if (r)
			return r;
		if (d.abbrev->children && ++depth > NEST_LIMIT)
			return ERR_LIMIT;
		if (!depth)
			break; /* a root without children */
	}
	return 0;
}

/* --- scopes ----------------------------------------------------------------------------- */

/* Namespaces and classes of a unit in file order; a scope contains the DIEs in [off, end). */
struct die_scope {
	uint64_t off, end;
	uint32_t parent; /* index, or DIE_NONE */
	const char *name;
};

struct die_scopes {
	VEC(struct die_scope) v;
};

struct scopes_build {
	struct dwarf_unit *u;
	struct die_scopes *s;
	uint32_t open;      /* innermost scope not closed yet */
	VEC(size_t) depths; /* of the open scopes */
};

static int is_scope(unsigned tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_module || tag == DW_TAG_interface_type;
}

/* Close the scopes that a DIE at this depth and offset is outside of. */
static void scopes_close(struct scopes_build *w, size_t depth, uint64_t off)
{
	while (w->depths.n && w->depths.v[w->depths.n - 1] >= depth) {
		struct die_scope *s = &w->s->v.v[w->open];
		s->end = off;
		w->open = s->parent;
		w->depths.n--;
	}
}

static const char *scope_name(struct dwarf_unit *u, const struct die_at *d)
{
	struct bytes b = d->attrs;
	for (uint32_t i = 0; i < d->abbrev->n; i++) {
		const struct dwarf_spec *s = &u->abbrevs->specs.v[d->abbrev->first + i];
		struct dwarf_value v = {0};
		if (dwarf_value_read(&b, u, s->form, s->implicit, &v))
			break;
		if (s->name == DW_AT_name)
			return dwarf_string(u, &v);
	}
	return d->abbrev->tag == DW_TAG_namespace ? "(anonymous namespace)" : NULL;
}

static int scopes_visit(void *arg, const struct die_at *d)
{
	struct scopes_build *w = arg;
	scopes_close(w, d->depth, d->off);
	if (!d->abbrev->children || !is_scope(d->abbrev->tag))
		return 0;
	if (dwarf_work(w->u->obj, d->abbrev->n))
		return ERR_LIMIT;
	struct die_scope s = {.off = d->off,
			      .end = w->u->end,
			      .parent = w->open,
			      .name = scope_name(w->u, d)};
	if (w->s->v.n >= DIE_NONE - 1 || vec_push(&w->s->v, s) ||
	    vec_push(&w->depths, d->depth))
		return ERR_NOMEM;
	w->open = (uint32_t)w->s->v.n - 1;
	return 0;
}

/* The scopes of a unit, made on first use; of a damaged unit those before the damage. */
static int scopes_get(struct dwarf_unit *u, struct die_scopes **out)
{
	if (!u->scopes) {
		struct scopes_build w = {.u = u, .open = DIE_NONE};
		w.s = u->scopes = mem_zalloc(1, sizeof(*u->scopes));
		int r = w.s ? die_walk(u, scopes_visit, &w) : ERR_NOMEM;
		vec_release(&w.depths);
		if (r && r != ERR_FORMAT)
			return r;
	}
	*out = u->scopes;
	return 0;
}

void die_scopes_release(struct dwarf_object *o)
{
	for (size_t i = 0; i < o->units.n; i++) {
		struct dwarf_unit *u = &o->units.v[i];
		if (u->scopes)
			vec_release(&u->scopes->v);
		mem_free(u->scopes);
		u->scopes = NULL;
	}
}

/* The innermost scope around the DIE at off, or DIE_NONE. */
static uint32_t scope_around(const struct die_scopes *s, uint64_t off)
{
	size_t lo = PARTITION_POINT(i, 0, s->v.n, s->v.v[i].off < off);
	uint32_t at = lo ? (uint32_t)lo - 1 : DIE_NONE;
	while (at != DIE_NONE && s->v.v[at].end <= off)
		at = s->v.v[at].parent;
	return at;
}

/* Intern "ns::Class" around the DIE at off; NULL if it has no scope. */
static int scope_text(struct die_names *n, struct dwarf_unit *u, uint64_t off,
		      const char **text)
{
	struct die_scopes *s;
	const char *part[SCOPE_LIMIT];
	unsigned parts = 0;
	uint32_t id;
	int r = scopes_get(u, &s);
	if (r)
		return r;
	for (uint32_t at = scope_around(s, off); at != DIE_NONE && parts < SCOPE_LIMIT;
	     at = s->v.v[at].parent)
		if (s->v.v[at].name)
			part[parts++] = s->v.v[at].name;
	if (!parts)
		return 0;
	struct buf b = {.max = SCOPE_BYTES};
	while (parts-- && !buf_failed(&b)) {
		buf_add(&b, part[parts], strnlen(part[parts], SCOPE_BYTES + 1));
		if (parts)
			buf_str(&b, "::");
	}
	r = buf_failed(&b) == ERR_NOMEM
		    ? ERR_NOMEM
		    : dwarf_work(u->obj, 4 * (buf_failed(&b) ? SCOPE_BYTES : b.n));
	if (!r && b.n && !buf_failed(&b)) {
		r = strtab_intern_n(n->scopes, b.v, b.n, &id);
		*text = r ? NULL : strtab_get(n->scopes, id);
	}
	buf_release(&b);
	return r;
}

/* Languages whose functions have no scope. */
static int is_c(unsigned lang)
{
	return lang == DW_LANG_C || lang == DW_LANG_C89 || lang == DW_LANG_C99 ||
	       lang == DW_LANG_C11 || lang == DW_LANG_Mips_Assembler;
}

/* --- names ------------------------------------------------------------------------------ */

/* Read the naming attributes of the DIE at `off`; none if it is damaged. */
static int ident_read(struct dwarf_unit *u, uint64_t off, struct die_ident *d)
{
	int r = dwarf_unit_abbrevs(u);
	*d = (struct die_ident){0};
	if (!r)
		r = dwarf_work(u->obj, 16);
	if (r)
		return r == ERR_FORMAT ? 0 : r;
	struct bytes b = dwarf_cursor(u->obj, SEC_INFO, off, u->end);
	const uint8_t *from = b.p;
	uint64_t code = bytes_uleb(&b);
	const struct dwarf_abbrev *a = code ? dwarf_abbrev(u->abbrevs, code) : NULL;
	for (uint32_t i = 0; a && i < a->n; i++) {
		const struct dwarf_spec *s = &u->abbrevs->specs.v[a->first + i];
		struct dwarf_value v = {0};
		if (dwarf_value_read(&b, u, s->form, s->implicit, &v))
			break;
		die_ident_attr(d, s->name, &v);
	}
	return dwarf_work(u->obj, (a ? a->n : 0) + (uint64_t)(b.p - from));
}

/* Follow the chain that starts with `d` at (u, off) until a linkage name or its end. */
static int name_follow(struct die_names *n, struct dwarf_unit *u, uint64_t off,
		       struct die_ident d, struct die_name *out)
{
	int c = is_c(u->lang);
	for (int i = 0; i < REF_LIMIT; i++) {
		const char *linkage = dwarf_string(u, &d.linkage);
		if (linkage && *linkage) {
			out->name = linkage;
			return 0;
		}
		if (!out->name)
			out->name = dwarf_string(u, &d.name);
		struct dwarf_unit *to;
		uint64_t at;
		if (!dwarf_reference(u, &d.origin, &to, &at))
			break;
		u = to;
		off = at;
		int r = ident_read(u, off, &d);
		if (r)
			return r;
	}
	if (!out->name || c)
		return 0;
	return scope_text(n, u, off, &out->scope);
}

int die_name_resolve(struct die_names *n, struct dwarf_unit *u, uint64_t off,
		     const struct die_ident *d, struct die_name *out)
{
	struct dwarf_unit *to;
	struct die_ident next;
	uint64_t at;
	uint32_t id;
	*out = (struct die_name){0};
	/* It has its own name, or no reference: not worth caching. */
	if (d->linkage.kind || d->name.kind || !dwarf_reference(u, &d->origin, &to, &at))
		return name_follow(n, u, off, *d, out);
	uint64_t key = at | (uint64_t)(to->obj != u->obj) << 63;
	if (u->obj->skel)
		key ^= hash_u64((uintptr_t)u->obj);
	if (u64map_get(&n->index, key, &id)) {
		*out = n->names.v[id];
		return 0;
	}
	int r = ident_read(to, at, &next);
	if (!r)
		r = name_follow(n, to, at, next, out);
	if (r)
		return r;
	if (n->names.n >= DIE_NONE - 1 || vec_push(&n->names, *out) ||
	    u64map_put(&n->index, key, (uint32_t)n->names.n - 1))
		return ERR_NOMEM;
	return 0;
}

void die_names_release(struct die_names *n)
{
	u64map_release(&n->index);
	vec_release(&n->names);
}
