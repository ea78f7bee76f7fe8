/*
 * debug_info.h - address → inlined frames and source lines of one module, from its DWARF.
 *
 *	elf_file(s) ─► debuginfo ─► frames of an address, innermost first
 *	                  ├ dwarfread, dwarfunit   bytes of DWARF 2-5
 *	                  ├ dieindex, diename      per unit: address → function, names
 *	                  ├ linetable              per unit: address → file, line
 *	                  └ debugfiles             dwz file, .dwo, .dwp
 *
 * Opening reads the unit headers and determines which unit owns which addresses (from the
 * units' own ranges; .debug_aranges is not needed, clang writes none). A unit's tables are
 * built at the first address that falls into it, once; after that a lookup is three binary
 * searches. Nothing is forked, and only the given files and those that the DWARF names are
 * opened.
 *
 * Addresses are the module's virtual addresses as in its ELF symbols (elf_file_vaddr). For a
 * return address the caller looks up address - 1.
 *
 * Threads: lookups may come from any number of threads at once. Built tables never change and
 * are read without a lock; building holds the object's one lock. Different objects share
 * nothing. One thread opens and closes an object.
 *
 * Compared with other tools (binutils 2.40, llvm 14, perf 6.1): the chain of frames, their
 * lines and names are llvm-symbolizer's `--inlines`. perf script prints the same chain for
 * frames it unwound itself (--call-graph dwarf; never for frame-pointer chains), each inlined
 * frame as
 *
 *	"%16x NAME+0xOFFSET (inlined)"
 *
 * with the address and the offset of the function in the symbol table, NAME being the linkage
 * name demangled without parameters, or the bare DW_AT_name (no scope) where DWARF has no
 * linkage name, and DSO "inlined". A real frame's NAME is the DWARF name if that differs from
 * the ELF symbol's (then it says "(inlined)" too: __libc_start_main_impl), else the symbol.
 *
 * Faults of addr2line 2.40, and of perf through it, that this does not have: an inlined
 * function without a linkage name may get the name of the ELF symbol around it; DWARF 5 of
 * clang (ranges by DW_FORM_rnglistx) has lines but no inlined frames; some DWARF 5 rows get the
 * unit's file instead of the header's.
 */
#ifndef LIBSYM_DWARF_DEBUG_INFO_H
#define LIBSYM_DWARF_DEBUG_INFO_H

#include "base/err.h"
#include "base/vec.h"
#include "libsym/elf/elf_file.h"

#include <stdint.h>

struct debuginfo;

enum {
	/* No chain is longer, because DIEs nested deeper than 1000 are not read. */
	DEBUGINFO_FRAMES_MAX = 1024,
};

struct debuginfo_frame {
	const char *name;  /* mangled linkage name, else DW_AT_name; NULL = unknown */
	const char *scope; /* "ns::Class" of a DW_AT_name; NULL = none or part of the linkage
			      name */
	const char *file;  /* full path as compiled; NULL = unknown */
	uint32_t line;     /* 0 = unknown */
	uint8_t inlined;   /* inlined into the next frame */
	uint64_t entry;    /* first address of this function's code (of this inlined copy) */
};

/*
 * Opens files that the DWARF names (dwz file, .dwo, .dwp), so that the caller decides which
 * paths are allowed: `path` is a candidate, which the file `of` names; return 0 and *out
 * (closed by debuginfo), or an error to try the next. Identity is checked by debuginfo: the
 * build-id of a dwz file, the dwo_id of a split unit. Called under the object's lock. A NULL
 * `open` is elf_file_open.
 */
struct debuginfo_options {
	int (*open)(void *arg, const struct elf_file *of, const char *path,
		    struct elf_file **out, struct err *e);
	void *arg;
	int statements; /* debuginfo_each_statement will be called */
	int no_lines;   /* frames come without file and line, and .debug_line is not read */
	/* The module's recorded path, if known: the open file may be a copy in a cache, while
	 * files named relative to it, or after it (.dwp), are next to the original. Borrowed.
	 */
	const char *recorded;
};

