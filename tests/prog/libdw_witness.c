/*
 * libdw_witness - what perfkit's own DWARF reader says of an ELF file, beside what libdw says:
 *
 *	libdw_witness ELF [STEP]
 *
 * At every STEP-th byte of .text: the frames inlined there, their names, lines and files. At
 * the start of every row of call frame information: the CFA and each register. Prints each
 * difference, then one line "N addresses, N rows, N differ"; exit 1 if any differs, 77 when
 * libdw cannot read the file. Programs of perfkit do not use libdw; this one compares nothing
 * else.
 */
#include "libsym/dwarf/debug_info.h"
#include "libsym/unwind/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 64, SHOWN = 10 };

struct witness {
	Dwarf *dw;
	Elf *elf;
	struct elf_file *file;
	size_t addresses, rows, differ;
	int is_split; /* the DIEs of some units are in files that libdw does not find */
};

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path ? path : "";
}

/* Count a difference; 1 while differences are still shown. */
static int differs(struct witness *w)
{
	return w->differ++ < SHOWN;
}

/* --- frames ----------------------------------------------------------------------------- */

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_name, &a))
		return dwarf_formstring(&a);
	return NULL;
}

/* The functions around va, outermost first, below `die`: how many. */
static size_t functions_at(Dwarf_Die *die, uint64_t va, Dwarf_Die *out, size_t n)
{
	Dwarf_Die child;
	if (dwarf_child(die, &child))
		return n;
	do {
		int tag = dwarf_tag(&child);
		int is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
		int is_code = is_function || tag == DW_TAG_lexical_block;
		int is_scope = tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
			       tag == DW_TAG_class_type || tag == DW_TAG_module;
		if (is_code ? dwarf_haspc(&child, va) != 1 : !is_scope)
			continue;
		size_t deeper = n;
		if (is_function && n < FRAMES)
			out[deeper++] = child;
		size_t found = functions_at(&child, va, out, deeper);
		if (found > n)
			return found;
	} while (!dwarf_siblingof(&child, &child));
	return n;
}

static int unit_at(struct witness *w, uint64_t va, Dwarf_Die *unit, Dwarf_Die *split)
{
	Dwarf_CU *cu = NULL;
	while (!dwarf_get_units(w->dw, cu, &cu, NULL, NULL, unit, split))
		if (dwarf_haspc(unit, va) == 1)
			return 1;
	return 0;
}

static uint64_t call_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word v = 0;
	if (dwarf_attr(die, name, &a))
		dwarf_formudata(&a, &v);
	return v;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Files *files;
	size_t n;
	uint64_t at = call_number(die, DW_AT_call_file);
	if (dwarf_getsrcfiles(unit, &files, &n) || at >= n)
		return NULL;
	return dwarf_filesrc(files, at, NULL, NULL);
}

/* libdw's frames at va, innermost first; 0 when no unit covers it. */
static size_t libdw_frames(struct witness *w, uint64_t va, struct debuginfo_frame *out)
{
	Dwarf_Die unit, split, die[FRAMES];
	int line = 0;
	if (!unit_at(w, va, &unit, &split))
		return 0;
	Dwarf_Line *row = dwarf_getsrc_die(&unit, va);
	const char *file = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (row)
		dwarf_lineno(row, &line);
	int is_split = dwarf_tag(&split) != DW_TAG_invalid && split.addr;
	Dwarf_Die *of = is_split ? &split : &unit;
	if (dwarf_tag(of) == DW_TAG_skeleton_unit || dwarf_hasattr(of, DW_AT_GNU_dwo_name))
		w->is_split = 1;
	size_t n = functions_at(of, va, die, 0);
	if (!n && row) {
		out[0] = (struct debuginfo_frame){.file = file, .line = (uint32_t)line};
		return 1;
	}
	uint32_t at = (uint32_t)line;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Die *d = &die[n - 1 - i];
		out[i] =
			(struct debuginfo_frame){.name = die_name(d), .file = file, .line = at};
		at = (uint32_t)call_number(d, DW_AT_call_line);
		file = call_file(of, d);
	}
	return n;
}

static int same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static int same_frame(const struct debuginfo_frame *a, const struct debuginfo_frame *b)
{
	return same_text(a->name, b->name) && a->line == b->line &&
	       (!a->line || same_text(base_name(a->file), base_name(b->file)));
}

