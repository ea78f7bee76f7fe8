/*
 * modules.h - DSOs and their files, opened on first use: address → symbol, inlined frames,
 * source lines.
 *
 * A module is opened when a stack first touches it, never before, and only from a file whose
 * build-id is the recorded one or that the trust rules allow (dso_find.h). A module that could
 * not be opened keeps the reason; its addresses stay addresses.
 */
#ifndef LIBSYM_PROCESS_MODULES_H
#define LIBSYM_PROCESS_MODULES_H

#include "base/text/buf.h"
#include "libsym/elf/dso_find.h"
#include "libsym/name/frame_table.h"
#include "libsym/elf/symtab.h"
#include "libsym/source/disassemble.h"
#include "libsym/source/source_text.h"
#include "libsym/process/machine.h"

struct modules_options {
	struct dso_options find; /* where to find files; modules_new sets host_is_ours */
	const char
		*map_dir; /* where perf-PID.map and jitdumps may be, besides symfs and /tmp */
	int no_demangle;
	int constructors; /* Foo::copy_construct, Foo::move_construct instead of Foo::Foo */
	int inlines;      /* frames that were inlined, from DWARF */
	int lines;        /* file and line of each frame, from DWARF */
	int no_lines;     /* inlined frames without file and line: do not read line tables */
	int offsets;      /* names_options.offsets: files are opened only when that is needed */
};

/* One frame at an address; `name` and `file` are strings ids. */
struct module_frame {
	uint32_t name, file, line;
	uint64_t start; /* the symbol's first address in the file */
	uint8_t inlined;
};

enum { MODULE_FRAMES_MAX = 64 };

/* Innermost first; n 0: no name. */
struct module_lookup {
	size_t n;
	uint32_t at; /* bytes from the symbol's start, in files; 0: not known */
	struct module_frame frames[MODULE_FRAMES_MAX];
};

enum lookup_how {
	LOOKUP_EXACT,  /* the address itself */
	LOOKUP_RETURN, /* a return address: look up the call before it, unless it was planted */
};

struct modules;

/* `m` and `rec` (for host, release and build-ids) are borrowed. 0 or ERR_NOMEM. */
int modules_new(struct modules **out, struct machine *m, const struct recording *rec,
		const struct modules_options *opt, struct err *e);
void modules_free(struct modules *ms);

/* The built-in table of frame roles. Lives as long as the modules. */
const struct frame_table *modules_frames(const struct modules *ms);

/* Let the machine ask for the times at which generated code was replaced; modules_new does
 * so. */
void modules_on_code_change(struct modules *ms);

/* Close all files and forget them: for a machine that is filled again. */
void modules_forget(struct modules *ms);

/* The lock to hold while calling modules_lookup, or interning its results, if other threads do
 * so, too. */
void modules_lock(struct modules *ms);
void modules_unlock(struct modules *ms);

/*
 * Frames of address `ip`, which is in `map`, at `time`. 0 (out->n may be 0: no name) or
 * ERR_NOMEM. It interns strings: one thread at a time, and while others prepare, only for a DSO
 * that modules_read returned 1 for.
 */
int modules_lookup(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time,
		   int how, struct module_lookup *out);

/* 1 when the process of this space has a perf map or jitdump of its own; 2: a jitdump. ERR_NOMEM.
 * The machine must know all records. */
int modules_own_code(struct modules *ms, uint32_t space, uint32_t dso);

/* modules_lookup of generated code in memory that the process of `space` inherited: what that
 * process wrote of it, else what its parent had written by `forked`, the time of the fork. */
int modules_lookup_inherited(struct modules *ms, const struct map *map, uint32_t space,
			     uint64_t ip, uint64_t time, uint64_t forked, int how,
			     struct module_lookup *out);

/*
 * The variable of a mapped file that is at `address` of a space: 1, with *name "orders: book"
 * or "orders: book+0x8" (a strings id), or 0: memory without a file, or without a symbol.
 * ERR_NOMEM. One thread at a time, after modules_prepare_end.
 */
int modules_variable_at(struct modules *ms, uint32_t space, uint64_t address, uint64_t time,
			uint32_t *name);

/*
 * The symbols of a DSO, once its files have been read. They never change, so any number of
 * threads may look up (module_symbol_at).
 */
