#include "libtime/sched/sched.h"
#include "base/mem.h"
#include "libtime/sched/sched_internal.h"

#include <string.h>

int sched_new(struct timeline *tl, struct sched **out, struct err *e)
{
	*out = mem_zalloc(1, sizeof(**out));
	if (!*out)
		return err_nomem(e);
	(*out)->tl = tl;
	(*out)->chain = !(tl->flags & TL_PER_TASK);
	return 0;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	vec_release(&s->threads);
	vec_release(&s->cpus);
	u64map_release(&s->by_tid);
	skew_release(&s->skew);
	mem_free(s);
}

/* --- threads and CPUs ----------------------------------------------------------------- */

/* What strncmp(a, b, SCHED_COMM_SIZE - 1) says, of short names, without the call. */
static inline int same_comm(const char *a, const char *b)
{
	for (int i = 0; i < SCHED_COMM_SIZE - 1; i++) {
		if (a[i] != b[i])
			return 0;
		if (!a[i])
			return 1;
	}
	return 1;
}

int sched_set_comm(struct sched *s, uint32_t i, const char *comm)
{
	struct thr *t = &s->threads.v[i];
	if (!comm || !*comm || same_comm(t->comm, comm))
		return 0;
	size_t n = strnlen(comm, SCHED_COMM_SIZE - 1);
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, n);
	return strtab_intern(&s->tl->stacks->strings, t->comm, &s->tl->threads.v[i].comm);
}

static int add_row(struct sched *s, int32_t tid, uint32_t *i)
{
	struct tl_thread t = {.pid = -1, .tid = tid, .first_cpu = TL_NOCPU, .first_prio = -1};
	struct thr m = {0};
	if (s->threads.n >= UINT32_MAX - 2)
		return ERR_LIMIT;
	if (vec_push(&s->tl->threads, t))
		return ERR_NOMEM;
	if (vec_push(&s->threads, m)) {
		s->tl->threads.n--;
		return ERR_NOMEM;
	}
	*i = (uint32_t)(s->threads.n - 1);
	return 0;
}

static int add_thread(struct sched *s, int32_t tid, uint32_t *i)
{
	int r = add_row(s, tid, i);
	return r ? r : u64map_put(&s->by_tid, (uint32_t)tid, *i);
}

int sched_thread_of_any(struct sched *s, int32_t tid, uint32_t *i)
{
	int known = u64map_get(&s->by_tid, (uint32_t)tid, i) && s->threads.v[*i].state != DEAD;
	int r = known ? 0 : add_thread(s, tid, i);
	if (!r)
		s->recent[(uint32_t)tid % RECENT_TIDS] = (struct recent){tid, *i + 1};
	return r;
}

int sched_new_cpu(struct sched *s, uint16_t n, struct cpu **c)
{
	while (s->cpus.n <= n) {
		struct cpu fresh = {.cur = TL_NONE, .cur_tid = -1, .alt_tid = -1};
		if (vec_push(&s->cpus, fresh))
			return ERR_NOMEM;
	}
	*c = &s->cpus.v[n];
	return 0;
}

/* --- lives and losses ----------------------------------------------------------------- */

/* The tid now belongs to another thread, and the end of the old one was not recorded. */
static int retire(struct sched *s, uint32_t i)
{
	struct thr *t = &s->threads.v[i];
	uint64_t end = t->state == OFF ? t->offcpu.start_ns : sched_last_seen(s, t);
	if (t->state == RUNNING && t->cpu < s->cpus.n && s->cpus.v[t->cpu].cur == i)
		sched_set_current(&s->cpus.v[t->cpu], -1, TL_NONE, s->now);
	sched_end_life(s, i, end);
	return 0;
}

int sched_new_thread(struct sched *s, const struct sched_event *ev, uint32_t *i)
{
	int r = 0;
	if (u64map_get(&s->by_tid, (uint32_t)ev->target_tid, i) &&
	    (s->threads.v[*i].state == RUNNING || s->threads.v[*i].state == OFF))
		r = retire(s, *i);
	if (!r)
		r = sched_thread_of(s, ev->target_tid, i);
	if (!r)
		r = sched_set_comm_of(s, *i, ev, ev->target_comm);
	if (!r) {
		sched_set_pid(s, *i, ev->target_pid);
		s->tl->threads.v[*i].flags |= THREAD_BORN;
	}
	return r;
}

static int on_exit(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	/* the record may come after the last switch: then it adds nothing */
	if (!u64map_get(&s->by_tid, (uint32_t)ev->target_tid, &i))
		return 0;
	s->threads.v[i].exiting = 1;
	sched_set_pid(s, i, ev->target_pid);
	return 0;
}

