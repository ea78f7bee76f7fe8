/* store: what is written is what is read, views add up, strangers' files are refused. */
#include "tests/lib/tempdb.h"

#include "base/text/buf.h"
#include "base/mem.h"
#include "libparse/sample.h"
#include "libtime/causes/causes.h"
#include "libtime/sched/sched.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/store/sqlite_file.h"
#include "libtime/store/store.h"
#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t name(struct stacks *s, const char *text)
{
	uint32_t id;
	assert_int_equal(strtab_intern(&s->strings, text, &id), 0);
	return id;
}

/* "main;work;read" with the last `kernel` frames in the kernel. */
static uint32_t path(struct stacks *s, const char *folded, int kernel)
{
	uint32_t p = 0, frame;
	char text[256], *save = NULL;
	int n = 1;
	snprintf(text, sizeof(text), "%s", folded);
	for (const char *c = text; *c; c++)
		n += *c == ';';
	for (char *f = strtok_r(text, ";", &save); f; f = strtok_r(NULL, ";", &save), n--) {
		struct frame x = {.name = name(s, f),
				  .dso = name(s, n > kernel ? "/bin/prog" : "[k]"),
				  .kind = n > kernel ? FRAME_USER : FRAME_KERNEL,
				  .addr = 0xffffffff81000000u + (unsigned)n,
				  .line = (unsigned)n};
		assert_int_equal(stacks_frame(s, &x, &frame), 0);
		assert_int_equal(stacks_push(s, p, frame, &p), 0);
	}
	return p;
}

static void feed(struct sched *s, struct sched_event ev)
{
	struct err e = {0};
	assert_int_equal(sched_event(s, &ev, &e), 0);
}

/* Two threads on two CPUs, every kind of row at least once. */
/* 200 switches of two threads, each with its wakeup, and lost records. */
static void feed_switches(struct sched *s, struct timeline *tl, uint32_t lock, uint32_t spin)
{
	uint8_t sleep, run;
	assert_int_equal(timeline_state(tl, "S", &sleep), 0);
	assert_int_equal(timeline_state(tl, "R+", &run), 0);
	uint32_t one, book;
	assert_int_equal(strtab_intern(&tl->stacks->strings, "orders: book+0x8", &book), 0);
	assert_int_equal(sched_thread(s, 11, 11, "one thread", &one, NULL), 0);
	struct sched_event sw = {.kind = SCHED_SWITCH, .pid = 11, .tid = 11, .cpu = 0};
	for (int i = 0; i < 200; i++) {
		sw.time_ns = 1000 + (uint64_t)i * 100;
		sw.prev_tid = i % 2 ? 11 : 12;
		sw.next_tid = i % 2 ? 12 : 11;
		sw.tid = sw.pid = sw.prev_tid;
		sw.prev_comm = i % 2 ? "one thread" : "two";
		sw.state = i % 3 ? sleep : run;
		sw.state_class = i % 3 ? STATE_BLOCKED : STATE_RUNNING;
		sw.path = i % 3 ? lock : spin;
		assert_int_equal(timeline_arg(tl, 0x7f0000000000u + (unsigned)i % 5,
					      i % 5 == 2 ? book : 0, &sw.arg),
				 0);
		sw.next_prio = 120;
		feed(s, sw);
		feed(s, (struct sched_event){.kind = SCHED_WAKING,
					     .time_ns = sw.time_ns + 50,
					     .cpu = 0,
					     .tid = sw.next_tid,
					     .pid = -1,
					     .target_tid = sw.prev_tid,
					     .context = WAKER_TASK,
					     .path = spin,
					     .target_pid = -1});
	}
	feed(s, (struct sched_event){.kind = SCHED_LOST,
				     .time_ns = 21500,
				     .cpu = 1,
				     .tid = -1,
				     .pid = -1,
				     .from_ns = 21400,
				     .count = 5});
}

static void add_samples(struct timeline *tl, struct stacks *st, uint32_t lock, uint32_t spin)
{
	tl->events.n = 0;
	struct tl_event ev = {.name = name(st, "cpu-clock")};
	assert_int_equal(vec_push(&tl->events, ev), 0);
	for (uint64_t i = 0; i < 50; i++) {
		struct tl_sample x = {.time_ns = 1050 + i * 100,
				      .period = 10101,
				      .cpu = 0,
				      .thread = i % 2 ? 1 : 0,
				      .path = spin,
				      .comm = name(st, i % 2 ? "two" : "one thread")};
		assert_int_equal(bigvec_push(&tl->samples, x, NULL), 0);
	}
	struct tl_event_sample hits[] = {{.time_ns = SAMPLE_DUMMY_TIMES,
					  .period = 5,
					  .pid = 0,
					  .tid = 0,
					  .comm = name(st, "two"),
					  .cpu = TL_NOCPU},
					 {.time_ns = 1234,
					  .period = 1,
					  .pid = 70000,
					  .tid = -1,
					  .comm = name(st, "hit"),
					  .path = lock,
					  .cpu = 1}};
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(bigvec_push(&tl->event_samples, hits[i], NULL), 0);
}

