/* libtime: findings. Each kind has an image that has the fault and one that looks like it and
 * has not; both are written here. The list in docs/doctor.md is the list of the program. */
#include "tests/lib/unit.h"
#include "tests/lib/tempdb.h"
#include "tests/unit/libtime/scene.h"

#include "libtime/build/build.h"
#include "libtime/doctor/store_findings.h"

#include <stdlib.h>

/* --- asking ------------------------------------------------------------------------------ */

struct answer {
	struct findings f;
	struct profile *p;
	struct buf image;
};

/* A fact of the recording's context. */
static void put_fact(struct timeline *tl, const char *over_ns)
{
	struct tl_fact f = {0};
	struct strtab *s = &tl->stacks->strings;
	assert_int_equal(strtab_intern(s, "recorder", &f.kind), 0);
	assert_int_equal(strtab_intern(s, "kernel", &f.subject), 0);
	assert_int_equal(strtab_intern(s, "stacks_over_ns", &f.key), 0);
	assert_int_equal(strtab_intern(s, over_ns, &f.after), 0);
	assert_int_equal(vec_push(&tl->facts, f), 0);
}

/* `folded`: as commands that need no times. */
static void ask_of(const struct scene *s, unsigned asked, int folded, struct answer *a)
{
	struct profile_options po = {.modules.find = {.no_local = 1,
						      .buildid_dir = "",
						      .symfs = s->symfs,
						      .vmlinux = s->vmlinux}};
	struct survey survey = {0};
	struct build_options bo = {.watch = survey_watch, .watch_ctx = &survey};
	struct fold_options fo = {.workers = 1};
	struct recording *rec;
	struct timeline tl = {0};
	struct err e = {0};
	*a = (struct answer){0};
	make_image(s, &a->image);
	if (recording_open_mem(&rec, a->image.v, a->image.n, "image", &e) ||
	    profile_of(&a->p, rec, &po, &e) ||
	    (folded ? profile_fold(a->p, &fo, &e) : timeline_build(a->p, &bo, &tl, &e)))
		fail_msg("%s", e.msg);
	if (s->stacks_over && !folded)
		put_fact(&tl, s->stacks_over);
	struct findings_input in = {.profile = a->p,
				    .timeline = folded ? NULL : &tl,
				    .survey = folded ? NULL : &survey,
				    .asked = asked};
	assert_int_equal(findings_gather(&a->f, &in, &e), 0);
	timeline_release(&tl);
	survey_release(&survey);
}

static void ask(const struct scene *s, unsigned asked, struct answer *a)
{
	ask_of(s, asked, 0, a);
}

static void answer_release(struct answer *a)
{
	findings_release(&a->f);
	profile_close(a->p);
	buf_release(&a->image);
}

static const struct finding *find(const struct answer *a, const char *id)
{
	for (size_t i = 0; i < a->f.v.n; i++)
		if (!strcmp(a->f.v.v[i].kind->id, id))
			return &a->f.v.v[i];
	return NULL;
}

static const struct fact *fact_of(const struct statement *s, const char *name)
{
	const struct fact *f = statement_fact(s, name, strlen(name));
	assert_non_null(f);
	return f;
}

/* --- one fault and one near miss a kind ------------------------------------------------ */

#define KERNEL_ONLY \
	.misc = PW_MISC_KERNEL, .nchain = 2, .chain = {PW_CONTEXT_KERNEL, 0xffffffff81000010}
#define KERNEL_AND_USER                      \
	.misc = PW_MISC_KERNEL, .nchain = 4, \
	.chain = {PW_CONTEXT_KERNEL, 0xffffffff81000010, PW_CONTEXT_USER, 0x401136}
#define DEFERRED \
	.clock.flags = PW_DEFER_CALLCHAIN, .nchain = 2, .chain = {PW_CONTEXT_USER_DEFERRED, 77}
#define CIRCLE .nchain = 5, .chain = {PW_CONTEXT_USER, 0x401136, 0x700100, 0x700100, 0x700100}
#define SCHED .sched = 1, .waking = 1

