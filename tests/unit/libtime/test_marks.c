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

enum { FIRST = 300, N = 2 };
static const char *const events[N] = {"cpu_idle", "cpu_frequency"};

static void begin(struct pw *w)
{
	static const uint64_t ids[N][1] = {{11}, {12}};
	static char text[N][1024], name[N][32];
	struct pw_tracepoint tp[N];
	pw_begin(w, &(struct pw_config){.mode = PW_FILE});
	for (unsigned i = 0; i < N; i++) {
		snprintf(name[i], sizeof(name[i]), "power:%s", events[i]);
		pw_attr(w, &(struct pw_attr){.type = 2,
					     .config = FIRST + i,
					     .period = 1,
					     .clockid = -1,
					     .sample_type = PW_S_IDENTIFIER | PW_S_TID |
							    PW_S_TIME | PW_S_CPU | PW_S_RAW,
					     .flags = PW_SAMPLE_ID_ALL,
					     .ids = ids[i],
					     .nids = 1,
					     .name = name[i]});
		snprintf(text[i], sizeof(text[i]), "name: %s\nID: %u\n%s", events[i], FIRST + i,
			 fields);
		tp[i] = (struct pw_tracepoint){"power", text[i]};
	}
	pw_feature_tracing_data(w, tp, N);
	pw_feature_event_desc(w);
}

static void sample(struct pw *w, unsigned event, uint64_t us)
{
	uint8_t raw[16] = {(FIRST + event) & 0xff, (FIRST + event) >> 8};
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

/* Other events of `power` are too frequent to say anything one by one. */
static void idle_states_are_marks(void **state)
{
	struct pw w;
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct timeline tl;
	struct err e = {0};
	(void)state;
	begin(&w);
	sample(&w, 0, 100);
	sample(&w, 1, 110);
	assert_int_equal(pw_finish(&w, &image), 0);
	if (recording_open_mem(&rec, image.v, image.n, "made.data", &e) ||
	    profile_of(&p, rec, &(struct profile_options){0}, &e) ||
	    timeline_build(p, &(struct build_options){0}, &tl, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(tl.marks.n, 1);
	assert_int_equal(tl.marks.v[0].cpu, 1);
	assert_int_equal(tl.marks.v[0].time_ns, 100000);
	assert_string_equal(strtab_get(&p->stacks.strings, tl.marks.v[0].text),
			    "state=2 cpu_id=1");
	timeline_release(&tl);
	profile_close(p);
	buf_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_states_are_marks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
