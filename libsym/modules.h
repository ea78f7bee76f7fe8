/*
 * modules.h - DSOs with their files found and opened on first need: address → symbol, inlined
 * frames, source lines.
 *
 * A module is opened when a stack first touches it, never before, and only from a file whose
 * build-id is the recorded one or that the trust rules allow (dsofind.h). What could not be
 * opened says why; such addresses stay addresses.
 */
#ifndef LIBSYM_MODULES_H
#define LIBSYM_MODULES_H

#include "libsym/machine.h"

struct modules_options {
	const char *symfs, *buildid_dir, *kallsyms, *vmlinux;
	const char *map_dir;  /* where perf-PID.map and jit dumps are looked for besides /tmp */
	int trust_paths;      /* files without a recorded build-id to compare are believed */
	int no_local;         /* nothing outside symfs and the given files is read */
	int no_demangle;
	int inlines, lines;   /* read DWARF */
};

/* One level of what an address means; `name` and `file` are strings ids. */
struct module_frame {
	uint32_t name, file, line;
	uint64_t start; /* the symbol's first address in the file */
	uint8_t inlined;
};

enum { MODULE_FRAMES_MAX = 64 };

/* Innermost first; n 0: no name. */
struct module_lookup {
	size_t n;
	struct module_frame frames[MODULE_FRAMES_MAX];
};

enum lookup_how {
	LOOKUP_EXACT,  /* the address itself */
	LOOKUP_RETURN, /* a return address: the call in front of it, unless it was planted */
};

struct modules;

/* `m` and `rec` (for host, release and build-ids) are borrowed. 0 or ERR_NOMEM. */
int modules_new(struct modules **out, struct machine *m, const struct recording *rec,
		const struct modules_options *opt, struct err *e);
void modules_free(struct modules *ms);

/*
 * Frames of address `at` (file offset for files, absolute for kernel and JIT memory) of DSO `dso`
 * in a mapping with `pgoff`. 0 (out->n may be 0) or ERR_NOMEM.
 */
int modules_lookup(struct modules *ms, uint32_t dso, uint64_t at, uint64_t pgoff, int how,
		   struct module_lookup *out);

/*
 * 1 when a function of this name is entered by an interrupt, a signal or a planted return
 * address, so that the frame below it on the stack (its caller) holds an exact address.
 */
int modules_interrupts_caller(const char *name);

#endif
