#include "libtime/watch/tasks.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum {
	PID_AT = RECORD_HEADER_SIZE, /* of MMAP, COMM, FORK, EXIT */
	TID_AT = PID_AT + 4,
	ADDR_AT = PID_AT + 8, /* of MMAP */
	LEN_AT = ADDR_AT + 8,
	PARENT_AT = PID_AT + 4, /* of FORK and EXIT: pid, ppid, tid, ptid */
	CHILD_AT = PID_AT + 8,
	PARENT_THREAD_AT = PID_AT + 12,
	TASK_SIZE = PID_AT + 16,
	MISC_AT = 4,
	SIZE_AT = 6,
	KERNEL_PID = -1,
	OTHER_MAX = 4 << 20, /* bytes; jitted kernel code comes and goes */
};

static void put_id(char *p, size_t at, int32_t id)
{
	memcpy(p + at, &id, sizeof(id));
}

static int append(struct buf *b, const void *p, size_t n)
{
	buf_add(b, p, n);
	return buf_failed(b);
}

static int32_t id_at(const uint8_t *p, size_t at)
{
	return (int32_t)load_u32(p + at, 0);
}

/* --- threads -------------------------------------------------------------------------- */

static size_t thread_at(const struct tasks *t, int32_t tid)
{
	return PARTITION_POINT(i, 0, t->threads.n, t->threads.v[i].tid < tid);
}

static struct task *thread_of(struct tasks *t, int32_t tid)
{
	size_t i = thread_at(t, tid);
	return i < t->threads.n && t->threads.v[i].tid == tid ? &t->threads.v[i] : NULL;
}

static struct task *thread_made(struct tasks *t, int32_t pid, int32_t tid)
{
	size_t i = thread_at(t, tid);
	if (i < t->threads.n && t->threads.v[i].tid == tid) {
		t->threads.v[i].pid = pid;
		return &t->threads.v[i];
	}
	if (vec_reserve(&t->threads, 1))
		return NULL;
	memmove(&t->threads.v[i + 1], &t->threads.v[i],
		(t->threads.n++ - i) * sizeof(*t->threads.v));
	t->threads.v[i] = (struct task){.pid = pid, .tid = tid, .seen_ns = t->now_ns};
	return &t->threads.v[i];
}

static void thread_forget(struct tasks *t, struct task *x)
{
	buf_release(&x->comm);
	memmove(x, x + 1, (size_t)(t->threads.v + --t->threads.n - x) * sizeof(*x));
}

/* --- mappings ------------------------------------------------------------------------- */

static size_t space_at(const struct tasks *t, int32_t pid)
{
	return PARTITION_POINT(i, 0, t->spaces.n, t->spaces.v[i].pid < pid);
}

static struct space *space_of(struct tasks *t, int32_t pid)
{
	size_t i = space_at(t, pid);
	return i < t->spaces.n && t->spaces.v[i].pid == pid ? &t->spaces.v[i] : NULL;
}

static struct space *space_made(struct tasks *t, int32_t pid)
{
	struct space *have = space_of(t, pid);
	size_t i = space_at(t, pid);
	if (have)
		return have;
	if (vec_reserve(&t->spaces, 1))
		return NULL;
	memmove(&t->spaces.v[i + 1], &t->spaces.v[i],
		(t->spaces.n++ - i) * sizeof(*t->spaces.v));
	t->spaces.v[i] = (struct space){.pid = pid, .seen_ns = t->now_ns};
	return &t->spaces.v[i];
}

static void space_forget(struct tasks *t, struct space *s)
{
	buf_release(&s->maps);
	memmove(s, s + 1, (size_t)(t->spaces.v + --t->spaces.n - s) * sizeof(*s));
}

