#include "libtime/store/store_write.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/shortage.h"
#include "base/outfile.h"
#include "libparse/sample.h"
#include "libtime/explain/app_frame.h"
#include "libtime/store/store.h"
#include "libtime/store/store_internal.h"
#include "libtime/store/store_bulk.h"
#include "libtime/store/store_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TELL_EVERY = 1 << 16 };

struct store_writer {
	sqlite3 *db;
	struct feed *feed; /* as long as db is open */
	struct bulk bulk;
	char *path, *tmp;
	const char *rest; /* of the schema: what is made after loading */
	void (*tell)(void *arg, uint64_t done, uint64_t total);
	void *tell_arg;
	uint64_t done, total;
	/* rows so far: the ids of the next timeline start behind them */
	int64_t recordings, comms, threads, events, dsos, symbols, frames, paths, spans, sites;
};

/* One timeline on its way in: its ids → the store's. */
struct load {
	struct store_writer *w;
	const struct timeline *tl;
	int64_t recording, thread0, event0, frame0, path0, span0, site0;
	uint32_t *comm_id, *dso_id; /* by strings id; 0 = not written yet */
	struct u64map symbol_id;    /* name << 32 | dso → id */
	struct err *e;
};

/* --- SQLite ------------------------------------------------------------------------------ */

static int db_failed(struct store_writer *w, struct err *e)
{
	return err_set(e, ERR_IO, "%s: cannot write the store: %s", w->path,
		       sqlite3_errmsg(w->db));
}

static int run(struct store_writer *w, const char *sql, struct err *e)
{
	return sqlite3_exec(w->db, sql, NULL, NULL, NULL) ? db_failed(w, e) : 0;
}

/* Within a transaction, as nearly always. */
static int open_db(struct store_writer *w, struct err *e)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(w->tmp, &w->db, flags, NULL))
		return err_set(e, ERR_IO, "%s: cannot write the store: %s", w->path,
			       w->db ? sqlite3_errmsg(w->db) : "out of memory");
	int r = run(w,
		    "PRAGMA page_size = 16384; PRAGMA auto_vacuum = NONE;"
		    "PRAGMA journal_mode = OFF;"
		    "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
		    /* rows are appended; what an index sorts goes to files */
		    "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -16384;"
		    "PRAGMA temp_store = FILE; PRAGMA threads = 2;"
		    "BEGIN",
		    e);
	return r ? r : feed_open(&w->feed, w->db, w->path, e);
}

/* All is in the file then. */
static int close_db(struct store_writer *w, struct err *e)
{
	feed_close(w->feed);
	w->feed = NULL;
	int r = run(w, "COMMIT", e);
	if (!r && sqlite3_close(w->db) != SQLITE_OK)
		r = db_failed(w, e);
	if (!r)
		w->db = NULL;
	return r;
}

/* Columns are numbered from 1, as SQL's parameters are. */
static void put_int(struct cell *row, int col, int64_t v)
{
	cell_int(&row[col - 1], v);
}

/* SQLite's numbers are signed: what a damaged record counts may be more. */
static void put_count(struct cell *row, int col, uint64_t v)
{
	put_int(row, col, v < INT64_MAX ? (int64_t)v : INT64_MAX);
}

/* NULL where `is` is 0. */
static void put_opt(struct cell *row, int col, int is, int64_t v)
{
	if (is)
		cell_int(&row[col - 1], v);
	else
		cell_null(&row[col - 1]);
}

static void put_null(struct cell *row, int col)
{
	cell_null(&row[col - 1]);
}

static void put_cpu(struct cell *row, int col, uint16_t cpu)
{
	put_opt(row, col, cpu != TL_NOCPU, cpu);
}

/* The text is borrowed until store_writer_add ends. */
static void put_text(struct cell *row, int col, const char *s)
{
	cell_text(&row[col - 1], s);
}

static void put_name(struct cell *row, int col, const char *s)
{
	if (*s)
		put_text(row, col, s);
	else
		cell_null(&row[col - 1]);
}

static const char *text_of(const struct load *l, uint32_t id)
{
	return strtab_get(&l->tl->stacks->strings, id);
}