/* Spans, one in the other, a mark and an accumulated wait. */
static void add_others(struct timeline *tl, struct stacks *st, uint32_t lock, uint32_t spin)
{
	struct tl_span span = {.name = name(st, "request"),
			       .start_ns = 1100,
			       .end_ns = 1900,
			       .parent = TL_NONE,
			       .key = 7,
			       .run_ns = 800,
			       .end_thread = 1};
	assert_int_equal(vec_push(&tl->spans, span), 0);
	span.parent = 0;
	assert_int_equal(vec_push(&tl->spans, span), 0);
	struct tl_mark mark = {.name = name(st, "sched:mark"),
			       .text = name(st, "a=1"),
			       .time_ns = 1200,
			       .path = spin,
			       .thread = TL_NONE,
			       .cpu = TL_NOCPU};
	assert_int_equal(vec_push(&tl->marks, mark), 0);
	struct tl_fact fact = {.kind = name(st, "cgroup"),
			       .subject = name(st, "/a b"),
			       .key = name(st, "cpu.max"),
			       .before = name(st, "1000 20000")};
	assert_int_equal(vec_push(&tl->facts, fact), 0);
	struct tl_offcpu_total total = {
		.ns = 5000, .count = 3, .path = lock, .comm = name(st, "two"), .thread = 1};
	assert_int_equal(vec_push(&tl->totals, total), 0);
}

static void build(struct timeline *tl, struct stacks *st)
{
	struct sched *s;
	assert_int_equal(timeline_init(tl, st), 0);
	tl->flags = TL_HAS_SWITCH | TL_HAS_WAKING | TL_HAS_WAKEUP;
	tl->rec = (struct tl_recording){.host = name(st, "box"),
					.file = name(st, "perf.data"),
					.clock = name(st, "CLOCK_MONOTONIC"),
					.origin_ns = 1000,
					.end_ns = 90000,
					.wall_ns = 1700000000000000000u,
					.hash = 0x7eadbeef12345678,
					.ncpus = 2};
	uint32_t lock = path(st, "main;work;__lll_lock_wait;futex_wait;schedule", 2);
	uint32_t spin = path(st, "main;work;spin", 0);
	assert_int_equal(sched_new(tl, &s, NULL), 0);
	feed_switches(s, tl, lock, spin);
	add_samples(tl, st, lock, spin);
	add_others(tl, st, lock, spin);
	assert_int_equal(sched_finish(s, 22000, NULL), 0);
	sched_free(s);
	struct causes *c;
	assert_int_equal(causes_new(&c, NULL), 0);
	assert_int_equal(causes_apply(c, tl, NULL), 0);
	for (size_t i = 0; i < tl->offcpu.n; i++)
		tl->offcpu.v[i].arg_kind = (uint8_t)(i % ARG_KINDS);
	causes_free(c);
}

static void write_store(int times)
{
	struct err e = {0};
	struct store_writer *w;
	if (store_writer_open(&w, db_path, &e))
		fail_msg("%s", e.msg);
	for (int i = 0; i < times; i++) {
		struct stacks st = {0};
		struct timeline tl;
		build(&tl, &st);
		if (store_writer_add(w, &tl, &e))
			fail_msg("%s", e.msg);
		timeline_release(&tl);
		stacks_release(&st);
	}
	if (store_writer_commit(w, &e))
		fail_msg("%s", e.msg);
}

static void text_equal(const struct stacks *a, uint32_t x, const struct stacks *b, uint32_t y)
{
	assert_string_equal(strtab_get(&a->strings, x), strtab_get(&b->strings, y));
}

static void path_equal(const struct stacks *a, uint32_t x, const struct stacks *b, uint32_t y)
{
	for (; x && y; x = a->paths.v[x].parent, y = b->paths.v[y].parent) {
		const struct frame *f = &a->frames.v[a->paths.v[x].frame];
		const struct frame *g = &b->frames.v[b->paths.v[y].frame];
		text_equal(a, f->name, b, g->name);
		text_equal(a, f->dso, b, g->dso);
		assert_int_equal(f->addr, g->addr);
		assert_int_equal(f->kind, g->kind);
		assert_int_equal(f->line, g->line);
	}
	assert_int_equal(x, y);
}

