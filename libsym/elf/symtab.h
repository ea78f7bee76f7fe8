/*
 * symtab.h - the symbols of one module as one sorted table: address → name.
 *
 *	ELF files ─────┐
 *	kallsyms text ─┼─► symtab_builder ─► symtab ─► name, start, end
 *	PLT stubs ─────┘
 *
 * Which name wins follows perf (tools/perf/util/symbol.c), because output must agree with perf
 * script; measured against perf 6.1:
 *  - sources are united: .symtab of the debug file, else of the runtime file, MiniDebugInfo,
 *    .dynsym; for Go programs without .symtab .gopclntab; then stubs of .plt, .plt.sec,
 *    .plt.got and .iplt as `name@plt`, and `.plt` for the header of a lazy PLT;
 *  - functions, indirect functions, objects in executable sections, and labels without a type
 *    in sections called *text*; no section, file or TLS symbols, no absolute ones, no
 *    mapping symbols of ARM and RISC-V ($x, $d, $a, $t);
 *  - a symbol of size 0 extends to the next symbol, at most to the end of its section (here also
 *    at most to the next function that .eh_frame_hdr lists);
 *  - of several at one address: one with a size, not weak, global, with fewer leading
 *    underscores (all after demangling), the longer name, the first.
 * Beyond perf, whose tree search cannot: where symbols nest, the innermost that covers the
 * address wins, and after its end the outer one continues; a label without a size inside a
 * function with a size is part of that function.
 *
 * Names are raw (mangled, with version suffix); demangle.h makes them readable.
 */
#ifndef LIBSYM_ELF_SYMTAB_H
#define LIBSYM_ELF_SYMTAB_H

#include "base/arena.h"
#include "base/check.h"
#include "base/vec.h"
#include "libsym/elf/elf_file.h"

struct symbol {
	uint64_t start;  /* virtual address in the file; kernel: absolute */
	uint32_t size;   /* larger ones are cut at 4 GiB */
	uint32_t name;   /* offset into symtab.names */
	uint32_t parent; /* index + 1 of the symbol around this one, 0 = none */
	uint16_t module; /* kallsyms: index into its modules, 0 = the kernel itself */
	uint8_t bind;    /* STB_* */
	uint8_t type;    /* STT_* */
};
SIZE_IS(struct symbol, 24);

struct symtab { /* immutable once built: any number of threads may look up */
	struct symbol *symbols;
	size_t n;
	char *names;
	size_t names_size;
	/* The first symbol of each stretch of 1 << shift bytes from symbols[0].start on, then
	 * n: a search begins close to its result. */
	uint32_t *first;
	size_t stretches;
	unsigned shift;
	const char *doubt; /* why names were left out (static); NULL: none were */
};

/* The result of a lookup; `name` lives as long as the table. */
struct symbol_hit {
	const char *name;
	uint64_t start, end; /* [start, end) */
	uint32_t index;      /* of the symbol in its table */
	uint16_t module;
};

/* --- PLT stubs ---------------------------------------------------------------------------- */

/* A section of stubs. */
struct plt_bytes {
	const uint8_t *p;
	size_t n;
	uint64_t addr;
	size_t step; /* size of its entries: 8 or 16 */
};

enum plt_kind {
	PLT_HEADER, /* calls the dynamic linker */
	PLT_SLOT,   /* jumps to the address in the GOT slot at `value` */
	PLT_INDEX,  /* pushes `value`, the number of its relocation */
};

struct plt_stub {
	enum plt_kind kind;
	uint64_t value;
	size_t start, end; /* offsets in the section */
};

/* The shapes of an architecture's PLT stubs (see arch.h). */
struct plt_shapes {
	uint32_t jump_slot, glob_dat, irelative; /* relocation types of GOT slots */
	size_t step; /* stubs begin at multiples of it, and everything before the first named
			one is the header; 0: at multiples of the entries' size */
	/* The stub at offset `at` (< n): 1 and *out, or 0. */
	int (*stub)(const struct plt_bytes *s, size_t at, struct plt_stub *out);
};

