#include "libsym/unwind/cfi.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

#include <dwarf.h>
#include <pthread.h>
#include <stdlib.h>

enum {
	CIE_CACHE = 16,
	HDR_ENTRY = 8, /* one row of .eh_frame_hdr's table: two sdata4 */
};

struct fde_row { /* one row of an expanded FDE: from start + at on */
	uint32_t at;
	struct unwind_rule rule;
};

struct fde_rows {
	uint64_t start, end;
	uint32_t n;
	struct fde_row row[];
};

struct fde_ref { /* index entry, sorted by start */
	uint64_t start, end;
	uint64_t entry; /* offset in the section */
};

/* One section of FDEs and its search table or index. */
struct source {
	struct cfi_section sec;
	const uint8_t *table; /* .eh_frame_hdr's search table, or NULL: use index */
	size_t ntable;
	uint64_t hdr_va;
	VEC(struct fde_ref) index;
	uint8_t indexed;
	/* By number in table or index; made on first use, as are its entries. Both are written
	 * once, under the lock, and read without it. */
	struct fde_rows **rows;
	size_t nrows;
	struct cfi_cie cie[CIE_CACHE]; /* direct-mapped by offset */
	uint8_t cie_ok[CIE_CACHE];
};

struct va_range {
	uint64_t start, end;
};

struct cfi {
	pthread_mutex_t lock; /* protects all below except the constant parts */
	const struct arch *arch;
	const struct elf_file *elf; /* NULL for loose bytes */
	const uint8_t *code;
	size_t code_size;
	uint64_t code_va;
	struct va_range plt[3]; /* .plt, .plt.sec, .plt.got */
	struct source *source[3];
	size_t nsources;
	struct arena arena;          /* expanded rows */
	VEC(struct fde_row) scratch; /* rows of the FDE being expanded */
	uint64_t work_left;          /* bytes of programs that may still be decoded */
	size_t rows_left; /* ceiling of expanded rows; later FDEs are decoded each time */
	size_t heap;
	struct err damage;
};

/* The place of an address's FDE. */
struct found {
	struct source *src;
	size_t number; /* in the table or index */
	const struct cfi_cie *cie;
	struct cfi_fde fde;
};

static void note_damage(struct cfi *c, const struct err *e)
{
	if (!c->damage.code && e->code != ERR_NOMEM)
		c->damage = *e;
}

/* --- finding the sections -------------------------------------------------------------- */

/* Read .eh_frame_hdr (LSB 5.0, 10.6.2): 0, with the table set if it is the usual sorted one.
 */
static int parse_hdr(struct source *s, const uint8_t *hdr, size_t size, uint64_t va,
		     uint64_t *eh_frame_va)
{
	struct cfi_section h = {.data = hdr,
				.size = size,
				.vaddr = va,
				.data_base = va,
				.swap = s->sec.swap,
				.narrow = s->sec.narrow};
	struct bytes b = bytes_init(hdr, size, h.swap);
	uint8_t version = bytes_u8(&b), ptr_enc = bytes_u8(&b);
	uint8_t count_enc = bytes_u8(&b), table_enc = bytes_u8(&b);
	uint64_t count;
	if (version != 1 || cfi_pointer(&h, &b, ptr_enc, 0, eh_frame_va, NULL))
		return ERR_FORMAT;
	s->hdr_va = va;
	if (table_enc != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || count_enc == DW_EH_PE_omit ||
	    cfi_pointer(&h, &b, count_enc, 0, &count, NULL))
		return 0;
	if (!count || count > bytes_left(&b) / HDR_ENTRY)
		return 0;
	s->table = b.p;
	s->ntable = count;
	return 0;
}

static struct source *add_source(struct cfi *c)
{
	struct source *s = mem_zalloc(1, sizeof(*s));
	if (s) {
		c->source[c->nsources++] = s;
		c->heap += sizeof(*s);
	}
	return s;
}

/* The bytes of the file from va to the end of its segment, and the segment's start. */
static const uint8_t *segment_bytes(const struct elf_file *f, uint64_t va, uint64_t *start,
				    size_t *size)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *p = &f->segments[i];
		if (va < p->vaddr || va - p->vaddr >= p->filesz || p->offset > f->size ||
		    va - p->vaddr >= f->size - p->offset)
			continue;
		uint64_t at = p->offset + (va - p->vaddr), left = p->filesz - (va - p->vaddr);
		*start = p->vaddr;
		*size = left < f->size - at ? left : f->size - at;
		return f->data + at;
	}
	return NULL;
}

