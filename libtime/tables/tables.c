#include "libtime/tables/tables.h"
#include "libtime/tables/collect.h"

#include <string.h>

enum { MAX_WINDOWS = 1 << 20 };

#define DATA(c)                  \
	{                        \
		c, 0, TEXT_NEVER \
	}
#define LENGTHS                                                                          \
	{COL_P50}, {COL_P90, 5}, {COL_P99, 4}, {COL_P999, 3}, {COL_P9999, 7}, {COL_MAX}, \
		{COL_AVERAGE, 6},                                                        \
	{                                                                                \
		COL_TOTAL                                                                \
	}
#define SPAN_COLUMNS                                                                       \
	{COL_CALLS}, LENGTHS, {COL_PARENT_SHARE, 9}, {COL_RUN, 8}, {COL_BLOCKED, 8},       \
		{COL_RUNNABLE, 8}, DATA(COL_PREEMPTED), DATA(COL_UNKNOWN), DATA(COL_OPEN), \
		DATA(COL_SUSPECT), DATA(COL_INTERRUPTED)

/* The first columns of a kind identify a row. */
static const struct table_kind kinds[] = {
	{.name = "thread",
	 .help = "running, waiting, and how long waits last",
	 .one = "thread",
	 .many = "threads",
	 .sort = COL_WAITING,
	 .then = COL_RUN,
	 .collect = collect_threads,
	 .columns = {{COL_THREAD},
		     {COL_RUN},
		     {COL_IDLE, 4},
		     {COL_UNCLEAR},
		     {COL_BLOCKED},
		     {COL_RUNNABLE},
		     {COL_UNKNOWN, 8, TEXT_IF_ANY},
		     {COL_WAITS, 7},
		     {COL_P50, 2},
		     {COL_P99, 3},
		     {COL_P999, 1},
		     {COL_MAX},
		     DATA(COL_WAITING),
		     DATA(COL_PREEMPTED),
		     DATA(COL_OPEN),
		     DATA(COL_SUSPECT),
		     DATA(COL_STACKS),
		     DATA(COL_IDLE_WAITS)}},
	{.name = "program",
	 .help = "the same, by program: all processes of one name",
	 .one = "program",
	 .many = "programs",
	 .sort = COL_RUN,
	 .then = COL_WAITING,
	 .collect = collect_programs,
	 .columns = {{COL_PROGRAM},
		     {COL_THREADS, 6},
		     {COL_RUN},
		     {COL_IDLE, 5},
		     {COL_UNCLEAR, 9},
		     {COL_BLOCKED},
		     {COL_RUNNABLE},
		     {COL_UNKNOWN, 8, TEXT_IF_ANY},
		     {COL_WAITS, 7},
		     {COL_P50, 2},
		     {COL_P99, 3},
		     {COL_P999, 1},
		     {COL_MAX, 4},
		     {COL_OPTION},
		     DATA(COL_WAITING),
		     DATA(COL_PREEMPTED),
		     DATA(COL_OPEN),
		     DATA(COL_SUSPECT)}},
	{.name = "site",
	 .help = "the places where threads wait, and whether at rest",
	 .one = "site",
	 .many = "sites",
	 .sort = COL_MAX,
	 .then = COL_TOTAL,
	 .collect = collect_sites,
	 .columns = {{COL_SITE},
		     {COL_WAITS},
		     {COL_TOTAL},
		     {COL_P50, 1},
		     {COL_MAX},
		     DATA(COL_MAX_OPEN),
		     {COL_VERDICT},
		     {COL_REASON}}},
	{.name = "span",
	 .help = "spans by name: requests, probes, traces",
	 .one = "name",
	 .many = "names",
	 .sort = COL_TOTAL,
	 .then = COL_CALLS,
	 .collect = collect_spans,
	 .columns = {{COL_NAME}, SPAN_COLUMNS}},
	{.name = "function",
	 .help = "CPU time of functions; or their calls, if recorded",
	 .one = "function",
	 .many = "functions",
	 .sort = COL_TOTAL,
	 .then = COL_CALLS,
	 .collect = collect_functions,
	 .columns = {{COL_NAME}, SPAN_COLUMNS}},
	{.name = "lock",
	 .help = "locks: who waits, how long, and who holds them",
	 .one = "lock",
	 .many = "locks",
	 .sort = COL_TOTAL,
	 .then = COL_WAITS,
	 .collect = collect_locks,
	 .columns = {{COL_PROCESS, 2},
		     {COL_LOCK},
		     {COL_ADDRESS, 1},
		     {COL_SITE},
		     {COL_WAITS},
		     {COL_TOTAL},
		     {COL_P50, 4},
		     {COL_P99, 5},
		     {COL_MAX},
		     DATA(COL_MAX_OPEN),
		     {COL_WAITERS, 3},
		     {COL_HOLDS},
		     {COL_HOLDER},
		     {COL_HOLDER_TIME, 6}}},
	{.name = "waker",
	 .help = "who ended the waits",
	 .one = "waker",
	 .many = "wakers",
	 .sort = COL_BLOCKED,
	 .then = COL_WAITS,
	 .collect = collect_wakers,
	 .columns = {{COL_WAKER},
		     {COL_WAITS},
		     {COL_THREADS},
		     {COL_BLOCKED},
		     {COL_P50, 1},
		     {COL_P99, 2},
		     {COL_MAX},
		     {COL_RUNNABLE}}},
	{.name = "irq",
	 .help = "interrupts, softirqs and vectors, where recorded",
	 .one = "interrupt",
	 .many = "interrupts",
	 .sort = COL_TOTAL,
	 .then = COL_COUNT,
	 .collect = collect_interrupts,
	 .columns = {{COL_INTERRUPT},
		     {COL_COUNT},
		     {COL_TOTAL},
		     {COL_FROM_THREADS},
		     {COL_P50, 1},
		     {COL_P99, 2},
		     {COL_MAX},
		     DATA(COL_AVERAGE),
		     {COL_CPUS}}},
	{.name = "disk",
	 .help = "requests to disks: time in queues and served, where recorded",
	 .one = "disk",
	 .many = "disks",
	 .sort = COL_SERVED,
	 .then = COL_COUNT,
	 .collect = collect_disks,
	 .columns = {{COL_DISK},
		     {COL_OPERATION},
		     {COL_COUNT},
		     {COL_BYTES, 3},
		     {COL_QUEUED},
		     {COL_QUEUED_MAX, 4},
		     {COL_SERVED},
		     {COL_P50, 1},
		     {COL_P99, 2},
		     {COL_MAX},
		     DATA(COL_AVERAGE)}},
	{.name = "gap",
	 .help = "who had the CPU in the gaps of a jitter sampler (--with)",
	 .one = "gap",
	 .many = "gaps",
	 .sort = COL_TOTAL,
	 .then = COL_GAPS,
	 .collect = collect_gaps,
	 .columns = {{COL_TAKER},
		     {COL_GAPS},
		     {COL_TOTAL},
		     {COL_SHARE, 3},
		     {COL_P50, 1},
		     {COL_P99, 2},
		     {COL_MAX},
		     {COL_CPUS}}},
	{.name = "jitter",
	 .help = "how long the gaps of each CPU were (--with)",
	 .one = "CPU",
	 .many = "CPUs",
	 .sort = COL_TOTAL,
	 .then = COL_GAPS,
	 .collect = collect_jitter,
	 .columns = {{COL_CPU},
		     {COL_THREAD, 3},
		     {COL_GAPS},
		     {COL_TOTAL},
		     {COL_P50},
		     {COL_P90, 1},
		     {COL_P99},
		     {COL_P999},
		     {COL_P9999, 2},
		     {COL_MAX},
		     DATA(COL_CONTROL),
		     DATA(COL_MAX_OPEN)}},
	{.name = "cgroup",
	 .help = "the same as by thread, by cgroup, with CPU quotas; or samples",
	 .one = "cgroup",
	 .many = "cgroups",
	 .sort = COL_WAITING,
	 .then = COL_RUN,
	 .collect = collect_cgroups,
	 .columns = {{COL_CGROUP},
		     {COL_THREADS, 4},
		     {COL_RUN},
		     {COL_IDLE, 6},
		     {COL_UNCLEAR, 5},
		     {COL_BLOCKED},
		     {COL_RUNNABLE},
		     {COL_UNKNOWN, 8, TEXT_IF_ANY},
		     {COL_WAITS},
		     {COL_P50, 2},
		     {COL_P99, 3},
		     {COL_P999, 1},
		     {COL_MAX},
		     {COL_QUOTA},
		     {COL_THROTTLED},
		     DATA(COL_WAITING),
		     DATA(COL_PREEMPTED),
		     DATA(COL_OPEN),
		     DATA(COL_SUSPECT)}},
	{.name = "label:",
	 .help = "spans by the value of a label: label:KEY",
	 .one = "value",
	 .many = "values",
	 .sort = COL_TOTAL,
	 .then = COL_CALLS,
	 .collect = collect_labels,
	 .columns = {{COL_VALUE}, SPAN_COLUMNS}},
};

