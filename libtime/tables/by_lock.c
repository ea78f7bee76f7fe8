/*
 * by_lock.c - locks: which threads wait for them, how long, and which hold them meanwhile.
 *
 * A lock is identified by its process and the futex, or the address that a probe read; if
 * neither is known, by the place that waits for it.
 *
 *	front-0   ▒▒▒▒▒▒▒▒▒▒▒▒▒▒┐            two waits,
 *	front-1        ▒▒▒▒▒▒▒▒▒│▒▒▒▒┐       two holds that they waited for:
 *	snapshot  ██████████████┘    │       one of snapshot,
 *	front-0                 █████┘       one of front-0
 */
#include "libtime/explain/lock_holders.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/tables/collect.h"

#include <stdlib.h>

/* A thread held the lock of a row while another waited for it. */
struct hold {
	uint64_t from_ns, to_ns;
	uint32_t row, thread;
};

struct locks {
	struct collect *c;
	struct evidence ev;
	windows_vec held;
	VEC(struct hold) holds;
};

/* --- waits ---------------------------------------------------------------------------- */

/* The key of a wait's lock, and its address, or 0 if only the place is known. */
static int lock_of(struct locks *x, uint32_t offcpu, uint64_t *address, uint64_t *key)
{
	const struct timeline *tl = x->c->tl;
	const struct offcpu *o = &tl->offcpu.v[offcpu];
	struct lock_mark m;
	*address = o->arg_kind == ARG_FUTEX ? offcpu_arg(tl, o) : 0;
	if (!*address) {
		int r = evidence_lock_mark(&x->ev, offcpu, &m, x->c->e);
		if (r < 0)
			return r;
		*address = r ? m.address : 0;
	}
	const struct tl_part *part = timeline_part_of(tl, o->thread);
	uint64_t pid = (uint32_t)tl->threads.v[o->thread].pid | (part ? part->id : 0) << 32;
	*key = *address ? hash_u64(hash_u64(*address) ^ pid) : o->site;
	return 0;
}

static int add_hold(struct locks *x, uint32_t row, const struct window *w, uint64_t from,
		    uint64_t to)
{
	struct hold h = {.from_ns = w->from_ns > from ? w->from_ns : from,
			 .to_ns = w->to_ns < to ? w->to_ns : to,
			 .row = row,
			 .thread = w->thread};
	return h.from_ns < h.to_ns ? vec_push(&x->holds, h) : 0;
}

/* The holders that the probe found, else the thread that ended the wait. */
static int find_holders(struct locks *x, uint32_t offcpu, const struct wait *w, uint32_t row)
{
	const struct timeline *tl = x->c->tl;
	uint64_t from = w->start, to = w->start + w->blocked;
	const struct offcpu *o = &tl->offcpu.v[lock_retried(tl, offcpu)];
	struct window all = {from, to, o->waker};
	int r = lock_holders(&x->ev, offcpu, &x->held, x->c->e);
	for (size_t i = 0; i < x->held.n && !r; i++)
		r = add_hold(x, row, &x->held.v[i], from, to);
	return r || x->held.n || o->waker == TL_NONE ? r : add_hold(x, row, &all, from, to);
}

static int add_wait(struct locks *x, uint32_t offcpu, const struct wait *w)
{
	struct rows *rows = x->c->rows;
	const struct offcpu *o = w->offcpu;
	uint64_t address, key, max;
	uint32_t row;
	int r = lock_of(x, offcpu, &address, &key);
	if (r)
		return r;
	if (collect_row(x->c, w->start, key, &row))
		return ERR_NOMEM;
	max = rows_get(rows, row, COL_MAX);
	if (max == CELL_NONE || w->blocked > max) {
		rows_set(rows, row, COL_SITE, o->site);
		rows_set(rows, row, COL_PROCESS, timeline_site(x->c->tl, o->site)->program);
		rows_set(rows, row, COL_ADDRESS, address ? address : CELL_NONE);
		rows_set(rows, row, COL_LOCK,
			 o->arg_kind == ARG_FUTEX ? x->c->tl->args.v[o->arg].variable : 0);
	}
	rows_add(rows, row, COL_WAITS, 1);
	rows_add(rows, row, COL_TOTAL, w->blocked);
	if (rows_length(rows, row, w->blocked, w->open) ||
	    rows_distinct(rows, row, COL_WAITERS, o->thread))
		return ERR_NOMEM;
	return find_holders(x, offcpu, w, row);
}

static int add_offcpu(struct collect *c, const struct population *of, const struct offcpu *o,
		      void *locks)
{
	struct wait w;
	if (!offcpu_is_lock(o) || !population_wait(of, c->tl, o, &w))
		return 0;
	wait_split_off(&w);
	return w.blocked ? add_wait(locks, (uint32_t)(o - c->tl->offcpu.v), &w) : 0;
}

/* --- holds ---------------------------------------------------------------------------- */

static int hold_order(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* Count the holds of one thread and row from v[i] on; those that overlap are one, seen by
 * several waiters. Returns the index of the next thread's. */
static size_t count_holds(struct rows *rows, const struct hold *v, size_t i, size_t n)
{
	size_t first = i;
	uint64_t end = 0, waited = 0;
	for (; i < n && v[i].row == v[first].row && v[i].thread == v[first].thread; i++) {
		rows_add(rows, v[i].row, COL_HOLDS, v[i].from_ns >= end);
		waited += v[i].to_ns - v[i].from_ns;
		end = v[i].to_ns > end ? v[i].to_ns : end;
	}
	uint64_t most = rows_get(rows, v[first].row, COL_HOLDER_TIME);
	if (most == CELL_NONE || waited > most) {
		rows_set(rows, v[first].row, COL_HOLDER_TIME, waited);
		rows_set(rows, v[first].row, COL_HOLDER, v[first].thread);
	}
	return i;
}

int collect_locks(struct collect *c)
{
	struct locks x = {.c = c};
	int r = evidence_init(&x.ev, c->tl, c->e);
	r = r ? r : collect_waits(c, &c->q->of, add_offcpu, &x);
	if (!r && x.holds.n)
		qsort(x.holds.v, x.holds.n, sizeof(*x.holds.v), hold_order);
	for (size_t i = 0; i < x.holds.n && !r;)
		i = count_holds(c->rows, x.holds.v, i, x.holds.n);
	evidence_release(&x.ev);
	vec_release(&x.held);
	vec_release(&x.holds);
	return r;
}