static void same(const struct timeline *a, const struct timeline *b)
{
	const struct stacks *s = a->stacks, *t = b->stacks;
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->threads.n, b->threads.n);
	for (size_t i = 0; i < a->threads.n; i++) {
		struct tl_thread x = a->threads.v[i], y = b->threads.v[i];
		text_equal(s, x.comm, t, y.comm);
		assert_int_equal(x.pid, y.pid);
		assert_int_equal(x.tid, y.tid);
		assert_int_equal(x.first_ns, y.first_ns);
		assert_int_equal(x.last_ns, y.last_ns);
		assert_int_equal(x.offcpu_first, y.offcpu_first);
		assert_int_equal(x.offcpu_n, y.offcpu_n);
		assert_int_equal(x.first_cpu, y.first_cpu);
		assert_int_equal(x.first_prio, y.first_prio);
		assert_int_equal(x.flags, y.flags);
	}
	assert_int_equal(a->offcpu.n, b->offcpu.n);
	for (size_t i = 0; i < a->offcpu.n; i++) {
		struct offcpu x = a->offcpu.v[i], y = b->offcpu.v[i];
		text_equal(s, x.comm, t, y.comm);
		text_equal(s, a->states[x.state], t, b->states[y.state]);
		path_equal(s, x.path, t, y.path);
		path_equal(s, x.waker_path, t, y.waker_path);
		x.comm = y.comm = x.path = y.path = x.waker_path = y.waker_path = 0;
		x.state = y.state = 0;
		assert_int_equal(x.start_ns, y.start_ns);
		assert_int_equal(x.end_ns, y.end_ns);
		assert_int_equal(x.blocked_ns, y.blocked_ns);
		assert_int_equal(x.waker, y.waker);
		assert_int_equal(x.cpu_wake, y.cpu_wake);
		assert_int_equal(x.cpu_queue, y.cpu_queue);
		assert_int_equal(x.prio_in, y.prio_in);
		assert_int_equal(x.cause, y.cause);
		assert_int_equal(x.unknown, y.unknown);
		assert_int_equal(x.flags, y.flags);
		assert_int_equal(x.waker_context, y.waker_context);
		assert_int_equal(x.arg_kind, y.arg_kind);
		assert_int_equal(offcpu_arg(a, &x), offcpu_arg(b, &y));
		assert_string_equal(offcpu_variable(a, &x), offcpu_variable(b, &y));
	}
	assert_int_equal(a->samples.n, b->samples.n);
	for (size_t i = 0; i < a->samples.n; i++) {
		assert_int_equal(a->samples.v[i].time_ns, b->samples.v[i].time_ns);
		assert_int_equal(a->samples.v[i].period, b->samples.v[i].period);
		path_equal(s, a->samples.v[i].path, t, b->samples.v[i].path);
	}
	assert_int_equal(a->event_samples.n, b->event_samples.n);
	for (size_t i = 0; i < a->event_samples.n; i++) {
		const struct tl_event_sample *x = &a->event_samples.v[i],
					     *y = &b->event_samples.v[i];
		assert_int_equal(x->time_ns, y->time_ns);
		assert_int_equal(x->period, y->period);
		assert_int_equal(x->pid, y->pid);
		assert_int_equal(x->tid, y->tid);
		assert_int_equal(x->event, y->event);
		assert_int_equal(x->cpu, y->cpu);
		text_equal(s, x->comm, t, y->comm);
		path_equal(s, x->path, t, y->path);
	}
	assert_int_equal(a->spans.n, b->spans.n);
	assert_int_equal(b->spans.v[1].parent, a->spans.v[1].parent);
	assert_int_equal(b->spans.v[0].end_thread, 1);
	assert_int_equal(b->spans.v[0].handed_ns, a->spans.v[0].handed_ns);
	assert_int_equal(a->marks.n, b->marks.n);
	assert_int_equal(b->marks.v[0].thread, TL_NONE);
	assert_int_equal(a->losses.n, b->losses.n);
	assert_int_equal(b->losses.v[0].count, a->losses.v[0].count);
	assert_int_equal(a->facts.n, b->facts.n);
	text_equal(s, a->facts.v[0].subject, t, b->facts.v[0].subject);
	text_equal(s, a->facts.v[0].before, t, b->facts.v[0].before);
	assert_int_equal(b->facts.v[0].after, 0);
	assert_int_equal(a->totals.n, b->totals.n);
	assert_int_equal(b->totals.v[0].ns, 5000);
	assert_int_equal(a->rec.wall_ns, b->rec.wall_ns);
	assert_int_equal(a->rec.hash, b->rec.hash);
	text_equal(s, a->rec.host, t, b->rec.host);
}

static int load(int64_t recording, struct timeline *tl, struct stacks *st, struct err *e)
{
	struct store *s;
	int r = store_open(&s, db_path, e);
	*tl = (struct timeline){0};
	if (!r)
		r = store_load(s, recording, 1, tl, st, e);
	store_close(s);
	return r;
}

static void a_store_gives_back_the_timeline(void **state)
{
	(void)state;
	struct stacks st = {0}, st2 = {0};
	struct timeline tl, tl2;
	struct err e = {0};
	write_store(2);
	build(&tl, &st);
	for (int64_t id = 0; id <= 2; id++) {
		if (load(id, &tl2, &st2, &e))
			fail_msg("%s", e.msg);
		same(&tl, &tl2);
		timeline_release(&tl2);
		stacks_release(&st2);
	}
	assert_int_equal(load(3, &tl2, &st2, &e), ERR_NOTFOUND);
	timeline_release(&tl2);
	stacks_release(&st2);
	timeline_release(&tl);
	stacks_release(&st);
}