/* Drop mappings that a new one covers. */
static void drop_covered(struct space *s, uint64_t from, uint64_t len)
{
	size_t to = 0;
	for (size_t at = 0; at < s->maps.n;) {
		const uint8_t *p = (const uint8_t *)s->maps.v + at;
		uint16_t size = load_u16(p + SIZE_AT, 0);
		uint64_t start = load_u64(p + ADDR_AT, 0), n = load_u64(p + LEN_AT, 0);
		at += size;
		if (start >= from && start - from <= len && n <= len - (start - from))
			continue;
		memmove(s->maps.v + to, p, size);
		to += size;
	}
	s->maps.n = to;
}

/* perf records no unmapping: of a process that keeps mapping new addresses, keep the newest. */
static void drop_oldest(struct space *s)
{
	size_t at = 0;
	while (at < s->maps.n / 2)
		at += load_u16(s->maps.v + at + SIZE_AT, 0);
	memmove(s->maps.v, s->maps.v + at, s->maps.n - at);
	s->maps.n -= at;
}

static int handle_mmap(struct tasks *t, const struct record *r)
{
	if (r->size < LEN_AT + 8)
		return 0;
	struct space *s = space_made(t, id_at(r->p, PID_AT));
	if (!s)
		return ERR_NOMEM;
	drop_covered(s, load_u64(r->p + ADDR_AT, 0), load_u64(r->p + LEN_AT, 0));
	if (t->max && s->pid != KERNEL_PID && s->maps.n + r->size > t->max / 4)
		drop_oldest(s);
	return append(&s->maps, r->p, r->size);
}

/* --- lives ---------------------------------------------------------------------------- */

static int handle_comm(struct tasks *t, const struct record *r)
{
	if (r->size < TID_AT + 4)
		return 0;
	int32_t pid = id_at(r->p, PID_AT);
	struct space *s = space_of(t, pid);
	struct task *x = thread_made(t, pid, id_at(r->p, TID_AT));
	if (!x)
		return ERR_NOMEM;
	buf_clear(&x->comm);
	if (append(&x->comm, r->p, r->size))
		return ERR_NOMEM;
	if (r->misc & PERF_RECORD_MISC_COMM_EXEC && s)
		buf_clear(&s->maps);
	/* written later, it is not an exec */
	uint16_t misc = (uint16_t)(r->misc & ~PERF_RECORD_MISC_COMM_EXEC);
	memcpy(x->comm.v + MISC_AT, &misc, sizeof(misc));
	return 0;
}

/* A child inherits its parent's name, and, if it is a process, its mappings. */
static int handle_fork(struct tasks *t, const struct record *r)
{
	if (r->size < TASK_SIZE)
		return 0;
	int32_t pid = id_at(r->p, PID_AT), ppid = id_at(r->p, PARENT_AT);
	int32_t tid = id_at(r->p, CHILD_AT), ptid = id_at(r->p, PARENT_THREAD_AT);
	struct task *child = thread_made(t, pid, tid), *parent = thread_of(t, ptid);
	if (!child)
		return ERR_NOMEM;
	buf_clear(&child->comm);
	if (parent && parent->comm.n && parent != child) {
		if (append(&child->comm, parent->comm.v, parent->comm.n))
			return ERR_NOMEM;
		put_id(child->comm.v, PID_AT, pid);
		put_id(child->comm.v, TID_AT, tid);
	}
	if (pid == ppid)
		return 0;
	struct space *to = space_made(t, pid), *from = space_of(t, ppid);
	if (!to)
		return ERR_NOMEM;
	buf_clear(&to->maps);
	if (!from || append(&to->maps, from->maps.v, from->maps.n))
		return from ? ERR_NOMEM : 0;
	for (size_t at = 0; at < to->maps.n; at += load_u16(to->maps.v + at + SIZE_AT, 0)) {
		put_id(to->maps.v + at, PID_AT, pid);
		put_id(to->maps.v + at, TID_AT, pid);
	}
	return 0;
}

