/* libparse: every field of a sample, alone and with every other, in both byte orders, from a
 * file and from a pipe: what the writer put in comes out. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "base/bytes.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

#include <endian.h>

static const uint64_t chain[] = {PW_CONTEXT_KERNEL, 0xffffffff81000010, PW_CONTEXT_USER,
				 0x401136, 0x401200};
static const struct pw_read_value group[] = {{1001, 11, 1}, {1002, 12, 2}, {1003, 13, 0}};
static const struct pw_branch lbr[] = {{0x401010, 0x401020, .mispred = 1, .counters = 77},
				       {0x401030, 0x401040, .predicted = 1, .counters = 78}};
static const uint64_t user_regs[] = {0xaa01, 0xaa02, 0xaa03};
static const uint64_t intr_regs[] = {0xbb01, 0xbb02};

static const struct pw_sample full = {
	.misc = PW_MISC_USER | PW_MISC_EXACT_IP,
	.ip = 0x401136,
	.time = 0x1122334455667788,
	.addr = 0xdeadbeef0,
	.id = 11,
	.stream_id = 0x5151515151,
	.period = 123456789012,
	.pid = 7,
	.tid = 8,
	.cpu = 3,
	.values = group,
	.nvalues = 3,
	.time_enabled = 900,
	.time_running = 800,
	.ips = chain,
	.nips = 5,
	.raw = "raw bytes!",
	.raw_size = 10,
	.branches = lbr,
	.nbranches = 2,
	.hw_idx = 9,
	.user_abi = 2,
	.intr_abi = 1,
	.user_regs = user_regs,
	.intr_regs = intr_regs,
	.stack = "0123456789abcdef01234567",
	.stack_size = 24,
	.stack_dyn = 16,
	.weight = 0x000300020000000b,
	.data_src = 0x1e05080021,
	.txn = 0x7700000004,
	.phys_addr = 0x12345000,
	.cgroup = 77,
	.data_page_size = 4096,
	.code_page_size = 2097152,
	.aux = "auxiliary data..",
	.aux_size = 16,
};

struct layout {
	uint64_t type, read_format, branch_type;
	int big_endian;
	enum pw_mode mode;
};

static void write_sample(const struct layout *l, const struct pw_sample *s, struct buf *image)
{
	static const uint64_t ids[] = {11};
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = l->mode, .big_endian = l->big_endian});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .period = 4000,
				      .sample_type = l->type,
				      .read_format = l->read_format,
				      .branch_sample_type = l->branch_type,
				      .regs_user = 1 << 6 | 1 << 7 | 1 << 8,
				      .regs_intr = 1ull << 0 | 1ull << 63,
				      .stack_user = 24,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	pw_sample(&w, 0, s);
	pw_sample(&w, 0, s); /* a second one: the first ends where it should */
	assert_int_equal(pw_finish(&w, image), 0);
}

static void check_words(struct sample_words w, int swap, const uint64_t *want, uint64_t n)
{
	assert_int_equal(w.n, n);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(load_u64(w.p + 8 * i, swap), want[i]);
}

static void check_fixed(const struct sample *s, uint64_t t)
{
	assert_int_equal(s->misc, full.misc);
	assert_int_equal(s->ip, t & PW_S_IP ? full.ip : 0);
	assert_int_equal(s->pid, t & PW_S_TID ? 7 : -1);
	assert_int_equal(s->tid, t & PW_S_TID ? 8 : -1);
	assert_int_equal(s->time, t & PW_S_TIME ? full.time : 0);
	assert_int_equal(s->addr, t & PW_S_ADDR ? full.addr : 0);
	assert_int_equal(s->id, t & (PW_S_ID | PW_S_IDENTIFIER) ? full.id : 0);
	assert_int_equal(s->stream_id, t & PW_S_STREAM_ID ? full.stream_id : 0);
	assert_int_equal(s->cpu, t & PW_S_CPU ? 3 : UINT32_MAX);
	assert_int_equal(s->period, t & PW_S_PERIOD ? full.period : 4000);
}

