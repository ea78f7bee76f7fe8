#include "libtime/explain/evidence.h"
#include "base/gallop.h"
#include "base/hash.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_functions(struct evidence *x, struct err *e)
{
	const struct stacks *s = x->tl->stacks;
	struct u64map first = {0};
	int r = vec_reserve(&x->functions, s->frames.n);
	for (uint32_t i = 0; !r && i < s->frames.n; i++) {
		const struct frame *f = &s->frames.v[i];
		uint64_t key = (uint64_t)f->name << 32 | f->dso;
		uint32_t id = i;
		if (f->name && !u64map_get(&first, key, &id))
			r = u64map_put(&first, key, i);
		x->functions.v[x->functions.n++] = id;
	}
	u64map_release(&first);
	return r ? err_nomem(e) : 0;
}

int evidence_init(struct evidence *x, const struct timeline *tl, struct err *e)
{
	*x = (struct evidence){.tl = tl};
	int r = mechanisms_new(tl, &x->mechanisms, e);
	return r ? r : find_functions(x, e);
}

uint32_t evidence_function(const struct evidence *x, uint32_t frame)
{
	return frame < x->functions.n ? x->functions.v[frame] : frame;
}

void evidence_release(struct evidence *x)
{
	mechanisms_free(x->mechanisms);
	tl_runs_release(&x->runs);
	vec_release(&x->last_run);
	by_thread_release(&x->samples);
	by_thread_release(&x->spans);
	by_thread_release(&x->marks);
	by_thread_release(&x->interrupts);
	vec_release(&x->releases);
	vec_release(&x->lock_kinds);
	u64map_release(&x->lock_kind_of);
	vec_release(&x->lock_marks);
	vec_release(&x->requests);
	u64map_release(&x->by_tid);
	vec_release(&x->same_tid);
	vec_release(&x->functions);
	u64map_release(&x->tally);
	vec_release(&x->weight);
}

/* --- who had a CPU -------------------------------------------------------------------- */

static int need_runs(struct evidence *x, struct err *e)
{
	if (x->have_runs)
		return 0;
	int r = timeline_runs(x->tl, &x->runs, e);
	if (!r && vec_reserve(&x->last_run, x->runs.first.n))
		r = err_nomem(e);
	for (size_t i = 0; !r && i < x->runs.first.n; i++)
		x->last_run.v[x->last_run.n++] = 0;
	x->have_runs = !r;
	if (r)
		tl_runs_release(&x->runs);
	return r;
}

/* The first run of a CPU that may reach past `from`. Runs overlap only where switches were
 * lost, so a few steps back are enough. */
static size_t first_run(struct evidence *x, uint16_t cpu, uint64_t from, size_t *end)
{
	enum { BACK = 5 };
	const struct tl_runs *r = &x->runs;
	if ((size_t)cpu + 1 >= r->first.n)
		return *end = 0;
	size_t begin = r->first.v[cpu];
	*end = r->first.v[cpu + 1];
	/* most questions are about a time shortly after the last one */
	size_t lo =
		gallop_after(BY_KEY(r->v.v, start_ns), begin, *end, x->last_run.v[cpu], from);
	size_t first = x->last_run.v[cpu] = lo;
	for (size_t i = 0; i < BACK && lo > begin; i++)
		if (r->v.v[--lo].end_ns > from)
			first = lo;
	return first;
}

int evidence_holders(struct evidence *x, uint16_t cpu, uint64_t from_ns, uint64_t to_ns,
		     uint32_t thread, windows_vec *out, struct err *e)
{
	size_t end, i;
	uint64_t at = from_ns;
	int r = cpu == TL_NOCPU ? 0 : need_runs(x, e);
	if (r || cpu == TL_NOCPU)
		return r;
	for (i = first_run(x, cpu, from_ns, &end); i < end; i++) {
		const struct tl_run *run = &x->runs.v.v[i];
		struct window w = {run->start_ns, run->end_ns, run->thread};
		if (w.from_ns >= to_ns)
			break;
		if (w.from_ns < at)
			w.from_ns = at;
		if (w.to_ns > to_ns)
			w.to_ns = to_ns;
		if (w.to_ns <= w.from_ns || run->thread == thread)
			continue;
		at = w.to_ns;
		if (vec_push(out, w))
			return err_nomem(e);
	}
	return 0;
}

