/*
 * sites: at which places threads wait, and the verdict of each, from timelines made by hand.
 * The tests follow the lines of the rule in sites.h.
 */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libtime/causes/causes.h"
#include "libtime/population/population.h"
#include "libtime/sched/timeline_names.h"

struct rig {
	struct stacks stacks;
	struct timeline tl;
	struct causes *c;
};

static uint32_t text(struct rig *r, const char *s)
{
	uint32_t id;
	assert_int_equal(strtab_intern(&r->stacks.strings, s, &id), 0);
	return id;
}

/* "main;serve;poll@libc.so.6;do_poll[k]": frames of /bin/prog where nothing else is said. */
static uint32_t path_of(struct rig *r, const char *folded)
{
	char copy[512], *save = NULL;
	uint32_t path = 0;
	snprintf(copy, sizeof(copy), "%s", folded);
	for (char *w = strtok_r(copy, ";", &save); w; w = strtok_r(NULL, ";", &save)) {
		struct frame f = {.kind = FRAME_USER};
		char *kernel = strstr(w, "[k]"), *at = strchr(w, '@');
		uint32_t id;
		if (kernel)
			*kernel = '\0';
		if (at)
			*at++ = '\0';
		f.kind = kernel                        ? FRAME_KERNEL
			 : at && !strcmp(at, "//anon") ? FRAME_JIT
						       : FRAME_USER;
		f.name = text(r, w);
		f.dso = text(r, kernel ? "[kernel.kallsyms]" : at ? at : "/bin/prog");
		assert_int_equal(stacks_frame(&r->stacks, &f, &id), 0);
		assert_int_equal(stacks_push(&r->stacks, path, id, &path), 0);
	}
	return path;
}

/* Threads 100, 101 ... of process 100; `dwarf`: how the switches' stacks were taken. */
static void rig_init(struct rig *r, int threads, int dwarf)
{
	*r = (struct rig){0};
	assert_int_equal(causes_new(&r->c, NULL), 0);
	assert_int_equal(timeline_init(&r->tl, &r->stacks), 0);
	r->tl.rec.end_ns = 1000000;
	struct tl_event ev = {.name = text(r, "sched:sched_switch"),
			      .tracepoint = 1,
			      .sched = 1,
			      .stacks = dwarf ? STACKS_DWARF : STACKS_FRAME_POINTERS};
	assert_int_equal(vec_push(&r->tl.events, ev), 0);
	for (int i = 0; i < threads; i++) {
		struct tl_thread t = {.pid = 100, .tid = 100 + i, .last_ns = 1000000};
		char comm[16];
		snprintf(comm, sizeof(comm), "t%d", i);
		t.comm = text(r, comm);
		assert_int_equal(vec_push(&r->tl.threads, t), 0);
	}
}

static void rig_release(struct rig *r)
{
	causes_free(r->c);
	timeline_release(&r->tl);
	stacks_release(&r->stacks);
}

/* A thread slept in [start, end), woken by `waker` (TL_NONE: a timer) from a stack. */
static struct offcpu *slept(struct rig *r, uint32_t thread, uint64_t start, uint64_t end,
			    const char *where, uint32_t waker, const char *from)
{
	struct offcpu o = {.thread = thread,
			   .start_ns = start,
			   .end_ns = end,
			   .blocked_ns = end - start,
			   .path = path_of(r, where),
			   .waker = waker,
			   .comm = r->tl.threads.v[thread].comm,
			   .waker_path = waker == TL_NONE ? 0 : path_of(r, from),
			   .waker_context = waker == TL_NONE ? WAKER_HARDIRQ : WAKER_TASK,
			   .cpu_out = TL_NOCPU,
			   .cpu_in = TL_NOCPU,
			   .cpu_wake = TL_NOCPU,
			   .cpu_queue = TL_NOCPU};
	assert_int_equal(timeline_state(&r->tl, "S", &o.state), 0);
	assert_int_equal(bigvec_push(&r->tl.offcpu, o, NULL), 0);
	return &r->tl.offcpu.v[r->tl.offcpu.n - 1];
}

