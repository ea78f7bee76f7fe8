/*
 * waits.h - the options about waits: which of them an answer is about (population.h), and of
 * those which it shows (wait_sums.h).
 */
#ifndef CMD_QUERY_WAITS_H
#define CMD_QUERY_WAITS_H

#include "cmd/query/timeline_input.h"
#include "libtime/population/wait_sums.h"

/* Options about waits. First member of a verb's options struct, so that input_rows,
 * tlinput_rows and wait_rows fit it. */
struct wait_opts {
	struct tlinput_opts tl;
	int idle, system; /* show what is hidden otherwise */
	int no_unclear;
	struct opt_list states, causes;
};

extern const struct opt wait_rows[];

/* Names of options that only questions about waiting read, for a verb's modes: which waits are
 * hidden, and which are shown. */
#define WAITS_HIDE "idle system no-unclear causes idle-frame work-frame"
#define WAITS_SHOW WAITS_HIDE " state cause"

/* The population that the filters of `ti` and the options (NULL: none) define; lists are
 * borrowed from both. Unclear waits are among the others, or left out with --no-unclear. */
struct population waits_population(const struct tlinput *ti, const struct wait_opts *opt);

/* The causes that --cause names, as bits of enum cause; 0 for all. "!sleep" leaves one out. 0,
 * or ERR_USAGE for a word that is no cause. */
int waits_causes(const struct opt_list *l, uint32_t *mask, struct err *e);

/* 1 when the thread passes --comm, --pid, --tid (a comm at any time of its life counts by
 * `comm`, the strings id at that moment). */
int tl_thread_passes(const struct tlinput *ti, uint32_t thread, uint32_t comm);

/* ERR_USAGE: `word` is no state; those there are stand in `words`, blanks between. */
int waits_no_state(const char *word, const char *words, struct err *e);

/* "hidden: 1,234 idle waits, 12.3 s (longest ...); ..." on stderr, of what was set apart. */
void tl_say_hidden(struct tlinput *ti, const struct set_apart *x);

/* The waits that the options are about; borrows from `ti`. `by`: enum waits_by. 0, ERR_USAGE
 * (an unknown state or cause). */
int waits_selection(struct wait_selection *out, const struct tlinput *ti,
		    const struct wait_opts *opt, unsigned by, struct err *e);

#endif
