#include "libtime/store/store_rows.h"
#include "libtime/sched/timeline_query.h"
#include "libtime/store/file_facts.h"
#include "libtime/store/finding_rows.h"
#include "libtime/store/kept_source.h"
#include "base/check.h"
#include "base/mem.h"
#include "libparse/sample.h"
#include "libtime/store/store.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- opening ----------------------------------------------------------------------------- */

/* Refuse virtual tables and generated columns: they run what another program wrote, with no
 * limit on time or memory. */
static int check_plain(struct store *s, struct err *e)
{
	int64_t computed;
	int r = store_query_int(
		s,
		"SELECT (SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
		"AND rootpage = 0) + (SELECT count(*) FROM sqlite_schema AS t, "
		"pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' "
		"AND c.hidden <> 0)",
		0, &computed, e);
	if (!r && computed)
		r = err_set(e, ERR_REFUSED,
			    "%s: not one of perfkit's stores: it computes tables or columns",
			    s->path);
	return r;
}

static int is_declared(const char *name)
{
	for (size_t i = 0; name && i < STORE_TABLES; i++)
		if (!strcmp(store_tables[i].name, name))
			return 1;
	return 0;
}

/* How many of the declared tables exist. */
static int count_tables(struct store *s, int64_t *n, struct err *e)
{
	sqlite3_stmt *st;
	int got;
	*n = 0;
	store_allow(s);
	if (sqlite3_prepare_v2(s->db, "SELECT name FROM sqlite_schema WHERE type = 'table'", -1,
			       &st, NULL))
		return store_db_failed(s, e);
	while ((got = sqlite3_step(st)) == SQLITE_ROW)
		*n += is_declared((const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return got == SQLITE_DONE ? 0 : store_db_failed(s, e);
}

static int check_kind(struct store *s, struct err *e)
{
	int64_t application, version, tables;
	int r = store_query_int(s, "PRAGMA application_id", 0, &application, e);
	if (!r)
		r = store_query_int(s, "PRAGMA user_version", 0, &version, e);
	if (!r)
		r = count_tables(s, &tables, e);
	if (r)
		return r;
	if (application != STORE_APPLICATION)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: an SQLite file, but not one of perfkit's", s->path);
	if (version > STORE_VERSION)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: a store of version %lld, made by a newer perfkit; this one "
			       "reads version %d",
			       s->path, (long long)version, STORE_VERSION);
	if (version > 0 && version < STORE_VERSION)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: a store of version %lld, made by an older perfkit; import "
			       "the recording again",
			       s->path, (long long)version);
	if (version < 1 || tables != STORE_TABLES)
		return err_set(e, ERR_FORMAT, "%s: a damaged store: tables are missing",
			       s->path);
	return check_plain(s, e);
}