static const struct table_kind sampled = {
	.name = "thread",
	.help = "",
	.one = "thread",
	.many = "threads",
	.sort = COL_SAMPLES,
	.then = COL_SHARE,
	.collect = collect_sampled,
	.columns = {{COL_THREAD}, {COL_SAMPLES}, {COL_SHARE}},
};

static const struct table_kind sampled_programs = {
	.name = "program",
	.help = "",
	.one = "program",
	.many = "programs",
	.sort = COL_SAMPLES,
	.then = COL_PROGRAM,
	.collect = collect_sampled_programs,
	.columns = {{COL_PROGRAM}, {COL_SAMPLES}, {COL_SHARE}, {COL_THREADS}, {COL_OPTION}},
};

static const struct table_kind sampled_cgroups = {
	.name = "cgroup",
	.help = "",
	.one = "cgroup",
	.many = "cgroups",
	.sort = COL_SAMPLES,
	.then = COL_THREADS,
	.columns = {{COL_CGROUP}, {COL_SAMPLES}, {COL_SHARE}, {COL_THREADS}},
};

static const struct table_kind bound = {
	.name = "label:",
	.help = "",
	.one = "value",
	.many = "values",
	.sort = COL_SAMPLES,
	.then = COL_BLOCKED,
	.collect = collect_bound,
	.columns = {{COL_VALUE},
		    {COL_SAMPLES},
		    {COL_SHARE, 3},
		    {COL_WAITS},
		    {COL_BLOCKED},
		    {COL_RUNNABLE},
		    {COL_P50, 1},
		    {COL_P99, 2},
		    {COL_MAX}},
};

