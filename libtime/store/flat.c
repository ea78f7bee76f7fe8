#include "libtime/store/flat.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/radix.h"
#include "libtime/causes/app_frame.h"
#include "libtime/explain/worst.h"
#include "libtime/store/file_facts.h"
#include "libtime/store/finding_rows.h"
#include "libtime/store/store_encode.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct text {
	const char *s;
	size_t n;
};

struct flat {
	struct timeline *tl;
	const struct file_facts *file;
	struct finding_rows *findings;
	struct timeline file_texts, finding_texts; /* only .stacks, which has their texts */
	struct writing encoding;
	struct worst episodes;
	uint8_t *has_stack; /* by call path: 1 if some row has it */
	VEC(uint32_t) frames;
	struct text *folded; /* names of frames as in stack texts; NULL: not made yet */
	struct arena names;
	struct buf stack;
	struct arena stacks; /* of the current rows */
	/* the current table */
	const struct flat_table *table;
	const char *v; /* its structs, as an array */
	size_t n, size;
	struct radix_key *order; /* by time; NULL: as stored */
	/* the current rows */
	char *rows;
	uint64_t *at; /* indexes of v */
	size_t row_size, room;
};

/* --- rows that the timeline does not have --------------------------------------------- */

/* struct flat_offcpu begins with the interval, so the same column offsets work for both. */
static_assert(offsetof(struct flat_offcpu, offcpu) == 0, "flat_off begins with off");

static void flatten_offcpu(const struct timeline *tl, const struct offcpu *o,
			   struct flat_offcpu *to)
{
	uint64_t offcpu_ns = o->end_ns - o->start_ns;
	uint8_t verdict = o->site ? tl->sites.v[o->site].verdict : SITE_WORK;
	*to = (struct flat_offcpu){
		.offcpu = *o,
		.runnable_ns = o->unknown == KNOWN ? offcpu_ns - o->blocked_ns : 0,
		.verdict = o->site ? (uint8_t)(verdict + 1) : 0,
		.system = (tl->threads.v[o->thread].flags & THREAD_SYSTEM) != 0,
	};
	if (o->arg_kind == ARG_NONE) /* arg has no meaning then */
		to->offcpu.arg = 0;
	to->wait_ns = verdict == SITE_IDLE ? to->runnable_ns : offcpu_ns;
	to->work_ns = verdict == SITE_WORK ? offcpu_ns : to->runnable_ns;
}

/* --- stacks as text ------------------------------------------------------------------- */

#define MARK(vec, field)                     \
	for (size_t i = 0; i < (vec).n; i++) \
		f->has_stack[(vec).v[i].field] = 1;

static int mark_stacks(struct flat *f, struct err *e)
{
	const struct timeline *tl = f->tl;
	if (f->folded)
		return 0;
	f->has_stack = mem_zalloc(tl->stacks->paths.n + 1, 1);
	f->folded = mem_zalloc(tl->stacks->frames.n + 1, sizeof(*f->folded));
	if (!f->has_stack || !f->folded)
		return err_nomem(e);
	MARK(tl->offcpu, path)
	MARK(tl->offcpu, waker_path)
	MARK(tl->samples, path)
	MARK(tl->event_samples, path)
	MARK(tl->totals, path)
	return 0;
}

/* A frame's name as it is in stack texts, where a semicolon would separate two frames. */
static int fold_name(struct flat *f, uint32_t frame)
{
	struct text *t = &f->folded[frame];
	buf_clear(&f->stack);
	worst_frame_name(&f->stack, f->tl, frame);
	char *s = arena_strndup(&f->names, buf_cstr(&f->stack), f->stack.n);
	if (!s || buf_failed(&f->stack))
		return ERR_NOMEM;
	*t = (struct text){s, f->stack.n};
	for (; *s; s++)
		if (*s == ';')
			*s = ':';
	return 0;
}

/* Make the names of a path's frames. Returns the path's depth, or ERR_NOMEM. */
static int fold_names(struct flat *f, uint32_t path)
{
	size_t n = stacks_depth(f->tl->stacks, path);
	f->frames.n = 0;
	if (vec_reserve(&f->frames, n))
		return ERR_NOMEM;
	f->frames.n = stacks_frames(f->tl->stacks, path, f->frames.v, n);
	for (size_t i = 0; i < n; i++)
		if (!f->folded[f->frames.v[i]].s && fold_name(f, f->frames.v[i]))
			return ERR_NOMEM;
	return 0;
}

