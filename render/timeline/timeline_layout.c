#include "render/timeline/timeline_layout.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"
#include "libtime/sched/timeline_query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- segments ------------------------------------------------------------------------- */

void tl_segs_init(struct tl_segs *s, const struct timeline *tl, uint32_t thread, uint64_t from,
		  uint64_t to)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	s->tl = tl;
	s->at = t->first_ns > from ? t->first_ns : from;
	s->to = t->last_ns < to ? t->last_ns : to;
	s->offcpu = timeline_offcpu_after(tl, thread, s->at);
	s->end = t->offcpu_first + t->offcpu_n;
	s->no_unclear = 0;
}

static uint8_t off_paint(const struct offcpu *o, int blocked, int no_unclear)
{
	unsigned cause = o->cause < CAUSE_COUNT ? o->cause : CAUSE_UNKNOWN;
	if (o->unknown)
		return TLP_UNKNOWN;
	if (!blocked)
		return o->flags & OFF_RUNNING ? TLP_PREEMPTED : TLP_RUNNABLE;
	if (o->flags & OFF_IDLE)
		return TLP_IDLE;
	if (o->flags & OFF_UNCLEAR)
		return no_unclear ? TLP_LEFT_OUT : (uint8_t)(TLP_UNCLEAR + cause);
	return (uint8_t)(TLP_BLOCKED + cause);
}

int tl_segs_next(struct tl_segs *s, struct tl_seg *out)
{
	if (s->at >= s->to)
		return 0;
	const struct offcpu *o = s->offcpu < s->end ? &s->tl->offcpu.v[s->offcpu] : NULL;
	uint64_t end;
	*out = (struct tl_seg){s->at, s->to, TL_NONE, TLP_RUN};
	if (!o || o->start_ns > s->at) { /* running until its switch-out */
		end = o ? o->start_ns : s->to;
	} else {
		uint64_t woken = o->start_ns + o->blocked_ns;
		int blocked = !o->unknown && s->at < woken;
		out->offcpu = s->offcpu;
		out->paint = off_paint(o, blocked, s->no_unclear);
		end = blocked ? woken : o->end_ns;
		s->offcpu += end >= o->end_ns;
	}
	out->end_ns = end < s->to ? end : s->to;
	s->at = out->end_ns;
	return 1;
}

void tl_clip_off(struct offcpu *o, uint64_t from, uint64_t to)
{
	uint64_t woken = o->start_ns + o->blocked_ns;
	if (o->start_ns >= from && o->end_ns <= to)
		return;
	o->start_ns = o->start_ns > from ? o->start_ns : from;
	o->end_ns = o->end_ns < to ? o->end_ns : to;
	woken = woken < o->end_ns ? woken : o->end_ns;
	o->blocked_ns = woken > o->start_ns ? woken - o->start_ns : 0;
	o->flags |= OFF_OPEN;
}

void tl_paint_sums(const struct timeline *tl, uint32_t thread, uint64_t from, uint64_t to,
		   uint64_t ns[TLP_COUNT])
{
	struct tl_segs s;
	struct tl_seg seg;
	memset(ns, 0, TLP_COUNT * sizeof(*ns));
	tl_segs_init(&s, tl, thread, from, to);
	while (tl_segs_next(&s, &seg))
		ns[seg.paint] += seg.end_ns - seg.start_ns;
}

/* --- rows ----------------------------------------------------------------------------- */

struct candidate {
	uint64_t weight, group_weight; /* ns */
	uint64_t begin, group_begin;   /* first activity */
	uint64_t run;
	uint32_t thread, group; /* group: its first thread among all */
};

/* The start of the thread's first activity in the window. */
static uint64_t first_activity(const struct timeline *tl, uint32_t thread, uint64_t from,
			       uint64_t to)
{
	struct tl_segs s;
	struct tl_seg seg;
	tl_segs_init(&s, tl, thread, from, to);
	while (tl_segs_next(&s, &seg))
		if (seg.paint <= TLP_PREEMPTED)
			return seg.start_ns;
	return to;
}