static const struct table_kind in_tail = {
	.name = "function",
	.help = "",
	.one = "function",
	.many = "functions",
	.sort = COL_MORE,
	.then = COL_TAIL,
	.collect = collect_in_tail,
	.columns = {{COL_NAME},
		    {COL_TAIL},
		    {COL_MEDIAN},
		    {COL_MORE},
		    {COL_SHARE},
		    {COL_TAIL_CALLS},
		    DATA(COL_CALLS)},
};

static const struct table_kind functions[] = {
	{.name = "function",
	 .help = "",
	 .one = "function",
	 .many = "functions",
	 .sort = COL_SELF_COUNT,
	 .then = COL_TOTAL_COUNT,
	 .collect = collect_weights,
	 .columns = {{COL_FUNCTION},
		     {COL_MODULE},
		     {COL_SELF_COUNT, 2},
		     {COL_SELF_SHARE},
		     {COL_TOTAL_COUNT, 1},
		     {COL_TOTAL_SHARE},
		     DATA(COL_SAMPLES)}},
	{.name = "function",
	 .help = "",
	 .one = "function",
	 .many = "functions",
	 .sort = COL_SELF,
	 .then = COL_TOTAL,
	 .collect = collect_weights,
	 .columns = {{COL_FUNCTION},
		     {COL_MODULE},
		     {COL_SELF, 2},
		     {COL_SELF_SHARE},
		     {COL_TOTAL, 1},
		     {COL_TOTAL_SHARE},
		     DATA(COL_SAMPLES)}},
};