int evidence_prio(struct evidence *x, uint16_t cpu, uint32_t thread, uint64_t at_ns)
{
	size_t end, i;
	if (cpu == TL_NOCPU || need_runs(x, NULL))
		return -1;
	for (i = first_run(x, cpu, at_ns, &end); i < end; i++) {
		const struct tl_run *run = &x->runs.v.v[i];
		if (run->start_ns > at_ns)
			break;
		if (run->thread == thread && run->end_ns > at_ns)
			return run->prio;
	}
	return -1;
}

int evidence_knows_cpu(struct evidence *x, uint16_t cpu, uint64_t at_ns)
{
	if (cpu == TL_NOCPU || need_runs(x, NULL) || (size_t)cpu + 1 >= x->runs.first.n)
		return 0;
	uint32_t first = x->runs.first.v[cpu];
	return first < x->runs.first.v[cpu + 1] && x->runs.v.v[first].start_ns < at_ns;
}

/* "state=1 cpu_id=3"; leaving the state it is (unsigned)-1 (drivers/cpuidle/cpuidle.c). */
int evidence_idle_state(const struct evidence *x, uint16_t cpu, uint64_t at_ns)
{
	enum { BACK = 100000, NAMED = 100 };
	const struct timeline *tl = x->tl;
	uint32_t name;
	unsigned state;
	if (!strtab_find(&tl->stacks->strings, "power:cpu_idle", &name))
		return -1;
	size_t at = PARTITION_POINT(i, 0, tl->marks.n, tl->marks.v[i].time_ns < at_ns);
	for (size_t n = 0; at-- > 0 && n < BACK; n++) {
		const struct tl_mark *m = &tl->marks.v[at];
		if (m->name != name || m->cpu != cpu)
			continue;
		const char *text = strtab_get(&tl->stacks->strings, m->text);
		return sscanf(text, "state=%u", &state) == 1 && state < NAMED ? (int)state : -1;
	}
	return -1;
}

/* --- samples and marks by thread ------------------------------------------------------ */

static int need_samples(struct evidence *x, struct err *e)
{
	return BY_THREAD_BUILD(&x->samples, x->tl->threads.n, x->tl->samples) ? err_nomem(e)
									      : 0;
}

static int need_marks(struct evidence *x, struct err *e)
{
	return BY_THREAD_BUILD(&x->marks, x->tl->threads.n, x->tl->marks) ? err_nomem(e) : 0;
}

static int need_spans(struct evidence *x, struct err *e)
{
	return BY_THREAD_BUILD(&x->spans, x->tl->threads.n, x->tl->spans) ? err_nomem(e) : 0;
}

/* The first of a thread's elements with time >= from; `times` is the time of element 0, the
 * next one's is `size` bytes on. */
static size_t first_at(const struct by_thread *g, const uint64_t *times, size_t size,
		       uint32_t thread, uint64_t from)
{
	struct by_key k = {times, size, 0};
	return PARTITION_POINT(i, g->first.v[thread], g->first.v[thread + 1],
			       by_key_at_(k, g->id.v[i]) < from);
}

static size_t first_sample(const struct evidence *x, uint32_t thread, uint64_t from)
{
	return first_at(&x->samples, &x->tl->samples.v->time_ns, sizeof(struct tl_sample),
			thread, from);
}

static size_t first_mark(const struct evidence *x, uint32_t thread, uint64_t from)
{
	return first_at(&x->marks, &x->tl->marks.v->time_ns, sizeof(struct tl_mark), thread,
			from);
}

/* For stacks without a frame of the application: the innermost user frame, else the leaf. */
static uint32_t any_frame(const struct stacks *s, uint32_t path)
{
	uint32_t leaf = s->paths.v[path].frame;
	for (; path; path = s->paths.v[path].parent)
		if (s->frames.v[s->paths.v[path].frame].kind != FRAME_KERNEL)
			return s->paths.v[path].frame;
	return leaf;
}