/*
 * The symbols of a module. `runtime` is the file that ran, `debug` the one with .symtab (may be
 * NULL, may be the same); either may be NULL, not both. Both are only used during the call.
 * `plt`: those of the machine; NULL: stubs get no names. Without symbols it returns 0 with n 0;
 * a damaged table in a file counts as absent. ERR_NOMEM.
 */
int symtab_from_elf(struct elf_file *runtime, struct elf_file *debug,
		    const struct plt_shapes *plt, struct symtab **out, struct err *e);

/*
 * The variables of a module: objects with a size in its writable sections, of .symtab, else of
 * .dynsym. Files and errors as above, but `runtime` is not NULL.
 */
int symtab_of_variables(struct elf_file *runtime, struct elf_file *debug, struct symtab **out,
			struct err *e);

/*
 * The symbols of a kernel module (.ko, ET_REL): addresses are relative to the start of the
 * loaded module, its executable sections (without .init*) laid out one after the other as the
 * kernel does it (kernel/module/main.c layout_sections); .text comes first. arm64 modules with
 * a PLT have it first, and its size is not in the file: for them, and whenever available,
 * kallsyms is the better source.
 */
int symtab_from_module(struct elf_file *ko, struct symtab **out, struct err *e);

/* The innermost symbol that covers vaddr: 1 and *hit, or 0. At worst a binary search. */
int symtab_find(const struct symtab *t, uint64_t vaddr, struct symbol_hit *hit);

/* The first symbol (by address) with exactly this raw name: 1 and *hit, or 0. Linear. */
int symtab_find_name(const struct symtab *t, const char *name, struct symbol_hit *hit);

/* NULL is accepted. */
void symtab_free(struct symtab *t);

/* --- making a table (for symtab_elf.c, plt.c, kallsyms.c) --------------------------------- */

struct raw_symbol {
	uint64_t start, end; /* equal: no size known */
	uint64_t limit;      /* how far one without a size may extend: its section's end */
	const char *name;    /* borrowed until symtab_builder_finish */
	uint16_t module;
	uint8_t bind, type;
	uint8_t sizeless; /* set by finish: the end is not from the file */
};

/* Zero-initialised is valid and empty. */
struct symtab_builder {
	VEC(struct raw_symbol) raw;
	struct arena text; /* for generated names */
	int kallsyms;      /* compute ends by perf's rules for kallsyms */
	int plain_names;   /* compare names as they are, not demangled (kernel) */
	size_t room;       /* bytes of names that may still be read from shared tables */
	char *names;       /* NULL, or the text with all names: the table owns it */
	size_t names_size;
	const char *doubt; /* of the table */
};

/* The total length of symbol names, at most, as a multiple of their string table. Real files
 * stay below 2: linkers store equal names once, and suffixes inside others. */
enum { SYMTAB_SHARED_NAMES = 8 };

/*
 * The name at p, where n bytes are readable: `p` itself, or NULL if it is empty, not
 * terminated, or exceeds b->room, which it reduces. So many symbols that share one long text
 * cost bounded memory and time.
 */
const char *symtab_builder_name(struct symtab_builder *b, const char *p, size_t n);

/* Sort, compute ends, choose among aliases; *out is a new table. Empties the builder. */
int symtab_builder_finish(struct symtab_builder *b, struct symtab **out, struct err *e);

/* Drop everything. */
void symtab_builder_release(struct symtab_builder *b);

/*
 * Add `name@plt` for every stub of .plt, .plt.sec, .plt.got and .iplt of `f`, found by decoding
 * the stub's GOT slot and looking it up in the relocations; it does not depend on section sizes
 * or CFI. In plt.c. Symbols already in `b` name IRELATIVE slots. 0 or ERR_NOMEM; stubs that
 * cannot be decoded get no name.
 */
int symtab_builder_add_plt(struct symtab_builder *b, struct elf_file *f,
			   const struct plt_shapes *shapes, struct err *e);

/* Add the functions named in a Go program's .gopclntab; damage ends the list early. In
 * gopclntab.c. 0 or ERR_NOMEM. */
int symtab_builder_add_go(struct symtab_builder *b, struct elf_file *f);

#endif