static void count_row(struct store_writer *w)
{
	if (++w->done % TELL_EVERY == 0 && w->tell)
		w->tell(w->tell_arg, w->done, w->total);
}

static int new_row(struct load *l, enum feed_table table, struct cell **row)
{
	count_row(l->w);
	return feed_row(l->w->feed, table, row, l->e);
}

/* --- ids --------------------------------------------------------------------------------- */

static int64_t thread_id(const struct load *l, uint32_t i)
{
	return l->thread0 + i + 1;
}

static void put_thread(const struct load *l, struct cell *row, int col, uint32_t i)
{
	put_opt(row, col, i != TL_NONE, thread_id(l, i));
}

static void put_path(const struct load *l, struct cell *row, int col, uint32_t path)
{
	put_opt(row, col, path != 0, l->path0 + path);
}

/* The row of `comms` for a name, written when first met. */
static int write_comm(struct load *l, uint32_t name)
{
	struct cell *new;
	if (l->comm_id[name])
		return 0;
	int r = new_row(l, FEED_COMMS, &new);
	if (r)
		return r;
	l->comm_id[name] = (uint32_t)++l->w->comms;
	put_int(new, 1, l->comm_id[name]);
	put_text(new, 2, text_of(l, name));
	return 0;
}

static int put_comm(struct load *l, struct cell *row, int col, uint32_t name)
{
	int r = write_comm(l, name);
	put_int(row, col, l->comm_id[name]);
	return r;
}

static int put_dso(struct load *l, struct cell *row, int col, uint32_t name)
{
	struct cell *new;
	int r = 0;
	if (name && !l->dso_id[name] && !(r = new_row(l, FEED_DSOS, &new))) {
		l->dso_id[name] = (uint32_t)++l->w->dsos;
		put_int(new, 1, l->dso_id[name]);
		put_int(new, 2, l->recording);
		put_text(new, 3, text_of(l, name));
		put_name(new, 4, stacks_build_id(l->tl->stacks, name));
	}
	put_opt(row, col, name != 0, l->dso_id[name]);
	return r;
}

static int put_symbol(struct load *l, struct cell *row, int col, uint32_t name, uint32_t dso)
{
	uint64_t key = (uint64_t)name << 32 | dso;
	struct cell *new;
	uint32_t id;
	int r = 0;
	if (!name) {
		cell_null(&row[col - 1]);
		return 0;
	}
	if (!u64map_get(&l->symbol_id, key, &id)) {
		id = (uint32_t)++l->w->symbols;
		if (u64map_put(&l->symbol_id, key, id))
			return err_nomem(l->e);
		r = new_row(l, FEED_SYMBOLS, &new);
		if (r)
			return r;
		put_int(new, 1, id);
		r = put_dso(l, new, 2, dso);
		put_text(new, 3, text_of(l, name));
	}
	put_int(row, col, id);
	return r;
}

/* --- tables ------------------------------------------------------------------------------ */

static int write_recording(struct load *l)
{
	const struct tl_recording *rec = &l->tl->rec;
	const uint32_t text[] = {rec->host,   rec->file, rec->clock,
				 rec->kernel, rec->arch, rec->cmdline};
	static const uint32_t flags[] = {TL_PER_TASK,   TL_HAS_SWITCH, TL_HAS_RECORDS,
					 TL_HAS_WAKING, TL_HAS_WAKEUP, TL_SAMPLED,
					 TL_HAS_TOTALS, TL_HAS_DIRECT, TL_SOME_CPUS};
	struct cell *row;
	int col = 1, r = new_row(l, FEED_RECORDINGS, &row);
	if (r)
		return r;
	put_int(row, col++, l->recording);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		put_name(row, col++, text_of(l, text[i]));
	put_int(row, col++, (int64_t)rec->origin_ns);
	put_int(row, col++, (int64_t)rec->end_ns);
	put_opt(row, col++, rec->wall_ns && rec->wall_ns <= INT64_MAX, (int64_t)rec->wall_ns);
	put_int(row, col++, rec->wall_exact);
	put_opt(row, col++, rec->ncpus != 0, rec->ncpus);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		put_int(row, col++, (l->tl->flags & flags[i]) != 0);
	put_int(row, col++, (int64_t)l->tl->stray_samples);
	return 0;
}

