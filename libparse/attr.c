#include "libparse/attr.h"
#include "base/check.h"
#include "libparse/sample.h"

#include <stdio.h>

/*
 * The flag word is a run of C bitfields: little-endian hosts fill each byte from its lowest
 * bit, big-endian ones from its highest, and both go through the bytes in address order. So a
 * word of the other byte order is not byte-swapped; the bits inside each byte are mirrored.
 */
static uint64_t decode_flags(struct bytes *b)
{
	const uint8_t *p = bytes_take(b, 8);
	uint64_t flags = 0;
	int file_is_be = b->swap ? __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
				 : __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	for (int i = 0; p && i < 8; i++) {
		uint8_t v = p[i];
		if (file_is_be) {
			v = (uint8_t)((v & 0xf0) >> 4 | (v & 0x0f) << 4);
			v = (uint8_t)((v & 0xcc) >> 2 | (v & 0x33) << 2);
			v = (uint8_t)((v & 0xaa) >> 1 | (v & 0x55) << 1);
		}
		flags |= (uint64_t)v << 8 * i;
	}
	return flags;
}

enum event_skid event_skid(const struct event *ev)
{
	const struct event_attr *a = &ev->attr;
	const char *name = ev->name ? ev->name : "";
	if (a->type == PERF_TYPE_SOFTWARE &&
	    (a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK))
		return SKID_CLOCK;
	/* precise_ip, as include/uapi/linux/perf_event.h explains its values */
	if (a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE ||
	    a->type == PERF_TYPE_RAW)
		return SKID_IMPRECISE + (a->flags >> ATTR_PRECISE_IP & 3);
	return !strncmp(name, "ibs_op/", 7)    ? SKID_IBS
	       : !strncmp(name, "arm_spe_", 8) ? SKID_SPE
					       : SKID_UNKNOWN;
}

const char *event_skid_text(unsigned int skid)
{
	static const char *const texts[] = {
		"",
		"weights fall an instruction late: the clock interrupts before the next one",
		"weights fall several instructions late: the event is not precise (:p, :pp)",
		"weights fall late by the same few instructions (:p)",
		"weights fall on the instruction itself, as far as the CPU can (:pp)",
		"weights fall on the instruction itself (:ppp)",
		"weights fall on the instruction itself: IBS tags operations",
		"weights fall on the instruction itself: SPE follows operations",
	};
	ENTRIES(texts, EVENT_SKIDS);
	return skid < EVENT_SKIDS ? texts[skid] : "";
}

int event_is_counter(const struct event *ev, uint64_t config, const char *name)
{
	const char *slash = strchr(ev->name, '/');
	const char *at = slash && slash[1] ? slash + 1 : ev->name;
	return (ev->attr.type == PERF_TYPE_HARDWARE && (uint32_t)ev->attr.config == config) ||
	       (strlen(name) == strcspn(at, ":/") && !strncmp(at, name, strlen(name)));
}

enum event_role event_role(const struct event *ev)
{
	if (!ev->name)
		return COUNTS_OTHER;
	return event_is_counter(ev, PERF_COUNT_HW_CPU_CYCLES, "cycles") ? COUNTS_CYCLES
	       : event_is_counter(ev, PERF_COUNT_HW_INSTRUCTIONS, "instructions")
		       ? COUNTS_INSTRUCTIONS
		       : COUNTS_OTHER;
}

const char *event_role_word(unsigned int counts)
{
	static const char *const words[] = {"", "cycles", "instructions"};
	ENTRIES(words, EVENT_ROLES);
	return counts < EVENT_ROLES ? words[counts] : "";
}

uint32_t event_group(const struct event *events, uint32_t k)
{
	uint32_t leader = events[k].leader;
	return events[leader].attr.read_format & PERF_FORMAT_GROUP ? leader + 1 : 0;
}