static const struct fault {
	const char *id;
	enum finding_severity severity;
	unsigned asked; /* of both */
	struct scene hit, near;
} faults[] = {
	/* near: the clock beside it is sampled, the switches are not */
	{"switch-sampled",
	 SEVERITY_WRONG,
	 0,
	 {SCHED, .switch_freq = 99},
	 {SCHED, .clock.flags = PW_FREQ, .clock.period = 99}},
	/* asked for each time, and yet: perf inject -s, another tool; near: for some, each came
	 */
	{"switch-sampled",
	 SEVERITY_WRONG,
	 0,
	 {SCHED, .switch_every = 5},
	 {SCHED, .waking_every = 5}},
	{"tracepoint-sampled", SEVERITY_ADVICE, 0, {SCHED, .switch_period = 10}, {SCHED}},
	{"tracepoint-sampled",
	 SEVERITY_WRONG,
	 0,
	 {SCHED, .waking_period = 100, .waking_every = 100},
	 {SCHED}},
	/* each was recorded after all: its samples stand for one event each */
	{"tracepoint-sampled", SEVERITY_ADVICE, 0, {SCHED, .waking_period = 100}, {SCHED}},
	/* near: one command, but with --switch-events beside */
	{"per-task",
	 SEVERITY_WRONG,
	 0,
	 {SCHED, .switch_flags = PW_ENABLE_ON_EXEC},
	 {SCHED, .switch_flags = PW_ENABLE_ON_EXEC | PW_CONTEXT_SWITCH}},
	/* near: nobody asked */
	{"no-switches", SEVERITY_WRONG, ABOUT_OFFCPU, {0}, {SCHED}},
	/* nobody asked, but that is what wakeups are recorded for */
	{"no-switches", SEVERITY_WRONG, 0, {.waking = 1}, {0}},
	{"some-cpus",
	 SEVERITY_PARTIAL,
	 0,
	 {SCHED, .all_threads = 1, .cpus = 2},
	 {SCHED, .all_threads = 1, .cpus = 1}},
	{"no-event-names", SEVERITY_WRONG, 0, {SCHED, .cut = 1}, {.cut = 1}},
	/* near: the direct kind of newer perf, which has the time of each wait */
	{"offcpu-totals",
	 SEVERITY_PARTIAL,
	 0,
	 {.name2 = "offcpu-time", .off_cpu = 1},
	 {.name2 = "offcpu-time", .off_cpu = 2}},
	{"offcpu-totals",
	 SEVERITY_WRONG,
	 ABOUT_TAIL,
	 {.name2 = "offcpu-time", .off_cpu = 1},
	 {.name2 = "offcpu-time", .off_cpu = 2}},
	{"lost-records", SEVERITY_PARTIAL, 0, {.lost = 5}, {.lost_samples = 5}},
	{"lost-records", SEVERITY_WRONG, 0, {SCHED, .lost = 100}, {SCHED}},
	{"lost-samples", SEVERITY_PARTIAL, 0, {.lost_samples = 5}, {.lost = 5}},
	/* near: the event's own count of what LOST told already */
	{"lost-samples",
	 SEVERITY_PARTIAL,
	 0,
	 {.lost = 5, .lost_samples = 6, .clock.read_format = PW_R_LOST},
	 {.lost = 5, .lost_samples = 5, .clock.read_format = PW_R_LOST}},
	{"holes", SEVERITY_PARTIAL, 0, {SCHED, .skip_switch = 1}, {SCHED, .skip_waking = 1}},
	/* near: all waits have stacks */
	{"short-waits",
	 SEVERITY_ADVICE,
	 0,
	 {SCHED, .stacks_over = "4000"},
	 {SCHED, .stacks_over = "0"}},
	/* near: sampled switches, which are missing without any loss */
	{"holes",
	 SEVERITY_PARTIAL,
	 0,
	 {SCHED, .skip_switch = 1},
	 {SCHED, .skip_switch = 1, .switch_freq = 99}},
	/* near: it comes in the round that follows its own */
	{"late-records",
	 SEVERITY_ADVICE,
	 0,
	 {SCHED, .no_samples = 1, .stray = 21500000},
	 {SCHED, .no_samples = 1, .stray = 45000000}},
	/* near: an interrupt between taking a time and a place makes that much */
	{"cpu-clocks",
	 SEVERITY_PARTIAL,
	 0,
	 {SCHED, .no_samples = 1, .stray = 53500000},
	 {SCHED, .no_samples = 1, .stray = 54900000}},
	/* near: few samples because the CPU was idle, and no throttling */
	{"throttled",
	 SEVERITY_PARTIAL,
	 0,
	 {.throttles = 3, .clock.flags = PW_FREQ, .clock.period = 9},
	 {.clock.flags = PW_FREQ, .clock.period = 100000}},
	{"cut-off", SEVERITY_PARTIAL, 0, {.cut = 1}, {0}},
	{"cut-off", SEVERITY_PARTIAL, 0, {.tail = "\t\0\0\0\1\0\100", .ntail = 7}, {0}},
	{"unknown-event",
	 SEVERITY_PARTIAL,
	 0,
	 {.foreign = 1, .name2 = "page-faults"},
	 {.name2 = "page-faults"}},
	{"guest-samples", SEVERITY_PARTIAL, 0, {.guest = 1}, {0}},
	/* near: perf's own name of the idle task */
	{"hidden-pids", SEVERITY_PARTIAL, 0, {.comm_of_0 = "bash"}, {.comm_of_0 = "swapper"}},
	{"no-samples", SEVERITY_WRONG, 0, {.no_samples = 1}, {0}},
	{"no-times", SEVERITY_ADVICE, 0, {.no_id_all = 1}, {0}},
	/* near: nothing in it that a time could be missing of */
	{"no-times", SEVERITY_ADVICE, 0, {.no_id_all = 1}, {.no_id_all = 1, .no_samples = 1}},
	{"no-times", SEVERITY_ADVICE, 0, {.no_time = 1}, {0}},
	/* near: a group of a command's that its threads inherit */
	{"no-inherit",
	 SEVERITY_PARTIAL,
	 0,
	 {.clock.flags = PW_ENABLE_ON_EXEC,
	  .clock.read_format = PW_R_GROUP,
	  .enabled = 9,
	  .running = 9},
	 {.clock.flags = PW_ENABLE_ON_EXEC | PW_INHERIT,
	  .clock.read_format = PW_R_GROUP,
	  .enabled = 9,
	  .running = 9}},
	/* the first thread may have slept all the time */
	{"no-inherit",
	 SEVERITY_PARTIAL,
	 0,
	 {.no_samples = 1, .clock.flags = PW_ENABLE_ON_EXEC, .clock.read_format = PW_R_GROUP},
	 {.no_samples = 1, .clock.flags = PW_ENABLE_ON_EXEC}},
	{"no-wakeups", SEVERITY_PARTIAL, 0, {.sched = 1}, {SCHED}},
	{"wakeups-missing", SEVERITY_PARTIAL, 0, {SCHED, .skip_waking = 1}, {SCHED}},
	{"multiplexed",
	 SEVERITY_PARTIAL,
	 0,
	 {.enabled = 100000, .running = 40000},
	 {.enabled = 100000, .running = 100000}},
	/* near: two events of one kind of core */
	{"hybrid",
	 SEVERITY_ADVICE,
	 0,
	 {.clock.name = "cpu_core/cycles/", .name2 = "cpu_atom/cycles/"},
	 {.clock.name = "cpu_core/cycles/", .name2 = "cpu_core/instructions/"}},
	{"no-stacks", SEVERITY_ADVICE, 0, {.no_chain = 1}, {0}},
	{"no-stacks", SEVERITY_PARTIAL, 0, {SCHED, .no_chain = 1}, {SCHED}},
	/* near: the stacks of --off-cpu lie in its raw data */
	{"no-stacks",
	 SEVERITY_ADVICE,
	 0,
	 {.name2 = "bpf-output", .off_cpu = 2},
	 {.name2 = "offcpu-time", .off_cpu = 2}},
	/* near: kernel samples that end in user code */
	{"one-sided-stacks", SEVERITY_PARTIAL, 0, {KERNEL_ONLY}, {KERNEL_AND_USER}},
	/* near: the copy is shorter than asked for: it is the whole stack */
	{"truncated-dumps",
	 SEVERITY_PARTIAL,
	 0,
	 {.dump = 1024, .dyn = 1024, .dso = "//anon"},
	 {.dump = 1024, .dyn = 512, .dso = "//anon"}},
	{"unwind-stopped", SEVERITY_PARTIAL, 0, {.dump = 1024, .dyn = 512}, {0}},
	/* near: the same stack of an event that is not precise */
	{"late-registers",
	 SEVERITY_ADVICE,
	 0,
	 {.dump = 1024, .dyn = 512, .pushed = 1, .misc = PW_MISC_USER | PW_MISC_EXACT_IP},
	 {.dump = 1024, .dyn = 512, .pushed = 1}},
	/* near: a frame pointer that leads nowhere, over and over */
	{"deep-stacks",
	 SEVERITY_PARTIAL,
	 0,
	 {.clock.max_stack = 2},
	 {.clock.max_stack = 4,
	  .nchain = 5,
	  .chain = {PW_CONTEXT_USER, 0x401136, 0x77777, 0x77777, 0x77777}}},
	/* near: the same in a heap */
	{"deep-stacks",
	 SEVERITY_PARTIAL,
	 0,
	 {.clock.max_stack = 4, CIRCLE, .memory = "//anon", .memory_code = 1},
	 {.clock.max_stack = 4, CIRCLE, .memory = "//anon"}},
	/* near: the kernel took more, so that its limit is another one */
	{"deep-stacks", SEVERITY_PARTIAL, 0, {.clock.max_stack = 2}, {.clock.max_stack = 1}},
	/* near: the stack passes through libc and ends in the program */
	{"fp-ends-in-libc",
	 SEVERITY_PARTIAL,
	 0,
	 {.dso = "/lib/x86_64-linux-gnu/libc.so.6"},
	 {.dso = "/opt/libcurl.so.4"}},
	/* near: the dynamic linker's own stacks, before any code of the program */
	{"fp-ends-in-libc",
	 SEVERITY_PARTIAL,
	 0,
	 {.dso = "/usr/lib/libc-2.28.so"},
	 {.dso = "/usr/lib/ld-2.28.so"}},
	/* user code alone was asked for: perf had no reason to look for the kernel */
	{"kptr-restrict",
	 SEVERITY_ADVICE,
	 0,
	 {KERNEL_AND_USER, .no_kernel_map = 1, .clock.flags = PW_EXCLUDE_KERNEL},
	 {.no_kernel_map = 1, .clock.flags = PW_EXCLUDE_KERNEL}},
	/* near: samples in user code only need no kernel */
	{"kptr-restrict",
	 SEVERITY_PARTIAL,
	 0,
	 {KERNEL_AND_USER, .no_kernel_map = 1},
	 {.no_kernel_map = 1}},
	{"no-kernel-symbols", SEVERITY_PARTIAL, 0, {KERNEL_AND_USER}, {0}},
	{"no-build-ids",
	 SEVERITY_PARTIAL,
	 0,
	 {.dso = "/no/such"},
	 {.dso = "/no/such", .build_ids = 1}},
	{"shared-path",
	 SEVERITY_PARTIAL,
	 0,
	 {.dso = "/no/such", .build_ids = 2},
	 {.dso = "/no/such", .build_ids = 1}},
	{"build-id-mismatch",
	 SEVERITY_PARTIAL,
	 0,
	 {.symfs = "testdata/demo/symfs", .dso = "/srv/perfkit/shop", .build_ids = 1},
	 {.symfs = "testdata/demo/symfs", .dso = "/srv/perfkit/shop"}},
	{"kernel-mismatch",
	 SEVERITY_PARTIAL,
	 0,
	 {KERNEL_AND_USER, .kernel_id = 1, .vmlinux = "testdata/demo/symfs/srv/perfkit/shop"},
	 {KERNEL_AND_USER, .kernel_id = 1}},
	{"deferred-missing",
	 SEVERITY_PARTIAL,
	 0,
	 {DEFERRED, .deferred = 1},
	 {DEFERRED, .deferred = 2}},
	/* near: a record of a kind nobody knows is whole */
	{"bad-records",
	 SEVERITY_PARTIAL,
	 0,
	 {.tail = "\3\0\0\0\0\0\20\0\7\0\0\0\7\0\0\0", .ntail = 16},
	 {.tail = "\143\0\0\0\0\0\20\0\7\0\0\0\7\0\0\0", .ntail = 16}},
	{"missing-symbols",
	 SEVERITY_PARTIAL,
	 0,
	 {.dso = "/no/such", .build_ids = 1},
	 {.dso = "/no/such"}},
	/* near: the process has a mapping, and its frames lie outside */
	{"mappings-missing",
	 SEVERITY_PARTIAL,
	 0,
	 {.no_map = 1},
	 {.nchain = 2, .chain = {PW_CONTEXT_USER, 0x77777}}},
	/* near: what runs until exec has mappings that perf does not tell, its own child's */
	{"mappings-missing", SEVERITY_PARTIAL, 0, {.no_map = 1}, {.no_map = 2}},
	{"unmapped-frames",
	 SEVERITY_PARTIAL,
	 0,
	 {.nchain = 2, .chain = {PW_CONTEXT_USER, 0x77777}},
	 {.no_map = 1}},
	/* near: code generated at run time */
	{"unmapped-frames",
	 SEVERITY_PARTIAL,
	 0,
	 {CIRCLE, .memory = "[heap]"},
	 {CIRCLE, .memory = "[heap]", .memory_code = 1}},
	/* near: the kernel's addresses, where perf could not see it */
	{"unmapped-frames",
	 SEVERITY_PARTIAL,
	 0,
	 {.nchain = 2, .chain = {PW_CONTEXT_USER, 0x77777}, .no_kernel_map = 1},
	 {KERNEL_AND_USER, .no_kernel_map = 1}},
	{"clock", SEVERITY_ADVICE, 0, {SCHED}, {SCHED, .clock_data = 1}},
	{"clock-mixed",
	 SEVERITY_WRONG,
	 0,
	 {.name2 = "page-faults", .name2_clockid = 1},
	 {.name2 = "page-faults"}},
};
enum { FAULTS = sizeof(faults) / sizeof(*faults) };