static int heavier_first(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int by_group_weight(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	if (a->group_weight != b->group_weight)
		return a->group_weight > b->group_weight ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return heavier_first(pa, pb);
}

static int by_group_time(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	if (a->group_begin != b->group_begin)
		return a->group_begin < b->group_begin ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

typedef VEC(struct candidate) candidates;

/* All threads that may be shown and did something. */
static int find_candidates(const struct timeline *tl, const struct tl_pick_options *o,
			   struct tl_pick *p, candidates *v)
{
	uint64_t ns[TLP_COUNT];
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *t = &tl->threads.v[i];
		if ((o->allowed && !o->allowed[i]) || (t->flags & THREAD_IDLE_TASK))
			continue;
		tl_paint_sums(tl, i, o->from_ns, o->to_ns, ns);
		if ((t->flags & THREAD_SYSTEM) && !o->show_system) {
			p->system++;
			p->system_ns += ns[TLP_RUN];
			continue;
		}
		struct candidate c = {.run = ns[TLP_RUN], .thread = i, .group = i};
		c.weight = ns[TLP_RUN] + ns[TLP_RUNNABLE] + ns[TLP_PREEMPTED];
		if (!c.weight) {
			p->quiet++;
			continue;
		}
		c.begin = first_activity(tl, i, o->from_ns, o->to_ns);
		if (vec_push(v, c))
			return ERR_NOMEM;
	}
	return 0;
}

size_t tl_pool_name(const char *comm)
{
	size_t n = strlen(comm), base = n;
	while (base && comm[base - 1] >= '0' && comm[base - 1] <= '9')
		base--;
	return base == n ? 0 : base;
}

int tl_in_pool(const struct timeline *tl, const struct tl_row *r, const char *comm, size_t base)
{
	if (r->kind != TLROW_THREAD)
		return 0;
	const char *own = strtab_get(&tl->stacks->strings, tl->threads.v[r->id].comm);
	return tl_pool_name(own) == base && !memcmp(own, comm, base);
}

/* Threads with the same key are one group: those of a pool, else of a process. */
static uint64_t group_key(const struct timeline *tl, const struct tl_pick_options *o,
			  uint32_t thread)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	const char *comm = strtab_get(&tl->stacks->strings, t->comm);
	size_t base = o->merge ? tl_pool_name(comm) : 0;
	if (base)
		return hash_bytes(comm, base, 0) | 1ull << 63;
	return t->pid >= 0 ? (uint64_t)t->pid : (1ull << 32) + thread;
}

/* Give all candidates of a process or pool the same group, with its weight and start. */
static int make_groups(const struct timeline *tl, const struct tl_pick_options *o,
		       candidates *v)
{
	struct u64map at = {0};
	VEC(struct candidate) groups = {0};
	int rc = 0;
	for (size_t i = 0; i < v->n && !rc; i++) {
		struct candidate *c = &v->v[i];
		uint64_t key = group_key(tl, o, c->thread);
		uint32_t g;
		if (!u64map_get(&at, key, &g)) {
			struct candidate empty = {.begin = c->begin};
			g = (uint32_t)groups.n;
			rc = vec_push(&groups, empty) || u64map_put(&at, key, g) ? ERR_NOMEM
										 : 0;
		}
		if (rc)
			break;
		c->group = g;
		groups.v[g].weight += c->weight;
		if (c->begin < groups.v[g].begin)
			groups.v[g].begin = c->begin;
	}
	for (size_t i = 0; i < v->n && !rc; i++) {
		v->v[i].group_weight = groups.v[v->v[i].group].weight;
		v->v[i].group_begin = groups.v[v->v[i].group].begin;
	}
	vec_release(&groups);
	u64map_release(&at);
	return rc;
}

static int push_row(struct tl_pick *p, uint32_t id, enum tl_row_kind kind)
{
	struct tl_row r = {id, (uint8_t)kind};
	return vec_push(&p->rows, r);
}

/* By pid: the main thread, which has the process's name. */
static int find_leaders(const struct timeline *tl, struct u64map *leaders)
{
	int rc = 0;
	for (uint32_t i = 0; i < tl->threads.n && !rc; i++)
		if (tl->threads.v[i].pid >= 0 && tl->threads.v[i].pid == tl->threads.v[i].tid)
			rc = u64map_put(leaders, (uint64_t)tl->threads.v[i].pid, i);
	return rc;
}