static void check_read(const struct sample *s, const struct layout *l, int swap)
{
	uint64_t f = l->read_format;
	assert_int_equal(s->time_enabled, f & PW_R_TIME_ENABLED ? 900 : 0);
	assert_int_equal(s->time_running, f & PW_R_TIME_RUNNING ? 800 : 0);
	if (!(f & PW_R_GROUP)) {
		assert_int_equal(s->read_values.n, 1);
		assert_int_equal(load_u64(s->read_values.p, swap), 1001);
		return;
	}
	uint32_t stride = 1 + !!(f & PW_R_ID) + !!(f & PW_R_LOST);
	assert_int_equal(s->read_stride, stride);
	assert_int_equal(s->read_values.n, 3 * stride);
	for (uint32_t i = 0; i < 3; i++) {
		const uint8_t *p = s->read_values.p + (size_t)i * stride * 8;
		assert_int_equal(load_u64(p, swap), group[i].value);
		if (f & PW_R_ID)
			assert_int_equal(load_u64(p + 8, swap), group[i].id);
		if (f & PW_R_LOST)
			assert_int_equal(load_u64(p + 8 * (stride - 1), swap), group[i].lost);
	}
}

static void check_branches(const struct sample *s, const struct layout *l, int swap)
{
	int counters = !!(l->branch_type & PW_BRANCH_COUNTERS);
	assert_int_equal(s->branches.n, 6);
	assert_int_equal(load_u64(s->branches.p, swap), lbr[0].from);
	assert_int_equal(load_u64(s->branches.p + 8, swap), lbr[0].to);
	assert_int_equal(load_u64(s->branches.p + 24, swap), lbr[1].from);
	assert_int_equal(load_u64(s->branches.p + 32, swap), lbr[1].to);
	assert_int_equal(s->branch_hw_idx, l->branch_type & PW_BRANCH_HW_INDEX ? 9 : 0);
	assert_int_equal(s->branch_counters.n, counters ? 2 : 0);
	if (counters)
		assert_int_equal(load_u64(s->branch_counters.p + 8, swap), 78);
}

static void check_variable(const struct sample *s, const struct layout *l, int swap)
{
	uint64_t t = l->type;
	if (t & PW_S_READ)
		check_read(s, l, swap);
	check_words(s->callchain, swap, chain, t & PW_S_CALLCHAIN ? 5 : 0);
	assert_int_equal(s->raw_size, t & PW_S_RAW ? 12 : 0); /* padded by the kernel */
	if (t & PW_S_RAW)
		assert_memory_equal(s->raw, "raw bytes!\0\0", 12);
	if (t & PW_S_BRANCH_STACK)
		check_branches(s, l, swap);
	else
		assert_int_equal(s->branches.n, 0);
	assert_int_equal(s->regs_abi, t & PW_S_REGS_USER ? 2 : 0);
	check_words(s->regs_user, swap, user_regs, t & PW_S_REGS_USER ? 3 : 0);
	assert_int_equal(s->stack_size, t & PW_S_STACK_USER ? 24 : 0);
	assert_int_equal(s->stack_dyn, t & PW_S_STACK_USER ? 16 : 0);
	if (t & PW_S_STACK_USER)
		assert_memory_equal(s->stack, full.stack, 24);
}

static void check_tail(const struct sample *s, uint64_t t, int swap)
{
	uint64_t weight = t & PW_S_WEIGHT_STRUCT ? 0xb : t & PW_S_WEIGHT ? full.weight : 0;
	assert_int_equal(s->weight, weight);
	assert_int_equal(s->data_src, t & PW_S_DATA_SRC ? full.data_src : 0);
	assert_int_equal(s->transaction, t & PW_S_TRANSACTION ? full.txn : 0);
	assert_int_equal(s->regs_intr_abi, t & PW_S_REGS_INTR ? 1 : 0);
	check_words(s->regs_intr, swap, intr_regs, t & PW_S_REGS_INTR ? 2 : 0);
	assert_int_equal(s->phys_addr, t & PW_S_PHYS_ADDR ? full.phys_addr : 0);
	assert_int_equal(s->cgroup, t & PW_S_CGROUP ? 77 : 0);
	assert_int_equal(s->data_page_size, t & PW_S_DATA_PAGE_SIZE ? 4096 : 0);
	assert_int_equal(s->code_page_size, t & PW_S_CODE_PAGE_SIZE ? 2097152 : 0);
	assert_int_equal(s->aux_size, t & PW_S_AUX ? 16 : 0);
	if (t & PW_S_AUX)
		assert_memory_equal(s->aux, full.aux, 16);
}