/*
 * The DWARF of a module. `runtime` is the file that was mapped, `debug` its separate debug
 * file; either may be NULL, both are borrowed and must outlive *out (strings in frames point
 * into them). `opt` may be NULL. *out is heap-allocated, freed by debuginfo_close.
 * ERR_NOTFOUND: neither file has .debug_info. ERR_UNSUPPORTED: a relocatable file (.o, .ko).
 * ERR_FORMAT: .debug_info cannot be read. ERR_NOMEM. Damage below that leaves fewer names and
 * a note.
 */
int debuginfo_open(struct elf_file *runtime, struct elf_file *debug,
		   const struct debuginfo_options *opt, struct debuginfo **out, struct err *e);

/*
 * The frames at va, innermost first, into out[0..max); the last one is the function in the
 * symbol table. Its name is `symbol` if given (the ELF symbol distinguishes clones like .isra.0
 * and folded functions), else DWARF's. Returns the number of frames; if it exceeds max, out[max
 * - 1] is still the outermost, and those before it are missing. 0 when no unit covers va, or
 * ERR_NOMEM. An address with a line but no function (padding, a missing .dwo) gives one frame
 * without a name. Strings live as long as `d` and the files.
 */
int debuginfo_frames(struct debuginfo *d, uint64_t va, const char *symbol,
		     struct debuginfo_frame *out, size_t max);

/* Append every address where the result of debuginfo_frames may change, in no order, some
 * twice; builds all units. 0 or ERR_NOMEM. */
typedef VEC(uint64_t) debuginfo_edges_vec;
int debuginfo_edges(struct debuginfo *d, debuginfo_edges_vec *out);

/* Build the unit for a lookup at va in advance. */
void debuginfo_prepare(struct debuginfo *d, uint64_t va);

/* The source line at va: 1 with *file (NULL = unknown) and *line (0 = unknown), 0 when no line
 * covers va, or ERR_NOMEM. */
int debuginfo_line(struct debuginfo *d, uint64_t va, const char **file, uint32_t *line);

/*
 * Call `take` for each address of every unit where a statement begins (`statements` was set in
 * the options). They are starts of instructions where a debugger may stop. `file` is the full
 * path as compiled; a line may have several addresses, in no order. Stops at the first return
 * value that is not 0 and returns it; ERR_NOMEM. Not while other threads look up.
 */
int debuginfo_each_statement(struct debuginfo *d,
			     int (*take)(void *ctx, uint64_t va, const char *file,
					 uint32_t line),
			     void *ctx);

/* What the line tables say of a source file's text; views, as long as `d` lives. */
struct debuginfo_text {
	const uint8_t *md5; /* 16 bytes; NULL: not known */
	const char *text;   /* embedded; NULL: not */
};

/* 1 and *out when a unit built so far has line numbers in `file` (a path of debuginfo_frames)
 * and says something of its text; else 0. */
int debuginfo_text(struct debuginfo *d, const char *file, struct debuginfo_text *out);

/*
 * What is missing, one sentence each, for doctor and -v: "dwz file X (build-id Y) not found:
 * some names are missing". NULL past the last; notes are added while units are built and live
 * as long as `d`. At most DEBUGINFO_NOTES_MAX are kept.
 */
enum { DEBUGINFO_NOTES_MAX = 32 };
const char *debuginfo_note(struct debuginfo *d, size_t i);

/*
 * Call `take` for every other file in use (dwz file, .dwo, .dwp): `of` is the file whose DWARF
 * names it, `file` the other, `name` another place where it would be found, relative
 * to the folder of `of`. Stops at the first return value that is not 0 and returns it.
 */
int debuginfo_each_file(struct debuginfo *d,
			int (*take)(void *ctx, const struct elf_file *of,
				    const struct elf_file *file, const char *name),
			void *ctx);

struct debuginfo_stats {
	size_t units, units_built, bytes_built; /* bytes of .debug_info walked */
};
/* The cost of building so far. */
void debuginfo_stats(struct debuginfo *d, struct debuginfo_stats *s);

/* NULL is accepted. */
void debuginfo_close(struct debuginfo *d);

#endif
