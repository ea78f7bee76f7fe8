/*
 * timeline.h - what every thread did at every moment: the model that tail, svg, timeline,
 * report and the store read. It is built from a recording (build.h,
 * through the state machine of sched.h) or loaded from a store (store_read.h).
 *
 *	thread  ──running──┐            ┌──running──┐  ┌─ ...
 *	                   └── off #7 ──┘           └──┘ off #8
 *	                   out   waking  in
 *	                   │blocked│runnable│
 *
 * Only the off-CPU intervals are kept; a thread is running wherever its life has none. All
 * times are nanoseconds on the recording's clock, [start, end). Things refer to each other by
 * index, never by pointer; texts and stacks are ids of one `struct stacks` (libsym/stacks.h).
 * One timeline is one recording, or several of a store side by side (timeline_join.h).
 */
#ifndef LIBTIME_SCHED_TIMELINE_H
#define LIBTIME_SCHED_TIMELINE_H

#include "base/bigvec.h"
#include "base/check.h"
#include "libparse/time_conv.h"
#include "libsym/name/frame_table.h"
#include "libsym/stacks.h"
#include "libtime/sched/cause.h"

enum {
	TL_NONE = UINT32_MAX, /* no thread, no span */
	TL_NOCPU = UINT16_MAX,
	TL_MAX_STATES = 255,
};

/* The context that a wakeup came from. Only WAKER_TASK and WAKER_SOFTIRQ_INLINE have a waker
 * thread; in the others the current task was a bystander. */
enum waker_context {
	WAKER_NONE, /* no wakeup is known */
	WAKER_TASK,
	WAKER_SOFTIRQ_INLINE, /* a softirq run from the waker's own system call */
	WAKER_SOFTIRQ,
	WAKER_HARDIRQ,
	WAKER_IDLE, /* task context of the idle task */
};

/* Why the state inside an interval is not known. */
enum unknown_reason {
	KNOWN,
	UNKNOWN_HOLE,    /* a switch is missing (chain rule) */
	UNKNOWN_LOST,    /* the wakeup is missing and records were lost there */
	UNKNOWN_EDGE,    /* the switch is before the first record of its CPU */
	UNKNOWN_NO_WAKE, /* no waking recorded for a sleep that ended */
};

enum offcpu_flag {
	OFF_OPEN = 1,      /* cut by the first or last record, or by --time */
	OFF_SUSPECT = 2,   /* its length may be wrong by more than 1 % and 5 us */
	OFF_IDLE = 4,      /* of an idle site: the blocked part waits for work */
	OFF_RUNNING = 8,   /* switched out in a running state: runnable is preempted time */
	OFF_NO_STACK = 16, /* the switch-out carried no callchain */
	OFF_UNCLEAR = 32,  /* of an unclear site: the blocked part may wait for work */
	OFF_LOOP = 64,     /* of an unclear site that looks like its thread's loop */
	OFF_SITE = OFF_IDLE | OFF_UNCLEAR | OFF_LOOP, /* what its site says */
	OFF_REST = 128, /* of state unknown: the wait before it may have ended anywhere in it */
};

/* What the first argument of the waiting system call is; names in wait_arg_name. From ARG_FD on
 * it is a file descriptor. */
enum wait_arg {
	ARG_NONE,     /* not known, or the call has no such argument */
	ARG_FUTEX,    /* the address of a futex in the process: distinguishes locks */
	ARG_FD,       /* a descriptor of unknown kind */
	ARG_FILE,     /* a file, a terminal or a device */
	ARG_SOCKET,   /* which side connected is not known */
	ARG_ACCEPTED, /* the other side connected to this process's host or path */
	ARG_LISTENING,
	ARG_CONNECTED, /* this side connected */
	ARG_PIPE,
	ARG_EVENTFD,
	ARG_TIMERFD,
	ARG_EPOLL,           /* no known sockets in it */
	ARG_EPOLL_ACCEPTED,  /* all sockets in it are accepted or listening */
	ARG_EPOLL_CONNECTED, /* at least one is connected */
	ARG_KINDS,
};

/* A first argument. */
struct tl_arg {
	uint64_t value;
	uint32_t variable; /* of a futex: strings id of "orders: book+0x8"; 0: memory of no
			    * file, or without a symbol */
};

