/* libsym: whole recordings folded and named while memory runs out, at each place in turn; with
 * callchains, stack copies, inlined frames, lines, kernel symbols, maps of generated code. */
#include "tests/lib/torture.h"

#include "libsym/profile.h"

static const struct row {
	const char *data, *symfs, *kallsyms;
	int inlines;
} rows[] = {
	{"testdata/uprobe/perf.data", "testdata/demo/symfs", "testdata/uprobe/kallsyms", 0},
	{"testdata/pipe/perf.data", "testdata/demo/symfs", NULL, 1},
	{"testdata/zstd/perf.data", "testdata/demo/symfs", NULL, 0},
	{"testdata/threads-dir/perf.data", "testdata/demo/symfs", NULL, 0},
	{"testdata/dlclose/perf.data", "testdata/dlclose/symfs", NULL, 1},
	{"testdata/perf-map/perf.data", "testdata/perf-map/symfs", NULL, 0},
	{"testdata/dwarf-cut/perf.data", "testdata/dwarf-cut/symfs", NULL, 1},
	{"testdata/cxx-names/perf.data", "testdata/cxx-names/symfs", NULL, 1},
};

static int fold(const struct row *row, struct profile **p)
{
	struct profile_options opt = {.modules = {.find = {.symfs = row->symfs,
							   .kallsyms = row->kallsyms,
							   .buildid_dir = "",
							   .no_local = 1},
						  .inlines = row->inlines,
						  .lines = row->inlines},
				      .names = {row->inlines, row->inlines, 0}};
	struct fold_options how = {.workers = 1};
	int r = profile_open(p, row->data, &opt, NULL);
	return r ? r : profile_fold(*p, &how, NULL);
}

/* What is answered without the memory asked for is the same answer. */
static void torture_fold(const struct row *row, int once)
{
	struct torture t = {.once = once};
	struct profile *all = NULL;
	assert_int_equal(fold(row, &all), 0);
	assert_true(all->folded.n > 1);
	while (!t.whole) {
		struct profile *p = NULL;
		torture_on(&t);
		int r = fold(row, &p);
		torture_off(&t, r);
		if (!r) {
			assert_int_equal(p->folded.n, all->folded.n);
			assert_int_equal(p->stacks.paths.n, all->stacks.paths.n);
			assert_int_equal(p->stacks.frames.n, all->stacks.frames.n);
		}
		profile_close(p);
	}
	assert_true(t.failed > 100);
	profile_close(all);
}

static void a_recording_is_folded_or_memory_is_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		torture_fold(&rows[i], 0);
}

static void one_failure_is_never_passed_over(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		torture_fold(&rows[i], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_is_folded_or_memory_is_short),
		cmocka_unit_test(one_failure_is_never_passed_over),
	};
	return cmocka_run_group_tests_name("libsym no memory", tests, NULL, NULL);
}
