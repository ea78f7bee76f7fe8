/*
 * The TCP timer that sent the packet which ended a wait, as recorded or by the time.
 */
#include "tests/unit/libtime/tailrig.h"

enum { CPU = 1, OTHER_CPU = 0 };

#define IN_BACKLOG "[k]ret_from_fork;[k]run_ksoftirqd;[k]process_backlog;[k]sock_def_readable"

static void timer(struct rig *r, const char *function, uint64_t us, uint16_t cpu)
{
	struct tl_mark m = {.time_ns = us * 1000,
			    .name = text(r, "timer:timer_expire_entry"),
			    .thread = TL_NONE,
			    .path = path(r, function),
			    .cpu = cpu};
	assert_int_equal(vec_push(&r->tl.marks, m), 0);
}

static void softirq(struct rig *r, const char *vector, uint64_t from_us, uint64_t to_us,
		    uint16_t cpu)
{
	struct tl_interrupt t = {.start_ns = from_us * 1000,
				 .end_ns = to_us * 1000,
				 .vector = text(r, vector),
				 .thread = TL_NONE,
				 .cpu = cpu};
	assert_int_equal(vec_push(&r->tl.interrupts, t), 0);
}

static void receipt(struct rig *r, uint64_t from_us, uint64_t to_us, uint16_t cpu)
{
	softirq(r, "softirq NET_RX", from_us, to_us, cpu);
}

/* The function of the timer that ended a wait from 100 to 900 us, "" for none. */
static const char *timer_of(struct rig *r, const char *waker_stack)
{
	struct evidence x;
	uint32_t server = thread(r, "server", 7, 0);
	struct offcpu *o = off(r, server, 100, 900, 950, CAUSE_NET, "read;[k]tcp_recvmsg");
	o->waker_path = path(r, waker_stack);
	o->cpu_wake = CPU;
	finish(r);
	assert_int_equal(evidence_init(&x, &r->tl, NULL), 0);
	uint32_t at = evidence_tcp_timer(&x, 0);
	evidence_release(&x);
	const struct stacks *s = &r->stacks;
	return at ? strtab_get(&s->strings, s->frames.v[s->paths.v[at].frame].name) : "";
}

/* softirqs in which nothing was received for the thread, then TIMER, then ksoftirqd */
static void a_timer_between_two_receipts_sent_it(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 1000);
	receipt(&r, 300, 310, CPU);
	timer(&r, "[k]process_timeout", 400, CPU);
	timer(&r, "[k]tcp_delack_timer", 410, CPU);
	timer(&r, "[k]process_timeout", 420, CPU);
	receipt(&r, 500, 510, OTHER_CPU);
	receipt(&r, 890, 905, CPU);
	assert_string_equal(timer_of(&r, IN_BACKLOG), "tcp_delack_timer");
	rig_release(&r);
}

static void other_timers_did_not(void **state)
{
	(void)state;
	static const struct {
		const char *function, *waker;
		uint64_t us;
		uint16_t cpu;
	} cases[] = {
		/* its packet was received before; it belongs to another wait */
		{"[k]tcp_delack_timer", IN_BACKLOG, 200, CPU},
		{"[k]tcp_delack_timer", IN_BACKLOG, 50, CPU},
		{"[k]tcp_delack_timer", IN_BACKLOG, 410, OTHER_CPU},
		{"[k]process_timeout", IN_BACKLOG, 410, CPU},
		/* a thread sends; a device receives */
		{"[k]tcp_delack_timer",
		 "main;[k]tcp_sendmsg;[k]__dev_queue_xmit;[k]process_backlog", 410, CPU},
		{"[k]tcp_delack_timer", "[k]common_interrupt;[k]virtnet_poll", 410, CPU},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		rig_init(&r, 1000);
		receipt(&r, 300, 310, CPU);
		timer(&r, cases[i].function, cases[i].us, cases[i].cpu);
		assert_string_equal(timer_of(&r, cases[i].waker), "");
		rig_release(&r);
	}
}

/* A wait of 43.8 ms whose packet ksoftirqd received just after the timers had run. */
static void forty_milliseconds_and_a_timer_are_a_delayed_ack(void **state)
{
	(void)state;
	static const struct {
		uint64_t timer_us, begins_us, us;
		const char *waker;
		int is;
	} cases[] = {
		{43700, 0, 43800, IN_BACKLOG, 1},
		{43700, 0, 30000, IN_BACKLOG, 0},
		{43700, 0, 60000, IN_BACKLOG, 0},
		{0, 0, 43800, IN_BACKLOG, 0},
		{43700, 43750, 43800, IN_BACKLOG, 0}, /* a thread that may have sent it */
		{43700, 0, 43800, "main;[k]__dev_queue_xmit;[k]process_backlog", 0},
		{43700, 0, 43800, "[k]common_interrupt;[k]virtnet_poll", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		struct explanation x = {0};
		rig_init(&r, 100000);
		uint32_t server = thread(&r, "server", 7, 0),
			 other = thread(&r, "other", 8, TL_NOCPU);
		struct offcpu *o = off(&r, server, 100, cases[i].us + 100, cases[i].us + 150,
				       CAUSE_NET, "read;[k]tcp_recvmsg");
		o->waker_path = path(&r, cases[i].waker);
		o->waker_context = WAKER_SOFTIRQ;
		o->cpu_wake = CPU;
		uint64_t begins = cases[i].begins_us ? cases[i].begins_us + 100 : 90000;
		off(&r, other, 0, begins, begins, CAUSE_SLEEP, "nap")->cpu_in = CPU;
		receipt(&r, 300, 310, CPU);
		if (cases[i].timer_us)
			softirq(&r, "softirq TIMER",
				cases[i].timer_us - 60 + cases[i].us - 43700,
				cases[i].timer_us + cases[i].us - 43700, CPU);
		struct tail t = explain_one(&r, "server", &x);
		const struct mechanism *m = x.parts.v[0].mechanism;
		assert_int_equal(m && !strcmp(m->name, "delayed-ack"), cases[i].is);
		explanation_release(&x);
		tail_release(&t);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_timer_between_two_receipts_sent_it),
		cmocka_unit_test(other_timers_did_not),
		cmocka_unit_test(forty_milliseconds_and_a_timer_are_a_delayed_ack),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
