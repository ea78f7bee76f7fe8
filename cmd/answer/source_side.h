/*
 * source_side.h - one recording or store of `perfkit source`: its weights by line, the texts of
 * its files, its instructions.
 */
#ifndef CMD_ANSWER_SOURCE_SIDE_H
#define CMD_ANSWER_SOURCE_SIDE_H

#include "cmd/query/stack_source.h"
#include "render/text/source_table.h"

/* Options of `perfkit source`. */
struct source_opts {
	struct tail_opts t; /* first, for the rows of tail, waits and input */
	int offcpu, tail, instructions, inlines;
	struct opt_list dirs, maps, before_dirs;
	const char *against, *git, *before_git;
	struct git_texts *texts, *before_texts; /* of these, once they have begun */
};

struct source_side {
	const struct source_opts *o;
	struct tail_opts opt; /* of the input */
	struct stack_source src;
	struct function_sums stacks; /* weights by stack */
	struct source_sums sums;
	struct source_sums by_file;      /* of a file that was asked for … */
	uint8_t *files;                  /* … flags per strings id */
	const struct source_sums *shown; /* the one of the two whose lines are shown */
	int is_before;
	int is_choosing;                    /* texts are only looked for: none is fetched */
	uint8_t *texts;                     /* flags per strings id: files that have a text */
	struct branches branches;           /* with --asm */
	uint32_t counters[SOURCE_COUNTERS]; /* events that are in the shown one's group */
	size_t ncounters;
	int open;
};

/* Open `path`, which may be BEFORE of --against, and sum up its lines. `choose`: a function will
 * be chosen by whether it has a text. 0, or the exit status after one line on stderr. The caller
 * closes the side in any case. */
int source_side_open(struct source_side *s, const struct source_opts *o, const char *path,
		     int is_before, int choose);
void source_side_close(struct source_side *s);

/* The counters of the sums, with their names; none: n is 0. */
void source_side_counters(const struct source_side *s, struct source_counters *out);

/* Show the lines of files of this name, as one function. 1, or 0 if none has lines; ERR_NOMEM. */
int source_side_by_file(struct source_side *s, const char *name);

/* 0, or 2 after a line on stderr: a --source-map that is not FROM=TO. */
int source_check_maps(const char *verb, const struct opt_list *maps);

/* Load the text of a file of the rows. ERR_NOMEM, of a store ERR_IO, ERR_FORMAT. */
int source_side_text(const struct source_side *s, const struct source_rows *rows,
		     const struct source_part *part, struct source_text *out, struct err *e);

/*
 * The instructions of the copy of a function that has the most weight. 1 and *out, which the
 * caller releases with source_code_release; or 0 and why not, in *why, which of the
 * kernel's says what they are; errors as above.
 */
int source_side_code(const struct source_side *s, uint32_t function, struct code_rows *out,
		     struct buf *why, struct err *e);
void source_code_release(struct code_rows *c);

#endif
