/*
 * options.h - what each option is there for, in one table. An option without a reason does not
 * exist: tests/cli/help.sh compares this table with those of the verbs, and counts.
 */
#ifndef CMD_CLI_OPTIONS_H
#define CMD_CLI_OPTIONS_H

#include "cmd/cli/opt.h"

struct option_use {
	const char *name; /* without dashes; a name means the same in all verbs */
	int rare;         /* 1: accepted everywhere, shown only where all is */
	const char *why;
};

/* The use of the option with that name, or NULL. */
const struct option_use *option_use(const char *name);

/* Print the n verbs' options, each with its reason: first the usual, then the rare ones. */
void options_print(FILE *f, const struct verb *const *verbs, size_t n);

/* The option that `typed` means in other programs (n bytes; one letter: -x), or NULL. */
const char *option_meant(const char *typed, size_t n);

#endif
