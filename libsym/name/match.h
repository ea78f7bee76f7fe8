/*
 * match.h - which frames of two profiles are the same function.
 *
 *	frames of both ──match_add──► match_finish ──► match_of: one id for equal frames
 *
 * Frames are the same by the names of function and module. Directories and versions of modules
 * do not tell them apart, nor inlining, suffixes and hashes of compilers. What only one profile
 * has is matched further, if the other has a counterpart that is also its own alone: modules by
 * their names without version, the one module with `main` by the functions it shares, functions
 * by their names without arguments. Static functions of one name are told apart by their
 * files.
 */
#ifndef LIBSYM_NAME_MATCH_H
#define LIBSYM_NAME_MATCH_H

#include "base/err.h"
#include "base/hash.h"
#include "base/text/buf.h"
#include "base/text/strtab.h"
#include "base/vec.h"

enum match_group {
	MATCH_USER,
	MATCH_KERNEL, /* the kernel and its modules are one module */
	MATCH_JIT,    /* so is generated code */
	MATCH_THREAD, /* the name of a thread: matched like a module's */
	MATCH_OTHER,  /* a mark: the same by its text */
};

enum { MATCH_BEFORE = 1, MATCH_AFTER = 2 }; /* bits */

/* Texts are copied. */
struct match_frame {
	const char *name; /* "": not named */
	const char *dso;  /* path or [name]; "": not known */
	const char *src;  /* source file; "": not known */
	uint64_t addr;    /* the symbol's start; 0: not known */
	enum match_group group;
	int inlined;
	unsigned sides; /* profiles that have it */
};

/* private */
struct match_module {
	uint32_t base, stem; /* strings ids */
	uint32_t same;       /* the module that stands for it */
	unsigned sides, inlined, named, main;
};

struct match_item {
	uint32_t module, name, raw, src, file, stem;
	uint64_t addr;
	uint8_t group, inlined, sides;
	uint32_t same;
};

/* Zero-initialised is empty. */
struct match {
	struct strtab strings;
	VEC(struct match_module) modules;
	VEC(struct match_item) items;
	struct u64map module_of; /* strings id of a base name → module */
	struct buf text;
};

/* Add a frame; its id is the number of frames added before. ERR_NOMEM. */
int match_add(struct match *m, const struct match_frame *f);

/* Decide, once all frames are added. ERR_NOMEM. */
int match_finish(struct match *m);

/* The id of the frame that stands for this one; that of AFTER, if it has one. UINT32_MAX: an
 * inlined call that the other profile's debug information does not show, so it is counted as
 * its caller. */
uint32_t match_of(const struct match *m, uint32_t id);

/* Sentences about what was matched although its name differs, separated by "; ". */
void match_notes(const struct match *m, struct buf *out);

/* Free everything; it is empty and usable again. */
void match_release(struct match *m);

#endif
