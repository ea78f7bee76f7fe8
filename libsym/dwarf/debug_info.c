/* debug_info.c - one module: which unit owns an address, units built on first hit, lookups. */
#include "libsym/dwarf/debug_info.h"

#include "base/mem.h"
#include "libsym/dwarf/debug_files.h"
#include "libsym/dwarf/die_index.h"
#include "libsym/dwarf/line_table.h"

#include <pthread.h>
#include <string.h>

/* A unit's tables, built on the first hit; immutable once published. */
struct unit_tables {
	struct line_table lines;
	struct die_index dies;
};

struct debuginfo {
	struct dwarf_object main;
	struct debug_files files;
	struct strtab text; /* paths and scopes; written under the lock only */
	struct die_names names;
	span_segs_vec cover;         /* address → index in main.units; immutable after open */
	struct unit_tables **tables; /* by unit; NULL until built, then published atomically */
	pthread_mutex_t lock;        /* protects building: main, files, text, names, stats */
	struct debuginfo_stats stats;
};

/* --- which unit owns an address --------------------------------------------------------- */

/* 1 when the range begins in code of the file. Discarded code begins at 0, 1 or ~0. */
static int in_code(const struct elf_file *f, const struct dwarf_range *r)
{
	if (!r->lo)
		return 0;
	if (!f->nsegments)
		return 1;
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];
		if (s->flags & PF_X && r->lo >= s->vaddr && r->lo - s->vaddr < s->memsz)
			return 1;
	}
	return 0;
}

/* 1 when a function of the unit may have code, by its abbreviations alone; 0 or ERR_*. */
static int may_have_code(struct dwarf_unit *u)
{
	int r = dwarf_unit_abbrevs(u);
	if (r)
		return r;
	for (size_t i = 0; i < u->abbrevs->list.n; i++) {
		const struct dwarf_abbrev *a = &u->abbrevs->list.v[i];
		if (a->tag == DW_TAG_subprogram && a->has_code)
			return 1;
	}
	return 0;
}

/* Append the ranges of unit `u`: its own, else those of its subprograms. ERR_NOMEM. */
static int unit_cover(struct debuginfo *d, struct dwarf_unit *u, dwarf_ranges_vec *out)
{
	out->n = 0;
	int r = dwarf_unit_ranges(u, out);
	if (r != ERR_NOMEM && !out->n && !u->has_ranges && !(u->has_low && u->has_high) &&
	    !u->dwo_name)
		r = may_have_code(u);
	if (r == 1)
		r = die_subprogram_ranges(u, out);
	if (r && r != ERR_NOMEM)
		debug_note(&d->files, "%s: unit at 0x%llx of .debug_info: %s",
			   d->files.file->path, (unsigned long long)u->off,
			   r == ERR_LIMIT ? "too much work for its size" : "broken ranges");
	return r == ERR_NOMEM ? r : 0;
}

static int cover_build(struct debuginfo *d, const struct elf_file *code)
{
	dwarf_ranges_vec ranges = {0};
	spans_vec spans = {0};
	int r = 0;
	for (size_t i = 0; !r && i < d->main.units.n && i < SPAN_NONE; i++) {
		struct dwarf_unit *u = &d->main.units.v[i];
		if (u->tag != DW_TAG_compile_unit && u->tag != DW_TAG_skeleton_unit)
			continue;
		r = unit_cover(d, u, &ranges);
		for (size_t j = 0; !r && j < ranges.n; j++) {
			struct span s = {ranges.v[j].lo, ranges.v[j].hi, (uint32_t)i};
			if (in_code(code, &ranges.v[j]) && vec_push(&spans, s))
				r = ERR_NOMEM;
		}
	}
	if (!r)
		r = segments_build(&spans, &d->cover);
	vec_release(&ranges);
	vec_release(&spans);
	return r;
}

/* --- open and close --------------------------------------------------------------------- */

/* Load units, dwz file and the cover of an object whose sections are set. */
static int load(struct debuginfo *d, struct err *e)
{
	const struct elf_file *code = d->files.runtime ? d->files.runtime : d->files.file;
	int torn = 0;
	size_t skipped = 0;
	int r = debug_alt_load(&d->files);
	if (!r && d->files.has_alt)
		d->main.alt = &d->files.alt;
	if (!r)
		r = dwarf_units_load(&d->main, &torn, &skipped);
	if (r == ERR_LIMIT) {
		debug_note(&d->files, "%s: .debug_info: too much work for its size",
			   d->files.file->path);
		r = 0;
	}
	if (torn)
		debug_note(&d->files,
			   "%s: .debug_info: a unit's length is wrong, the rest is lost",
			   d->files.file->path);
	if (skipped)
		debug_note(&d->files, "%s: .debug_info: %zu units cannot be read",
			   d->files.file->path, skipped);
	if (!r)
		r = cover_build(d, code);
	d->tables = r ? NULL : mem_zalloc(d->main.units.n + 1, sizeof(*d->tables));
	return d->tables ? 0 : err_nomem(e);
}

