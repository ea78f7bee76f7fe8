/*
 * opt.h - command line options as const tables: one table a verb, shared ones beside it.
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
	/* What the argument is called in help, NULL for flags. "ns|us|ms" (small letters and
	 * bars only) is the list of all the words it can be: others are refused. */
	const char *arg;
	const char *help; /* up to a \n in few words, for completions; NULL hides an alias */
};

#define OPT_HEADING(title)                       \
	{                                        \
		"", 0, OPT_GROUP, 0, NULL, title \
	}
#define OPT_END                                  \
	{                                        \
		NULL, 0, OPT_FLAG, 0, NULL, NULL \
	}

/* What was given to OPT_LIST, OPT_EVENTS, OPT_EACH: copies, owned by the list. */
struct opt_list {
	const char **v;
	size_t n;
};

enum { OPT_TABLES = 5, OPT_MODES = 8 };

/*
 * Not every way a verb can be asked reads every option. An option that is named in a mode's
 * list is refused where no mode that names it is asked for, so that none is silently ignored.
 * What is in no list goes with all. Of modes without a flag, "" is asked for where no other is,
 * NULL never: its options are of a shared table and have no meaning here.
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
	const char *exits;                    /* what other exit statuses mean, or NULL */
	const char *words;                    /* what the first argument can be; NULL: a file */
	const struct opt *tables[OPT_TABLES]; /* NULL-terminated when fewer */
	size_t options_size;
	int max_files; /* how many positional arguments are taken */
	/* opts points to the filled struct; files holds nfiles positional arguments. Returns
	 * the exit status. */
	int (*run)(const void *opts, const char *const *files, size_t nfiles);
	struct opt_mode modes[OPT_MODES]; /* ends with a NULL `options` and `flag` */
	/* set defaults that are not zero; may be NULL */
	void (*defaults)(void *opts);
};

/*
 * Parse argv[1..] by the verb's tables into opts (zeroed and defaulted by the caller);
 * positional arguments go to files[0..max_files). 0, or 2 after printing one line on stderr. 1
 * when --help was asked for. Lists are given back by opt_release, whatever was returned.
 */
int opt_parse(const struct verb *v, int argc, char **argv, void *opts, const char **files,
	      size_t *nfiles);

/* Refuse options that no mode asked for reads. 0, or 2 after printing one line on stderr. */
int opt_check_modes(const struct verb *v, const void *opts);

/* 1 when help, man page and completions tell of the option: it is no alias, and has a meaning
 * with this verb. */
int opt_is_shown(const struct verb *v, const struct opt *o);

/* 1 when a value follows the option. */
int opt_takes_argument(const struct opt *o);

/* The words that the argument can be, bars between, or NULL when it can be anything. */
const char *opt_words(const struct opt *o);

/* Call `group` for each heading under which v shows an option, `row` for each of these options,
 * in the order in which the tables first name them. Either may be NULL. */
void opt_each(const struct verb *v, void *ctx, void (*group)(void *ctx, const char *title),
	      void (*row)(void *ctx, const struct opt *o));

/* Append "; did you mean 'WORD'?" where one of `words` (blanks or bars between) is near. */
void opt_suggest(struct buf *out, const char *words, const char *typed);

/* Which of the options `list` (names, blanks between) was given first by the order of the
 * tables, in *name; NULL for none. 0, or ERR_NOMEM. */
int opt_given(const struct verb *v, const void *opts, const char *list, const char **name);

/* Give back what list options hold. */
void opt_release(const struct verb *v, void *opts);

/* Print the verb's help on stdout. */
void opt_help(const struct verb *v);

#endif