static void show(const char *who, const struct debuginfo_frame *f, size_t n)
{
	printf("  %s:", who);
	for (size_t i = 0; i < n; i++)
		printf(" %s %s:%u", f[i].name ? f[i].name : "?", base_name(f[i].file),
		       f[i].line);
	printf("\n");
}

static void compare_frames(struct witness *w, struct debuginfo *d, uint64_t va)
{
	struct debuginfo_frame ours[FRAMES], theirs[FRAMES];
	int got = debuginfo_frames(d, va, NULL, ours, FRAMES);
	size_t n = got > 0 ? (size_t)got : 0, m = libdw_frames(w, va, theirs);
	int same = n == m;
	for (size_t i = 0; same && i < n; i++)
		same = same_frame(&ours[i], &theirs[i]);
	w->addresses++;
	if (same || !differs(w))
		return;
	printf("0x%" PRIx64 "\n", va);
	show("perfkit", ours, n);
	show("libdw  ", theirs, m);
}

static void compare_text(struct witness *w, struct debuginfo *d, uint64_t step)
{
	GElf_Shdr sh;
	const uint8_t *p;
	size_t n;
	if (elf_file_section(w->file, ".text", &sh, &p, &n, NULL) != 1)
		return;
	for (uint64_t at = 0; at < n; at += step)
		compare_frames(w, d, sh.sh_addr + at);
}

/* --- call frame information --------------------------------------------------------------- */

/* A rule in words, ours and libdw's: "c-16", "r5", "same", "?" (undefined or not said), "exp".
 */
static void our_rule(const struct cfi_reg *r, char *out, size_t n)
{
	switch (r->how) {
	case CFI_OFFSET:
		snprintf(out, n, "c%+d", r->v);
		break;
	case CFI_VAL_OFFSET:
		snprintf(out, n, "v%+d", r->v);
		break;
	case CFI_REGISTER:
		snprintf(out, n, "r%d", r->v);
		break;
	case CFI_SAME:
		snprintf(out, n, "same");
		break;
	case CFI_UNDEFINED:
		snprintf(out, n, "?");
		break;
	default:
		snprintf(out, n, "exp");
	}
}

static void libdw_rule(const Dwarf_Op *memory, const Dwarf_Op *ops, size_t n, char *out,
		       size_t size)
{
	int is_value = n && ops[n - 1].atom == DW_OP_stack_value;
	size_t left = n - (size_t)is_value;
	if (!n)
		snprintf(out, size, ops == memory ? "?" : "same");
	else if (ops[0].atom == DW_OP_call_frame_cfa &&
		 (left == 1 || (left == 2 && ops[1].atom == DW_OP_plus_uconst)))
		snprintf(out, size, "%c%+d", is_value ? 'v' : 'c',
			 left == 1 ? 0 : (int)(int64_t)ops[1].number);
	else if (n == 1 && ops[0].atom == DW_OP_regx)
		snprintf(out, size, "r%d", (int)ops[0].number);
	else if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		snprintf(out, size, "r%d", ops[0].atom - DW_OP_reg0);
	else
		snprintf(out, size, "exp");
}

