/*
 * store_read_offcpu.c - reads the off-CPU intervals of a store: by far its largest table. It is
 * read in parts, each by a thread with a connection of its own, into one array.
 */
#include "base/mem.h"
#include "libtime/store/store_rows.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_PARTS = 4,
	ROWS_PER_PART = 65536,
	ROW_BYTES = 16, /* no row is smaller: the record's header alone has a byte per column */
};

/* The row ids from..to. The maps of row ids are only read. */
struct offcpu_part {
	pthread_t thread;
	int started;
	int64_t from, to;
	struct offcpu *v; /* its rows' place in the array */
	size_t n, room;
	struct store store;
	struct load load;
	struct err e;
	int r;
};

/* Make an interval from its row, kind and site. */
static struct offcpu make_interval(const struct load *l, const struct offcpu_row *row)
{
	const struct offcpu_kind *k = &l->kinds.v[row->kind];
	struct offcpu o = row->offcpu;
	o.state = k->state;
	o.cause = k->cause;
	o.waker_context = k->waker_context;
	o.unknown = k->unknown;
	o.flags = (uint8_t)(k->flags | site_flags(&l->tl->sites.v[o.site]));
	o.arg_kind = k->arg_kind;
	o.syscall = k->syscall;
	o.arg = k->arg;
	return o;
}

static int read_rows(struct offcpu_part *p)
{
	struct load *l = &p->load;
	struct offcpu_row row = {0};
	int got = 0;
	int r = rows_select(l, TABLE_OFFCPU, "id BETWEEN ?2 AND ?3");
	if (!r) {
		sqlite3_bind_int64(l->st, 2, p->from);
		sqlite3_bind_int64(l->st, 3, p->to);
	}
	while (!r && (got = rows_next(l, &row)) == 1) {
		if (l->bad)
			return rows_damaged(l,
					    "a thread, stack, CPU or time that is not there");
		if (p->n == p->room)
			return rows_damaged(l, "more rows than there are ids");
		p->v[p->n++] = make_interval(l, &row);
	}
	return r ? r : got;
}

static void *read_part(void *arg)
{
	struct offcpu_part *p = arg;
	if (store_connect(&p->store))
		p->r = p->store.db ? store_db_failed(&p->store, &p->e) : err_nomem(&p->e);
	if (!p->r)
		p->r = read_rows(p);
	sqlite3_finalize(p->load.st);
	sqlite3_close_v2(p->store.db);
	return NULL;
}

/* Move a part's intervals directly after those before it. */
static void join_part(struct timeline *tl, const struct offcpu_part *p)
{
	struct offcpu *to = tl->offcpu.v + tl->offcpu.n;
	if (to != p->v && p->n)
		memmove(to, p->v, p->n * sizeof(*to));
	tl->offcpu.n += p->n;
}

static void start_part(struct offcpu_part *p, const struct load *l, struct offcpu *v, int alone)
{
	p->v = v;
	p->store = *l->s;
	p->store.db = NULL;
	p->load = *l;
	p->load.s = &p->store;
	p->load.st = NULL;
	p->load.e = &p->e;
	p->started = !alone && !pthread_create(&p->thread, NULL, read_part, p);
	if (!p->started)
		read_part(p);
}

/* Read the `rows` rows with ids from..to in n parts. */
static int read_parts(struct load *l, unsigned n, int64_t from, int64_t to, size_t rows)
{
	struct offcpu_part parts[MAX_PARTS] = {0};
	struct timeline *tl = l->tl;
	uint64_t step = ((uint64_t)to - (uint64_t)from) / n + 1;
	int r = bigvec_reserve(&tl->offcpu, rows, l->e);
	if (r)
		return r;
	for (unsigned i = 0; i < n; i++) {
		struct offcpu_part *p = &parts[i];
		p->from = from + (int64_t)(i * step);
		p->to = i + 1 < n ? p->from + (int64_t)step - 1 : to;
		p->room = n == 1 ? rows : (size_t)(p->to - p->from) + 1;
		start_part(p, l, tl->offcpu.v + i * step, n == 1);
	}
	for (unsigned i = 0; i < n; i++)
		if (parts[i].started)
			pthread_join(parts[i].thread, NULL);
	for (unsigned i = 0; i < n; i++) {
		if (!r && parts[i].r && l->e)
			*l->e = parts[i].e;
		r = r ? r : parts[i].r;
		if (!r)
			join_part(tl, &parts[i]);
	}
	return r;
}

#define OF_RECORDING                           \
	"FROM offcpu_rows WHERE thread_id IN " \
	"(SELECT id FROM threads WHERE recording_id = ?1)"

/* The row ids of the recording: each of several recordings has a range of its own. */
static int range_of(struct load *l, int64_t *from, int64_t *to)
{
	int all = l->s->recordings.n == 1;
	int r = store_query_int(
		l->s, all ? "SELECT min(id) FROM offcpu_rows" : "SELECT min(id) " OF_RECORDING,
		l->recording, from, l->e);
	return r ? r
		 : store_query_int(l->s,
				   all ? "SELECT max(id) FROM offcpu_rows"
				       : "SELECT max(id) " OF_RECORDING,
				   l->recording, to, l->e);
}

/* Ids of a damaged store may have any values, so to - from says nothing; and SQLite's count(*)
 * would be one step of unlimited length. */
static int count_rows(struct load *l, int64_t *rows)
{
	return store_query_int(l->s, "SELECT sum(1) FROM offcpu_rows", 0, rows, l->e);
}

int store_read_offcpu(struct load *l)
{
	int64_t from, to, rows;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = range_of(l, &from, &to);
	if (r)
		return r;
	uint64_t ids = (uint64_t)to - (uint64_t)from + 1, n = ids / ROWS_PER_PART;
	if (from < 0 || !ids || ids > l->s->bytes / ROW_BYTES) {
		r = count_rows(l, &rows);
		return r ? r : read_parts(l, 1, from, to, (size_t)rows);
	}
	n = n > MAX_PARTS ? MAX_PARTS : n;
	n = cpus > 0 && n > (uint64_t)cpus ? (uint64_t)cpus : n;
	return read_parts(l, n ? (unsigned)n : 1, from, to, (size_t)ids);
}