/* One more of a key: *n is how many there are now. */
static int count_key(struct evidence *x, uint64_t key, uint64_t *n)
{
	uint32_t i;
	if (!u64map_get(&x->tally, key, &i)) {
		i = (uint32_t)x->weight.n;
		if (vec_push(&x->weight, 0) || u64map_put(&x->tally, key, i))
			return ERR_NOMEM;
	}
	*n = ++x->weight.v[i];
	return 0;
}

/* Count a sample's function, and what called it. A stack without a frame of the application
 * (frame pointers lose the callers of some library functions) counts only until one has such a
 * frame. */
static int tally(struct evidence *x, uint32_t path, struct hot *best)
{
	uint32_t frame = appframe_reported(x->tl, path);
	uint64_t n, beside;
	int outer = !frame || appframe_is_outer(x->tl, frame);
	if (outer && best->samples && !best->vague)
		return 0;
	if (outer)
		frame = any_frame(x->tl->stacks, path);
	else if (best->vague)
		best->samples = best->vague = 0;
	frame = evidence_function(x, frame);
	uint64_t caller = evidence_function(x, appframe_caller(x->tl, path));
	if (count_key(x, frame, &n) || count_key(x, (caller + 1) << 32 | frame, &beside))
		return ERR_NOMEM;
	if (n > best->samples) { /* of equal ones the first to reach the count */
		int other = best->function != frame || best->vague != outer;
		if (other || beside >= best->beside) {
			best->path = path;
			best->beside = beside;
		}
		best->function = frame;
		best->samples = n;
		best->vague = outer;
	}
	return 0;
}

static int is_named(const struct stacks *s, uint32_t frame, const char *name)
{
	return frame && !strcmp(strtab_get(&s->strings, s->frames.v[frame].name), name);
}

/* If a sample was taken inside an interrupt: the first frame of the interrupt's work, else 0.
 * Softirqs that the thread's own system call ran do not count (perf's own interrupt is in no
 * stack).
 *
 *	work ── asm_sysvec_call_function_single ── handle_softirqs ── net_rx_action ── ...
 *	        └ of interrupts                                       └ returned
 */
static uint32_t interrupt_in(const struct timeline *tl, uint32_t path)
{
	const struct stacks *s = tl->stacks;
	uint32_t does = 0, caller = 0, inner = 0;
	unsigned inside = 0;
	for (; path && s->frames.v[s->paths.v[path].frame].kind == FRAME_KERNEL;
	     path = s->paths.v[path].parent) {
		uint32_t frame = s->paths.v[path].frame;
		unsigned is = timeline_roles(tl, frame) & ROLE_INTERRUPT;
		if (is && !inside) {
			does = inner ? inner : frame;
			caller = 0;
		} else if (!is && inside) {
			caller = frame;
		}
		inside = is;
		inner = frame;
	}
	return is_named(s, caller, "__local_bh_enable_ip") ? 0 : does;
}

int evidence_hot(struct evidence *x, const struct window *w, size_t n, struct hot *out,
		 struct err *e)
{
	*out = (struct hot){0};
	if (!x->tl->samples.n)
		return 0;
	if (need_samples(x, e))
		return ERR_NOMEM;
	u64map_release(&x->tally);
	x->weight.n = 0;
	for (size_t i = 0; i < n; i++) {
		size_t last = x->samples.first.v[w[i].thread + 1];
		int user = !(x->tl->threads.v[w[i].thread].flags & THREAD_KERNEL);
		for (size_t k = first_sample(x, w[i].thread, w[i].from_ns); k < last; k++) {
			const struct tl_sample *s = &x->tl->samples.v[x->samples.id.v[k]];
			if (s->time_ns >= w[i].to_ns)
				break;
			out->of++;
			uint32_t interrupt = user ? interrupt_in(x->tl, s->path) : 0;
			out->interrupted += interrupt != 0;
			out->interrupt = out->interrupt ? out->interrupt : interrupt;
			if (s->path && !interrupt && tally(x, s->path, out))
				return err_nomem(e);
		}
	}
	return 0;
}

static int need_interrupts(struct evidence *x)
{
	return BY_THREAD_BUILD(&x->interrupts, x->tl->threads.n, x->tl->interrupts);
}

