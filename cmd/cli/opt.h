/*
 * opt.h - command line options as const tables, one for each verb and some that verbs share.
 *
 * A table row says where in the verb's options struct the value goes; parsing, `perfkit help
 * VERB`, shell completions and the man pages all read the same rows.
 *
 *	struct collapse_opts { struct input_opts in; int kernel; const char *out; };
 *	static const struct opt rows[] = {
 *		{"kernel", 0, OPT_FLAG, offsetof(struct collapse_opts, kernel), NULL, "..."},
 *		OPT_END
 *	};
 */
#ifndef CMD_CLI_OPT_H
#define CMD_CLI_OPT_H

#include "base/text/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum opt_kind {
	OPT_FLAG,   /* int = 1; --no-NAME sets 0 unless NAME itself begins with "no-" */
	OPT_UNFLAG, /* int = 0 */
	OPT_STRING, /* const char * = the argument */
	OPT_OUTPUT, /* the same, a file that is written (see sandbox.h) */
	OPT_LIST,   /* struct opt_list: one more of comma-separated words; repeatable */
	OPT_EVENTS, /* the same; commas between slashes do not separate: "cpu/event=1,umask=2/"
		     */
	OPT_EACH,   /* struct opt_list: the argument as it is; repeatable */
	OPT_U64,    /* uint64_t, decimal or 0x hex */
	OPT_INT,    /* int, decimal */
	OPT_REAL,   /* double */
	OPT_PRESET, /* const char * = the row's own name ("p999"), no argument */
	OPT_SUFFIX, /* const char * = the option as typed: the row's name and a number ("p99.5")
		     */
	OPT_GROUP,  /* no option: `help` is the heading of the rows that follow */
};

struct opt {
	const char *name; /* without dashes */
	char letter;      /* -x, or 0 */
	enum opt_kind kind;
	size_t at; /* offset of the target in the options struct */
	/* The argument's name in help, NULL for flags. "ns|us|ms" (only small letters and bars)
	 * lists all allowed words. */
	const char *arg;
	const char *help; /* the part before \n is for completions; NULL hides an alias */
};

#define OPT_HEADING(title)                       \
	{                                        \
		"", 0, OPT_GROUP, 0, NULL, title \
	}
#define OPT_END                                  \
	{                                        \
		NULL, 0, OPT_FLAG, 0, NULL, NULL \
	}

/* Arguments of OPT_LIST, OPT_EVENTS, OPT_EACH: copies, owned by the list. */
struct opt_list {
	const char **v;
	size_t n;
};

enum { OPT_TABLES = 5, OPT_MODES = 8 };

/*
 * Not every mode of a verb uses every option. An option in a mode's list is refused unless a
 * mode with it in its list is active, so that no option is silently ignored; options in no list
 * are valid in all modes. A mode is active if its flag is given; "" if no other is; NULL never,
 * for options of a shared table that have no meaning for this verb.
 */
struct opt_mode {
	const char *flag;    /* the option that asks for it */
	const char *options; /* names, blanks between; NULL: none of its own */
};

struct verb {
	const char *name;
	const char *brief;                    /* one line for `perfkit help` */
	const char *usage;                    /* "[options] [FILE]" */
	const char *text;                     /* paragraphs of help below the usage, or NULL */
	const char *examples;                 /* lines, or NULL */
	const char *exits;                    /* meaning of other exit statuses, or NULL */
	const char *words;                    /* values of the first argument; NULL: a file */
	const struct opt *tables[OPT_TABLES]; /* NULL-terminated when fewer */
	size_t options_size;
	int runs_programs; /* it records, or has children: not on every system */
	int max_files;     /* most positional arguments */
	int two_groups;    /* "--" after a file separates two groups, and is among them */
	/* Start helpers in the filled struct, before the sandbox is entered: 0, or the exit status
	 * after one line on stderr; and end them in any case. May be NULL. */
	int (*begin)(void *opts);
	void (*end)(void *opts);
	/* opts is the filled struct; files has nfiles positional arguments. Returns the exit
	 * status. */
	int (*run)(const void *opts, const char *const *files, size_t nfiles);
	struct opt_mode modes[OPT_MODES]; /* ends with a NULL `options` and `flag` */
	/* set defaults that are not zero; may be NULL */
	void (*defaults)(void *opts);
};

/*
 * Parse argv[1..] by the verb's tables into opts, which the caller has set to zeros and
 * defaults, and positional arguments into files[0..max_files). 0; 1 for --help, 3 for --help
 * --all; 2 after one line on stderr. The caller calls opt_release in any case.
 */
int opt_parse(const struct verb *v, int argc, char **argv, void *opts, const char **files,
	      size_t *nfiles);

/* Refuse options that no active mode uses. 0, or 2 after one line on stderr. */
int opt_check_modes(const struct verb *v, const void *opts);

/* 1 if help, man page and completions show the option: it is not an alias, and has a meaning
 * for this verb. */
int opt_is_shown(const struct verb *v, const struct opt *o);

/* 1 if the option has an argument. */
int opt_takes_argument(const struct opt *o);

/* All words that the argument can be, separated by bars; NULL: anything. */
const char *opt_words(const struct opt *o);

/* 1 if only --help --all and the man page show it: see options.h. */
int opt_is_rare(const struct opt *o);

/* Call `group` for each heading under which v shows an option, `row` for each of these options:
 * v's own, in the order in which the tables first name them, then those it shares with other
 * verbs, then the rare ones. `group` may be NULL. */
void opt_each(const struct verb *v, void *ctx, void (*group)(void *ctx, const char *title),
	      void (*row)(void *ctx, const struct opt *o));

/* Append "; did you mean 'WORD'?" if one of `words` (separated by blanks or bars) is near. */
void opt_suggest(struct buf *out, const char *words, const char *typed);

/* 1 if no mode list forbids the option now. */
int opt_goes(const struct verb *v, const void *opts, const char *name);

/* Set *name to the first of the options `list` (names, separated by blanks) that was given, in
 * the order of the tables; NULL: none. 0, or ERR_NOMEM. */
int opt_given(const struct verb *v, const void *opts, const char *list, const char **name);

/* Append those of the options `list` (names, separated by blanks) that were given, as a command
 * line has them: " --by activation --comm 'a b'". */
void opt_repeat(struct buf *b, const struct verb *v, const void *opts, const char *list);

/* Release the lists. */
void opt_release(const struct verb *v, void *opts);

/* Print the verb's help on stdout: with its own options, or with all. */
void opt_help(const struct verb *v, int all);

/* Print the options that the n verbs share and `topic` explains. Returns how many there are. */
int opt_topic(FILE *f, const char *topic, const struct verb *const *verbs, size_t n);

#endif
