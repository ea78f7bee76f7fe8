/*
 * form.h - --format and --budget of the verbs that print text: the form of an answer, and its
 * greatest length.
 *
 * What the verb prints on stdout is kept, and written at its end in another form or shortened
 * (parts.h). JSON is the verb's own if it has --json for what is asked, or words of its own for
 * --format; the Markdown of such a verb is a comment for a forge, and no longer than one may be.
 */
#ifndef CMD_INPUT_FORM_H
#define CMD_INPUT_FORM_H

#include "cmd/cli/opt.h"

/* First member of the options struct of a verb that has form_rows' options. */
struct form_opts {
	const char *format, *budget;
};

#define FORM_BUDGET                                                                  \
	{                                                                            \
		"budget", 0, OPT_STRING, offsetof(struct form_opts, budget), "SIZE", \
			"at most so long: 4000 (bytes), 8k, '2000 tokens';\n"        \
			"what has the least rank is left out, and the end says so"   \
	}
#define FORM_ROWS                                   \
	{"format",                                  \
	 0,                                         \
	 OPT_STRING,                                \
	 offsetof(struct form_opts, format),        \
	 "text|markdown|json",                      \
	 "how to print the answer (default text)"}, \
		FORM_BUDGET

/* Bytes of a SIZE; 0: it is none. */
uint64_t form_budget(const char *size);

/* Before the verb runs: 0, or the exit status after a line on stderr. `opts` may get the verb's
 * own --json. Does nothing for a verb without these options. */
int form_begin(const struct verb *v, void *opts, int argc, char **argv);

/* After it: print what was kept. `rc` is its exit status; returns that, or another. */
int form_end(int rc);

/* 1 while tables are to be printed as data (TABLE_DATA). */
int form_is_data(void);

#endif