/* Add what a vector took; *best is the vector with most so far, *most its time. */
static int tally_vector(struct evidence *x, uint32_t vector, uint64_t ns, uint32_t *best,
			uint64_t *most)
{
	uint32_t i;
	if (!u64map_get(&x->tally, vector, &i)) {
		i = (uint32_t)x->weight.n;
		if (vec_push(&x->weight, 0) || u64map_put(&x->tally, vector, i))
			return ERR_NOMEM;
	}
	x->weight.v[i] += ns;
	if (x->weight.v[i] > *most) {
		*most = x->weight.v[i];
		*best = vector;
	}
	return 0;
}

/* The index after the last interrupt that overlaps a window. Its end may be inside of nested
 * interrupts, of which the outer ones end last. */
static size_t past_window(const struct evidence *x, const struct window *w, size_t last)
{
	enum { INSIDE = 256 };
	size_t all = x->interrupts.first.v[w->thread + 1], end = last;
	for (size_t i = last; i < all && i < last + INSIDE; i++)
		if (x->tl->interrupts.v[x->interrupts.id.v[i]].start_ns < w->to_ns)
			end = i + 1;
	return end;
}

/* Interrupts are sorted by end. Going backwards, one that is inside of one already counted adds
 * nothing.
 *
 *	outer ├───────────┤   counted first
 *	inner    ├───┤        nothing left of it
 */
int evidence_interrupted(struct evidence *x, const struct window *w, size_t n, uint64_t *ns,
			 uint32_t *vector, struct err *e)
{
	uint64_t most = 0;
	*ns = *vector = 0;
	if (!x->tl->interrupts.n)
		return 0;
	if (need_interrupts(x))
		return err_nomem(e);
	u64map_release(&x->tally);
	x->weight.n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct tl_interrupt *v = x->tl->interrupts.v;
		uint64_t low = w[i].to_ns;
		size_t first = first_at(&x->interrupts, &v->end_ns, sizeof(*v), w[i].thread,
					w[i].from_ns);
		size_t last = past_window(x, &w[i],
					  first_at(&x->interrupts, &v->end_ns, sizeof(*v),
						   w[i].thread, w[i].to_ns));
		for (; last > first; last--) {
			const struct tl_interrupt *t = &v[x->interrupts.id.v[last - 1]];
			uint64_t to = t->end_ns < low ? t->end_ns : low;
			uint64_t from = t->start_ns > w[i].from_ns ? t->start_ns : w[i].from_ns;
			if (from >= to)
				continue;
			*ns += to - from;
			low = from;
			if (tally_vector(x, t->vector, to - from, vector, &most))
				return err_nomem(e);
		}
	}
	return 0;
}

/* How many samples of the windows are in a function or in what it called. */
static uint64_t samples_below(const struct evidence *x, const struct window *w, size_t n,
			      uint32_t frame)
{
	const struct stacks *s = x->tl->stacks;
	uint64_t count = 0;
	for (size_t i = 0; i < n; i++) {
		size_t last = x->samples.first.v[w[i].thread + 1];
		for (size_t k = first_sample(x, w[i].thread, w[i].from_ns); k < last; k++) {
			const struct tl_sample *t = &x->tl->samples.v[x->samples.id.v[k]];
			uint32_t p = t->path;
			if (t->time_ns >= w[i].to_ns)
				break;
			while (p && evidence_function(x, s->paths.v[p].frame) != frame)
				p = s->paths.v[p].parent;
			count += p != 0;
		}
	}
	return count;
}

void evidence_caller(const struct evidence *x, const struct window *w, size_t n,
		     struct hot *out)
{
	enum {
		CALLERS = 4,
		FRAMES = 64,
		MANY = 10000
	}; /* callers further up would be the whole program */
	uint64_t own = out->of - out->interrupted;
	const struct stacks *s = x->tl->stacks;
	int callers = 0;
	uint32_t p;
	if (!out->path || out->vague || out->samples * 4 >= own * 3 || out->of > MANY)
		return;
	p = appframe_reported_path(x->tl, out->path);
	for (int i = 0; p && i < FRAMES && callers <= CALLERS; i++, p = s->paths.v[p].parent) {
		if (!appframe_is_called(x->tl, p) || !s->frames.v[s->paths.v[p].frame].name)
			continue;
		callers++; /* the first one is the function itself */
		uint32_t frame = evidence_function(x, s->paths.v[p].frame);
		uint64_t below = samples_below(x, w, n, frame);
		if (below * 4 < own * 3)
			continue;
		out->path = p;
		out->function = frame;
		out->samples = below;
		break;
	}
}

