/* libtime: a recording becomes a timeline, is judged and joined with another while memory runs
 * out, at each place in turn. */
#include "tests/lib/torture.h"

#include "libtime/build/build.h"
#include "libtime/doctor/findings.h"
#include "libtime/doctor/survey.h"
#include "libtime/sched/timeline_join.h"

static const struct row {
	const char *data, *symfs, *kallsyms;
} rows[] = {
	{"testdata/sched/perf.data", "testdata/sched/symfs", "testdata/sched/kallsyms"},
	{"testdata/uprobe/perf.data", "testdata/demo/symfs", NULL},
	{"testdata/cut/perf.data", "testdata/demo/symfs", NULL},
	{"testdata/switch-events/perf.data", "testdata/demo/symfs", NULL},
	{"testdata/waits/perf.data", "", NULL},
};

/* A recording and what is known of it; what was made lies in *x, also when this fails. */
struct judged {
	struct profile *p;
	struct timeline tl;
	struct survey survey;
	struct findings f;
	int begun; /* tl is to be released */
};

static int judge(struct judged *x, const struct row *row)
{
	struct profile_options po = {.modules.find = {.symfs = row->symfs,
						      .kallsyms = row->kallsyms,
						      .buildid_dir = "",
						      .no_local = 1}};
	struct build_options bo = {.watch = survey_watch, .watch_ctx = &x->survey};
	int r = profile_open(&x->p, row->data, &po, NULL);
	if (r)
		return r;
	x->begun = 1;
	r = timeline_build(x->p, &bo, &x->tl, NULL);
	if (r || x->survey.failed)
		return r ? r : ERR_NOMEM;
	struct findings_input in = {.profile = x->p, .timeline = &x->tl, .survey = &x->survey};
	return findings_gather(&x->f, &in, NULL);
}

static void judged_release(struct judged *x)
{
	if (x->begun)
		timeline_release(&x->tl);
	findings_release(&x->f);
	survey_release(&x->survey);
	profile_close(x->p);
}

static void torture_judge(const struct row *row, int once)
{
	struct torture t = {.dense = 128, .once = once};
	struct judged all = {0};
	assert_int_equal(judge(&all, row), 0);
	assert_true(all.f.v.n > 0);
	while (!t.whole) {
		struct judged x = {0};
		torture_on(&t);
		int r = judge(&x, row);
		torture_off(&t, r);
		if (!r) {
			assert_int_equal(x.f.v.n, all.f.v.n);
			assert_int_equal(x.tl.offcpu.n, all.tl.offcpu.n);
			assert_int_equal(x.tl.threads.n, all.tl.threads.n);
			assert_int_equal(x.p->stacks.paths.n, all.p->stacks.paths.n);
			assert_int_equal(x.p->stacks.frames.n, all.p->stacks.frames.n);
		}
		judged_release(&x);
	}
	assert_true(t.failed > 100);
	judged_release(&all);
}

static void a_recording_is_judged_or_memory_is_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		torture_judge(&rows[i], 0);
}

static void one_failure_is_never_passed_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		torture_judge(&rows[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_is_judged_or_memory_is_short),
		cmocka_unit_test(one_failure_is_never_passed_over),
	};
	return cmocka_run_group_tests_name("libtime no memory", tests, NULL, NULL);
}