static int is_found(size_t row)
{
	const struct fault *want = &faults[row];
	struct answer a;
	ask(&want->hit, want->asked, &a);
	const struct finding *f = find(&a, want->id);
	int ok = f && f->severity == want->severity;
	if (!ok)
		print_message("row %zu: %s is %s\n", row, want->id,
			      f ? finding_severity_name(f->severity) : "not found");
	answer_release(&a);
	return ok;
}

static int is_no_false_alarm(size_t row)
{
	struct answer a;
	ask(&faults[row].near, faults[row].asked, &a);
	const struct finding *f = find(&a, faults[row].id);
	if (f)
		print_message("row %zu: false alarm: %s: %s\n", row, faults[row].id,
			      form_key(f->title.form));
	answer_release(&a);
	return !f;
}

static void every_fault_is_found_and_no_near_miss(void **state)
{
	int ok = 1;
	(void)state;
	for (size_t i = 0; i < FAULTS; i++) {
		ok &= is_found(i);
		ok &= is_no_false_alarm(i);
	}
	assert_true(ok);
}

static void a_sound_recording_has_nothing_wrong(void **state)
{
	(void)state;
	static const struct scene sound[] = {{.build_ids = 1, .dso = "/no/such"},
					     {SCHED, .clock_data = 1}};
	for (size_t i = 0; i < 2; i++) {
		struct answer a;
		ask(&sound[i], 0, &a);
		assert_true(findings_worst(&a.f, ABOUT_CPU | ABOUT_OFFCPU | ABOUT_TAIL) < 0);
		answer_release(&a);
	}
}

