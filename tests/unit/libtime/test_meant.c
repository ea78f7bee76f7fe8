/* meant: whom a recording of all CPUs was made for, by its command line and its processes. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "libtime/build/build.h"
#include "libtime/population/population.h"
#include "libtime/record/recorded_for.h"

enum {
	INIT = 1,
	SHELL = 5,
	PERF = 10,
	PROG = 20,
	CHILD = 21,
	OTHER = 30,
	HELPER = 31, /* a child of OTHER */
	ADOPTED = 40,
	MOMENT = 1 << ACTIVITY_SHIFT,
	MOMENTS = 20,
	WORDS = 24,
};

/* How the command's processes work. */
enum work { WORKS, WAITS, HARDLY, NOBODY_TELLS, NOBODY_KNOWS, ANOTHER };

struct row {
	const char *argv[WORDS];
	uint64_t flags; /* of the event's attribute */
	enum work work;
	int32_t pids[4]; /* 0 ends them */
	const char *name;
};

#define PLAN                                                                               \
	"perf", "record", "-k", "CLOCK_MONOTONIC", "--buildid-all", "-a", "-c", "1", "-e", \
		"sched:sched_switch/call-graph=no/", "-e", "sched:sched_switch/call-graph=fp/"

static const struct row rows[] = {
	{{"/usr/bin/perf", "record", "-a", "-g", "--", "./prog", "-v"},
	 .pids = {PROG, CHILD},
	 .name = "prog"},
	{{"perf", "record", "-C", "0", "/opt/prog"}, .pids = {PROG, CHILD}, .name = "prog"},
	{{"perf", "sched", "record", "./prog"}, .pids = {PROG, CHILD}, .name = "prog"},
	/* a timer; too little to matter */
	{{"perf", "record", "-a", "--", "prog", "10"}, .work = WAITS},
	{{"perf", "record", "-a", "--", "prog", "10"}, .work = HARDLY},
	/* its name alone tells who it was, or not even that */
	{{"perf", "record", "-a", "--", "./prog"},
	 .work = NOBODY_TELLS,
	 .pids = {PROG, CHILD},
	 .name = "prog"},
	{{"perf", "record", "-a", "--", "./wrapper"}, .work = NOBODY_KNOWS},
	/* another perf's command */
	{{"perf", "record", "-a", "--", "sleep", "10"}, .work = ANOTHER},
	{{"perf", "record", "-a", "--", "renamed"}, .pids = {PROG, CHILD}, .name = "prog"},
	/* recorded alone, so that there is no choice */
	{{"perf", "record", "--", "./prog"}},
	{{"perf", "record", "-a", "-p", "30"}},
	{{"perf", "record", "-a", "--tid=30", "--", "sleep", "1"}},
	{{"perf", "record", "-a", "--", "./prog"}, .flags = PW_ENABLE_ON_EXEC},
	/* nobody */
	{{"perf", "record", "-a"}},
	{{"perf", "report"}},
	/* perfkit record's own choice */
	{{PLAN, "--filter", "prev_comm == \"other\" || prev_pid == 30", "--", "sleep", "1"},
	 .pids = {OTHER, HELPER},
	 .name = "other"},
	{{PLAN, "--filter", "prev_pid == 31 || prev_pid == 20"},
	 .pids = {PROG, CHILD, HELPER},
	 .name = "prog, helper"},
	{{PLAN, "--filter", "prev_comm ~ \"oth*\" || prev_comm == \"a || b\""},
	 .pids = {OTHER, HELPER},
	 .name = "other"},
	{{PLAN, "--filter", "prev_pid == 77", "--", "./prog"}},
	{{PLAN, "--filter", "CPU == 0", "--", "./prog"}, .pids = {PROG, CHILD}, .name = "prog"},
	{{"perf", "record", "-a", "-e", "sched:sched_switch", "--filter", "prev_pid == 30"}},
	/* the recorder is not meant, nor who was adopted */
	{{PLAN, "--filter", "prev_pid == 5"}, .pids = {SHELL}, .name = "sh"},
	{{PLAN, "--filter", "prev_pid == 10"}},
	{{PLAN, "--filter", "prev_pid == 1"}, .pids = {INIT}, .name = "init"},
};

static void sample(struct pw *w, int32_t pid, uint64_t ns)
{
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = 0x401136,
				      .pid = (uint32_t)pid,
				      .tid = (uint32_t)pid,
				      .time = ns,
				      .period = 1});
}

/* A process that perf found when it began. */
static void found(struct pw *w, uint32_t pid, uint32_t ppid, const char *comm)
{
	struct pw_id none = {.pid = pid, .tid = pid};
	pw_fork(w, &none, pid, ppid, pid, ppid, 0);
	pw_comm(w, &none, pid, pid, comm, 0);
}