static void worked(struct rig *r, uint32_t thread, uint64_t at, const char *where)
{
	struct tl_sample s = {.time_ns = at,
			      .thread = thread,
			      .comm = r->tl.threads.v[thread].comm,
			      .period = 1,
			      .path = path_of(r, where)};
	assert_int_equal(bigvec_push(&r->tl.samples, s, NULL), 0);
}

static void apply(struct rig *r)
{
	struct err e = {0};
	assert_int_equal(timeline_finish(&r->tl, &e), 0);
	assert_int_equal(causes_apply(r->c, &r->tl, &e), 0);
}

/* The site of a thread's nth wait, "role cause function verdict reason[ loop]". */
static void expect(struct rig *r, uint32_t thread, uint32_t nth, const char *want)
{
	const struct strtab *s = &r->stacks.strings;
	const struct offcpu *o = &r->tl.offcpu.v[r->tl.threads.v[thread].offcpu_first + nth];
	const struct tl_site *t = timeline_site(&r->tl, o->site);
	char got[256];
	snprintf(got, sizeof(got), "%s %s %s %s: %s%s", strtab_get(s, t->role),
		 cause_name(t->cause), strtab_get(s, r->stacks.frames.v[t->frame].name),
		 site_verdict_name(t->verdict), site_reason_name(t->reason),
		 t->loop ? " loop" : "");
	assert_string_equal(got, want);
	assert_int_equal(o->flags & OFF_SITE, site_flags(t));
}

#define START "clone3@libc.so.6;start_thread@libc.so.6;"
#define COND ";pthread_cond_wait@libc.so.6;do_futex[k];futex_wait[k]"
#define NAP ";clock_nanosleep@libc.so.6;do_nanosleep[k]"
#define RECV ";__libc_recv@libc.so.6;tcp_recvmsg[k]"
#define POLL ";poll@libc.so.6;do_poll[k]"

/* 1 makes jobs on a timer, 0 does them; of `rounds` rounds. */
static void pool(struct rig *r, int dwarf, uint64_t rounds)
{
	rig_init(r, 2, dwarf);
	for (uint64_t t = 0; t < rounds; t++) {
		slept(r, 0, t * 1000, t * 1000 + 500, START "worker;get_job" COND, 1,
		      START "feeder;submit");
		worked(r, 0, t * 1000 + 600, START "worker;handle;parse");
		slept(r, 0, t * 1000 + 700, t * 1000 + 900, START "worker;handle;ask" COND,
		      TL_NONE, "");
	}
	for (uint64_t t = 0; t < rounds; t++) {
		slept(r, 1, t * 1000 + 510, t * 1000 + 1490, START "feeder" NAP, TL_NONE, "");
		worked(r, 1, t * 1000 + 500, START "feeder;submit");
	}
}

static void nothing_is_idle_by_its_shape(void **state)
{
	(void)state;
	for (int dwarf = 0; dwarf < 2; dwarf++) {
		struct rig r;
		pool(&r, dwarf, 20);
		apply(&r);
		expect(&r, 0, 0,
		       dwarf ? "worker cond get_job unclear: no evidence loop"
			     : "worker cond get_job unclear: frame pointers loop");
		expect(&r, 0, 1,
		       dwarf ? "worker cond ask work: inside work"
			     : "worker cond ask unclear: frame pointers");
		expect(&r, 1, 0,
		       dwarf ? "feeder sleep feeder unclear: timer loop"
			     : "feeder sleep feeder unclear: frame pointers loop");
		rig_release(&r);
	}
}

