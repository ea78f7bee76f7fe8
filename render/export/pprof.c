#include "render/export/pprof.h"
#include "base/mem.h"
#include "render/export/gzip.h"
#include "render/export/protobuf.h"

#include <string.h>

/* Fields of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,

	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

/* What samples refer to is numbered from 1 in the order of first use, and written behind them.
 */
struct pprof {
	const struct export_rows *rows;
	const struct stacks *s;
	struct gzip z;
	struct buf b;
	struct strtab strings; /* its ids are those of the string table */
	struct stacks
		groups; /* a path: a frame and what was inlined into it, outermost first */
	struct u64map location_of; /* group << 1 | caller → index of locations */
	VEC(struct pprof_location {
		uint32_t group;
		int caller;
	})
	locations;
	struct u64map function_of; /* name << 32 | srcfile → index of functions */
	VEC(uint32_t) functions;   /* a frame of each */
	struct u64map mapping_of;  /* dso → index of mappings */
	VEC(uint32_t) mappings;
	uint32_t *place_of;   /* path that calls → its location's number; 0: none yet */
	VEC(uint32_t) nodes;  /* paths of the sample at hand that end a group, leaf first */
	VEC(uint32_t) stack;  /* its locations, leaf first */
	VEC(uint32_t) group;  /* paths of a group, innermost first */
	VEC(uint64_t) values; /* one a sample type */
	struct buf thread;    /* labels of the row before that name its thread */
};

enum { FLUSH = 1 << 16 }; /* bytes gathered before they are compressed */

static int flush(struct pprof *p, size_t above, struct err *e)
{
	return p->b.n < above && !buf_failed(&p->b) ? 0 : gzip_add(&p->z, &p->b, e);
}

/* The string table's number of a text; after a failure 0, and the output's state says so. */
static uint32_t text(struct pprof *p, const char *s)
{
	uint32_t id = 0;
	if (strtab_intern(&p->strings, s, &id))
		p->b.failed = ERR_NOMEM;
	return id;
}

static const char *stacks_text(const struct pprof *p, uint32_t id)
{
	return strtab_get(&p->s->strings, id);
}

/* --- sample types --------------------------------------------------------------------- */

/* cpu-clock, task-clock, with whatever perf adds: "cpu-clock:u", "cpu-clock/freq=997/". */
static int is_clock(const struct export_column *c)
{
	return !strcmp(c->unit, "ns") &&
	       (!strncmp(c->name, "cpu-clock", 9) || !strncmp(c->name, "task-clock", 10));
}

/* What readers know as CPU time is called "cpu": that of the first clock. */
static const char *type_name(const struct pprof *p, size_t column)
{
	const struct export_column *v = p->rows->columns.v;
	for (size_t i = 0; i < column; i++)
		if (is_clock(&v[i]))
			return v[column].name;
	return is_clock(&v[column]) ? "cpu" : v[column].name;
}

static void put_type(struct pprof *p, const char *name, const char *unit)
{
	uint32_t type = text(p, name), u = text(p, unit);
	size_t at = pb_open(&p->b, PROFILE_SAMPLE_TYPE);
	pb_u64(&p->b, VALUE_TYPE_TYPE, type);
	pb_u64(&p->b, VALUE_TYPE_UNIT, u);
	pb_close(&p->b, at);
}

/* Two types where a column counts beside; with several columns the counts are told apart. */
static int put_types(struct pprof *p)
{
	const struct export_rows *r = p->rows;
	for (size_t i = 0; i < r->columns.n; i++) {
		const struct export_column *c = &r->columns.v[i];
		struct buf name = {0};
		if (c->count) {
			if (r->columns.n > 1)
				buf_fmt(&name, "%s:", c->name);
			buf_str(&name, c->count);
			put_type(p, buf_cstr(&name), "count");
		}
		put_type(p, type_name(p, i), strcmp(c->unit, "ns") ? "count" : "nanoseconds");
		int failed = buf_failed(&name);
		buf_release(&name);
		if (failed || vec_push(&p->values, 0) || (c->count && vec_push(&p->values, 0)))
			return ERR_NOMEM;
	}
	if (r->shown < r->columns.n)
		pb_u64(&p->b, PROFILE_DEFAULT_SAMPLE_TYPE, text(p, type_name(p, r->shown)));
	if (r->seconds > 0)
		pb_u64(&p->b, PROFILE_DURATION_NANOS, (uint64_t)(r->seconds * 1e9 + 0.5));
	return 0;
}