int evidence_marks(struct evidence *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		   size_t *first, size_t *last, struct err *e)
{
	*first = *last = 0;
	if (!x->tl->marks.n)
		return 0;
	if (need_marks(x, e))
		return ERR_NOMEM;
	*first = first_mark(x, thread, from_ns);
	*last = first_mark(x, thread, to_ns);
	return 0;
}

int evidence_samples(struct evidence *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		     size_t *first, size_t *last, struct err *e)
{
	*first = *last = 0;
	if (!x->tl->samples.n)
		return 0;
	if (need_samples(x, e))
		return ERR_NOMEM;
	*first = first_sample(x, thread, from_ns);
	*last = first_sample(x, thread, to_ns);
	return 0;
}

int evidence_spans(struct evidence *x, uint32_t thread, uint64_t to_ns, size_t *first,
		   size_t *last, struct err *e)
{
	*first = *last = 0;
	if (!x->tl->spans.n)
		return 0;
	if (need_spans(x, e))
		return ERR_NOMEM;
	*first = x->spans.first.v[thread];
	*last = first_at(&x->spans, &x->tl->spans.v->start_ns, sizeof(struct tl_span), thread,
			 to_ns);
	return 0;
}

/* --- disks ---------------------------------------------------------------------------- */

int evidence_stack_role(const struct timeline *tl, uint32_t path, unsigned roles)
{
	while (path && !(timeline_roles(tl, tl->stacks->paths.v[path].frame) & roles))
		path = tl->stacks->paths.v[path].parent;
	return path != 0;
}

int evidence_stack_has(const struct timeline *tl, uint32_t path, const char *const *names)
{
	const struct stacks *s = tl->stacks;
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		const char *name = strtab_get(&s->strings, f->name);
		for (size_t i = 0; f->kind == FRAME_KERNEL && names[i]; i++)
			if (!strcmp(name, names[i]))
				return 1;
	}
	return 0;
}

/* Did the end of a request wake the thread? The function that records the end then wakes the
 * thread, so it is on the wakeup's stack. Without that stack the times decide: both are about
 * the same. */
static int ended_by(const struct timeline *tl, const struct offcpu *o,
		    const struct disk_request *q)
{
	enum { SOON_NS = 50000 };
	static const char *const names[] = {"blk_update_request", "blk_complete_request",
					    "blk_mq_end_request_batch", "bio_endio", NULL};
	return o->waker_path ? evidence_stack_has(tl, o->waker_path, names)
			     : o->start_ns + o->blocked_ns - q->end_ns <= SOON_NS;
}

/* When `vector` last ended on `cpu` between these times; `from` if it did not. */
static uint64_t last_interrupt(const struct timeline *tl, const char *vector, uint16_t cpu,
			       uint64_t from, uint64_t to)
{
	const struct tl_interrupt *v = tl->interrupts.v;
	uint32_t name;
	if (!strtab_find(&tl->stacks->strings, vector, &name))
		return from;
	size_t at = PARTITION_POINT(i, 0, tl->interrupts.n, v[i].end_ns < to);
	while (at-- > 0 && v[at].end_ns > from)
		if (v[at].vector == name && v[at].cpu == cpu)
			return v[at].end_ns;
	return from;
}

/* Did a packet end the wait that came from this host, and not in its sender's own call? */
static int is_queued_packet(const struct timeline *tl, const struct offcpu *o)
{
	static const char *const queued[] = {"process_backlog", NULL};
	static const char *const sent[] = {"__dev_queue_xmit", "dev_queue_xmit", NULL};
	return evidence_stack_has(tl, o->waker_path, queued) &&
	       !evidence_stack_has(tl, o->waker_path, sent);
}