/* One off-CPU interval: from the switch that takes the thread off a CPU to the switch that puts
 * it on one. If `unknown` is set, the whole length is of state unknown and blocked_ns is 0;
 * else end - start = blocked + runnable.
 * Where switches are missing, the time in which a wait may have ended is an interval of its own,
 * OFF_REST, and slack_ns says how much shorter it may have been (sched_internal.h, "Bounds"). */
struct offcpu {
	uint64_t start_ns, end_ns;
	uint64_t blocked_ns;
	uint32_t thread;
	uint32_t comm;       /* strings id: the thread's name when it went off */
	uint32_t path;       /* call path of the switch-out; 0 = none recorded */
	uint32_t waker;      /* thread, or TL_NONE */
	uint32_t waker_path; /* call path of the waking; of the bystander in irq contexts */
	uint16_t cpu_out, cpu_in, cpu_wake; /* TL_NOCPU: not known */
	uint16_t cpu_queue; /* in whose run queue the wakeup put it; TL_NOCPU: not known */
	int16_t prio_in;    /* kernel priority (120 = nice 0, < 100 real-time); -1 not known */
	uint8_t state; /* index of timeline.states: the text perf prints, "S", "R+", "D|K" */
	uint8_t cause; /* enum cause */
	uint8_t waker_context;
	uint8_t unknown;   /* enum unknown_reason */
	uint8_t flags;     /* enum offcpu_flag */
	uint8_t arg_kind;  /* enum wait_arg: of `arg` */
	uint16_t syscall;  /* index of timeline.syscalls: "futex:wait" ...; 0 = not recorded */
	uint16_t arg;      /* index of timeline.args: see offcpu_arg */
	uint32_t site;     /* index of timeline.sites; 0 = none */
	uint32_t slack_ns; /* how much shorter it may have been; SLACK_ALL */
};
SIZE_IS(struct offcpu, 72);

/* Does a wait site's waiting belong to a piece of work? */
enum site_verdict {
	SITE_WORK,
	SITE_IDLE,
	SITE_UNCLEAR,
	SITE_VERDICTS,
};

/* Why a site has its verdict; docs/sites.md has the rule, sites.h the steps. */
enum site_reason {
	REASON_CAUSE,          /* work: a cause that never means waiting for work */
	REASON_WORK_FRAME,     /* work: --work-frame */
	REASON_WORK_WAIT,      /* work: a frame known to be part of work */
	REASON_INSIDE_WORK,    /* work: below a function that does other work, too */
	REASON_CONNECTED,      /* work: a socket that this side connected */
	REASON_IDLE_FRAME,     /* idle: --idle-frame */
	REASON_TAKES_WORK,     /* idle: a frame known to fetch the next piece of work */
	REASON_PROGRAM_LOOP,   /* idle: a program's own loop waits directly */
	REASON_ACCEPTED,       /* idle: a socket that was accepted or is listened on */
	REASON_NO_FRAME,       /* unclear: the stacks show no function of the program */
	REASON_LIBRARY_LOOP,   /* unclear: an event library's loop; replies arrive there, too */
	REASON_FRAME_POINTERS, /* unclear: stacks by frame pointers may lack callers */
	REASON_ANSWERED, /* unclear: most were ended by a thread that this one had woken */
	REASON_PACKETS,  /* unclear: most were ended by packets */
	REASON_TIMER,    /* unclear: a sleep */
	REASON_FEW,      /* unclear: too few waits */
	REASON_NOTHING,  /* unclear: no evidence */
	SITE_REASONS,
};

/* A place where threads of one role wait; the same verdict holds for all waits there. */
struct tl_site {
	uint32_t program; /* strings id: the process's name */
	uint32_t role;    /* strings id: the thread's outermost function, or its name */
	uint32_t frame;   /* frame id: the function that waits, or the one known; 0 = none */
	uint8_t cause, verdict, reason;
	uint8_t loop;             /* unclear, but looks like its thread's loop */
	uint64_t waits;           /* intervals with blocked time */
	uint64_t wait_ns, max_ns; /* their blocked time, and the longest */
};

enum thread_flag {
	THREAD_KERNEL = 1,   /* a kernel thread */
	THREAD_RECORDER = 2, /* perf itself */
	THREAD_SYSTEM = THREAD_KERNEL | THREAD_RECORDER,
	THREAD_BORN = 4,       /* its creation was recorded */
	THREAD_EXITED = 8,     /* its end was recorded */
	THREAD_IDLE_TASK = 16, /* samples of the idle task or of no known thread; no life */
	THREAD_MEANT = 32,     /* of a process that is meant if nobody says (meant.h) */
};

