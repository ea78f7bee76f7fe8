/* order, tracepoint: a real scheduler recording in the order of time, and its fields; written
 * ones whose records come late. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/torture.h"

#include "libparse/order.h"
#include "libparse/sample.h"
#include "libparse/tracepoint.h"

#include <unistd.h>

static const char file[] = "testdata/waits/perf.data";

static struct recording *open_file(void)
{
	struct recording *rec;
	struct err e = {0};
	if (recording_open(&rec, file, &e))
		fail_msg("%s", e.msg);
	return rec;
}

static void records_come_in_the_order_of_time_and_all_of_them(void **state)
{
	(void)state;
	struct recording *rec = open_file();
	struct order *o;
	struct record r;
	struct ordered *next;
	uint64_t in_file = 0, in_order = 0, sum_file = 0, sum_order = 0, last = 0;
	while (recording_next(rec, &r, NULL) == 1) {
		in_file += r.type != PERF_RECORD_FINISHED_ROUND;
		sum_file += r.type != PERF_RECORD_FINISHED_ROUND ? r.offset : 0;
	}
	assert_int_equal(recording_rewind(rec, NULL), 0);
	assert_int_equal(order_new(&o, rec, NULL), 0);
	while (order_next(o, &next, NULL) == 1) {
		in_order++;
		sum_order += next->r.offset;
		if (!next->id.has_time || !next->id.time)
			continue;
		assert_true(next->id.time >= last);
		last = next->id.time;
	}
	assert_int_equal(in_order, in_file);
	assert_int_equal(sum_order, sum_file);
	assert_true(in_order > 4000);
	order_free(o);
	recording_close(rec);
}

static void an_order_may_be_left_halfway(void **state)
{
	(void)state;
	struct recording *rec = open_file();
	struct order *o;
	struct ordered *next;
	assert_int_equal(order_new(&o, rec, NULL), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(order_next(o, &next, NULL), 1);
	order_free(o);
	recording_close(rec);
}

static void reading_ahead_gives_the_same_records(void **state)
{
	(void)state;
	struct recording *here = open_file(), *ahead = open_file();
	struct order *a, *b;
	struct ordered *x, *y;
	struct record r;
	int got, n = 0;
	while (recording_next(ahead, &r, NULL) == 1)
		;
	assert_int_equal(recording_rewind(ahead, NULL), 0);
	assert_int_equal(order_new(&a, here, NULL), 0);
	assert_int_equal(order_new(&b, ahead, NULL), 0);
	assert_int_equal(order_read_ahead(b, NULL), 0);
	while ((got = order_next(a, &x, NULL)) == 1) {
		assert_int_equal(order_next(b, &y, NULL), 1);
		assert_int_equal(x->r.offset, y->r.offset);
		assert_int_equal(x->r.type, y->r.type);
		assert_int_equal(x->id.time, y->id.time);
		assert_int_equal(x->id.tid, y->id.tid);
		assert_int_equal(x->id.cpu, y->id.cpu);
		n++;
	}
	assert_int_equal(got, 0);
	assert_int_equal(order_next(b, &y, NULL), 0);
	assert_int_equal(order_next(b, &y, NULL), 0);
	assert_true(n > 4000);
	order_free(a);
	order_free(b);
	assert_memory_equal(here->stats.by_type, ahead->stats.by_type,
			    sizeof(here->stats.by_type));
	recording_close(here);
	recording_close(ahead);
}

static void reading_ahead_may_be_left_halfway(void **state)
{
	(void)state;
	for (int n = 0; n < 3000; n += 700) {
		struct recording *rec = open_file();
		struct order *o;
		struct ordered *next;
		assert_int_equal(order_new(&o, rec, NULL), 0);
		assert_int_equal(order_read_ahead(o, NULL), 0);
		for (int i = 0; i < n; i++)
			assert_int_equal(order_next(o, &next, NULL), 1);
		order_free(o);
		recording_close(rec);
	}
}

/* --- records that come late ----------------------------------------------------------- */

/* A sample's time in us and its CPU; us 0: the end of a round. */
struct at {
	uint64_t us;
	uint32_t cpu;
};

enum { LATE_US = 250, RELEASED_US = 400 };
static const struct at late[] = {{100, 0}, {200, 0}, {150, 1},     {0, 0}, {300, 0},
				 {400, 1}, {0, 0},   {500, 0},     {0, 0}, {LATE_US, 1},
				 {450, 0}, {600, 1}, {LATE_US, 0}, {0, 0}, {700, 0}};
enum { LATE_N = sizeof(late) / sizeof(*late) };

