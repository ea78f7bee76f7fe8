/*
 * build_internal.h - what the parts of the builder (build.h) share.
 *
 *	build_events.c   the recording's events: what the samples of each are to us, where
 *			their fields lie
 *	build_twins.c    tracepoints that several events recorded
 *	build.c         reading; every record but samples
 *	build_samples.c  samples: scheduler tracepoints, on-CPU samples, marks, totals
 *	build_args.c    what a system call's first argument is
 *	build_counters.c what counters stood at when a probe was hit
 *	build_stacks.c   whose a sample is, and its stack
 *	build_end.c      the end: names, wakers' contexts, kernel threads, the recording's row
 */
#ifndef LIBTIME_BUILD_BUILD_INTERNAL_H
#define LIBTIME_BUILD_BUILD_INTERNAL_H

#include "libparse/counters.h"
#include "libparse/tracepoint.h"
#include "libtime/build/build.h"
#include "libtime/sched/prev_state.h"
#include "libtime/build/raw_chains.h"
#include "libtime/sched/sched.h"
#include "libtime/spans/span_def.h"
#include "libsym/expand.h"

enum {
	VIEWS = 1024, /* thread views kept */
	STATES = 64,  /* prev_state values decoded already */
};

/* What the samples of an event are to us. */
enum role {
	ROLE_SAMPLE,
	ROLE_SCHED, /* a scheduler tracepoint: `kind` says which */
	ROLE_MARK,
	ROLE_TOTAL,     /* offcpu-time */
	ROLE_ENTER,     /* a system call begins … */
	ROLE_LEAVE,     /* … and ends */
	ROLE_IRQ_ENTRY, /* an interrupt begins: `kind` is an enum irq_kind … */
	ROLE_IRQ_EXIT,  /* … and ends */
	ROLE_NONE,      /* other tracepoints of the kernel: they only tell who is current */
};

enum irq_kind { IRQ_HARD, IRQ_SOFT, IRQ_VECTOR };

/* The interrupts a CPU is in, the innermost last. */
struct irq_lane {
	uint32_t n;
	struct irq_open {
		uint64_t key, start_ns;
		uint32_t vector, thread;
	} v[16];
};

struct source_event {
	uint8_t role, kind;               /* enum sched_kind */
	uint8_t chain;                    /* its samples carry callchains */
	uint8_t twin;                     /* nth event of this kind, from 1; 0: the only one */
	uint32_t name;                    /* strings id */
	const char *call;                 /* ROLE_ENTER: the system call; "" by number in a;
					   * IRQ_VECTOR: the tracepoint */
	uint32_t role_at, nroles;         /* in builder.roles */
	struct tp_field a, b, c, d, e, f; /* meaning by kind: see fields_of */
};

struct state_memo {
	uint64_t value;
	uint8_t state, class, set;
};

struct view_memo {
	int32_t pid, tid;
	uint32_t known; /* builder.known when it was asked for; 0 = empty */
	struct thread_view view;
};

struct throttle {
	uint64_t since;
	uint8_t on;
};

/* The last hit of a scheduler tracepoint on a CPU, where several events record it. */
struct twin {
	uint64_t hash, ns; /* of its raw bytes; its first sample's time */
	uint64_t seen;     /* the events that have reported it, as bits */
};