int attr_decode(struct bytes *b, size_t size, struct event_attr *a, struct err *e)
{
	*a = (struct event_attr){0};
	if (size < ATTR_SIZE_VER0)
		return err_set(e, ERR_FORMAT,
			       "event attribute of %zu bytes, at least %d needed", size,
			       ATTR_SIZE_VER0);
	const void *p = bytes_take(b, size);
	if (!p)
		return err_set(e, ERR_TRUNCATED, "event attribute of %zu bytes passes the end",
			       size);
	struct bytes c = bytes_init(p, size, b->swap);
	a->type = bytes_u32(&c);
	a->size = bytes_u32(&c);
	a->config = bytes_u64(&c);
	a->sample_period = bytes_u64(&c);
	a->sample_type = bytes_u64(&c);
	a->read_format = bytes_u64(&c);
	a->flags = decode_flags(&c);
	a->wakeup = bytes_u32(&c);
	a->bp_type = bytes_u32(&c);
	a->config1 = bytes_u64(&c);
	/* Fields that an older attr lacks read as zero, as the cursor does past its end. */
	a->config2 = bytes_u64(&c);
	a->branch_sample_type = bytes_u64(&c);
	a->sample_regs_user = bytes_u64(&c);
	a->sample_stack_user = bytes_u32(&c);
	a->clockid = (int32_t)bytes_u32(&c);
	a->sample_regs_intr = bytes_u64(&c);
	a->aux_watermark = bytes_u32(&c);
	a->sample_max_stack = bytes_u16(&c);
	bytes_skip(&c, 2);
	a->aux_sample_size = bytes_u32(&c);
	bytes_skip(&c, 4);
	a->sig_data = bytes_u64(&c);
	a->config3 = bytes_u64(&c);
	return 0;
}

void event_derive(struct event *ev)
{
	uint64_t t = ev->attr.sample_type;
	ev->is_tracepoint = ev->attr.type == PERF_TYPE_TRACEPOINT;
	ev->tail_time = ev->tail_size = ev->head_time = 0;
	ev->fixed_size = sample_fixed_size(t);
	if (t & PERF_SAMPLE_TIME)
		ev->head_time = RECORD_HEADER_SIZE + (uint32_t)sample_time_offset(t);
	if (!attr_flag(&ev->attr, ATTR_SAMPLE_ID_ALL))
		return;
	/* struct sample_id: tid, time, id, stream_id, cpu, identifier, in this order */
	uint32_t after_time = 0;
	after_time += t & PERF_SAMPLE_ID ? 8 : 0;
	after_time += t & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	after_time += t & PERF_SAMPLE_CPU ? 8 : 0;
	after_time += t & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	if (t & PERF_SAMPLE_TIME)
		ev->tail_time = after_time + 8;
	ev->tail_size =
		after_time + (t & PERF_SAMPLE_TIME ? 8 : 0) + (t & PERF_SAMPLE_TID ? 8 : 0);
}

static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const software_names[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

static const char *cache_name(uint64_t config, char *buf, size_t n)
{
	static const char *const cache[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
					    "iTLB",      "branch",    "node"};
	static const char *const op[] = {"load", "store", "prefetch"};
	static const char *const ops[] = {"loads", "stores", "prefetches"};
	unsigned type = config & 0xff, o = config >> 8 & 0xff, result = config >> 16 & 0xff;
	if (type >= 7 || o >= 3 || result > 1)
		snprintf(buf, n, "invalid-cache");
	else if (result)
		snprintf(buf, n, "%s-%s-misses", cache[type], op[o]);
	else
		snprintf(buf, n, "%s-%s", cache[type], ops[o]);
	return buf;
}

const char *event_default_name(const struct event_attr *a, char *buf, size_t n)
{
	uint64_t low = a->config & 0xffffffff; /* the upper half names a PMU on hybrid CPUs */
	if (a->type == PERF_TYPE_HARDWARE &&
	    low < sizeof(hardware_names) / sizeof(*hardware_names))
		snprintf(buf, n, "%s", hardware_names[low]);
	else if (a->type == PERF_TYPE_SOFTWARE &&
		 a->config < sizeof(software_names) / sizeof(*software_names))
		snprintf(buf, n, "%s", software_names[a->config]);
	else if (a->type == PERF_TYPE_HW_CACHE)
		return cache_name(low, buf, n);
	else if (a->type == PERF_TYPE_TRACEPOINT)
		snprintf(buf, n, "tracepoint %llu", (unsigned long long)a->config);
	else if (a->type == PERF_TYPE_RAW)
		snprintf(buf, n, "raw 0x%llx", (unsigned long long)a->config);
	else if (a->type == PERF_TYPE_BREAKPOINT)
		snprintf(buf, n, "mem:0x%llx", (unsigned long long)a->config1);
	else
		snprintf(buf, n, "unknown attr type: %u", a->type);
	return buf;
}
