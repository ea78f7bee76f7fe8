/* line_table.c - the .debug_line header and its state machine. */
#include "libsym/dwarf/line_table.h"

#include "base/text/buf.h"
#include "base/mem.h"
#include "base/search.h"

#include <stdlib.h>

enum {
	PATH_LIMIT = 4096,
	ROW_WORK = 16, /* work per byte of a program, which may be a row */
};

struct line_file {
	const char *name;
	uint64_t dir;
	struct line_text text;
};

/* Of LLVM, accepted for DWARF 6; dwarf.h does not have it. */
enum { LNCT_LLVM_SOURCE = 0x2001 };

/* The header (6.2.4), and the state for reading it. */
struct line_header {
	struct dwarf_unit form_unit; /* the unit, with the line table's offset size */
	uint16_t version;
	uint8_t min_inst, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *lengths; /* operands of standard opcode i at [i - 1] */
	VEC(const char *) dirs;
	VEC(struct line_file) files;
	uint8_t is_stmt; /* the default of rows */
};

/* --- header ----------------------------------------------------------------------------- */

static const char *read_cstr(struct bytes *b)
{
	const char *s = bytes_string(b);
	return s ? s : "";
}

/* DWARF 2-4: two lists of NUL-terminated entries; directory 0 and file 0 are implied. */
static int tables_v4(struct bytes *b, struct line_header *h)
{
	if (vec_push(&h->dirs, NULL) || vec_push(&h->files, ((struct line_file){0})))
		return ERR_NOMEM;
	for (;;) {
		const char *dir = read_cstr(b);
		if (!bytes_ok(b))
			return ERR_FORMAT;
		if (!*dir)
			break;
		if (vec_push(&h->dirs, dir))
			return ERR_NOMEM;
	}
	for (;;) {
		struct line_file f = {.name = read_cstr(b)};
		if (!bytes_ok(b))
			return ERR_FORMAT;
		if (!*f.name)
			return 0;
		f.dir = bytes_uleb(b);
		bytes_uleb(b); /* mtime */
		bytes_uleb(b); /* length */
		if (!bytes_ok(b))
			return ERR_FORMAT;
		if (vec_push(&h->files, f))
			return ERR_NOMEM;
	}
}

/* One entry-format description of DWARF 5 and the entries after it, as directories or files. */
static int table_v5(struct bytes *b, struct line_header *h, struct dwarf_object *o, int files)
{
	struct {
		uint64_t type, form;
	} format[256];
	unsigned nformat = bytes_u8(b);
	for (unsigned i = 0; i < nformat; i++) {
		format[i].type = bytes_uleb(b);
		format[i].form = bytes_uleb(b);
	}
	uint64_t count = bytes_uleb(b);
	if (!bytes_ok(b) || count > bytes_left(b))
		return ERR_FORMAT;
	if (dwarf_work(o, count * (nformat + 1)))
		return ERR_LIMIT;
	for (uint64_t i = 0; i < count; i++) {
		struct line_file f = {0};
		for (unsigned j = 0; j < nformat; j++) {
			struct dwarf_value v = {0};
			const uint8_t *at = b->p;
			if (format[j].form > UINT16_MAX ||
			    dwarf_value_read(b, &h->form_unit, (unsigned)format[j].form, 0, &v))
				return ERR_FORMAT;
			if (format[j].type == DW_LNCT_path)
				f.name = dwarf_string(&h->form_unit, &v);
			else if (format[j].type == DW_LNCT_directory_index)
				f.dir = v.u;
			else if (format[j].type == DW_LNCT_MD5 &&
				 format[j].form == DW_FORM_data16)
				f.text.md5 = at;
			else if (format[j].type == LNCT_LLVM_SOURCE)
				f.text.text = dwarf_string(&h->form_unit, &v);
		}
		int full = files ? vec_push(&h->files, f) : vec_push(&h->dirs, f.name);
		if (full)
			return ERR_NOMEM;
	}
	return 0;
}