struct builder {
	struct profile *p;
	struct recording *rec;
	const struct build_options *opt;
	struct timeline *tl;
	struct sched *sched;
	struct tracepoints *formats;
	struct expander *expander; /* NULL: the recorded callchains are all there is */
	struct deferred_chains deferred;
	struct prevstate prevstate;
	struct spans *spans;
	struct span_roles roles;
	VEC(struct source_event) events;
	struct raw_chains chains;
	uint32_t chain; /* of the sample at hand, once known */
	int chain_known;
	struct state_memo states[STATES];
	struct view_memo views[VIEWS];
	VEC(struct throttle) throttles; /* by CPU */
	VEC(struct twin) twins;         /* by CPU and kind */
	VEC(struct irq_lane) irqs;      /* by CPU */
	struct u64map kernel_pids, execed;
	struct u64map in_syscall;     /* tid → index of timeline.syscalls; 0: none */
	struct u64map syscall_index;  /* number << 8 | futex operation + 1 → the same index */
	struct u64map instances;      /* ids of events → what they count: build_counters.c */
	struct u64map pseudo_threads; /* pid << 32 | tid → thread without a life */
	struct counters counters;
	uint64_t first_ns, last_ns, records;
	int timed;           /* samples carry times */
	int sideband_done;   /* the machine knows everything already */
	int ahead;           /* records are read on a thread of their own */
	uint32_t known;      /* counts what the machine has learnt */
	int to_learn;        /* it was given records since */
	uint64_t learn_at;   /* the earliest time of those it has left; UINT64_MAX: none */
	size_t many;         /* records waiting there that are enough to learn them at once */
	VEC(uint8_t) opened; /* by DSO: its files have been looked for */
	struct bad_records bad; /* reported when all are read */
	int system_wide, per_task;
	int keeps_event_samples; /* those of tracepoints become rows, else numbers */
};

/* build_events.c: before the first record with a time, when formats and the kind of recording
 * are known: roles of all events, tl->flags, the state machine. ERR_NOMEM, ERR_USAGE. */
int builder_begin(struct builder *b, struct err *e);

/* build_twins.c: which events record the same tracepoint; once, in builder_begin. */
void builder_find_twins(struct builder *b);

/* 1 when another event's sample has reported this hit of a tracepoint, at *first_ns; 0 when it
 * is the first; ERR_NOMEM. */
int builder_twin(struct builder *b, const struct source_event *se, const struct sample *s,
		 const struct record_id *id, uint64_t *first_ns);

/* build_samples.c: one sample. id->cpu is set from it. ERR_NOMEM. */
int builder_handle_sample(struct builder *b, const struct record *r, struct record_id *id,
			  struct err *e);

/* build_stacks.c: the machine as of `ns`, for the questions that follow. ERR_NOMEM. */
int builder_apply_pending(struct builder *b, uint64_t ns);

/* What a sample belongs to, as of the last builder_apply_pending. Valid until the next one. */
const struct thread_view *builder_view(struct builder *b, int32_t pid, int32_t tid,
				       uint64_t ns);

/* The number of a sample's raw stack; 0 when it has none, as a sched_switch recorded without
 * -g. ERR_NOMEM. */
int builder_chain(struct builder *b, const struct sample *s, uint32_t *id);

/* The same, the sampled address alone where no stack was recorded. */
int builder_stack(struct builder *b, const struct sample *s, uint32_t *id);

/* An event of `kind` with the record's own fields; the rest not known. */
void builder_event(const struct record_id *id, uint8_t kind, struct sched_event *ev);

/* The system call a thread is in, as far as they are recorded: index of timeline.syscalls. */
uint16_t builder_syscall_of(const struct builder *b, int32_t tid);

/* A record that only tells who is current on its CPU. ERR_NOMEM. */
int builder_note_current(struct builder *b, const struct record_id *id, struct err *e);

/* build_args.c: the first argument of the system call that a thread leaves its CPU in, from its
 * user registers: index of timeline.args, 0 where they do not tell. ERR_NOMEM. */
int builder_argument(struct builder *b, const struct sample *s, uint16_t *index);

/* What these arguments are, by the named stacks and the context. ERR_NOMEM. */
int builder_find_arguments(struct builder *b, struct err *e);

/* build_counters.c: an ID_INDEX record: what the instances of events count. ERR_NOMEM. */
int builder_read_id_index(struct builder *b, const struct record *r);

/* The counters that a probe's sample reads, of its own thread: 1, or 0 where it reads none, or
 * those of a whole CPU. */
int builder_reading(const struct builder *b, const struct sample *s, uint32_t thread,
		    struct span_reading *out);

/* build_irq.c: is it an entry or exit of an interrupt? Its role and fields then. */
int builder_is_irq(const struct tracepoint *tp, struct source_event *se);

/* One of them: tl->interrupts. ERR_NOMEM. */
int builder_handle_irq(struct builder *b, const struct source_event *se, const struct sample *s,
		       const struct record_id *id, struct err *e);

/* build_end.c: after the last record. */
int builder_finish(struct builder *b, struct err *e);

#endif
