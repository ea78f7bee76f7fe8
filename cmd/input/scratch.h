/*
 * scratch.h - removes temporary files when the process ends, also by a signal: a private folder
 * for the contents of bundles, and an output that is being written. After SIGKILL the next run
 * that needs such a folder removes the one left behind.
 */
#ifndef CMD_INPUT_SCRATCH_H
#define CMD_INPUT_SCRATCH_H

#include "base/err.h"

/* Folders for the private folder, of which the first writable one is used: $TMPDIR, /tmp,
 * /var/tmp, /dev/shm, and the current directory. Borrowed from the environment. */
enum { SCRATCH_PLACES = 5 };
void scratch_places(const char *places[SCRATCH_PLACES]);

/*
 * The private folder, mode 0700, made in one of these places by the first call. *path is valid
 * until the process ends. ERR_IO.
 */
int scratch_dir(const char **path, struct err *e);

/* Remove another folder, too, when the process ends; NULL cancels that. The path is copied;
 * only one folder at a time. */
void scratch_also(const char *path);

/* Remove a folder with its contents. */
void scratch_remove_tree(const char *path);

/* Remove this file if a signal ends the process; NULL: none. The path is copied; one that is
 * too long for the kernel is ignored. */
void scratch_file(const char *path);

/* Remove all now; for signal handlers that end the process themselves. */
void scratch_remove(void);

#endif