/* The first of the two files whose .debug_info can be read becomes d->files.file. */
static int pick_file(struct debuginfo *d, struct elf_file *runtime, struct elf_file *debug,
		     struct err *e)
{
	struct elf_file *candidate[] = {debug, runtime};
	int err = err_set(e, ERR_NOTFOUND, "%s: no .debug_info",
			  debug     ? debug->path
			  : runtime ? runtime->path
				    : "no file");
	d->files.runtime = runtime;
	for (int i = 0; i < 2; i++) {
		struct elf_file *f = candidate[i];
		if (!f)
			continue;
		if (f->ehdr.e_type == ET_REL) {
			err = err_set(e, ERR_UNSUPPORTED,
				      "%s: debug information of a relocatable file", f->path);
			continue;
		}
		d->files.file = f;
		int r = debug_sections(&d->files, f, 0, &d->main, e);
		if (r == 1)
			return 0;
		if (r == ERR_NOMEM)
			return r;
		if (r)
			err = r;
	}
	return err;
}

int debuginfo_open(struct elf_file *runtime, struct elf_file *debug,
		   const struct debuginfo_options *opt, struct debuginfo **out, struct err *e)
{
	*out = NULL;
	struct debuginfo *d = mem_zalloc(1, sizeof(*d));
	if (!d)
		return err_nomem(e);
	pthread_mutex_init(&d->lock, NULL);
	if (opt)
		d->files.opt = *opt;
	d->names.scopes = &d->text;
	int r = pick_file(d, runtime, debug, e);
	if (!r)
		r = load(d, e);
	if (r) {
		debuginfo_close(d);
		return r;
	}
	d->stats.units = d->main.units.n;
	*out = d;
	return 0;
}

static void tables_free(struct unit_tables *t)
{
	if (!t)
		return;
	line_table_release(&t->lines);
	die_index_release(&t->dies);
	mem_free(t);
}

void debuginfo_close(struct debuginfo *d)
{
	if (!d)
		return;
	for (size_t i = 0; d->tables && i < d->main.units.n; i++)
		tables_free(d->tables[i]);
	mem_free(d->tables);
	die_scopes_release(&d->main);
	die_scopes_release(&d->files.alt);
	for (size_t i = 0; i < d->files.dwos.n; i++)
		die_scopes_release(&d->files.dwos.v[i]->obj);
	debug_files_release(&d->files);
	dwarf_object_release(&d->main);
	vec_release(&d->cover);
	die_names_release(&d->names);
	strtab_release(&d->text);
	pthread_mutex_destroy(&d->lock);
	mem_free(d);
}

/* --- building a unit -------------------------------------------------------------------- */

static void note_damage(struct debuginfo *d, const struct dwarf_unit *u, const char *what,
			int r)
{
	if (r)
		debug_note(&d->files, "%s: %s of the unit at 0x%llx: %s", d->files.file->path,
			   what, (unsigned long long)u->off,
			   r == ERR_LIMIT ? "too much work for its size" : "damaged");
}

/* Fill *t for unit `u`. Damage leaves the valid part, and a note; only ERR_NOMEM is an
 * error. */
static int unit_fill(struct debuginfo *d, struct dwarf_unit *u, struct unit_tables *t)
{
	struct dwarf_unit *code = u;
	int r = 0;
	if (u->dwo_name && u->has_dwo_id) {
		r = debug_dwo_load(&d->files, u, &code);
		if (r < 0)
			return r;
		if (!r)
			code = NULL;
	}
	r = 0;
	t->lines.keeps_statements = d->files.opt.statements;
	if (u->has_line && !d->files.opt.no_lines)
		r = line_table_build(&t->lines, u, &d->main, u->line_off, &d->text);
	if (r == ERR_NOMEM)
		return r;
	note_damage(d, u, "line table", r);
	if (!code)
		return 0;
	r = die_index_build(&t->dies, code, &t->lines, &d->names);
	if (r == ERR_NOMEM)
		return r;
	note_damage(d, code, "functions", r);
	d->stats.units_built++;
	d->stats.bytes_built += code->end - code->off;
	if (d->main.alt_missed)
		debug_note(&d->files, "%s: names in a missing dwz file", d->files.file->path);
	return 0;
}

