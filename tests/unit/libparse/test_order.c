/* order, tracepoint: a real scheduler recording in the order of time, and its fields. */
#include "tests/lib/torture.h"

#include "libparse/order.h"
#include "libparse/sample.h"
#include "libparse/tracepoint.h"

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

static void an_event_is_named_without_how_it_was_recorded(void **state)
{
	(void)state;
	assert_int_equal(event_name_fits("cycles", "cycles"), 2);
	assert_int_equal(event_name_fits("cycles:P", "cycles"), 1);
	assert_int_equal(event_name_fits("cpu-clock/freq=99/", "cpu-clock"), 1);
	assert_int_equal(event_name_fits("cpu-clock/freq=99,call-graph=no/u", "cpu-clock"), 1);
	assert_int_equal(event_name_fits("cpu-clock/period=99/:u", "cpu-clock"), 1);
	assert_int_equal(event_name_fits("cpu/event=0x3c/", "cpu"), 0);
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

static int read_in_order(struct recording **rec, int ahead)
{
	struct order *o = NULL;
	struct ordered *next;
	int r = recording_open(rec, file, NULL);
	if (!r)
		r = order_new(&o, *rec, NULL);
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
	for (int ahead = 0; ahead < 2; ahead++) {
		struct torture t = {0};
		while (!t.whole) {
			struct recording *rec = NULL;
			struct tracepoints *formats = NULL;
			torture_on(&t);
			int r = read_in_order(&rec, ahead);
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
		cmocka_unit_test(an_event_is_named_without_how_it_was_recorded),
		cmocka_unit_test(fields_are_found_by_name),
		cmocka_unit_test(any_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