static int64_t query(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *q;
	assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	int got = sqlite3_step(q);
	if (got != SQLITE_ROW && got != SQLITE_DONE)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	int64_t v = got == SQLITE_ROW ? sqlite3_column_int64(q, 0) : -1;
	sqlite3_finalize(q);
	sqlite3_close(db);
	return v;
}

/* More rows than are read by one thread, with a state that only the last of them have. */
static void sums_add_up_to_the_samples(void **state)
{
	(void)state;
	struct stacks st = {0}, st2 = {0};
	struct timeline tl, sums;
	struct store *s;
	struct err e = {0};
	uint64_t n = 0, weight = 0, first = UINT64_MAX, last = 0;
	write_store(2);
	build(&tl, &st);
	assert_int_equal(store_open(&s, db_path, &e), 0);
	assert_int_equal(store_load(s, 2, STORE_SUMS, &sums, &st2, &e), 0);
	store_close(s);
	assert_int_equal(sums.offcpu.n + sums.samples.n + sums.event_samples.n, 0);
	for (size_t i = 0; i < sums.sums.n; i++) {
		const struct tl_sum *x = &sums.sums.v[i];
		if (x->tid != 11 && x->tid != 12)
			continue;
		n += x->samples;
		weight += x->weight;
		first = x->first_ns < first ? x->first_ns : first;
		last = x->last_ns > last ? x->last_ns : last;
		path_equal(&st, tl.samples.v[0].path, &st2, x->path);
	}
	assert_int_equal(sums.sums.n, 4); /* two threads, and two samples of tracepoints */
	assert_int_equal(n, tl.samples.n);
	assert_int_equal(weight, n * 10101);
	assert_int_equal(first, tl.samples.v[0].time_ns);
	assert_int_equal(last, tl.samples.v[n - 1].time_ns);
	timeline_release(&tl);
	timeline_release(&sums);
	stacks_release(&st);
	stacks_release(&st2);
}

static size_t reported_event_samples(void)
{
	struct stacks st = {0};
	struct timeline tl;
	struct store *s;
	struct err e = {0};
	assert_int_equal(store_open(&s, db_path, &e), 0);
	assert_int_equal(store_load(s, 0, STORE_REPORT, &tl, &st, &e), 0);
	store_close(s);
	assert_int_equal(tl.samples.n, 50);
	size_t n = tl.event_samples.n;
	timeline_release(&tl);
	stacks_release(&st);
	return n;
}

static void a_report_reads_no_tracepoints_if_switches_are_known(void **state)
{
	(void)state;
	write_store(1);
	assert_int_equal(reported_event_samples(), 2);
	query("UPDATE selected_events SET name = 'sched:sched_switch'");
	assert_int_equal(reported_event_samples(), 0);
}

/* main → code without a name */
static uint32_t unnamed_path(struct stacks *s, const char *dso, uint64_t addr)
{
	struct frame x = {.dso = name(s, dso), .addr = addr};
	uint32_t frame, p = path(s, "main", 0);
	assert_int_equal(stacks_frame(s, &x, &frame), 0);
	assert_int_equal(stacks_push(s, p, frame, &p), 0);
	return p;
}

/* Two threads of one name; one sample has a period of its own, and one no stack. */
static void build_unnamed(struct timeline *tl, struct stacks *st)
{
	const uint32_t paths[] = {unnamed_path(st, "/lib/libc.so", 0x10),
				  unnamed_path(st, "/lib/libc.so", 0x20),
				  unnamed_path(st, "/opt/libc.so", 0x10), 0};
	struct tl_event ev = {.name = name(st, "cpu-clock")};
	struct err e = {0};
	assert_int_equal(timeline_init(tl, st), 0);
	tl->rec = (struct tl_recording){.origin_ns = 1, .end_ns = 1000};
	assert_int_equal(vec_push(&tl->events, ev), 0);
	for (int i = 0; i < 2; i++) {
		struct tl_thread t = {.pid = 7, .tid = 7 + i, .comm = name(st, "same name")};
		t.first_ns = t.last_ns = 1;
		assert_int_equal(vec_push(&tl->threads, t), 0);
	}
	for (unsigned i = 0; i < 24; i++) {
		struct tl_sample x = {.time_ns = 100 + i,
				      .period = i == 5 ? 1003 : 1000,
				      .thread = i / 4 % 2,
				      .comm = name(st, "same name"),
				      .path = paths[i % 4]};
		assert_int_equal(bigvec_push(&tl->samples, x, &e), 0);
	}
	assert_int_equal(timeline_finish(tl, &e), 0);
}