static int stack_cell(struct flat *f, uint32_t path, struct cell *to, struct err *e)
{
	size_t n = 0;
	cell_null(to);
	if (!f->has_stack[path])
		return 0;
	if (fold_names(f, path))
		return err_nomem(e);
	for (size_t i = 0; i < f->frames.n; i++)
		n += f->folded[f->frames.v[i]].n + 1;
	char *text = arena_alloc(&f->stacks, n + 1), *end = text;
	if (!text)
		return err_nomem(e);
	for (size_t i = 0; i < f->frames.n; i++) {
		const struct text *t = &f->folded[f->frames.v[i]];
		memcpy(end, t->s, t->n);
		end += t->n;
		*end++ = ';';
	}
	end[-1] = '\0'; /* a path has at least one frame */
	*to = (struct cell){.s = text, .type = SQLITE_TEXT, .n = (int)(n - 1)};
	return n > INT32_MAX ? err_set(e, ERR_LIMIT, "a stack has more than 2 GB of names") : 0;
}

static int in_cell(struct flat *f, uint32_t path, struct cell *to, struct err *e)
{
	cell_null(to);
	if (!f->has_stack[path])
		return 0;
	uint32_t frame = appframe_of_wait(f->tl, path);
	if (!f->folded[frame].s && fold_name(f, frame))
		return err_nomem(e);
	const struct text *t = &f->folded[frame];
	*to = (struct cell){.s = t->s, .type = SQLITE_TEXT, .n = (int)t->n};
	return 0;
}

int flat_open(struct flat **out, struct timeline *tl, const struct file_facts *file,
	      struct finding_rows *findings, struct err *e)
{
	*out = NULL;
	struct flat *f = mem_zalloc(1, sizeof(*f));
	if (!f)
		return err_nomem(e);
	f->tl = tl;
	f->file = file;
	f->findings = findings;
	f->file_texts.stacks = file->stacks;
	f->finding_texts.stacks = &findings->stacks;
	f->encoding = (struct writing){.tl = tl, .flat = 1};
	int r = worst_collect(&f->episodes, tl, NULL, e);
	if (r)
		flat_close(f);
	else
		*out = f;
	return r;
}

/* --- a table -------------------------------------------------------------------------- */

/* The structs from `from` on: some tables begin with one that means none. */
#define ROWS(vec, from)                                                     \
	(f->v = (vec).n > (from) ? (const char *)((vec).v + (from)) : NULL, \
	 f->n = (vec).n > (from) ? (vec).n - (from) : 0, f->size = sizeof(*(vec).v))

/* One struct, or none if NULL. */
#define ROW(row) (f->v = (const char *)(row), f->n = (row) != NULL, f->size = sizeof(*(row)))

/* The rows of file facts and of findings, which have texts of their own. */
static void find_file_rows(struct flat *f, enum flat_table_id table)
{
	const struct file_facts *file = f->file;
	f->encoding.tl = table < FLAT_FINDINGS ? &f->file_texts : &f->finding_texts;
	switch (table) {
	case FLAT_RECORDING_FILES:
		ROW(file->stacks ? file : NULL);
		break;
	case FLAT_RECORDED_EVENTS:
		ROWS(file->events, 0);
		break;
	case FLAT_RECORD_COUNTS:
		ROWS(file->records, 0);
		break;
	case FLAT_UNNAMED_FILES:
		ROWS(file->unnamed.v, 0);
		break;
	case FLAT_FINDINGS:
		ROWS(f->findings->findings, 0);
		break;
	default: /* FLAT_FINDING_FACTS */
		ROWS(f->findings->facts, 0);
	}
}