uint32_t evidence_tcp_timer(const struct evidence *x, uint32_t offcpu)
{
	static const char *const timers[] = {"tcp_delack_timer", "tcp_write_timer", NULL};
	const struct timeline *tl = x->tl;
	const struct offcpu *o = &tl->offcpu.v[offcpu];
	uint64_t woken = o->start_ns + o->blocked_ns;
	uint32_t name;
	if (!strtab_find(&tl->stacks->strings, "timer:timer_expire_entry", &name) ||
	    !is_queued_packet(tl, o))
		return 0;
	uint64_t since = last_interrupt(tl, "softirq NET_RX", o->cpu_wake, o->start_ns, woken);
	const struct tl_mark *v = tl->marks.v;
	size_t at = PARTITION_POINT(i, 0, tl->marks.n, v[i].time_ns < woken);
	while (at-- > 0 && v[at].time_ns >= since)
		if (v[at].name == name && v[at].cpu == o->cpu_wake &&
		    evidence_stack_has(tl, v[at].path, timers))
			return v[at].path;
	return 0;
}

/* Did a program's thread get that CPU in [from, to)? It may have sent a packet, and one that
 * waited for 40 ms needs the CPU for that. */
static int program_began(struct evidence *x, uint16_t cpu, uint64_t from, uint64_t to)
{
	windows_vec v = {0};
	int ran = evidence_holders(x, cpu, from, to, TL_NONE, &v, NULL) != 0;
	for (size_t i = 0; i < v.n; i++)
		ran |= v.v[i].from_ns > from &&
		       !(x->tl->threads.v[v.v[i].thread].flags & THREAD_KERNEL);
	vec_release(&v);
	return ran;
}

uint64_t evidence_packet_timer(struct evidence *x, uint32_t offcpu)
{
	const struct timeline *tl = x->tl;
	const struct offcpu *o = &tl->offcpu.v[offcpu];
	uint64_t woken = o->start_ns + o->blocked_ns;
	if (!is_queued_packet(tl, o))
		return 0;
	uint64_t since = last_interrupt(tl, "softirq NET_RX", o->cpu_wake, o->start_ns, woken);
	uint64_t timer = last_interrupt(tl, "softirq TIMER", o->cpu_wake, since, woken);
	return timer > since && !program_began(x, o->cpu_wake, timer, woken) ? o->blocked_ns
									     : 0;
}

int evidence_disk(struct evidence *x, uint32_t offcpu, const struct disk_request **out,
		  struct err *e)
{
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	uint64_t woken = o->start_ns + o->blocked_ns;
	*out = NULL;
	if ((o->cause != CAUSE_IO && o->cause != CAUSE_FAULT) || o->unknown || !o->blocked_ns)
		return 0;
	if (!x->have_requests && disk_requests_read(x->tl, &x->requests, e))
		return ERR_NOMEM;
	x->have_requests = 1;
	const struct disk_request *v = x->requests.v;
	size_t i = PARTITION_POINT(at, 0, x->requests.n, v[at].end_ns <= woken);
	while (i > 0 && v[i - 1].end_ns > o->start_ns && v[i - 1].cpu != o->cpu_wake)
		i--;
	if (i > 0 && v[i - 1].end_ns > o->start_ns && ended_by(x->tl, o, &v[i - 1]))
		*out = &v[i - 1];
	return 0;
}

/* --- threads by their tid ------------------------------------------------------------- */

/* Goes from the last thread to the first, so that the first is found first. */
static int need_tids(struct evidence *x)
{
	const struct timeline *tl = x->tl;
	if (x->have_tids)
		return 0;
	u64map_release(&x->by_tid); /* left by an attempt that ran out of memory */
	x->same_tid.n = 0;
	if (vec_reserve(&x->same_tid, tl->threads.n))
		return ERR_NOMEM;
	x->same_tid.n = tl->threads.n;
	for (uint32_t i = (uint32_t)tl->threads.n; i-- > 0;) {
		uint64_t tid = (uint32_t)tl->threads.v[i].tid;
		uint32_t next;
		x->same_tid.v[i] = u64map_get(&x->by_tid, tid, &next) ? next : TL_NONE;
		if (u64map_put(&x->by_tid, tid, i))
			return ERR_NOMEM;
	}
	x->have_tids = 1;
	return 0;
}