static void folded_sums_have_unnamed_code_once(void **state)
{
	struct stacks st = {0}, st2 = {0}, st3 = {0};
	struct timeline tl, all, folded;
	struct store_writer *w;
	struct store *s;
	struct err e = {0};
	(void)state;
	build_unnamed(&tl, &st);
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	assert_int_equal(store_writer_add(w, &tl, &e), 0);
	assert_int_equal(store_writer_commit(w, &e), 0);
	assert_int_equal(store_open(&s, db_path, &e), 0);
	assert_int_equal(store_load(s, 0, STORE_FOLDED, &folded, &st2, &e), 0);
	assert_int_equal(store_load(s, 0, STORE_TIMELINE, &all, &st3, &e), 0);
	store_close(s);
	const struct tl_sum want[] = {{.samples = 12, .weight = 12003},
				      {.samples = 6, .weight = 6000},
				      {.samples = 6, .weight = 6000}};
	assert_int_equal(folded.sums.n, 3);
	assert_int_equal(st2.frames.n,
			 4); /* a dummy, main, and a file's code without a name once */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(folded.sums.v[i].samples, want[i].samples);
		assert_int_equal(folded.sums.v[i].weight, want[i].weight);
		assert_int_equal(folded.sums.v[i].first_ns, 100);
		assert_int_equal(folded.sums.v[i].last_ns, 123);
	}
	path_equal(&st, tl.samples.v[0].path, &st2, folded.sums.v[0].path);
	path_equal(&st, tl.samples.v[2].path, &st2, folded.sums.v[1].path);
	assert_int_equal(folded.sums.v[2].path, 0);
	for (size_t i = 0; i < 24; i++) {
		assert_int_equal(all.samples.v[i].period, tl.samples.v[i].period);
		path_equal(&st, tl.samples.v[i].path, &st3, all.samples.v[i].path);
	}
	assert_int_equal(query("SELECT sum(period) FROM v_samples"), 24003);
	assert_int_equal(query("SELECT sum(period IS NOT NULL) FROM sample_rows"), 1);
	assert_int_equal(query("SELECT count(*) FROM v_folded_oncpu"), 2);
	assert_int_equal(query("SELECT weight FROM v_folded_oncpu WHERE stack = "
			       "'same_name;main;[libc.so]' AND samples = 18"),
			 18003);
	assert_int_equal(query("SELECT weight FROM v_folded_oncpu WHERE stack = 'same_name'"),
			 6000);
	timeline_release(&folded);
	timeline_release(&all);
	timeline_release(&tl);
	stacks_release(&st3);
	stacks_release(&st2);
	stacks_release(&st);
}