static void find_rows(struct flat *f, enum flat_table_id table)
{
	const struct timeline *tl = f->encoding.tl = f->tl;
	switch (table) {
	case FLAT_THREADS:
		ROWS(tl->threads, 0);
		break;
	case FLAT_EVENTS:
		ROWS(tl->events, 0);
		break;
	case FLAT_FRAMES:
		ROWS(tl->stacks->frames, 1);
		break;
	case FLAT_CALL_PATHS:
		ROWS(tl->stacks->paths, 1);
		break;
	case FLAT_SITES:
		ROWS(tl->sites, 1);
		break;
	case FLAT_OFFCPU:
		ROWS(tl->offcpu, 0);
		break;
	case FLAT_TOTALS:
		ROWS(tl->totals, 0);
		break;
	case FLAT_SAMPLES:
		ROWS(tl->samples, 0);
		break;
	case FLAT_EVENT_SAMPLES:
		ROWS(tl->event_samples, 0);
		break;
	case FLAT_SPANS:
		ROWS(tl->spans, 0);
		break;
	case FLAT_LABELS:
		ROWS(tl->labels, 0);
		break;
	case FLAT_MARKS:
		ROWS(tl->marks, 0);
		break;
	case FLAT_LOSSES:
		ROWS(tl->losses, 0);
		break;
	case FLAT_EPISODES:
		ROWS(f->episodes.v, 0);
		break;
	case FLAT_COUNTERS:
		ROWS(tl->counters, 0);
		break;
	case FLAT_TRAMPOLINES:
		ROWS(tl->trampolines, 0);
		break;
	case FLAT_BINDINGS:
		ROWS(tl->bindings, 0);
		break;
	case FLAT_INTERRUPTS:
		ROWS(tl->interrupts, 0);
		break;
	case FLAT_GAPS:
		ROWS(tl->gaps, 0);
		break;
	case FLAT_CONTEXT:
		ROWS(tl->facts, 0);
		break;
	case FLAT_RECORDINGS:
		ROW(tl);
		break;
	default:
		find_file_rows(f, table);
	}
}

static const struct column *column_named(const struct flat_table *t, const char *name)
{
	const struct column *c = t->columns;
	while (strcmp(c->name, name) != 0)
		c++;
	return c;
}

static int sort_rows(struct flat *f, struct err *e)
{
	const struct column *c = column_named(f->table, f->table->time);
	struct radix_key *a = mem_alloc(f->n * sizeof(*a)), *b = mem_alloc(f->n * sizeof(*b));
	for (size_t i = 0; a && b && i < f->n; i++) {
		a[i].at = i;
		memcpy(&a[i].key, f->v + i * f->size + c->at, sizeof(a[i].key));
	}
	f->order = a && b ? radix_sort(a, b, f->n) : NULL;
	mem_free(f->order == a ? NULL : a);
	mem_free(f->order == b ? NULL : b);
	return f->order ? 0 : err_nomem(e);
}

int flat_begin(struct flat *f, enum flat_table_id table, size_t *rows, struct err *e)
{
	f->table = &flat_tables[table];
	mem_free(f->order);
	f->order = NULL;
	mem_free(f->rows);
	f->rows = NULL;
	f->room = 0;
	find_rows(f, table);
	f->row_size = table == FLAT_OFFCPU ? sizeof(struct flat_offcpu) : f->size;
	*rows = f->n;
	if (table == FLAT_CALL_PATHS)
		return mark_stacks(f, e);
	return f->table->time && f->n > 1 ? sort_rows(f, e) : 0;
}

static int make_room(struct flat *f, size_t n, struct err *e)
{
	if (n <= f->room)
		return 0;
	mem_free(f->rows);
	mem_free(f->at);
	f->rows = mem_alloc(n * f->row_size);
	f->at = mem_alloc(n * sizeof(*f->at));
	f->room = f->rows && f->at ? n : 0;
	return f->room ? 0 : err_nomem(e);
}

int flat_gather(struct flat *f, size_t first, size_t n, struct err *e)
{
	int r = make_room(f, n, e);
	arena_release(&f->stacks);
	for (size_t i = 0; !r && i < n; i++) {
		uint64_t at = f->order ? f->order[first + i].at : first + i;
		const void *from = f->v + at * f->size;
		void *to = f->rows + i * f->row_size;
		f->at[i] = at;
		if (f->row_size == f->size)
			memcpy(to, from, f->size);
		else
			flatten_offcpu(f->tl, from, to);
	}
	return r;
}

int flat_cell(struct flat *f, size_t column, size_t i, struct cell *to, struct err *e)
{
	const struct column *c = &f->table->columns[column];
	f->encoding.e = e;
	if (c->kind == COLUMN_STACK)
		return stack_cell(f, (uint32_t)f->at[i] + 1, to, e);
	if (c->kind == COLUMN_IN)
		return in_cell(f, (uint32_t)f->at[i] + 1, to, e);
	return encode_cell(&f->encoding, c, (int64_t)f->at[i] + 1, f->rows + i * f->row_size,
			   to);
}

void flat_close(struct flat *f)
{
	if (!f)
		return;
	mem_free(f->has_stack);
	vec_release(&f->frames);
	buf_release(&f->stack);
	arena_release(&f->stacks);
	arena_release(&f->names);
	mem_free(f->folded);
	mem_free(f->order);
	mem_free(f->rows);
	mem_free(f->at);
	worst_release(&f->episodes);
	mem_free(f);
}