static void check_layout(const struct layout *l)
{
	struct buf image = {0};
	struct recording *rec;
	struct record r;
	struct err e = {0};
	int samples = 0;
	write_sample(l, &full, &image);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	while (recording_next(rec, &r, &e) == 1) {
		if (r.type != PERF_RECORD_SAMPLE)
			continue;
		struct sample s;
		const struct event *ev = recording_event(rec, &r);
		assert_non_null(ev);
		assert_int_equal(sample_decode(&r, ev, rec->swap, &s, &e), 0);
		check_fixed(&s, l->type);
		check_variable(&s, l, rec->swap);
		check_tail(&s, l->type, rec->swap);
		samples++;
	}
	assert_int_equal(samples, 2);
	assert_int_equal(rec->stats.bad.n, 0);
	recording_close(rec);
	buf_release(&image);
}

/* The layout in both orders and both containers. */
static void check_everywhere(struct layout l)
{
	for (int i = 0; i < 4; i++) {
		l.big_endian = i & 1;
		l.mode = i & 2 ? PW_PIPE : PW_FILE;
		check_layout(&l);
	}
}

static void no_field_at_all(void **state)
{
	(void)state;
	check_everywhere((struct layout){0});
}

static void every_field_alone(void **state)
{
	(void)state;
	for (int i = 0; i < PW_S_BITS; i++)
		check_everywhere((struct layout){.type = 1ull << i});
}

static void every_pair_of_fields(void **state)
{
	(void)state;
	for (int i = 0; i < PW_S_BITS; i++)
		for (int k = i + 1; k < PW_S_BITS; k++)
			check_everywhere((struct layout){.type = 1ull << i | 1ull << k});
}

static void all_fields_together(void **state)
{
	(void)state;
	uint64_t all = (1ull << PW_S_BITS) - 1;
	check_everywhere((struct layout){.type = all - PW_S_WEIGHT});
	check_everywhere((struct layout){.type = all - PW_S_WEIGHT_STRUCT});
}

static void read_in_every_format(void **state)
{
	(void)state;
	for (uint64_t f = 0; f < 32; f++)
		check_everywhere((struct layout){.type = PW_S_IP | PW_S_READ | PW_S_CALLCHAIN,
						 .read_format = f});
}

static void branch_stack_with_index_and_counters(void **state)
{
	(void)state;
	static const uint64_t extra[] = {0, PW_BRANCH_HW_INDEX, PW_BRANCH_COUNTERS,
					 PW_BRANCH_HW_INDEX | PW_BRANCH_COUNTERS};
	for (size_t i = 0; i < 4; i++)
		check_everywhere((struct layout){.type = PW_S_BRANCH_STACK | PW_S_REGS_USER,
						 .branch_type = PW_BRANCH_ANY | extra[i]});
}

/* What a kernel thread's sample looks like: no user registers, no stack, empty lists. */
static void absent_parts_take_no_space(void **state)
{
	(void)state;
	struct pw_sample bare = full;
	bare.user_abi = bare.intr_abi = 0;
	bare.stack_size = 0;
	bare.nips = bare.nbranches = 0;
	bare.aux_size = 0;
	struct layout l = {.type = (1ull << PW_S_BITS) - 1 - PW_S_WEIGHT};
	for (l.big_endian = 0; l.big_endian < 2; l.big_endian++) {
		struct buf image = {0};
		struct recording *rec;
		struct record r;
		struct sample s;
		struct err e = {0};
		write_sample(&l, &bare, &image);
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
		assert_int_equal(recording_next(rec, &r, &e), 1);
		assert_int_equal(sample_decode(&r, recording_event(rec, &r), rec->swap, &s, &e),
				 0);
		assert_int_equal(s.callchain.n, 0);
		assert_int_equal(s.branches.n, 0);
		assert_int_equal(s.regs_abi, 0);
		assert_int_equal(s.regs_user.n, 0);
		assert_int_equal(s.stack_size, 0);
		assert_int_equal(s.regs_intr.n, 0);
		assert_int_equal(s.aux_size, 0);
		assert_int_equal(s.code_page_size, 2097152);
		recording_close(rec);
		buf_release(&image);
	}
}

/* The first sample of event `name`, whose RAW holds `words`, that was taken at `time` while
 * thread 3 of process 2 had the CPU. 0 or ERR_FORMAT. */
