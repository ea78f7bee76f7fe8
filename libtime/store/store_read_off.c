/*
 * store_read_off.c - the off-CPU intervals of a store: by far its largest table. It is read in
 * parts, each by a thread on a connection of its own, all into their places of one array.
 */
#include "base/mem.h"
#include "libtime/store/store_rows.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_PARTS = 4,
	ROWS_PER_PART = 65536,
	ROW_BYTES = 24, /* no row takes less: the record's header alone has a byte a column */
};

/* Row ids from..to. The maps of row ids are only looked at; the timeline and the stacks of its
 * own hold the names of states and system calls. */
struct off_part {
	pthread_t thread;
	int started;
	int64_t from, to;
	struct off *v; /* where its rows go */
	size_t n, room;
	struct store store;
	struct load load;
	struct stacks stacks;
	struct timeline tl;
	struct err e;
	int r;
};

static int take_off(struct load *l, struct off *o)
{
	take(l);
	o->thread = take_thread(l);
	o->start_ns = take_ns(l);
	o->end_ns = take_ns(l);
	o->blocked_ns = take_ns(l);
	if (take_state(l, &o->state))
		return ERR_NOMEM;
	o->cause = take_name(l, l->causes, cause_name, CAUSE_COUNT);
	o->site = take_id(l, &l->site, 0);
	o->flags = site_flags(&l->sites[o->site]);
	o->path = take_id(l, &l->s->path_of, 0);
	o->waker = take_id(l, &l->thread, TL_NONE);
	o->waker_context = take_name(l, l->contexts, waker_context_name, WAKER_IDLE + 1);
	o->waker_path = take_id(l, &l->s->path_of, 0);
	o->cpu_out = take_cpu(l);
	o->cpu_in = take_cpu(l);
	o->flags = (uint8_t)(o->flags | take_flag(l, OFF_OPEN));
	o->flags = (uint8_t)(o->flags | take_flag(l, OFF_SUSPECT));
	o->unknown = take_name(l, l->reasons, unknown_reason_name, UNKNOWN_NO_WAKE + 1);
	o->comm = take_id(l, &l->s->comm, 0);
	o->cpu_wake = take_cpu(l);
	o->prio_in = (int16_t)column_int_or(l, INT16_MAX, -1);
	o->flags = (uint8_t)(o->flags | take_flag(l, OFF_RUNNING));
	o->flags = (uint8_t)(o->flags | take_flag(l, OFF_NO_STACK));
	const char *call = take_text(l);
	o->cpu_queue = take_cpu(l);
	if (*call && timeline_syscall(l->tl, call, &o->syscall))
		return ERR_NOMEM;
	int64_t arg = column_int_or(l, INT64_MAX, -1);
	o->arg_kind = take_name(l, l->args, wait_arg_name, ARG_KINDS);
	return o->arg_kind ? timeline_arg(l->tl, (uint64_t)arg, &o->arg) : 0;
}

#define OFF_ROWS                                                                   \
	"SELECT id,thread_id,start_ns,end_ns,blocked_ns,prev_state,cause,site_id," \
	"call_path_id,waker_thread_id,waker_context,waker_call_path_id,cpu_out,"   \
	"cpu_in,open,suspect,unknown_reason,comm_id,cpu_wake,prio_in,running,"     \
	"no_stack,syscall,cpu_queue,arg0,arg0_kind FROM offcpu "                   \
	"WHERE id BETWEEN ?2 AND ?3 "
/* the unary + keeps SQLite off the index by thread, whose rows it would sort again */
#define OF_RECORDING "AND +thread_id IN (SELECT id FROM threads WHERE recording_id = ?1) "
#define IN_ORDER "ORDER BY id"

static int select_rows(struct load *l)
{
	int one = l->s->recordings.n == 1;
	return rows_select(l, "offcpu",
			   one ? OFF_ROWS IN_ORDER : OFF_ROWS OF_RECORDING IN_ORDER);
}

static int read_rows(struct off_part *p)
{
	struct load *l = &p->load;
	int got = 0;
	int r = select_rows(l);
	if (!r) {
		sqlite3_bind_int64(l->st, 2, p->from);
		sqlite3_bind_int64(l->st, 3, p->to);
	}
	while (!r && (got = rows_next(l)) == 1) {
		struct off o = {0};
		if (take_off(l, &o))
			return rows_nomem(l);
		if (l->bad)
			return rows_damaged(l,
					    "a thread, stack, CPU or time that is not there");
		if (o.end_ns < o.start_ns)
			return rows_damaged(l, "ends before it starts");
		if (p->n == p->room)
			return rows_damaged(l, "more rows than there are ids");
		p->v[p->n++] = o;
	}
	return r ? r : got;
}

static void *read_part(void *arg)
{
	struct off_part *p = arg;
	if (store_connect(&p->store))
		p->r = p->store.db ? store_db_failed(&p->store, &p->e) : err_nomem(&p->e);
	if (!p->r && timeline_init(&p->tl, &p->stacks))
		p->r = err_nomem(&p->e);
	if (!p->r)
		p->r = read_rows(p);
	sqlite3_finalize(p->load.st);
	sqlite3_close_v2(p->store.db);
	return NULL;
}

/* --- putting the parts together ----------------------------------------------------------
 */

/* A part's numbers of states and system calls → the timeline's. */
struct renumber {
	uint8_t state[TL_MAX_STATES + 1];
	VEC(uint16_t) call, arg;
	int same;
};

