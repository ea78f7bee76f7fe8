/*
 * sandbox.h - verbs that read untrusted files give up what they do not need.
 *
 * Whatever a recording may do to the program that reads it, the kernel then lets it write
 * nowhere but beside the outputs that the user named, in the scratch folder and in perfkit's
 * cache (Landlock, Linux 5.13 and later), and gain no privileges by running programs. Reading
 * stays free: binaries lie anywhere.
 */
#ifndef CMD_INPUT_SANDBOX_H
#define CMD_INPUT_SANDBOX_H

#include "base/err.h"
#include "cmd/cli/opt.h"

/*
 * Enter it, for good, before the first input is opened; threads that are made later are in it,
 * too. Verbs without input_rows (they run programs, or write folders) stay outside, as does
 * everything with --no-sandbox and where debuginfod is asked, which keeps a cache of its own.
 * Where the kernel has no Landlock, only privileges are given up. ERR_IO if descriptors or
 * memory are too short to say what may be written.
 */
int sandbox_enter(const struct verb *v, const void *opts, struct err *e);

#endif
