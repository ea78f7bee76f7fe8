/*
 * build_internal.h - what the parts of the builder (build.h) share.
 *
 *	build_events.c   the role of each event, and the offsets of its fields
 *	build_twins.c    tracepoints that were recorded by several events
 *	build.c          the loop; records other than samples
 *	build_samples.c  samples: scheduler tracepoints, on-CPU samples, marks, totals
 *	build_irq.c      interrupts
 *	build_args.c     first arguments of system calls
 *	build_counters.c values of counters when a probe was hit
 *	build_stacks.c   a sample's thread and stack
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
	VIEWS = 1024, /* cached thread views */
	STATES = 64,  /* cached prev_state values */
};

/* What the samples of an event mean. */
enum role {
	ROLE_SAMPLE,
	ROLE_SCHED, /* a scheduler tracepoint, of enum sched_kind `kind` */
	ROLE_MARK,
	ROLE_TIMER,     /* a kernel timer expires: a mark with its function, a, as the stack */
	ROLE_TOTAL,     /* offcpu-time */
	ROLE_ENTER,     /* a system call begins … */
	ROLE_LEAVE,     /* … and ends */
	ROLE_IRQ_ENTRY, /* an interrupt begins: `kind` is an enum irq_kind … */
	ROLE_IRQ_EXIT,  /* … and ends */
	ROLE_NONE,      /* another tracepoint of the kernel: shows only the current thread */
};

enum irq_kind { IRQ_HARD, IRQ_SOFT, IRQ_VECTOR };

/* The nested interrupts on a CPU, the innermost last. */
struct irq_lane {
	uint32_t n;
	struct irq_open {
		uint64_t key, start_ns;
		uint32_t vector, thread;
	} v[16];
};

struct source_event {
	uint8_t role, kind;       /* enum sched_kind */
	uint8_t chain;            /* its samples have callchains */
	uint8_t twin;             /* nth event of this tracepoint, from 1; 0: the only one */
	uint8_t copies;           /* of the first of these events: how many there are */
	uint32_t original;        /* index of that first event */
	uint32_t name;            /* strings id */
	const char *call;         /* ROLE_ENTER: the system call; "" by number in a;
				   * IRQ_VECTOR: the tracepoint */
	uint32_t role_at, nroles; /* in builder.roles */
	struct tp_field a, b, c, d, e, f; /* meaning by kind: see fields_of */
};

struct state_memo {
	uint64_t value;
	uint8_t state, class, set;
};

struct view_memo {
	int32_t pid, tid;
	uint32_t epoch; /* builder.epoch when it was made; 0: empty */
	struct thread_view view;
};

struct throttle {
	uint64_t since;
	uint8_t on;
};

/* The last hit of a tracepoint on a CPU, where several events record it. */
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
	struct expander *expander; /* NULL: callchains only, nothing to unwind */
	struct deferred_chains deferred;
	struct prevstate prevstate;
	struct spans *spans;
	struct span_roles roles;
	VEC(struct source_event) events;
	struct raw_chains chains;
	uint32_t chain; /* of the current sample, if chain_known */
	int chain_known;
	struct state_memo states[STATES];
	struct view_memo views[VIEWS];
	VEC(struct throttle) throttles; /* by CPU */
	VEC(struct twin) twins;
	struct u64map twin_of; /* CPU << 32 | first event of a tracepoint → index of twins */
	uint64_t hit_ns; /* when another event reported the current sample's hit; 0: none did */
	VEC(struct irq_lane) irqs; /* by CPU */
	struct u64map kernel_pids, execed;
	struct u64map in_syscall;    /* tid → index of timeline.syscalls; 0: none */
	struct u64map syscall_index; /* number << 8 | futex operation + 1 → the same index */
	struct u64map instances;     /* ids of events → what they count: build_counters.c */
	struct u64map places; /* ids of events → their index among the event's: there */
	struct u64map pseudo_threads; /* pid << 32 | tid → thread without a life */
	struct counters counters;
	uint64_t first_ns, last_ns, records;
	uint64_t weight;     /* of all samples, by count_add */
	int timed;           /* samples carry times */
	int sideband_done;   /* the machine has all side-band records already */
	int ahead;           /* a plain file's header is known; if mapped, it is read ahead */
	int knows_kernel;    /* its build-id was given to the machine */
	uint32_t epoch;      /* how often the machine has been advanced */
	int pending;         /* it has got records since */
	uint64_t pending_ns; /* the earliest time of those it has not applied; UINT64_MAX: none
			      */
	size_t pending_max;  /* number of them at which they are applied */
	VEC(uint8_t) opened; /* by DSO: its files have been searched */
	struct bad_records bad; /* reported when all are read */
	int system_wide, per_task;
	int keeps_event_samples; /* tracepoints' samples become rows, not only counts */
};