/* One thread; a reused tid is another one. first..last is its recorded life: from the first
 * record that shows its state to its end, or to the end of the recording. */
struct tl_thread {
	int32_t pid, tid; /* pid -1 where no record has it; tid ≤ 0: see THREAD_IDLE_TASK */
	uint32_t comm;    /* strings id: the last known name */
	uint32_t program; /* the same of its process's first thread; "": no record has it */
	uint64_t first_ns, last_ns;
	uint32_t offcpu_first,
		offcpu_n;   /* its intervals in timeline.offcpu, valid once finished */
	uint16_t first_cpu; /* where it ran at first_ns; TL_NOCPU: it did not run */
	int16_t first_prio;
	uint32_t flags;
};

/* An on-CPU sample: of a clock or counter. */
struct tl_sample {
	uint64_t time_ns, period;
	uint32_t thread, comm, path;
	uint16_t event; /* index of timeline.events */
	uint16_t cpu;
};

/* A sample of a tracepoint, a probe or perf's --off-cpu, as `perf script` shows it; its
 * contents became intervals, marks and totals. It has ids of its own: the timeline's threads
 * are only those in the scheduler's records. */
struct tl_event_sample {
	uint64_t time_ns; /* SAMPLE_DUMMY_TIMES: not known */
	uint64_t period;
	int32_t pid, tid;
	uint32_t comm, path;
	uint16_t event; /* index of timeline.events */
	uint16_t cpu;
	uint8_t meant; /* as THREAD_MEANT */
};

/* How an event's user stacks were taken. */
enum stack_kind {
	STACKS_NONE,
	STACKS_FRAME_POINTERS,
	STACKS_DWARF, /* unwound from a copy of the stack */
	STACKS_LBR,
	STACK_KINDS,
};

/* The sum of all samples of one event, thread, name and stack, when a store is read for sums
 * only. */
struct tl_sum {
	uint64_t samples, weight;
	uint64_t first_ns, last_ns; /* of the thread's samples, whatever their stacks;
				       UINT64_MAX, 0: none */
	int32_t pid, tid;
	uint32_t comm, path;
	uint16_t event; /* index of timeline.events */
	uint8_t meant;  /* as THREAD_MEANT */
};

struct tl_event {                  /* an event of the recording (perf's evsel) */
	uint32_t name;             /* strings id */
	uint8_t tracepoint, sched; /* sched: its records went into the state machine */
	uint8_t stacks;            /* enum stack_kind */
	uint8_t skid;              /* enum event_skid */
	uint8_t counts;            /* enum event_role */
	uint32_t group;            /* event_group */
	/* Of samples that were counted but not stored: how many, their periods, and when. */
	uint64_t counted, counted_period, first_ns, last_ns;
};

struct tl_span {
	uint64_t start_ns, end_ns;
	uint64_t run_ns, blocked_ns, runnable_ns, preempted_ns, unknown_ns;
	uint64_t interrupted_ns; /* of run_ns, where interrupts were recorded */
	uint64_t key;
	uint64_t handed_ns; /* when end_thread got it from thread; 0: they are one */
	uint32_t name;      /* strings id */
	/* In a span of a side file both may be TL_NONE: the file names no thread, or no such
	 * thread was recorded. */
	uint32_t thread, end_thread;
	uint32_t parent;   /* index of timeline.spans or TL_NONE */
	uint32_t key_text; /* strings id: the key as a side file has it, or 0 */
	int32_t pid;       /* the process of a side file's span without a thread; else -1 */
	uint32_t flags;    /* OFF_OPEN, OFF_SUSPECT, enum span_flag */
};

enum span_flag {
	/* Its thread worked on other spans meanwhile, so what the thread did is not what the
	 * span did. Side files only. */
	SPAN_OVERLAPPED = 32,
	SPAN_CALL = 64, /* a call of a function. Side files only */
};

struct tl_label {            /* what a side file says of a span */
	uint32_t key, value; /* strings ids */
	uint32_t span;       /* index of timeline.spans */
};

