#include "libstore/storewrite.h"
#include "base/mem.h"
#include "libstore/causes.h"
#include "libstore/store.h"
#include "libstore/store_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TELL_EVERY = 1 << 16 };

struct store_writer {
	sqlite3 *db;
	char *path, *tmp;
	const char *rest; /* of the schema: what is made after loading */
	void (*tell)(void *arg, uint64_t done, uint64_t total);
	void *tell_arg;
	uint64_t done, total;
	/* rows so far: the ids of the next timeline start behind them */
	int64_t recordings, comms, threads, events, dsos, symbols, frames, paths, spans;
};

/* One timeline on its way in: its ids → the store's. */
struct load {
	struct store_writer *w;
	const struct timeline *tl;
	int64_t recording, thread0, event0, frame0, path0, span0;
	uint32_t *comm_id, *dso_id; /* by strings id; 0 = not written yet */
	struct u64map symbol_id;    /* name << 32 | dso → id */
	sqlite3_stmt *comm, *dso, *symbol;
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

static int prepare(struct load *l, sqlite3_stmt **st, const char *sql)
{
	if (sqlite3_prepare_v2(l->w->db, sql, -1, st, NULL))
		return db_failed(l->w, l->e);
	return 0;
}

static void put_int(sqlite3_stmt *st, int col, int64_t v)
{
	sqlite3_bind_int64(st, col, v);
}

/* NULL where `is` is 0. */
static void put_opt(sqlite3_stmt *st, int col, int is, int64_t v)
{
	if (is)
		sqlite3_bind_int64(st, col, v);
	else
		sqlite3_bind_null(st, col);
}

static void put_cpu(sqlite3_stmt *st, int col, uint16_t cpu)
{
	put_opt(st, col, cpu != TL_NOCPU, cpu);
}

/* Borrowed until the statement is stepped. */
static void put_text(sqlite3_stmt *st, int col, const char *s)
{
	sqlite3_bind_text(st, col, s, -1, SQLITE_STATIC);
}

static void put_name(sqlite3_stmt *st, int col, const char *s)
{
	if (*s)
		put_text(st, col, s);
	else
		sqlite3_bind_null(st, col);
}

static const char *text_of(const struct load *l, uint32_t id)
{
	return strtab_get(&l->tl->stacks->strings, id);
}

static int step(struct load *l, sqlite3_stmt *st)
{
	struct store_writer *w = l->w;
	if (sqlite3_step(st) != SQLITE_DONE)
		return db_failed(w, l->e);
	sqlite3_reset(st);
	if (++w->done % TELL_EVERY == 0 && w->tell)
		w->tell(w->tell_arg, w->done, w->total);
	return 0;
}

/* --- ids --------------------------------------------------------------------------------- */

static int64_t thread_id(const struct load *l, uint32_t i)
{
	return l->thread0 + i + 1;
}

static void put_thread(const struct load *l, sqlite3_stmt *st, int col, uint32_t i)
{
	put_opt(st, col, i != TL_NONE, thread_id(l, i));
}

static void put_path(const struct load *l, sqlite3_stmt *st, int col, uint32_t path)
{
	put_opt(st, col, path != 0, l->path0 + path);
}

/* The row of `comms` for a name, written when first met. */
static int put_comm(struct load *l, sqlite3_stmt *st, int col, uint32_t name)
{
	int r = 0;
	if (!l->comm_id[name]) {
		l->comm_id[name] = (uint32_t)++l->w->comms;
		put_int(l->comm, 1, l->comm_id[name]);
		put_text(l->comm, 2, text_of(l, name));
		r = step(l, l->comm);
	}
	put_int(st, col, l->comm_id[name]);
	return r;
}

static int put_dso(struct load *l, sqlite3_stmt *st, int col, uint32_t name)
{
	int r = 0;
	if (name && !l->dso_id[name]) {
		l->dso_id[name] = (uint32_t)++l->w->dsos;
		put_int(l->dso, 1, l->dso_id[name]);
		put_int(l->dso, 2, l->recording);
		put_text(l->dso, 3, text_of(l, name));
		r = step(l, l->dso);
	}
	put_opt(st, col, name != 0, l->dso_id[name]);
	return r;
}

static int put_symbol(struct load *l, sqlite3_stmt *st, int col, uint32_t name, uint32_t dso)
{
	uint64_t key = (uint64_t)name << 32 | dso;
	uint32_t id;
	int r = 0;
	if (!name) {
		sqlite3_bind_null(st, col);
		return 0;
	}
	if (!u64map_get(&l->symbol_id, key, &id)) {
		id = (uint32_t)++l->w->symbols;
		if (u64map_put(&l->symbol_id, key, id))
			return err_nomem(l->e);
		put_int(l->symbol, 1, id);
		r = put_dso(l, l->symbol, 2, dso);
		put_text(l->symbol, 3, text_of(l, name));
		if (!r)
			r = step(l, l->symbol);
	}
	put_int(st, col, id);
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
					 TL_HAS_TOTALS, TL_HAS_DIRECT};
	sqlite3_stmt *st;
	int r = prepare(l, &st,
			"INSERT INTO recordings VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			"?,?,?)");
	if (r)
		return r;
	int col = 1;
	put_int(st, col++, l->recording);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		put_name(st, col++, text_of(l, text[i]));
	put_int(st, col++, (int64_t)rec->origin_ns);
	put_int(st, col++, (int64_t)rec->end_ns);
	put_opt(st, col++, rec->wall_ns != 0, (int64_t)rec->wall_ns);
	put_int(st, col++, rec->wall_exact);
	put_opt(st, col++, rec->ncpus != 0, rec->ncpus);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		put_int(st, col++, (l->tl->flags & flags[i]) != 0);
	put_int(st, col++, (int64_t)l->tl->stray_samples);
	r = step(l, st);
	sqlite3_finalize(st);
	return r;
}

