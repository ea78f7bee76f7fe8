/* twins: tracepoints that several events record, as marks, spans and interrupts; those of the
 * scheduler are in test_build.c. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "libtime/build/build.h"

#include <string.h>

static const char common[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/* Softirqs, a probe on a function, and a disk's requests, each by two events. */
enum { ENTRY, EXIT, CALL, RETURN, ISSUE, TWICE, COUNTER = 31 };

static void begin_twice(struct pw *w)
{
	static const char *const system[TWICE] = {"irq", "irq", "probe", "probe", "block"};
	static const char *const name[TWICE] = {"softirq_entry", "softirq_exit", "work",
						"work__return", "block_rq_issue"};
	static const char *const field[TWICE] = {"vec", "vec", "__probe_ip", "__probe_func",
						 "sector"};
	static const uint64_t ids[2 * TWICE][1] = {{11}, {12}, {13}, {14}, {15},
						   {16}, {17}, {18}, {19}, {20}};
	static const uint64_t counter[1] = {COUNTER};
	static char text[TWICE][1024], full[TWICE][64];
	struct pw_tracepoint tp[TWICE];
	pw_begin(w, &(struct pw_config){.mode = PW_FILE});
	for (unsigned i = 0; i < TWICE; i++) {
		snprintf(full[i], sizeof(full[i]), "%s:%s", system[i], name[i]);
		snprintf(text[i], sizeof(text[i]),
			 "name: %s\nID: %u\n%s\tfield:unsigned long "
			 "%s;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"%%lu\", REC->%s\n",
			 name[i], 300 + i, common, field[i], field[i]);
		tp[i] = (struct pw_tracepoint){system[i], text[i]};
	}
	for (unsigned i = 0; i < 2 * TWICE; i++)
		pw_attr(w, &(struct pw_attr){
				   .type = 2,
				   .config = 300u + i % TWICE,
				   .period = 1,
				   .clockid = -1,
				   .sample_type = PW_S_IDENTIFIER | PW_S_TID | PW_S_TIME |
						  PW_S_CPU | PW_S_RAW |
						  (i / TWICE ? PW_S_CALLCHAIN | PW_S_READ : 0),
				   .read_format = PW_R_GROUP | PW_R_ID,
				   .flags = PW_SAMPLE_ID_ALL,
				   .ids = ids[i],
				   .nids = 1,
				   .name = full[i % TWICE]});
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .config = 2,
				     .clockid = -1,
				     .sample_type = PW_S_IDENTIFIER | PW_S_TID | PW_S_TIME |
						    PW_S_CPU | PW_S_READ,
				     .read_format = PW_R_GROUP | PW_R_ID,
				     .flags = PW_SAMPLE_ID_ALL,
				     .ids = counter,
				     .nids = 1,
				     .name = "page-faults"});
	pw_feature_tracing_data(w, tp, TWICE);
	pw_feature_event_desc(w);
}

static void sample(struct pw *w, size_t attr, uint64_t us, const uint8_t *raw, uint32_t size)
{
	static const uint64_t ips[] = {PW_CONTEXT_USER, 0x1000};
	const struct pw_read_value read[] = {{.value = us / 50, .id = COUNTER},
					     {.id = 11 + attr}};
	pw_sample(w, attr,
		  &(struct pw_sample){.pid = 7,
				      .tid = 7,
				      .time = us * 1000,
				      .id = 11 + attr,
				      .ips = ips,
				      .nips = 2,
				      .values = read,
				      .nvalues = 2,
				      .raw = raw,
				      .raw_size = size});
}

/* By both events, or by the second alone, which comes first, but for ISSUE. */
static void hit(struct pw *w, size_t what, uint64_t us, uint64_t value, int alone)
{
	uint8_t raw[16] = {0};
	memcpy(raw + 8, &value, sizeof(value));
	sample(w, what == ISSUE ? what : what + TWICE, us, raw, sizeof(raw));
	if (!alone)
		sample(w, what == ISSUE ? what + TWICE : what, us + 1, raw, sizeof(raw));
}

struct result {
	struct buf image;
	struct profile *p;
	struct timeline tl;
};