static int on_comm(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = sched_thread_of(s, ev->target_tid, &i);
	if (!r)
		r = sched_set_comm(s, i, ev->target_comm);
	if (!r)
		sched_set_pid(s, i, ev->target_pid);
	return r;
}

/* A whole interval at once, known at its end. It does not show which thread had which CPU. */
static int on_direct(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = on_comm(s, ev);
	if (!r)
		r = sched_thread_of(s, ev->target_tid, &i);
	if (r || s->tl->flags & (TL_HAS_SWITCH | TL_HAS_RECORDS))
		return r; /* the switches show all that, and more */
	struct thr *t = &s->threads.v[i];
	uint64_t from = ev->from_ns;
	if (t->state == UNSEEN || !t->until_ns)
		sched_begin_running(s, i, TL_NOCPU, -1, from);
	if (from < t->until_ns)
		from = t->until_ns;
	sched_begin_offcpu(s, i, from, TL_NOCPU);
	t->offcpu.path = ev->path;
	if (ev->no_stack)
		t->offcpu.flags |= OFF_NO_STACK;
	t->until_ns = ev->time_ns;
	r = sched_end_offcpu(s, i, ev->time_ns, TL_NOCPU, -1);
	sched_run_on(s, i, TL_NOCPU);
	return r;
}

static int on_loss(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	struct tl_loss l = {.from_ns = ev->from_ns,
			    .to_ns = ev->time_ns,
			    .count = ev->count,
			    .cpu = ev->cpu,
			    .sched = 1,
			    .kind = ev->kind == SCHED_LOST ? LOSS_LOST : LOSS_THROTTLE};
	if (ev->cpu != TL_NOCPU) {
		if (sched_cpu_of(s, ev->cpu, &c))
			return ERR_NOMEM;
		c->lost = 1;
		c->lost_ns = ev->time_ns;
		if (!l.from_ns)
			l.from_ns = c->last_ns;
	}
	return vec_push(&s->tl->losses, l);
}

/* --- public functions ----------------------------------------------------------------- */

/* A record other than a switch shows the CPU's current thread. Between the switch tracepoint
 * and the switch itself that is still the old one, so this never makes a hole; it narrows the
 * bounds of one. */
static int note_current(struct sched *s, const struct sched_event *ev)
{
	struct cpu *c;
	uint32_t i;
	int r = sched_cpu_of(s, ev->cpu, &c);
	if (r)
		return r;
	if (c->cur_tid == ev->tid) {
		c->cur_ns = ev->time_ns;
		c->alt_tid = -1;
		if (ev->tid > 0 && ev->pid >= 0)
			s->tl->threads.v[c->cur].pid = ev->pid;
	} else if (c->cur_tid >= 0) {
		if (c->alt_tid != ev->tid) {
			c->alt_tid = ev->tid;
			c->alt_ns = ev->time_ns;
		}
	} else if (ev->tid == 0) {
		sched_set_current(c, 0, TL_NONE, ev->time_ns);
	} else {
		r = sched_thread_of(s, ev->tid, &i);
		if (!r && s->threads.v[i].state == UNSEEN) {
			sched_set_pid(s, i, ev->pid);
			sched_begin_running(s, i, ev->cpu, -1, ev->time_ns);
			sched_set_current(c, ev->tid, i, ev->time_ns);
		}
	}
	return r;
}

static int on_leaving(struct sched *s, const struct sched_event *ev)
{
	uint32_t i;
	int r = ev->tid > 0 ? sched_thread_of(s, ev->tid, &i) : 0;
	if (!r && ev->tid > 0)
		s->threads.v[i].leaving = ev->path;
	return r;
}

static int dispatch(struct sched *s, const struct sched_event *ev)
{
	int target = ev->target_tid > 0;
	switch (ev->kind) {
	case SCHED_SWITCH:
		return ev->cpu == TL_NOCPU ? 0 : sched_on_switch(s, ev);
	case SCHED_LEAVING:
		return on_leaving(s, ev);
	case SCHED_OUT:
		return ev->cpu == TL_NOCPU ? 0 : sched_on_out(s, ev);
	case SCHED_IN:
		return ev->cpu == TL_NOCPU ? 0 : sched_on_in(s, ev);
	case SCHED_WAKING:
		return target ? sched_on_waking(s, ev) : 0;
	case SCHED_WAKEUP:
		return target ? sched_on_wakeup(s, ev) : 0;
	case SCHED_MIGRATE:
		return target ? sched_on_migrate(s, ev) : 0;
	case SCHED_WAKEUP_NEW:
		return target ? sched_on_wakeup_new(s, ev) : 0;
	case SCHED_FORK: {
		uint32_t i;
		return target ? sched_new_thread(s, ev, &i) : 0;
	}
	case SCHED_COMM:
		return target ? on_comm(s, ev) : 0;
	case SCHED_EXIT:
		return target ? on_exit(s, ev) : 0;
	case SCHED_DIRECT:
		return target ? on_direct(s, ev) : 0;
	case SCHED_LOST:
	case SCHED_THROTTLED:
		return on_loss(s, ev);
	default:
		return 0;
	}
}

