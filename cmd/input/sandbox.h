/*
 * sandbox.h - drops rights that commands do not need before they read untrusted files.
 *
 * Even if a recording takes over the process, the kernel lets it do only what the verb's row of
 * the table in sandbox.c says: Landlock holds the paths, a filter of system calls the rest.
 */
#ifndef CMD_INPUT_SANDBOX_H
#define CMD_INPUT_SANDBOX_H

#include "base/err.h"
#include "base/os/landlock.h"
#include "base/text/buf.h"
#include "cmd/cli/opt.h"

/* The option that turns it off, for the tables of all verbs that have one. */
#define SANDBOX_OPTION(at)                                                           \
	{                                                                            \
		"no-sandbox", 0, OPT_FLAG, at, NULL,                                 \
			"keep the right to write and run anything (see sandbox in\n" \
			"docs/reliability.md)"                                       \
	}

/*
 * Enter the verb's sandbox permanently, with all threads made later, before the first input is
 * opened. Does nothing with --no-sandbox, and for verbs that are in no row. ERR_IO if
 * descriptors or memory run out.
 */
int sandbox_enter(const struct verb *v, const void *opts, const char *const *files,
		  size_t nfiles, struct err *e);

/* Append what this kernel has for it: "Landlock ABI 7 + seccomp". */
void sandbox_describe(struct buf *out);

#endif
