/*
 * timeline_input.h - the input of every command about waiting: a timeline from a recording or a
 * store, recognized by content, with causes and verdicts.
 */
#ifndef CMD_QUERY_TIMELINE_INPUT_H
#define CMD_QUERY_TIMELINE_INPUT_H

#include "cmd/input/input.h"
#include "base/text/buf.h"
#include "libtime/causes/causes.h"
#include "libtime/doctor/store_findings.h"
#include "libtime/store/file_facts.h"
#include "libtime/build/build.h"
#include "libtime/spans/label_sets.h"
#include "libtime/store/store_read.h"

/* First member of a verb's options struct, for input_rows and tlinput_rows. */
struct tlinput_opts {
	struct input_opts in;
	const char *causes, *recording;
	const char *label;         /* K=V: only what has that label */
	const char *site;          /* only waits there: a name or an id */
	const char *cgroup;        /* GLOB: only threads of processes in such cgroups */
	const char *split;         /* "label:K": separately for each value */
	struct opt_list by_labels; /* keys: the same for several */
	int keep_trampolines;
	int meant; /* without a filter of threads, only processes that were recorded for */
	int addrs, no_bystanders; /* see struct build_options */
	struct opt_list idle_frames, work_frames, spans, sides;
};

extern const struct opt tlinput_rows[];

/* --all, for verbs whose answers are by default about what was recorded for; their defaults()
 * sets `meant`, and their options begin with struct tlinput_opts. */
#define MEANT_ROWS                                                                \
	OPT_HEADING("Filters"),                                                   \
	{                                                                         \
		"all", 0, OPT_UNFLAG, offsetof(struct tlinput_opts, meant), NULL, \
			"the whole machine, not only what was recorded for\n"     \
			"(the command, or -p, -t, --cgroup)"                      \
	}

/* --cgroup, for verbs that have no other option of that name; their options begin with struct
 * tlinput_opts. */
#define CGROUP_ROWS                                                                     \
	OPT_HEADING("Filters"),                                                         \
	{                                                                               \
		"cgroup", 0, OPT_STRING, offsetof(struct tlinput_opts, cgroup), "GLOB", \
			"only processes in these cgroups, containers or pods\n"         \
			"(docs/context.md)"                                             \
	}

struct tlinput {
	const struct tlinput_opts *opt;
	struct input in;            /* profile is NULL for a store */
	struct stacks stacks;       /* of a store; a recording's are the profile's */
	const struct stacks *names; /* the one of the two for the timeline's ids */
	struct timeline tl;
	struct survey survey;             /* of a recording */
	struct name_weights *names_of[2]; /* cached by findings: of the timeline, of samples */
	struct mapless *maps;             /* cached by findings */
	struct kept_source *kept;         /* cached by source_input.h: a store's */
	struct causes *causes;
	uint8_t *events;          /* --event: a flag per event of the timeline; NULL: all */
	struct label_lanes label; /* of --label */
	uint32_t label_value;     /* strings id */
	uint8_t *sites;           /* --site: a flag per site of the timeline; NULL: all */
	struct label_sets *split; /* of --split label:K and --by-label; NULL: neither */
	const char *path;
	int64_t recording;     /* id of the only recording opened in a store; else 0 */
	int meant;             /* some processes are meant (meant.h), and no filter says else */
	struct buf meant_name; /* their programs */
};

/* Of which waits an answer is made. */
enum needed_waits {
	WAITS_UNUSED,
	WAITS_SUMMED, /* by stack: totals that have no place in time suffice */
	WAITS_PLACED, /* at their place in time */
	WAITS_IF_ANY, /* the same; a recording without scheduler events has samples only */
};

/* What is done about a recording's findings. */
enum needed_findings {
	FINDINGS_UNSAID, /* nothing: the answer contains them */
	FINDINGS_SAID,   /* those of reading it: all contents are read, which cannot mislead */
	FINDINGS_ASKED,  /* those that touch the answer are said, and may refuse it */
};

/* What an answer needs of its input. */
struct tlinput_needs {
	enum needed_waits waits;
	enum store_contents store;      /* of a store */
	enum event_samples tracepoints; /* of a recording: samples of tracepoints */
	enum needed_findings findings;
	uint8_t says_unnamed; /* the answer tells the effect of missing kernel symbols */
	uint8_t is_copy;      /* sets rec.hash; trampolines keep their names */
	uint8_t is_of_stacks; /* those of waits: a warning if only chosen threads have some */
};