static void worst_comes_first(void **state)
{
	(void)state;
	struct answer a;
	ask(&(struct scene){SCHED, .switch_freq = 99, .lost = 3}, 0, &a);
	for (size_t i = 1; i < a.f.v.n; i++)
		assert_true(a.f.v.v[i - 1].severity >= a.f.v.v[i].severity);
	assert_int_equal(a.f.v.v[0].severity, SEVERITY_WRONG);
	answer_release(&a);
}

/* What LOST records count and what an event's own count adds are shares of the same whole. */
static void dropped_samples_are_a_share_of_all(void **state)
{
	(void)state;
	struct answer a;
	ask(&(struct scene){.lost = 150, .lost_samples = 160, .clock.read_format = PW_R_LOST},
	    0, &a);
	const struct finding *f = find(&a, "lost-samples");
	assert_non_null(f);
	/* 10 of 40 + 150 + 10 */
	assert_int_equal(fact_of(&f->title, "dropped")->number, 10);
	assert_int_equal(fact_of(&f->title, "dropped")->whole, 200);
	assert_string_equal(form_key(f->title.form), "lost-samples/end");
	answer_release(&a);
	ask(&(struct scene){.lost_samples = 10}, 0, &a); /* nothing says where */
	assert_string_equal(form_key(find(&a, "lost-samples")->title.form), "lost-samples");
	answer_release(&a);
}