int evidence_thread_at(struct evidence *x, uint32_t self, long tid, uint64_t ns, uint32_t *out,
		       struct err *e)
{
	const struct timeline *tl = x->tl;
	const struct tl_part *part = timeline_part_of(tl, self);
	uint32_t i;
	*out = TL_NONE;
	if (need_tids(x))
		return err_nomem(e);
	if (tid < 0 || tid > INT32_MAX || !u64map_get(&x->by_tid, (uint64_t)tid, &i))
		return 0;
	for (; i != TL_NONE; i = x->same_tid.v[i]) {
		const struct tl_thread *t = &tl->threads.v[i];
		if (t->first_ns > ns || ns > t->last_ns || timeline_part_of(tl, i) != part)
			continue;
		*out = i;
		return 0;
	}
	return 0;
}

/* --- locks ---------------------------------------------------------------------------- */

int offcpu_is_lock(const struct offcpu *o)
{
	return o->cause == CAUSE_LOCK || o->cause == CAUSE_RWLOCK || o->cause == CAUSE_FUTEX;
}

/* The lock that a stack waits for, if it has a name of its own; else NULL. */
static int lock_kind(struct evidence *x, uint32_t path, const struct mechanism **out,
		     struct err *e)
{
	uint32_t at;
	if (u64map_get(&x->lock_kind_of, path, &at)) {
		*out = x->lock_kinds.v[at];
		return 0;
	}
	const struct mechanism *m =
		path ? mechanism_of(x->mechanisms, MECHANISMS_OF_WAIT, path, 0, 0) : NULL;
	*out = m && m->kind == MECHANISM_LOCK ? m : NULL;
	if (u64map_put(&x->lock_kind_of, path, (uint32_t)x->lock_kinds.n) ||
	    vec_push(&x->lock_kinds, *out))
		return err_nomem(e);
	return 0;
}

int evidence_lock_class(struct evidence *x, const struct offcpu *o, uint64_t *lock,
			const struct mechanism **kind, struct err *e)
{
	const struct timeline *tl = x->tl;
	const struct tl_part *part = timeline_part_of(tl, o->thread);
	int32_t pid = tl->threads.v[o->thread].pid;
	*kind = NULL;
	if (o->flags & (OFF_RUNNING | OFF_IDLE) || o->unknown || o->cause == CAUSE_STOPPED)
		return 0;
	int r = lock_kind(x, o->path, kind, e);
	if (r)
		return r;
	int shared = *kind && (*kind)->by == LOCK_BY_MACHINE;
	if ((!*kind && !offcpu_is_lock(o)) || (!shared && pid < 0))
		return 0;
	*lock = hash_u64((uintptr_t)*kind) ^
		hash_u64(part ? (uint64_t)(part - tl->parts.v) : 0);
	*lock = hash_u64(*lock) ^ (shared ? UINT64_MAX : (uint64_t)pid);
	return 1;
}

static int release_order(const void *a, const void *b)
{
	const struct lock_release *x = a, *y = b;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->offcpu > y->offcpu) - (x->offcpu < y->offcpu);
}

/* A thread that ends a wait while it waits for the same lock itself has only let go of what
 * guards the lock (the mutex inside the GIL). */
int evidence_is_release(struct evidence *x, const struct offcpu *o,
			const struct mechanism *kind, struct err *e)
{
	const struct mechanism *of_waker = NULL;
	int r = 0;
	if (o->waker == TL_NONE || o->waker == o->thread || o->waker_context != WAKER_TASK ||
	    x->tl->threads.v[o->waker].flags & THREAD_KERNEL)
		return 0;
	if (kind && (kind->by == LOCK_BY_PROCESS || kind->by == LOCK_BY_INTERPRETER))
		r = lock_kind(x, o->waker_path, &of_waker, e);
	return r ? r : !of_waker || of_waker != kind;
}

