#include "cmd/record/record_budget.h"
#include "cmd/record/record_run.h"
#include "libtime/record/perf_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int budget_parse(struct price_budget *b, const char *rate, const char *cpu, struct err *e)
{
	enum { ONE_PERCENT_NS = 10000000 };
	char *end = NULL;
	*b = (struct price_budget){0};
	if (rate)
		b->bytes = (double)perf_ring_bytes(rate, 1);
	if (rate && b->bytes == 0)
		return err_set(e, ERR_USAGE,
			       "--max-rate takes bytes a second, as 20M, not '%s'", rate);
	double percent = cpu ? strtod(cpu, &end) : 0;
	if (cpu &&
	    (!(percent > 0) || isinf(percent) || strcmp(*end == '%' ? end + 1 : end, "")))
		return err_set(e, ERR_USAGE,
			       "--max-cpu takes a share of one CPU, as 1%%, not '%s'", cpu);
	b->cpu_ns = percent * ONE_PERCENT_NS;
	return 0;
}

static void put_stacks(struct buf *b, int stacks)
{
	if (stacks > 0)
		buf_fmt(b, "stack copies of %d bytes", stacks);
	else
		buf_str(b, stacks == GRAPH_FP ? "frame pointers" : "no stacks");
}

static void put_cost(struct buf *b, double bytes, double cpu_ns)
{
	buf_fmt(b, "%.1f MB/s, %.1f %% of a CPU", bytes / 1e6, cpu_ns / 1e7);
}

static int refuse_events(const char *cost, struct err *e)
{
	return err_set(e, ERR_REFUSED,
		       "the events alone, without stacks, would take %s: more than allowed; "
		       "nothing was recorded",
		       cost);
}

int budget_of_stacks(const struct record_plan *plan, const struct record_wish *w,
		     const struct price_budget *budget, uint64_t *stacks, struct err *e)
{
	enum { CHEAPER = 5 }; /* than perf, in CPU time (docs/recording-cost.md) */
	static const struct price_budget nothing = {1, 0};
	struct price p = {0};
	struct buf said = {0};
	double bytes, cpu_ns;
	int rc = record_count(&p, plan, w) ? err_nomem(e) : 0;
	price_fit(&p, &nothing, &bytes, &cpu_ns); /* of the events alone */
	cpu_ns /= CHEAPER;
	put_cost(&said, bytes, cpu_ns);
	if (!rc && ((budget->bytes && bytes >= budget->bytes) ||
		    (budget->cpu_ns && cpu_ns > budget->cpu_ns)))
		rc = refuse_events(buf_cstr(&said), e);
	if (!rc && budget->bytes && budget->bytes - bytes < (double)*stacks)
		*stacks = (uint64_t)(budget->bytes - bytes);
	price_release(&p);
	buf_release(&said);
	return rc;
}

int budget_fit(struct record_plan *plan, struct record_wish *w,
	       const struct price_budget *budget, char stacks[BUDGET_STACKS], struct err *e)
{
	static const struct price_budget none = {0};
	struct price p = {0};
	struct buf said = {0};
	double bytes, cpu_ns, all, all_ns;
	int rc = record_count(&p, plan, w) ? err_nomem(e) : 0;
	int planned = price_fit(&p, &none, &all, &all_ns);
	int fits = price_fit(&p, budget, &bytes, &cpu_ns);
	if (!rc && !price_is_known(&p))
		rc = err_set(e, ERR_REFUSED,
			     "--max-rate and --max-cpu need perf to count events, which it may "
			     "not here");
	put_cost(&said, bytes, cpu_ns);
	if (!rc && fits == GRAPH_BAD)
		rc = refuse_events(buf_cstr(&said), e);
	price_release(&p);
	if (!rc && fits != planned) {
		buf_clear(&said);
		put_stacks(&said, fits);
		buf_str(&said, ", not ");
		put_stacks(&said, planned);
		buf_str(&said, ", which would take ");
		put_cost(&said, all, all_ns);
		buf_str(&said, " under the load of the last second; now ");
		put_cost(&said, bytes, cpu_ns);
		fprintf(stderr, "# %s\n", buf_cstr(&said));
		snprintf(stacks, BUDGET_STACKS, "%s", fits == GRAPH_FP ? "fp" : "none");
		if (fits > 0)
			snprintf(stacks, BUDGET_STACKS, "dwarf:%d", fits);
		w->stacks = stacks;
		record_plan_release(plan);
		*plan = (struct record_plan){0};
		rc = record_plan(plan, w, e);
	}
	buf_release(&said);
	return rc;
}