static void a_verdict_stays_when_more_is_recorded(void **state)
{
	(void)state;
	for (uint64_t rounds = 5; rounds < 400; rounds *= 3) {
		struct rig r;
		pool(&r, 1, rounds);
		apply(&r);
		expect(&r, 0, 0, "worker cond get_job unclear: no evidence loop");
		expect(&r, 0, 1, "worker cond ask work: inside work");
		rig_release(&r);
	}
}

static void a_verdict_does_not_depend_on_names_of_threads(void **state)
{
	(void)state;
	for (int named = 0; named < 2; named++) {
		struct rig r;
		pool(&r, 1, 20);
		for (size_t i = 0; !named && i < r.tl.threads.n; i++)
			r.tl.threads.v[i].comm = text(&r, "prog");
		for (size_t i = 0; !named && i < r.tl.offcpu.n; i++)
			r.tl.offcpu.v[i].comm = text(&r, "prog");
		for (size_t i = 0; !named && i < r.tl.samples.n; i++)
			r.tl.samples.v[i].comm = text(&r, "prog");
		apply(&r);
		expect(&r, 0, 1, "worker cond ask work: inside work");
		expect(&r, 1, 0, "feeder sleep feeder unclear: timer loop");
		rig_release(&r);
	}
}

static void options_come_first(void **state)
{
	(void)state;
	static const struct {
		const char *idle, *work, *first, *second;
	} cases[] = {
		{"^get_job$", NULL, "worker cond get_job idle: --idle-frame",
		 "worker cond ask work: inside work"},
		/* below it, other functions wait: that is not its own waiting */
		{"worker", NULL, "worker cond get_job unclear: no evidence loop",
		 "worker cond ask work: inside work"},
		{NULL, "^worker$", "worker cond get_job work: --work-frame",
		 "worker cond ask work: --work-frame"},
		{"ask", "handle", "worker cond get_job unclear: no evidence loop",
		 "worker cond ask work: --work-frame"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		pool(&r, 1, 20);
		if (cases[i].idle)
			assert_int_equal(causes_idle_frame(r.c, cases[i].idle, NULL), 0);
		if (cases[i].work)
			assert_int_equal(causes_work_frame(r.c, cases[i].work, NULL), 0);
		apply(&r);
		expect(&r, 0, 0, cases[i].first);
		expect(&r, 0, 1, cases[i].second);
		rig_release(&r);
	}
}

/* One wait each, by a thread of its own. */
static void judged(const char *where, int dwarf, const char *want)
{
	struct rig r;
	rig_init(&r, 1, dwarf);
	slept(&r, 0, 0, 400, where, TL_NONE, "");
	apply(&r);
	expect(&r, 0, 0, want);
	rig_release(&r);
}

static void locks_and_devices_are_never_idle(void **state)
{
	(void)state;
	judged("main;x;pthread_mutex_lock@libc.so.6;__lll_lock_wait@libc.so.6;futex_wait[k]", 1,
	       "t0 lock x work: cause");
	judged("main;x;fsync@libc.so.6;ext4_sync_file[k];io_schedule[k]", 1,
	       "t0 io x work: cause");
	judged("main;x;syscall@libc.so.6;do_futex[k];futex_wait[k]", 1,
	       "t0 futex x work: cause");
	judged("unheard_of[k]", 1, "t0 unknown unheard_of work: cause");
}

#define PG "@/usr/lib/postgresql/15/bin/postgres"
#define BACKEND "_start;PostmasterMain" PG ";BackendMain" PG ";"

static void names_decide(void **state)
{
	(void)state;
	judged(BACKEND "exec_query" PG ";ProcSleep" PG ";WaitLatch" PG POLL, 0,
	       "PostmasterMain poll ProcSleep work: known work wait");
	judged(BACKEND "ReadCommand" PG ";secure_read" PG ";WaitLatch" PG POLL, 0,
	       "PostmasterMain poll ReadCommand idle: takes work");
	judged("_start;PostmasterMain" PG ";ServerLoop" PG POLL, 0,
	       "PostmasterMain poll ServerLoop idle: program's loop");
	/* not directly */
	judged("_start;PostmasterMain" PG ";ServerLoop" PG ";reap" PG POLL, 0,
	       "PostmasterMain poll reap unclear: frame pointers loop");
	/* in the middle of logging in */
	judged(BACKEND "ClientAuthentication" PG ";pq_getbyte" PG RECV, 0,
	       "PostmasterMain net ClientAuthentication work: known work wait");
	judged("_start;main;serve;PQgetResult@libpq.so.5" POLL, 0,
	       "main poll PQgetResult work: known work wait");
}

/* Of a library, in clients and servers alike. */
/* A stripped nginx: its loop calls a static function, whose name is gone, which waits. */
static void a_loop_waits_through_functions_without_names(void **state)
{
	(void)state;
#define NGINX START "ngx_process_events_and_timers@/usr/sbin/nginx;@/usr/sbin/nginx;"
#define EPOLL "epoll_wait@libc.so.6;do_epoll_wait[k];schedule[k]"
	struct rig r;
	rig_init(&r, 4, 1);
	slept(&r, 0, 1000, 2000, NGINX EPOLL, TL_NONE, "");
	slept(&r, 1, 1000, 2000, NGINX "poll@libc.so.6;do_poll[k]", TL_NONE, "");
	slept(&r, 2, 1000, 2000, NGINX "handler@/usr/sbin/nginx;" EPOLL, TL_NONE, "");
	slept(&r, 3, 1000, 2000, START "loop;@/bin/prog;" EPOLL, TL_NONE, "");
	apply(&r);
	static const uint8_t want[] = {SITE_IDLE, SITE_UNCLEAR, SITE_UNCLEAR, SITE_UNCLEAR};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(timeline_site(&r.tl, r.tl.offcpu.v[i].site)->verdict, want[i]);
	rig_release(&r);
}

static void a_library_loop_proves_nothing(void **state)
{
	(void)state;
	judged("_start;main;aeMain;aeProcessEvents;aeApiPoll" POLL, 1,
	       "main poll aeApiPoll unclear: library's loop loop");
}

static void what_a_signal_handler_waits_for_is_work(void **state)
{
	(void)state;
	judged(START "loop;nap;__restore_rt@libc.so.6;on_stop" NAP, 1,
	       "loop sleep on_stop work: known work wait");
	/* PostgreSQL forks processes there that live on */
	judged("_start;PostmasterMain" PG ";__restore_rt@libc.so.6;reaper" PG
	       ";WalWriterMain" PG POLL,
	       1, "PostmasterMain poll WalWriterMain idle: program's loop");
}

static void directions_of_sockets_decide(void **state)
{
	(void)state;
	static const struct {
		uint8_t first, others;
		const char *want;
	} cases[] = {
		{ARG_ACCEPTED, ARG_LISTENING, "main net main idle: accepted socket"},
		{ARG_CONNECTED, ARG_CONNECTED, "main net main work: connected socket"},
		{ARG_ACCEPTED, ARG_CONNECTED, "main net main unclear: frame pointers loop"},
		{ARG_ACCEPTED, ARG_NONE, "main net main unclear: frame pointers loop"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		rig_init(&r, 1, 0);
		for (uint64_t t = 0; t < 4; t++)
			slept(&r, 0, t * 1000, t * 1000 + 400, "_start;main" RECV, TL_NONE, "")
				->arg_kind = t ? cases[i].others : cases[i].first;
		apply(&r);
		expect(&r, 0, 0, cases[i].want);
		rig_release(&r);
	}
}

static void unclear_waits_say_why(void **state)
{
	(void)state;
	struct rig r;
	judged("__libc_recv@libc.so.6;tcp_recvmsg[k]", 1,
	       "t0 net __libc_recv unclear: no frame");
	judged("_start;main" RECV, 1, "main net main unclear: few waits loop");
	rig_init(&r, 2, 1); /* 0 asks, 1 answers; packets end the waits of 1 */
	for (uint64_t t = 0; t < 20; t++)
		slept(&r, 0, t * 1000, t * 1000 + 400, START "ask" COND, 1, START "serve");
	for (uint64_t t = 0; t < 20; t++)
		slept(&r, 1, t * 1000 + 410, t * 1000 + 1350, START "serve" COND, 0,
		      START "ask");
	apply(&r);
	expect(&r, 0, 4, "ask cond ask unclear: asks, is answered");
	rig_release(&r);
	rig_init(&r, 1, 1);
	for (uint64_t t = 0; t < 20; t++)
		slept(&r, 0, t * 1000, t * 1000 + 400, START "ask" RECV, TL_NONE, "")
			->waker_context = WAKER_SOFTIRQ;
	apply(&r);
	expect(&r, 0, 4, "ask net ask unclear: ended by packets loop");
	rig_release(&r);
}

/* A thread that waits for others in its loop does not rest when it sleeps. */
static void a_sleep_beside_a_loop_is_none(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 1, 1);
	for (uint64_t t = 0; t < 20; t++) {
		slept(&r, 0, t * 1000, t * 1000 + 400, START "loop" COND, TL_NONE, "");
		slept(&r, 0, t * 1000 + 500, t * 1000 + 800, START "loop" NAP, TL_NONE, "");
	}
	apply(&r);
	expect(&r, 0, 0, "loop cond loop unclear: no evidence loop");
	expect(&r, 0, 1, "loop sleep loop unclear: timer");
	rig_release(&r);
}

/* An interpreter's frames hide which function waits: threads are told by their names, and their
 * stacks say nothing of each other. */
static void interpreters_have_no_roles(void **state)
{
	(void)state;
	judged("_start;main;Py_RunMain;_PyEval_EvalFrameDefault;extension_nap" NAP, 1,
	       "t0 sleep extension_nap unclear: timer");
}

/* Threads that begin in two lambdas, each inlined in one place, as those of std::thread are. */
static void inlined_lambdas_are_told_apart(void **state)
{
	(void)state;
	struct rig r;
	uint32_t lambda[2];
	pool(&r, 1, 20);
	for (uint32_t i = 0; i < 2; i++) {
		struct frame f = {.name = text(&r, "operator()"),
				  .dso = text(&r, "/bin/prog"),
				  .addr = 0x1000 + i,
				  .flags = FRAME_INLINED};
		assert_int_equal(stacks_frame(&r.stacks, &f, &lambda[i]), 0);
	}
	for (size_t i = 1; i < r.stacks.paths.n; i++) {
		struct frame *f = &r.stacks.frames.v[r.stacks.paths.v[i].frame];
		const char *name = strtab_get(&r.stacks.strings, f->name);
		if (!strcmp(name, "worker") || !strcmp(name, "feeder"))
			r.stacks.paths.v[i].frame = lambda[*name == 'f'];
	}
	apply(&r);
	expect(&r, 0, 0, "operator() cond get_job unclear: no evidence loop");
	expect(&r, 0, 1, "operator() cond ask work: inside work");
	expect(&r, 1, 0, "operator() sleep operator() unclear: timer loop");
	rig_release(&r);
}

/* All threads of a JVM without a perf map go through one stub. */
static void generated_code_without_names_has_no_roles(void **state)
{
	(void)state;
	struct rig r;
	rig_init(&r, 2, 1);
	for (uint32_t i = 0; i < 2; i++)
		for (uint64_t t = 0; t < 20; t++) {
			worked(&r, i, t * 1000, START "@//anon;compute");
			slept(&r, i, t * 1000 + 100, t * 1000 + 400, START "@//anon;rest" NAP,
			      TL_NONE, "");
		}
	apply(&r);
	expect(&r, 0, 0, "t0 sleep rest unclear: timer");
	expect(&r, 1, 0, "t1 sleep rest unclear: timer");
	rig_release(&r);
}

static void a_wait_for_a_whole_life_is_set_apart(void **state)
{
	(void)state;
	struct rig r;
	struct population p = {.ranked = 1};
	struct wait w;
	rig_init(&r, 5, 1);
	r.tl.threads.v[3].first_ns = 900000;
	slept(&r, 0, 10000, 990000,
	      START "join;pthread_join@libc.so.6;do_futex[k];futex_wait[k]", TL_NONE, "");
	slept(&r, 1, 10000, 990000,
	      START "x;pthread_mutex_lock@libc.so.6;__lll_lock_wait@libc.so.6;futex_wait[k]",
	      TL_NONE, "");
	slept(&r, 2, 10000, 1000000, START "hang" COND, TL_NONE, "")->flags = OFF_OPEN;
	slept(&r, 3, 901000, 999000, START "request" RECV, TL_NONE, ""); /* a short life */
	/* a futex of an unknown kind that nobody woke may be where a thread rests */
	slept(&r, 4, 500000, 1000000, "do_futex[k];futex_wait[k]", TL_NONE, "")->flags =
		OFF_OPEN;
	apply(&r);
	static const enum apart want[] = {APART_LIFE, APART_NOT, APART_UNCLEAR, APART_UNCLEAR,
					  APART_NOT};
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(population_wait(&p, &r.tl, &r.tl.offcpu.v[i], &w), 1);
		assert_int_equal(w.apart, want[i]);
		assert_int_equal(w.ongoing, i == 2);
	}
	rig_release(&r);
}

