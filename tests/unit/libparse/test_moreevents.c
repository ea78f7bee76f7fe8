/* more_events: a real recording with more tracepoints has all of its own records, and the new
 * samples among them in the order of time, with their fields, stacks, names and formats. */
#include "tests/lib/torture.h"

#include "libparse/more_events.h"
#include "libparse/order.h"
#include "libparse/sample.h"
#include "libparse/tracepoint.h"

#include <stdlib.h>
#include <unistd.h>

static const char file[] = "testdata/waits/perf.data";
static const char format[] =
	"name: hit\nID: 4711\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int nth;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"nth=%d\", REC->nth\n";

enum { CPUS = 2, ID = 4711, SAMPLES = 2000, REGS = 3, COPY = 32 };
static const uint64_t mask = 0x1c0; /* bp, sp, ip */

/* Times of the samples: from `first` on, each `step` later; every third has a stack. */
struct source_of {
	uint64_t first, step;
	int of_cpu[CPUS], at;
	uint8_t raw[12];
	uint64_t chain[3], regs[REGS];
	uint8_t copy[COPY];
};

static int next(void *ctx, uint32_t cpu, uint64_t until, struct more_sample *s)
{
	struct source_of *v = ctx;
	int *at = &v->of_cpu[cpu];
	v->at = *at * CPUS + (int)cpu;
	if (v->at >= SAMPLES || v->first + v->step * (uint64_t)v->at > until) {
		*at = until == UINT64_MAX ? 0 : *at;
		return 0;
	}
	(*at)++;
	const uint16_t id = ID;
	const int32_t nth = v->at;
	memcpy(v->raw, &id, sizeof(id));
	memcpy(v->raw + 8, &nth, sizeof(nth));
	*s = (struct more_sample){.time = v->first + v->step * (uint64_t)v->at,
				  .pid = 70,
				  .tid = 71,
				  .cpu = cpu,
				  .raw = v->raw,
				  .nraw = sizeof(v->raw)};
	if (v->at % 3 == 0) {
		v->chain[0] = PERF_CONTEXT_KERNEL;
		v->chain[1] = 0xffffffff81000000 + (uint64_t)v->at;
		v->regs[1] = 0x7000 + (uint64_t)v->at;
		memset(v->copy, v->at & 0xff, sizeof(v->copy));
		s->event = 1;
		s->chain = v->chain;
		s->nchain = 2;
		s->regs = v->regs;
		s->copy = v->copy;
		s->copied = 24;
	}
	return 1;
}

/* When the recording's records with a time begin and end, and how many records it has. */
struct span {
	uint64_t first, last, records;
};

static struct span span_of(struct recording *rec)
{
	struct span x = {.first = UINT64_MAX};
	struct record_id id;
	struct record r;
	while (recording_next(rec, &r, NULL) == 1) {
		x.records++;
		recording_id(rec, &r, &id);
		if (r.type >= PERF_RECORD_HEADER_ATTR || !id.has_time || !id.time)
			continue;
		x.first = id.time < x.first ? id.time : x.first;
		x.last = id.time > x.last ? id.time : x.last;
	}
	return x;
}

static struct recording *opened(const char *path)
{
	struct recording *rec;
	struct err e = {0};
	if (recording_open(&rec, path, &e))
		fail_msg("%s", e.msg);
	return rec;
}

