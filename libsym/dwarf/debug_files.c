/* debug_files.c - finds and checks dwz files, .dwo files and .dwp packages. */
#include "libsym/dwarf/debug_files.h"

#include "base/text/buf.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 8192 };

void debug_note(struct debug_files *d, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (d->notes.n >= DEBUGINFO_NOTES_MAX)
		return;
	for (size_t i = 0; i < d->notes.n; i++)
		if (!strcmp(d->notes.v[i], text))
			return;
	char *copy = mem_strdup(text);
	if (copy && vec_push(&d->notes, copy))
		mem_free(copy);
}

static int section(struct debug_files *d, struct elf_file *f, const char *name, int dwo,
		   struct dwarf_sec *s, struct err *e)
{
	char full[64];
	GElf_Shdr shdr;
	snprintf(full, sizeof(full), "%s%s", name, dwo ? ".dwo" : "");
	struct err local = {0};
	if (!e)
		e = &local;
	int r = elf_file_section(f, full, &shdr, &s->p, &s->n, e);
	if (r < 0)
		debug_note(d, "%s", e->msg);
	if (r <= 0)
		*s = (struct dwarf_sec){0};
	return r;
}

int debug_sections(struct debug_files *d, struct elf_file *f, int dwo, struct dwarf_object *o,
		   struct err *e)
{
	static const char *const names[SEC_COUNT] = {
		[SEC_INFO] = ".debug_info",         [SEC_ABBREV] = ".debug_abbrev",
		[SEC_STR] = ".debug_str",           [SEC_LINE] = ".debug_line",
		[SEC_LINE_STR] = ".debug_line_str", [SEC_STR_OFFSETS] = ".debug_str_offsets",
		[SEC_ADDR] = ".debug_addr",         [SEC_RANGES] = ".debug_ranges",
		[SEC_RNGLISTS] = ".debug_rnglists",
	};
	*o = (struct dwarf_object){.swap = f->swap != 0};
	int r = section(d, f, names[SEC_INFO], dwo, &o->sec[SEC_INFO], e);
	if (r <= 0)
		return r;
	for (int i = SEC_INFO + 1; i < SEC_COUNT; i++)
		if ((i != SEC_LINE || !d->opt.no_lines) &&
		    section(d, f, names[i], dwo, &o->sec[i], NULL) == ERR_NOMEM)
			return err_nomem(e);
	dwarf_object_init(o);
	return 1;
}

/* --- candidates ------------------------------------------------------------------------- */

/* Open a candidate; `why` keeps why the first existing one cannot be read. */
static int try_open(struct debug_files *d, const char *path, struct elf_file **out,
		    struct err *why)
{
	struct err e = {0};
	*out = NULL;
	int r = d->opt.open ? d->opt.open(d->opt.arg, d->file, path, out, &e)
			    : elf_file_open(path, out, &e);
	if (r && r != ERR_NOTFOUND && !why->code)
		*why = e;
	return r;
}

