/*
 * kallsyms.h - the kernel's own symbol list as a symtab: /proc/kallsyms, a copy of it, or the
 * `kallsyms` file of a build-id cache. Lines are `address type name [module]`, written by
 * kernel/kallsyms.c.
 *
 * As in perf (6.1, symbol_type__filter), text and weak symbols are read (t T w W), and data (d
 * D b B), so that the last function before them ends where they begin. None has a size: each
 * extends to the next one, but not from one module into another (see symtab.h).
 */
#ifndef LIBSYM_ELF_KALLSYMS_H
#define LIBSYM_ELF_KALLSYMS_H

#include "base/text/strtab.h"
#include "libsym/elf/symtab.h"

struct kallsyms {
	struct symtab *table;  /* absolute addresses; symbol.module indexes `modules` */
	struct strtab modules; /* id 0 is "", the kernel itself; names come without brackets */
	uint64_t lines;        /* symbols read */
	uint64_t zeroes;       /* text symbols with address 0 */
	uint64_t text, stext;  /* addresses of _text and _stext, 0 when absent */
};

/*
 * Parse n bytes of text; `name` is for messages. Malformed lines are skipped. ERR_REFUSED
 * when every text symbol is at address 0 (written under kptr_restrict), ERR_FORMAT when there
 * is no symbol at all, ERR_NOMEM. On failure *out is empty.
 */
int kallsyms_parse(const char *text, size_t n, const char *name, struct kallsyms *out,
		   struct err *e);

/* Keep only the lines of n bytes of text that are symbols; how many bytes are left. */
size_t kallsyms_lines(char *text, size_t n);

/* The same from an open file, at most 1 GiB; it stays open. ERR_IO, ERR_LIMIT too. */
int kallsyms_load(int fd, const char *name, struct kallsyms *out, struct err *e);

/* 1 for a regular file with a symbol among its first lines. */
int kallsyms_detect(const char *path);

/* 1 when the first lines of the file have no address but 0, or it has none. */
int kallsyms_is_zeroed(int fd);

/* 1 when the file has the kernel's own symbol `name` at `addr`. Reads only up to that
 * symbol. */
int kallsyms_places(const char *path, const char *name, uint64_t addr);

/* The symbol that covers an absolute address and, in *module (may be NULL), its module's name,
 * "" for the kernel. 1 or 0. The texts live as long as the object. */
int kallsyms_find(const struct kallsyms *k, uint64_t addr, struct symbol_hit *hit,
		  const char **module);

/* Free everything; the object is empty and usable again. */
void kallsyms_release(struct kallsyms *k);

/* The build-id in a file of ELF notes, usually /sys/kernel/notes. 0, ERR_IO, ERR_NOTFOUND. */
int kernel_notes_build_id(const char *path, struct build_id *id, struct err *e);

#endif