static void losses_are_drawn_where_they_were(void **state)
{
	(void)state;
	struct answer a;
	ask(&(struct scene){SCHED, .lost = 9}, 0, &a);
	const struct finding *f = find(&a, "lost-records");
	assert_non_null(f);
	assert_int_equal(f->ndetails, 2);
	const char *lost = fact_of(&f->details[0], "lost")->text, *nine = strchr(lost, '9');
	size_t commas = 0;
	assert_non_null(nine);
	for (const char *p = lost; p < nine; p++)
		commas += *p == ',';
	/* 15 ms into records that last from 1 ms to 59.002 ms */
	assert_int_equal(commas, 50 * 14 / 58);
	answer_release(&a);
}

/* Where all copies are full, which say nothing of what stacks need, those that were cut do:
 * half of them, half of the rest with as much again, and so on. */
static void the_copy_needed_is_told_by_what_was_cut(void **state)
{
	(void)state;
	struct answer a;
	ask(&(struct scene){.dump = 1024, .dyn = 1024, .half_without = 1, .dso = "//anon"}, 0,
	    &a);
	const struct finding *f = find(&a, "truncated-dumps");
	assert_non_null(f);
	const struct fact *cut = fact_of(&f->title, "short");
	assert_int_equal(2 * cut->number, cut->whole);
	assert_int_equal(fact_of(&f->title, "size")->number, 1024);
	assert_int_equal(fact_of(&f->title, "needed")->number, 7168);
	assert_int_equal(f->nremedies, 1);
	assert_int_equal(f->remedies[0].form, FORM_LARGER_COPIES);
	assert_string_equal(fact_of(f->remedies, "option")->text, "--call-graph dwarf,7168");
	assert_non_null(strstr(a.f.line, " --call-graph dwarf,7168 "));
	answer_release(&a);
}

/* --- remedies ------------------------------------------------------------------------ */

/* The remedy of a finding is not the line that led to it. */
static void an_empty_recording_is_not_repeated_as_it_was(void **state)
{
	struct answer a;
	(void)state;
	/* nor with what another finding changes in it */
	for (int i = 0; i < 2; i++) {
		ask(&(struct scene){.no_samples = 1, .no_id_all = i}, 0, &a);
		const struct finding *f = find(&a, "no-samples");
		assert_non_null(f);
		assert_false(f->again);
		answer_release(&a);
	}
}

static int offers(const struct finding *f, enum form remedy)
{
	for (size_t i = 0; i < f->nremedies; i++)
		if (f->remedies[i].form == remedy)
			return 1;
	return 0;
}

/* Copying a simpleperf's file again brings no names. */
static void the_remedy_fits_who_wrote_the_file(void **state)
{
	(void)state;
	for (int simpleperf = 0; simpleperf < 2; simpleperf++) {
		struct answer a;
		ask(&(struct scene){SCHED, .cut = !simpleperf, .simpleperf = simpleperf}, 0,
		    &a);
		const struct finding *f = find(&a, "no-event-names");
		assert_non_null(f);
		assert_int_equal(offers(f, FORM_NOT_SIMPLEPERF), simpleperf);
		assert_int_equal(offers(f, FORM_COPY_AT_THE_END), !simpleperf);
		answer_release(&a);
	}
}

/* … in which all switches with copies of their stacks would not fit into perf's own buffers. */
static void copies_of_all_switches_get_larger_buffers(void **state)
{
	static const struct scene scenes[] = {
		{SCHED, .switch_freq = 99},
		{SCHED, .switch_freq = 99, .dump = 1024, .dyn = 512},
		{.dump = 1024, .dyn = 512, .no_id_all = 1}};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct answer a;
		ask(&scenes[i], 0, &a);
		const struct finding *f = find(&a, i < 2 ? "switch-sampled" : "no-times");
		assert_non_null(f);
		assert_true(f->again);
		assert_int_equal(!!strstr(a.f.line, " -m 64M "), i == 1);
		assert_int_equal(offers(f, FORM_LARGER_BUFFERS), i == 1);
		answer_release(&a);
	}
}