/* Build and publish unit i, unless another thread did. NULL when out of memory. */
static const struct unit_tables *unit_build(struct debuginfo *d, uint32_t i)
{
	pthread_mutex_lock(&d->lock);
	struct unit_tables *t = d->tables[i];
	if (!t) {
		t = mem_zalloc(1, sizeof(*t));
		if (t && unit_fill(d, &d->main.units.v[i], t)) {
			tables_free(t);
			t = NULL;
		}
		__atomic_store_n(&d->tables[i], t, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&d->lock);
	return t;
}

/* The tables that cover va: 1, 0 when no unit does, or ERR_NOMEM. */
static int tables_at(struct debuginfo *d, uint64_t va, const struct unit_tables **t)
{
	uint32_t i = segments_find(&d->cover, va);
	if (i == SPAN_NONE)
		return 0;
	*t = __atomic_load_n(&d->tables[i], __ATOMIC_ACQUIRE);
	if (!*t)
		*t = unit_build(d, i);
	return *t ? 1 : ERR_NOMEM;
}

void debuginfo_prepare(struct debuginfo *d, uint64_t va)
{
	const struct unit_tables *t;
	tables_at(d, va, &t);
}

int debuginfo_each_statement(struct debuginfo *d,
			     int (*take)(void *ctx, uint64_t va, const char *file,
					 uint32_t line),
			     void *ctx)
{
	int r = 0;
	for (uint32_t i = 0; !r && i < d->main.units.n; i++) {
		const struct unit_tables *t = d->tables[i] ? d->tables[i] : unit_build(d, i);
		if (!t)
			return ERR_NOMEM;
		for (size_t k = 0; !r && k < t->lines.statements.n; k++) {
			const struct line_row *row = &t->lines.statements.v[k];
			const char *file = line_table_file(&t->lines, row->file);
			r = file ? take(ctx, row->va, file, row->line) : 0;
		}
	}
	return r;
}

int debuginfo_text(struct debuginfo *d, const char *file, struct debuginfo_text *out)
{
	int found = 0;
	pthread_mutex_lock(&d->lock);
	for (size_t i = 0; i < d->main.units.n && !found; i++) {
		const struct line_table *t = d->tables[i] ? &d->tables[i]->lines : NULL;
		for (size_t k = 0; t && k < t->texts.n && k < t->files.n && !found; k++) {
			const struct line_text *x = &t->texts.v[k];
			found = t->files.v[k] && !strcmp(t->files.v[k], file) &&
				(x->md5 || x->text);
			if (found)
				*out = (struct debuginfo_text){x->md5, x->text};
		}
	}
	pthread_mutex_unlock(&d->lock);
	return found;
}

/* --- lookups ---------------------------------------------------------------------------- */

int debuginfo_edges(struct debuginfo *d, debuginfo_edges_vec *out)
{
	const struct unit_tables *t;
	int r = 0;
	for (size_t i = 0; r >= 0 && i < d->cover.n; i++) {
		const struct span_seg *own = &d->cover.v[i];
		r = vec_push(out, own->va) ? ERR_NOMEM : 0;
		if (!r && own->id != SPAN_NONE && !d->tables[own->id])
			r = tables_at(d, own->va, &t);
	}
	for (size_t u = 0; r >= 0 && u < d->main.units.n; u++)
		for (size_t i = 0; d->tables[u] && r >= 0 && i < d->tables[u]->dies.segs.n; i++)
			r = vec_push(out, d->tables[u]->dies.segs.v[i].va) ? ERR_NOMEM : 0;
	return r < 0 ? r : 0;
}

int debuginfo_line(struct debuginfo *d, uint64_t va, const char **file, uint32_t *line)
{
	const struct unit_tables *t;
	int r = tables_at(d, va, &t);
	return r == 1 ? line_table_find(&t->lines, va, file, line) : r;
}

int debuginfo_frames(struct debuginfo *d, uint64_t va, const char *symbol,
		     struct debuginfo_frame *out, size_t max)
{
	const struct unit_tables *t;
	int r = tables_at(d, va, &t);
	if (r != 1)
		return r;
	struct debuginfo_frame f = {0};
	size_t n = 0;
	int has_line = line_table_find(&t->lines, va, &f.file, &f.line);
	uint32_t at = die_index_find(&t->dies, va);
	if (at == DIE_NONE && !has_line)
		return 0;
	while (at != DIE_NONE) {
		const struct die_func *fn = &t->dies.funcs.v[at];
		f.name = fn->name.name;
		f.scope = fn->name.scope;
		f.entry = fn->entry;
		f.inlined = fn->inlined && fn->parent != DIE_NONE;
		if (!f.inlined)
			break;
		if (n < max)
			out[n] = f;
		n++;
		f = (struct debuginfo_frame){0};
		if (!d->files.opt.no_lines) {
			f.file = fn->call_file;
			f.line = fn->call_line;
		}
		at = fn->parent;
	}
	if (symbol) {
		f.name = symbol;
		f.scope = NULL;
	}
	if (max)
		out[n < max ? n : max - 1] = f;
	return (int)(n + 1);
}

const char *debuginfo_note(struct debuginfo *d, size_t i)
{
	pthread_mutex_lock(&d->lock);
	const char *s = i < d->files.notes.n ? d->files.notes.v[i] : NULL;
	pthread_mutex_unlock(&d->lock);
	return s;
}

int debuginfo_each_file(struct debuginfo *d,
			int (*take)(void *ctx, const struct elf_file *of,
				    const struct elf_file *file, const char *name),
			void *ctx)
{
	pthread_mutex_lock(&d->lock);
	int rc = debug_files_each(&d->files, take, ctx);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

void debuginfo_stats(struct debuginfo *d, struct debuginfo_stats *s)
{
	pthread_mutex_lock(&d->lock);
	*s = d->stats;
	pthread_mutex_unlock(&d->lock);
}