static int write_threads(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (uint32_t i = 0; !r && i < l->tl->threads.n; i++) {
		if ((r = new_row(l, FEED_THREADS, &row)))
			break;
		const struct tl_thread *t = &l->tl->threads.v[i];
		put_int(row, 1, thread_id(l, i));
		put_int(row, 2, l->recording);
		put_opt(row, 3, t->pid >= 0, t->pid);
		put_int(row, 4, t->tid);
		r = put_comm(l, row, 5, t->comm);
		put_int(row, 6, (int64_t)t->first_ns);
		put_int(row, 7, (int64_t)t->last_ns);
		put_cpu(row, 8, t->first_cpu);
		put_opt(row, 9, t->first_prio >= 0, t->first_prio);
		put_int(row, 10, (t->flags & THREAD_KERNEL) != 0);
		put_int(row, 11, (t->flags & THREAD_RECORDER) != 0);
		put_int(row, 12, (t->flags & THREAD_BORN) != 0);
		put_int(row, 13, (t->flags & THREAD_EXITED) != 0);
		put_int(row, 14, (t->flags & THREAD_IDLE_TASK) != 0);
	}
	l->w->threads += (int64_t)l->tl->threads.n;
	return r;
}

static int write_events(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->events.n; i++) {
		if ((r = new_row(l, FEED_EVENTS, &row)))
			break;
		const struct tl_event *ev = &l->tl->events.v[i];
		put_int(row, 1, l->event0 + (int64_t)i + 1);
		put_int(row, 2, l->recording);
		put_text(row, 3, text_of(l, ev->name));
		put_int(row, 4, ev->tracepoint);
		put_int(row, 5, ev->sched);
		put_name(row, 6, stack_kind_name(ev->stacks));
	}
	l->w->events += (int64_t)l->tl->events.n;
	return r;
}

static const char *const frame_kinds[] = {"user", "kernel", "jit", "mark"};
ENTRIES(frame_kinds, FRAME_MARK + 1);

static int write_frames(struct load *l)
{
	const struct stacks *s = l->tl->stacks;
	struct cell *row;
	int r = 0;
	for (size_t i = 1; !r && i < s->frames.n; i++) {
		if ((r = new_row(l, FEED_FRAMES, &row)))
			break;
		const struct frame *f = &s->frames.v[i];
		put_int(row, 1, l->frame0 + (int64_t)i);
		r = put_symbol(l, row, 2, f->name, f->dso);
		if (!r)
			r = put_dso(l, row, 3, f->dso);
		put_int(row, 4, (int64_t)f->addr);
		put_name(row, 5, text_of(l, f->srcfile));
		put_opt(row, 6, f->line != 0, f->line);
		put_int(row, 7, (f->flags & FRAME_INLINED) != 0);
		put_int(row, 8, (f->flags & FRAME_GUESSED) != 0);
		put_text(row, 9, frame_kinds[f->kind & 3]);
	}
	l->w->frames += s->frames.n ? (int64_t)s->frames.n - 1 : 0;
	return r;
}

/* Of the stacks that waits began with, the frame that tells where: by path, 0 = no wait's. */
static int wait_frames(struct load *l, uint32_t **out)
{
	uint32_t *frame = mem_zalloc(l->tl->stacks->paths.n + 1, sizeof(*frame));
	int r = frame ? 0 : ERR_NOMEM;
	for (size_t i = 0; !r && i < l->tl->off.n; i++) {
		uint32_t path = l->tl->off.v[i].path;
		if (path && !frame[path])
			frame[path] = appframe_of_wait(l->tl, path);
	}
	*out = frame;
	return r ? err_nomem(l->e) : 0;
}