/* Samples in one file and waits in another: all of them lack a name. */
static void unnamed_files_are_a_share_together(void **state)
{
	static const struct scene s = {SCHED, .nchain = 2, .chain = {PW_CONTEXT_USER, 0x500010},
				       .other = "/no/such/client"};
	struct answer a;
	(void)state;
	ask(&s, 0, &a);
	const struct finding *f = find(&a, "no-build-ids");
	assert_non_null(f);
	const struct fact *all = fact_of(&f->title, "samples");
	assert_int_equal(f->ndetails, 2);
	assert_int_equal(all->number, all->whole);
	assert_int_equal(all->number, fact_of(&f->details[0], "samples")->number +
					      fact_of(&f->details[1], "samples")->number);
	answer_release(&a);
}

/* A command that reads no survey says the same size. */
static void every_command_needs_the_same_copy(void **state)
{
	static const struct scene s = {
		.dump = 1024, .dyn = 1024, .half_full = 1, .dso = "//anon"};
	uint64_t needed[2];
	(void)state;
	for (int folded = 0; folded < 2; folded++) {
		struct answer a;
		ask_of(&s, 0, folded, &a);
		const struct finding *f = find(&a, "truncated-dumps");
		assert_non_null(f);
		needed[folded] = fact_of(&f->title, "needed")->number;
		answer_release(&a);
	}
	assert_int_equal(needed[0], needed[1]);
	assert_true(needed[0] > 1024);
}

/* Words of a line, each behind a blank. */
static int says(const char *line, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = line; (p = strstr(p, word)); p += n)
		if (p[-1] == ' ' && (!p[n] || strchr(" ,0123456789", p[n])))
			return 1;
	return 0;
}

/* Larger buffers are for what perf says that it lost. */
static void missing_switches_are_not_blamed_on_buffers(void **state)
{
	struct answer a;
	(void)state;
	ask(&(struct scene){SCHED, .skip_switch = 1}, 0, &a);
	const struct finding *f = find(&a, "holes");
	assert_non_null(f);
	assert_int_equal(f->ndetails, 0);
	assert_int_equal(f->remedies[0].form, FORM_NOT_THE_BUFFERS);
	assert_false(says(a.f.line, "-m"));
	answer_release(&a);
}

/* A limit of the kernel is the kernel's to raise, one of the line the line's. */
static void a_limit_of_frames_is_raised_where_it_was_set(void **state)
{
	struct scene s = {.clock.max_stack = 2};
	struct answer a;
	(void)state;
	ask(&s, 0, &a);
	assert_int_equal(find(&a, "deep-stacks")->remedies[0].form, FORM_ASK_FOR_FRAMES);
	answer_release(&a);
	s.clock.max_stack = 127; /* as some perfs write it where nobody asked */
	s.recursion = 127;
	ask(&s, 0, &a);
	const struct statement *allow = find(&a, "deep-stacks")->remedies;
	assert_int_equal(allow->form, FORM_ALLOW_FRAMES);
	assert_int_equal(fact_of(allow, "frames")->number, 512);
	answer_release(&a);
}

/* A fault, by the words of a line that has it: after perf-record(1), not after the code that
 * makes the lines. */
static int has_fault(const char *line, const char *id)
{
	static const char *const waits[] = {
		"switch-sampled", "per-task",        "no-switches", "offcpu-totals",
		"no-wakeups",     "wakeups-missing", NULL};
	int sampled = says(line, "-F") || says(line, "-c");
	for (size_t i = 0; waits[i]; i++)
		if (!strcmp(id, waits[i]))
			return sampled || !says(line, "-a") || says(line, "-p") ||
			       !strstr(line, "sched:sched_switch") ||
			       !strstr(line, "sched:sched_waking");
	if (!strcmp(id, "tracepoint-sampled"))
		return sampled && strstr(line, "sched:");
	if (!strcmp(id, "clock") || !strcmp(id, "clock-mixed"))
		return !says(line, "-k CLOCK_MONOTONIC");
	if (!strcmp(id, "no-stacks"))
		return !says(line, "-g") && !says(line, "--call-graph");
	if (!strcmp(id, "truncated-dumps"))
		return !strstr(line, "--call-graph dwarf,") ||
		       atoi(strstr(line, "dwarf,") + 6) <= 1024;
	if (!strcmp(id, "fp-ends-in-libc") || !strcmp(id, "one-sided-stacks"))
		return !strstr(line, "--call-graph dwarf,");
	if (!strncmp(id, "lost-", 5))
		return !strstr(line, " -m 64M ");
	if (!strcmp(id, "no-build-ids"))
		return !says(line, "--buildid-all") && !says(line, "--buildid-mmap");
	return 0;
}

/* perf's table has all ids of a path, whatever --buildid-all adds to it. */
static void files_of_one_path_are_told_apart_by_their_mappings(void **state)
{
	(void)state;
	struct answer a;
	ask(&(struct scene){.dso = "/no/such", .build_ids = 2}, 0, &a);
	const struct finding *f = find(&a, "shared-path");
	assert_non_null(f);
	assert_int_equal(f->remedies[0].form, FORM_MAPPED_IDS);
	assert_string_equal(fact_of(f->remedies, "option")->text, "--buildid-mmap");
	assert_true(says(a.f.line, "--buildid-mmap"));
	assert_false(says(a.f.line, "--buildid-all"));
	assert_string_equal(fact_of(f->details, "reason")->text, "several builds");
	answer_release(&a);
}