int store_open(struct store **out, const char *path, struct err *e)
{
	struct stat st;
	*out = NULL;
	if (stat(path, &st))
		return errno == ENOENT ? err_set(e, ERR_NOTFOUND, "%s: no such file", path)
				       : err_sys(e, "%s: cannot open", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", path);
	struct store *s = mem_zalloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	int r = 0;
	s->path = mem_strdup(path);
	if (!s->path)
		r = err_nomem(e);
	r = r ? r : store_check_beside(path, e);
	if (!r && store_connect(s))
		r = s->db ? store_db_failed(s, e) : err_nomem(e);
	if (!r)
		r = check_kind(s, e);
	if (r)
		store_close(s);
	else
		*out = s;
	return r;
}

static void drop_names(struct store *s)
{
	struct row_map *const maps[] = {&s->frame, &s->path_of, &s->comm,
					&s->dso,   &s->symbol,  &s->file};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		row_map_release(maps[i]);
	s->stacks = NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close_v2(s->db);
	drop_names(s);
	vec_release(&s->recordings);
	arena_release(&s->texts);
	mem_free(s->path);
	mem_free(s);
}

/* Each one is searched for in the rows of all. */
enum { MAX_RECORDINGS = 4096 };

/* NULL if there is no memory, or more text than the file can have. */
static const char *column_text(struct store *s, sqlite3_stmt *st, int col)
{
	const char *text = (const char *)sqlite3_column_text(st, col);
	size_t n = text ? strlen(text) : 0;
	return store_text_over_budget(s, n) ? NULL
					    : arena_strndup(&s->texts, text ? text : "", n);
}

int store_recordings(struct store *s, const struct store_recording **v, size_t *n,
		     struct err *e)
{
	sqlite3_stmt *st = NULL;
	int got = SQLITE_DONE, r = 0;
	store_allow(s);
	if (!s->recordings.n &&
	    sqlite3_prepare_v2(s->db, "SELECT id,host,file FROM recordings ORDER BY id", -1,
			       &st, NULL))
		return store_db_failed(s, e);
	while (st && !r && (got = sqlite3_step(st)) == SQLITE_ROW) {
		struct store_recording x = {.id = sqlite3_column_int64(st, 0),
					    .host = column_text(s, st, 1),
					    .file = column_text(s, st, 2)};
		if (!s->text)
			r = store_endless(s, e);
		else if (s->recordings.n && x.id <= s->recordings.v[s->recordings.n - 1].id)
			r = err_set(e, ERR_FORMAT,
				    "%s: a damaged store: recording %lld is there twice",
				    s->path, (long long)x.id);
		else if (s->recordings.n == MAX_RECORDINGS)
			r = err_set(e, ERR_LIMIT, "%s: more than %d recordings in one store",
				    s->path, MAX_RECORDINGS);
		else if (!x.host || !x.file || vec_push(&s->recordings, x))
			r = err_nomem(e);
	}
	sqlite3_finalize(st);
	if (!r && got == SQLITE_DONE && !s->recordings.n)
		r = err_set(e, ERR_FORMAT, "%s: a damaged store: it has no recordings",
			    s->path);
	*v = s->recordings.v;
	*n = s->recordings.n;
	return r ? r : got == SQLITE_DONE ? 0 : store_db_failed(s, e);
}

/* --- tables ------------------------------------------------------------------------------ */

static int read_recording(struct load *l)
{
	int r = rows_select(l, TABLE_RECORDINGS, NULL);
	r = r ? r : rows_next(l, l->tl);
	if (r <= 0)
		return r ? r
			 : err_set(l->e, ERR_NOTFOUND, "%s: no recording %lld in this store",
				   l->s->path, (long long)l->recording);
	return l->bad ? rows_damaged(l, "a time or number out of range") : rows_next(l, l->tl);
}

/* Tables of id and text: → strings ids. */
static int read_names(struct load *l, enum store_table table, struct row_map *map)
{
	struct store_name x = {0};
	int r = rows_select(l, table, NULL), got = 0;
	while (!r && (got = rows_next(l, &x)) == 1) {
		const struct strtab *s = &l->stacks->strings;
		if (row_map_put(map, l->id, x.name) ||
		    (x.build_id &&
		     stacks_note_build_id(l->stacks, x.name, strtab_get(s, x.build_id))))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int add_index(struct load *l, struct row_map *map, size_t index)
{
	return map ? row_map_put(map, l->id, (uint32_t)index) : 0;
}

enum { LIMIT = INT32_MAX };

/* 1 if a row cannot be, after the one `before` it (NULL: the first). */
typedef int row_check(const void *row, const void *before);

/* A table whose rows are the elements of a VEC, in order. */
struct vec_table {
	enum store_table table;
	size_t limit;
	row_check *is_wrong; /* or NULL */
	const char *damage;  /* what is wrong then, or where a column's value cannot be */
};

struct elements {
	void **v;
	size_t *n, *cap, size;
};
#define ELEMENTS(vec) \
	((struct elements){(void **)&(vec).v, &(vec).n, &(vec).cap, sizeof(*(vec).v)})

/* map: gets row ids → indices; or NULL. */
static int read_vec(struct load *l, const struct vec_table *t, struct elements to,
		    struct row_map *map)
{
	int r = rows_select(l, t->table, NULL), got = 0;
	while (!r) {
		if (*to.n == *to.cap && vec_grow_(to.v, to.cap, *to.n, 1, to.size))
			return rows_nomem(l);
		char *row = (char *)*to.v + *to.n * to.size;
		memset(row, 0, to.size);
		got = rows_next(l, row);
		if (got != 1)
			break;
		if (l->bad || *to.n >= t->limit ||
		    (t->is_wrong && t->is_wrong(row, *to.n ? row - to.size : NULL)))
			return rows_damaged(l, t->damage);
		r = add_index(l, map, *to.n) ? rows_nomem(l) : 0;
		*to.n += !r;
	}
	return r ? r : got;
}

static int thread_is_wrong(const void *row, const void *before)
{
	const struct tl_thread *x = row;
	(void)before;
	return x->last_ns < x->first_ns;
}

static int read_threads(struct load *l)
{
	static const struct vec_table t = {TABLE_THREADS, LIMIT, thread_is_wrong,
					   "a time or number out of range"};
	return read_vec(l, &t, ELEMENTS(l->tl->threads), &l->thread);
}

static int read_events(struct load *l)
{
	static const struct vec_table t = {TABLE_EVENTS, UINT16_MAX, NULL, "too many events"};
	return read_vec(l, &t, ELEMENTS(l->tl->events), &l->event);
}

void store_want_places(struct store *s)
{
	s->places = 1;
}

static int add_frame(const struct load *l, struct frame *x, uint32_t *id)
{
	x->at = l->s->places ? x->at : 0;
	return stacks_frame(l->stacks, x, id);
}

static int read_frames(struct load *l)
{
	struct frame x = {0};
	int r = rows_select(l, TABLE_FRAMES, NULL), got = 0;
	while (!r && (got = rows_next(l, &x)) == 1) {
		uint32_t id;
		if (l->bad)
			return rows_damaged(l, "a symbol or line that is not there");
		if (add_frame(l, &x, &id) || add_index(l, &l->s->frame, id))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

int store_read_frame(struct load *l, int64_t row, uint32_t *id)
{
	struct load *f = l->frames;
	struct frame x = {0};
	sqlite3_reset(f->st);
	sqlite3_bind_int64(f->st, 2, row);
	f->any = 0;
	int got = f->st ? rows_next(f, &x) : 0;
	if (got == 1 && !f->bad)
		return add_frame(l, &x, id) || row_map_put(&l->s->frame, row, *id) ? ERR_NOMEM
										   : 1;
	return got == ERR_NOMEM ? got : 0;
}

/* Parents come before their children, so there are no cycles. Each path of a recording is stored
 * once, so with their places the paths of the first one need no lookup. */
static int read_tree(struct load *l, enum store_table table, struct row_map *map)
{
	struct folded_path x = {0}; /* begins with a call path */
	int r = rows_select(l, table, NULL), got = 0;
	int fresh = l->s->places && l->stacks->paths.n <= 1;
	while (!r && (got = rows_next(l, &x)) == 1) {
		uint32_t id;
		if (l->bad || !x.path.frame)
			return rows_damaged(l, "a parent or frame that is not there");
		if ((fresh ? stacks_append : stacks_push)(l->stacks, x.path.parent,
							  x.path.frame, &id) ||
		    add_index(l, map, id))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_paths(struct load *l)
{
	return read_tree(l, TABLE_CALL_PATHS, &l->s->path_of);
}

/* Most frames of a recording are addresses that folded paths do not have. */
static int read_folded_paths(struct load *l)
{
	struct load frames = *l;
	int r = rows_select(&frames, TABLE_FRAMES, "id = ?2");
	l->frames = &frames;
	r = r ? r : read_tree(l, TABLE_FOLDED_PATHS, &l->folded);
	l->frames = NULL;
	sqlite3_finalize(frames.st);
	return r;
}

static int read_sites(struct load *l)
{
	static const struct vec_table t = {TABLE_SITES, LIMIT, NULL,
					   "a frame or number out of range"};
	if (vec_push(&l->tl->sites, (struct tl_site){0}))
		return err_nomem(l->e);
	return read_vec(l, &t, ELEMENTS(l->tl->sites), &l->site);
}

static int read_kinds(struct load *l)
{
	static const struct vec_table t = {TABLE_KINDS, LIMIT, NULL, "a number out of range"};
	return read_vec(l, &t, ELEMENTS(l->kinds), &l->kind);
}

static int read_tasks(struct load *l)
{
	static const struct vec_table t = {TABLE_TASKS, LIMIT, NULL,
					   "a thread or event that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tasks), &l->task);
}

static int read_sums(struct load *l)
{
	static const struct vec_table t = {TABLE_SUMS, LIMIT, NULL,
					   "a thread or stack that is not there"};
	return read_vec(l, &t, ELEMENTS(l->sums), &l->sum);
}

static uint64_t period_of(const struct sample_row *x, const struct sample_task *t)
{
	return x->period == UINT64_MAX ? t->period : x->period;
}

static int read_samples(struct load *l)
{
	struct sample_row x = {0};
	int r = rows_select(l, TABLE_SAMPLES, NULL), got = 0;
	while (!r && (got = rows_next(l, &x)) == 1) {
		if (l->bad)
			return rows_damaged(l,
					    "a thread, stack, CPU or time that is not there");
		const struct sample_sum *sum = &l->sums.v[x.sum];
		const struct sample_task *t = &l->tasks.v[sum->task];
		struct tl_sample s = {.time_ns = x.time_ns,
				      .period = period_of(&x, t),
				      .thread = t->thread,
				      .comm = t->comm,
				      .path = sum->path,
				      .event = t->event,
				      .cpu = x.cpu};
		r = bigvec_push(&l->tl->samples, s, l->e);
	}
	return r ? r : got;
}

static int read_event_samples(struct load *l)
{
	struct sample_row x = {0};
	int r = rows_select(l, TABLE_EVENT_SAMPLES, NULL), got = 0;
	while (!r && (got = rows_next(l, &x)) == 1) {
		if (l->bad)
			return rows_damaged(l, "a stack, CPU or time that is not there");
		const struct sample_sum *sum = &l->sums.v[x.sum];
		const struct sample_task *t = &l->tasks.v[sum->task];
		struct tl_event_sample s = {
			.time_ns = sample_is_time(x.time_ns) ? x.time_ns : SAMPLE_DUMMY_TIMES,
			.period = period_of(&x, t),
			.pid = t->pid,
			.tid = t->tid,
			.comm = t->comm,
			.path = sum->path,
			.event = t->event,
			.cpu = x.cpu};
		r = bigvec_push(&l->tl->event_samples, s, l->e);
	}
	return r ? r : got;
}

static int read_totals(struct load *l)
{
	static const struct vec_table t = {TABLE_TOTALS, LIMIT, NULL,
					   "a thread, stack or time that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tl->totals), NULL);
}

static int span_is_wrong(const void *row, const void *last)
{
	const struct tl_span *x = row;
	(void)last;
	return (x->thread == TL_NONE) != (x->end_thread == TL_NONE) || x->end_ns < x->start_ns;
}

static int read_spans(struct load *l)
{
	static const struct vec_table t = {TABLE_SPANS, LIMIT, span_is_wrong,
					   "a thread, parent or time that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tl->spans), &l->span);
}

static int label_is_wrong(const void *row, const void *last)
{
	const struct tl_label *x = row, *before = last;
	return before && before->span > x->span;
}

static int read_labels(struct load *l)
{
	static const struct vec_table t = {TABLE_LABELS, LIMIT, label_is_wrong,
					   "a span that is not there, or not in order"};
	return read_vec(l, &t, ELEMENTS(l->tl->labels), NULL);
}

static int counter_is_wrong(const void *row, const void *last)
{
	const struct tl_counter *x = row, *before = last;
	return before && before->span > x->span;
}

static int read_counters(struct load *l)
{
	static const struct vec_table t = {TABLE_COUNTERS, LIMIT, counter_is_wrong,
					   "a span that is not there, or not in order"};
	return read_vec(l, &t, ELEMENTS(l->tl->counters), NULL);
}

static int trampoline_is_wrong(const void *row, const void *last)
{
	const struct tl_trampoline *x = row, *before = last;
	return x->history >= LIMIT || (before && before->frame > x->frame);
}

static int read_trampolines(struct load *l)
{
	static const struct vec_table t = {TABLE_TRAMPOLINES, LIMIT, trampoline_is_wrong,
					   "a function that is not there, or not in order"};
	return read_vec(l, &t, ELEMENTS(l->tl->trampolines), NULL);
}

static int binding_follows(const struct tl_binding *a, const struct tl_binding *b)
{
	return a->history < b->history ||
	       (a->history == b->history && a->from_ns <= b->from_ns);
}

static int binding_is_wrong(const void *row, const void *last)
{
	const struct tl_binding *x = row, *before = last;
	return x->history >= LIMIT || (before && !binding_follows(before, x));
}

static int read_bindings(struct load *l)
{
	static const struct vec_table t = {TABLE_BINDINGS, LIMIT, binding_is_wrong,
					   "a time out of range, or not in order"};
	return read_vec(l, &t, ELEMENTS(l->tl->bindings), NULL);
}

static int read_histories(struct load *l)
{
	struct timeline *tl = l->tl;
	int r = read_trampolines(l);
	for (size_t i = 0; i < tl->trampolines.n; i++)
		tl->trampolines.v[i].thread_end = (uint32_t)tl->threads.n;
	return r ? r : read_bindings(l);
}

static int read_marks(struct load *l)
{
	static const struct vec_table t = {TABLE_MARKS, LIMIT, NULL,
					   "a thread, stack or time that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tl->marks), NULL);
}

static int interrupt_is_wrong(const void *row, const void *last)
{
	const struct tl_interrupt *x = row;
	(void)last;
	return x->end_ns < x->start_ns || x->cpu == TL_NOCPU;
}

static int read_interrupts(struct load *l)
{
	static const struct vec_table t = {TABLE_INTERRUPTS, LIMIT, interrupt_is_wrong,
					   "a thread, CPU or time that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tl->interrupts), NULL);
}

static int gap_is_wrong(const void *row, const void *last)
{
	const struct tl_gap *x = row;
	(void)last;
	return x->end_ns < x->start_ns || x->lost_ns > x->end_ns - x->start_ns ||
	       x->cpu == TL_NOCPU;
}

static int read_gaps(struct load *l)
{
	static const struct vec_table t = {TABLE_GAPS, LIMIT, gap_is_wrong,
					   "a thread, CPU or time that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tl->gaps), NULL);
}

static int read_losses(struct load *l)
{
	static const struct vec_table t = {TABLE_LOSSES, LIMIT, NULL,
					   "a time or number out of range"};
	return read_vec(l, &t, ELEMENTS(l->tl->losses), NULL);
}

static int read_context(struct load *l)
{
	static const struct vec_table t = {TABLE_CONTEXT, LIMIT, NULL,
					   "a text that is not there"};
	return read_vec(l, &t, ELEMENTS(l->tl->facts), NULL);
}

/* --- a whole recording ---------------------------------------------------------------- */

/* Names are read once for all recordings that go into the same `stacks`. */
static int read_shared(struct load *l)
{
	struct store *s = l->s;
	if (s->stacks == l->stacks)
		return 0;
	drop_names(s);
	int r = read_names(l, TABLE_COMMS, &s->comm);
	r = r ? r : read_names(l, TABLE_SYMBOLS, &s->symbol);
	r = r ? r : read_names(l, TABLE_FILES, &s->file);
	if (!r)
		s->stacks = l->stacks;
	return r;
}

static int read_dsos(struct load *l)
{
	return read_names(l, TABLE_DSOS, &l->s->dso);
}

/* Keep the sums instead of the samples that they add up. */
static int keep_sums(struct load *l)
{
	struct sample_sum x = {0};
	int r = rows_select(l, TABLE_SUMS, NULL), got = 0;
	while (!r && (got = rows_next(l, &x)) == 1) {
		if (l->bad)
			return rows_damaged(l, "a thread or stack that is not there");
		const struct sample_task *t = &l->tasks.v[x.task];
		struct tl_sum sum = {.samples = x.samples,
				     .weight = x.weight,
				     .first_ns = t->first_ns,
				     .last_ns = t->last_ns,
				     .pid = t->pid,
				     .tid = t->tid,
				     .comm = t->comm,
				     .path = x.path,
				     .event = t->event};
		r = bigvec_push(&l->tl->sums, sum, l->e);
	}
	return r ? r : got;
}

/* A sum of each event, without samples yet: with the times of its first and last one. */
static struct tl_sum *sums_of_events(const struct load *l)
{
	struct tl_sum *of = mem_zalloc(l->tl->events.n + 1, sizeof(*of));
	for (size_t i = 0; of && i < l->tl->events.n; i++)
		of[i] = (struct tl_sum){
			.first_ns = UINT64_MAX, .pid = -1, .tid = -1, .event = (uint16_t)i};
	for (size_t i = 0; of && i < l->tasks.n; i++) {
		const struct sample_task *t = &l->tasks.v[i];
		struct tl_sum *x = &of[t->event];
		x->first_ns = t->first_ns < x->first_ns ? t->first_ns : x->first_ns;
		x->last_ns = t->last_ns > x->last_ns ? t->last_ns : x->last_ns;
	}
	return of;
}

/* The same of sums without threads. */
static int keep_folded(struct load *l)
{
	struct folded_sum x = {0};
	struct tl_sum *of = sums_of_events(l);
	int r = of ? rows_select(l, TABLE_FOLDED_SUMS, NULL) : err_nomem(l->e), got = 0;
	while (!r && (got = rows_next(l, &x)) == 1) {
		if (l->bad) {
			r = rows_damaged(l, "an event or stack that is not there");
			break;
		}
		struct tl_sum sum = of[x.event];
		sum.samples = x.samples;
		sum.weight = x.weight;
		sum.comm = x.comm;
		sum.path = x.path;
		r = bigvec_push(&l->tl->sums, sum, l->e);
	}
	mem_free(of);
	return r ? r : got;
}

typedef int read_table(struct load *l);

static int read_each(struct load *l, read_table *const *tables)
{
	int r = 0;
	for (; !r && *tables; tables++)
		r = (*tables)(l);
	return r;
}

static int read_all(struct load *l, enum store_contents what)
{
	static read_table *const first[] = {read_recording, read_shared, read_dsos,
					    read_threads,   read_events, read_tasks,
					    read_context,   NULL};
	static read_table *const folded[] = {read_folded_paths, keep_folded, NULL};
	static read_table *const sums[] = {read_frames, read_paths, keep_sums, NULL};
	static read_table *const rest[] = {
		read_frames, read_paths,        read_sums,     read_sites,
		read_kinds,  store_read_offcpu, read_samples,  read_totals,
		read_spans,  read_labels,       read_counters, read_histories,
		read_marks,  read_interrupts,   read_gaps,     read_losses,
		NULL};
	int r = read_each(l, first);
	if (!r)
		r = read_each(l, what == STORE_FOLDED ? folded
				 : what == STORE_SUMS ? sums
						      : rest);
	if (!r &&
	    (what == STORE_ALL || (what == STORE_REPORT && !timeline_has_switches(l->tl))))
		r = read_event_samples(l);
	if (!r)
		r = timeline_finish(l->tl, l->e);
	if (!r && timeline_check(l->tl, l->e)) {
		err_prefix(l->e, "%s: a damaged store", l->s->path);
		r = ERR_FORMAT;
	}
	return r;
}

int store_load(struct store *s, int64_t recording, enum store_contents what,
	       struct timeline *tl, struct stacks *stacks, struct err *e)
{
	struct load l = {.s = s, .tl = tl, .stacks = stacks, .e = e, .recording = recording};
	const struct store_recording *v;
	size_t n;
	int r = store_recordings(s, &v, &n, e);
	if (!r && !recording)
		r = store_query_int(s, "SELECT min(id) FROM recordings", 0, &l.recording, e);
	*tl = (struct timeline){.stacks = stacks};
	if (!r && timeline_init(tl, stacks))
		r = err_nomem(e);
	if (!r)
		r = read_all(&l, what);
	sqlite3_finalize(l.st);
	row_map_release(&l.thread);
	row_map_release(&l.event);
	row_map_release(&l.span);
	row_map_release(&l.site);
	row_map_release(&l.kind);
	row_map_release(&l.task);
	row_map_release(&l.sum);
	row_map_release(&l.folded);
	vec_release(&l.kinds);
	vec_release(&l.tasks);
	vec_release(&l.sums);
	return r;
}

/* --- a recording as a file ------------------------------------------------------------ */

void file_facts_release(struct file_facts *f)
{
	stacks_release(&f->own);
	vec_release(&f->events);
	vec_release(&f->records);
	vec_release(&f->unnamed.v);
	*f = (struct file_facts){0};
}

static int read_file(struct load *l, struct file_facts *out)
{
	int got = 0, r = rows_select(l, TABLE_RECORDING_FILES, NULL);
	while (!r && (got = rows_next(l, out)) == 1)
		if (l->bad || out->stacks)
			return rows_damaged(l, "a number out of range, or a second file");
		else
			out->stacks = &out->own;
	return r ? r : got;
}

static int read_recorded_events(struct load *l, struct file_facts *out)
{
	static const struct vec_table t = {TABLE_RECORDED_EVENTS, LIMIT, NULL,
					   "a number out of range"};
	return read_vec(l, &t, ELEMENTS(out->events), NULL);
}

static int read_record_counts(struct load *l, struct file_facts *out)
{
	static const struct vec_table t = {TABLE_RECORD_COUNTS, LIMIT, NULL,
					   "a number out of range"};
	return read_vec(l, &t, ELEMENTS(out->records), NULL);
}

static int read_unnamed(struct load *l, struct file_facts *out)
{
	static const struct vec_table t = {TABLE_UNNAMED_FILES, LIMIT, NULL,
					   "a number out of range"};
	return read_vec(l, &t, ELEMENTS(out->unnamed.v), NULL);
}

int store_read_file(struct store *s, int64_t recording, struct file_facts *out, struct err *e)
{
	struct load l = {.s = s, .stacks = &out->own, .e = e, .recording = recording};
	*out = (struct file_facts){0};
	int r = read_file(&l, out);
	r = r ? r : read_recorded_events(&l, out);
	r = r ? r : read_record_counts(&l, out);
	r = r ? r : read_unnamed(&l, out);
	sqlite3_finalize(l.st);
	/* a store without facts is one of an imported timeline; facts have a file */
	if (!r && !out->stacks && (out->events.n || out->records.n || out->unnamed.v.n))
		r = err_set(e, ERR_FORMAT,
			    "%s: a damaged store: recording_files lacks recording %lld",
			    s->path, (long long)recording);
	return r;
}

/* --- findings ----------------------------------------------------------------------- */

void finding_rows_release(struct finding_rows *f)
{
	stacks_release(&f->stacks);
	vec_release(&f->findings);
	vec_release(&f->facts);
	*f = (struct finding_rows){0};
}

static int read_findings(struct load *l, struct finding_rows *out)
{
	static const struct vec_table t = {TABLE_FINDINGS, LIMIT, NULL, "too many findings"};
	return read_vec(l, &t, ELEMENTS(out->findings), &l->finding);
}

static int fact_is_wrong(const void *row, const void *last)
{
	const struct finding_fact *x = row;
	(void)last;
	return x->unit == FACT_SHARE && x->number > x->whole;
}

static int read_finding_facts(struct load *l, struct finding_rows *out)
{
	static const struct vec_table t = {
		TABLE_FINDING_FACTS, LIMIT, fact_is_wrong,
		"a number out of range, or a finding that is not there"};
	return read_vec(l, &t, ELEMENTS(out->facts), NULL);
}

int store_read_finding_rows(struct store *s, int64_t recording, struct finding_rows *out,
			    struct err *e)
{
	struct load l = {.s = s, .stacks = &out->stacks, .e = e, .recording = recording};
	*out = (struct finding_rows){0};
	int r = read_findings(&l, out);
	r = r ? r : read_finding_facts(&l, out);
	sqlite3_finalize(l.st);
	row_map_release(&l.finding);
	return r;
}

/* --- code and texts ------------------------------------------------------------------- */

static int code_is_wrong(const void *row, const void *last)
{
	const struct kept_code *x = row;
	(void)last;
	return x->machine > UINT16_MAX;
}

int store_read_source(struct store *s, int64_t recording, struct kept_source *out,
		      struct err *e)
{
	static const struct vec_table code = {TABLE_CODE, LIMIT, code_is_wrong,
					      "a number out of range"};
	static const struct vec_table texts = {TABLE_TEXTS, LIMIT, NULL,
					       "a number out of range"};
	struct load l = {.s = s,
			 .stacks = &out->stacks,
			 .e = e,
			 .recording = recording,
			 .bytes = &out->bytes};
	int r = read_vec(&l, &code, ELEMENTS(out->code), NULL);
	r = r ? r : read_vec(&l, &texts, ELEMENTS(out->texts), NULL);
	sqlite3_finalize(l.st);
	return r;
}