static int write_paths(struct load *l)
{
	const struct stacks *s = l->tl->stacks;
	struct cell *row;
	uint32_t *frame;
	int r = wait_frames(l, &frame);
	for (size_t i = 1; !r && i < s->paths.n; i++) {
		if ((r = new_row(l, FEED_CALL_PATHS, &row)))
			break;
		const struct call_path *p = &s->paths.v[i];
		put_int(row, 1, l->path0 + (int64_t)i);
		put_path(l, row, 2, p->parent);
		put_int(row, 3, l->frame0 + p->frame);
		put_opt(row, 4, frame[i] != 0, l->frame0 + frame[i]);
	}
	l->w->paths += s->paths.n ? (int64_t)s->paths.n - 1 : 0;
	mem_free(frame);
	return r;
}

/* The names that the rows of bulk tables refer to. */
static int write_bulk_comms(struct load *l)
{
	const struct timeline *tl = l->tl;
	int r = 0;
	for (size_t i = 0; !r && i < tl->off.n; i++)
		r = write_comm(l, tl->off.v[i].comm);
	for (size_t i = 0; !r && i < tl->samples.n; i++)
		r = write_comm(l, tl->samples.v[i].comm);
	for (size_t i = 0; !r && i < tl->event_samples.n; i++)
		r = write_comm(l, tl->event_samples.v[i].comm);
	return r;
}

static int write_sites(struct load *l)
{
	const struct timeline *tl = l->tl;
	struct cell *row;
	int r = 0;
	for (size_t i = 1; !r && i < tl->sites.n; i++) {
		if ((r = new_row(l, FEED_SITES, &row)))
			break;
		const struct tl_site *x = &tl->sites.v[i];
		put_int(row, 1, l->site0 + (int64_t)i);
		put_int(row, 2, l->recording);
		put_text(row, 3, text_of(l, x->program));
		put_text(row, 4, text_of(l, x->role));
		put_text(row, 5, cause_name(x->cause));
		put_opt(row, 6, x->frame != 0, l->frame0 + x->frame);
		put_text(row, 7, site_verdict_name(x->verdict));
		put_text(row, 8, site_reason_name(x->reason));
		put_int(row, 9, x->loop);
		put_count(row, 10, x->waits);
		put_count(row, 11, x->wait_ns);
		put_count(row, 12, x->max_ns);
	}
	l->w->sites += tl->sites.n ? (int64_t)tl->sites.n - 1 : 0;
	return r;
}

static int write_totals(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->totals.n; i++) {
		if ((r = new_row(l, FEED_OFFCPU_TOTALS, &row)))
			break;
		const struct tl_off_total *t = &l->tl->totals.v[i];
		put_thread(l, row, 1, t->thread);
		r = put_comm(l, row, 2, t->comm);
		put_path(l, row, 3, t->path);
		put_count(row, 4, t->ns);
		put_count(row, 5, t->count);
	}
	return r;
}

static int write_spans(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->spans.n; i++) {
		if ((r = new_row(l, FEED_SPANS, &row)))
			break;
		const struct tl_span *s = &l->tl->spans.v[i];
		put_int(row, 1, l->span0 + (int64_t)i + 1);
		put_text(row, 2, text_of(l, s->name));
		put_thread(l, row, 3, s->thread);
		put_thread(l, row, 4, s->end_thread);
		put_int(row, 5, (int64_t)s->start_ns);
		put_int(row, 6, (int64_t)s->end_ns);
		put_int(row, 7, (int64_t)s->key);
		put_opt(row, 8, s->parent != TL_NONE, l->span0 + s->parent + 1);
		put_int(row, 9, (int64_t)s->run_ns);
		put_int(row, 10, (int64_t)s->blocked_ns);
		put_int(row, 11, (int64_t)s->runnable_ns);
		put_int(row, 12, (int64_t)s->preempted_ns);
		put_int(row, 13, (int64_t)s->unknown_ns);
		put_int(row, 14, (s->flags & OFF_OPEN) != 0);
		put_int(row, 15, (s->flags & OFF_SUSPECT) != 0);
		put_opt(row, 16, s->handed_ns != 0, (int64_t)s->handed_ns);
		put_int(row, 17, l->recording);
		put_name(row, 18, text_of(l, s->key_text));
		put_opt(row, 19, s->pid >= 0, s->pid);
		put_int(row, 20, (s->flags & SPAN_OVERLAPPED) != 0);
	}
	l->w->spans += (int64_t)l->tl->spans.n;
	return r;
}

