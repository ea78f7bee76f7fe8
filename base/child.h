/*
 * child.h - becoming another program, for all that perfkit starts (perf, python3, duckdb, git).
 *
 * The program is named by an absolute path: a file of the current folder, or of a folder that
 * other users can write, is never run because PATH names that folder.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

enum child_environment {
	CHILD_CALLERS, /* all of it: for perf and the command that it records */
	CHILD_CLEAN,   /* only what finding files, speaking and reaching servers needs */
	CHILD_READER,  /* the same; and the sandbox of one that only reads: it and what it runs
			* write no file and reach no server */
};

/*
 * In a forked child: run argv[0] in the folder `dir` (NULL: the current one, which only the
 * caller chose). A name with a '/' is the caller's own choice; else it is looked for in the
 * folders of PATH that are absolute and that only root and the caller can write. Returns only if
 * that fails, with errno (ENOENT).
 */
void child_become(const char *const *argv, const char *dir, enum child_environment env);

#endif
