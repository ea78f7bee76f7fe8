/*
 * sandbox.h - drops rights that commands do not need before they read untrusted files.
 *
 * Even if a recording takes over the process, the kernel lets it write only next to the outputs
 * that the user named, in the scratch folder and in perfkit's cache (Landlock, Linux 5.13 and
 * later), and gain no privileges by running programs. It may read everything, since binaries
 * can be anywhere.
 */
#ifndef CMD_INPUT_SANDBOX_H
#define CMD_INPUT_SANDBOX_H

#include "base/err.h"
#include "cmd/cli/opt.h"

/*
 * Enter it permanently, with all threads made later, before the first input is opened. Does
 * nothing for verbs without input_rows (they run programs, or write folders), with
 * --no-sandbox, and if debuginfod is used, which has a cache of its own. Without Landlock in
 * the kernel, only privileges are dropped. ERR_IO if descriptors or memory run out.
 */
int sandbox_enter(const struct verb *v, const void *opts, struct err *e);

#endif