/* --- samples
 * ----------------------------------------------------------------------------------
 */

/* The number of a location, given at first use. Only of bare addresses it matters whether they
 * called: pprof gets an address there. */
static int location(struct pprof *p, uint32_t group, int caller, uint32_t *id)
{
	const struct frame *f = &p->s->frames.v[p->groups.paths.v[group].frame];
	struct pprof_location l = {group, caller && !f->name && f->addr};
	uint64_t key = (uint64_t)group << 1 | (uint64_t)l.caller;
	uint32_t at;
	if (!u64map_get(&p->location_of, key, &at)) {
		at = (uint32_t)p->locations.n;
		if (vec_push(&p->locations, l) || u64map_put(&p->location_of, key, at))
			return ERR_NOMEM;
	}
	*id = at + 1;
	return 0;
}

/* The path where the group that ends with `path` begins. A frame that is not inlined begins a
 * group, which ends before the next such. */
static uint32_t group_begin(const struct stacks *s, uint32_t path)
{
	while (s->frames.v[s->paths.v[path].frame].flags & FRAME_INLINED &&
	       s->paths.v[path].parent)
		path = s->paths.v[path].parent;
	return path;
}

static int group_of(struct pprof *p, uint32_t path, uint32_t *group)
{
	const struct call_path *paths = p->s->paths.v;
	uint32_t begin = group_begin(p->s, path);
	p->group.n = 0;
	for (;; path = paths[path].parent) {
		if (vec_push(&p->group, path))
			return ERR_NOMEM;
		if (path == begin)
			break;
	}
	*group = 0;
	for (size_t i = p->group.n; i-- > 0;)
		if (stacks_push(&p->groups, *group, paths[p->group.v[i]].frame, group))
			return ERR_NOMEM;
	return 0;
}

/* The number of the location that ends with `path`. */
static int place(struct pprof *p, uint32_t path, int caller, uint32_t *id)
{
	uint32_t group;
	*id = caller ? p->place_of[path] : 0;
	if (*id)
		return 0;
	if (group_of(p, path, &group) || location(p, group, caller, id))
		return ERR_NOMEM;
	if (caller)
		p->place_of[path] = *id;
	return 0;
}

/* The locations of a path into p->stack, numbered from the root on. */
static int locate(struct pprof *p, uint32_t path)
{
	const struct call_path *paths = p->s->paths.v;
	p->nodes.n = 0;
	for (; path; path = paths[group_begin(p->s, path)].parent)
		if (vec_push(&p->nodes, path))
			return ERR_NOMEM;
	if (vec_reserve(&p->stack, p->nodes.n))
		return ERR_NOMEM;
	p->stack.n = p->nodes.n;
	for (size_t i = p->nodes.n; i-- > 0;)
		if (place(p, p->nodes.v[i], i > 0, &p->stack.v[i]))
			return ERR_NOMEM;
	return 0;
}

static void label(struct pprof *p, struct buf *b, const char *key, const char *s, int64_t num)
{
	uint32_t k = text(p, key), v = s ? text(p, s) : 0;
	size_t at = pb_open(b, SAMPLE_LABEL);
	pb_u64(b, LABEL_KEY, k);
	if (s)
		pb_u64(b, LABEL_STR, v);
	else
		pb_i64(b, LABEL_NUM, num);
	pb_close(b, at);
}

static void thread_labels(struct pprof *p, const struct export_row *r)
{
	buf_clear(&p->thread);
	label(p, &p->thread, "comm", stacks_text(p, r->comm), 0);
	if (r->pid >= 0)
		label(p, &p->thread, "pid", NULL, r->pid);
	if (r->tid >= 0)
		label(p, &p->thread, "tid", NULL, r->tid);
	if (buf_failed(&p->thread))
		p->b.failed = ERR_NOMEM;
}

