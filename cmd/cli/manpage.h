/*
 * manpage.h - man pages and shell completions from the option tables, so that they match the
 * program. `make` writes them through `perfkit help --man` and `perfkit help --completion`.
 */
#ifndef CMD_CLI_MANPAGE_H
#define CMD_CLI_MANPAGE_H

#include "cmd/cli/opt.h"

#include <stdio.h>

/* perfkit(1): the program's purpose and its n verbs. */
void man_perfkit(FILE *f, const struct verb *const *verbs, size_t n);

/* perfkit-VERB(1). */
void man_verb(FILE *f, const struct verb *v);

/* The completion script of `shell` (bash, zsh, fish). 0, or -1 when no such shell is known. */
int completion_script(FILE *f, const char *shell, const struct verb *const *verbs, size_t n);

#endif