const struct table_kind *table_kinds(size_t *n)
{
	*n = sizeof(kinds) / sizeof(*kinds);
	return kinds;
}

const struct table_kind *table_kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].name);
		int prefix = kinds[i].name[n - 1] == ':';
		if (prefix ? !strncmp(name, kinds[i].name, n) && name[n]
			   : !strcmp(name, kinds[i].name))
			return &kinds[i];
	}
	return NULL;
}

const struct table_kind *table_sampled(void)
{
	return &sampled;
}

const struct table_kind *table_sampled_programs(void)
{
	return &sampled_programs;
}

const struct table_kind *table_sampled_cgroups(void)
{
	return &sampled_cgroups;
}

const struct table_kind *table_bound(void)
{
	return &bound;
}

const struct table_kind *table_in_tail(void)
{
	return &in_tail;
}

const struct table_kind *table_functions(int are_times)
{
	return &functions[are_times != 0];
}

int table_needs_waits(const struct table_kind *kind)
{
	return kind->collect == collect_sites || kind->collect == collect_locks ||
	       kind->collect == collect_wakers || kind->collect == collect_gaps ||
	       kind->collect == collect_threads || kind->collect == collect_cgroups ||
	       kind->collect == collect_programs;
}

/* --- windows -------------------------------------------------------------------------- */

const struct population *collect_population(const struct collect *c,
					    const struct population *of, uint32_t window,
					    struct population *cut)
{
	if (!c->q->every_ns)
		return of;
	uint64_t from = c->base_ns + window * c->q->every_ns, to = from + c->q->every_ns;
	*cut = *of;
	cut->start_ns = from > of->start_ns ? from : of->start_ns;
	cut->stop_ns = of->stop_ns && of->stop_ns < to ? of->stop_ns : to;
	return cut;
}

int collect_row(struct collect *c, uint64_t ns, uint64_t key, uint32_t *row)
{
	uint32_t window = collect_window(c, ns);
	if (rows_row(c->rows, window, key, row))
		return ERR_NOMEM;
	rows_set(c->rows, *row, COL_TIME, c->base_ns + window * c->q->every_ns);
	return 0;
}

int collect_wants(const struct collect *c, unsigned cause)
{
	return !c->q->causes || c->q->causes >> cause & 1;
}

int collect_waits(struct collect *c, const struct population *of, collect_wait *take, void *ctx)
{
	struct population part;
	int r = 0;
	for (size_t i = 0; i < c->tl->offcpu.n && !r; i++) {
		const struct offcpu *o = &c->tl->offcpu.v[i];
		uint64_t at = o->start_ns;
		if (!collect_wants(c, o->cause) ||
		    population_hides_thread(of, c->tl, o->thread) ||
		    !population_has_thread(of, c->tl, o->thread, o->comm))
			continue;
		while (!r && population_part(of, o->thread, o->path, &at, o->end_ns, &part))
			r = take(c, &part, o, ctx);
	}
	return r;
}

int table_collect(const struct table_kind *kind, const struct timeline *tl,
		  const struct table_query *q, struct rows *out, struct err *e)
{
	uint64_t origin = tl->rec.origin_ns, start = q->of.start_ns;
	struct collect c = {.tl = tl,
			    .q = q,
			    .rows = out,
			    .base_ns = start > origin ? start : origin,
			    .e = e};
	rows_init(out, kind, q->every_ns != 0);
	if (q->every_ns && (tl->rec.end_ns - origin) / q->every_ns >= MAX_WINDOWS)
		return err_set(e, ERR_LIMIT, "more than %d windows of time", MAX_WINDOWS);
	int r = kind->collect(&c);
	r = r ? r : rows_finish(out);
	return r == ERR_NOMEM ? err_nomem(e) : r;
}