/* p->thread has the labels of r's thread. */
static void labels(struct pprof *p, const struct export_row *r)
{
	buf_add(&p->b, p->thread.v, p->thread.n);
	if (r->cgroup)
		label(p, &p->b, "cgroup", stacks_text(p, r->cgroup), 0);
	if (r->cause)
		label(p, &p->b, "cause", r->cause, 0);
	for (size_t i = 0; p->rows->labels && i < p->rows->labels->lanes.n; i++) {
		uint32_t value = label_sets_value(p->rows->labels, r->labels, i);
		if (value)
			label(p, &p->b, p->rows->label_keys[i], stacks_text(p, value), 0);
	}
}

static void add_values(struct pprof *p, const struct export_row *r)
{
	size_t at = 0;
	for (size_t i = 0; i < r->column; i++)
		at += p->rows->columns.v[i].count ? 2 : 1;
	if (p->rows->columns.v[r->column].count)
		p->values.v[at++] = r->count;
	p->values.v[at] = r->value;
}

/* One sample of n rows that differ in their column. */
static int put_sample(struct pprof *p, const struct export_row *r, size_t n)
{
	if (locate(p, r->path))
		return ERR_NOMEM;
	memset(p->values.v, 0, p->values.n * sizeof(*p->values.v));
	for (size_t i = 0; i < n; i++)
		add_values(p, &r[i]);
	size_t sample = pb_open(&p->b, PROFILE_SAMPLE), at = pb_open(&p->b, SAMPLE_LOCATION_ID);
	pb_packed_u32(&p->b, p->stack.v, p->stack.n);
	pb_close(&p->b, at);
	at = pb_open(&p->b, SAMPLE_VALUE);
	for (size_t i = 0; i < p->values.n; i++)
		pb_packed(&p->b, p->values.v[i] < INT64_MAX ? p->values.v[i] : INT64_MAX);
	pb_close(&p->b, at);
	labels(p, r);
	pb_close(&p->b, sample);
	return 0;
}

static int put_samples(struct pprof *p, struct err *e)
{
	const struct export_row *v = p->rows->v.v;
	int rc = 0;
	for (size_t i = 0, n; i < p->rows->v.n && !rc; i += n) {
		for (n = 1; i + n < p->rows->v.n; n++)
			if (!export_rows_same_stack(&v[i], &v[i + n]))
				break;
		if (!i || !export_rows_same_thread(&v[i - 1], &v[i]))
			thread_labels(p, &v[i]);
		rc = put_sample(p, &v[i], n) ? err_nomem(e) : flush(p, FLUSH, e);
	}
	return rc;
}

/* --- what they refer to
 * -----------------------------------------------------------------------
 */

static int number(struct u64map *map, uint64_t key, size_t n, int *is_new, uint32_t *id)
{
	*is_new = !u64map_get(map, key, id);
	if (*is_new) {
		*id = (uint32_t)n;
		if (u64map_put(map, key, *id))
			return ERR_NOMEM;
	}
	++*id;
	return 0;
}

static int function(struct pprof *p, uint32_t frame, uint32_t *id)
{
	const struct frame *f = &p->s->frames.v[frame];
	int is_new;
	if (number(&p->function_of, (uint64_t)f->name << 32 | f->srcfile, p->functions.n,
		   &is_new, id))
		return ERR_NOMEM;
	return is_new ? vec_push(&p->functions, frame) : 0;
}

static int mapping(struct pprof *p, uint32_t dso, uint32_t *id)
{
	int is_new;
	if (number(&p->mapping_of, dso, p->mappings.n, &is_new, id))
		return ERR_NOMEM;
	return is_new ? vec_push(&p->mappings, dso) : 0;
}

/* The frames of a group, innermost first. */
static int put_lines(struct pprof *p, uint32_t group)
{
	const struct call_path *paths = p->groups.paths.v;
	for (; group; group = paths[group].parent) {
		const struct frame *f = &p->s->frames.v[paths[group].frame];
		uint32_t id;
		if (!f->name)
			continue;
		if (function(p, paths[group].frame, &id))
			return ERR_NOMEM;
		size_t at = pb_open(&p->b, LOCATION_LINE);
		pb_u64(&p->b, LINE_FUNCTION_ID, id);
		if (f->line)
			pb_u64(&p->b, LINE_LINE, f->line);
		pb_close(&p->b, at);
	}
	return 0;
}