/* Read the header; on return *b is the program. */
static int header_read(struct bytes *b, struct dwarf_object *o, const struct dwarf_unit *u,
		       struct line_header *h)
{
	h->form_unit = *u;
	h->form_unit.obj = o;
	h->form_unit.off_size = 4;
	uint64_t len = bytes_u32(b);
	if (len == 0xffffffff) {
		len = bytes_u64(b);
		h->form_unit.off_size = 8;
	}
	if (!bytes_ok(b) || len > bytes_left(b))
		return ERR_FORMAT;
	b->end = b->p + len;
	h->version = bytes_u16(b);
	if (h->version < 2 || h->version > 5)
		return ERR_FORMAT;
	if (h->version >= 5)
		bytes_skip(b, 2); /* address size, segment selector size */
	uint64_t header_len = dwarf_uint(b, h->form_unit.off_size);
	if (!bytes_ok(b) || header_len > bytes_left(b))
		return ERR_FORMAT;
	struct bytes head = *b;
	head.end = head.p + header_len;
	bytes_skip(b, header_len);
	h->min_inst = bytes_u8(&head);
	if (h->version >= 4)
		bytes_skip(&head, 1); /* operations per instruction: VLIW machines only */
	h->is_stmt = bytes_u8(&head) != 0;
	h->line_base = (int8_t)bytes_u8(&head);
	h->line_range = bytes_u8(&head);
	h->opcode_base = bytes_u8(&head);
	h->lengths = bytes_take(&head, h->opcode_base ? h->opcode_base - 1u : 0);
	if (!bytes_ok(&head) || !h->opcode_base || !h->line_range)
		return ERR_FORMAT;
	if (h->version < 5)
		return tables_v4(&head, h);
	int r = table_v5(&head, h, o, 0);
	return r ? r : table_v5(&head, h, o, 1);
}

/* --- paths ------------------------------------------------------------------------------ */

/* Append a directory and a slash, unless it is unknown. */
static void path_dir(struct buf *b, const char *dir)
{
	size_t n = dir ? strnlen(dir, PATH_LIMIT + 1) : 0;
	buf_add(b, dir, n);
	if (n && dir[n - 1] != '/')
		buf_char(b, '/');
}

static void path_make(struct buf *b, const struct line_header *h, const struct line_file *f)
{
	const char *comp = h->form_unit.comp_dir;
	const char *dir = f->dir < h->dirs.n ? h->dirs.v[f->dir] : NULL;
	buf_clear(b);
	if (*f->name != '/') {
		int whole = dir && *dir == '/';
		if (!whole)
			path_dir(b, comp);
		if (whole || !comp || (dir && strncmp(dir, comp, PATH_LIMIT) != 0))
			path_dir(b, dir);
	}
	buf_add(b, f->name, strnlen(f->name, PATH_LIMIT + 1));
}

/* Keep what the header says of the files' texts, if it says anything. ERR_NOMEM. */
static int texts_make(struct line_table *t, const struct line_header *h)
{
	size_t any = 0;
	for (size_t i = 0; i < h->files.n; i++)
		any += h->files.v[i].text.md5 || h->files.v[i].text.text;
	for (size_t i = 0; any && i < h->files.n; i++)
		if (vec_push(&t->texts, h->files.v[i].text))
			return ERR_NOMEM;
	return 0;
}

/* Intern the full path of every file of the header. */
static int paths_make(struct line_table *t, const struct line_header *h, struct dwarf_object *o,
		      struct strtab *paths)
{
	struct buf b = {.max = PATH_LIMIT};
	int r = 0;
	for (size_t i = 0; !r && i < h->files.n; i++) {
		const struct line_file *f = &h->files.v[i];
		const char *path = NULL;
		uint32_t id;
		if (f->name && *f->name) {
			path_make(&b, h, f);
			r = buf_failed(&b) == ERR_NOMEM
				    ? ERR_NOMEM
				    : dwarf_work(o, buf_failed(&b) ? PATH_LIMIT : b.n);
			if (!r && b.n && !buf_failed(&b)) {
				r = strtab_intern_n(paths, b.v, b.n, &id);
				path = r ? NULL : strtab_get(paths, id);
			}
		}
		if (!r && vec_push(&t->files, path))
			r = ERR_NOMEM;
	}
	buf_release(&b);
	return r;
}