static int failed(int r, struct err *e)
{
	if (r == ERR_LIMIT)
		return err_set(e, r, "more than 2^32 threads");
	return r && r != ERR_IO ? err_nomem(e) : r;
}

/* Give a switch that names no CPU one that no other thread has. */
static int own_cpu(struct sched *s, struct sched_event *ev)
{
	int32_t tid = ev->kind == SCHED_SWITCH ? ev->prev_tid : ev->tid;
	uint32_t i;
	if (tid <= 0)
		return 0;
	int known = u64map_get(&s->by_tid, (uint32_t)tid, &i);
	if (!known && add_thread(s, tid, &i))
		return ERR_NOMEM;
	s->no_cpus = 1;
	ev->cpu = (uint16_t)(i % TL_NOCPU);
	return 0;
}

int sched_event(struct sched *s, const struct sched_event *in, struct err *e)
{
	struct sched_event own;
	const struct sched_event *ev = in;
	struct cpu *c;
	int is_switch =
		ev->kind == SCHED_SWITCH || ev->kind == SCHED_OUT || ev->kind == SCHED_IN;
	int r = 0;
	s->e = e;
	if (ev->time_ns > s->now)
		s->now = ev->time_ns;
	if (is_switch && ev->cpu == TL_NOCPU && !s->chain) {
		own = *in;
		ev = &own;
		r = own_cpu(s, &own);
	}
	if (!r && !is_switch && ev->kind != SCHED_LOST && ev->cpu != TL_NOCPU && ev->tid >= 0)
		r = note_current(s, ev);
	if (!r)
		r = dispatch(s, ev);
	if (!r && ev->cpu != TL_NOCPU) {
		r = sched_cpu_of(s, ev->cpu, &c);
		if (!r)
			c->last_ns = ev->time_ns;
	}
	return failed(r, e);
}

int sched_add_stack(struct sched *s, const struct sched_event *ev, uint64_t first_ns,
		    struct err *e)
{
	uint32_t i;
	int out = ev->kind == SCHED_SWITCH;
	int r = ev->path ? sched_thread_of(s, out ? ev->prev_tid : ev->target_tid, &i) : 0;
	if (r || !ev->path)
		return failed(r, e);
	(out ? sched_add_stack_out : sched_add_stack_wake)(s, i, ev, first_ns);
	return 0;
}

int sched_thread(struct sched *s, int32_t pid, int32_t tid, const char *comm, uint32_t *thread,
		 struct err *e)
{
	*thread = TL_NONE;
	if (tid <= 0)
		return 0;
	int r = sched_thread_of(s, tid, thread);
	if (!r)
		r = sched_set_comm(s, *thread, comm);
	if (!r)
		sched_set_pid(s, *thread, pid);
	return failed(r, e);
}

void sched_comm_of(const struct sched *s, int32_t tid, char comm[SCHED_COMM_SIZE])
{
	uint32_t i;
	if (u64map_get(&s->by_tid, (uint32_t)tid, &i))
		memcpy(comm, s->threads.v[i].comm, SCHED_COMM_SIZE);
	else
		*comm = '\0';
}

int sched_pseudo_thread(struct sched *s, int32_t pid, int32_t tid, uint64_t ns,
			uint32_t *thread, struct err *e)
{
	int r = add_row(s, tid, thread);
	if (r)
		return failed(r, e);
	struct tl_thread *t = &s->tl->threads.v[*thread];
	t->pid = pid;
	t->first_ns = t->last_ns = ns;
	t->flags = THREAD_IDLE_TASK | (tid ? 0 : THREAD_KERNEL);
	s->threads.v[*thread].state = DEAD;
	return 0;
}

int sched_finish(struct sched *s, uint64_t end_ns, struct err *e)
{
	int r = 0;
	s->e = e;
	if (end_ns < s->now)
		end_ns = s->now;
	for (uint32_t i = 0; i < s->threads.n; i++) {
		struct thr *t = &s->threads.v[i];
		struct tl_thread *out = &s->tl->threads.v[i];
		if (t->state == DEAD)
			continue;
		out->last_ns = end_ns;
		if (t->state == UNSEEN)
			out->first_ns = end_ns;
		if (t->state != OFF)
			continue;
		t->offcpu.flags |= OFF_OPEN;
		if ((r = sched_end_woken(s, i, end_ns, TL_NOCPU, -1)))
			return failed(r, e);
	}
	sched_bounds(s);
	r = skew_finish(s);
	return r ? failed(r, e) : timeline_finish(s->tl, e);
}
