/*
 * modules_internal.h - what the parts of modules share.
 *
 *	modules.c         opening and closing; questions of the unwinder; the files in use
 *	module_lookup.c   addresses of files: symbols, names, inlined frames
 *	module_data.c     … of their variables
 *	module_kernel.c   … of the kernel and its modules
 *	module_jit.c      … of generated code
 *	module_carried.c  … of which the recording itself has the symbols
 *	module_prepare.c  opening files and building tables in advance, on other threads
 *
 * A module is written only under the lock, and libelf's handles are used under it or by the
 * thread that set `busy`. Tables never change once they exist.
 */
#ifndef LIBSYM_PROCESS_MODULES_INTERNAL_H
#define LIBSYM_PROCESS_MODULES_INTERNAL_H

#include "base/text/buf.h"
#include "libparse/simpleperf.h"
#include "libsym/dwarf/debug_info.h"
#include "libsym/jit/jitdump.h"
#include "libsym/process/jit_files.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/process/modules.h"
#include "libsym/jit/perf_map.h"
#include "libsym/elf/symtab.h"

#include <pthread.h>

/* One DSO's files and tables, if found. */
struct module {
	int opened;   /* files were searched */
	int mangling; /* of its names: enum lookup_mangling; 0: not known yet */
	int shared;   /* … when several files were known to have the path */
	int busy;     /* a thread reads the files without holding the lock */
	int cfi_tried, symbols_tried, variables_tried, debuginfo_tried, maps_tried;
	struct dso_files files;
	struct symtab *symbols, *variables;
	struct carried_file carried; /* of `symbols`, with is_carried, without files */
	int is_carried;
	struct debuginfo *debuginfo;
	struct cfi *cfi;
	struct perfmap perfmap;   /* DSO_ANON */
	struct jitdump *jitdump;  /* the modules' */
	const char *jitdump_path; /* the same */
	char *perfmap_path;
	char *recorded;           /* path of a DSO_FILE; NULL if it cannot be opened */
	const char *jitdump_name; /* as recorded */
};

/* The running kernel's symbols, shared by [kernel.kallsyms] and its modules. */
struct kernel_names {
	int read; /* all below is final; stored with release order, for readers without the lock
		   */
	struct kernel_files files;
	struct kallsyms kallsyms;
	struct symtab *vmlinux;
	uint64_t slide; /* recorded address − address in the file; 0: the same boot */
};

/* A jitdump, read once for all processes that mapped it. */
struct open_jitdump {
	struct jitdump *dump; /* NULL: it cannot be read, or its times are cycles */
	char *path;
	int cycles;
	struct u64map cfi_of; /* the address of a struct jit_code → index into cfis */
	VEC(struct cfi *) cfis;
};

/* What a forked process wrote about generated code, in a module without files. */
struct forked_code {
	struct module *mod;
	int32_t pid;
	uint32_t dso; /* the memory that it inherited */
};

struct modules {
	struct machine *machine;
	const struct recording *rec;
	struct modules_options opt;
	struct frame_table *frames; /* the built-in one */
	struct module **v;          /* by DSO index; made on first use */
	size_t n;
	VEC(struct module *) retired; /* of which callers may still have tables */
	struct kernel_names kernel;
	struct jit_mappings jit_mappings; /* found on first use */
	int jit_tried;
	VEC(struct open_jitdump) jitdumps;
	VEC(struct forked_code) forked;
	struct u64map forked_at;  /* process → index into forked */
	struct u64map jitdump_at; /* strings id of a path → index into jitdumps */
	struct u64map jitdump_of; /* DSO → the same, for those that can be read */
	struct idmap dso_named;   /* strings id → DSOs … */
	uint32_t ndso_named;      /* … for the DSOs before this index */
	struct u64map
		names; /* address of a raw name's text → strings id of the printable one */
	size_t names_growth; /* bytes that demangling has added to them */
	struct buf text;
	pthread_mutex_t lock; /* protects v, n and the modules */
	pthread_cond_t unbusy;
	pthread_mutex_t lookups; /* modules_lock; taken before `lock` */
	struct preparer *preparer;
};

/* The module of a DSO, its files searched; NULL when out of memory. Under the lock. */
struct module *module_of(struct modules *ms, uint32_t dso);

/* Read the module's symbols and DWARF, unless tried before. Under the lock, which is released
 * meanwhile. What fails for lack of memory counts as not tried. */
void module_read(struct modules *ms, struct module *mod);

/* 1 when everything that names the module's addresses has been read. */
int module_is_read(const struct modules *ms, const struct module *mod);

/* Open the module's DWARF; *out is NULL if it has none. 0 or ERR_NOMEM. */
int module_debuginfo(struct modules *ms, const struct module *mod, struct debuginfo **out);

/* 1 and *place, which never changes, when the recording has a mapping of the kernel. */
int kernel_place(const struct modules *ms, struct kernel_place *place);

/* Load kallsyms or vmlinux, and compute how far the recorded kernel was moved from it. After
 * ERR_NOMEM it counts as not tried. One thread at a time, not under the lock. */
int kernel_open(struct modules *ms, const struct kernel_place *place);

/* 1 when the kernel's names have been read, 0 while a preparing thread must read them; without
 * such threads they are read now. ERR_NOMEM. */
int kernel_read(struct modules *ms);

/* The kernel's symbols, if read; else NULL. */
const struct symtab *kernel_table(const struct modules *ms);

/* Close its files and free its tables; it counts as not tried. */
void kernel_close(struct kernel_names *k);

/* The mapping of the kernel itself, which also locates its modules; NULL: none. */
const struct map *kernel_map(const struct modules *ms);

/*
 * 1 and the symbol of *vaddr, or 0. If it is a return address (enum lookup_how), *vaddr becomes
 * that of the call: one byte back, at the start of a symbol in the previous one.
 */
int lookup_symbol(const struct symtab *t, uint64_t *vaddr, int how, struct symbol_hit *hit);

enum lookup_mangling { LOOKUP_MANGLED = 1, LOOKUP_NIM = 2 };

/* The printable form of a raw name (enum lookup_mangling; 0: not mangled), made once. 0 or
 * ERR_NOMEM. */
int lookup_printable(struct modules *ms, const char *raw, int mangled, uint32_t *id);

/* Take the symbols that the recording has of a file that was not found. 0 or ERR_NOMEM. */
int carried_open(struct modules *ms, const char *path, struct module *mod);

/* The same of the kernel; *out is NULL if it has none. 0 or ERR_NOMEM. */
int carried_kernel(const struct modules *ms, struct symtab **out);

/* The address, as these symbols have it, of one in a mapping. */
uint64_t carried_vaddr(const struct carried_file *c, const struct map *map, uint64_t ip);

/* Make a symbol, with its printable name, the only frame. 0 or ERR_NOMEM. */
int lookup_named(struct modules *ms, const struct symbol_hit *hit, int mangled,
		 struct module_lookup *out);

/* modules_lookup for DSO_KERNEL, DSO_MODULE and DSO_ANON. */
int lookup_kernel(struct modules *ms, uint64_t ip, int how, struct module_lookup *out);
int lookup_module(struct modules *ms, const struct map *map, uint64_t ip, int how,
		  struct module_lookup *out);
int lookup_jit(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time, int how,
	       struct module_lookup *out);

/* Close a jitdump and free what was made of it. */
void open_jitdump_release(struct open_jitdump *j);

/* The perf map and jitdump of a DSO_ANON, searched on first use. Under the lock. ERR_NOMEM.
 */
int jit_read(struct modules *ms, uint32_t dso, struct module **mod);

#endif