static int write_threads(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO threads VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
	for (uint32_t i = 0; !r && i < l->tl->threads.n; i++) {
		const struct tl_thread *t = &l->tl->threads.v[i];
		put_int(st, 1, thread_id(l, i));
		put_int(st, 2, l->recording);
		put_opt(st, 3, t->pid >= 0, t->pid);
		put_int(st, 4, t->tid);
		r = put_comm(l, st, 5, t->comm);
		put_int(st, 6, (int64_t)t->first_ns);
		put_int(st, 7, (int64_t)t->last_ns);
		put_cpu(st, 8, t->first_cpu);
		put_opt(st, 9, t->first_prio >= 0, t->first_prio);
		put_int(st, 10, (t->flags & THREAD_KERNEL) != 0);
		put_int(st, 11, (t->flags & THREAD_RECORDER) != 0);
		put_int(st, 12, (t->flags & THREAD_BORN) != 0);
		put_int(st, 13, (t->flags & THREAD_EXITED) != 0);
		if (!r)
			r = step(l, st);
	}
	sqlite3_finalize(st);
	l->w->threads += (int64_t)l->tl->threads.n;
	return r;
}

static int write_events(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO selected_events VALUES(?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->events.n; i++) {
		const struct tl_event *ev = &l->tl->events.v[i];
		put_int(st, 1, l->event0 + (int64_t)i + 1);
		put_int(st, 2, l->recording);
		put_text(st, 3, text_of(l, ev->name));
		put_int(st, 4, ev->tracepoint);
		put_int(st, 5, ev->sched);
		r = step(l, st);
	}
	sqlite3_finalize(st);
	l->w->events += (int64_t)l->tl->events.n;
	return r;
}

static const char *const frame_kinds[] = {"user", "kernel", "jit", "mark"};

static int write_frames(struct load *l)
{
	const struct stacks *s = l->tl->stacks;
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO frames VALUES(?,?,?,?,?,?,?,?,?)");
	for (size_t i = 1; !r && i < s->frames.n; i++) {
		const struct frame *f = &s->frames.v[i];
		put_int(st, 1, l->frame0 + (int64_t)i);
		r = put_symbol(l, st, 2, f->name, f->dso);
		if (!r)
			r = put_dso(l, st, 3, f->dso);
		put_int(st, 4, (int64_t)f->addr);
		put_name(st, 5, text_of(l, f->srcfile));
		put_opt(st, 6, f->line != 0, f->line);
		put_int(st, 7, (f->flags & FRAME_INLINED) != 0);
		put_int(st, 8, (f->flags & FRAME_GUESSED) != 0);
		put_text(st, 9, frame_kinds[f->kind & 3]);
		if (!r)
			r = step(l, st);
	}
	sqlite3_finalize(st);
	l->w->frames += s->frames.n ? (int64_t)s->frames.n - 1 : 0;
	return r;
}

