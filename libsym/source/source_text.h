/*
 * source_text.h - the text of a source file that debug information names, and whether it is the
 * text that was compiled.
 *
 * The name comes from a binary, perhaps a stranger's, and must not choose what is shown of this
 * machine: a name like /etc/shadow is a line of text, not a reason to open the file. So only
 * regular files below *roots* are opened, after all symbolic links:
 *
 *	text in the line table itself       always: it is the binary's own
 *	--source-map FROM=TO                below TO, for names that begin with FROM
 *	--git DIR@REV                       files of that commit, likewise
 *	--source-dir DIR                    below DIR, by as much of the name's end as exists
 *	the recorded machine's files        below symfs
 *	a bundle (pack --with-source)       the name below it
 *	a store                             what import found of these, and of symfs
 *	a debuginfod server                 what it has for the program's build-id
 *	the current folder, the program's   only names that are below them as they are, no hidden
 *	                                    folders; not /, not a home, nothing of the first level;
 *	                                    root shows what everybody, or the program's owner, reads
 *
 * Of other files than a bundle's, one that is not proven by the line table's MD5 is read only if
 * it looks like a source: nothing hidden in its path below the root, and a source's ending.
 */
#ifndef LIBSYM_SOURCE_SOURCE_TEXT_H
#define LIBSYM_SOURCE_SOURCE_TEXT_H

#include "base/err.h"
#include "base/text/buf.h"
#include "base/vec.h"
#include "libsym/elf/dso_find.h"
#include "libsym/source/git_texts.h"

#include <stdint.h>

struct source_text;

/* All borrowed. Zero-initialised: only embedded texts. */
struct source_options {
	const char *const *dirs; /* --source-dir */
	size_t ndirs;
	const char *const *maps; /* --source-map, "FROM=TO" */
	size_t nmaps;
	struct git_texts *git;          /* --git; NULL: none */
	const char *symfs;              /* NULL or "": none */
	const char *bundle;             /* an unpacked bundle; NULL: none */
	const struct source_text *kept; /* what a store has of the file; NULL: nothing */
	int fetch;                      /* ask debuginfod, if source_name.find does */
	int here;                       /* the current folder and the program's are roots */
	int64_t written_ns; /* when the recording was written, since 1970; 0: not known */
};

/* The file that is wanted. */
struct source_name {
	const char *path;    /* as compiled */
	const char *program; /* the binary's path on this machine, if it was found there by
				itself; else NULL */
	const struct build_id *id;      /* of the program; NULL: not known */
	const struct dso_options *find; /* how programs are found; NULL: not */
	const uint8_t *md5;             /* of the text that was compiled; NULL: not known */
	const char *text;               /* embedded in the line table; NULL: not */
};

enum source_verdict {
	SOURCE_ABSENT,    /* no such file below the roots */
	SOURCE_SAME,      /* the MD5 is the line table's, or the text is in it */
	SOURCE_UNCHECKED, /* the line table has no MD5 */
	SOURCE_NEWER,     /* … and the file was changed after the recording */
	SOURCE_OTHER,     /* another MD5 */
	SOURCE_VERDICTS
};

/* "absent", "same", "unchecked", "newer", "other". */
const char *source_verdict_word(unsigned int verdict);

struct source_text {
	enum source_verdict verdict;
	char *path; /* where it was found; NULL: nowhere, or embedded */
	char *text; /* heap */
	size_t n;
	VEC(size_t) lines; /* where each line begins; line 1 is [0] */
};

/* Append where a bundle has the text of the file that debug information calls `path`: below
 * source/, or source-changed/ if `verdict` is SOURCE_NEWER, since a bundle keeps no times. */
void source_text_packed(struct buf *b, const char *path, enum source_verdict verdict);

/* Find and read a text; `out` is released by source_text_release. A file whose MD5 is the line
 * table's is preferred. 0, also if there is none; ERR_NOMEM; ERR_IO if git gives no answer. */
int source_text_load(struct source_text *out, const struct source_options *o,
		     const struct source_name *name, struct err *e);

/* Line `line` (from 1), without its end: 1 and *text, *n (a view), or 0. */
int source_text_line(const struct source_text *t, uint32_t line, const char **text, size_t *n);

/* Free the memory. */
void source_text_release(struct source_text *t);

#endif