enum counter_flag {
	COUNTER_SCALED = 1, /* extrapolated: it counted only part of the time (multiplexing) */
	COUNTER_AT_LEAST = 2, /* the value may be too low; by how much is not known */
};

/* What a counter counted in a span: between value and value + error. */
struct tl_counter {
	uint64_t value;
	uint64_t error; /* 0: exact */
	uint32_t span;  /* index of timeline.spans */
	uint32_t event; /* strings id: "page-faults" */
	uint32_t flags; /* enum counter_flag */
};

/* The counter of the time that the probes themselves took, which is not part of the span. */
#define PROBE_COST "probe-cost"

/* A function through which a program calls labelled work, so that stacks show the label. */
struct tl_trampoline {
	uint32_t frame;                    /* frame id */
	uint32_t history;                  /* tl_binding.history */
	int32_t pid;                       /* its process; -1: any */
	uint32_t thread_first, thread_end; /* the threads of its recording */
};

/* A trampoline's calls have this label from here until the history's next binding. */
struct tl_binding {
	uint64_t from_ns;
	uint32_t history;
	uint32_t key, value; /* strings ids */
};

/* A fact about the host before and after the recording (strings ids; 0: not known). Kinds and
 * keys are in build/fact_table.h; facts.h looks facts up. */
struct tl_fact {
	uint32_t kind, subject, key, before, after;
};

struct tl_mark { /* a single event worth showing: a tracepoint other than the scheduler's */
	uint64_t time_ns;
	uint32_t name; /* strings id: the event */
	uint32_t text; /* strings id: its fields as text, or 0 */
	uint32_t thread, path;
	uint16_t cpu;
};

/* An interrupt on a CPU, including the time of interrupts nested in it. */
struct tl_interrupt {
	uint64_t start_ns, end_ns;
	uint32_t vector; /* strings id: "irq 25 virtio0-input", "softirq NET_RX", "local_timer"
			  */
	uint32_t thread; /* the interrupted thread; TL_NONE: the idle task */
	uint16_t cpu;
};

/* Time in which a program that spins on a CPU did not get it, as the program measured. */
struct tl_gap {
	uint64_t start_ns, end_ns; /* the gap is within these, */
	uint64_t lost_ns;          /* and this long: end - start if both were measured */
	uint32_t thread;           /* the spinner; TL_NONE: not known */
	uint16_t cpu;
	uint8_t flags; /* OFF_OPEN, GAP_CONTROL */
};

/* On the control CPU, which should be idle: the baseline, left out of answers. */
enum { GAP_CONTROL = 128 };

enum loss_kind {
	LOSS_LOST,
	LOSS_HOLE,
	LOSS_THROTTLE,
	LOSS_DISORDER, /* nothing is missing, but the order of the records is uncertain */
	LOSS_KINDS,
};

/* What is missing: (from_ns, to_ns] on one CPU. */
struct tl_loss {
	uint64_t from_ns, to_ns;
	uint64_t count; /* records lost; 1 for a hole or a throttle */
	uint16_t cpu;   /* TL_NOCPU: not known, so it affects every CPU */
	uint8_t kind;
	uint8_t sched; /* scheduler records may be missing there */
};

/* What is wrong with the times of the records. Stores keep it as findings only. */
struct tl_disorder {
	uint64_t late, late_ns; /* records that came late (libparse/order.h), by how much */
	uint64_t back, back_ns; /* steps back on one CPU */
	int moved;              /* late ones have the time they came at: a stream */
	/* Clocks of CPUs that differ: pairs of CPUs, impossible orders of records; the pair
	 * that differs most, and by how much at least. */
	uint64_t skewed_pairs, skewed, skew_ns;
	uint16_t skew_cpus[2];
};

/* `perf record --off-cpu`, accumulated kind: a sum per thread and stack, at no known time. */
struct tl_offcpu_total {
	uint64_t ns, count;
	uint32_t thread, comm, path;
};

struct tl_recording {
	uint32_t host, file, clock, kernel; /* strings ids; clock: "CLOCK_MONOTONIC", "perf" */
	uint32_t arch, cmdline;
	uint64_t origin_ns, end_ns; /* first and last record */
	uint64_t wall_ns; /* wall-clock time (ns since 1970) of origin_ns; 0 = unknown */
	uint64_t hash;    /* of its bytes: identifies the recording; 0 = unknown */
	uint32_t ncpus;
	uint8_t wall_exact;   /* from CLOCK_DATA; else from the header's capture time */
	struct time_conv tsc; /* stores do not keep it */
};

