/*
 * git_texts.h - source files as a git commit has them, from a `git cat-file --batch` that is
 * asked over pipes.
 *
 * It begins before the sandbox is entered, which forbids running programs, and has one of its
 * own. All it ever does is to print objects: names are lines on its standard input, never
 * arguments; what a partial clone lacks is not fetched; no program of the repository's config
 * is run.
 */
#ifndef LIBSYM_SOURCE_GIT_TEXTS_H
#define LIBSYM_SOURCE_GIT_TEXTS_H

#include "base/err.h"
#include "base/text/buf.h"

#include <stdint.h>
#include <sys/types.h>

enum { GIT_OID = 65 };

struct git_texts {
	const char *spec; /* as given, borrowed: how texts are named */
	int to, from;
	pid_t pid;
	char commit[GIT_OID]; /* its id */
	int64_t until;        /* an answer is waited for, on the monotonic clock in ms */
	size_t at, n;         /* what is unread of `piece` */
	int failed, silent;   /* git gave no answer; none in time */
	char piece[1 << 12];
};

/* Begin with "DIR@REV": a folder of a repository, and what names a commit (or a tree) in it.
 * ERR_USAGE: neither; ERR_NOTFOUND: no git, no repository, or no such commit; ERR_IO. */
int git_texts_open(struct git_texts **g, const char *spec, struct err *e);
/* End git; NULL: nothing is open. */
void git_texts_close(struct git_texts *g);

/* 1 with the text of the file at `path` below the commit's root appended to *out; 0: it has no
 * such file of at most `max` bytes; ERR_NOMEM; ERR_IO, from then on, if git gives no answer. */
int git_texts_read(struct git_texts *g, const char *path, size_t max, struct buf *out,
		   struct err *e);

#endif