static void put_samples(struct pw *w, enum work work)
{
	uint64_t others = work == HARDLY ? 300 : 2;
	for (uint64_t i = 1; i <= MOMENTS; i++) {
		uint64_t ns = i * MOMENT;
		int busy = work != WAITS || i == 1 || i == MOMENTS;
		for (uint64_t k = 0; k < others; k++)
			sample(w, OTHER, ns + k);
		for (uint64_t k = 0; k < (work == WAITS ? 15 : 1) && busy; k++)
			sample(w, PROG, ns + 500 + k);
		if (busy)
			sample(w, CHILD, ns + 600);
		sample(w, PERF, ns + 700);
		sample(w, 0, ns + 800);
	}
}

static void write_scene(struct buf *image, const struct row *row)
{
	static const uint64_t ids[] = {11};
	struct pw_id at = {.pid = PROG, .tid = PROG, .time = MOMENT / 2};
	struct pw w;
	size_t n = 0;
	while (n < WORDS && row->argv[n])
		n++;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w,
		&(struct pw_attr){.type = 1,
				  .name = "cpu-clock",
				  .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_PERIOD,
				  .flags = PW_SAMPLE_ID_ALL | row->flags,
				  .ids = ids,
				  .nids = 1});
	pw_feature_cmdline(&w, row->argv, n);
	found(&w, INIT, 0, "init");
	found(&w, SHELL, INIT, "sh");
	found(&w, PERF, SHELL, "perf");
	if (row->work < NOBODY_TELLS)
		found(&w, PROG, PERF, "perf-exec");
	found(&w, OTHER, INIT, "other");
	found(&w, HELPER, OTHER, "helper");
	found(&w, ADOPTED, INIT, "adopted");
	if (row->work == ANOTHER) {
		pw_fork(&w, &at, PROG, PERF, PROG, PERF, at.time - 2);
		pw_comm(&w, &(struct pw_id){.pid = PROG, .tid = PROG, .time = at.time - 1},
			PROG, PROG, "perf-exec", 0);
	}
	pw_comm(&w, &at, PROG, PROG, "prog", 1);
	pw_fork(&w, &at, CHILD, PROG, CHILD, PROG, at.time);
	put_samples(&w, row->work);
	assert_int_equal(pw_finish(&w, image), 0);
}

static struct profile *open_scene(const struct buf *image)
{
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	assert_int_equal(recording_open_mem(&rec, image->v, image->n, "scene", NULL), 0);
	assert_int_equal(profile_of(&p, rec, &opt, NULL), 0);
	return p;
}

static void find(struct profile *p, struct meant *out)
{
	struct recorded_for w;
	assert_int_equal(recorded_for_read(&w, p->rec, NULL), 0);
	assert_int_equal(meant_find(out, &w, &p->machine, &p->activity, NULL), 0);
	recorded_for_release(&w);
}

static void check(struct meant *m, const struct row *row, size_t nth)
{
	size_t n = 0;
	while (row->pids[n])
		n++;
	if (m->pids.n != n || (row->name && strcmp(buf_cstr(&m->name), row->name) != 0))
		fail_msg("row %zu: %zu processes, %s", nth, m->pids.n, buf_cstr(&m->name));
	for (size_t i = 0; i < n; i++)
		assert_true(meant_has(m, row->pids[i]));
	assert_false(meant_has(m, PERF));
}

static void the_command_line_says_who_is_meant(void **state)
{
	struct fold_options how = {.workers = 1, .aggregate.activity = 1};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf image = {0};
		struct meant m;
		write_scene(&image, &rows[i]);
		struct profile *p = open_scene(&image);
		assert_int_equal(profile_fold(p, &how, NULL), 0);
		find(p, &m);
		check(&m, &rows[i], i);
		meant_release(&m);
		profile_close(p);
		buf_release(&image);
	}
}

/* The same of a timeline, which keeps it. */
static void a_timeline_has_its_threads_marked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct build_options bo = {.activity = 1};
		struct buf image = {0}, name = {0};
		struct timeline tl;
		struct meant m;
		int any;
		write_scene(&image, &rows[i]);
		struct profile *p = open_scene(&image);
		assert_int_equal(timeline_build(p, &bo, &tl, NULL), 0);
		find(p, &m);
		check(&m, &rows[i], i);
		assert_int_equal(meant_keep(&m, &tl, NULL), 0);
		assert_int_equal(meant_mark(&tl, &any, &name, NULL), 0);
		assert_int_equal(any, m.pids.n != 0);
		assert_string_equal(buf_cstr(&name), rows[i].name ? rows[i].name : "");
		struct population of = {.meant = any};
		for (uint32_t t = 0; t < tl.threads.n; t++) {
			int32_t pid = tl.threads.v[t].pid;
			if (pid > 0)
				assert_int_equal(population_has_thread(&of, &tl, t, 0),
						 !any || meant_has(&m, pid));
		}
		buf_release(&name);
		meant_release(&m);
		timeline_release(&tl);
		profile_close(p);
		buf_release(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_command_line_says_who_is_meant),
		cmocka_unit_test(a_timeline_has_its_threads_marked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