static int renumber_init(struct renumber *m, struct timeline *tl, const struct off_part *p)
{
	const struct strtab *s = &p->stacks.strings;
	int r = 0;
	m->same = 1;
	for (unsigned i = 0; !r && i < p->tl.nstates; i++) {
		r = timeline_state(tl, strtab_get(s, p->tl.states[i]), &m->state[i]);
		m->same &= m->state[i] == i;
	}
	for (size_t i = 0; !r && i < p->tl.syscalls.n; i++) {
		uint16_t x = 0;
		r = timeline_syscall(tl, strtab_get(s, p->tl.syscalls.v[i]), &x);
		r = r || vec_push(&m->call, x) ? ERR_NOMEM : 0;
		m->same &= x == i;
	}
	for (size_t i = 0; !r && i < p->tl.args.n; i++) {
		uint16_t x = 0;
		r = i ? timeline_arg(tl, p->tl.args.v[i], &x) : 0;
		r = r || vec_push(&m->arg, x) ? ERR_NOMEM : 0;
		m->same &= x == i;
	}
	return r;
}

/* Put a part's intervals right behind those before it. */
static int join_part(struct timeline *tl, const struct off_part *p)
{
	struct renumber m = {.same = 0};
	struct off *to = tl->off.v + tl->off.n;
	int r = renumber_init(&m, tl, p);
	if (to != p->v && p->n)
		memmove(to, p->v, p->n * sizeof(*to));
	for (size_t i = 0; !r && !m.same && i < p->n; i++) {
		to[i].state = m.state[to[i].state];
		to[i].syscall = m.call.v[to[i].syscall];
		to[i].arg = to[i].arg < m.arg.n ? m.arg.v[to[i].arg] : 0;
	}
	tl->off.n += p->n;
	vec_release(&m.call);
	vec_release(&m.arg);
	return r;
}

static void start_part(struct off_part *p, const struct load *l, struct off *v, int alone)
{
	p->v = v;
	p->store = *l->s;
	p->store.db = NULL;
	p->load = *l;
	p->load.s = &p->store;
	p->load.st = NULL;
	p->load.tl = &p->tl;
	p->load.stacks = &p->stacks;
	p->load.e = &p->e;
	p->started = !alone && !pthread_create(&p->thread, NULL, read_part, p);
	if (!p->started)
		read_part(p);
}

/* `rows` row ids from..to in n parts. */
static int read_parts(struct load *l, unsigned n, int64_t from, int64_t to, size_t rows)
{
	struct off_part parts[MAX_PARTS] = {0};
	struct timeline *tl = l->tl;
	uint64_t step = ((uint64_t)to - (uint64_t)from) / n + 1;
	int r = bigvec_reserve(&tl->off, rows, l->e);
	if (r)
		return r;
	for (unsigned i = 0; i < n; i++) {
		struct off_part *p = &parts[i];
		p->from = from + (int64_t)(i * step);
		p->to = i + 1 < n ? p->from + (int64_t)step - 1 : to;
		p->room = n == 1 ? rows : (size_t)(p->to - p->from) + 1;
		start_part(p, l, tl->off.v + i * step, n == 1);
	}
	for (unsigned i = 0; i < n; i++)
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
	for (unsigned i = 0; i < n; i++) {
		if (!r && parts[i].r && l->e)
			*l->e = parts[i].e;
		r = r ? r : parts[i].r;
		if (!r && join_part(tl, &parts[i]))
			r = err_nomem(l->e);
		timeline_release(&parts[i].tl);
		stacks_release(&parts[i].stacks);
	}
	return r;
}

/* The row ids of the recording: the index by thread has them. */
static int range_of(struct load *l, int64_t *from, int64_t *to)
{
	static const char of[] = "SELECT min(id),max(id) FROM offcpu WHERE thread_id IN "
				 "(SELECT id FROM threads WHERE recording_id = ?1)";
	int r = 0;
	if (l->s->recordings.n == 1) {
		r = store_query_int(l->s, "SELECT min(id) FROM offcpu", from, l->e);
		return r ? r : store_query_int(l->s, "SELECT max(id) FROM offcpu", to, l->e);
	}
	r = rows_select(l, "offcpu", of);
	if (!r)
		r = rows_next(l);
	*from = r == 1 ? take(l) : 0;
	*to = r == 1 ? take(l) : 0;
	return r == 1 ? rows_next(l) : r;
}

/* ids of a store that was tampered with may be anything, and far apart; SQLite's count(*) is
 * one step that nothing bounds */
static int count_rows(struct load *l, int64_t *rows)
{
	return store_query_int(l->s, "SELECT sum(1) FROM offcpu", rows, l->e);
}

int storeoff_read(struct load *l)
{
	int64_t from, to, rows;
	struct stat st;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = range_of(l, &from, &to);
	if (r)
		return r;
	uint64_t ids = (uint64_t)to - (uint64_t)from + 1, n = ids / ROWS_PER_PART;
	if (stat(l->s->path, &st))
		return err_sys(l->e, "%s: cannot read", l->s->path);
	if (from < 0 || !ids || ids > (uint64_t)st.st_size / ROW_BYTES) {
		r = count_rows(l, &rows);
		return r ? r : read_parts(l, 1, from, to, (size_t)rows);
	}
	n = n > MAX_PARTS ? MAX_PARTS : n;
	n = cpus > 0 && n > (uint64_t)cpus ? (uint64_t)cpus : n;
	return read_parts(l, n ? (unsigned)n : 1, from, to, (size_t)ids);
}