/* --- the program ------------------------------------------------------------------------ */

struct line_state {
	uint64_t va;
	uint64_t file, line;
	size_t first, first_statement; /* rows the sequence starts with */
	uint8_t unsorted, is_stmt;
};

static int row_add(struct line_table *t, struct line_state *s)
{
	struct line_row row = {s->va, s->file > UINT32_MAX ? UINT32_MAX : (uint32_t)s->file,
			       s->line > UINT32_MAX ? 0 : (uint32_t)s->line};
	if (t->keeps_statements && s->is_stmt && row.line && vec_push(&t->statements, row))
		return ERR_NOMEM;
	if (t->rows.n > s->first) {
		struct line_row *last = &t->rows.v[t->rows.n - 1];
		if (last->va > row.va)
			s->unsorted = 1;
		if (last->va == row.va && !s->unsorted) {
			*last = row;
			return 0;
		}
		if (last->file == row.file && last->line == row.line && !s->unsorted)
			return 0;
	}
	return vec_push(&t->rows, row);
}

static int by_va(const void *pa, const void *pb)
{
	const struct line_row *a = pa, *b = pb;
	if (a->va != b->va)
		return a->va < b->va ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* DW_LNE_end_sequence: the rows since s->first become a sequence, or are dropped. */
static int seq_end(struct line_table *t, struct line_state *s, int is_stmt)
{
	size_t n = t->rows.n - s->first;
	int r = 0;
	if (n && s->unsorted)
		qsort(t->rows.v + s->first, n, sizeof(*t->rows.v), by_va);
	if (n && t->rows.v[s->first].va && t->rows.v[s->first].va < s->va &&
	    t->rows.n <= UINT32_MAX) {
		struct line_seq q = {t->rows.v[s->first].va, s->va, (uint32_t)s->first,
				     (uint32_t)n};
		r = vec_push(&t->seqs, q);
	} else {
		t->rows.n = s->first;
		t->statements.n = s->first_statement;
	}
	*s = (struct line_state){.file = 1,
				 .line = 1,
				 .first = t->rows.n,
				 .first_statement = t->statements.n,
				 .is_stmt = (uint8_t)is_stmt};
	return r;
}

/* An extended opcode (6.2.5.3). */
static int extended(struct line_table *t, struct line_state *s, struct bytes *b, int is_stmt)
{
	uint64_t len = bytes_uleb(b);
	if (!bytes_ok(b) || !len || len > bytes_left(b))
		return ERR_FORMAT;
	struct bytes arg = *b;
	arg.end = arg.p + len;
	bytes_skip(b, len);
	switch (bytes_u8(&arg)) {
	case DW_LNE_end_sequence:
		return seq_end(t, s, is_stmt);
	case DW_LNE_set_address:
		s->va = dwarf_uint(&arg, (unsigned)(len - 1));
		return bytes_ok(&arg) ? 0 : ERR_FORMAT;
	}
	return 0; /* discriminators and vendor extensions */
}

/* A standard opcode (6.2.5.2). */
static int standard(struct line_table *t, struct line_state *s, struct bytes *b,
		    const struct line_header *h, unsigned op)
{
	switch (op) {
	case DW_LNS_copy:
		return row_add(t, s);
	case DW_LNS_advance_pc:
		s->va += bytes_uleb(b) * h->min_inst;
		return 0;
	case DW_LNS_advance_line:
		s->line = (uint32_t)(s->line + (uint64_t)bytes_sleb(b));
		return 0;
	case DW_LNS_set_file:
		s->file = bytes_uleb(b);
		return 0;
	case DW_LNS_negate_stmt:
		s->is_stmt = !s->is_stmt;
		return 0;
	case DW_LNS_const_add_pc:
		s->va += (uint64_t)((255 - h->opcode_base) / h->line_range) * h->min_inst;
		return 0;
	case DW_LNS_fixed_advance_pc:
		s->va += bytes_u16(b);
		return 0;
	}
	for (unsigned i = 0; i < h->lengths[op - 1]; i++)
		bytes_uleb(b); /* column, flags, unknown: skipped by their operand count */
	return 0;
}

/* A special opcode (6.2.5.1): address and line in one byte. */
static int special(struct line_table *t, struct line_state *s, const struct line_header *h,
		   unsigned op)
{
	int64_t lines = h->line_base + (int)(op % h->line_range);
	s->va += (uint64_t)(op / h->line_range) * h->min_inst;
	s->line = (uint32_t)(s->line + (uint64_t)lines);
	return row_add(t, s);
}

static int program_run(struct line_table *t, const struct line_header *h, struct bytes *b)
{
	struct line_state s = {.file = 1, .line = 1, .first = t->rows.n, .is_stmt = h->is_stmt};
	int r = 0;
	while (!r && bytes_left(b)) {
		unsigned op = bytes_u8(b);
		if (op >= h->opcode_base) {
			r = special(t, &s, h, op - h->opcode_base);
		} else if (op) {
			r = standard(t, &s, b, h, op);
		} else {
			r = extended(t, &s, b, h->is_stmt);
		}
		if (!r && !bytes_ok(b))
			r = ERR_FORMAT;
	}
	t->rows.n = s.first; /* rows of a sequence that never ended */
	return r;
}

static int by_lo(const void *pa, const void *pb)
{
	const struct line_seq *a = pa, *b = pb;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

int line_table_build(struct line_table *t, const struct dwarf_unit *u, struct dwarf_object *o,
		     uint64_t off, struct strtab *paths)
{
	struct line_header h = {0};
	struct bytes b = dwarf_cursor(o, SEC_LINE, off, UINT64_MAX);
	int r = dwarf_work(o, 1);
	if (!r)
		r = header_read(&b, o, u, &h);
	if (!r)
		r = paths_make(t, &h, o, paths);
	if (!r)
		r = texts_make(t, &h);
	if (!r)
		r = dwarf_work(o, ROW_WORK * bytes_left(&b));
	if (!r)
		r = program_run(t, &h, &b);
	if (t->seqs.n)
		qsort(t->seqs.v, t->seqs.n, sizeof(*t->seqs.v), by_lo);
	vec_release(&h.dirs);
	vec_release(&h.files);
	return r;
}

/* --- lookup ----------------------------------------------------------------------------- */

/* Sequences may overlap where a linker folded code; more than this many do not. */
enum { OVERLAP_MAX = 8 };

int line_table_find(const struct line_table *t, uint64_t va, const char **file, uint32_t *line)
{
	size_t lo = PARTITION_POINT(i, 0, t->seqs.n, t->seqs.v[i].lo <= va);
	for (int i = 0; lo-- && i < OVERLAP_MAX; i++) {
		const struct line_seq *q = &t->seqs.v[lo];
		if (va >= q->hi)
			continue;
		size_t at = PARTITION_POINT(k, q->first + 1, q->first + q->n,
					    t->rows.v[k].va <= va) -
			    1;
		*file = line_table_file(t, t->rows.v[at].file);
		*line = t->rows.v[at].line;
		return 1;
	}
	return 0;
}

void line_table_release(struct line_table *t)
{
	vec_release(&t->rows);
	vec_release(&t->statements);
	vec_release(&t->seqs);
	vec_release(&t->files);
	vec_release(&t->texts);
}