extern const struct tlinput_needs tlinput_sums; /* sums of waits by stack */
extern const struct tlinput_needs tlinput_times;
extern const struct tlinput_needs tlinput_tail;      /* the same, with says_unnamed */
extern const struct tlinput_needs tlinput_any_times; /* WAITS_IF_ANY */
extern const struct tlinput_needs tlinput_samples;   /* only samples of CPU time */
extern const struct tlinput_needs tlinput_contents;  /* everything */
extern const struct tlinput_needs tlinput_copy;      /* the same, as it is */
extern const struct tlinput_needs tlinput_report;    /* see STORE_REPORT */
extern const struct tlinput_needs tlinput_added_up;  /* of a store: STORE_SUMS */
extern const struct tlinput_needs tlinput_folded;    /* of a store: STORE_FOLDED */

/*
 * Open `path` and build or load its timeline; of a store, all recordings that --recording
 * selects, side by side (timeline_join.h). 0, or the exit status after one line on stderr: 3 if
 * the recording cannot answer, unless --force.
 */
int tlinput_open(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		 const char *path, const struct tlinput_needs *needs);

/* The same for the nth (from 0) of the selected recordings; *of is set to their number, after a
 * failure too. A perf.data file is one recording. */
int tlinput_open_nth(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     const char *path, const struct tlinput_needs *needs, size_t nth,
		     size_t *of);

/* Warn on stderr about the effect of missing kernel symbols on answers about waits
 * (describe_unnamed_waits). tlinput_open does so for answers about waits that do not say it. */
void tlinput_warn_unnamed(const struct tlinput *ti);

/* As tlinput_open for an opened recording, which is taken over, after a failure too. */
int tlinput_of_input(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     struct input *in, const struct tlinput_needs *needs);

/* 0, or 2 after a message if --recording was given for `path`, which is not a store. */
int tlinput_no_choice(const struct tlinput_opts *opt, const char *verb, const char *path);

/* For answers on one axis of time: 0, or 2 after a list of the recordings if there are several.
 */
int tlinput_only_one(const struct tlinput *ti, const char *verb);

/* The id of the only recording of a store that --recording selects; else prints a list. 0, or
 * the exit status. */
int tlinput_one_recording(const struct tlinput_opts *opt, const char *verb, const char *path,
			  struct store *s, int64_t *id);

/* Facts about the recording as a file, from it or its store (which may have none: stacks NULL).
 * The caller releases *out, after a failure too. ERR_NOMEM, ERR_IO, ERR_FORMAT. */
int tlinput_file_facts(struct tlinput *ti, struct file_facts *out, struct err *e);

/* The findings for the topics `asked`: of a recording gathered, of a store read (none, if an
 * older perfkit wrote it). The caller releases *out, after ERR_NOMEM, ERR_IO, ERR_FORMAT too.
 */
int tlinput_findings(struct tlinput *ti, unsigned asked, struct findings *out, struct err *e);

/* The same for all questions of doctor, as rows: those that touch any of `topics`. The caller
 * releases *out, after a failure, too. */
int tlinput_finding_rows(struct tlinput *ti, unsigned topics, struct finding_rows *out,
			 struct err *e);

/* Refuse a recording that has neither samples nor waits, unless --force: 3 after one line, or
 * another exit status; else 0. */
int tlinput_refuse_empty(struct tlinput *ti);

/*
 * Check the findings of opened recordings for an answer about these topics, as
 * input_check_findings does; those of a store were found by import. `asked`: as in
 * findings_input, with ASKED_OF_SAMPLES or without. For inputs that were opened without
 * warnings. 0, or the exit status.
 */
int tlinput_check_findings(struct tlinput *ti, unsigned asked, unsigned topics, int may_refuse);

/* Name all trampolines as one (libsym/trampolines.h), but with --keep-trampolines. 0, or the
 * exit status. tlinput_open does so, except for copies. */
int tlinput_fold_trampolines(struct tlinput *ti, struct stacks *s);

/* 1 when --label, --by-label or --split label:KEY was given. */
int tlinput_asks_labels(const struct tlinput_opts *opt);

/* ERR_REFUSED when nothing has the label of --label. */
int tlinput_check_label(const struct tlinput *ti, struct err *e);

/* 1 when only some threads are chosen: --label, --comm, --pid, --tid, --cgroup. */
int tlinput_asks_threads(const struct tlinput_opts *opt);

/* 1 when options say whose threads are meant: those without --label, which holds for parts of
 * a thread's time. */
int tlinput_names_threads(const struct tlinput_opts *opt);
#define TLINPUT_GAPS_OF_CPUS                                                                   \
	"gaps are of CPUs, not of threads: --comm, --pid, --tid, --cgroup and --label do not " \
	"apply"

/* 1 when the recordings have switch-outs and switch-ins. */
int tlinput_has_scheduler(const struct tlinput *ti);

/* Release everything; valid after a failed open, too. */
void tlinput_close(struct tlinput *ti);

/* 1 when the file at `path` is an SQLite database. Never opens a fifo for reading. */
int tlinput_is_store(const char *path);

#endif
