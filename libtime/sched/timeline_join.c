#include "libtime/sched/timeline_join.h"
#include "base/text/buf.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"

#include <string.h>

struct join {
	struct timeline *tl;
	const struct timeline *more;
	struct tl_part part; /* of `more` */
	uint32_t span, site; /* the first of its spans */
	VEC(uint16_t) event; /* number of `more` → of `tl` */
	VEC(uint16_t) syscall;
	VEC(uint16_t) arg;
	uint8_t state[TL_MAX_STATES + 1];
};

/* --- CPUs ----------------------------------------------------------------------------- */

static void raise_above(uint32_t *n, uint16_t cpu)
{
	if (cpu != TL_NOCPU && cpu >= *n)
		*n = cpu + 1u;
}

/* How many CPUs the records name: the header may not say it. */
static uint32_t cpus_of(const struct timeline *tl)
{
	uint32_t n = tl->rec.ncpus;
	for (size_t i = 0; i < tl->threads.n; i++)
		raise_above(&n, tl->threads.v[i].first_cpu);
	for (size_t i = 0; i < tl->offcpu.n; i++) {
		raise_above(&n, tl->offcpu.v[i].cpu_out);
		raise_above(&n, tl->offcpu.v[i].cpu_in);
		raise_above(&n, tl->offcpu.v[i].cpu_wake);
		raise_above(&n, tl->offcpu.v[i].cpu_queue);
	}
	for (size_t i = 0; i < tl->samples.n; i++)
		raise_above(&n, tl->samples.v[i].cpu);
	for (size_t i = 0; i < tl->event_samples.n; i++)
		raise_above(&n, tl->event_samples.v[i].cpu);
	for (size_t i = 0; i < tl->marks.n; i++)
		raise_above(&n, tl->marks.v[i].cpu);
	for (size_t i = 0; i < tl->losses.n; i++)
		raise_above(&n, tl->losses.v[i].cpu);
	for (size_t i = 0; i < tl->interrupts.n; i++)
		raise_above(&n, tl->interrupts.v[i].cpu);
	for (size_t i = 0; i < tl->gaps.n; i++)
		raise_above(&n, tl->gaps.v[i].cpu);
	return n;
}

static uint16_t cpu(const struct join *j, uint16_t c)
{
	return c == TL_NOCPU ? c : (uint16_t)(c + j->part.cpu_first);
}

static uint32_t thread(const struct join *j, uint32_t t)
{
	return t == TL_NONE ? t : t + j->part.thread_first;
}

/* --- tables --------------------------------------------------------------------------- */

static int join_events(struct join *j, struct err *e)
{
	struct timeline *tl = j->tl;
	size_t own = tl->events.n;
	for (size_t i = 0; i < j->more->events.n; i++) {
		const struct tl_event *ev = &j->more->events.v[i];
		size_t k = 0;
		while (k < tl->events.n && (tl->events.v[k].name != ev->name ||
					    tl->events.v[k].tracepoint != ev->tracepoint))
			k++;
		if (k >= UINT16_MAX)
			return err_set(e, ERR_LIMIT, "more than %u events", UINT16_MAX);
		if ((k == tl->events.n && vec_push(&tl->events, *ev)) ||
		    vec_push(&j->event, (uint16_t)k))
			return err_nomem(e);
	}
	for (size_t k = own; k < tl->events.n; k++) {
		uint32_t *group = &tl->events.v[k].group;
		*group = *group && *group <= j->event.n ? j->event.v[*group - 1] + 1u : 0;
	}
	return 0;
}

static int join_states(struct join *j)
{
	const struct strtab *s = &j->tl->stacks->strings;
	for (unsigned i = 0; i < j->more->nstates; i++)
		if (timeline_state(j->tl, strtab_get(s, j->more->states[i]), &j->state[i]))
			return ERR_NOMEM;
	for (size_t i = 0; i < j->more->syscalls.n; i++) {
		uint16_t call;
		if (timeline_syscall(j->tl, strtab_get(s, j->more->syscalls.v[i]), &call) ||
		    vec_push(&j->syscall, call))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->args.n; i++) {
		const struct tl_arg *a = &j->more->args.v[i];
		uint16_t arg = 0;
		if ((i && timeline_arg(j->tl, a->value, a->variable, &arg)) ||
		    vec_push(&j->arg, arg))
			return ERR_NOMEM;
	}
	return 0;
}

static int join_sites(struct join *j)
{
	struct timeline *tl = j->tl;
	j->site = tl->sites.n ? (uint32_t)tl->sites.n - 1 : 0;
	for (size_t i = tl->sites.n ? 1 : 0; i < j->more->sites.n; i++)
		if (vec_push(&tl->sites, j->more->sites.v[i]))
			return ERR_NOMEM;
	return 0;
}

