/*
 * bpf_hits.h - what recorder.bpf.c hands to bpf_recorder.c, through a ring buffer for each CPU.
 * Times are of CLOCK_MONOTONIC, in ns. Included by both.
 */
#ifndef CMD_RECORD_BPF_HITS_H
#define CMD_RECORD_BPF_HITS_H

#ifndef __bpf__
#include <stdint.h>
#endif

enum kernel_kind { KERNEL_HIT, KERNEL_LOST, KERNEL_LEFT, KERNEL_WOKEN };
enum {
	HIT_SMALL =
		40, /* room for the raw bytes of a tracepoint: what is reserved in a ring is a constant
			 */
	HIT_LARGE = 128,
	KERNEL_DEPTH = 64, /* frames of a stack */
	USER_DEPTH = 127,
	USER_REGS = 20, /* x86-64, in perf's order: ax … ss, r8 … r15 */
	COPY_MOST = 8192,
	WINDOW_NS = 100000000,
	VERDICTS = 1 << 16, /* threads whose choice is remembered */
};

/* Every entry begins so; tid is the current thread's. */
struct kernel_entry {
	uint64_t time;
	uint32_t pid, tid;
	uint16_t kind, event; /* enum kernel_kind; KERNEL_HIT: index of the tracepoint */
	uint32_t cpu;
};

/* A tracepoint was hit: its raw bytes, as its format has them, follow. */
struct kernel_hit {
	struct kernel_entry of;
	uint8_t raw[];
};

/* Hits of this CPU for which there was no room, between the entry before and `time`. */
struct kernel_lost {
	struct kernel_entry of;
	uint64_t lost;
};

/* The raw bytes of sched:sched_switch and sched:sched_waking, as they have been since Linux 2.6;
 * a kernel with others is refused. Their first 8: struct trace_entry. */
struct raw_entry {
	uint16_t type;
	uint8_t flags, preempt_count;
	uint32_t pid;
};
struct raw_switch {
	struct raw_entry of;
	char prev_comm[16];
	uint32_t prev_pid, prev_prio;
	uint64_t prev_state;
	char next_comm[16];
	uint32_t next_pid, next_prio;
};
struct raw_waking {
	struct raw_entry of;
	char comm[16];
	uint32_t pid, prio, target_cpu;
};

/* A chosen thread left its CPU at `time`, and got one after a long wait: where it waited. */
struct kernel_left {
	struct kernel_entry of;  /* cpu: that it left */
	uint32_t copied, frames; /* bytes of user stack; kernel frames, innermost first */
	uint32_t choice, none;   /* enum kernel_choosing */
	uint64_t regs[USER_REGS];
	uint64_t kernel[KERNEL_DEPTH];
	uint8_t copy[]; /* from the stack pointer on */
};

/* A chosen thread that had waited for long was woken at `time`: by what. */
struct kernel_woken {
	struct kernel_entry of; /* the waker */
	uint32_t frames,
		users; /* innermost first, in `ip`: the kernel's frames, then the user's */
	uint64_t ip[KERNEL_DEPTH + USER_DEPTH];
};

/* Where nobody is chosen, all threads are; what perfkit started may use more of the budget. */
enum kernel_choosing { NOT_CHOSEN, ONE_OF_ALL, CHOSEN };

/* Which threads are chosen: by name, of which `length` characters count ('?': any), or by id. */
enum { CHOICES = 64, CHOICE_EXACT = 16 };
struct kernel_choice {
	char comm[16];
	uint32_t length; /* CHOICE_EXACT: to its end; 0: none, by id */
	uint32_t tid;
};

/* Set before loading: the only constants of the program. */
struct kernel_setup {
	/* from a CPU's run queue to its preempt_count and number, in bytes; 0: not known */
	int64_t count_at, number_at;
	uint32_t copy_bytes, nchoices; /* nchoices 0: all threads */
	uint32_t recorder;             /* perfkit's own process */
	uint32_t window_bytes;         /* of stacks that a CPU may hand over in WINDOW_NS */
	uint32_t stacks, waits_mask;   /* are kept; places for waits, less 1: 2^n - 1 */
	struct {
		uint16_t event, id;
	} switched, waking;
	struct kernel_choice choices[CHOICES];
};

/* Changes while it runs: its only variables. */
struct kernel_live {
	uint64_t over_ns; /* stacks of shorter waits are not handed over */
	uint64_t wanted;  /* bytes of stacks of longer ones, also of those that were too many */
	uint64_t lost;    /* hits that found no room */
};

#endif