static int put_location(struct pprof *p, size_t i)
{
	const struct pprof_location *l = &p->locations.v[i];
	const struct frame *f = &p->s->frames.v[p->groups.paths.v[l->group].frame];
	uint32_t id;
	size_t at = pb_open(&p->b, PROFILE_LOCATION);
	pb_u64(&p->b, LOCATION_ID, i + 1);
	if (f->dso) {
		if (mapping(p, f->dso, &id))
			return ERR_NOMEM;
		pb_u64(&p->b, LOCATION_MAPPING_ID, id);
	}
	if (!f->name)
		pb_u64(&p->b, LOCATION_ADDRESS, f->addr - (l->caller ? 1 : 0));
	int rc = put_lines(p, l->group);
	pb_close(&p->b, at);
	return rc;
}

static void put_function(struct pprof *p, size_t i)
{
	const struct frame *f = &p->s->frames.v[p->functions.v[i]];
	uint32_t name = text(p, stacks_text(p, f->name));
	uint32_t file = text(p, stacks_text(p, f->srcfile));
	size_t at = pb_open(&p->b, PROFILE_FUNCTION);
	pb_u64(&p->b, FUNCTION_ID, i + 1);
	pb_u64(&p->b, FUNCTION_NAME, name);
	pb_u64(&p->b, FUNCTION_SYSTEM_NAME, name);
	if (file)
		pb_u64(&p->b, FUNCTION_FILENAME, file);
	pb_close(&p->b, at);
}

/* All that could be named is named: pprof is not to look for symbols itself. */
static void put_mapping(struct pprof *p, size_t i)
{
	uint32_t name = text(p, stacks_text(p, p->mappings.v[i]));
	uint32_t id = text(p, stacks_build_id(p->s, p->mappings.v[i]));
	size_t at = pb_open(&p->b, PROFILE_MAPPING);
	pb_u64(&p->b, MAPPING_ID, i + 1);
	pb_u64(&p->b, MAPPING_FILENAME, name);
	if (id)
		pb_u64(&p->b, MAPPING_BUILD_ID, id);
	for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE_FRAMES;
	     field++)
		pb_u64(&p->b, field, 1);
	pb_close(&p->b, at);
}

static int put_tables(struct pprof *p, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < p->locations.n && !rc; i++)
		rc = put_location(p, i) ? err_nomem(e) : flush(p, FLUSH, e);
	for (size_t i = 0; i < p->functions.n && !rc; i++) {
		put_function(p, i);
		rc = flush(p, FLUSH, e);
	}
	for (size_t i = 0; i < p->mappings.n && !rc; i++) {
		put_mapping(p, i);
		rc = flush(p, FLUSH, e);
	}
	pb_text(&p->b, PROFILE_STRING_TABLE, "");
	for (uint32_t i = 1; i < strtab_count(&p->strings) && !rc; i++) {
		pb_text(&p->b, PROFILE_STRING_TABLE, strtab_get(&p->strings, i));
		rc = flush(p, FLUSH, e);
	}
	return rc ? rc : flush(p, 0, e);
}

static void release(struct pprof *p)
{
	buf_release(&p->b);
	strtab_release(&p->strings);
	stacks_release(&p->groups);
	u64map_release(&p->location_of);
	u64map_release(&p->function_of);
	u64map_release(&p->mapping_of);
	vec_release(&p->locations);
	vec_release(&p->functions);
	vec_release(&p->mappings);
	mem_free(p->place_of);
	vec_release(&p->nodes);
	vec_release(&p->stack);
	vec_release(&p->group);
	vec_release(&p->values);
	buf_release(&p->thread);
}

int pprof_write(const struct export_rows *rows, FILE *f, struct err *e)
{
	struct pprof p = {.rows = rows, .s = rows->stacks};
	int rc = gzip_begin(&p.z, f, e);
	if (rc)
		return rc;
	p.place_of = mem_zalloc(p.s->paths.n + 1, sizeof(*p.place_of));
	rc = !p.place_of || put_types(&p) ? err_nomem(e) : put_samples(&p, e);
	rc = rc ? rc : put_tables(&p, e);
	rc = gzip_end(&p.z, rc, e);
	release(&p);
	return rc;
}