struct module_symbols {
	/* The table that alone decides the frames of an address. NULL: call modules_lookup. */
	const struct symtab *table;
	const struct elf_file
		*file; /* the table has its addresses; NULL: absolute ones, but … */
	const struct carried_file *carried; /* … those of a file that is not here */
	uint64_t slide;                     /* recorded address − address in the table */
	int timed; /* the frames of an address depend on the time (there is a jitdump) */
};

/*
 * 1 and *out when the files that name addresses of `dso` have been read, or there are none. 0:
 * another thread is reading them; `offset` is requested from it. ERR_NOMEM. The machine must
 * know all records.
 */
int modules_read(struct modules *ms, uint32_t dso, uint64_t offset, struct module_symbols *out);

/* The symbol of `ip` in `map`, from s->table: 1 and *hit, or 0. */
int module_symbol_at(const struct module_symbols *s, const struct map *map, uint64_t ip,
		     int how, struct symbol_hit *hit);

struct cfi;

/* What unwinds the code of a DSO. */
struct module_cfi {
	struct cfi *cfi;             /* NULL: none, or no file of the recorded build-id */
	const struct elf_file *file; /* its addresses: elf_file_vaddr */
};

/*
 * Call-frame information of a DSO's runtime file. It never changes, so that callers keep it:
 * the lock costs more than the unwinding. May be called by several threads at once, while none
 * calls modules_lookup. 0 or ERR_NOMEM.
 */
int modules_cfi(struct modules *ms, uint32_t dso, struct module_cfi *out);

/*
 * The same for generated code at pc: *out is the unwinding information that a jitdump has for it
 * (NULL: none), *bias what to subtract from pc. A forked process has what its parent had then.
 * `machine`: e_machine, where the jitdump has none (CPython writes 0).
 */
int modules_jit_cfi(struct modules *ms, uint16_t machine, uint32_t space, uint64_t pc,
		    uint64_t time, struct cfi **out, uint64_t *bias);

/* Whether the function at `ip` in `map` may be the root of a stack: enum unwind_root, or 0. May
 * be called by several threads at once, like modules_cfi. */
int modules_root_at(struct modules *ms, const struct map *map, uint64_t ip);

/* 1 for the name of a function in which threads or processes begin (ROLE_START). */
int modules_is_start(const struct modules *ms, const char *name);

/* 1 and the first address of the function at `ip` in `map`, 0 when no symbol covers it. As
 * modules_root_at. */
int modules_function_at(struct modules *ms, const struct map *map, uint64_t ip,
			uint64_t *start);

/* The file that ran, of a DSO, and the code of one of its functions. */
struct module_code {
	/* NULL: no file of the recorded build-id, see `reason`; of the kernel: no vmlinux */
	const struct elf_file *file;
	enum dso_source from;
	enum dso_reason reason;
	uint64_t start, end; /* of the function that begins at `start`; equal: not known */
};

/* Set *out for the function at address `start` of a DSO's file; after all lookups. ERR_NOMEM. */
int modules_code(struct modules *ms, uint32_t dso, uint64_t start, struct module_code *out);

/* The bytes that jitdumps have of the generated function of this name (strings id) at `addr`: 1
 * and *out; 0: none; more: that many differ, so it is unknown which of them ran. ERR_NOMEM. */
int modules_jit_code(struct modules *ms, uint64_t addr, uint32_t name, struct code_bytes *out);

/* 1 and the line of the function itself, not of what is inlined in it, at an address of a DSO's
 * file; 0: not known. ERR_NOMEM. */
int modules_line(struct modules *ms, uint32_t dso, uint64_t va, uint32_t *line);

/* Whose text it is to be: *out for `path` of a frame in the machine's DSO (NO_ID: none), with
 * what its DWARF says of it, as far as lookups have read that. Views. ERR_NOMEM. */
int modules_source(struct modules *ms, uint32_t dso, const char *path, struct source_name *out);

/* Why a DSO has no names, and the refused candidate ("" if none); after a lookup. */
enum dso_reason modules_reason(const struct modules *ms, uint32_t dso, const char **detail);

/* The machine's DSO of this name (strings id): of several, the first whose files were searched,
 * else the first; NO_ID for id 0 or an unknown name. Only when the machine knows all records,
 * so that names no longer change. */
uint32_t modules_dso_named(struct modules *ms, uint32_t name);

