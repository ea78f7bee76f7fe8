/*
 * line_table.h - one .debug_line program as sorted rows: address → file and line.
 *
 * Built once per unit (DWARF 5, 6.2; versions 2-5), then immutable: lookups from any thread.
 */
#ifndef LIBSYM_DWARF_LINE_TABLE_H
#define LIBSYM_DWARF_LINE_TABLE_H

#include "base/text/strtab.h"
#include "libsym/dwarf/reader.h"

struct line_row {
	uint64_t va;
	uint32_t file; /* as in DW_AT_call_file: from 1 before DWARF 5, from 0 since */
	uint32_t line; /* 0 = no source line */
};

struct line_seq { /* rows[first .. first + n) cover [lo, hi) */
	uint64_t lo, hi;
	uint32_t first, n;
};

/* What the table says of a file's text; both in the sections, NULL: nothing. */
struct line_text {
	const uint8_t *md5; /* 16 bytes */
	const char *text;   /* the file itself (DW_LNCT_LLVM_source) */
};

/* Zero-initialised is valid and empty. */
struct line_table {
	VEC(struct line_row) rows;
	VEC(struct line_seq) seqs;   /* by lo */
	VEC(const char *) files;     /* full paths in the strtab given to the builder */
	VEC(struct line_text) texts; /* by file; empty unless the table has any */
	/* Where statements begin (is_stmt), in the program's order; a line may have several.
	 * Only with keeps_statements. */
	VEC(struct line_row) statements;
	int keeps_statements;
};

/*
 * Run the program at `off` of o's .debug_line for unit `u` (its comp_dir completes relative
 * paths). Consecutive rows of one line are merged, of several rows at one address the last
 * counts, as in llvm-symbolizer. Sequences at address 0 (discarded by the linker) are dropped.
 * A damaged program keeps the sequences before the damage and returns ERR_FORMAT; ERR_LIMIT,
 * ERR_NOMEM.
 */
int line_table_build(struct line_table *t, const struct dwarf_unit *u, struct dwarf_object *o,
		     uint64_t off, struct strtab *paths);

/* The row that covers va: 1 and *file (NULL = unknown), *line, or 0. */
int line_table_find(const struct line_table *t, uint64_t va, const char **file, uint32_t *line);

/* The path of a file number, or NULL. */
static inline const char *line_table_file(const struct line_table *t, uint64_t file)
{
	return file < t->files.n ? t->files.v[file] : NULL;
}

/* Free the rows; the strtab owns the paths. */
void line_table_release(struct line_table *t);

#endif