static void build(struct pw *w, const char *const *spans, size_t n, struct result *r)
{
	struct recording *rec;
	struct profile_options po = {0};
	struct build_options bo = {.spans = spans, .nspans = n};
	struct err e = {0};
	*r = (struct result){0};
	assert_int_equal(pw_finish(w, &r->image), 0);
	if (recording_open_mem(&rec, r->image.v, r->image.n, "made.data", &e) ||
	    profile_of(&r->p, rec, &po, &e) || timeline_build(r->p, &bo, &r->tl, &e) ||
	    timeline_check(&r->tl, &e))
		fail_msg("%s", e.msg);
}

static void other_tracepoints_recorded_twice_are_one(void **state)
{
	struct pw w;
	struct result r;
	(void)state;
	begin_twice(&w);
	for (uint64_t us = 100; us <= 300;
	     us += 100) { /* within the time that twins are near */
		hit(&w, CALL, us, 0x1000, us == 300);
		hit(&w, ENTRY, us + 10, 3, us == 200);
		hit(&w, ISSUE, us + 20, us, 0);
		hit(&w, EXIT, us + 30, 3, us == 100);
		hit(&w, RETURN, us + 50, 0x1000, us == 200);
	}
	build(&w, NULL, 0, &r);
	assert_int_equal(r.tl.interrupts.n, 3);
	assert_int_equal(r.tl.spans.n, 3);
	assert_int_equal(r.tl.marks.n, 3);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t ns = (i + 1) * 100000;
		assert_int_equal(r.tl.interrupts.v[i].start_ns, ns + 10000);
		assert_int_equal(r.tl.interrupts.v[i].end_ns, ns + 30000);
		assert_int_equal(r.tl.spans.v[i].start_ns, ns);
		assert_int_equal(r.tl.spans.v[i].end_ns, ns + 50000);
		assert_true(r.tl.marks.v[i].path != 0);
	}
	timeline_release(&r.tl);
	profile_close(r.p);
	buf_release(&r.image);
}

/* The first event of a hit has no counters, and is not that of the pair that is found by itself. */
static void each_event_adds_what_it_knows(void **state)
{
	static const char *const given = "a=probe:work..block:block_rq_issue";
	uint8_t raw[16] = {0};
	struct pw w;
	struct result r;
	(void)state;
	begin_twice(&w);
	for (unsigned what = CALL; what <= ISSUE; what++)
		for (unsigned i = 0; i < 2; i++)
			sample(&w, what + i * TWICE, 100 * what + i, raw, sizeof(raw));
	build(&w, &given, 1, &r);
	assert_int_equal(r.tl.spans.n, 2);
	assert_int_equal(r.tl.counters.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct tl_span *x = &r.tl.spans.v[i];
		int of_pair = strcmp(strtab_get(&r.p->stacks.strings, x->name), "work") == 0;
		assert_int_equal(x->start_ns, 100000 * CALL);
		assert_int_equal(x->end_ns, 100000 * (of_pair ? RETURN : ISSUE));
		assert_int_equal(r.tl.counters.v[i].span, i);
		assert_int_equal(r.tl.counters.v[i].value, of_pair ? 2 : 4);
	}
	assert_int_not_equal(r.tl.spans.v[0].name, r.tl.spans.v[1].name);
	timeline_release(&r.tl);
	profile_close(r.p);
	buf_release(&r.image);
}

/* Two spans that one event ends, whose counters come with the second event of the hit. */
static void counters_that_come_late_are_for_all_spans_that_the_hit_ended(void **state)
{
	static const char *const given[] = {"a=probe:work..block:block_rq_issue",
					    "b=irq:softirq_entry..block:block_rq_issue"};
	uint8_t raw[16] = {0};
	struct pw w;
	struct result r;
	(void)state;
	begin_twice(&w);
	sample(&w, ENTRY + TWICE, 100, raw, sizeof(raw));
	sample(&w, CALL + TWICE, 200, raw, sizeof(raw));
	sample(&w, ISSUE, 400, raw, sizeof(raw));
	sample(&w, ISSUE + TWICE, 401, raw, sizeof(raw));
	build(&w, given, 2, &r);
	assert_int_equal(r.tl.counters.n, 2);
	assert_int_not_equal(r.tl.counters.v[0].span, r.tl.counters.v[1].span);
	timeline_release(&r.tl);
	profile_close(r.p);
	buf_release(&r.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_tracepoints_recorded_twice_are_one),
		cmocka_unit_test(each_event_adds_what_it_knows),
		cmocka_unit_test(counters_that_come_late_are_for_all_spans_that_the_hit_ended)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