static void write_samples(struct buf *image, enum pw_mode mode, int compress,
			  const struct at *v, size_t n)
{
	static const uint64_t ids[] = {11};
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = mode});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type =
					      PW_S_IDENTIFIER | PW_S_TID | PW_S_TIME | PW_S_CPU,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	if (compress)
		pw_compress_begin(&w, PW_COMPRESSED);
	for (size_t i = 0; i < n; i++)
		if (v[i].us)
			pw_sample(&w, 0,
				  &(struct pw_sample){.pid = 7,
						      .tid = 7,
						      .id = 11,
						      .time = v[i].us * 1000,
						      .cpu = v[i].cpu});
		else
			pw_finished_round(&w);
	if (compress)
		pw_compress_end(&w);
	assert_int_equal(pw_finish(&w, image), 0);
}

/* The samples that come, each of the time that its bytes say. */
static size_t take_samples(struct order *o, int *end, uint64_t *us)
{
	struct ordered *next;
	struct sample s;
	size_t n = 0;
	while ((*end = order_next(o, &next, NULL)) == 1) {
		if (next->r.type != PERF_RECORD_SAMPLE)
			continue;
		assert_int_equal(sample_decode(&next->r, next->id.event, 0, &s, NULL), 0);
		assert_int_equal(s.time, next->id.time);
		us[n++] = s.time / 1000;
	}
	return n;
}

static void check_times(const uint64_t *us, size_t n, const uint64_t *want, size_t want_n)
{
	assert_int_equal(n, want_n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(us[i], want[i]);
}

static void a_file_whose_records_come_late_is_sorted_whole(void **state)
{
	static const uint64_t want[] = {100, 150, 200, LATE_US, LATE_US, 300,
					400, 450, 500, 600,     700};
	uint64_t us[LATE_N];
	(void)state;
	for (int how = 0; how < 3; how++) { /* plain, plain and ahead, compressed */
		struct buf image = {0};
		struct recording *rec;
		struct order *o;
		size_t n;
		int end;
		write_samples(&image, PW_FILE, how == 2, late, LATE_N);
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "late", NULL), 0);
		assert_int_equal(order_new(&o, rec, NULL), 0);
		if (how == 1)
			assert_int_equal(order_read_ahead(o, NULL), 0);
		take_samples(o, &end, us);
		assert_int_equal(end, ORDER_LATE);
		order_free(o);
		assert_int_equal(recording_rewind(rec, NULL), 0);
		assert_int_equal(order_new(&o, rec, NULL), 0);
		order_whole(o);
		if (how == 1)
			assert_int_equal(order_read_ahead(o, NULL), 0);
		n = take_samples(o, &end, us);
		assert_int_equal(end, 0);
		check_times(us, n, want, sizeof(want) / sizeof(*want));
		assert_int_equal(order_counts(o).late, 2);
		assert_int_equal(order_counts(o).late_ns, (RELEASED_US - LATE_US) * 1000);
		order_doubts(o, &n);
		assert_int_equal(n, 0);
		order_free(o);
		recording_close(rec);
		buf_release(&image);
	}
}

/* A fork without a time behind three rounds: the samples given out knew nothing of it. */
static void write_fork(struct buf *image)
{
	static const uint64_t ids[] = {11};
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type = PW_S_IDENTIFIER | PW_S_TID | PW_S_TIME,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	for (uint64_t us = 100; us <= 400; us += 100) {
		if (us == 400)
			pw_fork(&w, &(struct pw_id){.pid = 7, .tid = 7, .id = 11}, 8, 7, 8, 7,
				0);
		pw_sample(&w, 0,
			  &(struct pw_sample){.pid = 7, .tid = 7, .id = 11, .time = us * 1000});
		pw_finished_round(&w);
	}
	assert_int_equal(pw_finish(&w, image), 0);
}

static void what_has_no_time_holds_from_the_start(void **state)
{
	struct buf image = {0};
	struct recording *rec;
	struct order *o;
	struct ordered *next;
	int got, samples = 0;
	(void)state;
	write_fork(&image);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "fork", NULL), 0);
	assert_int_equal(order_new(&o, rec, NULL), 0);
	while ((got = order_next(o, &next, NULL)) == 1)
		assert_int_not_equal(next->r.type, PERF_RECORD_FORK);
	assert_int_equal(got, ORDER_LATE);
	order_free(o);
	assert_int_equal(recording_rewind(rec, NULL), 0);
	assert_int_equal(order_new(&o, rec, NULL), 0);
	order_whole(o);
	while ((got = order_next(o, &next, NULL)) == 1 && next->r.type != PERF_RECORD_FORK)
		samples += next->r.type == PERF_RECORD_SAMPLE;
	assert_int_equal(got, 1);
	assert_int_equal(samples, 0);
	assert_int_equal(order_counts(o).late, 0);
	order_free(o);
	recording_close(rec);
	buf_release(&image);
}

