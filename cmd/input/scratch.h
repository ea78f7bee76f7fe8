/*
 * scratch.h - what has to be gone when the process ends, also by a signal (not by SIGKILL): a
 * private folder for what a bundle holds while it is being read, and a file half written.
 */
#ifndef CMD_INPUT_SCRATCH_H
#define CMD_INPUT_SCRATCH_H

#include "base/err.h"

/* Where that folder is made, the first that can be written: $TMPDIR, /tmp, /var/tmp, /dev/shm,
 * and the current directory. Borrowed from the environment. */
enum { SCRATCH_PLACES = 5 };
void scratch_places(const char *places[SCRATCH_PLACES]);

/*
 * The folder, made at the first call: 0700, in one of these places. *path is borrowed for the
 * process's life. ERR_IO.
 */
int scratch_dir(const char **path, struct err *e);

/* Remove this folder, too, when the process ends (NULL: not any more). The path is copied; one
 * folder at a time. */
void scratch_also(const char *path);

/* Remove a folder with all that is in it. */
void scratch_remove_tree(const char *path);

/* Remove this file (NULL: none) if a signal ends the process. The path is copied; one too long
 * for the kernel is no file. */
void scratch_file(const char *path);

/* Remove both now; for signal handlers that end the process by themselves. */
void scratch_remove(void);

#endif
