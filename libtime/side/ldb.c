#include "libtime/side/ldb.h"
#include "base/text/buf.h"
#include "base/check.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	RECORD = 40,
	ADDRESS_FROM = 1 << 16,
	AT_ONCE = 1024, /* most requests of a thread, and mutexes it waits for or holds */
	NOT_OPEN = UINT32_MAX - 1,
};

enum {
	EV_STACK = 1,
	EV_SET,
	EV_BLOCK,
	EV_UNSET,
	EV_CLEAR,
	EV_WAIT,
	EV_LOCK,
	EV_UNLOCK,
	EV_JOIN,
	EV_JOINED,
	EV_CREATE,
	EV_EXIT,
	EV_LAST = EV_EXIT,
};

struct event {
	uint64_t ns, arg;
	uint32_t type, tid;
	uint32_t nth; /* in the file; keeps the order of simultaneous events */
};

/* A thread works on a request, or waits for or holds a mutex. */
struct activity {
	uint64_t key, from_ns;
};

typedef VEC(struct activity) activities;

struct thread {
	uint32_t tid;
	activities works, waits, holds;
};

struct request {
	uint64_t id, from_ns, last_ns, queued_ns; /* queued_ns 0: not in a queue */
	uint64_t handed_ns;
	uint32_t first_tid, last_tid;
	uint32_t holders;
	int third; /* more than two threads worked on it */
};

struct ldb {
	struct side *out;
	VEC(struct event) events; /* all but calls */
	VEC(struct request) open;
	struct u64map open_at; /* id → index of open, or NOT_OPEN */
	VEC(struct thread) threads;
	struct u64map thread_at;                   /* tid → index of threads */
	uint32_t request, part, queue, wait, hold; /* strings ids: names */
	uint32_t mutex, held;                      /* and labels */
	uint64_t end_ns;
	int rc;
};