static int need_releases(struct evidence *x, struct err *e)
{
	const struct mechanism *kind;
	struct lock_release v;
	if (x->have_releases)
		return 0;
	x->releases.n = 0;
	for (uint32_t i = 0; i < x->tl->offcpu.n; i++) {
		const struct offcpu *o = &x->tl->offcpu.v[i];
		int r = o->waker == TL_NONE ? 0 : evidence_lock_class(x, o, &v.lock, &kind, e);
		if (r > 0)
			r = evidence_is_release(x, o, kind, e);
		if (r > 0)
			r = evidence_lock_address(x, i, &v.address, e) ? ERR_NOMEM : 1;
		v.time_ns = o->start_ns + o->blocked_ns;
		v.thread = o->waker;
		v.offcpu = i;
		if (r < 0 || (r && vec_push(&x->releases, v)))
			return err_nomem(e);
	}
	if (x->releases.n)
		qsort(x->releases.v, x->releases.n, sizeof(*x->releases.v), release_order);
	x->have_releases = 1;
	return 0;
}

int evidence_releases(struct evidence *x, uint64_t lock, size_t *first, size_t *last,
		      struct err *e)
{
	*first = *last = 0;
	if (need_releases(x, e))
		return ERR_NOMEM;
	const struct lock_release *v = x->releases.v;
	*first = PARTITION_POINT(i, 0, x->releases.n, v[i].lock < lock);
	*last = PARTITION_POINT(i, *first, x->releases.n, v[i].lock <= lock);
	return 0;
}

int evidence_lock_address(struct evidence *x, uint32_t offcpu, uint64_t *address, struct err *e)
{
	struct lock_mark m;
	const struct offcpu *o = &x->tl->offcpu.v[offcpu];
	*address = o->arg_kind == ARG_FUTEX ? offcpu_arg(x->tl, o) : 0;
	int r = *address ? 0 : evidence_lock_mark(x, offcpu, &m, e);
	if (r > 0)
		*address = m.address;
	return r < 0 ? r : 0;
}

int evidence_lock_mark(struct evidence *x, uint32_t offcpu, struct lock_mark *out,
		       struct err *e)
{
	const struct timeline *tl = x->tl;
	const struct offcpu *o = &tl->offcpu.v[offcpu];
	const struct tl_thread *t = &tl->threads.v[o->thread];
	uint64_t on = offcpu > t->offcpu_first ? tl->offcpu.v[offcpu - 1].end_ns : t->first_ns;
	size_t first, last;
	int r = evidence_marks(x, o->thread, on, o->start_ns + 1, &first, &last, e);
	for (size_t i = last; !r && i > first; i--) {
		const struct tl_mark *m = &tl->marks.v[x->marks.id.v[i - 1]];
		if (lock_mark_read(tl, m, out))
			return 1;
	}
	return r;
}

static int lock_mark_order(const void *a, const void *b)
{
	const struct lock_mark *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int need_lock_marks(struct evidence *x)
{
	if (x->have_lock_marks)
		return 0;
	x->lock_marks.n = 0;
	for (size_t i = 0; i < x->tl->marks.n; i++) {
		const struct tl_mark *m = &x->tl->marks.v[i];
		struct lock_mark l;
		if (m->thread < x->tl->threads.n && lock_mark_read(x->tl, m, &l) && l.address &&
		    vec_push(&x->lock_marks, l))
			return ERR_NOMEM;
	}
	if (x->lock_marks.n)
		qsort(x->lock_marks.v, x->lock_marks.n, sizeof(*x->lock_marks.v),
		      lock_mark_order);
	x->have_lock_marks = 1;
	return 0;
}

/* The index of the first hit for that lock at `from` or later. */
static size_t lock_mark_from(const struct evidence *x, uint64_t address, uint64_t from)
{
	const struct lock_mark *m = x->lock_marks.v;
	return PARTITION_POINT(i, 0, x->lock_marks.n,
			       m[i].address < address ||
				       (m[i].address == address && m[i].time_ns < from));
}

int evidence_lock_marks(struct evidence *x, uint64_t address, uint64_t after_ns, uint64_t to_ns,
			size_t *first, size_t *last, struct err *e)
{
	*first = *last = 0;
	if (need_lock_marks(x))
		return err_nomem(e);
	*first = lock_mark_from(x, address, after_ns + 1);
	*last = lock_mark_from(x, address, to_ns);
	return 0;
}