static int join_threads(struct join *j, struct err *e)
{
	uint32_t off0 = (uint32_t)j->tl->offcpu.n;
	for (size_t i = 0; i < j->more->threads.n; i++) {
		struct tl_thread t = j->more->threads.v[i];
		t.offcpu_first += off0;
		t.first_cpu = cpu(j, t.first_cpu);
		if (vec_push(&j->tl->threads, t))
			return err_nomem(e);
	}
	int r = bigvec_reserve(&j->tl->offcpu, j->more->offcpu.n, e);
	if (r)
		return r;
	for (size_t i = 0; i < j->more->offcpu.n; i++) {
		struct offcpu o = j->more->offcpu.v[i];
		o.thread = thread(j, o.thread);
		o.waker = thread(j, o.waker);
		o.cpu_out = cpu(j, o.cpu_out);
		o.cpu_in = cpu(j, o.cpu_in);
		o.cpu_wake = cpu(j, o.cpu_wake);
		o.cpu_queue = cpu(j, o.cpu_queue);
		o.state = j->state[o.state];
		o.syscall = j->syscall.v[o.syscall];
		o.arg = o.arg < j->arg.n ? j->arg.v[o.arg] : 0;
		o.site += o.site ? j->site : 0;
		j->tl->offcpu.v[j->tl->offcpu.n++] = o;
	}
	return 0;
}

static int join_samples(struct join *j, struct err *e)
{
	struct timeline *tl = j->tl;
	const struct timeline *more = j->more;
	int r = bigvec_reserve(&tl->samples, more->samples.n, e);
	if (r)
		return r;
	for (size_t i = 0; i < more->samples.n; i++) {
		struct tl_sample s = more->samples.v[i];
		s.thread = thread(j, s.thread);
		s.event = j->event.v[s.event];
		s.cpu = cpu(j, s.cpu);
		tl->samples.v[tl->samples.n++] = s;
	}
	r = bigvec_reserve(&tl->event_samples, more->event_samples.n, e);
	if (r)
		return r;
	for (size_t i = 0; i < more->event_samples.n; i++) {
		struct tl_event_sample s = more->event_samples.v[i];
		s.event = j->event.v[s.event];
		s.cpu = cpu(j, s.cpu);
		tl->event_samples.v[tl->event_samples.n++] = s;
	}
	for (size_t i = 0; i < more->sums.n; i++) {
		struct tl_sum s = more->sums.v[i];
		s.event = j->event.v[s.event];
		if ((r = bigvec_push(&tl->sums, s, e)))
			return r;
	}
	for (size_t i = 0; i < more->marks.n; i++) {
		struct tl_mark m = more->marks.v[i];
		m.thread = thread(j, m.thread);
		m.cpu = cpu(j, m.cpu);
		if (vec_push(&tl->marks, m))
			return err_nomem(e);
	}
	for (size_t i = 0; i < more->totals.n; i++) {
		struct tl_offcpu_total t = more->totals.v[i];
		t.thread = thread(j, t.thread);
		if (vec_push(&tl->totals, t))
			return err_nomem(e);
	}
	return 0;
}

/* A loss whose CPU is not known was applied when its recording was finished; here it is only
 * counted. */
static int join_spans_and_losses(struct join *j)
{
	for (size_t i = 0; i < j->more->spans.n; i++) {
		struct tl_span s = j->more->spans.v[i];
		s.thread = thread(j, s.thread);
		s.end_thread = thread(j, s.end_thread);
		s.parent = s.parent == TL_NONE ? TL_NONE : s.parent + j->span;
		if (vec_push(&j->tl->spans, s))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->labels.n; i++) {
		struct tl_label l = j->more->labels.v[i];
		l.span += j->span;
		if (vec_push(&j->tl->labels, l))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->counters.n; i++) {
		struct tl_counter c = j->more->counters.v[i];
		c.span += j->span;
		if (vec_push(&j->tl->counters, c))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->facts.n; i++)
		if (vec_push(&j->tl->facts, j->more->facts.v[i]))
			return ERR_NOMEM;
	for (size_t i = 0; i < j->more->interrupts.n; i++) {
		struct tl_interrupt x = j->more->interrupts.v[i];
		x.thread = thread(j, x.thread);
		x.cpu = cpu(j, x.cpu);
		if (vec_push(&j->tl->interrupts, x))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->gaps.n; i++) {
		struct tl_gap g = j->more->gaps.v[i];
		g.thread = thread(j, g.thread);
		g.cpu = cpu(j, g.cpu);
		if (vec_push(&j->tl->gaps, g))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->losses.n; i++) {
		struct tl_loss l = j->more->losses.v[i];
		l.cpu = cpu(j, l.cpu);
		if (vec_push(&j->tl->losses, l))
			return ERR_NOMEM;
	}
	return 0;
}