static void libdw_cfa(const Dwarf_Op *ops, size_t n, char *out, size_t size)
{
	if (n == 1 && ops[0].atom == DW_OP_bregx)
		snprintf(out, size, "r%d%+d", (int)ops[0].number, (int)ops[0].number2);
	else if (n == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		snprintf(out, size, "r%d%+d", ops[0].atom - DW_OP_breg0, (int)ops[0].number);
	else
		snprintf(out, size, "exp");
}

/* What the ABI says of registers that the rows do not mention is libdw's, not the file's. */
static int same_rule(const struct cfi_reg *r, const char *ours, const char *theirs)
{
	if (r->how == CFI_UNSPEC)
		return *theirs == '?' || *theirs == 's' || *theirs == 'v' || *theirs == 'c';
	return !strcmp(ours, theirs);
}

static void compare_register(struct witness *w, Dwarf_Frame *frame, const struct cfi_row *row,
			     unsigned i)
{
	Dwarf_Op memory[3], *ops;
	size_t n;
	char ours[32], theirs[32];
	if (dwarf_frame_register(frame, (int)i, memory, &ops, &n))
		return;
	our_rule(&row->reg[i], ours, sizeof(ours));
	libdw_rule(memory, ops, n, theirs, sizeof(theirs));
	if (!same_rule(&row->reg[i], ours, theirs) && differs(w))
		printf("0x%" PRIx64 ": register %u: perfkit %s, libdw %s\n", row->start, i,
		       ours, theirs);
}

static void compare_cfa(struct witness *w, Dwarf_Frame *frame, const struct cfi_row *row)
{
	Dwarf_Op *ops;
	size_t n;
	char ours[32], theirs[32];
	if (row->cfa.how == CFI_REGISTER)
		snprintf(ours, sizeof(ours), "r%u%+d", row->cfa_reg, row->cfa.v);
	else
		snprintf(ours, sizeof(ours), "exp");
	if (dwarf_frame_cfa(frame, &ops, &n))
		snprintf(theirs, sizeof(theirs), "none: %s", dwarf_errmsg(-1));
	else
		libdw_cfa(ops, n, theirs, sizeof(theirs));
	if (strcmp(ours, theirs) && differs(w))
		printf("0x%" PRIx64 ": CFA: perfkit %s, libdw %s\n", row->start, ours, theirs);
}

struct fde {
	const struct cfi_section *s;
	struct cfi_cie cie;
	struct cfi_fde fde;
};

struct fdes {
	struct fde *v;
	size_t n, cap;
};

static int keep_fde(void *ctx, const struct cfi_section *s, const struct cfi_cie *cie,
		    const struct cfi_fde *fde)
{
	struct fdes *all = ctx;
	if (s->debug_frame || fde->start >= fde->end)
		return 0;
	if (all->n == all->cap) {
		all->cap = all->cap ? 2 * all->cap : 256;
		all->v = realloc(all->v, all->cap * sizeof(*all->v));
		if (!all->v)
			return -1;
	}
	all->v[all->n++] = (struct fde){s, *cie, *fde};
	return 0;
}

static void compare_rows(struct witness *w, Dwarf_CFI *theirs, const struct fde *f)
{
	static struct cfi_run run;
	cfi_run_init(&run, f->s, &f->cie, &f->fde);
	while (cfi_run_next(&run, NULL) == 1) {
		Dwarf_Frame *frame = NULL;
		w->rows++;
		if (dwarf_cfi_addrframe(theirs, run.row.start, &frame)) {
			if (differs(w))
				printf("0x%" PRIx64 ": libdw has no row: %s\n", run.row.start,
				       dwarf_errmsg(-1));
			continue;
		}
		compare_cfa(w, frame, &run.row);
		for (unsigned i = 0; i < CFI_REGS; i++)
			compare_register(w, frame, &run.row, i);
		free(frame);
	}
}

static void compare_cfi(struct witness *w)
{
	struct cfi *ours;
	struct fdes all = {0};
	Dwarf_CFI *theirs = dwarf_getcfi_elf(w->elf);
	if (!theirs || cfi_open(w->file, NULL, &ours, NULL))
		return; /* no .eh_frame, or of a machine that perfkit does not unwind */
	cfi_each_fde(ours, keep_fde, &all);
	for (size_t i = 0; i < all.n; i++)
		compare_rows(w, theirs, &all.v[i]);
	free(all.v);
	cfi_close(ours);
	dwarf_cfi_end(theirs);
}

/* ------------------------------------------------------------------------------------------ */

static int compare(struct witness *w, uint64_t step)
{
	struct debuginfo *d = NULL;
	struct err e = {0};
	int has_dwarf = !debuginfo_open(w->file, NULL, NULL, &d, &e);
	if (has_dwarf && !w->dw) {
		printf("libdw: %s\n", dwarf_errmsg(-1));
		debuginfo_close(d);
		return 77;
	}
	compare_cfi(w);
	if (has_dwarf)
		compare_text(w, d, step);
	debuginfo_close(d);
	if (w->is_split) {
		printf("libdw does not find the split units\n");
		return 77;
	}
	printf("%zu addresses, %zu rows, %zu differ\n", w->addresses, w->rows, w->differ);
	return w->differ != 0;
}

int main(int argc, char **argv)
{
	struct witness w = {0};
	struct err e = {0};
	uint64_t step = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	if (argc < 2 || !step)
		return 2;
	elf_version(EV_CURRENT);
	int fd = open(argv[1], O_RDONLY);
	if (fd < 0 || elf_file_open(argv[1], &w.file, &e)) {
		fprintf(stderr, "libdw_witness: %s: %s\n", argv[1], e.msg);
		return 2;
	}
	w.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	w.dw = dwarf_begin_elf(w.elf, DWARF_C_READ, NULL);
	int rc = compare(&w, step);
	dwarf_end(w.dw);
	elf_end(w.elf);
	elf_file_close(w.file);
	close(fd);
	return rc;
}