static int push_threads(const struct timeline *tl, const struct tl_pick_options *o,
			struct tl_pick *p, const candidates *v)
{
	struct u64map leaders = {0};
	int rc = find_leaders(tl, &leaders);
	for (size_t i = 0; i < v->n && !rc; i++) {
		uint32_t group = v->v[i].group, leader = v->v[i].thread;
		int first = !i || v->v[i - 1].group != group;
		if (first && i + 1 < v->n && v->v[i + 1].group == group) {
			int pool = group_key(tl, o, leader) >> 63 != 0;
			if (!pool)
				u64map_get(&leaders, (uint64_t)tl->threads.v[leader].pid,
					   &leader);
			rc = push_row(p, leader, pool ? TLROW_POOL : TLROW_GROUP);
		}
		rc = rc ? rc : push_row(p, v->v[i].thread, TLROW_THREAD);
	}
	p->threads = v->n;
	u64map_release(&leaders);
	return rc;
}

static int pick_threads(const struct timeline *tl, const struct tl_pick_options *o,
			struct tl_pick *p)
{
	candidates v = {0};
	int rc = find_candidates(tl, o, p, &v);
	if (!rc && v.n)
		qsort(v.v, v.n, sizeof(*v.v), heavier_first);
	while (!rc && o->top && v.n > o->top) {
		p->left++;
		p->left_ns += v.v[--v.n].run;
	}
	rc = rc ? rc : make_groups(tl, o, &v);
	if (!rc && v.n)
		qsort(v.v, v.n, sizeof(*v.v), o->by_time ? by_group_time : by_group_weight);
	rc = rc ? rc : push_threads(tl, o, p, &v);
	vec_release(&v);
	return rc;
}

int tl_pick(const struct timeline *tl, const struct tl_pick_options *o, struct tl_pick *out,
	    struct err *e)
{
	int rc = 0;
	*out = (struct tl_pick){0};
	for (uint32_t c = 0; c < tl->rec.ncpus && c < TL_NOCPU && !o->no_cpus && !rc; c++)
		if (!o->cpus || o->cpus[c])
			rc = push_row(out, c, TLROW_CPU);
	if (!rc && !o->no_threads)
		rc = pick_threads(tl, o, out);
	if (rc)
		tl_pick_release(out);
	return rc ? err_nomem(e) : 0;
}

void tl_pick_release(struct tl_pick *p)
{
	vec_release(&p->rows);
	*p = (struct tl_pick){0};
}

/* --- cells ---------------------------------------------------------------------------- */

#define MIN_PX 0.5 /* least width that is drawn */

/* Turns a row's pieces, from left to right, into cells. */
struct folder {
	tl_cells *out;
	double start, end;       /* of the pieces in `share`; start < 0: none */
	long column;             /* they are in [column, column + 1) */
	double share[TLP_COUNT]; /* px */
	uint32_t row, ref, pieces;
	int gap; /* a part of it is empty */
	int failed;
};

static void emit(struct folder *f, double x, double w, uint8_t paint, double low, double high,
		 uint32_t ref, int mixed)
{
	if (w < MIN_PX) {
		x -= (MIN_PX - w) / 2;
		w = MIN_PX;
	}
	struct tl_cell c = {x, w, (float)low, (float)high, f->row, ref, paint, (uint8_t)mixed};
	if (vec_push(f->out, c))
		f->failed = 1;
}

static void end_column(struct folder *f)
{
	double low = 0;
	int kinds = 0;
	if (f->start < 0)
		return;
	for (int i = 0; i < TLP_COUNT; i++)
		kinds += f->share[i] > 0;
	double span = f->end - f->start;
	int mixed = kinds > 1 || f->gap;
	for (int i = 0; i < TLP_COUNT; i++) {
		double part = f->share[i] / span;
		if (f->share[i] > 0 && (!tl_paint_is_line(i) || !mixed))
			emit(f, f->start, span, (uint8_t)i, mixed ? low : 0,
			     mixed ? fmin(low + part, 1) : 1, f->pieces == 1 ? f->ref : TL_NONE,
			     mixed);
		low += part;
	}
	memset(f->share, 0, sizeof(f->share));
	f->start = -1;
	f->pieces = 0;
	f->gap = 0;
}

