/* libtime: the filters for threads whose stacks are recorded. */
#include "libtime/record/chosen.h"
#include "tests/lib/unit.h"

#include <string.h>

static const struct chosen_thread pool[] = {
	{7, 7, "server"}, {7, 9, "worker-1"}, {7, 10, "worker-22"}, {7, 11, "a\"b*"}};

static void each_choice_has_its_filters(void **state)
{
	static const struct {
		struct chosen_wish wish;
		size_t threads;
		const char *leaving, *woken;
	} rows[] = {
		/* the main thread by its id, too: a process that execs gets another name */
		{{.pid = "7"},
		 4,
		 "prev_comm == \"server\" || prev_comm ~ \"worker-*\" || prev_comm ~ "
		 "\"a?b?\" || prev_pid == 7",
		 "comm == \"server\" || comm ~ \"worker-*\" || comm ~ \"a?b?\" || pid == 7"},
		{{.tid = "7,9"}, 2, "prev_pid == 7 || prev_pid == 9", "pid == 7 || pid == 9"},
		{{.cgroup = "web"},
		 2,
		 "prev_comm == \"server\" || prev_comm ~ \"worker-*\"",
		 "comm == \"server\" || comm ~ \"worker-*\""},
		{{.comm = "db,front-*"},
		 0,
		 "prev_comm == \"db\" || prev_comm ~ \"front-*\"",
		 "comm == \"db\" || comm ~ \"front-*\""},
		{{.cpus = "0,2-3"},
		 0,
		 "CPU == 0 || CPU == 2 || CPU == 3",
		 "target_cpu == 0 || target_cpu == 2 || target_cpu == 3"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct chosen c;
		assert_true(chosen_any(&rows[i].wish));
		assert_int_equal(chosen_check(&rows[i].wish, NULL), 0);
		assert_int_equal(chosen_filters(&c, &rows[i].wish, pool, rows[i].threads, NULL),
				 0);
		assert_string_equal(c.leaving, rows[i].leaving);
		assert_string_equal(c.woken, rows[i].woken);
		chosen_release(&c);
	}
}

/* Ids of processes are left out where names have taken the room; names are not. */
static void a_filter_holds_so_much(void **state)
{
	enum { MANY = 400 };
	static struct chosen_thread v[MANY];
	struct chosen c;
	(void)state;
	for (int i = 0; i < MANY; i++) {
		v[i] = (struct chosen_thread){1000000 + i, 1000000 + i, "same"};
	}
	assert_int_equal(chosen_filters(&c, &(struct chosen_wish){.pid = "x"}, v, MANY, NULL),
			 0);
	assert_in_range(strlen(c.leaving), 3900, 4000);
	assert_non_null(strstr(c.leaving, "prev_pid == 1000000 "));
	chosen_release(&c);
	for (int i = 0; i < MANY; i++)
		snprintf(v[i].comm, sizeof(v[i].comm), "%c%c_name", 'a' + i / 26, 'a' + i % 26);
	assert_int_equal(chosen_filters(&c, &(struct chosen_wish){.pid = "x"}, v, MANY, NULL),
			 ERR_USAGE);
	chosen_release(&c);
}

static void what_is_malformed_is_refused(void **state)
{
	struct chosen c;
	(void)state;
	assert_false(chosen_any(&(struct chosen_wish){0}));
	assert_int_equal(chosen_check(&(struct chosen_wish){.pid = "7", .comm = "a"}, NULL),
			 ERR_USAGE);
	static const char *const lists[] = {"", "x", "3-1", "0,"};
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		assert_int_equal(chosen_filters(&c, &(struct chosen_wish){.cpus = lists[i]},
						NULL, 0, NULL),
				 ERR_USAGE);
		chosen_release(&c);
	}
}

/* Half as much again as is in use, in steps, within bounds. */
static void copies_have_room(void **state)
{
	(void)state;
	assert_int_equal(chosen_copy(0), 0);
	assert_int_equal(chosen_copy(1), 512);
	assert_int_equal(chosen_copy(2000), 3008);
	assert_int_equal(chosen_copy(2048), 3072);
	assert_int_equal(chosen_copy(6000), 8192);
	assert_int_equal(chosen_copy(UINT64_MAX), 8192);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_choice_has_its_filters),
		cmocka_unit_test(a_filter_holds_so_much),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(copies_have_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
