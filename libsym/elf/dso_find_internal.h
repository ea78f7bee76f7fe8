/* dso_find_internal.h - shared by dso_find.c (programs and libraries) and dso_kernel.c. */
#ifndef LIBSYM_ELF_DSO_FIND_INTERNAL_H
#define LIBSYM_ELF_DSO_FIND_INTERNAL_H

#include "base/text/buf.h"
#include "libsym/elf/dso_find.h"

/* What shows that a file is the mapped one. */
enum identity {
	BY_ID,    /* its build-id */
	BY_FACTS, /* that neither its inode nor its time says otherwise */
	BY_INODE,
};

/* One search: the file wanted, and the best reason so far why it was not found. */
struct dso_search {
	const struct dso_options *opt;
	const char *name;      /* as recorded */
	struct build_id want;  /* len 0: none recorded */
	struct file_id mapped; /* ino 0: not recorded */
	int id_read;           /* the kernel read `want` in the file that it mapped */
	int trusted;           /* --trust-paths names the recorded path */
	struct buf path;       /* the current candidate */
	int withheld;          /* perf's cache has a copy that root may not hand on */
	int by_caller;         /* the candidate was named by who runs this: links are his own */
	enum identity is_it;   /* what shows that the candidate is the mapped file */
	const struct elf_file *beside; /* … belongs to this file, or NULL */
	size_t skip;                   /* kernel: so many that could serve were refused */
	enum dso_reason reason;
	char *detail; /* DSO_DETAIL_MAX bytes */
	int nomem;
};

/*
 * Open the candidate in s->path if it may be used: its id is the wanted one, or none is wanted
 * and it is `trusted`. The file, or NULL with s->reason and s->detail updated.
 */
struct elf_file *dso_try(struct dso_search *s, int trusted);

/* Set s->path to printf text. */
void dso_path(struct dso_search *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* BUILDID_DIR/.build-id/xx/yyyy[/name] of the wanted id into s->path: 1, or 0 without id or
 * directory. `name` NULL: the link itself, which old caches point at the file. */
int dso_cache_path(struct dso_search *s, const char *name);

/* Keep a reason if it explains more than the one kept. */
void dso_note(struct dso_search *s, enum dso_reason reason, const char *detail);

/* debuginfod.c: the executable or debug file by id, or NULL. `what`: "executable" or
 * "debuginfo". */
struct elf_file *dso_try_debuginfod(struct dso_search *s, const char *what);

#endif