static int write_paths(struct load *l)
{
	const struct stacks *s = l->tl->stacks;
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO call_paths VALUES(?,?,?)");
	for (size_t i = 1; !r && i < s->paths.n; i++) {
		const struct call_path *p = &s->paths.v[i];
		put_int(st, 1, l->path0 + (int64_t)i);
		put_path(l, st, 2, p->parent);
		put_int(st, 3, l->frame0 + p->frame);
		r = step(l, st);
	}
	sqlite3_finalize(st);
	l->w->paths += s->paths.n ? (int64_t)s->paths.n - 1 : 0;
	return r;
}

static int write_off(struct load *l, sqlite3_stmt *st, const struct off *o)
{
	put_int(st, 1, thread_id(l, o->thread));
	put_int(st, 2, (int64_t)o->start_ns);
	put_int(st, 3, (int64_t)o->end_ns);
	put_int(st, 4, (int64_t)o->blocked_ns);
	put_int(st, 5, (int64_t)off_runnable_ns(o));
	put_int(st, 6, (int64_t)off_preempted_ns(o));
	put_name(st, 7, text_of(l, l->tl->states[o->state]));
	put_text(st, 8, cause_name(o->cause));
	put_int(st, 9, (o->flags & OFF_IDLE) != 0);
	put_path(l, st, 10, o->path);
	put_thread(l, st, 11, o->waker);
	put_name(st, 12, waker_context_name(o->waker_context));
	put_path(l, st, 13, o->waker_path);
	put_cpu(st, 14, o->cpu_out);
	put_cpu(st, 15, o->cpu_in);
	put_int(st, 16, (o->flags & OFF_OPEN) != 0);
	put_int(st, 17, (o->flags & OFF_SUSPECT) != 0);
	put_name(st, 18, unknown_reason_name(o->unknown));
	int r = put_comm(l, st, 19, o->comm);
	put_cpu(st, 20, o->cpu_wake);
	put_opt(st, 21, o->prio_in >= 0, o->prio_in);
	put_int(st, 22, (o->flags & OFF_RUNNING) != 0);
	put_int(st, 23, (o->flags & OFF_NO_STACK) != 0);
	put_name(st, 24, text_of(l, l->tl->syscalls.v[o->syscall]));
	return r ? r : step(l, st);
}

static int write_offs(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st,
			"INSERT INTO offcpu VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			"?,?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->off.n; i++)
		r = write_off(l, st, &l->tl->off.v[i]);
	sqlite3_finalize(st);
	return r;
}

static int write_samples(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO samples VALUES(NULL,?,?,?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->samples.n; i++) {
		const struct tl_sample *s = &l->tl->samples.v[i];
		put_int(st, 1, l->event0 + s->event + 1);
		put_thread(l, st, 2, s->thread);
		r = put_comm(l, st, 3, s->comm);
		put_int(st, 4, (int64_t)s->time_ns);
		put_cpu(st, 5, s->cpu);
		put_int(st, 6, (int64_t)s->period);
		put_path(l, st, 7, s->path);
		if (!r)
			r = step(l, st);
	}
	sqlite3_finalize(st);
	return r;
}

static int write_totals(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO offcpu_totals VALUES(NULL,?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->totals.n; i++) {
		const struct tl_off_total *t = &l->tl->totals.v[i];
		put_thread(l, st, 1, t->thread);
		r = put_comm(l, st, 2, t->comm);
		put_path(l, st, 3, t->path);
		put_int(st, 4, (int64_t)t->ns);
		put_int(st, 5, (int64_t)t->count);
		if (!r)
			r = step(l, st);
	}
	sqlite3_finalize(st);
	return r;
}

static int write_spans(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->spans.n; i++) {
		const struct tl_span *s = &l->tl->spans.v[i];
		put_int(st, 1, l->span0 + (int64_t)i + 1);
		put_text(st, 2, text_of(l, s->name));
		put_thread(l, st, 3, s->thread);
		put_thread(l, st, 4, s->end_thread);
		put_int(st, 5, (int64_t)s->start_ns);
		put_int(st, 6, (int64_t)s->end_ns);
		put_int(st, 7, (int64_t)s->key);
		put_opt(st, 8, s->parent != TL_NONE, l->span0 + s->parent + 1);
		put_int(st, 9, (int64_t)s->run_ns);
		put_int(st, 10, (int64_t)s->blocked_ns);
		put_int(st, 11, (int64_t)s->runnable_ns);
		put_int(st, 12, (int64_t)s->preempted_ns);
		put_int(st, 13, (int64_t)s->unknown_ns);
		put_int(st, 14, (s->flags & OFF_OPEN) != 0);
		put_int(st, 15, (s->flags & OFF_SUSPECT) != 0);
		r = step(l, st);
	}
	sqlite3_finalize(st);
	l->w->spans += (int64_t)l->tl->spans.n;
	return r;
}