/*
 * Preparing: while samples are still being read, other threads open the files that stacks hit
 * and build their tables (symbols, DWARF units, kallsyms), so that modules_lookup finds them
 * ready. It saves time and never changes an answer.
 *
 *	modules_prepare(ms, 2)              once; 0 threads: nothing is prepared
 *	modules_prefetch(ms, dso, offset)   any thread, for addresses to be looked up
 *	modules_prefetch_stack(ms, entry, ...)  any thread, for recorded callchains
 *	modules_read(ms, dso, ...)          any thread: is it ready?
 *	modules_prepare_end(ms, 1)          before the first modules_lookup of the rest
 */
void modules_prepare(struct modules *ms, int threads);

/* Read the DWARF unit, if any, that modules_lookup needs for an address of a DSO, given as a
 * file offset. Any thread, for a DSO that is read. */
void modules_read_unit(struct modules *ms, uint32_t dso, uint64_t offset);

/* Request an address of a DSO_FILE or DSO_VDSO, as a file offset. Its file must have been
 * opened by modules_cfi or modules_open, or the machine must not change before
 * modules_prepare_end. */
void modules_prefetch(struct modules *ms, uint32_t dso, uint64_t offset);

/* Find and open the files of a DSO; on the thread that changes the machine. ERR_NOMEM. */
int modules_open(struct modules *ms, uint32_t dso);

/* The same with its DWARF, so that modules_each_file lists its dwz file, too; after
 * modules_prepare_end. ERR_NOMEM. */
int modules_open_debuginfo(struct modules *ms, uint32_t dso);

/* 1 when modules_prefetch needs every address, 0 when one of each DSO is enough. */
int modules_prefetch_all(const struct modules *ms);

/* Request the kernel's symbols, if its mapping is known. One thread at a time, while the
 * machine does not change. */
void modules_prefetch_kernel(struct modules *ms);

/* Request the kernel if the stack has words of it and, with `user`, the user addresses of every
 * few stacks (`nth` counts them): then the machine must not change until modules_prepare_end.
 * `swap`: the entry's words are in the other byte order. */
struct stack_entry;
void modules_prefetch_stack(struct modules *ms, const struct stack_entry *x, size_t nth,
			    int swap, int user);

/* Wait until all requests are done, helping (`finish`), or only for those already started. */
void modules_prepare_end(struct modules *ms, int finish);

enum module_role {
	MODULE_RUNTIME,       /* the file that ran (also a kernel module, the vdso) */
	MODULE_DEBUG,         /* its separate debug file */
	MODULE_SUPPLEMENTARY, /* named by one of these: dwz file, .dwo, .dwp */
	MODULE_PERFMAP,       /* perf-PID.map */
	MODULE_JITDUMP,
	MODULE_KALLSYMS,
	MODULE_VMLINUX,
};

/* A file that was opened because a stack needed it. Views, valid during the call. */
struct module_file {
	enum module_role role;
	uint32_t dso;
	int32_t pid;                /* MODULE_PERFMAP: whose */
	const char *path;           /* where it was found */
	int fd;                     /* MODULE_KALLSYMS: open there */
	const struct elf_file *elf; /* of an ELF file */
	const struct perfmap *perfmap;
	const struct jitdump *jitdump;
	const struct build_id *id; /* recorded, else the file's own; len 0: none */
	/* MODULE_SUPPLEMENTARY: its path relative to the folder of the module's file of role
	 * `relative_to` (".dwp": appended to that file's name). MODULE_JITDUMP: as recorded. */
	const char *name;
	enum module_role relative_to;
};

/*
 * Call `take` for every open file, DSO by DSO: after profile_fold, all files that the answer
 * used. Stops at the first return value that is not 0 and returns it.
 */
int modules_each_file(const struct modules *ms,
		      int (*take)(void *ctx, const struct module_file *f), void *ctx);

/* Call `take` for each sentence about missing debug information (debuginfo_note), DSO by DSO,
 * as modules_each_file. */
int modules_each_note(const struct modules *ms, int (*take)(void *ctx, const char *note),
		      void *ctx);

/* Append, as lines of libparse/listed_files.h, the files whose build-id the recording gives to a
 * mapping of another file (dso_id_is_others): elsewhere that cannot be seen. */
void modules_list_others(const struct modules *ms, struct buf *out);

/*
 * 1 when a function of this name is entered by an interrupt, a signal or a planted return
 * address, so that the frame below it on the stack (its caller) holds an exact address.
 */
int modules_is_interrupt_entry(const char *name);

/* Why generated code has no name, though a perf map lists it. */
#define MODULES_REUSED "several functions had these addresses, and its lines have no times"

#endif