/* perf lists the files that it finds in the end; the kernel knows them when they are mapped. */
static void files_that_the_list_of_build_ids_lacks_have_them_in_mappings(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct answer a;
		ask(&(struct scene){.dso = "/no/such", .all_ids = i}, 0, &a);
		const struct finding *f = find(&a, "no-build-ids");
		assert_non_null(f);
		assert_int_equal(f->nremedies, 1);
		assert_int_equal(f->remedies[0].form, i ? FORM_MAPPED_IDS : FORM_ALL_IDS);
		assert_true(says(a.f.line, i ? "--buildid-mmap" : "--buildid-all"));
		answer_release(&a);
	}
}

/* … which a perf before 5.12 does not ask the kernel for. */
static void an_old_perf_has_no_build_ids_in_mappings(void **state)
{
	(void)state;
	static const char *const versions[] = {"5.12.rc1", "6.1.187", "5.9.8",
					       "4.18.0-553.el8"};
	for (int i = 0; i < 4; i++) {
		struct answer a;
		ask(&(struct scene){.dso = "/no/such", .all_ids = 1, .version = versions[i]}, 0,
		    &a);
		const struct finding *f = find(&a, "no-build-ids");
		assert_non_null(f);
		assert_int_equal(offers(f, FORM_MAPPED_IDS), i < 2);
		assert_int_equal(a.f.line && says(a.f.line, "--buildid-mmap"), i < 2);
		answer_release(&a);
	}
}

/* Bytes of the stack copies that a line asks for; 0: none. */
static long copies_of(const char *line)
{
	const char *dwarf = strstr(line, "--call-graph dwarf,");
	return dwarf ? atol(dwarf + 19) : 0;
}

/* The line mends all that a line can mend. */
static int line_mends(const struct scene *s, unsigned asked)
{
	struct answer a;
	int ok = 1;
	ask(s, asked, &a);
	for (size_t i = 0; i < a.f.v.n; i++) {
		const char *line = a.f.line, *id = a.f.v.v[i].kind->id;
		/* where records were lost, copies come later: a sentence says it */
		int later = s->lost && !a.f.v.v[i].again;
		int grows = s->lost && copies_of(line) > (long)s->dump;
		if (!*line || (!grows && (later || !has_fault(line, id))))
			continue;
		print_message("the line has %s: %s\n", id, line);
		ok = 0;
	}
	answer_release(&a);
	return ok;
}

/* Two findings may need them together: copies for one, all switches for the other. */
static void larger_buffers_have_a_reason(void **state)
{
	int ok = 1, larger = 0;
	(void)state;
	for (size_t i = 0; i < FAULTS; i++) {
		struct answer a;
		int offered = 0;
		ask(&faults[i].hit, faults[i].asked | ABOUT_CPU | ABOUT_TAIL, &a);
		for (size_t k = 0; k < a.f.v.n; k++)
			offered |= offers(&a.f.v.v[k], FORM_LARGER_BUFFERS);
		int asked = says(a.f.line, "-m 64M");
		larger += asked;
		if (asked != offered) {
			print_message("%s: %s -m 64M: %s\n", faults[i].id,
				      offered ? "a finding says" : "no finding says", a.f.line);
			ok = 0;
		}
		answer_release(&a);
	}
	assert_true(ok && larger);
}

static void no_remedy_has_the_fault_of_another_finding(void **state)
{
	int ok = 1;
	(void)state;
	for (size_t i = 0; i < FAULTS; i++) {
		ok &= line_mends(&faults[i].hit, faults[i].asked);
		/* and together with faults of other kinds */
		struct scene s = faults[i].hit;
		s.lost += 50;
		s.sched = 1;
		s.switch_freq = 99;
		ok &= line_mends(&s, faults[i].asked | ABOUT_CPU | ABOUT_TAIL);
		s.dso = "/lib/x86_64-linux-gnu/libc.so.6";
		ok &= line_mends(&s, ABOUT_OFFCPU);
	}
	assert_true(ok);
}

/* --- stores -------------------------------------------------------------------------- */

/* A store of the scene's findings, as import makes it, without its events. */
static void write_store(const struct scene *s)
{
	struct finding_rows rows = {0};
	struct stacks st = {0};
	struct timeline tl = {.stacks = &st};
	struct store_writer *w;
	struct err e = {0};
	for (const struct finding_question *q = finding_questions; q->name; q++) {
		struct answer a;
		int folded = !!(q->asked & ASKED_OF_SAMPLES);
		ask_of(s, q->asked & ABOUT_ALL, folded, &a);
		assert_int_equal(finding_rows_add(&rows, q, &a.f, ABOUT_ALL), 0);
		answer_release(&a);
	}
	unlink(db_path);
	if (store_writer_open(&w, db_path, &e) || store_writer_add(w, &tl, &e) ||
	    store_write_finding_rows(w, &rows, &e) || store_writer_commit(w, &e))
		fail_msg("%s", e.msg);
	finding_rows_release(&rows);
	stacks_release(&st);
}

static int same_finding(const struct finding *x, const struct finding *y)
{
	int same = x->kind == y->kind && x->severity == y->severity && x->again == y->again &&
		   x->nremedies == y->nremedies && !statement_compare(&x->title, &y->title);
	for (size_t i = 0; same && i < x->nremedies; i++)
		same = !statement_compare(&x->remedies[i], &y->remedies[i]);
	return same;
}