/* One piece [x0, x1); paint TLP_COUNT is a gap. */
static void add_piece(struct folder *f, double x0, double x1, unsigned paint, uint32_t ref)
{
	if (x1 - x0 >= TL_WIDE) {
		end_column(f);
		if (paint < TLP_COUNT)
			emit(f, x0, x1 - x0, (uint8_t)paint, 0, 1, ref, 0);
		return;
	}
	for (double x = x0; x < x1;) {
		long column = (long)x;
		double end = fmin(x1, (double)(column + 1));
		if (f->start < 0 || column != f->column) {
			end_column(f);
			f->start = x;
			f->column = column;
		}
		if (paint < TLP_COUNT)
			f->share[paint] += end - x;
		else
			f->gap = 1;
		f->ref = ref;
		f->pieces++;
		f->end = end;
		x = end;
	}
}

static double to_px(const struct tl_window *w, uint64_t ns)
{
	return (double)(ns - w->from_ns) * w->width / (double)(w->to_ns - w->from_ns);
}

int tl_thread_cells(const struct timeline *tl, uint32_t thread, const struct tl_window *w,
		    uint32_t row, tl_cells *out)
{
	struct folder f = {.out = out, .start = -1, .row = row};
	struct tl_segs s;
	struct tl_seg seg;
	tl_segs_init(&s, tl, thread, w->from_ns, w->to_ns);
	s.no_unclear = w->no_unclear;
	while (tl_segs_next(&s, &seg))
		add_piece(&f, to_px(w, seg.start_ns), to_px(w, seg.end_ns), seg.paint,
			  seg.offcpu);
	end_column(&f);
	return f.failed ? ERR_NOMEM : 0;
}

int tl_cpu_cells(const struct tl_runs *runs, uint32_t cpu, const uint8_t *color,
		 const struct tl_window *w, uint32_t row, tl_cells *out)
{
	struct folder f = {.out = out, .start = -1, .row = row};
	uint64_t at = w->from_ns;
	if ((size_t)cpu + 1 >= runs->first.n)
		return 0;
	for (uint32_t i = runs->first.v[cpu]; i < runs->first.v[cpu + 1]; i++) {
		const struct tl_run *r = &runs->v.v[i];
		uint64_t start = r->start_ns > at ? r->start_ns : at;
		uint64_t end = r->end_ns < w->to_ns ? r->end_ns : w->to_ns;
		if (start >= end)
			continue;
		if (start > at)
			add_piece(&f, to_px(w, at), to_px(w, start), TLP_COUNT, TL_NONE);
		add_piece(&f, to_px(w, start), to_px(w, end), TLP_CPU + color[r->thread], i);
		at = end;
	}
	if (at < w->to_ns)
		add_piece(&f, to_px(w, at), w->width, TLP_COUNT, TL_NONE);
	end_column(&f);
	return f.failed ? ERR_NOMEM : 0;
}

/* --- colours of CPU rows --------------------------------------------------------------- */

struct named_time {
	uint64_t ns;
	uint32_t comm;
};

static int longer_first(const void *pa, const void *pb, void *strings)
{
	const struct named_time *a = pa, *b = pb;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return strcmp(strtab_get(strings, a->comm), strtab_get(strings, b->comm));
}

typedef VEC(struct named_time) named_times;

static int sum_names(const struct timeline *tl, named_times *v)
{
	struct u64map at = {0};
	uint64_t ns[TLP_COUNT];
	int rc = 0;
	for (uint32_t i = 0; i < tl->threads.n && !rc; i++) {
		struct named_time t = {0, tl->threads.v[i].comm};
		uint32_t k;
		if (!u64map_get(&at, t.comm, &k)) {
			k = (uint32_t)v->n;
			rc = vec_push(v, t) || u64map_put(&at, t.comm, k) ? ERR_NOMEM : 0;
		}
		if (rc)
			break;
		tl_paint_sums(tl, i, 0, UINT64_MAX, ns);
		v->v[k].ns += ns[TLP_RUN];
	}
	u64map_release(&at);
	return rc;
}