static uint32_t u32_at(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p)
{
	return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

/* NULL, or what is wrong with a record. */
static const char *wrong(const uint8_t *p)
{
	uint32_t type = u32_at(p);
	if (type < EV_STACK || type > EV_LAST)
		return "an event of unknown type";
	if (u32_at(p + 8) >= 1000000000u)
		return "its time has more than 10^9 ns";
	return u32_at(p + 12) && u32_at(p + 12) <= INT32_MAX ? NULL : "it has no thread";
}

int side_is_ldb(const char *data, size_t n)
{
	enum { MOST_WRONG = 16 /* 1 in 16 */ };
	const uint8_t *p = (const uint8_t *)data;
	size_t bad = 0;
	for (size_t at = 0; at + RECORD <= n; at += RECORD)
		bad += wrong(p + at) != NULL;
	return n >= RECORD && bad <= n / RECORD / MOST_WRONG;
}

/* The older layout has eight types. Its 4, 5 and 6 are about mutexes, with an address as
 * argument; in the current one, 5 has no argument and that of 4 is an id. */
static int is_older(const uint8_t *p, size_t n)
{
	uint64_t cleared_with = 0, of_mutex = 0, unset_small = 0;
	for (size_t at = 0; at + RECORD <= n; at += RECORD) {
		uint32_t type = u32_at(p + at);
		uint64_t arg = u64_at(p + at + 16);
		if (type > 8 && type <= EV_LAST)
			return 0;
		cleared_with += type == 5 && arg >= ADDRESS_FROM;
		unset_small += type == 4 && arg < ADDRESS_FROM;
		of_mutex += (type == 7 || type == 8) && arg >= ADDRESS_FROM;
	}
	return cleared_with && !unset_small && !of_mutex;
}

/* --- spans ---------------------------------------------------------------------------- */

static struct side_span span(uint32_t name, uint32_t tid, uint64_t from, uint64_t to)
{
	return (struct side_span){
		.name = name, .pid = -1, .tid = (int32_t)tid, .start_ns = from, .end_ns = to};
}

static void add(struct ldb *x, struct side_span s)
{
	int r = side_add_span(x->out, &s);
	x->rc = x->rc ? x->rc : r;
}

static uint32_t text(struct ldb *x, const char *format, uint64_t v)
{
	struct buf b = {0};
	uint32_t id = 0;
	buf_fmt(&b, format, (unsigned long long)v);
	if (buf_failed(&b) || side_intern(x->out, b.v, b.n, &id))
		x->rc = ERR_NOMEM;
	buf_release(&b);
	return id;
}

/* The record has the call's end and length. */
static void add_call(struct ldb *x, const uint8_t *p, uint64_t ns, uint64_t nth)
{
	uint64_t length = u64_at(p + 16);
	struct side_span s = span(0, u32_at(p + 12), ns - length, ns);
	s.site = u64_at(p + 24);
	if (length > ns)
		side_bad_row(x->out, nth, "a call begins before time 0");
	else if (!s.site)
		side_bad_row(x->out, nth, "a call without a return address");
	else
		add(x, s);
}

/* --- requests ------------------------------------------------------------------------- */

static struct request *request_of(struct ldb *x, uint64_t id)
{
	uint32_t at;
	return u64map_get(&x->open_at, id, &at) && at != NOT_OPEN ? &x->open.v[at] : NULL;
}

static struct request *begin_request(struct ldb *x, const struct event *ev)
{
	struct request q = {
		.id = ev->arg, .from_ns = ev->ns, .first_tid = ev->tid, .last_tid = ev->tid};
	if (vec_push(&x->open, q) || u64map_put(&x->open_at, q.id, (uint32_t)(x->open.n - 1))) {
		x->rc = ERR_NOMEM;
		return NULL;
	}
	return &x->open.v[x->open.n - 1];
}

static void forget_request(struct ldb *x, struct request *q)
{
	int r = u64map_put(&x->open_at, q->id, NOT_OPEN);
	*q = x->open.v[--x->open.n];
	uint32_t at = (uint32_t)(q - x->open.v);
	if (at < x->open.n)
		r = r ? r : u64map_put(&x->open_at, q->id, at);
	x->rc = x->rc ? x->rc : r;
}

static void add_request(struct ldb *x, const struct request *q, uint64_t end, int open)
{
	struct side_span s = span(x->request, q->first_tid, q->from_ns, end);
	s.key = text(x, "%llu", q->id);
	s.flags = (open ? SIDE_OPEN : 0) | (q->third ? SIDE_NO_THREAD : 0);
	struct side_link handed = {.handed_ns = q->handed_ns, .end_tid = (int32_t)q->last_tid};
	if (q->last_tid != q->first_tid && !q->third && side_set_link(x->out, &s, &handed))
		x->rc = ERR_NOMEM;
	add(x, s);
}

static void add_part(struct ldb *x, uint32_t tid, const struct activity *p, uint64_t end,
		     int open)
{
	struct side_span s = span(x->part, tid, p->from_ns, end);
	s.key = text(x, "%llu", p->key);
	s.flags = open ? SIDE_OPEN : 0;
	add(x, s);
}

static void add_queue(struct ldb *x, const struct request *q, uint64_t end, int open)
{
	struct side_span s = span(x->queue, 0, q->queued_ns, end);
	s.tid = -1;
	s.key = text(x, "%llu", q->id);
	s.flags = SIDE_NO_THREAD | (open ? SIDE_OPEN : 0);
	add(x, s);
}

static struct activity *activity_of(activities *v, uint64_t key)
{
	for (size_t i = v->n; i-- > 0;)
		if (v->v[i].key == key)
			return &v->v[i];
	return NULL;
}

/* 0 if it has too many already, since they are searched one by one. */
static int begin(struct ldb *x, activities *v, const struct event *ev)
{
	struct activity s = {ev->arg, ev->ns};
	if (v->n >= AT_ONCE) {
		side_bad_row(x->out, ev->nth, "a thread with more than 1,024 of these at once");
		return 0;
	}
	if (vec_push(v, s))
		x->rc = ERR_NOMEM;
	return !x->rc;
}

static void end(activities *v, struct activity *s)
{
	*s = v->v[--v->n];
}

static struct thread *thread_of(struct ldb *x, uint32_t tid)
{
	uint32_t at = (uint32_t)x->threads.n;
	struct thread fresh = {.tid = tid};
	if (u64map_get(&x->thread_at, tid, &at))
		return &x->threads.v[at];
	if (vec_push(&x->threads, fresh) || u64map_put(&x->thread_at, tid, at)) {
		x->rc = ERR_NOMEM;
		return NULL;
	}
	return &x->threads.v[at];
}

/* From when it was queued, a request's time belongs to the thread that dequeues it. */
static void hand_over(struct request *q, const struct event *ev)
{
	if (ev->tid == q->last_tid)
		return;
	q->third |= q->last_tid != q->first_tid;
	q->handed_ns = q->queued_ns ? q->queued_ns : ev->ns;
}

static void handle_set(struct ldb *x, struct thread *t, const struct event *ev)
{
	if (activity_of(&t->works, ev->arg) || !begin(x, &t->works, ev))
		return;
	struct request *q = request_of(x, ev->arg);
	if (q && q->queued_ns)
		add_queue(x, q, ev->ns, 0);
	q = q ? q : begin_request(x, ev);
	if (!q)
		return;
	hand_over(q, ev);
	q->holders++;
	q->queued_ns = 0;
	q->last_tid = ev->tid;
}

/* A thread's activity ends; the request is done with its last one, unless it is queued. */
static void end_work(struct ldb *x, struct thread *t, struct activity *at, uint64_t ns,
		     int queued)
{
	struct activity s = *at;
	struct request *q = request_of(x, s.key);
	end(&t->works, at);
	add_part(x, t->tid, &s, ns, 0);
	if (!q || --q->holders)
		return;
	if (queued) {
		q->queued_ns = ns;
		return;
	}
	add_request(x, q, ns, 0);
	forget_request(x, q);
}

static void handle_leave(struct ldb *x, struct thread *t, const struct event *ev)
{
	struct activity *s = activity_of(&t->works, ev->arg);
	if (ev->type != EV_CLEAR && s)
		end_work(x, t, s, ev->ns, ev->type == EV_BLOCK);
	while (ev->type == EV_CLEAR && t->works.n)
		end_work(x, t, &t->works.v[t->works.n - 1], ev->ns, 0);
}

/* --- mutexes -------------------------------------------------------------------------- */

static void add_mutex(struct ldb *x, struct side_span s, uint32_t label, uint64_t mutex,
		      int open)
{
	char address[32];
	int n = snprintf(address, sizeof(address), "0x%llx", (unsigned long long)mutex);
	s.flags = open ? SIDE_OPEN : 0;
	if (side_add_label(x->out, label, address, (size_t)n))
		x->rc = ERR_NOMEM;
	add(x, s);
}

static void add_wait(struct ldb *x, uint32_t tid, const struct activity *s, uint64_t to,
		     int open)
{
	add_mutex(x, span(x->wait, tid, s->from_ns, to), x->mutex, s->key, open);
}

static void add_hold(struct ldb *x, uint32_t tid, const struct activity *s, uint64_t to,
		     int open)
{
	add_mutex(x, span(x->hold, tid, s->from_ns, to), x->held, s->key, open);
}

static void handle_lock(struct ldb *x, struct thread *t, const struct event *ev)
{
	struct activity *s = activity_of(&t->waits, ev->arg);
	if (s) {
		add_wait(x, t->tid, s, ev->ns, 0);
		end(&t->waits, s);
	}
	begin(x, &t->holds, ev);
}

static void handle_unlock(struct ldb *x, struct thread *t, const struct event *ev)
{
	struct activity *s = activity_of(&t->holds, ev->arg);
	if (!s)
		return;
	add_hold(x, t->tid, s, ev->ns, 0);
	end(&t->holds, s);
}

/* --- all of it ------------------------------------------------------------------------ */

static int event_order(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void handle_event(struct ldb *x, const struct event *ev)
{
	struct thread *t = thread_of(x, ev->tid);
	if (!t)
		return;
	switch (ev->type) {
	case EV_SET:
		handle_set(x, t, ev);
		break;
	case EV_BLOCK:
	case EV_UNSET:
	case EV_CLEAR:
		handle_leave(x, t, ev);
		break;
	case EV_WAIT:
		begin(x, &t->waits, ev);
		break;
	case EV_LOCK:
		handle_lock(x, t, ev);
		break;
	case EV_UNLOCK:
		handle_unlock(x, t, ev);
		break;
	default:
		break;
	}
}

/* End what is still open at the end of the file. */
static void close_open(struct ldb *x)
{
	for (size_t i = 0; i < x->threads.n; i++) {
		const struct thread *t = &x->threads.v[i];
		for (size_t k = 0; k < t->works.n; k++)
			add_part(x, t->tid, &t->works.v[k], x->end_ns, 1);
		for (size_t k = 0; k < t->waits.n; k++)
			add_wait(x, t->tid, &t->waits.v[k], x->end_ns, 1);
		for (size_t k = 0; k < t->holds.n; k++)
			add_hold(x, t->tid, &t->holds.v[k], x->end_ns, 1);
	}
	for (size_t i = 0; i < x->open.n; i++) {
		if (x->open.v[i].queued_ns)
			add_queue(x, &x->open.v[i], x->end_ns, 1);
		add_request(x, &x->open.v[i], x->end_ns, 1);
	}
}

static void release(struct ldb *x)
{
	for (size_t i = 0; i < x->threads.n; i++) {
		vec_release(&x->threads.v[i].works);
		vec_release(&x->threads.v[i].waits);
		vec_release(&x->threads.v[i].holds);
	}
	vec_release(&x->threads);
	vec_release(&x->events);
	vec_release(&x->open);
	u64map_release(&x->open_at);
	u64map_release(&x->thread_at);
}

static void handle_records(struct ldb *x, const uint8_t *p, size_t n)
{
	uint32_t nth = 0;
	for (size_t at = 0; at + RECORD <= n && !x->rc; at += RECORD) {
		const uint8_t *r = p + at;
		const char *why = wrong(r);
		uint64_t ns = (uint64_t)u32_at(r + 4) * 1000000000u + u32_at(r + 8);
		x->out->rows++;
		nth++;
		if (why) {
			side_bad_row(x->out, nth, why);
			continue;
		}
		x->end_ns = ns > x->end_ns ? ns : x->end_ns;
		if (u32_at(r) == EV_STACK) {
			add_call(x, r, ns, nth);
			continue;
		}
		struct event ev = {ns, u64_at(r + 16), u32_at(r), u32_at(r + 12), nth};
		if (vec_push(&x->events, ev))
			x->rc = ERR_NOMEM;
	}
	if (n % RECORD) {
		x->out->rows++;
		side_bad_row(x->out, nth + 1u, "the last record is torn");
	}
}

static void name_kinds(struct ldb *x)
{
	static const char *const names[] = {"request",    "request part", "in queue",
					    "mutex wait", "mutex hold",   "mutex",
					    "held"};
	uint32_t *const ids[] = {&x->request, &x->part,  &x->queue, &x->wait,
				 &x->hold,    &x->mutex, &x->held};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (side_intern(x->out, names[i], strlen(names[i]), ids[i]))
			x->rc = ERR_NOMEM;
}

int side_ldb_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct ldb x = {.out = out};
	const char *data;
	size_t n;
	int r = side_lines_rest(l, &data, &n, e);
	if (r <= 0)
		return r;
	if (is_older((const uint8_t *)data, n))
		return err_set(e, ERR_UNSUPPORTED,
			       "LDB's older layout with 8 types of events, which perfkit does "
			       "not read; "
			       "the one with 12 is");
	out->nesting = NEST_ANY;
	out->bad.records = 1;
	name_kinds(&x);
	/* most records are calls; n is a real size, not a count that the file claims */
	if (vec_reserve(&out->spans, n / RECORD))
		x.rc = ERR_NOMEM;
	handle_records(&x, (const uint8_t *)data, n);
	if (x.events.n)
		qsort(x.events.v, x.events.n, sizeof(*x.events.v), event_order);
	for (size_t i = 0; i < x.events.n && !x.rc; i++)
		handle_event(&x, &x.events.v[i]);
	if (!x.rc)
		close_open(&x);
	release(&x);
	if (x.rc == ERR_LIMIT)
		return err_set(e, x.rc, "more than 2^32 spans or labels");
	return x.rc ? err_nomem(e) : 0;
}
