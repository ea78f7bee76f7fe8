/* findings_maps.c - processes whose mappings were not recorded, so that none of their addresses
 * has a name. */
#include "base/mem.h"
#include "libtime/doctor/findings_internal.h"

#include <stdlib.h>

/* A process without mappings, and its samples and waits with user frames. */
struct mapless_process {
	int32_t pid;
	uint32_t comm; /* of its first thread with samples or waits */
	uint64_t n;
};

struct mapless_thread {
	uint64_t n;            /* its samples and waits without mappings */
	uint64_t since, until; /* when `has_maps` holds */
	int has_maps;
};

struct mapless {
	const struct timeline *tl;
	uint8_t *lost; /* by path: 1 if a user frame is in no mapping */
	struct mapless_thread *threads;
	int any;           /* lost paths */
	uint64_t n, total; /* of all threads; with and without user frames */
	VEC(struct mapless_process) worst;
};

void mapless_free(struct mapless *l)
{
	if (!l)
		return;
	mem_free(l->lost);
	mem_free(l->threads);
	vec_release(&l->worst);
	mem_free(l);
}

/* Callers have lower ids than what they call. */
static int find_lost_paths(struct mapless *l, const struct stacks *s)
{
	l->lost = mem_zalloc(s->paths.n + 1, 1);
	if (!l->lost)
		return ERR_NOMEM;
	for (size_t i = 1; i < s->paths.n; i++) {
		const struct call_path *at = &s->paths.v[i];
		l->lost[i] =
			l->lost[at->parent] || diagnose_is_unmapped(&s->frames.v[at->frame]);
		l->any |= l->lost[i];
	}
	return 0;
}

/* Most samples of a thread are of the time for which its last one was looked up. */
static int has_maps(const struct diagnosis *j, const struct mapless *l, uint32_t thread,
		    uint64_t time)
{
	const struct machine *m = &j->in->profile->machine;
	const struct tl_thread *t = &l->tl->threads.v[thread];
	struct mapless_thread *x = &l->threads[thread];
	struct thread_view v;
	if (time >= x->since && time < x->until)
		return x->has_maps;
	machine_thread_at(m, t->pid, t->tid, time, &v);
	x->since = v.since;
	x->until = v.until;
	x->has_maps = machine_has_maps(m, &v);
	return x->has_maps;
}

static void count(const struct diagnosis *j, struct mapless *l, uint32_t thread, uint32_t path,
		  uint64_t time)
{
	l->total += path != 0;
	if (!l->lost[path] || l->tl->threads.v[thread].flags & THREAD_IDLE_TASK ||
	    has_maps(j, l, thread, time))
		return;
	l->threads[thread].n++;
	l->n++;
}

static void count_all(const struct diagnosis *j, struct mapless *l)
{
	const struct timeline *tl = l->tl;
	for (size_t i = 0; i < tl->samples.n; i++)
		count(j, l, tl->samples.v[i].thread, tl->samples.v[i].path,
		      tl->samples.v[i].time_ns);
	for (size_t i = 0; i < tl->offcpu.n; i++)
		count(j, l, tl->offcpu.v[i].thread, tl->offcpu.v[i].path,
		      tl->offcpu.v[i].start_ns);
}

static int by_pid(const void *a, const void *b)
{
	const struct mapless_process *x = a, *y = b;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int by_count(const void *a, const void *b)
{
	const struct mapless_process *x = a, *y = b;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return by_pid(a, b);
}

static int rank(struct mapless *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->tl->threads.n; i++) {
		const struct tl_thread *t = &l->tl->threads.v[i];
		struct mapless_process p = {t->pid, t->comm, l->threads[i].n};
		if (p.n && vec_push(&l->worst, p))
			return ERR_NOMEM;
	}
	if (!l->worst.n)
		return 0;
	qsort(l->worst.v, l->worst.n, sizeof(*l->worst.v), by_pid);
	for (size_t i = 1; i < l->worst.n; i++) {
		if (l->worst.v[i].pid == l->worst.v[n].pid)
			l->worst.v[n].n += l->worst.v[i].n;
		else
			l->worst.v[++n] = l->worst.v[i];
	}
	l->worst.n = n + 1;
	qsort(l->worst.v, l->worst.n, sizeof(*l->worst.v), by_count);
	return 0;
}

/* Report the option that kept mappings out; else that perf may lack the rights, or came too
 * late.
 */
static void report_remedy(struct diagnosis *j, struct finding *f)
{
	const struct remedy change = {.mappings = 1};
	if (diagnose_line_changes(j, &change))
		diagnose_record(j, f, &change);
	else if (j->rec->stats.lost)
		diagnose_record(j, f, &(struct remedy){.ring = 1, .lossy = 1});
	else
		diagnose_remedy(j, f, FORM_RECORD_ALL, NO_FACTS);
}

static void name_process(struct diagnosis *j, struct finding *f, const struct mapless *l,
			 const struct mapless_process *p)
{
	const char *comm = strtab_get(&l->tl->stacks->strings, p->comm);
	struct fact facts[] = {fact_share("samples", p->n, l->total),
			       fact_number("pid", FACT_PID, p->pid > 0 ? (uint64_t)p->pid : 0),
			       fact_text("comm", FACT_COMM, comm)};
	diagnose_detail(j, f, p->comm ? FORM_MAPLESS_PROCESS : FORM_MAPLESS_NAMELESS, facts,
			p->comm ? 3 : 2);
}

static void report(struct diagnosis *j, const struct mapless *l)
{
	struct finding *f =
		diagnose_add(j, FORM_MAPPINGS_MISSING,
			     percent(l->n, l->total) >= 5 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
			     FACTS(fact_share("samples", l->n, l->total)));
	for (size_t i = 0; i < l->worst.n; i++)
		if (percent(l->worst.v[i].n, l->total) >= 0.05)
			name_process(j, f, l, &l->worst.v[i]);
	report_remedy(j, f);
	j->mapless = l->n;
}

/* Find all samples and waits without mappings. */
static int find_mapless(const struct diagnosis *j, struct mapless **out)
{
	struct mapless *l = mem_zalloc(1, sizeof(*l));
	*out = l;
	if (!l)
		return ERR_NOMEM;
	l->tl = j->in->timeline;
	l->threads = mem_zalloc(l->tl->threads.n + 1, sizeof(*l->threads));
	int r = l->threads ? find_lost_paths(l, &j->in->profile->stacks) : ERR_NOMEM;
	if (!r && l->any) {
		count_all(j, l);
		r = rank(l);
	}
	return r;
}

void diagnose_maps(struct diagnosis *j)
{
	struct mapless *own = NULL, **l = j->in->maps ? j->in->maps : &own;
	if (!j->in->timeline) /* folded samples have no threads */
		return;
	if (!*l && find_mapless(j, l))
		j->failed = ERR_NOMEM;
	else if (percent((*l)->n, (*l)->total) >= 1)
		report(j, *l);
	mapless_free(own);
}
