/* by_program.c - how long the threads of each program ran and waited; or their samples. */
#include "libtime/tables/collect.h"
#include "base/mem.h"
#include "libtime/population/programs.h"

/* The option that asks about each row alone, whose key is the program's name. */
static int set_options(struct rows *rows, const struct timeline *tl, const uint32_t *of)
{
	struct buf b = {0};
	int r = 0;
	for (uint32_t i = 0; i < rows->keys.n && !r; i++) {
		buf_clear(&b);
		program_option_of(&b, tl, of, (uint32_t)rows->keys.v[i].key);
		r = buf_failed(&b) ? ERR_NOMEM : rows_name(rows, i, COL_OPTION, buf_cstr(&b));
	}
	buf_release(&b);
	return r;
}

int collect_programs(struct collect *c)
{
	uint32_t *of = mem_zalloc(c->tl->threads.n + 1, sizeof(*of));
	int r = of ? programs_of_threads(c->tl, of) : ERR_NOMEM;
	c->group = of;
	r = r ? r : collect_threads(c);
	r = r ? r : set_options(c->rows, c->tl, of);
	c->group = NULL;
	mem_free(of);
	return r;
}

/* --- samples -------------------------------------------------------------------------- */

struct sampled {
	struct rows *rows;
	struct u64map seen;            /* of each row: its pids */
	VEC(struct program_pids) pids; /* by row */
};

static int add_pid(struct sampled *x, uint32_t row, int32_t pid)
{
	uint32_t yes;
	while (x->pids.n <= row)
		if (vec_push(&x->pids, (struct program_pids){.n = 0}))
			return ERR_NOMEM;
	uint64_t key = (uint64_t)row << 32 | (uint32_t)pid;
	if (pid < 0 || u64map_get(&x->seen, key, &yes))
		return 0;
	program_add(&x->pids.v[row], pid);
	return u64map_put(&x->seen, key, 1);
}

static int add_samples(struct sampled *x, uint32_t row, uint32_t program, int32_t pid,
		       uint32_t tid, uint64_t samples)
{
	rows_set(x->rows, row, COL_PROGRAM, program);
	rows_add(x->rows, row, COL_SAMPLES, samples);
	return rows_distinct(x->rows, row, COL_THREADS, tid) ? ERR_NOMEM : add_pid(x, row, pid);
}

/* Shares and options, after all samples. Releases *x. */
static int end_samples(struct sampled *x, const struct strtab *strings, int r)
{
	struct buf b = {0};
	uint64_t all = 0;
	for (uint32_t i = 0; i < x->rows->keys.n; i++)
		all += rows_get(x->rows, i, COL_SAMPLES);
	for (uint32_t i = 0; i < x->rows->keys.n && !r; i++) {
		double share = (double)rows_get(x->rows, i, COL_SAMPLES) / (double)all;
		rows_set(x->rows, i, COL_SHARE, (uint64_t)(share * 1e5 + 0.5));
		buf_clear(&b);
		program_option(&b, &x->pids.v[i],
			       strtab_get(strings, (uint32_t)x->rows->keys.v[i].key));
		r = buf_failed(&b) ? ERR_NOMEM
				   : rows_name(x->rows, i, COL_OPTION, buf_cstr(&b));
	}
	buf_release(&b);
	u64map_release(&x->seen);
	vec_release(&x->pids);
	return r;
}

int collect_sampled_programs(struct collect *c)
{
	const struct timeline *tl = c->tl;
	struct sampled x = {.rows = c->rows};
	uint32_t row;
	int r = 0;
	for (size_t i = 0; i < tl->samples.n && !r; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (s->thread == TL_NONE || !population_has_sample(&c->q->of, tl, s) ||
		    (c->q->events && !c->q->events[s->event]))
			continue;
		const struct tl_thread *t = &tl->threads.v[s->thread];
		uint32_t program = t->program ? t->program : s->comm;
		r = collect_row(c, s->time_ns, program, &row) ||
				    add_samples(&x, row, program, t->pid, (uint32_t)t->tid, 1)
			    ? ERR_NOMEM
			    : 0;
	}
	return end_samples(&x, &tl->stacks->strings, r);
}

int table_programs(struct profile *p, const struct folded *v, size_t n, struct rows *out,
		   struct err *e)
{
	struct sampled x = {.rows = out};
	uint32_t row;
	int r = 0;
	rows_init(out, table_sampled_programs(), 0);
	for (size_t i = 0; i < n && !r; i++) {
		if ((!v[i].pid && !v[i].tid) || p->rec->events.v[v[i].event].is_tracepoint)
			continue;
		uint32_t program = machine_program(&p->machine, v[i].pid);
		if (program == NO_ID)
			program = v[i].comm;
		r = rows_row(out, 0, program, &row) ||
				    add_samples(&x, row, program, v[i].pid, (uint32_t)v[i].tid,
						v[i].samples)
			    ? ERR_NOMEM
			    : 0;
	}
	return end_samples(&x, &p->stacks.strings, r) ? err_nomem(e) : 0;
}