/* Does the store answer questions about two topics as the recording does? */
static int store_agrees(const struct scene *s, const char *id, unsigned asked)
{
	struct answer a;
	struct findings f;
	struct store *store;
	struct err e = {0};
	unsigned made_for;
	ask(s, asked, &a);
	if (store_open(&store, db_path, &e) ||
	    store_findings(store, 1, asked, &f, &made_for, &e))
		fail_msg("%s", e.msg);
	int same = f.v.n == a.f.v.n && !strcmp(f.line, a.f.line);
	for (size_t i = 0; same && i < f.v.n; i++)
		same = same_finding(&f.v.v[i], &a.f.v.v[i]);
	if (!same)
		print_message("%s, asked about %#x: %s\n from the store: %s\n", id, asked,
			      a.f.line, f.line);
	store_close(store);
	findings_release(&f);
	answer_release(&a);
	return same;
}

static void a_store_has_the_remedies_of_its_recording(void **state)
{
	static const unsigned topics[] = {ABOUT_CPU, ABOUT_OFFCPU, ABOUT_TAIL, ABOUT_COUNTS};
	int ok = 1;
	(void)state;
	for (size_t i = 0; i < FAULTS; i++) {
		write_store(&faults[i].hit);
		for (size_t k = 0; k < 4; k++)
			for (size_t m = k; m < 4; m++)
				ok &= store_agrees(&faults[i].hit, faults[i].id,
						   topics[k] | topics[m]);
	}
	assert_true(ok);
}

/* --- the page ------------------------------------------------------------------------ */

/* What a recording is for, by its events together. */
static void what_is_recorded_says_what_is_asked(void **state)
{
	static const struct {
		const char *event;
		int tracepoint;
		unsigned topics;
	} rows[] = {
		{"cpu-clock", 0, ABOUT_CPU},
		{"dummy:HG", 0, 0},
		{"offcpu-time", 0, ABOUT_OFFCPU},
		{"sched:sched_switch", 1, ABOUT_OFFCPU | ABOUT_TAIL},
		{"sched:sched_waking", 1, ABOUT_OFFCPU | ABOUT_TAIL},
		{"sched:sched_process_exec", 1, 0},
		{"syscalls:sys_enter_write", 1, ABOUT_COUNTS},
		{"tracepoint 316", 1, ABOUT_OFFCPU | ABOUT_TAIL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(findings_event_topics(rows[i].event, rows[i].tracepoint),
				 rows[i].topics);
	assert_int_equal(findings_all_topics(ABOUT_NAMES), ABOUT_NAMES | ABOUT_COUNTS);
	assert_int_equal(findings_all_topics(ABOUT_CPU), ABOUT_CPU);
	assert_int_equal(findings_all_topics(ABOUT_OFFCPU | ABOUT_COUNTS),
			 ABOUT_OFFCPU | ABOUT_COUNTS | ABOUT_TAIL);
}

/* The ids that docs/doctor.md lists, in its order: "- `id`". */
static void the_page_lists_every_finding(void **state)
{
	(void)state;
	FILE *f = fopen("docs/doctor.md", "r");
	char line[512];
	size_t n = 0;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "- `", 3))
			continue;
		char *end = strchr(line + 3, '`');
		assert_non_null(end);
		*end = '\0';
		assert_non_null(finding_kinds[n].id);
		assert_string_equal(line + 3, finding_kinds[n].id);
		n++;
	}
	fclose(f);
	assert_null(finding_kinds[n].id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_remedy_fits_who_wrote_the_file),
		cmocka_unit_test(what_is_recorded_says_what_is_asked),
		cmocka_unit_test(every_fault_is_found_and_no_near_miss),
		cmocka_unit_test(a_sound_recording_has_nothing_wrong),
		cmocka_unit_test(worst_comes_first),
		cmocka_unit_test(files_of_one_path_are_told_apart_by_their_mappings),
		cmocka_unit_test(files_that_the_list_of_build_ids_lacks_have_them_in_mappings),
		cmocka_unit_test(an_old_perf_has_no_build_ids_in_mappings),
		cmocka_unit_test(dropped_samples_are_a_share_of_all),
		cmocka_unit_test(losses_are_drawn_where_they_were),
		cmocka_unit_test(the_copy_needed_is_told_by_what_was_cut),
		cmocka_unit_test(every_command_needs_the_same_copy),
		cmocka_unit_test(unnamed_files_are_a_share_together),
		cmocka_unit_test(an_empty_recording_is_not_repeated_as_it_was),
		cmocka_unit_test(copies_of_all_switches_get_larger_buffers),
		cmocka_unit_test(larger_buffers_have_a_reason),
		cmocka_unit_test(missing_switches_are_not_blamed_on_buffers),
		cmocka_unit_test(a_limit_of_frames_is_raised_where_it_was_set),
		cmocka_unit_test(no_remedy_has_the_fault_of_another_finding),
		cmocka_unit_test(a_store_has_the_remedies_of_its_recording),
		cmocka_unit_test(the_page_lists_every_finding),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
