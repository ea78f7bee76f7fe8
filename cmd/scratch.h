/*
 * scratch.h - a private folder for what a bundle holds while it is being read, gone when the
 * process ends: by exit, and by the signals that end it (not by SIGKILL).
 */
#ifndef CMD_SCRATCH_H
#define CMD_SCRATCH_H

#include "base/err.h"

/*
 * The folder, made at the first call: 0700, below $TMPDIR, else /tmp, /var/tmp, /dev/shm or the
 * current directory, whichever can be written. *path is borrowed for the process's life.
 * ERR_IO.
 */
int scratch_dir(const char **path, struct err *e);

#endif
