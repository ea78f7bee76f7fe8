#include "libtime/tables/function_sums.h"
#include "base/mem.h"
#include "base/text/buf.h"
#include "base/text/path.h"

#include <string.h>

int function_sums_add(struct function_sums *s, uint32_t window, uint32_t path, uint64_t weight,
		      uint64_t samples)
{
	uint64_t key = (uint64_t)window << 32 | path;
	uint32_t at;
	if (!u64map_get(&s->at, key, &at)) {
		struct path_sum new = {.window = window, .path = path};
		at = (uint32_t)s->v.n;
		if (vec_push(&s->v, new) || u64map_put(&s->at, key, at))
			return ERR_NOMEM;
	}
	s->v.v[at].weight += weight;
	s->v.v[at].samples += samples;
	return 0;
}

void function_sums_release(struct function_sums *s)
{
	vec_release(&s->v);
	u64map_release(&s->at);
}

/* --- rows ----------------------------------------------------------------------------- */

struct functions {
	const struct function_sums *s;
	struct rows *rows;
	uint64_t base_ns, every_ns;
	uint64_t total;
	struct u64map ids;   /* name << 32 | module, of rows->names → number of function */
	uint32_t *of_frame;  /* number + 1; 0: not looked up */
	VEC(uint64_t) names; /* by number: the key of `ids` */
	VEC(uint32_t) seen;  /* by number: the last stack that had it, + 1 */
	VEC(uint32_t) frames;
};

static int number_of(struct functions *f, uint32_t name, uint32_t module, uint32_t *number)
{
	uint64_t key = (uint64_t)name << 32 | module;
	if (u64map_get(&f->ids, key, number))
		return 0;
	*number = (uint32_t)f->names.n;
	return vec_push(&f->names, key) || vec_push(&f->seen, 0)
		       ? ERR_NOMEM
		       : u64map_put(&f->ids, key, *number);
}

int function_key(struct strtab *names, const struct stacks *s, const struct frame *f,
		 uint32_t *name, uint32_t *module)
{
	const char *base = path_base(strtab_get(&s->strings, f->dso));
	struct buf text = {0};
	if (!f->name)
		buf_fmt(&text, "[%s]", f->dso ? base : "unknown");
	int rc = buf_failed(&text) ||
		 strtab_intern(names,
			       f->name ? strtab_get(&s->strings, f->name) : buf_cstr(&text),
			       name) ||
		 strtab_intern(names, base, module);
	buf_release(&text);
	return rc ? ERR_NOMEM : 0;
}

static int function_of(struct functions *f, uint32_t frame, uint32_t *number)
{
	uint32_t name, module;
	if (!f->of_frame[frame]) {
		if (function_key(&f->rows->names, f->s->stacks, &f->s->stacks->frames.v[frame],
				 &name, &module) ||
		    number_of(f, name, module, number))
			return ERR_NOMEM;
		f->of_frame[frame] = *number + 1;
	}
	*number = f->of_frame[frame] - 1;
	return 0;
}

/* Add to a function's row; `self`: the stack ends in it. */
static int add_to(struct functions *f, const struct path_sum *p, uint32_t number, int self)
{
	uint32_t row;
	if (rows_row(f->rows, p->window, number, &row))
		return ERR_NOMEM;
	rows_set(f->rows, row, COL_TIME, f->base_ns + p->window * f->every_ns);
	rows_set(f->rows, row, COL_FUNCTION, f->names.v[number] >> 32);
	rows_set(f->rows, row, COL_MODULE, (uint32_t)f->names.v[number]);
	rows_add(f->rows, row, COL_TOTAL, p->weight);
	rows_add(f->rows, row, COL_TOTAL_COUNT, p->weight);
	if (self) {
		rows_add(f->rows, row, COL_SELF, p->weight);
		rows_add(f->rows, row, COL_SELF_COUNT, p->weight);
		rows_add(f->rows, row, COL_SAMPLES, p->samples);
	}
	return 0;
}

size_t function_sums_of_program(const struct stacks *s, const uint32_t *frames, size_t n)
{
	size_t kept = n;
	while (kept && s->frames.v[frames[kept - 1]].kind == FRAME_KERNEL)
		kept--;
	return kept ? kept : n;
}

/* Leave inlined calls out of n. */
static size_t without_inlined(struct functions *f, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || !(f->s->stacks->frames.v[f->frames.v[i]].flags & FRAME_INLINED))
			f->frames.v[kept++] = f->frames.v[i];
	return kept;
}

static int add_path(struct functions *f, uint32_t at)
{
	const struct path_sum *p = &f->s->v.v[at];
	size_t n = stacks_depth(f->s->stacks, p->path);
	uint32_t number, name;
	f->total += p->weight;
	if (!n)
		return strtab_intern(&f->rows->names, "[no stack]", &name) ||
				       number_of(f, name, 0, &number)
			       ? ERR_NOMEM
			       : add_to(f, p, number, 1);
	f->frames.n = 0;
	if (vec_reserve(&f->frames, n))
		return ERR_NOMEM;
	stacks_frames(f->s->stacks, p->path, f->frames.v, n);
	n = f->s->program_only ? function_sums_of_program(f->s->stacks, f->frames.v, n) : n;
	n = f->s->fold_inlined ? without_inlined(f, n) : n;
	for (size_t i = n; i-- > 0;) {
		if (function_of(f, f->frames.v[i], &number))
			return ERR_NOMEM;
		if (f->seen.v[number] == at + 1)
			continue;
		f->seen.v[number] = at + 1;
		if (add_to(f, p, number, i + 1 == n))
			return ERR_NOMEM;
	}
	return 0;
}

/* Thousandths of a percent. */
static uint64_t share_of(uint64_t weight, uint64_t total)
{
	return total ? (uint64_t)((double)weight / (double)total * 1e5 + 0.5) : 0;
}

static void set_shares(struct functions *f)
{
	enum column self =
		f->rows->slot[COL_SELF] < f->rows->ncolumns ? COL_SELF : COL_SELF_COUNT;
	enum column all = self == COL_SELF ? COL_TOTAL : COL_TOTAL_COUNT;
	for (uint32_t i = 0; i < f->rows->keys.n; i++) {
		rows_set(f->rows, i, COL_SELF_SHARE,
			 share_of(rows_get(f->rows, i, self), f->total));
		rows_set(f->rows, i, COL_TOTAL_SHARE,
			 share_of(rows_get(f->rows, i, all), f->total));
	}
}

int function_sums_rows(const struct function_sums *s, uint64_t base_ns, uint64_t every_ns,
		       struct rows *out)
{
	struct functions f = {.s = s, .rows = out, .base_ns = base_ns, .every_ns = every_ns};
	f.of_frame = mem_zalloc(s->stacks->frames.n + 1, sizeof(*f.of_frame));
	int rc = f.of_frame ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; i < s->v.n && !rc; i++)
		rc = add_path(&f, i);
	if (!rc)
		set_shares(&f);
	u64map_release(&f.ids);
	vec_release(&f.names);
	vec_release(&f.seen);
	vec_release(&f.frames);
	mem_free(f.of_frame);
	return rc;
}
