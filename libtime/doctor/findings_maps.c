/* findings_maps.c - processes whose mappings were not recorded: no address of theirs
 * can be named. */
#include "base/mem.h"
#include "libtime/doctor/findings_internal.h"

#include <stdlib.h>

/* Samples and waits that have a user frame, of a process that has no mapping. */
struct mapless_process {
	int32_t pid;
	uint32_t comm; /* of its first thread that has some */
	uint64_t n;
};

struct mapless {
	const struct timeline *tl;
	uint8_t *lost;       /* by path: a user frame of it is in no mapping */
	uint64_t *by_thread; /* how many of its samples and waits */
	uint64_t n, total;   /* of all threads; with and without user frames */
	VEC(struct mapless_process) worst;
};

/* Callers have lower numbers than what they call. */
static int find_lost_paths(struct mapless *l, const struct stacks *s)
{
	l->lost = mem_zalloc(s->paths.n + 1, 1);
	if (!l->lost)
		return ERR_NOMEM;
	for (size_t i = 1; i < s->paths.n; i++) {
		const struct call_path *at = &s->paths.v[i];
		l->lost[i] =
			l->lost[at->parent] || diagnose_is_unmapped(&s->frames.v[at->frame]);
	}
	return 0;
}

static void count(const struct diagnosis *j, struct mapless *l, uint32_t thread, uint32_t path,
		  uint64_t time)
{
	const struct machine *m = &j->in->profile->machine;
	const struct tl_thread *t = &l->tl->threads.v[thread];
	struct thread_view v;
	l->total += path != 0;
	if (!l->lost[path] || t->flags & THREAD_IDLE_TASK)
		return;
	machine_thread_at(m, t->pid, t->tid, time, &v);
	if (machine_has_maps(m, &v))
		return;
	l->by_thread[thread]++;
	l->n++;
}

static void count_all(const struct diagnosis *j, struct mapless *l)
{
	const struct timeline *tl = l->tl;
	for (size_t i = 0; i < tl->samples.n; i++)
		count(j, l, tl->samples.v[i].thread, tl->samples.v[i].path,
		      tl->samples.v[i].time_ns);
	for (size_t i = 0; i < tl->off.n; i++)
		count(j, l, tl->off.v[i].thread, tl->off.v[i].path, tl->off.v[i].start_ns);
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
		struct mapless_process p = {t->pid, t->comm, l->by_thread[i]};
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

/* What of the recorded line keeps mappings out; else who may not read them, or came too late.
 */
static void report_remedy(struct diagnosis *j, struct finding *f)
{
	const struct remedy change = {.mappings = 1};
	if (diagnose_line_changes(j, &change))
		diagnose_record(j, f, &change);
	else if (j->rec->stats.lost)
		diagnose_record(j, f, &(struct remedy){.ring = 1, .spare = 1});
	else
		diagnose_remedy(
			j, f,
			"record as root, who may read the mappings of every process, and "
			"on all CPUs (-a), so that no exec is missed");
}

static void report(struct diagnosis *j, const struct mapless *l)
{
	double share = percent(l->n, l->total);
	struct finding *f = diagnose_add(
		j, "mappings-missing", share >= 5 ? SEVERITY_PARTIAL : SEVERITY_ADVICE,
		"%.1f %% of samples are of processes whose mappings were not "
		"recorded",
		share);
	for (size_t i = 0; i < l->worst.n; i++) {
		const struct mapless_process *p = &l->worst.v[i];
		if (percent(p->n, l->total) >= 0.05)
			diagnose_detail(j, f, "%5.1f %%  process %d, %s",
					percent(p->n, l->total), p->pid,
					p->comm ? strtab_get(&l->tl->stacks->strings, p->comm)
						: "nameless");
	}
	report_remedy(j, f);
	j->mapless = l->n;
}

void diagnose_maps(struct diagnosis *j)
{
	struct mapless l = {.tl = j->in->timeline};
	if (!l.tl) /* folded samples have no thread */
		return;
	l.by_thread = mem_zalloc(l.tl->threads.n + 1, sizeof(*l.by_thread));
	int rc = l.by_thread ? find_lost_paths(&l, &j->in->profile->stacks) : ERR_NOMEM;
	if (!rc) {
		count_all(j, &l);
		rc = rank(&l);
	}
	if (rc)
		j->failed = rc;
	else if (percent(l.n, l.total) >= 1)
		report(j, &l);
	mem_free(l.lost);
	mem_free(l.by_thread);
	vec_release(&l.worst);
}