static int write_marks(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO marks VALUES(NULL,?,?,?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->marks.n; i++) {
		const struct tl_mark *m = &l->tl->marks.v[i];
		put_int(st, 1, l->recording);
		put_thread(l, st, 2, m->thread);
		put_int(st, 3, (int64_t)m->time_ns);
		put_cpu(st, 4, m->cpu);
		put_text(st, 5, text_of(l, m->name));
		put_name(st, 6, text_of(l, m->text));
		put_path(l, st, 7, m->path);
		r = step(l, st);
	}
	sqlite3_finalize(st);
	return r;
}

static int write_losses(struct load *l)
{
	sqlite3_stmt *st;
	int r = prepare(l, &st, "INSERT INTO losses VALUES(NULL,?,?,?,?,?,?,?)");
	for (size_t i = 0; !r && i < l->tl->losses.n; i++) {
		const struct tl_loss *x = &l->tl->losses.v[i];
		put_int(st, 1, l->recording);
		put_text(st, 2, loss_kind_name(x->kind));
		put_cpu(st, 3, x->cpu);
		put_int(st, 4, (int64_t)x->from_ns);
		put_int(st, 5, (int64_t)x->to_ns);
		put_int(st, 6, (int64_t)x->count);
		put_int(st, 7, x->sched);
		r = step(l, st);
	}
	sqlite3_finalize(st);
	return r;
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
			   .span0 = w->spans};
	l->comm_id = mem_zalloc(n, sizeof(*l->comm_id));
	l->dso_id = mem_zalloc(n, sizeof(*l->dso_id));
	if (!l->comm_id || !l->dso_id)
		return err_nomem(e);
	int r = prepare(l, &l->comm, "INSERT INTO comms VALUES(?,?)");
	if (!r)
		r = prepare(l, &l->dso, "INSERT INTO dsos VALUES(?,?,?)");
	if (!r)
		r = prepare(l, &l->symbol, "INSERT INTO symbols VALUES(?,?,?)");
	return r;
}

static void load_end(struct load *l)
{
	sqlite3_finalize(l->comm);
	sqlite3_finalize(l->dso);
	sqlite3_finalize(l->symbol);
	mem_free(l->comm_id);
	mem_free(l->dso_id);
	u64map_release(&l->symbol_id);
}

int store_writer_add(struct store_writer *w, const struct timeline *tl, struct err *e)
{
	static int (*const tables[])(struct load *) = {
		write_recording, write_threads, write_events,  write_frames,
		write_paths,     write_offs,    write_samples, write_totals,
		write_spans,     write_marks,   write_losses};
	struct load l;
	int r = load_begin(&l, w, tl, e);
	w->total += tl->threads.n + tl->events.n + tl->stacks->frames.n + tl->stacks->paths.n +
		    tl->off.n + tl->samples.n + tl->totals.n + tl->spans.n + tl->marks.n +
		    tl->losses.n;
	for (size_t i = 0; !r && i < sizeof(tables) / sizeof(*tables); i++)
		r = tables[i](&l);
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
		return err_set(e, ERR_REFUSED, "%s: not a regular file; a store needs one",
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
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	int r = 0;
	if (sqlite3_open_v2(w->tmp, &w->db, flags, NULL))
		r = err_set(e, ERR_IO, "%s: cannot write the store: %s", w->path,
			    w->db ? sqlite3_errmsg(w->db) : "out of memory");
	if (!r)
		r = run(w,
			"PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
			"PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
			"PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536;"
			"PRAGMA temp_store = MEMORY; PRAGMA threads = 2;",
			e);
	if (!r)
		r = run(w, "BEGIN", e);
	if (!r)
		r = run(w, tables, e);
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
	*out = NULL;
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

static int sync_file(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 || fsync(fd) ? err_sys(e, "%s: cannot sync", path) : 0;
	if (fd >= 0)
		close(fd);
	return r;
}

int store_writer_commit(struct store_writer *w, struct err *e)
{
	int r = run(w, w->rest, e);
	if (!r)
		r = run(w, "COMMIT", e);
	if (!r && sqlite3_close(w->db) != SQLITE_OK)
		r = db_failed(w, e);
	if (!r) {
		w->db = NULL;
		r = sync_file(w->tmp, e);
	}
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
	sqlite3_close_v2(w->db);
	if (w->tmp)
		unlink(w->tmp);
	mem_free(w->tmp);
	mem_free(w->path);
	mem_free(w);
}
