#include "libtime/watch/tasks.h"
#include "base/search.h"

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
	t->threads.v[i] = (struct task){.pid = pid, .tid = tid};
	return &t->threads.v[i];
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
	t->spaces.v[i] = (struct space){.pid = pid};
	return &t->spaces.v[i];
}

/* Drop mappings that a new one covers. */
static void drop_covered(struct space *s, uint64_t from, uint64_t len)
{
	size_t to = 0;
	for (size_t at = 0; at < s->maps.n;) {
		const uint8_t *p = (const uint8_t *)s->maps.v + at;
		uint16_t size = load_u16(p + 6, 0);
		uint64_t start = load_u64(p + ADDR_AT, 0), n = load_u64(p + LEN_AT, 0);
		at += size;
		if (start >= from && start - from <= len && n <= len - (start - from))
			continue;
		memmove(s->maps.v + to, p, size);
		to += size;
	}
	s->maps.n = to;
}

static int handle_mmap(struct tasks *t, const struct record *r)
{
	if (r->size < LEN_AT + 8)
		return 0;
	struct space *s = space_made(t, id_at(r->p, PID_AT));
	if (!s)
		return ERR_NOMEM;
	drop_covered(s, load_u64(r->p + ADDR_AT, 0), load_u64(r->p + LEN_AT, 0));
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
	for (size_t at = 0; at < to->maps.n; at += load_u16(to->maps.v + at + 6, 0)) {
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
	if (x) {
		buf_release(&x->comm);
		memmove(x, x + 1, (size_t)(t->threads.v + --t->threads.n - x) * sizeof(*x));
	}
	/* the leader may exit before its threads, which keep their names but not the mappings
	 */
	if (s) {
		buf_release(&s->maps);
		memmove(s, s + 1, (size_t)(t->spaces.v + --t->spaces.n - s) * sizeof(*s));
	}
}

static int handle_other(struct tasks *t, const struct record *r)
{
	if (t->other.n + r->size > OTHER_MAX)
		return 0;
	return append(&t->other, r->p, r->size);
}

int tasks_update(struct tasks *t, const struct record *r)
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
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_NAMESPACES:
		return handle_other(t, r);
	default:
		return 0;
	}
}

/* --- writing -------------------------------------------------------------------------- */

static void write_all(const char *p, size_t n, uint64_t ns, uint32_t back, FILE *f)
{
	uint8_t record[UINT16_MAX];
	for (size_t at = 0, size; at < n; at += size) {
		size = load_u16(p + at + 6, 0);
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
}

uint64_t tasks_bytes(const struct tasks *t)
{
	uint64_t n = t->threads.cap * sizeof(*t->threads.v) +
		     t->spaces.cap * sizeof(*t->spaces.v) + t->other.cap;
	for (size_t i = 0; i < t->threads.n; i++)
		n += t->threads.v[i].comm.cap;
	for (size_t i = 0; i < t->spaces.n; i++)
		n += t->spaces.v[i].maps.cap;
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
	buf_release(&t->other);
}