static void handle_exit(struct tasks *t, const struct record *r)
{
	if (r->size < TASK_SIZE)
		return;
	int32_t pid = id_at(r->p, PID_AT), tid = id_at(r->p, CHILD_AT);
	struct task *x = thread_of(t, tid);
	struct space *s = pid == tid ? space_of(t, pid) : NULL;
	if (x)
		thread_forget(t, x);
	/* the leader may exit before its threads, which keep their names but not the mappings
	 */
	if (s)
		space_forget(t, s);
}

static int handle_other(struct tasks *t, const struct record *r)
{
	if (t->other.n + r->size > OTHER_MAX)
		return 0;
	return append(&t->other, r->p, r->size);
}

static int update(struct tasks *t, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return handle_mmap(t, r);
	case PERF_RECORD_COMM:
		return handle_comm(t, r);
	case PERF_RECORD_FORK:
		return handle_fork(t, r);
	case PERF_RECORD_EXIT:
		handle_exit(t, r);
		return 0;
	default:
		return handle_other(t, r);
	}
}

static int is_ours(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 ||
	       type == PERF_RECORD_COMM || type == PERF_RECORD_FORK ||
	       type == PERF_RECORD_EXIT || type == PERF_RECORD_KSYMBOL ||
	       type == PERF_RECORD_BPF_EVENT || type == PERF_RECORD_CGROUP ||
	       type == PERF_RECORD_NAMESPACES;
}

void tasks_ran(struct tasks *t, int32_t pid, int32_t tid, uint64_t ns)
{
	struct task *x = thread_of(t, tid);
	struct space *s = space_of(t, pid);
	if (x && x->seen_ns < ns)
		x->seen_ns = ns;
	if (s && s->seen_ns < ns)
		s->seen_ns = ns;
}

/* --- what may have ended unseen ------------------------------------------------------- */

static uint64_t thread_bytes(const struct task *x)
{
	return sizeof(*x) + x->comm.cap;
}

static uint64_t space_bytes(const struct space *s)
{
	return sizeof(*s) + s->maps.cap;
}

static uint64_t living_bytes(const struct tasks *t)
{
	uint64_t n = 0;
	for (size_t i = 0; i < t->threads.n; i++)
		n += thread_bytes(&t->threads.v[i]);
	for (size_t i = 0; i < t->spaces.n; i++)
		n += space_bytes(&t->spaces.v[i]);
	return n;
}

struct part {
	uint64_t seen_ns, bytes;
};

static int last_seen_first(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return x->seen_ns > y->seen_ns ? -1 : x->seen_ns < y->seen_ns;
}

/* What ran before *ns is too much. */
static int too_old(const struct tasks *t, uint64_t *ns)
{
	VEC(struct part) v = {0};
	uint64_t left = t->max - t->max / 8, sum = 0;
	int rc = vec_reserve(&v, t->threads.n + t->spaces.n);
	for (size_t i = 0; !rc && i < t->threads.n; i++)
		v.v[v.n++] =
			(struct part){t->threads.v[i].seen_ns, thread_bytes(&t->threads.v[i])};
	for (size_t i = 0; !rc && i < t->spaces.n; i++)
		v.v[v.n++] =
			(struct part){t->spaces.v[i].seen_ns, space_bytes(&t->spaces.v[i])};
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), last_seen_first);
	*ns = 0;
	for (size_t i = 0; i < v.n && sum <= left; i++) {
		sum += v.v[i].bytes;
		*ns = v.v[i].seen_ns;
	}
	vec_release(&v);
	return rc;
}

static int forget_idle(struct tasks *t)
{
	uint64_t ns;
	if (!t->max || living_bytes(t) <= t->max)
		return 0;
	if (too_old(t, &ns))
		return ERR_NOMEM;
	for (size_t i = t->threads.n; i--;)
		if (t->threads.v[i].seen_ns <= ns)
			thread_forget(t, &t->threads.v[i]);
	for (size_t i = t->spaces.n; i--;)
		if (t->spaces.v[i].seen_ns <= ns && t->spaces.v[i].pid != KERNEL_PID)
			space_forget(t, &t->spaces.v[i]);
	return 0;
}