static int write_labels(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->labels.n; i++) {
		if ((r = new_row(l, FEED_LABELS, &row)))
			break;
		const struct tl_label *x = &l->tl->labels.v[i];
		put_text(row, 1, text_of(l, x->key));
		put_text(row, 2, text_of(l, x->value));
		put_int(row, 3, l->span0 + x->span + 1);
	}
	return r;
}

static int write_marks(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->marks.n; i++) {
		if ((r = new_row(l, FEED_MARKS, &row)))
			break;
		const struct tl_mark *m = &l->tl->marks.v[i];
		put_int(row, 1, l->recording);
		put_thread(l, row, 2, m->thread);
		put_int(row, 3, (int64_t)m->time_ns);
		put_cpu(row, 4, m->cpu);
		put_text(row, 5, text_of(l, m->name));
		put_name(row, 6, text_of(l, m->text));
		put_path(l, row, 7, m->path);
	}
	return r;
}

static int write_losses(struct load *l)
{
	struct cell *row;
	int r = 0;
	for (size_t i = 0; !r && i < l->tl->losses.n; i++) {
		if ((r = new_row(l, FEED_LOSSES, &row)))
			break;
		const struct tl_loss *x = &l->tl->losses.v[i];
		put_int(row, 1, l->recording);
		put_text(row, 2, loss_kind_name(x->kind));
		put_cpu(row, 3, x->cpu);
		put_int(row, 4, (int64_t)x->from_ns);
		put_int(row, 5, (int64_t)x->to_ns);
		put_count(row, 6, x->count);
		put_int(row, 7, x->sched);
	}
	return r;
}

/* --- bulk tables -------------------------------------------------------------------------
 */

static int write_off(struct load *l, const struct off *o)
{
	struct cell row[OFFCPU_COLUMNS];
	put_null(row, 1);
	put_int(row, 2, thread_id(l, o->thread));
	put_int(row, 3, (int64_t)o->start_ns);
	put_int(row, 4, (int64_t)o->end_ns);
	put_int(row, 5, (int64_t)o->blocked_ns);
	put_int(row, 6, (int64_t)off_runnable_ns(o));
	put_int(row, 7, (int64_t)off_preempted_ns(o));
	put_name(row, 8, text_of(l, l->tl->states[o->state]));
	put_text(row, 9, cause_name(o->cause));
	put_opt(row, 10, o->site != 0, l->site0 + o->site);
	put_path(l, row, 11, o->path);
	put_thread(l, row, 12, o->waker);
	put_name(row, 13, waker_context_name(o->waker_context));
	put_path(l, row, 14, o->waker_path);
	put_cpu(row, 15, o->cpu_out);
	put_cpu(row, 16, o->cpu_in);
	put_int(row, 17, (o->flags & OFF_OPEN) != 0);
	put_int(row, 18, (o->flags & OFF_SUSPECT) != 0);
	put_name(row, 19, unknown_reason_name(o->unknown));
	put_int(row, 20, l->comm_id[o->comm]);
	put_cpu(row, 21, o->cpu_wake);
	put_opt(row, 22, o->prio_in >= 0, o->prio_in);
	put_int(row, 23, (o->flags & OFF_RUNNING) != 0);
	put_int(row, 24, (o->flags & OFF_NO_STACK) != 0);
	put_name(row, 25, text_of(l, l->tl->syscalls.v[o->syscall]));
	put_cpu(row, 26, o->cpu_queue);
	put_opt(row, 27, o->arg_kind != ARG_NONE, (int64_t)off_arg(l->tl, o));
	put_name(row, 28, wait_arg_name(o->arg_kind));
	count_row(l->w);
	return bulk_off(&l->w->bulk, row, l->e);
}