static void a_late_record_of_a_stream_counts_as_of_when_it_came(void **state)
{
	static const uint64_t want[] = {100,         150, 200, 300, RELEASED_US, RELEASED_US,
					RELEASED_US, 450, 500, 600, 700};
	uint64_t us[LATE_N];
	struct buf image = {0};
	struct recording *rec;
	struct order *o;
	size_t n;
	int end, fd[2];
	char name[32];
	(void)state;
	write_samples(&image, PW_PIPE, 0, late, LATE_N);
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], image.v, image.n), image.n);
	close(fd[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd[0]);
	assert_int_equal(recording_open(&rec, name, NULL), 0);
	assert_int_equal(order_new(&o, rec, NULL), 0);
	n = take_samples(o, &end, us);
	assert_int_equal(end, 0);
	check_times(us, n, want, sizeof(want) / sizeof(*want));
	assert_int_equal(order_counts(o).late, 2);
	const struct order_doubt *d = order_doubts(o, &n);
	assert_int_equal(n, 2);
	assert_int_equal(d[0].from_ns, LATE_US * 1000);
	assert_int_equal(d[0].to_ns, RELEASED_US * 1000);
	assert_int_equal(d[0].cpu, 1);
	assert_int_equal(d[1].cpu, 0);
	order_free(o);
	recording_close(rec);
	close(fd[0]);
	buf_release(&image);
}

static struct order_counts counts_of(const struct at *v, size_t n, size_t *ndoubts)
{
	uint64_t us[32];
	struct buf image = {0};
	struct recording *rec;
	struct order *o;
	int end;
	write_samples(&image, PW_FILE, 0, v, n);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "back", NULL), 0);
	assert_int_equal(order_new(&o, rec, NULL), 0);
	take_samples(o, &end, us);
	assert_int_equal(end, 0);
	struct order_counts c = order_counts(o);
	order_doubts(o, ndoubts);
	order_free(o);
	recording_close(rec);
	buf_release(&image);
	return c;
}

static void a_clock_that_is_set_back_is_counted(void **state)
{
	/* interrupted; another CPU's buffer; set back by 5 ms and by 2 ms; the next round */
	static const struct at v[] = {{9000, 0}, {8900, 0}, {2000, 1}, {9000, 1}, {4000, 1},
				      {6000, 1}, {4000, 1}, {0, 0},    {3000, 1}, {0, 0}};
	enum { N = sizeof(v) / sizeof(*v) };
	size_t doubts;
	(void)state;
	struct order_counts c = counts_of(v, N, &doubts);
	assert_int_equal(c.late, 0);
	assert_int_equal(c.back, 2);
	assert_int_equal(c.back_ns, 5000000);
	assert_int_equal(doubts, 2);
	/* without rounds nothing tells where a buffer begins */
	c = counts_of(v, 7, &doubts);
	assert_int_equal(c.back, 0);
	assert_int_equal(doubts, 0);
}

/* Or all that follow it would be late. */
static void one_time_in_the_future_ends_no_round(void **state)
{
	static const struct at v[] = {{100, 0}, {9000000000, 0}, {0, 0},   {200, 0}, {0, 0},
				      {300, 0}, {0, 0},          {400, 0}, {0, 0}};
	enum { N = sizeof(v) / sizeof(*v) };
	size_t doubts;
	(void)state;
	assert_int_equal(counts_of(v, N, &doubts).late, 0);
}

static void an_event_is_named_without_how_it_was_recorded(void **state)
{
	(void)state;
	assert_int_equal(event_name_fits("cycles", "cycles"), 2);
	assert_int_equal(event_name_fits("cycles:P", "cycles"), 1);
	assert_int_equal(event_name_fits("cpu-clock/freq=99/", "cpu-clock"), 1);
	assert_int_equal(event_name_fits("cpu-clock/freq=99,call-graph=no/u", "cpu-clock"), 1);
	assert_int_equal(event_name_fits("cpu-clock/period=99/:u", "cpu-clock"), 1);
	assert_int_equal(event_name_fits("cpu/event=0x3c/", "cpu"), 0);
	assert_int_equal(event_name_fits("cpu_core/cycles/P", "cycles"), 1);
	assert_int_equal(event_name_fits("cpu_core/cycles/P", "cpu_core/cycles/P"), 2);
	assert_int_equal(event_name_fits("cpu_atom/cycles/P", "cpu_core/cycles/P"), 0);
	assert_int_equal(event_name_fits("cpu_core/cycles/P", "cpu_core"), 0);
	assert_int_equal(event_name_fits("cpu-clock", "cpu"), 0);
	assert_int_equal(event_name_fits("cpu-clock/freq=99", "cpu-clock"), 0);
	assert_int_equal(event_name_fits("sched:sched_switch", "sched"), 0);
	assert_int_equal(event_name_fits("cycles", "cycles:P"), 0);
}

