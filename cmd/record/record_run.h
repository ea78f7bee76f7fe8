/*
 * record_run.h - running perf for `perfkit record`, and asking this machine what it has.
 */
#ifndef CMD_RECORD_RECORD_RUN_H
#define CMD_RECORD_RECORD_RUN_H

#include "cmd/record/bpf_recorder.h"
#include "libtime/record/price.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * Run a command line and wait. SIGINT, SIGTERM and SIGHUP reach it (as SIGINT, which ends a
 * recording properly) and leave this process alone until it has ended. Its exit status, 128 +
 * signal, or 127 when it cannot be started. With `quiet` its output goes nowhere.
 */
int run_words(const struct words *w, int quiet);

/* A recording of so many seconds (0: until it ends) into the file `output`, of at most `rate`
 * bytes a second (0: any). */
struct recording_run {
	int seconds;
	const char *output;
	const struct stat *before; /* of `output`, as in record_is_written */
	double rate;
	const struct bpf_recorder *kernel; /* what it has counts, too; NULL: there is none */
	int64_t cpu_ns; /* set: perf's CPU time without the command's; -1: not known */
	int stopped;    /* set: for it wrote more */
};

/* The same for perf's recording. What perf does for more than half a second after its seconds is
 * said. One that writes more than `rate` for long is told to end, which is said, too. */
int run_recording(const struct words *w, struct recording_run *run);

/* The same in two steps, quietly: the process, or -1. */
pid_t run_start(const struct words *w);
int run_finish(pid_t pid);

/* The same with its output (stdout and stderr) appended to `out`, at most 1 MiB. */
int run_words_read(const struct words *w, struct buf *out);

/*
 * Run perf, whose output is a stream, as run_words does, and ask it ten times a second to hand
 * its records over. They go to the command `to`, which gets SIGUSR2 of this process and whose
 * exit status is set; NULL: to this process's output. With a reader, all of them run at
 * `nice -n -10`, if this process may set that and was started with the default priority.
 */
int run_stream(const struct words *w, const struct words *to, int *reader_status);

/* The version of a perf, as in struct record_wish; 0: it does not say. */
int perf_version(const char *perf);

/* 1 when a signal asked to end since run_words was first called. */
int run_interrupted(void);

/*
 * The file a running process was started from, as this process can open it (through
 * /proc/PID/root when it lives in another root); with `library` the mapped file whose name
 * begins so ("libc.so"). Heap; NULL when there is none.
 */
char *file_of_process(const char *pid, const char *library);

/* The first process or thread of a list ("12,34") that there is not, or no longer: up to the
 * next comma. NULL: all are there, or the list is NULL. */
const char *missing_task(const char *list);

/* How many threads the processes of a list have; 0 if the list is NULL. */
size_t threads_of(const char *list);

/* perf ends by SIGTERM, and with it `sleep SECONDS`, where all recorded threads ended before: 1
 * where that explains its status. */
int run_outlived(int status, int duration, const char *pid, const char *tid);

/* Is the output another file than it was before (st_ino 0: there was none)? perf renames an
 * older one as soon as it opens its own. */
int record_is_written(const char *output, const struct stat *before);

/* The file a command's first word names by $PATH; heap, NULL when there is none. */
char *file_of_command(const char *word);

/*
 * Print to stderr what the recording would cost: rate, bytes, CPU time, and whether perf can
 * write so much. The events are counted for a second, with their filters; with `measure` they
 * are recorded for a second without stacks.
 */
void print_estimate(const struct record_plan *p, const struct record_wish *w, int measure);

/* The rates of a plan's events, counted for a second. ERR_NOMEM. */
int record_count(struct price *p, const struct record_plan *plan, const struct record_wish *w);

/* The bytes a second of the planned recording under the load of one second; 0: not known. */
double record_rate(const struct record_plan *p, const struct record_wish *w);

/* A recording of the chosen threads' switches for half a second. */
struct trial_run {
	pid_t perf; /* -1: none */
	struct buf path;
};

/* Begin it; and wait for it, which sets c->trial, or nothing if perf could not. */
void record_trial_begin(struct trial_run *t, const struct chosen *c,
			const struct record_wish *x);
void record_trial_end(struct trial_run *t, struct chosen *c);

#endif