static int write_sample(struct load *l, const struct tl_sample *s)
{
	struct cell row[SAMPLES_COLUMNS];
	put_null(row, 1);
	put_int(row, 2, l->event0 + s->event + 1);
	put_thread(l, row, 3, s->thread);
	put_int(row, 4, l->comm_id[s->comm]);
	put_int(row, 5, (int64_t)s->time_ns);
	put_cpu(row, 6, s->cpu);
	put_count(row, 7, s->period);
	put_path(l, row, 8, s->path);
	count_row(l->w);
	return bulk_sample(&l->w->bulk, row, l->e);
}

static int write_event_sample(struct load *l, const struct tl_event_sample *s)
{
	struct cell row[EVENT_SAMPLES_COLUMNS];
	put_null(row, 1);
	put_int(row, 2, l->event0 + s->event + 1);
	put_int(row, 3, s->pid);
	put_int(row, 4, s->tid);
	put_int(row, 5, l->comm_id[s->comm]);
	put_opt(row, 6, sample_is_time(s->time_ns), (int64_t)s->time_ns);
	put_cpu(row, 7, s->cpu);
	put_count(row, 8, s->period);
	put_path(l, row, 9, s->path);
	count_row(l->w);
	return bulk_event_sample(&l->w->bulk, row, l->e);
}

/* SQLite has the file closed. */
static int write_bulk(struct load *l)
{
	const struct timeline *tl = l->tl;
	int r = bulk_begin(&l->w->bulk, l->e);
	for (size_t i = 0; !r && i < tl->off.n; i++)
		r = write_off(l, &tl->off.v[i]);
	for (size_t i = 0; !r && i < tl->samples.n; i++)
		r = write_sample(l, &tl->samples.v[i]);
	for (size_t i = 0; !r && i < tl->event_samples.n; i++)
		r = write_event_sample(l, &tl->event_samples.v[i]);
	return r ? r : bulk_suspend(&l->w->bulk, l->e);
}

/* --- the door ------------------------------------------------------------------------------
 */

static int load_begin(struct load *l, struct store_writer *w, const struct timeline *tl,
		      struct err *e)
{
	size_t n = tl->stacks->strings.entries.n + 1;
	*l = (struct load){.w = w,
			   .tl = tl,
			   .e = e,
			   .recording = ++w->recordings,
			   .thread0 = w->threads,
			   .event0 = w->events,
			   .frame0 = w->frames,
			   .path0 = w->paths,
			   .span0 = w->spans,
			   .site0 = w->sites};
	l->comm_id = mem_zalloc(n, sizeof(*l->comm_id));
	l->dso_id = mem_zalloc(n, sizeof(*l->dso_id));
	return l->comm_id && l->dso_id ? 0 : err_nomem(e);
}

static void load_end(struct load *l)
{
	mem_free(l->comm_id);
	mem_free(l->dso_id);
	u64map_release(&l->symbol_id);
}

int store_writer_add(struct store_writer *w, const struct timeline *tl, struct err *e)
{
	static int (*const tables[])(struct load *) = {
		write_recording, write_threads, write_events,     write_frames,
		write_paths,     write_sites,   write_bulk_comms, write_totals,
		write_spans,     write_labels,  write_marks,      write_losses};
	struct load l;
	if (tl->rec.end_ns > INT64_MAX)
		return err_set(
			e, ERR_LIMIT,
			"%s: cannot write the store: the recording's times are past 2^63 ns",
			w->path);
	int r = load_begin(&l, w, tl, e);
	w->total += tl->threads.n + tl->events.n + tl->stacks->frames.n + tl->stacks->paths.n +
		    tl->off.n + tl->samples.n + tl->event_samples.n + tl->totals.n +
		    tl->sites.n + tl->spans.n + tl->labels.n + tl->marks.n + tl->losses.n;
	for (size_t i = 0; !r && i < sizeof(tables) / sizeof(*tables); i++)
		r = tables[i](&l);
	if (r) /* in any case: the writer has texts of the timeline in its hands */
		feed_drop(w->feed);
	else
		r = feed_wait(w->feed, e);
	if (!r)
		r = close_db(w, e);
	if (!r)
		r = write_bulk(&l);
	if (!r)
		r = open_db(w, e);
	load_end(&l);
	return r;
}