/* build_events.c: before the first record with a time, when formats and the kind of recording
 * are known: roles of all events, tl->flags, the state machine. ERR_NOMEM, ERR_USAGE. */
int builder_begin(struct builder *b, struct err *e);

/* build_twins.c: find events that record the same tracepoint; once, in builder_begin.
 * ERR_NOMEM. */
int builder_find_twins(struct builder *b);

/* What the first event of a tracepoint is for spans, all of them are, as any may report a hit
 * first. */
void builder_share_roles(struct builder *b);

/* Set b->hit_ns, if another event has reported the hit. Only for events that have a twin.
 * ERR_NOMEM. */
int builder_twin(struct builder *b, const struct source_event *se, const struct sample *s,
		 const struct record_id *id);

/* build_samples.c: one sample, with the id that order_next gives. ERR_NOMEM. */
int builder_handle_sample(struct builder *b, const struct record *r, struct record_id *id,
			  struct err *e);

/* build_stacks.c: advance the machine to `ns`, before it is queried. ERR_NOMEM. */
int builder_apply_pending(struct builder *b, uint64_t ns);

/* A sample's thread, as of the last builder_apply_pending. Valid until the next one. */
const struct thread_view *builder_view(struct builder *b, int32_t pid, int32_t tid,
				       uint64_t ns);

/* The number of a sample's raw stack; 0 without one. ERR_NOMEM. */
int builder_chain(struct builder *b, const struct sample *s, uint32_t *id);

/* The same, but the sampled address is the stack if none was recorded. */
int builder_stack(struct builder *b, const struct sample *s, uint32_t *id);

/* The number of a stack of one function of the kernel, by an address in it. ERR_NOMEM. */
int builder_kernel_function(struct builder *b, const struct sample *s, uint64_t address,
			    uint32_t *id);

/* An event of `kind` with the record's fields; the other fields are unknown. */
void builder_event(const struct record_id *id, uint8_t kind, struct sched_event *ev);

/* The recorded system call that a thread is in: index of timeline.syscalls; 0: none. */
uint16_t builder_syscall_of(const struct builder *b, int32_t tid);

/* Note the current thread of a CPU. ERR_NOMEM. */
int builder_note_current(struct builder *b, const struct record_id *id, struct err *e);

/* build_args.c: the first argument of the system call in which a thread leaves its CPU, from
 * its user registers: index of timeline.args, 0 if unknown. ERR_NOMEM. */
int builder_argument(struct builder *b, const struct sample *s, uint16_t *index);

/* Find out what these arguments are, from the named stacks and the context. ERR_NOMEM. */
int builder_find_arguments(struct builder *b, struct err *e);

/* build_counters.c: read an ID_INDEX record: what the instances of events count. ERR_NOMEM. */
int builder_read_id_index(struct builder *b, const struct record *r);

/* The counters of its thread that a probe's sample reads: 1; 0 if it reads none, or those of a
 * whole CPU. ERR_NOMEM. */
int builder_reading(struct builder *b, const struct sample *s, uint32_t thread,
		    struct span_reading *out);

/* build_irq.c: 1 and the role and fields if it is an entry or exit of an interrupt. */
int builder_is_irq(const struct tracepoint *tp, struct source_event *se);

/* Add such a sample to tl->interrupts. ERR_NOMEM. */
int builder_handle_irq(struct builder *b, const struct source_event *se, const struct sample *s,
		       const struct record_id *id, struct err *e);

/* build_end.c: after the last record. */
int builder_finish(struct builder *b, struct err *e);

#endif
