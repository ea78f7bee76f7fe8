/* by_irq.c - interrupts by vector. */
#include "libtime/tables/collect.h"

static int add(struct collect *c, const struct tl_interrupt *x)
{
	const struct population *of = &c->q->of;
	uint64_t start = x->start_ns, end = x->end_ns;
	uint32_t row;
	int cut = 0;
	if (!population_has_cpu(of, c->tl, x->cpu, x->cpu) ||
	    !population_clip(of, &start, &end, &cut) ||
	    !population_has_label(of, x->thread, 0, start))
		return 0;
	if (c->q->of_threads &&
	    (x->thread == TL_NONE ||
	     !population_has_thread(of, c->tl, x->thread, c->tl->threads.v[x->thread].comm)))
		return 0;
	if (collect_row(c, start, x->vector, &row) ||
	    rows_length(c->rows, row, end - start, cut) ||
	    rows_distinct(c->rows, row, COL_CPUS, x->cpu))
		return ERR_NOMEM;
	rows_set(c->rows, row, COL_INTERRUPT, x->vector);
	rows_add(c->rows, row, COL_COUNT, 1);
	rows_add(c->rows, row, COL_TOTAL, end - start);
	rows_add(c->rows, row, COL_FROM_THREADS, x->thread == TL_NONE ? 0 : end - start);
	return 0;
}

int collect_interrupts(struct collect *c)
{
	if (!c->tl->interrupts.n)
		return err_set(
			c->e, ERR_REFUSED,
			"no interrupts were recorded: perfkit record tail --also vectors "
			"records them");
	for (size_t i = 0; i < c->tl->interrupts.n; i++)
		if (add(c, &c->tl->interrupts.v[i]))
			return ERR_NOMEM;
	return 0;
}
