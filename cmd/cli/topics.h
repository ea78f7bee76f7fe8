/*
 * topics.h - pages of `perfkit help` that are not about a single command: text files compiled in
 * (see the Makefile) for users without the docs, and options that commands share.
 */
#ifndef CMD_CLI_TOPICS_H
#define CMD_CLI_TOPICS_H

#include <stdio.h>

struct topic {
	const char *name;  /* "exit-status" */
	const char *brief; /* one line for `perfkit help` */
	const char *text;  /* NULL: only options (opt_topic) */
	int markdown;      /* 1: Markdown; printed as plain text */
};

/* All topics; ends with a name of NULL. */
extern const struct topic topics[];

/* The topic with that name, or NULL. */
const struct topic *topic_named(const char *name);

/* Print its text, or its first line. */
void topic_print(FILE *f, const struct topic *t);

#endif
