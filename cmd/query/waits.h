/*
 * waits.h - options about waits: which ones an answer is about (population.h), and which of
 * those it shows (wait_sums.h).
 */
#ifndef CMD_QUERY_WAITS_H
#define CMD_QUERY_WAITS_H

#include "cmd/query/timeline_input.h"
#include "libtime/population/wait_sums.h"

/* First member of a verb's options struct, for input_rows, tlinput_rows and wait_rows. */
struct wait_opts {
	struct tlinput_opts tl;
	int idle, system; /* show idle waits, and system threads */
	int no_unclear;
	struct opt_list states, causes;
};

extern const struct opt wait_rows[];

/* Names of options that only questions about waiting use, for a verb's modes: which waits are
 * hidden, and which are shown. */
#define WAITS_HIDE "idle system no-unclear causes idle-frame work-frame"
#define WAITS_SHOW WAITS_HIDE " state cause site"

/* The population that the filters of `ti` and the options (NULL: none) define; lists are
 * borrowed from both. Unclear waits are among the others, or left out with --no-unclear. */
struct population waits_population(const struct tlinput *ti, const struct wait_opts *opt);

/* Set ti->sites by --site: 0, or 3 after one line if nothing waits there. */
int waits_find_site(struct tlinput *ti);

/* Before an answer about spans: if none of them is of a process that is meant, all are. */
void tl_meant_by_spans(struct tlinput *ti);

/* The causes of --cause as bits of enum cause; 0: all. "!sleep" excludes one. 0, or ERR_USAGE
 * for an unknown cause. */
int waits_causes(const struct opt_list *l, uint32_t *mask, struct err *e);

/* 1 if the thread, with the name `comm` (strings id) at that time, passes --comm, --pid, --tid.
 */
int tl_thread_passes(const struct tlinput *ti, uint32_t thread, uint32_t comm);

/* ERR_USAGE: `word` is not one of the states `words`, which are separated by blanks. */
int waits_no_state(const char *word, const char *words, struct err *e);

/* Print "hidden: 1,234 idle waits, 12.3 s (longest ...); ..." on stderr. */
void tl_say_hidden(struct tlinput *ti, const struct set_apart *x);

/* Only the states and causes of the options, which needs no input. 0, ERR_USAGE (unknown ones).
 */
int waits_shown(struct wait_selection *out, const struct wait_opts *opt, struct err *e);

/* The waits that the options select; borrows from `ti`. `by`: enum waits_by. 0, ERR_USAGE (an
 * unknown state or cause). */
int waits_selection(struct wait_selection *out, const struct tlinput *ti,
		    const struct wait_opts *opt, unsigned by, struct err *e);

#endif