static void an_exit_of_the_process_ends_no_wait(void **state)
{
	(void)state;
	struct rig r;
	struct population p = {.ranked = 1};
	struct wait w;
	for (int exits = 0; exits < 2; exits++) {
		rig_init(&r, 2, 1);
		r.tl.threads.v[1].flags = THREAD_EXITED;
		slept(&r, 1, 600000, 700000, START "get_job" COND, 0,
		      exits ? "_start;main;exit_group@libc.so.6;do_group_exit[k]"
			    : "_start;main;submit;futex_wake[k]");
		apply(&r);
		assert_int_equal(population_wait(&p, &r.tl, &r.tl.offcpu.v[0], &w), 1);
		assert_int_equal(w.apart, exits ? APART_LIFE : APART_UNCLEAR);
		rig_release(&r);
	}
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	for (long n = 0;; n++) {
		struct rig r;
		pool(&r, 1, 5);
		assert_int_equal(timeline_finish(&r.tl, NULL), 0);
		mem_fail_after(n);
		int rc = causes_apply(r.c, &r.tl, NULL);
		mem_fail_after(-1);
		rig_release(&r);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
		assert_true(n < 1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_idle_by_its_shape),
		cmocka_unit_test(a_verdict_stays_when_more_is_recorded),
		cmocka_unit_test(a_verdict_does_not_depend_on_names_of_threads),
		cmocka_unit_test(options_come_first),
		cmocka_unit_test(locks_and_devices_are_never_idle),
		cmocka_unit_test(names_decide),
		cmocka_unit_test(a_loop_waits_through_functions_without_names),
		cmocka_unit_test(a_library_loop_proves_nothing),
		cmocka_unit_test(what_a_signal_handler_waits_for_is_work),
		cmocka_unit_test(directions_of_sockets_decide),
		cmocka_unit_test(unclear_waits_say_why),
		cmocka_unit_test(a_sleep_beside_a_loop_is_none),
		cmocka_unit_test(interpreters_have_no_roles),
		cmocka_unit_test(inlined_lambdas_are_told_apart),
		cmocka_unit_test(generated_code_without_names_has_no_roles),
		cmocka_unit_test(a_wait_for_a_whole_life_is_set_apart),
		cmocka_unit_test(an_exit_of_the_process_ends_no_wait),
		cmocka_unit_test(exhaustion_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