/* One of several recordings in a timeline. Its threads, samples, CPUs and so on begin here and
 * end where the next part's begin. */
struct tl_part {
	struct tl_recording rec; /* times on its own clock */
	int64_t id;              /* in the store */
	uint32_t flags;          /* enum timeline_flag */
	uint32_t label;          /* strings id: its host, numbered if several have it */
	uint8_t disk_queues;     /* block_rq_insert was recorded */
	uint8_t chosen_stacks;   /* timeline_stacks_of_some() of it alone */
	uint32_t thread_first;
	size_t fact_first;
	size_t sample_first, event_sample_first, sum_first;
	uint16_t cpu_first;
};

/* What the recording does not show; each is a finding. */
enum timeline_flag {
	TL_PER_TASK = 1,    /* recorded with -p, -t or one command without -a */
	TL_HAS_SWITCH = 2,  /* sched_switch was recorded */
	TL_HAS_RECORDS = 4, /* SWITCH records (--switch-events) */
	TL_HAS_WAKING = 8,
	TL_HAS_WAKEUP = 16,
	TL_SAMPLED = 32,     /* sched_switch was sampled: not every switch is there */
	TL_HAS_TOTALS = 64,  /* --off-cpu, accumulated */
	TL_HAS_DIRECT = 128, /* --off-cpu, direct */
	TL_SOME_CPUS = 256,  /* recorded with -C: on other CPUs threads run unseen */
	TL_THINNED = 512,    /* by timeline_thin: explanations of short intervals are lost */
};

struct timeline {
	struct stacks *stacks;     /* borrowed; life: at least the timeline's */
	VEC(uint32_t) roles;       /* by frame; see timeline_roles */
	struct tl_recording rec;   /* with several parts: what they have in common */
	VEC(struct tl_part) parts; /* empty where the timeline is one recording */
	VEC(struct tl_thread) threads;
	BIGVEC(struct offcpu) offcpu; /* once finished: by thread, then by time */
	BIGVEC(struct tl_sample) samples;
	BIGVEC(struct tl_event_sample) event_samples; /* only on request; unordered */
	BIGVEC(struct tl_sum) sums;                   /* instead of samples and intervals */
	VEC(struct tl_event) events;
	VEC(struct tl_span) spans;
	VEC(struct tl_label) labels;           /* by span */
	VEC(struct tl_counter) counters;       /* by span */
	VEC(struct tl_trampoline) trampolines; /* by frame */
	VEC(struct tl_binding) bindings;       /* by history, then by time */
	VEC(struct tl_fact) facts;
	VEC(struct tl_mark) marks;
	VEC(struct tl_interrupt) interrupts; /* where recorded; by end */
	VEC(struct tl_gap) gaps;             /* from --with; by CPU, then by start */
	VEC(struct tl_loss) losses;
	VEC(struct tl_offcpu_total) totals;
	VEC(struct tl_site) sites;      /* from causes_apply; [0] is no site */
	uint32_t states[TL_MAX_STATES]; /* strings ids; states[0] is "" (not known) */
	VEC(uint32_t) syscalls;         /* strings ids; [0] is "" */
	struct u64map syscall_of;       /* strings id → its index in syscalls */
	VEC(struct tl_arg) args;        /* first arguments of system calls; [0] is none */
	struct idmap arg_of;
	uint8_t nstates;
	uint8_t finished;
	uint32_t flags; /* enum timeline_flag */
	struct tl_disorder disorder;
	uint64_t stray_samples; /* samples that fell into no running interval of their thread */
};

/* An empty timeline over `stacks`. 0 or ERR_NOMEM. */
int timeline_init(struct timeline *tl, struct stacks *stacks);

/* NULL is accepted; the stacks stay the caller's. */
void timeline_release(struct timeline *tl);

/*
 * Look up the roles of all frames; causes_apply does it, too. Frames added later have none.
 * ERR_NOMEM.
 */
int timeline_set_roles(struct timeline *tl, const struct frame_table *t, struct err *e);

/* Bits of enum frame_role. */
static inline unsigned timeline_roles(const struct timeline *tl, uint32_t frame)
{
	return frame < tl->roles.n ? tl->roles.v[frame] : 0;
}

