/* tail_answer: what one sentence says of several episodes is true of as many as it says. */
#include "render/tail/tail_answer.h"
#include "tests/unit/libtime/tailrig.h"

/* Four waits of `worker`, 1 ms each, while `hog` has the CPU, or each time another thread: that
 * many of them through `holder`, which has a lock and wants the CPU, the others on the CPU
 * itself. */
static void four_waits(struct rig *r, unsigned indirect, int others)
{
	static const char *const names[] = {"hog", "ld", "as", "cc"};
	rig_init(r, 60000);
	uint32_t worker = thread(r, "worker", 1, 0), holder = thread(r, "holder", 2, TL_NOCPU),
		 hogs[4];
	for (int i = 0; i < 4; i++)
		hogs[i] = i && !others ? hogs[0] : thread(r, names[i], 3 + i, TL_NOCPU);
	off(r, holder, 0, indirect ? 9990 : 60000, indirect ? 9990 : 60000, CAUSE_SLEEP,
	    "main;nap");
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = 10000 * (uint64_t)(i + 1);
		off(r, hogs[i], i && !others ? at - 9000 : 0, at, at, CAUSE_SLEEP, "main;nap");
		if (others)
			off(r, hogs[i], at + 1000, 60000, 60000, CAUSE_SLEEP, "main;nap");
		if (i >= indirect) {
			off(r, worker, at, at, at + 1000, CAUSE_PREEMPT, "main;work")->flags =
				OFF_RUNNING;
			continue;
		}
		struct offcpu *o = off(r, holder, at, at, at + 990, CAUSE_PREEMPT, "main;hold");
		o->flags = OFF_RUNNING;
		o->cpu_out = o->cpu_in = 0;
		woken_by(off(r, worker, at, at + 999, at + 1000, CAUSE_LOCK,
			     "main;ask;c:lll_lock"),
			 holder);
		uint64_t until = i + 1 < indirect ? at + 9990 : 60000;
		off(r, holder, at + 1001, until, until, CAUSE_SLEEP, "main;nap");
	}
	if (!others)
		off(r, hogs[0], 41000, 60000, 60000, CAUSE_SLEEP, "main;nap");
}

/* What is said of the waits of `worker`. */
static void says(struct rig *r, const char *sentence)
{
	struct buf b = {0};
	struct tail_query q = top(4);
	q.episodes.of.comms = (const char *const[]){"worker"};
	q.episodes.of.ncomms = 1;
	finish(r);
	struct tail t = make(r, q);
	assert_int_equal(tail_answer(&b, &t, NULL), 0);
	assert_string_equal(buf_cstr(&b), sentence);
	tail_release(&t);
	rig_release(r);
	buf_release(&b);
}

static void a_role_in_the_middle_is_counted(void **state)
{
	static const char *const sentences[] = {
		[0] = "4 of 4 worst waits of worker: hog had the CPU, running nap().",
		[2] = "4 of 4 worst waits of worker: hog had the CPU, running nap().",
		[3] = "4 of 4 worst waits of worker: hog had the CPU, in 3 of them while "
		      "holder "
		      "held the lock that worker wanted in ask().",
		[4] = "4 of 4 worst waits of worker: hog had the CPU while holder held the "
		      "lock "
		      "that worker wanted in ask()."};
	(void)state;
	for (unsigned i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
		struct rig r;
		if (!sentences[i])
			continue;
		four_waits(&r, i, 0);
		says(&r, sentences[i]);
	}
}

/* If each root is another one, the sentence is about what all waited for. */
static void what_all_waited_for_comes_before_who_had_the_cpu(void **state)
{
	struct rig r;
	(void)state;
	four_waits(&r, 4, 1);
	says(&r, "4 of 4 worst waits of worker: waiting for a lock in ask(); its holder lacked "
		 "a CPU.");
	four_waits(&r, 3, 1);
	says(&r, "3 of 4 worst waits of worker: waiting for a lock in ask(); its holder lacked "
		 "a CPU.");
	four_waits(&r, 0, 1);
	says(&r,
	     "4 of 4 worst waits of worker: waiting for a CPU, which several threads used in "
	     "turn.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_role_in_the_middle_is_counted),
		cmocka_unit_test(what_all_waited_for_comes_before_who_had_the_cpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
