/* build: which tracepoints become marks. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "libtime/build/build.h"

static const char fields[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"state=%lu cpu_id=%lu\", (unsigned long)REC->state, "
	"(unsigned long)REC->cpu_id\n";

static const char *const events[] = {"cpu_idle", "cpu_frequency"};
static const char *const formats[] = {fields, fields};

static void begin(struct pw *w)
{
	pw_begin(w, &(struct pw_config){.mode = PW_FILE});
	pw_tracepoints(w, "power", events, "", formats, 2,
		       &(struct pw_attr){.period = 1,
					 .sample_type = PW_S_IDENTIFIER | PW_S_TID | PW_S_TIME |
							PW_S_CPU | PW_S_RAW,
					 .flags = PW_SAMPLE_ID_ALL});
}

static void sample(struct pw *w, unsigned event, uint64_t us)
{
	uint8_t raw[16] = {(PW_TRACEPOINT_ID + event) & 0xff, (PW_TRACEPOINT_ID + event) >> 8};
	raw[8] = 2;
	raw[12] = 1;
	pw_sample(w, event,
		  &(struct pw_sample){.misc = PW_MISC_KERNEL,
				      .time = us * 1000,
				      .cpu = 1,
				      .id = 11 + event,
				      .raw = raw,
				      .raw_size = sizeof(raw)});
}

/* The timeline of what was written. */
static void build(struct pw *w, struct buf *image, struct profile **p, struct timeline *tl)
{
	struct recording *rec;
	struct err e = {0};
	assert_int_equal(pw_finish(w, image), 0);
	if (recording_open_mem(&rec, image->v, image->n, "made.data", &e) ||
	    profile_of(p, rec, &(struct profile_options){0}, &e) ||
	    timeline_build(*p, &(struct build_options){0}, tl, &e))
		fail_msg("%s", e.msg);
}

/* Other events of `power` are too frequent to say anything one by one. */
static void idle_states_are_marks(void **state)
{
	struct pw w;
	struct buf image = {0};
	struct profile *p;
	struct timeline tl;
	(void)state;
	begin(&w);
	sample(&w, 0, 100);
	sample(&w, 1, 110);
	build(&w, &image, &p, &tl);
	assert_int_equal(tl.marks.n, 1);
	assert_int_equal(tl.marks.v[0].cpu, 1);
	assert_int_equal(tl.marks.v[0].time_ns, 100000);
	assert_string_equal(strtab_get(&p->stacks.strings, tl.marks.v[0].text),
			    "state=2 cpu_id=1");
	timeline_release(&tl);
	profile_close(p);
	buf_release(&image);
}

/* An expiring timer is a mark with its function as the stack, whatever it interrupted. */
static void timers_are_marks_with_their_function(void **state)
{
	static const char *const name[] = {"timer_expire_entry"};
	static const char *const format[] = {
		"format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:void * timer;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"timer=%p function=%ps\", REC->timer, REC->function\n"};
	uint8_t raw[24] = {PW_TRACEPOINT_ID & 0xff, PW_TRACEPOINT_ID >> 8};
	uint64_t function = 0xffffffff81002040;
	struct pw w;
	struct buf image = {0};
	struct profile *p;
	struct timeline tl;
	(void)state;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_tracepoints(&w, "timer", name, "", format, 1,
		       &(struct pw_attr){.period = 1,
					 .sample_type = PW_S_IDENTIFIER | PW_S_TID | PW_S_TIME |
							PW_S_CPU | PW_S_RAW,
					 .flags = PW_SAMPLE_ID_ALL});
	memcpy(raw + 16, &function, sizeof(function));
	pw_sample(&w, 0,
		  &(struct pw_sample){.misc = PW_MISC_KERNEL,
				      .pid = 9,
				      .tid = 9,
				      .time = 100000,
				      .cpu = 1,
				      .id = 11,
				      .raw = raw,
				      .raw_size = sizeof(raw)});
	build(&w, &image, &p, &tl);
	assert_int_equal(tl.marks.n, 1);
	const struct tl_mark *m = tl.marks.v;
	assert_string_equal(strtab_get(&p->stacks.strings, m->name),
			    "timer:timer_expire_entry");
	assert_int_equal(m->thread, TL_NONE);
	assert_int_equal(m->cpu, 1);
	const struct call_path *node = &p->stacks.paths.v[m->path];
	assert_int_equal(node->parent, 0);
	assert_int_equal(p->stacks.frames.v[node->frame].addr, function);
	timeline_release(&tl);
	profile_close(p);
	buf_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_states_are_marks),
		cmocka_unit_test(timers_are_marks_with_their_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
