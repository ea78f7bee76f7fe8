/*
 * modules_internal.h - what the parts of modules share.
 *
 *	modules.c         opened and closed; what the unwinder asks; which files were used
 *	module_lookup.c   addresses of files: symbols, names, inlined frames
 *	module_data.c     … of their variables
 *	module_kernel.c   … of the kernel and its modules
 *	module_jit.c      … of generated code
 *	module_prepare.c  opening files and building tables ahead of need, on their own threads
 *
 * Everything in a module is written under the lock, and libelf's handles are used under it or
 * by the thread that made the module busy. Tables never change once they are there.
 */
#ifndef LIBSYM_PROCESS_MODULES_INTERNAL_H
#define LIBSYM_PROCESS_MODULES_INTERNAL_H

#include "base/text/buf.h"
#include "libsym/dwarf/debug_info.h"
#include "libsym/jit/jitdump.h"
#include "libsym/process/jit_files.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/process/modules.h"
#include "libsym/jit/perf_map.h"
#include "libsym/elf/symtab.h"

#include <pthread.h>

/* One DSO's files and tables, as far as they could be found. */
struct module {
	int opened; /* files were looked for */
	int busy;   /* a thread reads the files without holding the lock */
	int cfi_tried, symbols_tried, variables_tried, debuginfo_tried, maps_tried;
	struct dso_files files;
	struct symtab *symbols, *variables;
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
	int read; /* all below is final; set with release, for readers without the lock */
	struct kernel_files files;
	struct kallsyms kallsyms;
	struct symtab *vmlinux;
	uint64_t slide; /* recorded address − address in the file; 0: of the same boot */
};

/* A jitdump, read once for all processes that mapped it. */
struct open_jitdump {
	struct jitdump *dump; /* NULL: it cannot be read, or its times are cycles */
	char *path;
	int cycles;
};

struct modules {
	struct machine *machine;
	const struct recording *rec;
	struct modules_options opt;
	struct frame_table *frames; /* the built-in one */
	struct module **v;          /* by DSO index; made on first need */
	size_t n;
	struct kernel_names kernel;
	char *recorded_kallsyms;          /* of a directory; NULL for a file */
	struct jit_mappings jit_mappings; /* found on first need */
	int jit_tried;
	VEC(struct open_jitdump) jitdumps;
	struct u64map jitdump_at; /* strings id of a path → index into jitdumps */
	struct idmap dso_named;   /* strings id → DSOs … */
	uint32_t ndso_named;      /* … as far as they were asked for */
	struct u64map
		names; /* address of a raw name's text → strings id of the printable one */
	size_t names_growth; /* bytes that demangling has added to them */
	struct buf text;
	pthread_mutex_t lock; /* v, n, the opening of modules and what they say of themselves */
	pthread_cond_t unbusy;
	pthread_mutex_t lookups; /* modules_lock; taken before `lock` */
	struct preparer *preparer;
};

/* The module of a DSO with its files looked for; NULL when out of memory. Under the lock. */
struct module *module_of(struct modules *ms, uint32_t dso);

/* Read the module's symbols and DWARF, as far as that was not tried. Under the lock, which is
 * let go meanwhile. What memory does not suffice for counts as not tried. */
void module_read(struct modules *ms, struct module *mod);

/* Has all been read that names the module's addresses? */
int module_is_read(const struct modules *ms, const struct module *mod);

/* Open the module's DWARF; none is no error. 0 or ERR_NOMEM. */
int module_debuginfo(struct modules *ms, const struct module *mod, struct debuginfo **out);

/* 1 and *place when the recording has a mapping of the kernel: nothing that changes later. */
int kernel_place(const struct modules *ms, struct kernel_place *place);

/* Load kallsyms or vmlinux, and how far the recorded kernel was moved from it. After ERR_NOMEM
 * it is as if it had not been tried. One thread at a time, not under the lock. */
int kernel_open(struct modules *ms, const struct kernel_place *place);

/* 1 when the kernel's names have been read, 0 while a preparing thread has to, else they are
 * read now: ERR_NOMEM. */
int kernel_read(struct modules *ms);

/* The kernel's symbols, read before; NULL: none. */
const struct symtab *kernel_table(const struct modules *ms);

/* Give its files and tables back: as if it had not been tried. */
void kernel_close(struct kernel_names *k);

/* The mapping of the kernel itself, by which its modules are located, too; NULL: none. */
const struct map *kernel_map(const struct modules *ms);

/* perf record --kcore keeps the kernel's list as it was, and its memory, beside the data: look
 * for it. 0 or ERR_NOMEM. */
int kernel_find_recorded(struct modules *ms);

/*
 * 1 and the symbol of *vaddr, which moves to the address that stands for the call when it is a
 * return address (enum lookup_how): inside the symbol, one back; at its very start, into the
 * one before. 0: none.
 */
int lookup_symbol(const struct symtab *t, uint64_t *vaddr, int how, struct symbol_hit *hit);

/* The printable form of a raw name, which is `mangled` or not, made once. 0 or ERR_NOMEM. */
int lookup_printable(struct modules *ms, const char *raw, int mangled, uint32_t *id);

/* A symbol as the only frame, its name made printable. 0 or ERR_NOMEM. */
int lookup_named(struct modules *ms, const struct symbol_hit *hit, int mangled,
		 struct module_lookup *out);

/* modules_lookup for DSO_KERNEL, DSO_MODULE and DSO_ANON. */
int lookup_kernel(struct modules *ms, uint64_t ip, int how, struct module_lookup *out);
int lookup_module(struct modules *ms, const struct map *map, uint64_t ip, int how,
		  struct module_lookup *out);
int lookup_jit(struct modules *ms, const struct map *map, uint64_t ip, uint64_t time, int how,
	       struct module_lookup *out);

/* The perf map and jitdump of a DSO_ANON, found now if not before. Under the lock. ERR_NOMEM.
 */
int jit_read(struct modules *ms, uint32_t dso, struct module **mod);

#endif
