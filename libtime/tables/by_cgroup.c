/* by_cgroup.c - samples by the cgroup that their thread was in. */
#include "libtime/tables/tables.h"

static void set_shares(struct rows *rows, uint64_t all)
{
	for (uint32_t i = 0; i < rows->keys.n && all; i++)
		rows_set(rows, i, COL_SHARE,
			 (uint64_t)((double)rows_get(rows, i, COL_SAMPLES) / (double)all * 1e5 +
				    0.5));
}

/* Samples of clocks and counters alone say where time went, if there are any. */
static int has_clock(const struct profile *p)
{
	for (size_t i = 0; i < p->folded.n; i++)
		if (!p->rec->events.v[p->folded.v[i].event].is_tracepoint)
			return 1;
	return 0;
}

int table_cgroups(struct profile *p, struct rows *out, struct err *e)
{
	uint32_t unknown;
	uint64_t all = 0;
	int known = 0, clock = has_clock(p);
	rows_init(out, table_kind_of("cgroup"), 0);
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
	if (!known && all)
		return err_set(e, ERR_REFUSED,
			       "no sample names its cgroup: record with perf record "
			       "--all-cgroups");
	set_shares(out, all);
	return 0;
}
