/* by_cgroup.c - how long the threads of each cgroup ran and waited, by what the host knew of
 * their processes; or samples by the cgroup that their thread was in. */
#include "libtime/tables/collect.h"
#include "base/mem.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_parts.h"

static void set_shares(struct rows *rows, uint64_t all)
{
	for (uint32_t i = 0; i < rows->keys.n && all; i++)
		rows_set(rows, i, COL_SHARE,
			 (uint64_t)((double)rows_get(rows, i, COL_SAMPLES) / (double)all * 1e5 +
				    0.5));
}

/* If there are samples of clocks or counters, only these show where time went. */
static int has_clock(const struct profile *p)
{
	for (size_t i = 0; i < p->folded.n; i++)
		if (!p->rec->events.v[p->folded.v[i].event].is_tracepoint)
			return 1;
	return 0;
}

static int records_cgroups(const struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (rec->events.v[i].attr.sample_type & PERF_SAMPLE_CGROUP)
			return 1;
	return 0;
}

int table_cgroups(struct profile *p, struct rows *out, struct err *e)
{
	uint32_t unknown;
	uint64_t all = 0;
	int known = 0, clock = has_clock(p);
	rows_init(out, table_sampled_cgroups(), 0);
	if (strtab_intern(&p->stacks.strings, "[cgroup unknown]", &unknown))
		return err_nomem(e);
	for (size_t i = 0; i < p->folded.n; i++) {
		const struct folded *f = &p->folded.v[i];
		uint32_t row, name = f->cgroup == NO_ID ? unknown : f->cgroup;
		if (clock && p->rec->events.v[f->event].is_tracepoint)
			continue;
		known |= f->cgroup != NO_ID;
		if (rows_row(out, 0, name, &row) ||
		    rows_distinct(out, row, COL_THREADS, (uint32_t)f->tid))
			return err_nomem(e);
		rows_set(out, row, COL_CGROUP, name);
		rows_add(out, row, COL_SAMPLES, f->samples);
		all += f->samples;
	}
	if (!known && (all || !records_cgroups(p->rec)))
		return err_set(e, ERR_REFUSED,
			       "no sample names its cgroup: record with perf record "
			       "--all-cgroups");
	set_shares(out, all);
	return 0;
}

/* --- from a timeline ------------------------------------------------------------------ */

static void set_quota(struct collect *c, uint32_t row, uint32_t thread)
{
	struct fact_quota q;
	rows_set(c->rows, row, COL_QUOTA, CELL_NONE);
	rows_set(c->rows, row, COL_THROTTLED, CELL_NONE);
	if (!fact_quota_of(c->tl, thread, c->group[thread], &q))
		return;
	rows_set(c->rows, row, COL_QUOTA,
		 (uint64_t)((double)q.quota_ns / (double)q.period_ns * 1e5 + 0.5));
	rows_set(c->rows, row, COL_THROTTLED, q.throttled);
}

/* Once for each row, by its first thread. */
static int add_quotas(struct collect *c)
{
	struct u64map row_of = {0};
	uint32_t thread;
	int r = 0;
	for (uint32_t t = 0; !r && t < c->tl->threads.n; t++)
		if (!u64map_get(&row_of, c->group[t], &thread))
			r = u64map_put(&row_of, c->group[t], t);
	for (uint32_t i = 0; !r && i < c->rows->keys.n; i++)
		if (u64map_get(&row_of, rows_get(c->rows, i, COL_CGROUP), &thread))
			set_quota(c, i, thread);
	u64map_release(&row_of);
	return r;
}

/* *known: the number of threads with a known cgroup. ERR_NOMEM. */
static int cgroups_of_threads(const struct timeline *tl, uint32_t *out, size_t *known)
{
	struct u64map of_pid = {0};
	uint32_t unknown, id;
	int r = strtab_intern(&tl->stacks->strings, "[cgroup unknown]", &unknown);
	*known = 0;
	for (uint32_t t = 0; !r && t < tl->threads.n; t++) {
		const struct tl_part *p = timeline_part_of(tl, t);
		uint64_t key = (uint64_t)(uint32_t)tl->threads.v[t].pid |
			       (p ? (uint64_t)(p - tl->parts.v) << 32 : 0);
		if (!u64map_get(&of_pid, key, &id)) {
			id = fact_cgroup(tl, t);
			r = u64map_put(&of_pid, key, id);
		}
		*known += id != 0;
		out[t] = id ? id : unknown;
	}
	u64map_release(&of_pid);
	return r;
}

int collect_cgroups(struct collect *c)
{
	uint32_t *cgroup = mem_zalloc(c->tl->threads.n + 1, sizeof(*cgroup));
	size_t known = 0;
	int r = cgroup ? cgroups_of_threads(c->tl, cgroup, &known) : ERR_NOMEM;
	c->group = cgroup;
	if (!r && !known)
		r = err_set(c->e, ERR_REFUSED,
			    "nothing is known of cgroups: perfkit record keeps those of "
			    "processes, perf record --all-cgroups those of samples");
	r = r ? r : collect_threads(c);
	r = r ? r : add_quotas(c);
	c->group = NULL;
	mem_free(cgroup);
	return r;
}
