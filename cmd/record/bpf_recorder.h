/*
 * bpf_recorder.h - records the scheduler's and interrupts' tracepoints by a BPF program of our
 * own instead of perf, at a fraction of its cost, and puts them into perf's recording as if perf
 * had taken them. perf records the rest: CPU samples, mappings, names, probes.
 *
 * Of the chosen threads' waits, the longest have stacks: how long one must be to have one is
 * found all the time, so that stacks take no more than a budget.
 */
#ifndef CMD_RECORD_BPF_RECORDER_H
#define CMD_RECORD_BPF_RECORDER_H

#include "base/text/buf.h"
#include "libtime/record/plan.h"

/* Bytes a second, unless the user says how much: of chosen threads, of all. */
enum { BPF_STACKS_BUDGET = 8000000, BPF_STACKS_OF_ALL = 16000000 };

struct bpf_recorder;

/* Can this build, machine and user run it at all? Of what the kernel forbids, only
 * bpf_recorder_open knows. ERR_UNSUPPORTED, with the reason. */
int bpf_recorder_possible(struct err *e);

/*
 * Load the program for the plan's tracepoints; w->chosen has the threads whose waits may have
 * stacks, of at most `budget` bytes a second. It begins at once. ERR_UNSUPPORTED, with the
 * reason, also where the plan wants what only perf does; ERR_NOMEM.
 */
int bpf_recorder_open(struct bpf_recorder **out, const struct record_plan *p,
		      const struct record_wish *w, uint64_t budget, struct err *e);

/* How many bytes it will add to the recording, as yet. */
uint64_t bpf_recorder_bytes(const struct bpf_recorder *k);

/* Append the plan's words for perf without the tracepoints that *k records. */
void bpf_recorder_rest(const struct bpf_recorder *k, const struct words *plan,
		       struct words *out);

/* Stop recording, and put what was recorded into perf's file `recording`, whose header gets the
 * plan's words; with `within`, from perf's first record to its last. On failure perf's file
 * stays as it is. ERR_IO, ERR_UNSUPPORTED, ERR_NOMEM. */
int bpf_recorder_finish(struct bpf_recorder *k, const char *recording, int within,
			const struct words *plan, struct err *e);

/* One line of what it recorded. */
void bpf_recorder_text(const struct bpf_recorder *k, struct buf *out);

/* Append the fact of a recording's context that says which waits have stacks. */
void bpf_recorder_fact(const struct bpf_recorder *k, struct buf *context);

/* NULL is accepted. */
void bpf_recorder_close(struct bpf_recorder *k);

#endif
