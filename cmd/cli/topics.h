/*
 * topics.h - pages of `perfkit help` that are about no single command: text files compiled in
 * (see the Makefile), for readers who have the program but not its docs.
 */
#ifndef CMD_CLI_TOPICS_H
#define CMD_CLI_TOPICS_H

#include <stdio.h>

struct topic {
	const char *name;  /* "exit-status" */
	const char *brief; /* one line for `perfkit help` */
	const char *text;
	int markdown; /* 1: printed without its marks, each line a paragraph */
};

/* All of them; ends with a name of NULL. */
extern const struct topic topics[];

/* The one called so, or NULL. */
const struct topic *topic_named(const char *name);

/* Print its text. */
void topic_print(FILE *f, const struct topic *t);

#endif