/* The index of a state text, made when new; 0 ("not known") when the table is full. */
int timeline_state(struct timeline *tl, const char *text, uint8_t *index);

/* The index of a system call's text, made when new; 0 past 65535 of them. ERR_NOMEM. */
int timeline_syscall(struct timeline *tl, const char *text, uint16_t *index);

/* The index of a first argument and its variable (strings id, or 0), made when new; 0 past
 * 65535 of them. ERR_NOMEM. */
int timeline_arg(struct timeline *tl, uint64_t value, uint32_t variable, uint16_t *index);

/*
 * The last step of building: intervals sorted by thread and time, each thread's slice set,
 * loss ranges applied (OFF_SUSPECT; UNKNOWN_NO_WAKE becomes UNKNOWN_LOST), samples sorted by
 * time and the stray ones counted. ERR_NOMEM.
 */
int timeline_finish(struct timeline *tl, struct err *e);

/*
 * Check that time adds up: each thread's intervals are in order within its life, do not
 * overlap, off = blocked + runnable (+ unknown), and run + blocked + runnable + unknown = last
 * - first. 0, or ERR_FORMAT naming the first thread that breaks it.
 */
int timeline_check(const struct timeline *tl, struct err *e);

/* What the thread waits on: a descriptor or a futex's address, by arg_kind; 0 for ARG_NONE. */
static inline uint64_t offcpu_arg(const struct timeline *tl, const struct offcpu *o)
{
	return o->arg_kind != ARG_NONE && o->arg < tl->args.n ? tl->args.v[o->arg].value : 0;
}

/* The variable at a futex's address: "orders: book+0x8"; "" if it is not known. */
static inline const char *offcpu_variable(const struct timeline *tl, const struct offcpu *o)
{
	uint32_t id = o->arg_kind == ARG_FUTEX && o->arg < tl->args.n
			      ? tl->args.v[o->arg].variable
			      : 0;
	return id ? strtab_get(&tl->stacks->strings, id) : "";
}

/* A site by its index; an empty one, whose verdict is work, for 0. */
const struct tl_site *timeline_site(const struct timeline *tl, uint32_t site);

/* The bits of OFF_SITE that the waits of a site have. */
uint8_t site_flags(const struct tl_site *site);

/* slack_ns of an interval that may have been of no length, and longer than slack_ns can say. */
enum { SLACK_ALL = UINT32_MAX };

enum { LENGTH_KNOWN_NS = 5000 };

/* How much longer `o` may have been: the length of its OFF_REST, which follows it; else 0. */
uint64_t offcpu_rest_ns(const struct timeline *tl, const struct offcpu *o);

/* The shortest that it may have been: 0 if it has no bounds. */
uint64_t offcpu_low_ns(const struct timeline *tl, const struct offcpu *o);

/* Is a length known that may be `slack` shorter? Within 1 % or 5 us. */
static inline int is_length_known(uint64_t ns, uint64_t slack)
{
	enum { SHARE = 100 };
	return slack <= LENGTH_KNOWN_NS || slack <= ns / SHARE;
}

/* It may have ended at `lo` already, or later. Suspect if that is too wide to call its length
 * known. */
void offcpu_may_end_at(struct offcpu *o, uint64_t lo);

/* The parts of one interval. */
static inline uint64_t offcpu_ns(const struct offcpu *o)
{
	return o->end_ns - o->start_ns;
}

/* Idle time at the beginning of an interval. If its wakeup is not known, all of it is idle:
 * where the rest would begin is not known. */
static inline uint64_t offcpu_idle_ns(const struct offcpu *o)
{
	if (!(o->flags & OFF_IDLE))
		return 0;
	return o->unknown ? offcpu_ns(o) : o->blocked_ns;
}
static inline uint64_t offcpu_runnable_ns(const struct offcpu *o)
{
	return o->unknown ? 0 : offcpu_ns(o) - o->blocked_ns;
}
static inline uint64_t offcpu_preempted_ns(const struct offcpu *o)
{
	return o->flags & OFF_RUNNING ? offcpu_runnable_ns(o) : 0;
}
static inline uint64_t offcpu_unknown_ns(const struct offcpu *o)
{
	return o->unknown ? offcpu_ns(o) : 0;
}

#endif