/* `name` relative to the folder of `beside`. */
static void path_next_to(struct buf *b, const char *beside, const char *name)
{
	const char *slash = strrchr(beside, '/');
	buf_clear(b);
	if (slash)
		buf_add(b, beside, (size_t)(slash - beside) + 1);
	buf_str(b, name);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* --- dwz -------------------------------------------------------------------------------- */

/* Name and id of the dwz file: .gnu_debugaltlink (dwz), or .debug_sup (DWARF 5, 7.3.6). */
static int alt_link(struct debug_files *d, const char **name, struct build_id *id)
{
	struct dwarf_sec s = {0};
	struct bytes b;
	*id = (struct build_id){0};
	uint64_t len;
	if (section(d, d->file, ".gnu_debugaltlink", 0, &s, NULL) == 1) {
		b = bytes_init(s.p, s.n, 0);
		len = UINT64_MAX;
	} else if (section(d, d->file, ".debug_sup", 0, &s, NULL) == 1) {
		b = bytes_init(s.p, s.n, 0);
		bytes_skip(&b, 3); /* version, is_supplementary */
		len = 0;
	} else {
		return 0;
	}
	const uint8_t *nul = memchr(b.p, 0, bytes_left(&b));
	if (!nul || nul == b.p)
		return 0;
	*name = (const char *)b.p;
	bytes_skip(&b, (size_t)(nul - b.p) + 1);
	if (!len)
		len = bytes_uleb(&b);
	if (len > bytes_left(&b))
		len = bytes_left(&b);
	id->len = len > BUILD_ID_MAX ? BUILD_ID_MAX : (uint8_t)len;
	if (id->len)
		memcpy(id->v, b.p, id->len);
	return 1;
}

/* "../../.dwz/x86_64-linux-gnu/foo.debug" → "x86_64-linux-gnu/foo.debug". */
static const char *below_dwz(const char *name)
{
	const char *dwz = strstr(name, ".dwz/");
	return dwz && !strstr(dwz, "..") ? dwz + 5 : base_name(name);
}

/* The path of a build-id in the same cache as `path`, if that is in one. */
static void cache_path(struct buf *b, const char *path, const char *hex, const char *leaf)
{
	const char *cache = strstr(path, "/.build-id/");
	if (cache)
		buf_fmt(b, "%.*s/.build-id/%.2s/%s%s", (int)(cache - path), path, hex, hex + 2,
			leaf);
}

/* The i-th candidate path of a dwz file; 0 = no more. */
static int alt_candidate(const struct debug_files *d, int i, const char *name, const char *hex,
			 struct buf *b)
{
	buf_clear(b);
	switch (i) {
	case 0:
		if (*name == '/')
			buf_str(b, name);
		else
			path_next_to(b, d->file->path, name);
		return 1;
	case 1:
		buf_fmt(b, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
		return 1;
	case 2: /* relative to the original path, which a copy in a cache lacks */
		buf_fmt(b, "/usr/lib/debug/.dwz/%s", below_dwz(name));
		return 1;
	case 3:
		path_next_to(b, d->file->path, base_name(name));
		return 1;
	case 4:
		cache_path(b, d->file->path, hex, "/debug");
		return 1;
	case 5:
		cache_path(b, d->file->path, hex, "/elf");
		return 1;
	case 6:
		cache_path(b, d->file->path, hex, ".debug");
		return 1;
	case 7:
		if (d->opt.recorded && *name != '/')
			path_next_to(b, d->opt.recorded, name);
		return 1;
	}
	return 0;
}

static int alt_accept(struct debug_files *d, struct elf_file *f)
{
	int torn;
	size_t skipped;
	int r = debug_sections(d, f, 0, &d->alt, NULL);
	if (r == 1)
		r = dwarf_units_load(&d->alt, &torn, &skipped);
	else if (!r)
		r = ERR_FORMAT;
	if (r) {
		debug_note(d, "dwz file %s cannot be read: some names are missing", f->path);
		dwarf_object_release(&d->alt);
		d->alt = (struct dwarf_object){0};
		elf_file_close(f);
		return r == ERR_NOMEM ? r : 0;
	}
	d->alt_file = f;
	d->has_alt = 1;
	return 0;
}

int debug_alt_load(struct debug_files *d)
{
	const char *name;
	struct build_id id;
	char hex[2 * BUILD_ID_MAX + 1];
	struct buf b = {.max = PATH_BYTES};
	struct elf_file *f;
	struct err why = {0};
	int other = 0;
	if (!alt_link(d, &name, &id) || id.len < 2)
		return 0;
	build_id_hex(&id, hex);
	for (int i = 0; alt_candidate(d, i, name, hex, &b); i++) {
		const char *path = buf_cstr(&b);
		int r = *path ? try_open(d, path, &f, &why) : ERR_NOTFOUND;
		if (r == ERR_NOMEM || buf_failed(&b) == ERR_NOMEM) {
			buf_release(&b);
			return ERR_NOMEM;
		}
		if (r)
			continue;
		if (build_id_equal(&f->id, &id)) {
			buf_release(&b);
			return alt_accept(d, f);
		}
		other = 1;
		elf_file_close(f);
	}
	buf_release(&b);
	debug_note(d, "dwz file %.200s (build-id %s) %s: some names are missing", name, hex,
		   other      ? "found only with another build-id"
		   : why.code ? why.msg
			      : "not found");
	return 0;
}

/* --- split DWARF ------------------------------------------------------------------------ */

/* The unit with this dwo_id in a loaded object, or NULL. */
static struct dwarf_unit *unit_by_dwo_id(struct dwarf_object *o, uint64_t id)
{
	for (size_t i = 0; i < o->units.n; i++)
		if (o->units.v[i].tag == DW_TAG_compile_unit && o->units.v[i].has_dwo_id &&
		    o->units.v[i].dwo_id == id)
			return &o->units.v[i];
	return NULL;
}

/* Use an object whose sections are set, if it contains the skeleton's unit: 1, 0 or ERR_NOMEM.
 * The result owns `file` only on 1. */
static int dwo_accept(struct debug_files *d, const struct dwarf_object *o,
		      struct elf_file *file, const struct dwarf_unit *skel,
		      struct dwarf_unit **out)
{
	int torn;
	size_t skipped;
	struct debug_dwo *w = mem_zalloc(1, sizeof(*w));
	if (!w)
		return ERR_NOMEM;
	w->obj = *o;
	w->obj.skel = skel;
	int r = dwarf_units_load(&w->obj, &torn, &skipped);
	*out = r ? NULL : unit_by_dwo_id(&w->obj, skel->dwo_id);
	if (*out && !vec_push(&d->dwos, w)) {
		w->file = file;
		return 1;
	}
	if (*out)
		r = ERR_NOMEM;
	dwarf_object_release(&w->obj);
	mem_free(w);
	return r == ERR_NOMEM ? r : 0;
}

/* The i-th candidate path of a .dwo; 0 = no more. */
static int dwo_candidate(const struct debug_files *d, int i, const struct dwarf_unit *u,
			 struct buf *b)
{
	const char *name = u->dwo_name;
	buf_clear(b);
	switch (i) {
	case 0:
		if (*name != '/' && u->comp_dir)
			buf_fmt(b, "%s/", u->comp_dir);
		buf_str(b, name);
		return 1;
	case 1:
		if (*name != '/')
			path_next_to(b, d->file->path, name);
		return 1;
	case 2:
		path_next_to(b, d->file->path, base_name(name));
		return 1;
	case 3:
		if (d->opt.recorded)
			path_next_to(b, d->opt.recorded, *name == '/' ? base_name(name) : name);
		return 1;
	}
	return 0;
}

static int dwo_open(struct debug_files *d, const struct dwarf_unit *skel,
		    struct dwarf_unit **out, struct err *why)
{
	struct buf b = {.max = PATH_BYTES};
	struct elf_file *f;
	int r = 0;
	for (int i = 0; !r && dwo_candidate(d, i, skel, &b); i++) {
		const char *path = buf_cstr(&b);
		struct dwarf_object o;
		if (buf_failed(&b) == ERR_NOMEM)
			r = ERR_NOMEM;
		else if (*path && !(r = try_open(d, path, &f, why))) {
			r = debug_sections(d, f, 1, &o, NULL);
			if (r == 1)
				r = dwo_accept(d, &o, f, skel, out);
			if (r != 1)
				elf_file_close(f);
		}
		if (r < 0 && r != ERR_NOMEM)
			r = 0;
	}
	buf_release(&b);
	return r;
}

/* --- .dwp ------------------------------------------------------------------------------- */

/* .debug_cu_index (DWARF 5, 7.3.5; version 2 is the GNU one of DWARF 4). */
struct dwp_index {
	struct bytes sigs, rows, cols, offsets, sizes;
	uint32_t version, ncol, nunit, nslot;
};

static int dwp_index_read(const struct dwarf_sec *s, int swap, struct dwp_index *x)
{
	struct bytes b = bytes_init(s->p, s->n, swap);
	x->version = bytes_u32(&b);
	if ((x->version & 0xffff) == 5 || x->version >> 16 == 5)
		x->version = 5; /* a u16 and two bytes of padding */
	x->ncol = bytes_u32(&b);
	x->nunit = bytes_u32(&b);
	x->nslot = bytes_u32(&b);
	size_t left = bytes_left(&b);
	if (!bytes_ok(&b) || (x->version != 2 && x->version != 5) || x->nslot > left / 12 ||
	    !x->ncol || x->ncol > 16 || x->nunit > left / (8 * x->ncol))
		return ERR_FORMAT;
	x->sigs = b;
	bytes_skip(&b, (size_t)x->nslot * 8);
	x->rows = b;
	bytes_skip(&b, (size_t)x->nslot * 4);
	x->cols = b;
	bytes_skip(&b, (size_t)x->ncol * 4);
	x->offsets = b;
	bytes_skip(&b, (size_t)x->nunit * x->ncol * 4);
	x->sizes = b;
	bytes_skip(&b, (size_t)x->nunit * x->ncol * 4);
	return bytes_ok(&b) ? 0 : ERR_FORMAT;
}

/* The section of a column of the index; SEC_COUNT = not needed. */
static enum dwarf_sec_id dwp_column(uint32_t version, uint32_t id)
{
	switch (id) {
	case 1:
		return SEC_INFO;
	case 3:
		return SEC_ABBREV;
	case 4:
		return SEC_LINE;
	case 6:
		return SEC_STR_OFFSETS;
	case 8:
		return version == 5 ? SEC_RNGLISTS : SEC_COUNT;
	}
	return SEC_COUNT;
}

/* Cut the sections of *o down to the unit's contributions: 1, or 0 when it has none. */
static int dwp_slice(const struct dwp_index *x, uint64_t dwo_id, struct dwarf_object *o)
{
	struct dwp_index c = *x;
	uint32_t row = 0;
	for (uint32_t i = 0; i < x->nslot && !row; i++) {
		uint64_t sig = bytes_u64(&c.sigs);
		uint32_t r = bytes_u32(&c.rows);
		if (sig == dwo_id && r && r <= x->nunit)
			row = r;
	}
	if (!row)
		return 0;
	bytes_skip(&c.offsets, (size_t)(row - 1) * x->ncol * 4);
	bytes_skip(&c.sizes, (size_t)(row - 1) * x->ncol * 4);
	for (uint32_t i = 0; i < x->ncol; i++) {
		enum dwarf_sec_id id = dwp_column(x->version, bytes_u32(&c.cols));
		uint64_t off = bytes_u32(&c.offsets), size = bytes_u32(&c.sizes);
		if (id == SEC_COUNT || (id == SEC_LINE && !o->sec[id].n))
			continue; /* not needed, or not read (no_lines) */
		if (off > o->sec[id].n || size > o->sec[id].n - off)
			return 0;
		o->sec[id].p = size ? o->sec[id].p + off : NULL;
		o->sec[id].n = size;
	}
	dwarf_object_init(o);
	return 1;
}

static int dwp_open(struct debug_files *d, struct err *why)
{
	const char *at[] = {d->file->path, d->runtime ? d->runtime->path : NULL,
			    d->opt.recorded};
	struct buf b = {.max = PATH_BYTES};
	int r = 0;
	d->dwp_tried = 1;
	for (int i = 0; i < 3 && !d->dwp_file && r != ERR_NOMEM; i++) {
		if (!at[i])
			continue;
		buf_clear(&b);
		buf_fmt(&b, "%s.dwp", at[i]);
		r = buf_failed(&b);
		if (!r && (r = try_open(d, buf_cstr(&b), &d->dwp_file, why)))
			d->dwp_file = NULL;
	}
	buf_release(&b);
	return r == ERR_NOMEM ? r : 0;
}

static int dwp_load(struct debug_files *d, const struct dwarf_unit *skel,
		    struct dwarf_unit **out, struct err *why)
{
	struct dwarf_object o;
	struct dwp_index x;
	struct dwarf_sec index = {0};
	int r = d->dwp_tried ? 0 : dwp_open(d, why);
	if (r || !d->dwp_file)
		return r;
	r = debug_sections(d, d->dwp_file, 1, &o, NULL);
	if (r != 1)
		return r == ERR_NOMEM ? r : 0;
	r = section(d, d->dwp_file, ".debug_cu_index", 0, &index, NULL);
	if (r != 1 || dwp_index_read(&index, o.swap, &x)) {
		debug_note(d, "%s: .debug_cu_index cannot be read", d->dwp_file->path);
		return r == ERR_NOMEM ? r : 0;
	}
	if (!dwp_slice(&x, skel->dwo_id, &o))
		return 0;
	return dwo_accept(d, &o, NULL, skel, out);
}

int debug_dwo_load(struct debug_files *d, struct dwarf_unit *skel, struct dwarf_unit **out)
{
	struct err why = {0};
	int r = dwp_load(d, skel, out, &why);
	if (!r)
		r = dwo_open(d, skel, out, &why);
	if (!r)
		debug_note(d,
			   "split DWARF file %.200s (dwo_id %016llx) %.200s: its functions "
			   "have lines only",
			   skel->dwo_name, (unsigned long long)skel->dwo_id,
			   why.code ? why.msg : "not found");
	return r;
}

/* Where dwo_candidate looks for a unit's file, relative to the one that names it. */
static const char *dwo_relative_name(const char *name)
{
	return *name == '/' || strstr(name, "..") ? base_name(name) : name;
}

int debug_files_each(struct debug_files *d,
		     int (*take)(void *ctx, const struct elf_file *of,
				 const struct elf_file *file, const char *name),
		     void *ctx)
{
	int rc = 0;
	const char *name;
	struct build_id id;
	if (d->has_alt && alt_link(d, &name, &id))
		rc = take(ctx, d->file, d->alt_file, base_name(name));
	if (!rc && d->dwp_file) /* its name is the other file's plus ".dwp" */
		rc = take(ctx, d->file, d->dwp_file, ".dwp");
	for (size_t i = 0; !rc && i < d->dwos.n; i++) {
		const struct debug_dwo *w = d->dwos.v[i];
		if (w->file)
			rc = take(ctx, d->file, w->file,
				  dwo_relative_name(w->obj.skel->dwo_name));
	}
	return rc;
}

void debug_files_release(struct debug_files *d)
{
	for (size_t i = 0; i < d->dwos.n; i++) {
		dwarf_object_release(&d->dwos.v[i]->obj);
		elf_file_close(d->dwos.v[i]->file);
		mem_free(d->dwos.v[i]);
	}
	vec_release(&d->dwos);
	for (size_t i = 0; i < d->notes.n; i++)
		mem_free(d->notes.v[i]);
	vec_release(&d->notes);
	dwarf_object_release(&d->alt);
	elf_file_close(d->alt_file);
	elf_file_close(d->dwp_file);
}
