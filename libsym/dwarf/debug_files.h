/*
 * debug_files.h - the other files with a module's DWARF: the dwz file that several modules
 * share, .dwo files of split DWARF, and .dwp packages of them.
 *
 * Private to debug_info.c, called under its lock. Nothing is trusted by its name: a dwz file
 * must have the expected build-id, a split unit the skeleton's dwo_id.
 */
#ifndef LIBSYM_DWARF_DEBUG_FILES_H
#define LIBSYM_DWARF_DEBUG_FILES_H

#include "libsym/dwarf/debug_info.h"
#include "libsym/dwarf/reader.h"

/* The DWARF of one .dwo, or of one unit in a .dwp. */
struct debug_dwo {
	struct dwarf_object obj; /* owns its tables */
	struct elf_file *file;   /* owned; NULL for a slice of the package */
};

/* Zero-initialised with file, runtime and opt set is valid. */
struct debug_files {
	struct elf_file *file;    /* the file with the DWARF */
	struct elf_file *runtime; /* the file that was mapped, or NULL */
	struct debuginfo_options opt;
	struct elf_file *alt_file, *dwp_file; /* owned */
	struct dwarf_object alt;
	uint8_t has_alt, dwp_tried;
	VEC(struct debug_dwo *) dwos; /* heap: units point back into obj */
	VEC(char *) notes;
};

/*
 * Fill o->sec from a file's .debug_* sections (with ".dwo" appended where dwo is set) and
 * initialise it. 1 = it has .debug_info, 0 = it has none; ERR_* when that section cannot be
 * read. Other unreadable sections leave a note.
 */
int debug_sections(struct debug_files *d, struct elf_file *f, int dwo, struct dwarf_object *o,
		   struct err *e);

/* Find and load the dwz file that main names, if any: sets d->has_alt, or leaves a note.
 * ERR_NOMEM. */
int debug_alt_load(struct debug_files *d);

/* The split unit of a skeleton: 1 and *out, or 0 with a note if it cannot be loaded.
 * ERR_NOMEM. */
int debug_dwo_load(struct debug_files *d, struct dwarf_unit *skel, struct dwarf_unit **out);

/* Keep one sentence, equal ones once. */
void debug_note(struct debug_files *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As debuginfo_each_file. */
int debug_files_each(struct debug_files *d,
		     int (*take)(void *ctx, const struct elf_file *of,
				 const struct elf_file *file, const char *name),
		     void *ctx);

/* Close every file. */
void debug_files_release(struct debug_files *d);

#endif