static void a_large_table_comes_back_in_its_order(void **state)
{
	enum { ROWS = 300000 };
	struct stacks st = {0}, back = {0};
	struct timeline tl, got;
	struct store_writer *w;
	struct store *store;
	uint8_t states[3];
	struct err e = {0};
	(void)state;
	assert_int_equal(timeline_init(&tl, &st), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(timeline_state(&tl, &"S\0D\0T"[2 * i], &states[i]), 0);
	tl.rec = (struct tl_recording){.origin_ns = 1, .end_ns = 10 * ROWS + 10};
	for (int i = 0; i < 2; i++) {
		struct tl_thread t = {.pid = 7, .tid = 7 + i, .first_ns = 1};
		t.last_ns = tl.rec.end_ns;
		assert_int_equal(vec_push(&tl.threads, t), 0);
	}
	for (uint64_t i = 0; i < ROWS; i++) {
		struct offcpu o = {
			.start_ns = 2 + i * 10, .end_ns = 7 + i * 10, .blocked_ns = i % 5};
		o.thread = i % 2;
		o.waker = TL_NONE;
		o.cpu_out = o.cpu_in = o.cpu_wake = 0;
		o.prio_in = 120;
		o.state = states[i > ROWS - 1000 ? 2 : i / 3 % 2];
		assert_int_equal(bigvec_push(&tl.offcpu, o, &e), 0);
	}
	assert_int_equal(timeline_finish(&tl, &e), 0);
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	assert_int_equal(store_writer_add(w, &tl, &e), 0);
	assert_int_equal(store_writer_commit(w, &e), 0);
	assert_int_equal(store_open(&store, db_path, &e), 0);
	assert_int_equal(store_load(store, 0, 1, &got, &back, &e), 0);
	store_close(store);
	assert_int_equal(got.offcpu.n, ROWS);
	for (size_t i = 0; i < ROWS; i++) {
		struct offcpu *a = &tl.offcpu.v[i], *b = &got.offcpu.v[i];
		if (a->start_ns != b->start_ns || a->blocked_ns != b->blocked_ns ||
		    a->thread != b->thread ||
		    strcmp(strtab_get(&st.strings, tl.states[a->state]),
			   strtab_get(&back.strings, got.states[b->state])))
			fail_msg("row %zu differs", i);
	}
	timeline_release(&tl);
	timeline_release(&got);
	stacks_release(&st);
	stacks_release(&back);
}

static void views_add_up_to_the_timeline(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	write_store(1);
	build(&tl, &st);
	struct tl_sums sums;
	timeline_thread_sums(&tl, 0, &sums);
	assert_int_equal(query("SELECT run_ns FROM v_thread_time WHERE tid = 11"), sums.run);
	assert_int_equal(query("SELECT blocked_ns FROM v_thread_time WHERE tid = 11"),
			 sums.blocked);
	assert_int_equal(
		query("SELECT sum(end_ns - start_ns) FROM thread_states s JOIN threads t "
		      "ON t.id = s.thread_id WHERE tid = 11 AND state = 'running'"),
		sums.run);
	assert_int_equal(
		query("SELECT sum(end_ns - start_ns) FROM thread_states s JOIN threads t "
		      "ON t.id = s.thread_id WHERE tid = 11 AND state = 'preempted'"),
		sums.preempted);
	assert_int_equal(
		query("SELECT count(*) FROM (SELECT start_ns, lag(end_ns) OVER (PARTITION BY "
		      "thread_id ORDER BY start_ns, end_ns) AS before FROM thread_states) "
		      "WHERE before IS NOT NULL AND before <> start_ns"),
		0);
	assert_int_equal(query("SELECT count(*) FROM v_folded_oncpu WHERE stack = "
			       "'one_thread;main;work;spin' AND weight = 25 * 10101"),
			 1);
	assert_int_equal(query("SELECT count(*) FROM v_folded_offcpu WHERE stack LIKE "
			       "'two;main;work;__lll_lock_wait;futex_wait;schedule'"),
			 1);
	assert_int_equal(query("SELECT count(*) FROM v_percentiles"), 2);
	assert_int_equal(
		query("SELECT count(*) FROM v_offcpu WHERE cause = 'lock' AND function = "
		      "'work' AND waker_comm IS NOT NULL") > 0,
		1);
	assert_int_equal(query("SELECT count(*) FROM pragma_foreign_key_check"), 0);
	assert_int_equal(query("SELECT count(*) FROM v_frames WHERE address_hex LIKE "
			       "'0xffffffff8100000_'"),
			 8);
	assert_int_equal(query("PRAGMA user_version"), STORE_VERSION);
	timeline_release(&tl);
	stacks_release(&st);
}

static void change(const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(db_path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void refused(const char *change_sql, int code, const char *says)
{
	struct stacks st = {0};
	struct timeline tl;
	struct err e = {0};
	write_store(1);
	change(change_sql);
	assert_int_equal(load(0, &tl, &st, &e), code);
	if (!strstr(e.msg, says))
		fail_msg("'%s' does not say '%s'", e.msg, says);
	timeline_release(&tl);
	stacks_release(&st);
}

static void damaged_newer_and_foreign_stores_are_refused_by_name(void **state)
{
	(void)state;
	refused("PRAGMA user_version = 99", ERR_UNSUPPORTED, "version 99");
	refused("PRAGMA user_version = 5", ERR_UNSUPPORTED, "import the recording again");
	refused("PRAGMA user_version = 1", ERR_UNSUPPORTED, "older perfkit");
	refused("ALTER TABLE recordings DROP COLUMN hash", ERR_UNSUPPORTED,
		"made by an older perfkit (no such column: hash); import the recording again");
	refused("UPDATE recordings SET hash = -1", ERR_FORMAT, "recordings 1");
	refused("UPDATE recordings SET first_frame_id = 3; INSERT INTO recordings SELECT "
		"2,host,file,clock,kernel,arch,cmdline,origin_ns,end_ns,wall_ns,wall_exact,"
		"ncpus,per_task,has_switch,has_records,has_waking,has_wakeup,sampled,"
		"has_totals,has_direct,some_cpus,stray_samples,hash,99,99,99 FROM recordings",
		ERR_FORMAT, "a parent or frame that is not there");
	refused("PRAGMA application_id = 0", ERR_UNSUPPORTED, "not one of perfkit's");
	refused("ALTER TABLE comms ADD COLUMN x AS (hex(zeroblob(100000000)))", ERR_REFUSED,
		"computes");
	refused("CREATE VIRTUAL TABLE x USING rtree(id, a, b)", ERR_REFUSED, "computes");
	refused("DROP TABLE marks", ERR_FORMAT, "tables are missing");
	refused("UPDATE offcpu_rows SET off_ns = -1 WHERE id = 3", ERR_FORMAT, "offcpu_rows 3");
	refused("UPDATE offcpu_rows SET thread_id = 99 WHERE id = 3; INSERT INTO threads "
		"SELECT 99, 1, 1, 1, 1, NULL, 0, 0, NULL, NULL, 1, 0, 0, 0, 0, 0, 0",
		ERR_FORMAT, "damaged");
	refused("UPDATE offcpu_rows SET blocked_ns = 1000000 WHERE id = 3", ERR_FORMAT,
		"blocked");
	refused("UPDATE offcpu_rows SET call_path_id = 4711 WHERE id = 3", ERR_FORMAT,
		"offcpu_rows 3");
	refused("UPDATE offcpu_rows SET kind_id = 4711 WHERE id = 3", ERR_FORMAT,
		"offcpu_rows 3");
	refused("UPDATE offcpu_rows SET cpu_in = -1 WHERE id = 3", ERR_FORMAT, "offcpu_rows 3");
	refused("UPDATE sample_rows SET sum_id = 4711 WHERE time_ns = 1050", ERR_FORMAT,
		"sample_rows 1050");
	refused("UPDATE call_paths SET parent_id = 5 WHERE id = 2", ERR_FORMAT, "call_paths 2");
	refused("UPDATE threads SET last_ns = -5 WHERE id = 1", ERR_FORMAT, "threads 1");
	refused("UPDATE spans SET thread_id = NULL WHERE 0; UPDATE spans SET parent_id = 2 "
		"WHERE id = 2",
		ERR_FORMAT, "spans 2");
}

static void a_cut_or_garbled_store_is_an_error_not_a_crash(void **state)
{
	(void)state;
	struct stat sb;
	write_store(1);
	assert_int_equal(stat(db_path, &sb), 0);
	for (off_t n = sb.st_size - 1; n > 0; n -= sb.st_size / 37) {
		struct stacks st = {0};
		struct timeline tl;
		struct err e = {0};
		assert_int_equal(truncate(db_path, n), 0);
		int r = load(0, &tl, &st, &e); /* the last pages may be indexes */
		assert_true(r < 0 || n > sb.st_size / 2);
		timeline_release(&tl);
		stacks_release(&st);
	}
	for (int i = 0; i < 60; i++) {
		unlink(db_path);
		struct stacks st = {0};
		struct timeline tl;
		struct err e = {0};
		write_store(1);
		FILE *f = fopen(db_path, "r+");
		fseek(f, (long)(sb.st_size / 60 * i + i * 7 % 100), SEEK_SET);
		fputs("\xff\x80\x01garbled", f);
		fclose(f);
		load(0, &tl, &st, &e); /* whatever it says, it says it */
		timeline_release(&tl);
		stacks_release(&st);
	}
	unlink(db_path);
}

static void an_aborted_import_leaves_the_old_store(void **state)
{
	(void)state;
	struct err e = {0};
	struct store_writer *w;
	struct stat before, after;
	unlink(db_path);
	write_store(1);
	assert_int_equal(stat(db_path, &before), 0);
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	store_writer_abort(w);
	assert_int_equal(stat(db_path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(rmdir(dir), -1); /* the store is there … */
	unlink(db_path);
	assert_int_equal(rmdir(dir), 0); /* … and nothing else */
	assert_int_equal(mkdir(dir, 0700), 0);
}

/* Rows half filled when memory ends have cells that nobody set: such a store is never finished. */
static void rows_that_memory_ended_in_are_not_written(void **state)
{
	(void)state;
	int r = ERR_NOMEM;
	long n = 0;
	for (; r; n++) {
		struct stacks st = {0};
		struct timeline tl;
		struct store_writer *w;
		struct err e = {0};
		build(&tl, &st);
		assert_int_equal(store_writer_open(&w, db_path, &e), 0);
		mem_fail_after(n);
		r = store_writer_add(w, &tl, &e);
		mem_fail_after(-1);
		assert_true(!r || r == ERR_NOMEM);
		store_writer_abort(w);
		assert_int_equal(access(db_path, F_OK), -1);
		timeline_release(&tl);
		stacks_release(&st);
	}
	assert_true(n > 12); /* batches and maps failed, one after another */
}

/* SQLite's numbers end at 2^63. */
static void numbers_past_those_of_sqlite_do_not_make_a_store_that_nobody_reads(void **state)
{
	(void)state;
	struct stacks st = {0}, st2 = {0};
	struct timeline tl, tl2;
	struct store_writer *w;
	struct err e = {0};
	build(&tl, &st);
	tl.samples.v[0].period = tl.losses.v[0].count = tl.totals.v[0].ns = UINT64_MAX;
	tl.rec.wall_ns = UINT64_MAX;
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	assert_int_equal(store_writer_add(w, &tl, &e), 0);
	assert_int_equal(store_writer_commit(w, &e), 0);
	if (load(0, &tl2, &st2, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(tl2.samples.v[0].period, INT64_MAX);
	assert_int_equal(tl2.losses.v[0].count, INT64_MAX);
	assert_int_equal(tl2.totals.v[0].ns, INT64_MAX);
	assert_int_equal(tl2.rec.wall_ns, 0);
	timeline_release(&tl2);
	stacks_release(&st2);

	tl.rec.end_ns = 1ull << 63;
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	assert_int_equal(store_writer_add(w, &tl, &e), ERR_LIMIT);
	assert_memory_equal(e.msg, db_path, strlen(db_path));
	store_writer_abort(w);
	timeline_release(&tl);
	stacks_release(&st);
}

/* Whoever looks for a thread's intervals finds them side by side. */
static void intervals_out_of_order_are_not_written(void **state)
{
	(void)state;
	struct stacks st = {0};
	struct timeline tl;
	struct store_writer *w;
	struct err e = {0};
	build(&tl, &st);
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	tl.offcpu.v[1].start_ns = tl.offcpu.v[0].start_ns - 1;
	assert_int_equal(store_writer_add(w, &tl, &e), ERR_FORMAT);
	store_writer_abort(w);
	timeline_release(&tl);
	stacks_release(&st);
}

static void a_file_that_is_no_store_is_not_replaced(void **state)
{
	(void)state;
	struct err e = {0};
	struct store_writer *w;
	FILE *f = fopen(db_path, "w");
	fputs("PERFILE2 and so on", f);
	fclose(f);
	assert_int_equal(store_writer_open(&w, db_path, &e), ERR_REFUSED);
	assert_null(w);
	assert_int_equal(store_writer_open(&w, dir, &e), ERR_IO);
	unlink(db_path);
	assert_int_equal(store_open((struct store **)&w, db_path, &e), ERR_NOTFOUND);
}

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Who may write the folder may put another file in a name's place, between two looks at it. */
static void the_file_that_was_looked_at_is_the_one_used(void **state)
{
	(void)state;
	enum { READ = SQLITE_OPEN_READONLY, WRITE = SQLITE_OPEN_READWRITE };
	char other[sizeof(db_path) + 8], log[sizeof(db_path) + 8], text[16] = "";
	struct err e = {0};
	struct stat is;
	struct store_writer *w;
	sqlite3 *db;
	snprintf(other, sizeof(other), "%s.other", db_path);
	snprintf(log, sizeof(log), "%s-wal", db_path);
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	assert_int_equal(store_writer_commit(w, &e), 0);
	assert_int_equal(stat(db_path, &is), 0);
	assert_int_equal(sqlite_file_connect(&db, db_path, READ, &is), SQLITE_OK);
	sqlite3_close(db);

	/* another store of its name, and a fifo, which would wait for a writer */
	assert_int_equal(rename(db_path, other), 0);
	assert_int_equal(symlink(other, db_path), 0);
	assert_int_equal(sqlite_file_connect(&db, db_path, READ, &is), SQLITE_OK);
	sqlite3_close(db);
	unlink(db_path);
	put_text(db_path, "");
	assert_int_equal(sqlite_file_connect(&db, db_path, READ, &is), SQLITE_CANTOPEN);
	sqlite3_close(db);
	unlink(db_path);
	assert_int_equal(mkfifo(db_path, 0600), 0);
	assert_int_equal(stat(db_path, &is), 0);
	assert_int_equal(sqlite_file_connect(&db, db_path, READ, &is), SQLITE_CANTOPEN);
	sqlite3_close(db);
	unlink(db_path);

	/* a log that became a link or a fifo after it was looked at */
	put_text(log, "");
	for (int fifo = 0; fifo < 2; fifo++) {
		assert_int_equal(stat(other, &is), 0);
		assert_int_equal(rename(other, db_path), 0);
		assert_int_equal(sqlite_file_connect(&db, db_path, WRITE, &is), SQLITE_OK);
		unlink(log);
		assert_int_equal(fifo ? mkfifo(log, 0600) : symlink(other, log), 0);
		assert_int_not_equal(sqlite3_exec(db,
						  "PRAGMA journal_mode = WAL;"
						  "CREATE TABLE t(a)",
						  NULL, NULL, NULL),
				     SQLITE_OK);
		sqlite3_close(db);
		unlink(log);
		assert_int_equal(rename(db_path, other), 0);
	}
	assert_int_equal(rename(other, db_path), 0);

	/* a link in the place of the file that is written */
	put_text(other, "kept");
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	unlink(store_writer_temporary(w));
	assert_int_equal(symlink(other, store_writer_temporary(w)), 0);
	assert_int_not_equal(store_writer_commit(w, &e), 0);
	FILE *f = fopen(other, "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "kept");
	unlink(other);
	unlink(db_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_store_gives_back_the_timeline),
		cmocka_unit_test(sums_add_up_to_the_samples),
		cmocka_unit_test(folded_sums_have_unnamed_code_once),
		cmocka_unit_test(a_report_reads_no_tracepoints_if_switches_are_known),
		cmocka_unit_test(a_large_table_comes_back_in_its_order),
		cmocka_unit_test(views_add_up_to_the_timeline),
		cmocka_unit_test(damaged_newer_and_foreign_stores_are_refused_by_name),
		cmocka_unit_test(a_cut_or_garbled_store_is_an_error_not_a_crash),
		cmocka_unit_test(an_aborted_import_leaves_the_old_store),
		cmocka_unit_test(rows_that_memory_ended_in_are_not_written),
		cmocka_unit_test(
			numbers_past_those_of_sqlite_do_not_make_a_store_that_nobody_reads),
		cmocka_unit_test(intervals_out_of_order_are_not_written),
		cmocka_unit_test(a_file_that_is_no_store_is_not_replaced),
		cmocka_unit_test(the_file_that_was_looked_at_is_the_one_used),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
