#include "libparse/sample.h"
#include "base/mem.h"
#include "libparse/recording.h"

static int bad(const struct record *r, struct err *e, const char *field)
{
	return err_set(e, ERR_FORMAT, "SAMPLE at 0x%llx: %s extends past the end of the record",
		       (unsigned long long)r->offset, field);
}

/* n words, where n came from the file. 0 or -1. */
static int decode_words(struct bytes *b, uint64_t n, struct sample_words *out)
{
	if (n > bytes_left(b) / 8) {
		b->bad = 1;
		return -1;
	}
	out->p = bytes_take(b, n * 8);
	out->n = n;
	return 0;
}

/* struct read_format: nr, times, values for GROUP; value, times, id, lost without. */
static int decode_read(struct bytes *b, uint64_t format, struct sample *s)
{
	uint64_t nr = 1;
	const uint8_t *single = NULL;
	s->read_stride = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP)
		nr = bytes_u64(b);
	else
		single = bytes_take(b, 8);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		s->time_enabled = bytes_u64(b);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		s->time_running = bytes_u64(b);
	if (format & PERF_FORMAT_GROUP) {
		if (nr > bytes_left(b) / 8 / s->read_stride)
			return -1;
		return decode_words(b, nr * s->read_stride, &s->read_values);
	}
	/* the value comes before the times, id and lost after: keep only the value */
	bytes_skip(b, (s->read_stride - 1) * 8);
	s->read_stride = 1;
	s->read_values = (struct sample_words){.p = single, .n = 1};
	return bytes_ok(b) ? 0 : -1;
}

static int decode_branches(struct bytes *b, uint64_t branch_type, struct sample *s)
{
	uint64_t nr = bytes_u64(b);
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		s->branch_hw_idx = bytes_u64(b);
	if (nr > bytes_left(b) / 24)
		return -1;
	if (decode_words(b, nr * 3, &s->branches))
		return -1;
	if (branch_type & PERF_SAMPLE_BRANCH_COUNTERS)
		return decode_words(b, nr, &s->branch_counters);
	return 0;
}

static int decode_regs(struct bytes *b, uint64_t mask, uint64_t *abi, struct sample_words *out)
{
	*abi = bytes_u64(b);
	if (!*abi)
		return 0;
	return decode_words(b, (uint64_t)__builtin_popcountll(mask), out);
}

static int decode_stack(struct bytes *b, struct sample *s)
{
	s->stack_size = bytes_u64(b);
	if (!s->stack_size)
		return 0; /* then there is no dyn_size either */
	if (s->stack_size > bytes_left(b)) {
		s->stack_size = 0;
		return -1;
	}
	s->stack = bytes_take(b, s->stack_size);
	s->stack_dyn = bytes_u64(b);
	if (s->stack_dyn > s->stack_size)
		s->stack_dyn = s->stack_size;
	return 0;
}

static uint64_t word(const uint8_t **p, int swap)
{
	*p += 8;
	return load_u64(*p - 8, swap);
}

/* The fixed part: everything before READ; sample_fixed_size bytes are at p. */
static void decode_fixed(const uint8_t *p, uint64_t t, int swap, struct sample *s)
{
	if (t & PERF_SAMPLE_IDENTIFIER)
		s->id = word(&p, swap);
	if (t & PERF_SAMPLE_IP)
		s->ip = word(&p, swap);
	if (t & PERF_SAMPLE_TID) {
		s->pid = (int32_t)load_u32(p, swap);
		s->tid = (int32_t)load_u32(p + 4, swap);
		p += 8;
	}
	if (t & PERF_SAMPLE_TIME)
		s->time = word(&p, swap);
	if (t & PERF_SAMPLE_ADDR)
		s->addr = word(&p, swap);
	if (t & PERF_SAMPLE_ID)
		s->id = word(&p, swap);
	if (t & PERF_SAMPLE_STREAM_ID)
		s->stream_id = word(&p, swap);
	if (t & PERF_SAMPLE_CPU) {
		s->cpu = load_u32(p, swap);
		p += 8;
	}
	if (t & PERF_SAMPLE_PERIOD)
		s->period = word(&p, swap);
}

/* The single words after the stack dump. */
static void decode_extras(struct bytes *b, uint64_t t, struct sample *s)
{
	if (t & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) {
		s->weight = bytes_u64(b);
		if (t & PERF_SAMPLE_WEIGHT_STRUCT) /* var1_dw is the low half in either order */
			s->weight &= 0xffffffff;
	}
	if (t & PERF_SAMPLE_DATA_SRC)
		s->data_src = bytes_u64(b);
	if (t & PERF_SAMPLE_TRANSACTION)
		s->transaction = bytes_u64(b);
}

static void decode_last(struct bytes *b, uint64_t t, struct sample *s)
{
	if (t & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = bytes_u64(b);
	if (t & PERF_SAMPLE_CGROUP)
		s->cgroup = bytes_u64(b);
	if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = bytes_u64(b);
	if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = bytes_u64(b);
	if (t & PERF_SAMPLE_AUX) {
		uint64_t n = bytes_u64(b);
		s->aux = n <= bytes_left(b) ? bytes_take(b, n) : NULL;
		s->aux_size = s->aux ? n : 0;
		b->bad |= !s->aux && n;
	}
}

#define FIXED                                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |  \
	 PERF_SAMPLE_PERIOD)
#define UP_TO_RAW (FIXED | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

uint32_t sample_fixed_size(uint64_t sample_type)
{
	return (uint32_t)__builtin_popcountll(sample_type & FIXED) * 8;
}