struct store_handle store_writer_handle(const struct store_writer *w)
{
	return (struct store_handle){w->db, w->path, w->recordings};
}

void store_writer_progress(struct store_writer *w,
			   void (*tell)(void *arg, uint64_t done, uint64_t total), void *arg)
{
	w->tell = tell;
	w->tell_arg = arg;
}

/* A store may replace a store, never another kind of file. */
static int check_target(const char *path, struct err *e)
{
	char head[16];
	struct stat st;
	if (stat(path, &st))
		return errno == ENOENT ? 0 : err_sys(e, "%s: cannot write", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_IO, "%s: cannot write the store: not a regular file",
			       path);
	if (!st.st_size)
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(e, "%s: cannot look at what is there", path);
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	if (n < 0 || !store_is_sqlite(head, (unsigned long)n))
		return err_set(e, ERR_REFUSED, "%s: exists and is no store; not replaced",
			       path);
	return 0;
}

static int begin(struct store_writer *w, struct err *e)
{
	const char *cut = strstr(store_schema, "\n----");
	size_t n = cut ? (size_t)(cut - store_schema) : strlen(store_schema);
	char *tables = mem_strndup(store_schema, n);
	if (!tables)
		return err_nomem(e);
	w->rest = cut ? cut : "";
	unlink(w->tmp);
	int r = open_db(w, e);
	if (!r)
		r = run(w, tables, e);
	if (!r)
		r = bulk_init(&w->bulk, w->db, w->tmp, w->path, e);
	if (!r)
		r = run(w,
			"INSERT INTO meta VALUES('perfkit', '" PERFKIT_VERSION "'),"
			"('time_unit', 'ns')",
			e);
	mem_free(tables);
	return r;
}

int store_writer_open(struct store_writer **out, const char *path, struct err *e)
{
	char target[PATH_MAX];
	*out = NULL;
	path = outfile_target(path, target);
	int r = check_target(path, e);
	if (r)
		return r;
	/* SQLite's own statistics take a lock at every allocation */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	struct store_writer *w = mem_zalloc(1, sizeof(*w));
	if (!w)
		return err_nomem(e);
	size_t n = strlen(path) + 32;
	w->path = mem_strdup(path);
	w->tmp = mem_alloc(n);
	if (!w->path || !w->tmp) {
		store_writer_abort(w);
		return err_nomem(e);
	}
	snprintf(w->tmp, n, "%s.tmp.%ld", path, (long)getpid());
	r = begin(w, e);
	if (r)
		store_writer_abort(w);
	else
		*out = w;
	return r;
}

const char *store_writer_temporary(const struct store_writer *w)
{
	return w->tmp;
}

static int sync_file(const char *path, const char *name, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 || fsync(fd) ? err_sys(e, "%s: cannot write the store", name) : 0;
	if (fd >= 0)
		close(fd);
	return r;
}

int store_writer_commit(struct store_writer *w, struct err *e)
{
	int r = close_db(w, e);
	if (!r)
		r = bulk_begin(&w->bulk, e);
	if (!r)
		r = bulk_finish(&w->bulk, e);
	if (!r)
		r = open_db(w, e);
	if (!r)
		r = run(w, w->rest, e);
	if (!r)
		r = close_db(w, e);
	if (!r)
		r = shortage(e);
	if (!r)
		r = sync_file(w->tmp, w->path, e);
	if (!r && rename(w->tmp, w->path))
		r = err_sys(e, "%s: cannot rename into place", w->path);
	if (!r) {
		mem_free(w->tmp);
		w->tmp = NULL;
	}
	store_writer_abort(w);
	return r;
}

void store_writer_abort(struct store_writer *w)
{
	if (!w)
		return;
	feed_close(w->feed);
	sqlite3_close_v2(w->db);
	bulk_release(&w->bulk);
	if (w->tmp)
		unlink(w->tmp);
	mem_free(w->tmp);
	mem_free(w->path);
	mem_free(w);
}
