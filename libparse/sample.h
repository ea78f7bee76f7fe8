/*
 * sample.h - PERF_RECORD_SAMPLE decoded in place.
 *
 * The event's attr says which fields a sample has; the arrays (callchain, raw, branches,
 * registers, stack) stay in place and are read with load_u64(p, swap). Source: the layout
 * comment of PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h and perf_output_sample() in
 * kernel/events/core.c.
 */
#ifndef LIBPARSE_SAMPLE_H
#define LIBPARSE_SAMPLE_H

#include "libparse/record.h"

/* perf record --off-cpu stamps its sums with times from here up (OFF_CPU_TIMESTAMP in perf's
 * bpf_off_cpu.c): they have no place in time. */
#define SAMPLE_DUMMY_TIMES UINT64_C(0xffffffff00000000)

/* 1 when ns can be a time: less than 292 years. */
static inline int sample_is_time(uint64_t ns)
{
	return ns <= INT64_MAX;
}

/* Periods are below it: 2.2 years of ns, or of a counter at 1 GHz. */
#define SAMPLE_MAX_PERIOD (UINT64_C(1) << 56)

/* A run of u64 words inside the record, in the file's byte order, possibly unaligned. */
struct sample_words {
	const uint8_t *p;
	uint64_t n;
};

struct sample {
	const struct event *event;
	uint64_t ip, time, addr, id, stream_id;
	int32_t pid, tid;
	uint32_t cpu;    /* UINT32_MAX when not recorded */
	uint64_t period; /* recorded, else the attr's fixed period, else 1 */
	uint16_t misc;   /* the record's: cpumode and more */
	uint64_t weight; /* WEIGHT, or the first 32 bits of WEIGHT_STRUCT */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;

	struct sample_words callchain;
	const uint8_t *raw; /* tracepoint payload: raw_size bytes */
	uint32_t raw_size;
	struct sample_words branches;        /* 3 words each: from, to, flags */
	struct sample_words branch_counters; /* one word each, when recorded */
	uint64_t branch_hw_idx;

	uint64_t regs_abi; /* 0 none, 1 32-bit, 2 64-bit; words in ascending bit order of the
			      mask */
	struct sample_words regs_user;
	const uint8_t *stack; /* user stack from SP upward */
	uint64_t stack_size;  /* bytes requested and stored */
	uint64_t stack_dyn;   /* bytes that are valid */
	uint64_t regs_intr_abi;
	struct sample_words regs_intr;
	const uint8_t *aux;
	uint64_t aux_size;

	/* PERF_SAMPLE_READ: times of the group; read_values holds read_stride words per
	 * counter: value [id] [lost] as the read_format says */
	uint64_t time_enabled, time_running;
	struct sample_words read_values;
	uint32_t read_stride;
};

/*
 * Decode `r`, whose event is `ev`. 0, or ERR_FORMAT with "SAMPLE at 0x…: <field> …" when a
 * field or count passes the record's end; the fields before it are then set (of the fixed
 * part all or none).
 *
 * The fields that perf record --off-cpu stores in RAW since 6.16 (__set_offcpu_sample() in
 * perf's evsel.c) replace the sample's own: pid, tid, period, callchain, ip and cgroup.
 */
int sample_decode(const struct record *r, const struct event *ev, int swap, struct sample *out,
		  struct err *e);

/* 1 when the event's samples have these fields, and so their stacks, in RAW. */
int sample_is_off_cpu(const struct event *ev);

/* 1 for a sample of a virtual machine's guest: its addresses belong to no process here. */
static inline int sample_in_guest(const struct sample *s)
{
	int mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER;
}

/*
 * Byte offset of the event id inside a sample record's body for this sample_type, or -1 when
 * the layout has none before the variable part. Other records have it at the end:
 * record_id_decode.
 */
int sample_id_offset(uint64_t sample_type);

/* Bytes of the fixed fields at the start of a sample's body. */
uint32_t sample_fixed_size(uint64_t sample_type);

/* Byte offset of TIME inside a sample's body, or -1. For readers that need no more. */
int sample_time_offset(uint64_t sample_type);

#endif
