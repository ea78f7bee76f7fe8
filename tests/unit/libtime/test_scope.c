/* libtime: findings are said of the threads and the time that were asked about. */
#include "libtime/doctor/scope.h"
#include "tests/lib/unit.h"

#include <string.h>

/* Thread 1 of pid 10 had a suspect wait from 0 to 50; thread 2 of pid 20 one of a stack without
 * names from 100 to 150; pid 40 hit a probe with such a stack at 200. */
static void make(struct timeline *tl, struct stacks *st)
{
	struct err e = {0};
	uint32_t frame, path;
	struct frame unnamed = {.kind = FRAME_USER, .addr = 0x1000};
	struct tl_thread a = {.pid = 10, .tid = 10}, b = {.pid = 20, .tid = 20};
	assert_int_equal(timeline_init(tl, st), 0);
	assert_int_equal(stacks_frame(st, &unnamed, &frame), 0);
	assert_int_equal(stacks_push(st, 0, frame, &path), 0);
	assert_true(!vec_push(&tl->threads, a) && !vec_push(&tl->threads, b));
	struct offcpu x = {.start_ns = 0, .end_ns = 50, .thread = 0, .flags = OFF_SUSPECT};
	struct offcpu y = {.start_ns = 100, .end_ns = 150, .thread = 1, .path = path};
	x.cpu_out = x.cpu_in = 0;
	y.cpu_out = y.cpu_in = 1;
	assert_true(!bigvec_push(&tl->offcpu, x, &e) && !bigvec_push(&tl->offcpu, y, &e));
	struct tl_event_sample hit = {.time_ns = 200, .pid = 40, .tid = 40, .path = path};
	assert_int_equal(bigvec_push(&tl->event_samples, hit, &e), 0);
}

/* The ids that are left, each behind a blank. */
static const char *left(const struct population *of, unsigned topics, char *text, size_t n)
{
	static const char *const ids[] = {"lost-records", "missing-symbols", "fp-ends-in-libc",
					  "clock"};
	struct stacks st = {0};
	struct timeline tl;
	struct findings f = {.line = ""};
	make(&tl, &st);
	for (size_t i = 0; i < 4; i++) {
		struct finding x = {.kind = finding_kind(ids[i])};
		assert_int_equal(vec_push(&f.v, x), 0);
	}
	assert_int_equal(scope_findings(&tl, of, topics, &f), 0);
	*text = '\0';
	for (size_t i = 0; i < f.v.n; i++)
		snprintf(text + strlen(text), n - strlen(text), " %s", f.v.v[i].kind->id);
	findings_release(&f);
	timeline_release(&tl);
	stacks_release(&st);
	return text;
}

static void only_what_the_filters_pass_is_warned_of(void **state)
{
	static const int32_t ten = 10, twenty = 20, none = 30, forty = 40;
	static const uint32_t cpu1 = 1;
	static const struct {
		struct population of;
		const char *want;
	} rows[] = {
		{{.npids = 0}, " lost-records missing-symbols fp-ends-in-libc clock"},
		{{.pids = &ten, .npids = 1}, " lost-records clock"},
		{{.tids = &twenty, .ntids = 1}, " missing-symbols fp-ends-in-libc clock"},
		{{.pids = &none, .npids = 1}, " clock"},
		{{.pids = &forty, .npids = 1}, " missing-symbols fp-ends-in-libc clock"},
		{{.cpus = &cpu1, .ncpus = 1}, " missing-symbols fp-ends-in-libc clock"},
		{{.start_ns = 10, .stop_ns = 60}, " lost-records clock"},
		{{.start_ns = 60}, " missing-symbols fp-ends-in-libc clock"},
	};
	char text[128];
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(left(&rows[i].of, ABOUT_TAIL, text, sizeof(text)),
				    rows[i].want);
}

/* No sample says what was lost beside it. */
static void lost_samples_may_be_anybodys(void **state)
{
	static const int32_t twenty = 20;
	const struct population of = {.pids = &twenty, .npids = 1};
	char text[128];
	(void)state;
	assert_string_equal(left(&of, ABOUT_TAIL | ABOUT_NAMES, text, sizeof(text)),
			    " missing-symbols fp-ends-in-libc clock");
	assert_string_equal(left(&of, ABOUT_CPU | ABOUT_NAMES, text, sizeof(text)),
			    " lost-records missing-symbols fp-ends-in-libc clock");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_filters_pass_is_warned_of),
		cmocka_unit_test(lost_samples_may_be_anybodys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