/* PT_GNU_EH_FRAME's address and bytes, for files without section headers. */
static const uint8_t *hdr_segment(const struct elf_file *f, uint64_t *va, size_t *size)
{
	uint64_t start;
	size_t n;
	if (elf_getphdrnum(f->elf, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		if (!gelf_getphdr(f->elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		const uint8_t *p = segment_bytes(f, ph.p_vaddr, &start, size);
		if (p && ph.p_filesz < *size)
			*size = ph.p_filesz;
		*va = ph.p_vaddr;
		return p;
	}
	return NULL;
}

static int swapped(const struct elf_file *f)
{
	return (f->ehdr.e_ident[EI_DATA] == ELFDATA2MSB) !=
	       (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static int is_narrow(const struct elf_file *f)
{
	return f->ehdr.e_ident[EI_CLASS] == ELFCLASS32;
}

static uint64_t section_va(struct elf_file *f, const char *name)
{
	GElf_Shdr sh;
	const uint8_t *data;
	size_t size;
	return elf_file_section(f, name, &sh, &data, &size, NULL) == 1 ? sh.sh_addr : 0;
}

static int open_eh_frame(struct cfi *c, struct elf_file *f, struct err *e)
{
	GElf_Shdr sh;
	const uint8_t *hdr = NULL, *data = NULL;
	size_t hdr_size = 0, size = 0;
	uint64_t hdr_va = 0, va = 0;
	if (elf_file_section(f, ".eh_frame_hdr", &sh, &hdr, &hdr_size, NULL) == 1)
		hdr_va = sh.sh_addr;
	else if (!f->ehdr.e_shnum) /* else NOBITS: a debug file, whose segments hold other bytes
				    */
		hdr = hdr_segment(f, &hdr_va, &hdr_size);
	int have = elf_file_section(f, ".eh_frame", &sh, &data, &size, NULL) == 1 && size;
	if (have)
		va = sh.sh_addr;
	if (!have && !hdr)
		return 0;
	struct source *s = add_source(c);
	if (!s)
		return err_nomem(e);
	s->sec.swap = (uint8_t)swapped(f);
	s->sec.narrow = (uint8_t)is_narrow(f);
	uint64_t pointed = 0, start;
	if (hdr && parse_hdr(s, hdr, hdr_size, hdr_va, &pointed))
		hdr = NULL;
	if (!have && hdr)
		data = segment_bytes(f, va = pointed, &start, &size);
	if (!data) {
		size = 0;
		s->table = NULL;
	}
	s->sec.data = data;
	s->sec.size = size;
	s->sec.vaddr = va;
	s->sec.data_base = section_va(f, ".got");
	s->sec.text_base = section_va(f, ".text");
	return 0;
}

static int open_debug_frame(struct cfi *c, struct elf_file *f, struct err *e)
{
	GElf_Shdr sh;
	const uint8_t *data;
	size_t size;
	if (elf_file_section(f, ".debug_frame", &sh, &data, &size, NULL) != 1 || !size)
		return 0;
	struct source *s = add_source(c);
	if (!s)
		return err_nomem(e);
	s->sec = (struct cfi_section){.data = data,
				      .size = size,
				      .vaddr = sh.sh_addr,
				      .debug_frame = 1,
				      .swap = (uint8_t)swapped(f),
				      .narrow = (uint8_t)is_narrow(f)};
	return 0;
}

static void find_plt(struct cfi *c, struct elf_file *f)
{
	static const char *const name[] = {".plt", ".plt.sec", ".plt.got"};
	for (size_t i = 0; i < 3; i++) {
		GElf_Shdr sh;
		const uint8_t *data;
		size_t size;
		if (elf_file_section(f, name[i], &sh, &data, &size, NULL) == 1)
			c->plt[i] = (struct va_range){sh.sh_addr, sh.sh_addr + size};
	}
}

static struct cfi *cfi_new(uint16_t machine, struct err *e)
{
	const struct arch *arch = arch_of(machine);
	if (!arch) {
		err_set(e, ERR_UNSUPPORTED, "unwinding for ELF machine %u", machine);
		return NULL;
	}
	struct cfi *c = mem_zalloc(1, sizeof(*c));
	if (!c) {
		err_nomem(e);
		return NULL;
	}
	c->arch = arch;
	c->heap = sizeof(*c);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/*
 * A normal section has fewer rows than bytes. Work bounds what a hostile section could repeat
 * (thousands of table entries for one long program, rows that always need the full step): after
 * a few seconds' worth the file counts as damaged.
 */
static void set_ceilings(struct cfi *c)
{
	c->work_left = UINT64_C(1) << 30;
	for (size_t i = 0; i < c->nsources; i++) {
		c->rows_left += c->source[i]->sec.size;
		c->work_left += 4 * c->source[i]->sec.size;
	}
}

static int spend(struct cfi *c, uint64_t bytes, struct err *e)
{
	if (bytes > c->work_left)
		return err_set(e, ERR_LIMIT, "call-frame information costs too much to decode");
	c->work_left -= bytes;
	return 0;
}

int cfi_open(struct elf_file *f, struct elf_file *debug, struct cfi **out, struct err *e)
{
	struct err why = {0};
	*out = NULL;
	struct cfi *c = cfi_new(f->ehdr.e_machine, &why);
	if (!c) {
		err_set(e, why.code, "%s: %s", f->path, why.msg);
		return why.code;
	}
	c->elf = f;
	int rc = open_eh_frame(c, f, e);
	if (!rc)
		rc = open_debug_frame(c, f, e);
	if (!rc && debug)
		rc = open_debug_frame(c, debug, e);
	if (rc) {
		cfi_close(c);
		return rc;
	}
	find_plt(c, f);
	set_ceilings(c);
	*out = c;
	return 0;
}

int cfi_open_bytes(const struct cfi_bytes *b, struct cfi **out, struct err *e)
{
	struct err why = {0};
	*out = NULL;
	struct cfi *c = cfi_new(b->machine, &why);
	if (!c) {
		err_set(e, why.code, "%s", why.msg);
		return why.code;
	}
	struct source *s = add_source(c);
	if (!s) {
		cfi_close(c);
		return err_nomem(e);
	}
	s->sec = (struct cfi_section){.data = b->eh_frame,
				      .size = b->eh_frame_size,
				      .vaddr = b->eh_frame_va,
				      .swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
	c->code = b->code;
	c->code_size = b->code ? b->code_size : 0;
	c->code_va = b->code_va;
	set_ceilings(c);
	*out = c;
	return 0;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nsources; i++) {
		vec_release(&c->source[i]->index);
		mem_free(c->source[i]->rows);
		mem_free(c->source[i]);
	}
	vec_release(&c->scratch);
	arena_release(&c->arena);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

/* --- from an address to its FDE --------------------------------------------------------- */

static const struct cfi_cie *cie_at(struct source *s, uint64_t offset, struct err *e)
{
	size_t i = hash_u64(offset) % CIE_CACHE;
	if (!s->cie_ok[i] || s->cie[i].offset != offset) {
		s->cie_ok[i] = 0;
		if (cfi_cie_read(&s->sec, offset, &s->cie[i], e))
			return NULL;
		s->cie_ok[i] = 1;
	}
	return &s->cie[i];
}

/* Read the FDE at a section offset; the CIE is valid until the next call. */
static int fde_at(struct source *s, uint64_t offset, const struct cfi_cie **cie,
		  struct cfi_fde *fde, struct err *e)
{
	struct cfi_entry entry;
	int rc = cfi_entry_read(&s->sec, offset, &entry, e);
	if (rc)
		return rc;
	if (entry.kind != CFI_ENTRY_FDE)
		return err_set(e, ERR_FORMAT, ".eh_frame_hdr points to no FDE");
	*cie = cie_at(s, entry.cie, e);
	if (!*cie)
		return ERR_FORMAT;
	return cfi_fde_read(&s->sec, &entry, *cie, fde, e);
}

static int by_start(const void *a, const void *b)
{
	const struct fde_ref *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* Walk a section from its start; damage in the chain of lengths ends the walk. */
static int each_fde(struct cfi *c, struct source *s,
		    int (*fn)(void *ctx, uint64_t entry, const struct cfi_cie *cie,
			      const struct cfi_fde *fde),
		    void *ctx)
{
	struct cfi_entry entry;
	for (uint64_t at = 0; at < s->sec.size; at = entry.end) {
		struct err e = {0};
		if (cfi_entry_read(&s->sec, at, &entry, &e)) {
			/* up to three bytes of padding are not damage */
			if (s->sec.size - at >= 4)
				note_damage(c, &e);
			break;
		}
		if (entry.kind != CFI_ENTRY_FDE)
			continue;
		const struct cfi_cie *cie = cie_at(s, entry.cie, &e);
		struct cfi_fde fde;
		if (!cie || cfi_fde_read(&s->sec, &entry, cie, &fde, &e)) {
			note_damage(c, &e);
			continue;
		}
		int rc = fn(ctx, at, cie, &fde);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_ref(void *ctx, uint64_t entry, const struct cfi_cie *cie,
		   const struct cfi_fde *fde)
{
	struct source *s = ctx;
	(void)cie;
	/* start 0 in .debug_frame is code that the linker discarded */
	if (fde->start >= fde->end || (s->sec.debug_frame && !fde->start))
		return 0;
	return vec_push(&s->index, ((struct fde_ref){fde->start, fde->end, entry}));
}

static int make_index(struct cfi *c, struct source *s, struct err *e)
{
	if (s->indexed)
		return 0;
	if (each_fde(c, s, add_ref, s)) {
		vec_release(&s->index);
		return err_nomem(e);
	}
	if (s->index.n)
		qsort(s->index.v, s->index.n, sizeof(*s->index.v), by_start);
	c->heap += s->index.cap * sizeof(*s->index.v);
	s->indexed = 1;
	return 0;
}

/* Last entry of the header's table whose start is <= va; 0 when there is none. */
static int search_table(const struct source *s, uint64_t va, size_t *number)
{
	int64_t want = (int64_t)(va - s->hdr_va);
	size_t lo = PARTITION_POINT(i, 0, s->ntable,
				    (int32_t)load_u32(s->table + i * HDR_ENTRY, s->sec.swap) <=
					    want);
	*number = lo - 1;
	return lo > 0;
}

static int search_index(const struct source *s, uint64_t va, size_t *number)
{
	size_t lo = PARTITION_POINT(i, 0, s->index.n, s->index.v[i].start <= va);
	*number = lo - 1;
	return lo > 0;
}

/* The number of the FDE that may cover va, in the table or the index made: 1 or 0. */
static int search_made(const struct source *s, uint64_t va, size_t *number)
{
	if (s->table)
		return search_table(s, va, number);
	return search_index(s, va, number) && va < s->index.v[*number].end;
}

/* The same, making the index if needed; ERR_NOMEM. */
static int search(struct cfi *c, struct source *s, uint64_t va, size_t *number, struct err *e)
{
	int rc = s->table ? 0 : make_index(c, s, e);
	return rc ? rc : search_made(s, va, number);
}

static uint64_t entry_offset(const struct source *s, size_t number)
{
	if (!s->table)
		return s->index.v[number].entry;
	int64_t rel = (int32_t)load_u32(s->table + number * HDR_ENTRY + 4, s->sec.swap);
	return s->hdr_va + (uint64_t)rel - s->sec.vaddr; /* checked by cfi_entry_read */
}

/* Read FDE `number` and check that it covers va: 1 or 0. */
static int read_numbered(struct cfi *c, struct source *s, size_t number, uint64_t va,
			 struct found *out)
{
	enum { OVERHEAD = 64 };
	struct err e = {0};
	if (fde_at(s, entry_offset(s, number), &out->cie, &out->fde, &e) ||
	    spend(c, out->fde.prog_size + OVERHEAD, &e)) {
		note_damage(c, &e);
		return 0;
	}
	out->src = s;
	out->number = number;
	return va >= out->fde.start && va < out->fde.end;
}

/* --- rows ------------------------------------------------------------------------------- */

static int slot_for(struct cfi *c, struct source *s, size_t number, struct fde_rows ***slot)
{
	if (!s->rows) {
		s->nrows = s->table ? s->ntable : s->index.n;
		struct fde_rows **rows = mem_zalloc(s->nrows, sizeof(*rows));
		if (!rows)
			return ERR_NOMEM;
		c->heap += s->nrows * sizeof(*rows);
		__atomic_store_n(&s->rows, rows, __ATOMIC_RELEASE);
	}
	*slot = &s->rows[number];
	return 0;
}

/* Decode all rows of an FDE into scratch; equal neighbours are merged. A damaged program makes
 * the FDE empty. */
static int collect_rows(struct cfi *c, const struct found *f)
{
	struct cfi_run run;
	struct err e = {0};
	int rc;
	c->scratch.n = 0;
	cfi_run_init(&run, &f->src->sec, f->cie, &f->fde);
	while ((rc = cfi_run_next(&run, &e)) == 1) {
		struct fde_row r = {.at = (uint32_t)(run.row.start - f->fde.start)};
		cfi_rule_of(c->arch, &f->src->sec, f->cie, &run.row, &r.rule);
		const struct fde_row *last =
			c->scratch.n ? &c->scratch.v[c->scratch.n - 1] : NULL;
		if (last && !memcmp(&last->rule, &r.rule, sizeof(r.rule)))
			continue;
		if (vec_push(&c->scratch, r))
			return ERR_NOMEM;
	}
	if (rc < 0) {
		note_damage(c, &e);
		c->scratch.n = 0;
	}
	return 0;
}

static int expand(struct cfi *c, const struct found *f, struct fde_rows **slot)
{
	if (collect_rows(c, f))
		return ERR_NOMEM;
	size_t n = c->scratch.n, bytes = n * sizeof(*c->scratch.v);
	struct fde_rows *r = arena_alloc(&c->arena, sizeof(*r) + bytes);
	if (!r)
		return ERR_NOMEM;
	*r = (struct fde_rows){f->fde.start, f->fde.end, (uint32_t)n};
	if (bytes)
		memcpy(r->row, c->scratch.v, bytes);
	c->rows_left -= n < c->rows_left ? n : c->rows_left;
	__atomic_store_n(slot, r, __ATOMIC_RELEASE);
	return 0;
}

static const struct unwind_rule *row_of(const struct fde_rows *r, uint64_t va)
{
	uint64_t at = va - r->start;
	size_t lo = PARTITION_POINT(i, 0, r->n, r->row[i].at <= at);
	return lo ? &r->row[lo - 1].rule : NULL;
}

/* The row at va of an FDE that is not cached: 1 or 0. */
static int row_at(struct cfi *c, const struct found *f, uint64_t va, struct cfi_row *row)
{
	struct cfi_run run;
	struct err e = {0};
	int rc;
	cfi_run_init(&run, &f->src->sec, f->cie, &f->fde);
	while ((rc = cfi_run_next(&run, &e)) == 1)
		if (va < run.row.end) {
			*row = run.row;
			return 1;
		}
	if (rc < 0)
		note_damage(c, &e);
	return 0;
}

/* The rows of the FDE at va, if they have been expanded; else NULL. Without the lock, which most
 * frames would wait for. */
static const struct fde_rows *expanded(const struct source *s, uint64_t va)
{
	struct fde_rows **rows = __atomic_load_n(&s->rows, __ATOMIC_ACQUIRE);
	size_t number;
	if (!rows || !search_made(s, va, &number))
		return NULL;
	return __atomic_load_n(&rows[number], __ATOMIC_ACQUIRE);
}

static int hit_row(const struct fde_rows *r, uint64_t va, struct cfi_hit *hit)
{
	const struct unwind_rule *rule = va < r->start || va >= r->end ? NULL : row_of(r, va);
	if (rule)
		*hit = (struct cfi_hit){*rule, r->start, r->end};
	return !!rule;
}

static int find_in(struct cfi *c, struct source *s, uint64_t va, struct cfi_hit *hit,
		   struct err *e)
{
	size_t number;
	struct fde_rows **slot;
	struct found f;
	int rc = search(c, s, va, &number, e);
	if (rc <= 0)
		return rc;
	if (slot_for(c, s, number, &slot))
		return err_nomem(e);
	if (!*slot) {
		if (!read_numbered(c, s, number, va, &f))
			return 0;
		if (!c->rows_left || f.fde.end - f.fde.start > UINT32_MAX) {
			struct cfi_row row;
			if (!row_at(c, &f, va, &row))
				return 0;
			cfi_rule_of(c->arch, &s->sec, f.cie, &row, &hit->rule);
			hit->start = f.fde.start;
			hit->end = f.fde.end;
			return 1;
		}
		if (expand(c, &f, slot))
			return err_nomem(e);
	}
	return hit_row(*slot, va, hit);
}

static int find_locked(struct cfi *c, struct source *s, uint64_t va, struct cfi_hit *hit,
		       struct err *e)
{
	pthread_mutex_lock(&c->lock);
	int rc = find_in(c, s, va, hit, e);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

int cfi_find(struct cfi *c, uint64_t va, struct cfi_hit *hit, struct err *e)
{
	int rc = 0;
	memset(hit, 0, sizeof(*hit));
	for (size_t i = 0; i < c->nsources && rc == 0; i++) {
		const struct fde_rows *r = expanded(c->source[i], va);
		rc = r ? hit_row(r, va, hit) : find_locked(c, c->source[i], va, hit, e);
	}
	return rc;
}

int cfi_row(struct cfi *c, uint64_t va, struct cfi_row *row, const struct cfi_section **s,
	    uint32_t *ra_reg, struct err *e)
{
	enum { ROW_ALLOWANCE = 256 }; /* costs no work: any number of samples may ask for it */
	int rc = 0;
	pthread_mutex_lock(&c->lock);
	c->work_left += ROW_ALLOWANCE;
	for (size_t i = 0; i < c->nsources && rc == 0; i++) {
		size_t number;
		struct found f;
		rc = search(c, c->source[i], va, &number, e);
		if (rc != 1)
			continue;
		rc = read_numbered(c, c->source[i], number, va, &f) && row_at(c, &f, va, row);
		if (rc) {
			*s = &c->source[i]->sec;
			*ra_reg = f.cie->ra_reg;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* --- the rest --------------------------------------------------------------------------- */

const struct arch *cfi_arch(const struct cfi *c)
{
	return c->arch;
}

const uint8_t *cfi_code_from(const struct cfi *c, uint64_t va, uint64_t *start, size_t *n)
{
	if (c->elf)
		return segment_bytes(c->elf, va, start, n);
	if (va < c->code_va || va - c->code_va >= c->code_size)
		return NULL;
	*start = c->code_va;
	*n = c->code_size - (va - c->code_va);
	return c->code + (va - c->code_va);
}

size_t cfi_code(const struct cfi *c, uint64_t va, uint8_t *out, size_t n)
{
	uint64_t start;
	size_t have = 0;
	const uint8_t *p = cfi_code_from(c, va, &start, &have);
	if (!p)
		return 0;
	if (n > have)
		n = have;
	memcpy(out, p, n);
	return n;
}

int cfi_in_plt(const struct cfi *c, uint64_t va, unsigned *slot, int *lazy)
{
	for (size_t i = 0; i < 3; i++)
		if (va >= c->plt[i].start && va < c->plt[i].end) {
			*slot = (unsigned)((va - c->plt[i].start) & 15);
			*lazy = i == 0;
			return 1;
		}
	return 0;
}

uint64_t cfi_entry_point(const struct cfi *c)
{
	return c->elf ? c->elf->ehdr.e_entry : 0;
}

const char *cfi_damage(struct cfi *c)
{
	pthread_mutex_lock(&c->lock);
	const char *text = c->damage.code ? c->damage.msg : NULL;
	pthread_mutex_unlock(&c->lock);
	return text;
}

size_t cfi_memory(struct cfi *c)
{
	pthread_mutex_lock(&c->lock);
	size_t n = c->heap + c->arena.total;
	pthread_mutex_unlock(&c->lock);
	return n;
}

struct each_ctx {
	int (*fn)(void *ctx, const struct cfi_section *s, const struct cfi_cie *cie,
		  const struct cfi_fde *fde);
	void *ctx;
	const struct cfi_section *s;
};

static int call_each(void *ctx, uint64_t entry, const struct cfi_cie *cie,
		     const struct cfi_fde *fde)
{
	struct each_ctx *each = ctx;
	(void)entry;
	return each->fn(each->ctx, each->s, cie, fde);
}

int cfi_each_fde(struct cfi *c,
		 int (*fn)(void *ctx, const struct cfi_section *s, const struct cfi_cie *cie,
			   const struct cfi_fde *fde),
		 void *ctx)
{
	int rc = 0;
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < c->nsources && !rc; i++) {
		struct each_ctx each = {fn, ctx, &c->source[i]->sec};
		rc = each_fde(c, c->source[i], call_each, &each);
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}