static void write_to(const char *path, const char *from, struct source_of *v, int within)
{
	static const char *const argv[] = {"perf", "record", "-e", "more:hit"};
	const struct more_event events[] = {{"more:hit", format, ID, 0},
					    {"more:hit", format, ID, 1}};
	const struct more_events m = {.events = events,
				      .nevents = 2,
				      .regs_mask = mask,
				      .copy_bytes = COPY,
				      .within = within,
				      .argv = argv,
				      .nargv = 4,
				      .ncpus = CPUS,
				      .next = next,
				      .ctx = v};
	struct err e = {0};
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	if (more_events_write(f, from, &m, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(fclose(f), 0);
}

static void check_sample(const struct sample *s, struct source_of *want)
{
	struct more_sample m;
	assert_int_equal(next(want, s->cpu, UINT64_MAX, &m), 1);
	assert_int_equal(s->time, m.time);
	assert_int_equal(s->pid, m.pid);
	assert_int_equal(s->tid, m.tid);
	assert_int_equal(s->cpu, m.cpu);
	assert_int_equal(s->period, 1);
	assert_memory_equal(s->raw, m.raw, m.nraw);
	assert_int_equal(s->callchain.n, m.nchain);
	for (size_t i = 0; i < m.nchain; i++)
		assert_int_equal(load_u64(s->callchain.p + i * 8, 0), m.chain[i]);
	if (!m.nchain)
		return;
	assert_int_equal(s->regs_user.n, REGS);
	assert_int_equal(load_u64(s->regs_user.p + 8, 0), m.regs[1]);
	assert_int_equal(s->stack_size, COPY);
	assert_int_equal(s->stack_dyn, m.copied);
	assert_memory_equal(s->stack, m.copy, m.copied);
}

static void all_records_and_all_samples_are_there_in_order(void **state)
{
	(void)state;
	struct recording *rec = opened(file);
	const struct span own = span_of(rec);
	struct source_of v = {.first = own.first, .step = (own.last - own.first) / SAMPLES},
			 want = v;
	struct order *o;
	struct ordered *x;
	struct sample s;
	uint64_t more = 0, others = 0;
	char path[] = "/tmp/perfkit-more-XXXXXX";
	recording_close(rec);
	close(mkstemp(path));
	write_to(path, file, &v, 0);
	rec = opened(path);
	assert_string_equal(rec->features.cmdline, "perf record -e more:hit");
	assert_int_equal(order_new(&o, rec, NULL), 0);
	while (order_next(o, &x, NULL) == 1) { /* ORDER_LATE would end it */
		const struct event *ev = recording_event(rec, &x->r);
		if (x->r.type != PERF_RECORD_SAMPLE || strcmp(ev->name, "more:hit") != 0) {
			others++;
			continue;
		}
		more++;
		assert_int_equal(sample_decode(&x->r, ev, 0, &s, NULL), 0);
		check_sample(&s, &want);
	}
	assert_int_equal(order_counts(o).back, 0); /* nor is a CPU's clock set back */
	order_free(o);
	assert_int_equal(more, SAMPLES);
	assert_int_equal(rec->stats.bad.n, 0);
	assert_int_equal(others + rec->stats.by_type[PERF_RECORD_FINISHED_ROUND], own.records);
	recording_close(rec);
	unlink(path);
}

static void fields_have_the_new_format_and_old_ones_theirs(void **state)
{
	(void)state;
	struct source_of v = {.first = 1, .step = 1};
	struct tracepoints *t;
	struct buf text = {0};
	const uint8_t raw[12] = {ID & 0xff, ID >> 8, [8] = 42};
	char path[] = "/tmp/perfkit-more-XXXXXX";
	close(mkstemp(path));
	write_to(path, file, &v, 0);
	struct recording *rec = opened(path);
	assert_int_equal(tracepoints_new(&t, rec, NULL), 0);
	assert_string_equal(tracepoints_damage(t), "");
	assert_non_null(tracepoint_of(t, recording_find_event(rec, "sched:sched_switch")));
	const struct tracepoint *tp = tracepoint_of(t, recording_find_event(rec, "more:hit"));
	assert_non_null(tp);
	tracepoint_text(t, tp, raw, sizeof(raw), &text);
	assert_string_equal(buf_cstr(&text), "nth=42");
	buf_release(&text);
	tracepoints_free(t);
	recording_close(rec);
	unlink(path);
}

static void samples_outside_of_the_recording_are_left_out(void **state)
{
	(void)state;
	struct recording *rec = opened(file);
	const struct span own = span_of(rec);
	struct source_of v = {.first = own.first - 500 * 1000, .step = 1000};
	struct record r;
	uint64_t samples = 0, before = rec->stats.by_type[PERF_RECORD_SAMPLE];
	char path[] = "/tmp/perfkit-more-XXXXXX";
	recording_close(rec);
	close(mkstemp(path));
	write_to(path, file, &v, 1);
	rec = opened(path);
	while (recording_next(rec, &r, NULL) == 1)
		samples += r.type == PERF_RECORD_SAMPLE;
	assert_int_equal(samples, before + SAMPLES - 500);
	assert_string_equal(rec->stats.truncated, "");
	recording_close(rec);
	unlink(path);
}

/* One LOST record, then the end. */
static int lost(void *ctx, uint32_t cpu, uint64_t until, struct more_sample *s)
{
	int *given = ctx;
	if (cpu != 1 || until < 77)
		return 0;
	*s = (struct more_sample){.time = 77, .pid = 5, .tid = 6, .cpu = 1, .lost = 9};
	if (*given)
		*given = until != UINT64_MAX;
	else
		*given = 2;
	return *given == 2 ? (*given)-- : 0;
}

static void what_was_lost_is_a_record_of_its_cpu(void **state)
{
	(void)state;
	int given = 0, found = 0;
	const struct more_event ev = {"more:hit", format, ID, 0};
	const struct more_events m = {
		.events = &ev, .nevents = 1, .ncpus = CPUS, .next = lost, .ctx = &given};
	struct record_id id;
	struct record r;
	char path[] = "/tmp/perfkit-more-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	assert_int_equal(more_events_write(f, file, &m, NULL), 0);
	fclose(f);
	struct recording *rec = opened(path);
	while (recording_next(rec, &r, NULL) == 1) {
		if (r.type != PERF_RECORD_LOST)
			continue;
		found++;
		recording_id(rec, &r, &id);
		assert_int_equal(id.time, 77);
		assert_int_equal(id.cpu, 1);
		assert_int_equal(id.tid, 6);
		assert_string_equal(id.event->name, "more:hit");
	}
	assert_int_equal(found, 1);
	assert_int_equal(rec->stats.lost, 9);
	recording_close(rec);
	unlink(path);
}

static void what_is_no_such_recording_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		int code;
	} cases[] = {
		{"testdata/cut/perf.data", ERR_UNSUPPORTED},
		{"testdata/demo/perf.data", ERR_UNSUPPORTED},
		{"testdata/pipe/perf.data", ERR_UNSUPPORTED},
		{"tests/lib/unit.h", ERR_UNSUPPORTED},
		{"/nowhere", ERR_IO},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct source_of v = {.step = 1};
		const struct more_event ev = {"more:hit", format, ID, 0};
		const struct more_events m = {
			.events = &ev, .nevents = 1, .ncpus = 1, .next = next, .ctx = &v};
		struct err e = {0};
		FILE *f = tmpfile();
		assert_int_equal(more_events_write(f, cases[i].path, &m, &e), cases[i].code);
		assert_non_null(strstr(e.msg, cases[i].path));
		fclose(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_records_and_all_samples_are_there_in_order),
		cmocka_unit_test(fields_have_the_new_format_and_old_ones_theirs),
		cmocka_unit_test(samples_outside_of_the_recording_are_left_out),
		cmocka_unit_test(what_was_lost_is_a_record_of_its_cpu),
		cmocka_unit_test(what_is_no_such_recording_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