/* --- the order of time ---------------------------------------------------------------- */

int tasks_add(struct tasks *t, const struct record *r, uint64_t ns)
{
	struct waiting w = {ns, t->bytes.n};
	if (!is_ours(r->type))
		return 0;
	if (!ns)
		return update(t, r);
	return append(&t->bytes, r->p, r->size) || vec_push(&t->waiting, w) ? ERR_NOMEM : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Keep the bytes of the records from `first` on. */
static int keep_waiting(struct tasks *t, size_t first)
{
	struct buf rest = {0};
	size_t n = 0;
	for (size_t i = first; i < t->waiting.n; i++) {
		struct waiting w = {t->waiting.v[i].ns, rest.n};
		const char *p = t->bytes.v + t->waiting.v[i].at;
		buf_add(&rest, p, load_u16(p + SIZE_AT, 0));
		t->waiting.v[n++] = w;
	}
	t->waiting.n = n;
	buf_release(&t->bytes);
	t->bytes = rest;
	return buf_failed(&rest);
}

int tasks_settle(struct tasks *t, uint64_t ns)
{
	size_t i = 0;
	int rc = 0;
	if (t->waiting.n)
		qsort(t->waiting.v, t->waiting.n, sizeof(*t->waiting.v), by_time);
	for (; !rc && i < t->waiting.n && t->waiting.v[i].ns < ns; i++) {
		struct record r;
		record_view((const uint8_t *)t->bytes.v + t->waiting.v[i].at, 0, &r);
		t->now_ns = t->waiting.v[i].ns;
		rc = update(t, &r);
	}
	rc = rc || !i ? rc : keep_waiting(t, i);
	return rc ? ERR_NOMEM : forget_idle(t);
}

/* --- writing -------------------------------------------------------------------------- */

static void write_all(const char *p, size_t n, uint64_t ns, uint32_t back, FILE *f)
{
	uint8_t record[UINT16_MAX];
	for (size_t at = 0, size; at < n; at += size) {
		size = load_u16(p + at + SIZE_AT, 0);
		memcpy(record, p + at, size);
		if (back && size >= RECORD_HEADER_SIZE + back)
			memcpy(record + size - back, &ns, sizeof(ns));
		fwrite(record, 1, size, f);
	}
}

void tasks_write(const struct tasks *t, uint64_t ns, uint32_t back, FILE *f)
{
	write_all(t->other.v, t->other.n, ns, back, f);
	for (size_t i = 0; i < t->threads.n; i++)
		write_all(t->threads.v[i].comm.v, t->threads.v[i].comm.n, ns, back, f);
	for (size_t i = 0; i < t->spaces.n; i++)
		write_all(t->spaces.v[i].maps.v, t->spaces.v[i].maps.n, ns, back, f);
	if (t->bytes.n)
		fwrite(t->bytes.v, 1, t->bytes.n, f);
}

uint64_t tasks_bytes(const struct tasks *t)
{
	uint64_t n = (t->threads.cap - t->threads.n) * sizeof(*t->threads.v) +
		     (t->spaces.cap - t->spaces.n) * sizeof(*t->spaces.v) + t->other.cap +
		     t->waiting.cap * sizeof(*t->waiting.v) + t->bytes.cap + living_bytes(t);
	return n;
}

void tasks_release(struct tasks *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		buf_release(&t->threads.v[i].comm);
	for (size_t i = 0; i < t->spaces.n; i++)
		buf_release(&t->spaces.v[i].maps);
	vec_release(&t->threads);
	vec_release(&t->spaces);
	vec_release(&t->waiting);
	buf_release(&t->bytes);
	buf_release(&t->other);
}