static void fields_are_found_by_name(void **state)
{
	(void)state;
	struct recording *rec = open_file();
	struct tracepoints *t;
	assert_int_equal(tracepoints_new(&t, rec, NULL), 0);
	assert_string_equal(tracepoints_damage(t), "");
	const struct event *ev = recording_find_event(rec, "sched:sched_switch");
	assert_non_null(ev);
	const struct tracepoint *tp = tracepoint_of(t, ev);
	assert_non_null(tp);
	assert_string_equal(tp->name, "sched_switch");
	assert_string_equal(tp->system, "sched");
	struct tp_field pid, comm, none, flags;
	assert_int_equal(tracepoint_field(tp, "prev_pid", &pid), 1);
	assert_int_equal(pid.size, 4);
	assert_true(pid.is_signed);
	assert_int_equal(tracepoint_field(tp, "next_comm", &comm), 1);
	assert_int_equal(comm.size, 16);
	assert_true(comm.is_string);
	assert_int_equal(tracepoint_field(tp, "common_flags", &flags), 1);
	assert_int_equal(flags.offset, 2);
	assert_int_equal(tracepoint_field(tp, "comm", &none), 0);
	assert_int_equal(tracepoint_field(tp, "pid", &none), 0);
	struct record r;
	struct sample s;
	int seen = 0;
	while (recording_next(rec, &r, NULL) == 1 && !seen) {
		if (r.type != PERF_RECORD_SAMPLE || recording_event(rec, &r) != ev)
			continue;
		assert_int_equal(sample_decode(&r, ev, rec->swap, &s, NULL), 0);
		assert_int_equal(tp_int(&pid, s.raw, 8, rec->swap), 0); /* cut short */
		assert_string_equal(tp_text(&comm, s.raw, comm.offset + 3, rec->swap), "");
		struct buf text = {0};
		tracepoint_text(t, tp, s.raw, s.raw_size, &text);
		char want[64];
		snprintf(want, sizeof(want), ":%d [",
			 (int)tp_int(&pid, s.raw, s.raw_size, rec->swap));
		char plain[64];
		snprintf(plain, sizeof(plain), "prev_pid=%d ",
			 (int)tp_int(&pid, s.raw, s.raw_size, rec->swap));
		assert_true(strstr(buf_cstr(&text), plain) || strstr(buf_cstr(&text), want));
		buf_release(&text);
		seen = 1;
	}
	assert_true(seen);
	tracepoints_free(t);
	recording_close(rec);
}

static int read_in_order(struct recording **rec, const char *name, int ahead, int whole)
{
	struct order *o = NULL;
	struct ordered *next;
	int r = recording_open(rec, name, NULL);
	if (!r)
		r = order_new(&o, *rec, NULL);
	if (!r && whole)
		order_whole(o);
	if (!r && ahead)
		r = order_read_ahead(o, NULL);
	if (!r)
		while ((r = order_next(o, &next, NULL)) == 1)
			;
	order_free(o);
	return r;
}

static void any_allocation_may_fail(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		const char *name = how < 3 ? file : "testdata/zstd/perf.data";
		struct torture t = {0};
		while (!t.whole) {
			struct recording *rec = NULL;
			struct tracepoints *formats = NULL;
			torture_on(&t);
			int r = read_in_order(&rec, name, how == 1, how >= 2);
			if (!r)
				r = tracepoints_new(&formats, rec, NULL);
			torture_off(&t, r);
			tracepoints_free(formats);
			recording_close(rec);
		}
		assert_true(t.failed > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_the_order_of_time_and_all_of_them),
		cmocka_unit_test(an_order_may_be_left_halfway),
		cmocka_unit_test(reading_ahead_gives_the_same_records),
		cmocka_unit_test(reading_ahead_may_be_left_halfway),
		cmocka_unit_test(a_file_whose_records_come_late_is_sorted_whole),
		cmocka_unit_test(what_has_no_time_holds_from_the_start),
		cmocka_unit_test(a_late_record_of_a_stream_counts_as_of_when_it_came),
		cmocka_unit_test(a_clock_that_is_set_back_is_counted),
		cmocka_unit_test(one_time_in_the_future_ends_no_round),
		cmocka_unit_test(an_event_is_named_without_how_it_was_recorded),
		cmocka_unit_test(fields_are_found_by_name),
		cmocka_unit_test(any_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