int tl_cpu_colors(const struct timeline *tl, uint8_t **out)
{
	named_times v = {0};
	uint8_t *color = mem_zalloc(tl->threads.n + 1, 1);
	int rc = color ? sum_names(tl, &v) : ERR_NOMEM;
	if (!rc && v.n)
		qsort_r(v.v, v.n, sizeof(*v.v), longer_first, (void *)&tl->stacks->strings);
	for (size_t i = 0; i < tl->threads.n && !rc; i++) {
		uint8_t k = 0;
		while (k < TLP_CPU_COLORS - 1 &&
		       (k >= v.n || v.v[k].comm != tl->threads.v[i].comm))
			k++;
		color[i] = k;
	}
	vec_release(&v);
	if (rc)
		mem_free(color);
	*out = rc ? NULL : color;
	return rc;
}

size_t tl_sample_after(const struct timeline *tl, uint64_t t)
{
	return PARTITION_POINT(i, 0, tl->samples.n, tl->samples.v[i].time_ns < t);
}

/* --- arrows and axis -------------------------------------------------------------------- */

static int longest_wait_first(const void *pa, const void *pb)
{
	const struct tl_arrow *a = pa, *b = pb;
	if (a->waited_ns != b->waited_ns)
		return a->waited_ns > b->waited_ns ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

/* The wakeups of one row's thread. row_of: by thread, row + 1. */
static int row_arrows(const struct timeline *tl, const uint32_t *row_of, uint32_t row,
		      uint32_t thread, uint64_t from, uint64_t to, tl_arrows *out)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	int rc = 0;
	for (uint32_t i = timeline_offcpu_after(tl, thread, from);
	     i < t->offcpu_first + t->offcpu_n && !rc; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		uint64_t woken = o->start_ns + o->blocked_ns;
		if (o->start_ns >= to)
			break;
		if (o->waker == TL_NONE || o->unknown || woken < from || woken >= to ||
		    !row_of[o->waker] || row_of[o->waker] == row + 1)
			continue;
		struct tl_arrow a = {woken, o->blocked_ns, row_of[o->waker] - 1, row};
		rc = vec_push(out, a);
	}
	return rc;
}

/* Keep the first arrow of two rows in each TL_ARROW_ROOM pixels. */
static int thin_out(tl_arrows *v, const struct tl_window *w, size_t max)
{
	struct u64map taken = {0};
	uint32_t any;
	size_t kept = 0;
	int rc = 0;
	for (size_t i = 0; i < v->n && kept < max && !rc; i++) {
		const struct tl_arrow a = v->v[i];
		uint64_t place = (uint64_t)(to_px(w, a.time_ns) / TL_ARROW_ROOM);
		uint64_t key =
			place << 48 | (uint64_t)(a.from & 0xffffff) << 24 | (a.to & 0xffffff);
		if (u64map_get(&taken, key, &any))
			continue;
		rc = u64map_put(&taken, key, 1);
		v->v[kept++] = a;
	}
	v->n = kept;
	u64map_release(&taken);
	return rc;
}

int tl_find_arrows(const struct timeline *tl, const struct tl_row *rows, size_t nrows,
		   const struct tl_window *w, size_t max, tl_arrows *out, size_t *total)
{
	uint32_t *row_of = mem_zalloc(tl->threads.n + 1, sizeof(*row_of));
	int rc = row_of ? 0 : ERR_NOMEM;
	for (size_t i = 0; i < nrows && !rc; i++)
		if (rows[i].kind == TLROW_THREAD)
			row_of[rows[i].id] = (uint32_t)i + 1;
	for (size_t i = 0; i < nrows && !rc; i++)
		if (rows[i].kind == TLROW_THREAD)
			rc = row_arrows(tl, row_of, (uint32_t)i, rows[i].id, w->from_ns,
					w->to_ns, out);
	mem_free(row_of);
	*total = out->n;
	if (!rc && out->n)
		qsort(out->v, out->n, sizeof(*out->v), longest_wait_first);
	return rc ? rc : thin_out(out, w, max);
}

uint64_t tl_axis_step(const struct tl_window *w, double room)
{
	static const uint64_t steps[] = {1, 2, 5};
	double least = (double)(w->to_ns - w->from_ns) * room / w->width;
	uint64_t power = 1;
	for (;; power *= 10)
		for (int i = 0; i < 3; i++)
			if ((double)(steps[i] * power) >= least ||
			    power >= 1000000000000000000ull)
				return steps[i] * power;
}