static int join_histories(struct join *j)
{
	struct timeline *tl = j->tl;
	uint32_t first = timeline_next_history(tl);
	for (size_t i = 0; i < j->more->bindings.n; i++) {
		struct tl_binding b = j->more->bindings.v[i];
		b.history += first;
		if (vec_push(&tl->bindings, b))
			return ERR_NOMEM;
	}
	for (size_t i = 0; i < j->more->trampolines.n; i++) {
		struct tl_trampoline t = j->more->trampolines.v[i];
		t.history += first;
		t.thread_first += j->part.thread_first;
		t.thread_end += j->part.thread_first;
		if (vec_push(&tl->trampolines, t))
			return ERR_NOMEM;
	}
	timeline_sort_trampolines(tl);
	return 0;
}

/* --- the recordings themselves -------------------------------------------------------- */

static int add_part(struct timeline *tl, const struct timeline *of, struct tl_part *part,
		    struct err *e)
{
	uint32_t n = cpus_of(of), first = 0;
	*part = (struct tl_part){
		.rec = of->rec,
		.flags = of->flags,
		.disk_queues = (uint8_t)timeline_has_event(of, "block:block_rq_insert"),
		.chosen_stacks = (uint8_t)timeline_stacks_of_some(of)};
	if (tl->parts.n) {
		first = tl->rec.ncpus;
		part->thread_first = (uint32_t)tl->threads.n;
		part->sample_first = tl->samples.n;
		part->event_sample_first = tl->event_samples.n;
		part->sum_first = tl->sums.n;
		part->fact_first = tl->facts.n;
	}
	if (first + n >= TL_NOCPU)
		return err_set(e, ERR_LIMIT, "more than %u CPUs in all recordings",
			       TL_NOCPU - 1u);
	part->cpu_first = (uint16_t)first;
	tl->rec.ncpus = first + n;
	return vec_push(&tl->parts, *part) ? err_nomem(e) : 0;
}

static void sum_up(struct tl_recording *all, const struct tl_recording *r)
{
	all->origin_ns = r->origin_ns < all->origin_ns ? r->origin_ns : all->origin_ns;
	all->end_ns = r->end_ns > all->end_ns ? r->end_ns : all->end_ns;
	all->wall_ns = 0;
	all->wall_exact = 0;
	uint32_t *const texts[] = {&all->host, &all->file,    &all->clock, &all->kernel,
				   &all->arch, &all->cmdline, NULL};
	const uint32_t theirs[] = {r->host, r->file, r->clock, r->kernel, r->arch, r->cmdline};
	for (size_t i = 0; texts[i]; i++)
		if (*texts[i] != theirs[i])
			*texts[i] = 0;
}

int timeline_join(struct timeline *tl, const struct timeline *more, struct err *e)
{
	struct join j = {.tl = tl, .more = more, .span = (uint32_t)tl->spans.n};
	struct tl_part own;
	if (tl->offcpu.n + more->offcpu.n >= UINT32_MAX ||
	    tl->threads.n + more->threads.n >= UINT32_MAX)
		return err_set(e, ERR_LIMIT, "more than 2^32 off-CPU intervals");
	int r = tl->parts.n ? 0 : add_part(tl, tl, &own, e);
	if (!r)
		r = add_part(tl, more, &j.part, e);
	if (!r)
		r = join_events(&j, e);
	if (!r && (join_states(&j) || join_sites(&j)))
		r = err_nomem(e);
	if (!r)
		r = join_threads(&j, e);
	if (!r)
		r = join_samples(&j, e);
	if (!r && (join_spans_and_losses(&j) || join_histories(&j)))
		r = err_nomem(e);
	vec_release(&j.event);
	vec_release(&j.syscall);
	vec_release(&j.arg);
	if (r)
		return r;
	tl->flags |= more->flags;
	tl->stray_samples += more->stray_samples;
	sum_up(&tl->rec, &more->rec);
	return 0;
}

static int hosts_alike(const struct timeline *tl, size_t i)
{
	for (size_t k = 0; k < tl->parts.n; k++)
		if (k != i && tl->parts.v[k].rec.host == tl->parts.v[i].rec.host)
			return 1;
	return 0;
}

int timeline_label_parts(struct timeline *tl, struct err *e)
{
	struct strtab *s = &tl->stacks->strings;
	for (size_t i = 0; i < tl->parts.n; i++) {
		struct tl_part *p = &tl->parts.v[i];
		const char *host = strtab_get(s, p->rec.host);
		struct buf b = {0};
		if (hosts_alike(tl, i))
			buf_fmt(&b, "%lld:", (long long)p->id);
		buf_str(&b, *host ? host : "?");
		int r = buf_failed(&b) || strtab_intern(s, buf_cstr(&b), &p->label);
		buf_release(&b);
		if (r)
			return err_nomem(e);
	}
	return 0;
}
