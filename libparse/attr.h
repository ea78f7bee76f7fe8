/*
 * attr.h - struct perf_event_attr of any age and byte order, and the event it describes.
 *
 * Source: struct perf_event_attr, include/uapi/linux/perf_event.h. Sizes seen: 64
 * (VER0, 2.6.32) … 136 (VER8), 144 (VER9), and whatever comes later: unknown tails are ignored,
 * missing fields are 0.
 */
#ifndef LIBPARSE_ATTR_H
#define LIBPARSE_ATTR_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "libparse/perf_abi.h"

enum { ATTR_SIZE_VER0 = 64 };

struct event_attr {
	uint32_t type, size;
	uint64_t config;
	uint64_t sample_period; /* or sample_freq in Hz, when the flag ATTR_FREQ is set */
	uint64_t sample_type, read_format;
	uint64_t flags; /* bit numbers ATTR_*; use attr_flag() */
	uint32_t wakeup, bp_type;
	uint64_t config1, config2; /* or bp_addr, bp_len */
	uint64_t branch_sample_type, sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint32_t aux_sample_size;
	uint64_t sig_data, config3;
};

/* One bit of flags, by its number in the kernel's struct perf_event_attr. */
static inline int attr_flag(const struct event_attr *a, int bit)
{
	return (a->flags >> bit) & 1;
}

/* 1 when only some of a tracepoint's events were recorded: at a frequency, or every nth. The
 * kernel ignores a fixed period if samples carry their own, as perf record requests for
 * tracepoints; then every event is recorded, each counting once (perf_swevent_event in
 * kernel/events/core.c). */
static inline int attr_samples_tracepoint(const struct event_attr *a)
{
	if (attr_flag(a, ATTR_FREQ))
		return a->sample_period != 0;
	return a->sample_period > 1 && !(a->sample_type & PERF_SAMPLE_PERIOD);
}

/*
 * Decode an attr of `size` bytes at the cursor; consumes them all. The attr's own size field
 * may be 0 (2.6.3x) or smaller than `size`. ERR_FORMAT when size < ATTR_SIZE_VER0.
 */
int attr_decode(struct bytes *b, size_t size, struct event_attr *a, struct err *e);

/* One event (perf's evsel): the attr, the ids of its per-CPU instances, its name. */
struct event {
	struct event_attr attr;
	uint32_t index;      /* position in the recording, 0 first */
	char *name;          /* as perf prints it: "cycles:P", "sched:sched_switch" */
	VEC(uint64_t) ids;   /* PERF_SAMPLE_ID values that mean this event */
	uint32_t leader;     /* index of the group leader; its own index when alone */
	uint32_t head_time;  /* of a sample: bytes from the record's start to TIME; 0 = none */
	uint32_t fixed_size; /* of a sample: bytes of the fields before READ */
	uint32_t tail_time;  /* sample_id_all trailer: bytes from the record's end to TIME; 0 =
				none */
	uint32_t tail_size;  /* size of that trailer in bytes; 0 without sample_id_all */
	int is_tracepoint;
};

/* How late samples of an event are. */
enum event_skid {
	SKID_UNKNOWN, /* or they are not of instructions */
	SKID_CLOCK,
	SKID_IMPRECISE, /* counters, by precise_ip */
	SKID_CONSTANT,
	SKID_NONE_REQUESTED,
	SKID_NONE,
	SKID_IBS,
	SKID_SPE,
	EVENT_SKIDS
};
enum event_skid event_skid(const struct event *ev);

/* The same as a sentence about weights of instructions; "" for SKID_UNKNOWN. */
const char *event_skid_text(unsigned int skid);

/* What an event counts, for instructions per cycle. */
enum event_role { COUNTS_OTHER, COUNTS_CYCLES, COUNTS_INSTRUCTIONS, EVENT_ROLES };
enum event_role event_role(const struct event *ev);
const char *event_role_word(unsigned int counts);

/* The number, from 1, of the group whose counters each of its samples reads, of event k of a
 * recording's; 0: samples read their own. */
uint32_t event_group(const struct event *events, uint32_t k);

/* 1 if it counts what the generic hardware event `config` (PERF_COUNT_HW_...), called `name`,
 * does; also as "cpu/cycles/u". */
int event_is_counter(const struct event *ev, uint64_t config, const char *name);

/*
 * The name perf gives an event that has none in the file: from type and config ("cycles",
 * "cpu-clock", "L1-dcache-load-misses", "raw 0x1a2b"), modifiers (":u", ":k", ":P" …) not
 * included. Written into buf (cut at n). Returns buf.
 */
const char *event_default_name(const struct event_attr *a, char *buf, size_t n);

/* Set index-independent derived fields (tail_*, is_tracepoint) from the attr. */
void event_derive(struct event *ev);

#endif
