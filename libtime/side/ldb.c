#include "libtime/side/ldb.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 40, ADDRESS_FROM = 1 << 16 };

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
	uint32_t nth; /* in the file: events of one time stay as they were */
};

/* A thread works on a request, or waits for or holds a mutex. */
struct stay {
	uint64_t key, from_ns;
	uint32_t tid;
	uint32_t index; /* of its request */
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
	VEC(struct stay) stays, waits, holds;
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

/* NULL, or why a record is none. */
static const char *wrong(const uint8_t *p)
{
	uint32_t type = u32_at(p);
	if (type < EV_STACK || type > EV_LAST)
		return "an event of a type that is not known";
	if (u32_at(p + 8) >= 1000000000u)
		return "its time has more than 10^9 ns";
	return u32_at(p + 12) && u32_at(p + 12) <= INT32_MAX ? NULL : "it has no thread";
}

int side_ldb_told(const char *data, size_t n)
{
	const uint8_t *p = (const uint8_t *)data;
	for (size_t at = 0; at + RECORD <= n; at += RECORD)
		if (wrong(p + at))
			return 0;
	return n >= RECORD;
}

/* Eight types, of which 4, 5 and 6 are of mutexes: their arguments are addresses. Here 5 has
 * none, and 4 has ids. */
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

/* --- spans ---------------------------------------------------------------------------------
 */

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

/* Such a call began when? Its length is all that is told. */
static void take_call(struct ldb *x, const uint8_t *p, uint64_t ns, uint64_t nth)
{
	uint64_t length = u64_at(p + 16);
	struct side_span s = span(0, u32_at(p + 12), ns - length, ns);
	s.site = u64_at(p + 24);
	if (length > ns)
		side_bad_row(x->out, nth, "a call is longer than time is");
	else if (!s.site)
		side_bad_row(x->out, nth, "a call without a return address");
	else
		add(x, s);
}

/* --- requests ------------------------------------------------------------------------------
 */

static struct request *request_of(struct ldb *x, uint64_t id)
{
	for (size_t i = x->open.n; i-- > 0;)
		if (x->open.v[i].id == id)
			return &x->open.v[i];
	return NULL;
}

static void add_request(struct ldb *x, const struct request *q, uint64_t end, int open)
{
	struct side_span s = span(x->request, q->first_tid, q->from_ns, end);
	s.key = text(x, "%llu", q->id);
	s.flags = (open ? SIDE_OPEN : 0) | (q->third ? SIDE_NO_THREAD : 0);
	if (q->last_tid != q->first_tid && !q->third) {
		s.end_tid = (int32_t)q->last_tid;
		s.handed_ns = q->handed_ns;
	}
	add(x, s);
}

static void add_part(struct ldb *x, const struct stay *p, uint64_t end, int open)
{
	struct side_span s = span(x->part, p->tid, p->from_ns, end);
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

static struct stay *stay_of(struct stay *v, size_t n, uint64_t key, uint32_t tid)
{
	for (size_t i = n; i-- > 0;)
		if (v[i].key == key && v[i].tid == tid)
			return &v[i];
	return NULL;
}

/* From when it was put in the queue on, its time is that of the thread which takes it out. */
static void take_over(struct request *q, const struct event *ev)
{
	if (ev->tid == q->last_tid)
		return;
	q->third |= q->last_tid != q->first_tid;
	q->handed_ns = q->queued_ns ? q->queued_ns : ev->ns;
}

static void take_set(struct ldb *x, const struct event *ev)
{
	struct request *q = request_of(x, ev->arg);
	struct stay s = {.key = ev->arg, .from_ns = ev->ns, .tid = ev->tid};
	if (stay_of(x->stays.v, x->stays.n, ev->arg, ev->tid))
		return;
	if (!q) {
		struct request fresh = {.id = ev->arg,
					.from_ns = ev->ns,
					.first_tid = ev->tid,
					.last_tid = ev->tid};
		if (vec_push(&x->open, fresh)) {
			x->rc = ERR_NOMEM;
			return;
		}
		q = &x->open.v[x->open.n - 1];
	} else if (q->queued_ns) {
		add_queue(x, q, ev->ns, 0);
	}
	take_over(q, ev);
	q->holders++;
	q->queued_ns = 0;
	q->last_tid = ev->tid;
	if (vec_push(&x->stays, s))
		x->rc = ERR_NOMEM;
}

/* The stay at index i ends; with the last of its request that is done, unless it is queued. */
static void end_stay(struct ldb *x, size_t i, uint64_t ns, int queued)
{
	struct stay s = x->stays.v[i];
	struct request *q = request_of(x, s.key);
	x->stays.v[i] = x->stays.v[--x->stays.n];
	add_part(x, &s, ns, 0);
	if (!q || --q->holders)
		return;
	if (queued) {
		q->queued_ns = ns;
		return;
	}
	add_request(x, q, ns, 0);
	*q = x->open.v[--x->open.n];
}

static void take_leave(struct ldb *x, const struct event *ev)
{
	for (size_t i = x->stays.n; i-- > 0;)
		if (x->stays.v[i].tid == ev->tid &&
		    (ev->type == EV_CLEAR || x->stays.v[i].key == ev->arg))
			end_stay(x, i, ev->ns, ev->type == EV_BLOCK);
}

/* --- mutexes -------------------------------------------------------------------------------
 */

static void add_mutex(struct ldb *x, const struct stay *s, uint32_t name, uint32_t label,
		      uint64_t end, int open)
{
	struct side_span m = span(name, s->tid, s->from_ns, end);
	char address[32];
	int n = snprintf(address, sizeof(address), "0x%llx", (unsigned long long)s->key);
	m.flags = open ? SIDE_OPEN : 0;
	if (side_add_label(x->out, label, address, (size_t)n))
		x->rc = ERR_NOMEM;
	add(x, m);
}

static void begin(struct ldb *x, const struct event *ev, int hold)
{
	struct stay s = {.key = ev->arg, .from_ns = ev->ns, .tid = ev->tid};
	if (hold ? vec_push(&x->holds, s) : vec_push(&x->waits, s))
		x->rc = ERR_NOMEM;
}

static void take_lock(struct ldb *x, const struct event *ev)
{
	struct stay *s = stay_of(x->waits.v, x->waits.n, ev->arg, ev->tid);
	if (s) {
		add_mutex(x, s, x->wait, x->mutex, ev->ns, 0);
		*s = x->waits.v[--x->waits.n];
	}
	begin(x, ev, 1);
}

static void take_unlock(struct ldb *x, const struct event *ev)
{
	struct stay *s = stay_of(x->holds.v, x->holds.n, ev->arg, ev->tid);
	if (!s)
		return;
	add_mutex(x, s, x->hold, x->held, ev->ns, 0);
	*s = x->holds.v[--x->holds.n];
}

/* --- all of it -----------------------------------------------------------------------------
 */

static int event_order(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static void take_event(struct ldb *x, const struct event *ev)
{
	switch (ev->type) {
	case EV_SET:
		take_set(x, ev);
		break;
	case EV_BLOCK:
	case EV_UNSET:
	case EV_CLEAR:
		take_leave(x, ev);
		break;
	case EV_WAIT:
		begin(x, ev, 0);
		break;
	case EV_LOCK:
		take_lock(x, ev);
		break;
	case EV_UNLOCK:
		take_unlock(x, ev);
		break;
	default:
		break;
	}
}

/* What was not over when the file ends. */
static void take_open(struct ldb *x)
{
	for (size_t i = 0; i < x->stays.n; i++)
		add_part(x, &x->stays.v[i], x->end_ns, 1);
	for (size_t i = 0; i < x->open.n; i++) {
		if (x->open.v[i].queued_ns)
			add_queue(x, &x->open.v[i], x->end_ns, 1);
		add_request(x, &x->open.v[i], x->end_ns, 1);
	}
	for (size_t i = 0; i < x->waits.n; i++)
		add_mutex(x, &x->waits.v[i], x->wait, x->mutex, x->end_ns, 1);
	for (size_t i = 0; i < x->holds.n; i++)
		add_mutex(x, &x->holds.v[i], x->hold, x->held, x->end_ns, 1);
}

static void take_records(struct ldb *x, const uint8_t *p, size_t n)
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
			take_call(x, r, ns, nth);
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
			       "LDB's older layout with 8 types of events, which is not read; "
			       "the one with 12 is");
	out->nesting = NEST_ANY;
	name_kinds(&x);
	/* most are calls; the bytes are there, so their number is no claim of the file's */
	if (vec_reserve(&out->spans, n / RECORD))
		x.rc = ERR_NOMEM;
	take_records(&x, (const uint8_t *)data, n);
	if (x.events.n)
		qsort(x.events.v, x.events.n, sizeof(*x.events.v), event_order);
	for (size_t i = 0; i < x.events.n && !x.rc; i++)
		take_event(&x, &x.events.v[i]);
	if (!x.rc)
		take_open(&x);
	vec_release(&x.events);
	vec_release(&x.open);
	vec_release(&x.stays);
	vec_release(&x.waits);
	vec_release(&x.holds);
	if (x.rc == ERR_LIMIT)
		return err_set(e, x.rc, "more than 2^32 spans or labels");
	return x.rc ? err_nomem(e) : 0;
}
