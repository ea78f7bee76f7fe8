/*
 * timeline_input.h - what every verb about waiting shares: a timeline from a recording or a
 * store, told apart by content, with causes and idle waits decided.
 */
#ifndef CMD_QUERY_TIMELINE_INPUT_H
#define CMD_QUERY_TIMELINE_INPUT_H

#include "cmd/input/input.h"
#include "libtime/causes/causes.h"
#include "libtime/doctor/store_findings.h"
#include "libtime/store/file_facts.h"
#include "libtime/spans/label_lanes.h"

/* First member of a verb's options struct, so that input_rows and tlinput_rows fit it. */
struct tlinput_opts {
	struct input_opts in;
	const char *causes, *recording;
	const char *label;  /* K=V: only what lies in spans with that label */
	const char *cgroup; /* GLOB: only threads of processes in such cgroups */
	const char *split;  /* "label:K": what lies in spans with its values, apart */
	int keep_trampolines;
	int addrs; /* see build_options.addrs */
	struct opt_list idle_frames, work_frames, spans, sides;
};

extern const struct opt tlinput_rows[];

/* --cgroup, for verbs that have no other option of that name; their options begin with struct
 * tlinput_opts. */
#define CGROUP_ROWS                                                                        \
	OPT_HEADING("Filters"),                                                            \
	{                                                                                  \
		"cgroup", 0, OPT_STRING, offsetof(struct tlinput_opts, cgroup), "GLOB",    \
			"only processes in matching cgroups, containers or pods, if the\n" \
			"recording's context has them (docs/context.md)"                   \
	}

struct tlinput {
	const struct tlinput_opts *opt;
	struct input in;            /* profile is NULL when a store was read */
	struct stacks stacks;       /* of a store; a recording's are the profile's */
	const struct stacks *names; /* the one of the two that the timeline's ids mean */
	struct timeline tl;
	struct survey survey;             /* of a recording */
	struct name_weights *names_of[2]; /* of findings: of the timeline, of its samples */
	struct causes *causes;
	uint8_t *events; /* of --event: a flag per event of the timeline; NULL: all */
	struct label_lanes label, split; /* of --label and --split label:K */
	uint32_t label_value;            /* strings id */
	int splits;
	const char *path;
	int64_t recording; /* its id, where one of a store was opened; else 0 */
};

enum {
	TLINPUT_SAMPLES = -1,  /* only where CPU time went */
	TLINPUT_CONTENTS = -2, /* what is in it, samples of tracepoints too; nothing is said */
	TLINPUT_COPY = -3,     /* the same, of a recording all is said that it cannot tell,
			   and rec.hash is set */
	TLINPUT_SUMS = -4,     /* of a store: samples added up by event, thread and stack */
};

/*
 * Open `path` and build or load its timeline: of a store, all recordings that --recording
 * chooses, side by side (timeline_join.h). `need_time`: see timeline_answerable; or one
 * of the below, which ask nothing of the waits. 0, or the exit status after one line on stderr:
 * 3 where the recording cannot answer, unless --force.
 */
int tlinput_open(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		 const char *path, int need_time);

/* The same for one of the recordings chosen, the nth from 0 on; *of is how many there are, also
 * after a failure. A perf.data file is one recording. */
int tlinput_open_nth(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     const char *path, int need_time, size_t nth, size_t *of);

/* On stderr: what missing kernel symbols spoil of an answer about waits (words_nameless).
 * tlinput_open has said it, but for `tail` and `report`, which say it in their answers. */
void tlinput_say_spoilt(const struct tlinput *ti);

/* The same over an opened recording, which is taken over whatever happens. */
int tlinput_of_input(struct tlinput *ti, const char *verb, const struct tlinput_opts *opt,
		     struct input *in, int need_time);

/* 0, or 2 after saying that `path`, which is no store, has no --recording to choose. */
int tlinput_no_choice(const struct tlinput_opts *opt, const char *verb, const char *path);

/* For verbs whose answer is on one axis of time: 0, or 2 after a list of the recordings when
 * there are several. */
int tlinput_only_one(const struct tlinput *ti, const char *verb);

/* The id of the one recording of a store that --recording chooses; else a list of them. 0, or
 * the exit status. */
int tlinput_one_recording(const struct tlinput_opts *opt, const char *verb, const char *path,
			  struct store *s, int64_t *id);

/* What it is as a file, from the recording or its store (then perhaps nothing: stacks NULL).
 * To be released, after a failure too. ERR_NOMEM, ERR_IO, ERR_FORMAT. */
int tlinput_file_facts(struct tlinput *ti, struct file_facts *out, struct err *e);

/* What can be found when asked so: judged of a recording, read of a store, where an older
 * perfkit left nothing to read. *out is the caller's to release, also after ERR_NOMEM, ERR_IO,
 * ERR_FORMAT. */
int tlinput_findings(struct tlinput *ti, unsigned asked, struct findings *out, struct err *e);

/* The same however doctor can be asked, as rows: those that touch any of `topics`. The caller
 * releases *out, after a failure, too. */
int tlinput_finding_rows(struct tlinput *ti, unsigned topics, struct finding_rows *out,
			 struct err *e);

/*
 * Judge the recordings opened for an answer about these topics, as input_check_findings does;
 * of a store by what import found. `asked`: as in findings_input, with ASKED_OF_SAMPLES or
 * without. For inputs that were opened without a word. 0, or the exit status.
 */
int tlinput_check_findings(struct tlinput *ti, unsigned asked, unsigned topics, int may_refuse);

/* Name all trampolines as one (libsym/trampolines.h), but with --keep-trampolines. 0, or the
 * exit status. tlinput_open has done it, but for copies. */
int tlinput_fold_trampolines(struct tlinput *ti, struct stacks *s);

/* 1 when --label or --split label:KEY was given. */
int tlinput_asks_labels(const struct tlinput_opts *opt);

/* 1 when only what some threads did is asked for: --label, --comm, --pid, --tid, --cgroup. */
int tlinput_asks_threads(const struct tlinput_opts *opt);
#define TLINPUT_GAPS_OF_CPUS                                                                   \
	"gaps are of CPUs, not of threads: --comm, --pid, --tid, --cgroup and --label do not " \
	"apply"

/* 1 when the recordings tell when threads left and got a CPU. */
int tlinput_has_scheduler(const struct tlinput *ti);

/* Give all back; valid after a failed open, too. */
void tlinput_close(struct tlinput *ti);

/* 1 when the file at `path` is an SQLite database. Never opens a fifo for reading. */
int tlinput_is_store(const char *path);

#endif
