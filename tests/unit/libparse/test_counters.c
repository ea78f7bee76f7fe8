/* libparse: what samples that read counters say each has moved. The figures are those that the
 * counters were made to stand at. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "libparse/counters.h"

enum { ROUNDS = 10 };

/* How far each of two threads' counters goes between two readings. */
static const uint64_t steps[2][2] = {{1000, 2000}, {50, 70}};

static void add_events(struct pw *w, uint64_t flags)
{
	static const uint64_t ids[2][1] = {{11}, {12}};
	for (int i = 0; i < 2; i++)
		pw_attr(w, &(struct pw_attr){.config = (uint64_t)i,
					     .period = 4000,
					     .sample_type = PW_S_IDENTIFIER | PW_S_IP |
							    PW_S_TID | PW_S_TIME | PW_S_READ,
					     .read_format = PW_R_ID | PW_R_GROUP,
					     .flags = flags,
					     .ids = ids[i],
					     .nids = 1});
}

static void read_group(struct pw *w, uint32_t tid, const uint64_t at[2])
{
	struct pw_read_value values[] = {{.value = at[0], .id = 11},
					 {.value = at[1], .id = 12}};
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .id = 11,
				      .pid = 100,
				      .tid = tid,
				      .values = values,
				      .nvalues = 2});
}

/* Sums by thread (100 and 101) and event. */
static void sum_up(struct pw *w, uint64_t sums[2][2])
{
	struct buf image = {0};
	struct recording *rec;
	struct counters c = {0};
	struct record r;
	struct sample s;
	struct err e = {0};
	assert_int_equal(pw_finish(w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	memset(sums, 0, 4 * sizeof(uint64_t));
	while (recording_next(rec, &r, &e) == 1) {
		const struct event *ev = recording_event(rec, &r);
		uint64_t at = 0, moved;
		assert_int_equal(sample_decode(&r, ev, rec->swap, &s, &e), 0);
		while (counters_next(&c, rec, &s, &at, &ev, &moved) == 1)
			sums[s.tid - 100][ev->index] += moved;
	}
	counters_release(&c);
	recording_close(rec);
	buf_release(&image);
}

/* Linux 6.12: {a,b}:S of a command and its threads. */
static void inherited_counters_are_each_threads_own(void **state)
{
	(void)state;
	uint64_t stand[2][2] = {{0}}, sums[2][2];
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	add_events(&w, PW_INHERIT);
	for (int i = 0; i < ROUNDS * 2; i++) {
		int t = i % 2;
		stand[t][0] += steps[t][0];
		stand[t][1] += steps[t][1];
		read_group(&w, (uint32_t)(100 + t), stand[t]);
	}
	sum_up(&w, sums);
	assert_memory_equal(sums, stand, sizeof(stand));
}

/* Without inheritance one counter runs on through all threads of a CPU. */
static void other_counters_are_one_for_all_threads(void **state)
{
	(void)state;
	uint64_t stand[2] = {0}, sums[2][2];
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	add_events(&w, 0);
	for (int i = 0; i < ROUNDS * 2; i++) {
		stand[0] += steps[i % 2][0];
		stand[1] += steps[i % 2][1];
		read_group(&w, (uint32_t)(100 + i % 2), stand);
	}
	sum_up(&w, sums);
	for (int t = 0; t < 2; t++)
		for (int k = 0; k < 2; k++)
			assert_int_equal(sums[t][k], ROUNDS * steps[t][k]);
}

/* A single event of all CPUs, as perf 6.1 records `-a -e a:S`. */
static void counters_of_cpus_are_one_whatever_the_attr_says(void **state)
{
	(void)state;
	static const uint64_t ids[] = {11};
	struct pw_read_value value = {0};
	uint64_t sums[2][2];
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.sample_type = PW_S_IDENTIFIER | PW_S_TID | PW_S_READ,
				      .read_format = PW_R_ID,
				      .flags = PW_INHERIT,
				      .ids = ids,
				      .nids = 1});
	for (int i = 0; i < ROUNDS * 2; i++) {
		struct pw_sample s = {.id = 11, .pid = 100, .values = &value, .nvalues = 1};
		s.tid = (uint32_t)(100 + i % 2);
		value.value += steps[i % 2][0];
		pw_sample(&w, 0, &s);
	}
	sum_up(&w, sums);
	assert_int_equal(sums[0][0], ROUNDS * steps[0][0]);
	assert_int_equal(sums[1][0], ROUNDS * steps[1][0]);
}

static void a_number_used_again_counts_from_nothing(void **state)
{
	(void)state;
	static const uint64_t stand[][2] = {{500, 900}, {700, 950}, {30, 40}, {80, 41}};
	uint64_t sums[2][2];
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	add_events(&w, PW_INHERIT);
	for (int i = 0; i < 4; i++)
		read_group(&w, 101, stand[i]);
	sum_up(&w, sums);
	assert_int_equal(sums[1][0], 700 + 80);
	assert_int_equal(sums[1][1], 950 + 41);
}

/* --- how late samples are ----------------------------------------------------------------- */

static void lateness_is_the_attributes(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config, precise;
		const char *name, *says; /* NULL: nothing is known */
	} rows[] = {
		{1, 0, 0, "cpu-clock", "the clock interrupts"},
		{1, 1, 0, "task-clock", "the clock interrupts"},
		{1, 2, 0, "page-faults", NULL},
		{0, 0, 0, "cycles", "several instructions late"},
		{0, 0, 1, "cycles:p", "the same few instructions"},
		{0, 0, 2, "cycles:pp", "as far as the CPU can"},
		{4, 0xc0, 3, "cpu/event=0xc0/ppp", "itself (:ppp)"},
		{11, 0, 0, "ibs_op//", "IBS"},
		{12, 0, 0, "arm_spe_0/ts_enable=1/", "SPE"},
		{2, 300, 0, "sched:sched_switch", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char name[32];
		snprintf(name, sizeof(name), "%s", rows[i].name);
		struct event ev = {.attr = {.type = rows[i].type,
					    .config = rows[i].config,
					    .flags = rows[i].precise << ATTR_PRECISE_IP},
				   .name = name};
		const char *said = event_skid_text(event_skid(&ev));
		assert_int_equal(!*said, !rows[i].says);
		assert_true(!*said || strstr(said, rows[i].says));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inherited_counters_are_each_threads_own),
		cmocka_unit_test(other_counters_are_one_for_all_threads),
		cmocka_unit_test(counters_of_cpus_are_one_whatever_the_attr_says),
		cmocka_unit_test(a_number_used_again_counts_from_nothing),
		cmocka_unit_test(lateness_is_the_attributes),
	};
	return cmocka_run_group_tests_name("libparse counters", tests, NULL, NULL);
}