static int decode_off_cpu(const char *name, uint64_t time, const uint64_t *words, size_t n,
			  struct sample *s)
{
	static const uint64_t ids[] = {11};
	struct buf image = {0};
	struct recording *rec;
	struct record r;
	struct err e = {0};
	struct pw w;
	uint64_t raw[16];
	for (size_t i = 0; i < n; i++)
		raw[i] = htole64(words[i]);
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .config = 10,
				      .period = 1,
				      .name = name,
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						     PW_S_PERIOD | PW_S_RAW | PW_S_CGROUP,
				      .ids = ids,
				      .nids = 1});
	pw_feature_event_desc(&w);
	pw_sample(&w, 0,
		  &(struct pw_sample){.ip = 0x9999,
				      .pid = 2,
				      .tid = 3,
				      .time = time,
				      .period = 1,
				      .cgroup = 9,
				      .raw = raw,
				      .raw_size = (uint32_t)(8 * n)});
	assert_int_equal(pw_finish(&w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(recording_next(rec, &r, &e), 1);
	int rc = sample_decode(&r, recording_event(rec, &r), rec->swap, s, &e);
	if (!rc && s->callchain.n)
		check_words(s->callchain, rec->swap, words + 3, words[2]);
	recording_close(rec);
	buf_release(&image);
	return rc;
}

enum { THREAD, NR = 2, CGROUP = 6, OFF_CPU_WORDS };

static void off_cpu_time_is_its_threads_not_its_samples(void **state)
{
	(void)state;
	struct sample s;
	uint64_t words[OFF_CPU_WORDS] = {0, 700000000, 3, PW_CONTEXT_USER, 0x4010, 0x4020, 55};
	/* off_cpu_write(): pid << 32 | tgid; off_cpu_dump(): tgid << 32 | pid */
	const struct {
		uint64_t time, thread;
	} kinds[] = {{0xffffffff00000000, 101ull << 32 | 100},
		     {5000000000, 100ull << 32 | 101},
		     {5000000000, 101ull << 32 | 100}};
	for (size_t i = 0; i < 3; i++) {
		words[THREAD] = kinds[i].thread;
		assert_int_equal(
			decode_off_cpu("offcpu-time", kinds[i].time, words, OFF_CPU_WORDS, &s),
			0);
		assert_int_equal(s.pid, 100);
		assert_int_equal(s.tid, 101);
		assert_int_equal(s.time, kinds[i].time);
		assert_int_equal(s.period, 700000000);
		assert_int_equal(s.callchain.n, 3);
		assert_int_equal(s.ip, 0x4010);
		assert_int_equal(s.cgroup, 55);
	}
}

static void raw_of_other_events_is_not_looked_into(void **state)
{
	(void)state;
	struct sample s;
	uint64_t words[OFF_CPU_WORDS] = {1, 2, 3, 4, 5, 6, 7};
	assert_int_equal(decode_off_cpu("bpf-output", 5, words, OFF_CPU_WORDS, &s), 0);
	assert_int_equal(s.pid, 2);
	assert_int_equal(s.tid, 3);
	assert_int_equal(s.period, 1);
	assert_int_equal(s.callchain.n, 0);
	assert_int_equal(s.cgroup, 9);
}

static void off_cpu_time_that_passes_its_end_is_refused(void **state)
{
	(void)state;
	struct sample s;
	uint64_t words[OFF_CPU_WORDS] = {0, 7, 3, PW_CONTEXT_USER, 0x4010, 0x4020, 55};
	for (size_t n = 0; n < CGROUP; n++)
		assert_int_equal(decode_off_cpu("offcpu-time", 5, words, n, &s), ERR_FORMAT);
	words[NR] = UINT64_MAX;
	assert_int_equal(decode_off_cpu("offcpu-time", 5, words, OFF_CPU_WORDS, &s),
			 ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_field_at_all),
		cmocka_unit_test(every_field_alone),
		cmocka_unit_test(every_pair_of_fields),
		cmocka_unit_test(all_fields_together),
		cmocka_unit_test(read_in_every_format),
		cmocka_unit_test(branch_stack_with_index_and_counters),
		cmocka_unit_test(absent_parts_take_no_space),
		cmocka_unit_test(off_cpu_time_is_its_threads_not_its_samples),
		cmocka_unit_test(raw_of_other_events_is_not_looked_into),
		cmocka_unit_test(off_cpu_time_that_passes_its_end_is_refused),
	};
	return cmocka_run_group_tests_name("libparse sample", tests, NULL, NULL);
}