/* Decode the fields as recorded. */
static int decode(const struct record *r, const struct event *ev, int swap, struct sample *out,
		  struct err *e)
{
	const struct event_attr *a = &ev->attr;
	uint64_t t = a->sample_type;
	struct bytes b =
		bytes_init(r->p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE, swap);
	const uint8_t *fixed = bytes_take(&b, ev->fixed_size);
	mem_clear(out, sizeof(*out));
	out->event = ev;
	out->cpu = UINT32_MAX;
	out->misc = r->misc;
	out->pid = out->tid = -1;
	out->period = attr_flag(a, ATTR_FREQ) || !a->sample_period ? 1 : a->sample_period;
	if (!fixed)
		return bad(r, e, "fixed part");
	decode_fixed(fixed, t, swap, out);
	if (t & PERF_SAMPLE_READ && decode_read(&b, a->read_format, out))
		return bad(r, e, "counter group");
	if (t & PERF_SAMPLE_CALLCHAIN && decode_words(&b, bytes_u64(&b), &out->callchain))
		return bad(r, e, "callchain");
	if (t & PERF_SAMPLE_RAW) {
		out->raw_size = bytes_u32(&b);
		out->raw = bytes_take(&b, out->raw_size);
		if (!out->raw)
			return bad(r, e, "raw data");
	}
	if (!(t & ~UP_TO_RAW))
		return 0;
	if (t & PERF_SAMPLE_BRANCH_STACK && decode_branches(&b, a->branch_sample_type, out))
		return bad(r, e, "branch stack");
	if (t & PERF_SAMPLE_REGS_USER &&
	    decode_regs(&b, a->sample_regs_user, &out->regs_abi, &out->regs_user))
		return bad(r, e, "user registers");
	if (t & PERF_SAMPLE_STACK_USER && decode_stack(&b, out))
		return bad(r, e, "user stack");
	decode_extras(&b, t, out);
	if (t & PERF_SAMPLE_REGS_INTR &&
	    decode_regs(&b, a->sample_regs_intr, &out->regs_intr_abi, &out->regs_intr))
		return bad(r, e, "interrupt registers");
	decode_last(&b, t, out);
	return bytes_ok(&b) ? 0 : bad(r, e, "last fields");
}

static int is_named_off_cpu(const struct event *ev)
{
	return ev->name && event_name_is_off_cpu(ev->name);
}

/* Only perf's sums of off-CPU time may have no place in time. */
static int check_time(const struct record *r, const struct event *ev, uint64_t time,
		      struct err *e)
{
	if (sample_is_time(time) || (time >= SAMPLE_DUMMY_TIMES && is_named_off_cpu(ev)))
		return 0;
	return err_set(e, ERR_FORMAT, "SAMPLE at 0x%llx: 0x%llx is not a time",
		       (unsigned long long)r->offset, (unsigned long long)time);
}

/* What one sample stands for is counted from the one before it; no counter gets that far. */
static int check_period(const struct record *r, uint64_t period, struct err *e)
{
	if (period < SAMPLE_MAX_PERIOD)
		return 0;
	return err_set(e, ERR_FORMAT, "SAMPLE at 0x%llx: 0x%llx is not a period",
		       (unsigned long long)r->offset, (unsigned long long)period);
}

static inline int is_off_cpu(const struct event *ev)
{
	const struct event_attr *a = &ev->attr;
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT &&
	       a->sample_type & PERF_SAMPLE_RAW && is_named_off_cpu(ev);
}

int sample_is_off_cpu(const struct event *ev)
{
	return is_off_cpu(ev);
}

/*
 * u64 thread, ns, nr, ips[nr], cgroup. Sums that perf itself writes have the pid in the first
 * half of the first word; samples of its BPF program (off_cpu_dump()) have it in the second. A
 * pid is not above the tids of its threads.
 */
static void decode_off_cpu(struct bytes *b, struct sample *s)
{
	uint32_t pid = bytes_u32(b), tid = bytes_u32(b);
	int turned = s->time < SAMPLE_DUMMY_TIMES && tid < pid;
	s->pid = (int32_t)(turned ? tid : pid);
	s->tid = (int32_t)(turned ? pid : tid);
	s->period = bytes_u64(b);
	if (decode_words(b, bytes_u64(b), &s->callchain))
		return;
	s->ip = s->callchain.n > 1 ? load_u64(s->callchain.p + 8, b->swap) : 0;
	s->cgroup = bytes_u64(b);
}

int sample_decode(const struct record *r, const struct event *ev, int swap, struct sample *out,
		  struct err *e)
{
	int rc = decode(r, ev, swap, out, e);
	if (!rc)
		rc = check_time(r, ev, out->time, e);
	if (!rc && is_off_cpu(ev)) {
		struct bytes b = bytes_init(out->raw, out->raw_size, swap);
		decode_off_cpu(&b, out);
		rc = bytes_ok(&b) ? 0 : bad(r, e, "off-CPU time");
	}
	return rc ? rc : check_period(r, out->period, e);
}

/* Offset of the field `want` in the fixed part. */
static int fixed_offset(uint64_t t, uint64_t want)
{
	static const uint64_t order[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
	};
	int at = 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		if (order[i] == want)
			return t & want ? at : -1;
		at += t & order[i] ? 8 : 0;
	}
	return -1;
}

int sample_id_offset(uint64_t t)
{
	return t & PERF_SAMPLE_IDENTIFIER ? 0 : fixed_offset(t, PERF_SAMPLE_ID);
}

int sample_time_offset(uint64_t t)
{
	return fixed_offset(t, PERF_SAMPLE_TIME);
}
