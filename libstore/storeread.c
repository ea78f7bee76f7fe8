#include "libstore/storeread.h"
#include "base/mem.h"
#include "libstore/causes.h"
#include "libstore/store.h"
#include "libstore/store_priv.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUE_MAX = 1 << 24 }; /* bytes of one text; longer ones are damage */

struct store {
	sqlite3 *db;
	char *path;
	VEC(struct store_recording) recordings;
	struct arena text; /* of recordings */
	/* what all recordings share: row ids → ids of `stacks`, valid once that is set */
	const struct stacks *stacks;
	struct u64map frame, path_of;
	struct u64map comm, dso, symbol; /* → strings ids */
};

/* Columns of few short texts, one a row: what each was told to mean the last time. */
enum { RECALLED = 32 };
struct recalled {
	char text[20];
	uint16_t value;
	uint8_t known;
};

/* A recording on its way out: the store's row ids → indexes of the timeline. */
struct load {
	struct store *s;
	struct timeline *tl;
	struct stacks *stacks;
	struct err *e;
	int64_t recording;
	struct u64map thread, event, span;
	sqlite3_stmt *st;
	const char *table;
	int col; /* the next column to take */
	int bad; /* a column had a value that cannot be */
	struct recalled states[RECALLED], causes[RECALLED], contexts[RECALLED],
		reasons[RECALLED], kinds[RECALLED];
};

/* --- opening ----------------------------------------------------------------------------- */

static int db_failed(struct store *s, struct err *e)
{
	int code = sqlite3_errcode(s->db);
	if (code == SQLITE_NOMEM)
		return err_nomem(e);
	return err_set(e, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_FORMAT : ERR_IO,
		       "%s: %s", s->path, sqlite3_errmsg(s->db));
}

static int query_int(struct store *s, const char *sql, int64_t *v, struct err *e)
{
	sqlite3_stmt *st;
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return db_failed(s, e);
	int got = sqlite3_step(st);
	*v = got == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_finalize(st);
	return got == SQLITE_ROW || got == SQLITE_DONE ? 0 : db_failed(s, e);
}

/* Rows are read, never computed: a virtual table or a generated column runs what a stranger
 * wrote, for as long and with as much memory as it likes. */
static int check_plain(struct store *s, struct err *e)
{
	int64_t computed;
	int r = query_int(s,
			  "SELECT (SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
			  "AND rootpage = 0) + (SELECT count(*) FROM sqlite_schema AS t, "
			  "pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' "
			  "AND c.hidden <> 0)",
			  &computed, e);
	if (!r && computed)
		r = err_set(
			e, ERR_REFUSED,
			"%s: tables or columns of this store are computed; perfkit's are not",
			s->path);
	return r;
}

static int check_kind(struct store *s, struct err *e)
{
	int64_t application, version, tables;
	int r = query_int(s, "PRAGMA application_id", &application, e);
	if (!r)
		r = query_int(s, "PRAGMA user_version", &version, e);
	if (!r)
		r = query_int(
			s,
			"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
			"('recordings','comms','threads','selected_events','dsos','symbols',"
			"'frames','call_paths','samples','offcpu','offcpu_totals','spans',"
			"'marks','losses')",
			&tables, e);
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
	if (version == 1)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: a store of version 1, made by an older perfkit; import the "
			       "recording again",
			       s->path);
	if (version < 1 || tables != 14)
		return err_set(e, ERR_FORMAT, "%s: a damaged store: tables are missing",
			       s->path);
	return check_plain(s, e);
}

/* A connection for reading. SQLite's code, or SQLITE_OK; *out is to be closed either way. */
static int connect_to(const char *path, sqlite3 **out)
{
	int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
	sqlite3 *db = *out;
	if (code)
		return code;
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
	return SQLITE_OK;
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
	if (!r && connect_to(path, &s->db))
		r = s->db ? db_failed(s, e) : err_nomem(e);
	if (!r)
		r = check_kind(s, e);
	if (r)
		store_close(s);
	else
		*out = s;
	return r;
}

static void forget_names(struct store *s)
{
	struct u64map *const maps[] = {&s->frame, &s->path_of, &s->comm, &s->dso, &s->symbol};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		u64map_release(maps[i]);
	s->stacks = NULL;
}

struct store_handle store_handle(const struct store *s)
{
	return (struct store_handle){s->db, s->path, 0};
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close_v2(s->db);
	forget_names(s);
	vec_release(&s->recordings);
	arena_release(&s->text);
	mem_free(s->path);
	mem_free(s);
}

static const char *column_text(struct store *s, sqlite3_stmt *st, int col)
{
	const char *text = (const char *)sqlite3_column_text(st, col);
	return arena_strndup(&s->text, text ? text : "", text ? strlen(text) : 0);
}

int store_recordings(struct store *s, const struct store_recording **v, size_t *n,
		     struct err *e)
{
	sqlite3_stmt *st = NULL;
	int got = SQLITE_DONE, r = 0;
	if (!s->recordings.n &&
	    sqlite3_prepare_v2(s->db, "SELECT id,host,file FROM recordings ORDER BY id", -1,
			       &st, NULL))
		return db_failed(s, e);
	while (st && !r && (got = sqlite3_step(st)) == SQLITE_ROW) {
		struct store_recording x = {.id = sqlite3_column_int64(st, 0),
					    .host = column_text(s, st, 1),
					    .file = column_text(s, st, 2)};
		if (!x.host || !x.file || vec_push(&s->recordings, x))
			r = err_nomem(e);
	}
	sqlite3_finalize(st);
	*v = s->recordings.v;
	*n = s->recordings.n;
	return r ? r : got == SQLITE_DONE ? 0 : db_failed(s, e);
}

/* --- rows and columns -------------------------------------------------------------------- */

static int select_rows(struct load *l, const char *table, const char *sql)
{
	l->table = table;
	if (sqlite3_prepare_v2(l->s->db, sql, -1, &l->st, NULL))
		return db_failed(l->s, l->e);
	if (sqlite3_bind_parameter_count(l->st))
		sqlite3_bind_int64(l->st, 1, l->recording);
	return 0;
}

/* 1, 0 at the end (the statement is then gone), < 0. */
static int next_row(struct load *l)
{
	int got = sqlite3_step(l->st);
	l->col = 0;
	l->bad = 0;
	if (got == SQLITE_ROW)
		return 1;
	int r = got == SQLITE_DONE ? 0 : db_failed(l->s, l->e);
	sqlite3_finalize(l->st);
	l->st = NULL;
	return r;
}

static int row_failed(struct load *l, const char *why)
{
	int r = err_set(l->e, ERR_FORMAT, "%s: a damaged store: %s %lld: %s", l->s->path,
			l->table, (long long)sqlite3_column_int64(l->st, 0), why);
	sqlite3_finalize(l->st);
	l->st = NULL;
	return r;
}

static int no_memory(struct load *l)
{
	sqlite3_finalize(l->st);
	l->st = NULL;
	return err_nomem(l->e);
}

static int64_t take(struct load *l)
{
	return sqlite3_column_int64(l->st, l->col++);
}

/* A whole number from 0 to max; another one is damage. */
static int64_t take_to(struct load *l, int64_t max)
{
	int64_t v = take(l);
	if (v < 0 || v > max)
		l->bad = 1;
	return v < 0 || v > max ? 0 : v;
}

static uint64_t take_ns(struct load *l)
{
	return (uint64_t)take_to(l, INT64_MAX);
}

/* NULL reads as 0, so that only then it is asked for. */
static int is_null(struct load *l, int64_t value)
{
	return !value && sqlite3_column_type(l->st, l->col - 1) == SQLITE_NULL;
}

/* NULL gives `none`. */
static int64_t take_opt(struct load *l, int64_t max, int64_t none)
{
	int64_t v = take_to(l, max);
	return is_null(l, v) ? none : v;
}

static uint16_t take_cpu(struct load *l)
{
	return (uint16_t)take_opt(l, TL_NOCPU - 1, TL_NOCPU);
}

/* A row id that `map` knows; NULL gives `none`, an unknown one is damage. */
static uint32_t take_id(struct load *l, const struct u64map *map, uint32_t none)
{
	int64_t row = take(l);
	uint32_t v;
	if (is_null(l, row))
		return none;
	if (u64map_get(map, (uint64_t)row, &v))
		return v;
	l->bad = 1;
	return none;
}

/* A thread that must be there. */
static uint32_t take_thread(struct load *l)
{
	uint32_t v = take_id(l, &l->thread, TL_NONE);
	l->bad |= v == TL_NONE;
	return v == TL_NONE ? 0 : v;
}

static const char *take_text(struct load *l)
{
	const unsigned char *s = sqlite3_column_text(l->st, l->col++);
	return s ? (const char *)s : "";
}

static int take_string(struct load *l, uint32_t *id)
{
	return strtab_intern(&l->stacks->strings, take_text(l), id);
}

static int flag(struct load *l, int bit)
{
	return take(l) ? bit : 0;
}

/* --- tables ------------------------------------------------------------------------------ */

static int read_recording(struct load *l)
{
	struct tl_recording *rec = &l->tl->rec;
	uint32_t *const text[] = {&rec->host,   &rec->file, &rec->clock,
				  &rec->kernel, &rec->arch, &rec->cmdline};
	static const uint32_t flags[] = {TL_PER_TASK,   TL_HAS_SWITCH, TL_HAS_RECORDS,
					 TL_HAS_WAKING, TL_HAS_WAKEUP, TL_SAMPLED,
					 TL_HAS_TOTALS, TL_HAS_DIRECT};
	int r = select_rows(
		l, "recordings",
		"SELECT id,host,file,clock,kernel,arch,cmdline,origin_ns,end_ns,wall_ns,"
		"wall_exact,ncpus,per_task,has_switch,has_records,has_waking,has_wakeup,"
		"sampled,has_totals,has_direct FROM recordings WHERE id = ?");
	if (!r)
		r = next_row(l);
	if (r <= 0)
		return r ? r
			 : err_set(l->e, ERR_NOTFOUND, "%s: no recording %lld in this store",
				   l->s->path, (long long)l->recording);
	take(l);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (take_string(l, text[i]))
			return no_memory(l);
	rec->origin_ns = take_ns(l);
	rec->end_ns = take_ns(l);
	rec->wall_ns = (uint64_t)take_opt(l, INT64_MAX, 0);
	rec->wall_exact = take(l) != 0;
	rec->ncpus = (uint32_t)take_opt(l, UINT16_MAX, 0);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		l->tl->flags |= take(l) ? flags[i] : 0;
	return l->bad ? row_failed(l, "a time or number out of range") : next_row(l);
}

/* Tables of id and text: → strings ids. */
static int read_names(struct load *l, const char *table, const char *sql, struct u64map *map)
{
	int r = select_rows(l, table, sql), got = 0;
	while (!r && (got = next_row(l)) == 1) {
		uint32_t id;
		uint64_t key = (uint64_t)take(l);
		if (take_string(l, &id) || u64map_put(map, key, id))
			r = no_memory(l);
	}
	return r ? r : got;
}

static int read_threads(struct load *l)
{
	int got = 0;
	int r = select_rows(
		l, "threads",
		"SELECT id,pid,tid,comm_id,first_ns,last_ns,first_cpu,first_prio,kernel,"
		"recorder,born,exited FROM threads WHERE recording_id = ? ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		uint64_t key = (uint64_t)take(l);
		struct tl_thread t = {.pid = (int32_t)take_opt(l, INT32_MAX, -1),
				      .tid = (int32_t)take_to(l, INT32_MAX)};
		t.comm = take_id(l, &l->s->comm, 0);
		t.first_ns = take_ns(l);
		t.last_ns = take_ns(l);
		t.first_cpu = take_cpu(l);
		t.first_prio = (int16_t)take_opt(l, INT16_MAX, -1);
		t.flags = (uint32_t)flag(l, THREAD_KERNEL);
		t.flags |= (uint32_t)flag(l, THREAD_RECORDER);
		t.flags |= (uint32_t)flag(l, THREAD_BORN);
		t.flags |= (uint32_t)flag(l, THREAD_EXITED);
		if (l->bad || t.last_ns < t.first_ns || l->tl->threads.n >= UINT32_MAX - 2)
			return row_failed(l, "a time or number out of range");
		if (u64map_put(&l->thread, key, (uint32_t)l->tl->threads.n) ||
		    vec_push(&l->tl->threads, t))
			r = no_memory(l);
	}
	return r ? r : got;
}

static int read_events(struct load *l)
{
	int got = 0;
	int r = select_rows(l, "selected_events",
			    "SELECT id,name,tracepoint,sched FROM selected_events "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		struct tl_event ev = {0};
		uint64_t key = (uint64_t)take(l);
		if (l->tl->events.n >= UINT16_MAX)
			return row_failed(l, "too many events");
		if (take_string(l, &ev.name))
			return no_memory(l);
		ev.tracepoint = take(l) != 0;
		ev.sched = take(l) != 0;
		if (u64map_put(&l->event, key, (uint32_t)l->tl->events.n) ||
		    vec_push(&l->tl->events, ev))
			r = no_memory(l);
	}
	return r ? r : got;
}

static uint8_t kind_of(const char *s)
{
	static const char *const names[] = {"user", "kernel", "jit", "mark"};
	for (uint8_t i = 1; i < 4; i++)
		if (!strcmp(s, names[i]))
			return i;
	return FRAME_USER;
}

static int read_frames(struct load *l)
{
	int got = 0;
	int r = select_rows(l, "frames",
			    "SELECT id,symbol_id,dso_id,address,file,line,inlined,guessed,kind "
			    "FROM frames ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		uint64_t key = (uint64_t)take(l);
		uint32_t id;
		struct frame f = {.name = take_id(l, &l->s->symbol, 0),
				  .dso = take_id(l, &l->s->dso, 0)};
		f.addr = (uint64_t)take(l);
		if (take_string(l, &f.srcfile))
			return no_memory(l);
		f.line = (uint32_t)take_opt(l, UINT32_MAX, 0);
		f.flags = (uint8_t)flag(l, FRAME_INLINED);
		f.flags = (uint8_t)(f.flags | flag(l, FRAME_GUESSED));
		f.kind = kind_of(take_text(l));
		if (l->bad)
			return row_failed(l, "a symbol or line that is not there");
		if (stacks_frame(l->stacks, &f, &id) || u64map_put(&l->s->frame, key, id))
			r = no_memory(l);
	}
	return r ? r : got;
}

/* A parent stands before its children, which also makes the tree a tree. */
static int read_paths(struct load *l)
{
	int got = 0;
	int r = select_rows(l, "call_paths",
			    "SELECT id,parent_id,frame_id FROM call_paths ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		uint64_t key = (uint64_t)take(l);
		uint32_t parent = take_id(l, &l->s->path_of, 0),
			 frame = take_id(l, &l->s->frame, 0), id;
		if (l->bad || !frame)
			return row_failed(l, "a parent or frame that is not there");
		if (stacks_push(l->stacks, parent, frame, &id) ||
		    u64map_put(&l->s->path_of, key, id))
			r = no_memory(l);
	}
	return r ? r : got;
}

/* The slot of a short text in what was told before; NULL for a long one. */
static struct recalled *recall(struct recalled *v, const char *s)
{
	size_t n = strlen(s);
	if (n >= sizeof(v->text))
		return NULL;
	return &v[(n * 7 + (unsigned char)s[0] * 3u + (unsigned char)s[n ? n - 1 : 0]) %
		  RECALLED];
}

static uint8_t name_index(struct recalled *told, const char *s,
			  const char *(*name)(unsigned int), unsigned int n)
{
	struct recalled *r = recall(told, s);
	uint8_t found = 0;
	if (r && r->known && !strcmp(r->text, s))
		return (uint8_t)r->value;
	for (unsigned int i = 0; i < n && !found; i++)
		if (!strcmp(s, name(i)))
			found = (uint8_t)i;
	if (r) {
		*r = (struct recalled){.known = 1, .value = found};
		memcpy(r->text, s, strlen(s) + 1);
	}
	return found;
}

static int state_index(struct load *l, const char *s, uint8_t *index)
{
	struct recalled *r = recall(l->states, s);
	if (r && r->known && !strcmp(r->text, s)) {
		*index = (uint8_t)r->value;
		return 0;
	}
	if (timeline_state(l->tl, s, index))
		return ERR_NOMEM;
	if (r) {
		*r = (struct recalled){.known = 1, .value = *index};
		memcpy(r->text, s, strlen(s) + 1);
	}
	return 0;
}

static int take_off(struct load *l, struct off *o)
{
	take(l);
	o->thread = take_thread(l);
	o->start_ns = take_ns(l);
	o->end_ns = take_ns(l);
	o->blocked_ns = take_ns(l);
	if (state_index(l, take_text(l), &o->state))
		return ERR_NOMEM;
	o->cause = name_index(l->causes, take_text(l), cause_name, CAUSE_COUNT);
	o->flags = (uint8_t)flag(l, OFF_IDLE);
	o->path = take_id(l, &l->s->path_of, 0);
	o->waker = take_id(l, &l->thread, TL_NONE);
	o->waker_context =
		name_index(l->contexts, take_text(l), waker_context_name, WAKER_IDLE + 1);
	o->waker_path = take_id(l, &l->s->path_of, 0);
	o->cpu_out = take_cpu(l);
	o->cpu_in = take_cpu(l);
	o->flags = (uint8_t)(o->flags | flag(l, OFF_OPEN));
	o->flags = (uint8_t)(o->flags | flag(l, OFF_SUSPECT));
	o->unknown =
		name_index(l->reasons, take_text(l), unknown_reason_name, UNKNOWN_NO_WAKE + 1);
	o->comm = take_id(l, &l->s->comm, 0);
	o->cpu_wake = take_cpu(l);
	o->prio_in = (int16_t)take_opt(l, INT16_MAX, -1);
	o->flags = (uint8_t)(o->flags | flag(l, OFF_RUNNING));
	o->flags = (uint8_t)(o->flags | flag(l, OFF_NO_STACK));
	const char *call = take_text(l);
	return *call ? timeline_syscall(l->tl, call, &o->syscall) : 0;
}

#define OFF_COLUMNS                                                              \
	"SELECT id,thread_id,start_ns,end_ns,blocked_ns,prev_state,cause,idle,"  \
	"call_path_id,waker_thread_id,waker_context,waker_call_path_id,cpu_out," \
	"cpu_in,open,suspect,unknown_reason,comm_id,cpu_wake,prio_in,running,"   \
	"no_stack,syscall FROM offcpu WHERE id BETWEEN ?2 AND ?3 "
/* the unary + keeps SQLite off the index by thread, whose rows it would sort again */
#define OF_RECORDING "AND +thread_id IN (SELECT id FROM threads WHERE recording_id = ?1) "

/* The intervals of row ids from..to. */
static int read_off_rows(struct load *l, int64_t from, int64_t to)
{
	int got = 0;
	int r = select_rows(l, "offcpu",
			    l->s->recordings.n == 1 ? OFF_COLUMNS "ORDER BY id"
						    : OFF_COLUMNS OF_RECORDING "ORDER BY id");
	if (!r) {
		sqlite3_bind_int64(l->st, 2, from);
		sqlite3_bind_int64(l->st, 3, to);
	}
	while (!r && (got = next_row(l)) == 1) {
		struct off o = {0};
		if (take_off(l, &o))
			return no_memory(l);
		if (l->bad)
			return row_failed(l, "a thread, stack, CPU or time that is not there");
		if (o.end_ns < o.start_ns)
			return row_failed(l, "ends before it starts");
		r = bigvec_push(&l->tl->off, o, l->e);
	}
	return r ? r : got;
}

/*
 * A large table is read in parts, each by a thread on a connection of its own, into a timeline
 * of its own: the maps of row ids are only looked at. `stacks` holds the names of states and
 * system calls only.
 */
struct off_part {
	pthread_t thread;
	int64_t from, to;
	struct store store;
	struct load load;
	struct stacks stacks;
	struct timeline tl;
	struct err e;
	int r;
};

static void *read_part(void *arg)
{
	struct off_part *p = arg;
	if (connect_to(p->store.path, &p->store.db))
		p->r = p->store.db ? db_failed(&p->store, &p->e) : err_nomem(&p->e);
	if (!p->r && timeline_init(&p->tl, &p->stacks))
		p->r = err_nomem(&p->e);
	if (!p->r)
		p->r = read_off_rows(&p->load, p->from, p->to);
	sqlite3_finalize(p->load.st);
	sqlite3_close_v2(p->store.db);
	return NULL;
}

/* Put a part's intervals behind those that are there. */
static int join_part(struct load *l, struct off_part *p)
{
	uint8_t state[TL_MAX_STATES];
	VEC(uint16_t) call = {0};
	const struct strtab *s = &p->stacks.strings;
	int r = 0;
	for (uint8_t i = 0; !r && i < p->tl.nstates; i++)
		r = timeline_state(l->tl, strtab_get(s, p->tl.states[i]), &state[i]);
	for (size_t i = 0; !r && i < p->tl.syscalls.n; i++) {
		uint16_t x = 0;
		r = timeline_syscall(l->tl, strtab_get(s, p->tl.syscalls.v[i]), &x);
		r = r || vec_push(&call, x) ? ERR_NOMEM : 0;
	}
	if (r)
		err_nomem(l->e);
	for (size_t i = 0; !r && i < p->tl.off.n; i++) {
		struct off o = p->tl.off.v[i];
		o.state = state[o.state];
		o.syscall = call.v[o.syscall];
		r = bigvec_push(&l->tl->off, o, l->e);
	}
	vec_release(&call);
	return r;
}

static void release_part(struct off_part *p)
{
	timeline_release(&p->tl);
	stacks_release(&p->stacks);
}

enum { MAX_PARTS = 4, ROWS_PER_PART = 65536 };

static int read_parts(struct load *l, unsigned n, int64_t from, int64_t to)
{
	struct off_part *parts = mem_zalloc(n, sizeof(*parts));
	uint64_t step = ((uint64_t)to - (uint64_t)from) / n + 1;
	int started[MAX_PARTS] = {0}, r = 0;
	if (!parts)
		return err_nomem(l->e);
	for (unsigned i = 0; i < n; i++) {
		struct off_part *p = &parts[i];
		p->from = from + (int64_t)(i * step);
		p->to = i + 1 < n ? p->from + (int64_t)step - 1 : to;
		p->store = *l->s;
		p->store.db = NULL;
		p->load = *l;
		p->load.s = &p->store;
		p->load.st = NULL;
		p->load.tl = &p->tl;
		p->load.stacks = &p->stacks;
		p->load.e = &p->e;
		started[i] = !pthread_create(&p->thread, NULL, read_part, p);
		if (!started[i])
			read_part(p);
	}
	for (unsigned i = 0; i < n; i++)
		if (started[i])
			pthread_join(parts[i].thread, NULL);
	for (unsigned i = 0; i < n; i++) {
		if (!r && parts[i].r && l->e)
			*l->e = parts[i].e;
		r = r ? r : parts[i].r ? parts[i].r : join_part(l, &parts[i]);
		release_part(&parts[i]);
	}
	mem_free(parts);
	return r;
}

static int read_offs(struct load *l)
{
	int64_t from, to;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = query_int(l->s, "SELECT min(id) FROM offcpu", &from, l->e);
	if (!r)
		r = query_int(l->s, "SELECT max(id) FROM offcpu", &to, l->e);
	if (r)
		return r;
	/* ids of a store that was tampered with may be anything */
	uint64_t rows = (uint64_t)to - (uint64_t)from, n = rows / ROWS_PER_PART;
	n = n > MAX_PARTS ? MAX_PARTS : n;
	n = cpus > 0 && n > (uint64_t)cpus ? (uint64_t)cpus : n;
	return n < 2 || from < 0 ? read_off_rows(l, from, to)
				 : read_parts(l, (unsigned)n, from, to);
}

static int read_samples(struct load *l)
{
	int got = 0;
	int r = select_rows(
		l, "samples",
		"SELECT a.id,a.event_id,a.thread_id,a.comm_id,a.time_ns,a.cpu,a.period,"
		"a.call_path_id FROM samples a JOIN selected_events e ON e.id = a.event_id "
		"WHERE e.recording_id = ? ORDER BY a.id");
	while (!r && (got = next_row(l)) == 1) {
		take(l);
		struct tl_sample s = {.event = (uint16_t)take_id(l, &l->event, UINT16_MAX)};
		s.thread = take_id(l, &l->thread, TL_NONE);
		s.comm = take_id(l, &l->s->comm, 0);
		s.time_ns = take_ns(l);
		s.cpu = take_cpu(l);
		s.period = take_ns(l);
		s.path = take_id(l, &l->s->path_of, 0);
		if (l->bad || s.event == UINT16_MAX)
			return row_failed(l, "a thread, stack, CPU or time that is not there");
		r = bigvec_push(&l->tl->samples, s, l->e);
	}
	return r ? r : got;
}

static int read_totals(struct load *l)
{
	int got = 0;
	int r = select_rows(
		l, "offcpu_totals",
		"SELECT id,thread_id,comm_id,call_path_id,ns,count FROM offcpu_totals "
		"WHERE thread_id IN (SELECT id FROM threads WHERE recording_id = ?) "
		"ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		take(l);
		struct tl_off_total t = {.thread = take_thread(l)};
		t.comm = take_id(l, &l->s->comm, 0);
		t.path = take_id(l, &l->s->path_of, 0);
		t.ns = take_ns(l);
		t.count = take_ns(l);
		if (l->bad)
			return row_failed(l, "a thread, stack or time that is not there");
		if (vec_push(&l->tl->totals, t))
			r = no_memory(l);
	}
	return r ? r : got;
}

static int read_spans(struct load *l)
{
	int got = 0;
	int r = select_rows(
		l, "spans",
		"SELECT id,name,thread_id,end_thread_id,start_ns,end_ns,key,parent_id,"
		"run_ns,blocked_ns,runnable_ns,preempted_ns,unknown_ns,open,suspect FROM "
		"spans WHERE thread_id IN (SELECT id FROM threads WHERE recording_id = ?) "
		"ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		struct tl_span s = {0};
		uint64_t key = (uint64_t)take(l);
		if (take_string(l, &s.name))
			return no_memory(l);
		s.thread = take_thread(l);
		s.end_thread = take_thread(l);
		s.start_ns = take_ns(l);
		s.end_ns = take_ns(l);
		s.key = (uint64_t)take(l);
		s.parent = take_id(l, &l->span, TL_NONE);
		s.run_ns = take_ns(l);
		s.blocked_ns = take_ns(l);
		s.runnable_ns = take_ns(l);
		s.preempted_ns = take_ns(l);
		s.unknown_ns = take_ns(l);
		s.flags = (uint32_t)flag(l, OFF_OPEN);
		s.flags |= (uint32_t)flag(l, OFF_SUSPECT);
		if (l->bad || s.end_ns < s.start_ns)
			return row_failed(l, "a thread, parent or time that is not there");
		if (u64map_put(&l->span, key, (uint32_t)l->tl->spans.n) ||
		    vec_push(&l->tl->spans, s))
			r = no_memory(l);
	}
	return r ? r : got;
}

static int read_marks(struct load *l)
{
	int got = 0;
	int r = select_rows(l, "marks",
			    "SELECT id,thread_id,time_ns,cpu,name,text,call_path_id FROM marks "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		take(l);
		struct tl_mark m = {.thread = take_id(l, &l->thread, TL_NONE)};
		m.time_ns = take_ns(l);
		m.cpu = take_cpu(l);
		if (take_string(l, &m.name) || take_string(l, &m.text))
			return no_memory(l);
		m.path = take_id(l, &l->s->path_of, 0);
		if (l->bad)
			return row_failed(l, "a thread, stack or time that is not there");
		if (vec_push(&l->tl->marks, m))
			r = no_memory(l);
	}
	return r ? r : got;
}

static int read_losses(struct load *l)
{
	int got = 0;
	int r = select_rows(l, "losses",
			    "SELECT id,kind,cpu,from_ns,to_ns,count,sched FROM losses "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = next_row(l)) == 1) {
		take(l);
		struct tl_loss x = {0};
		x.kind = name_index(l->kinds, take_text(l), loss_kind_name, LOSS_THROTTLE + 1);
		x.cpu = take_cpu(l);
		x.from_ns = take_ns(l);
		x.to_ns = take_ns(l);
		x.count = take_ns(l);
		x.sched = take(l) != 0;
		if (l->bad)
			return row_failed(l, "a time or number out of range");
		if (vec_push(&l->tl->losses, x))
			r = no_memory(l);
	}
	return r ? r : got;
}

/* --- the door ------------------------------------------------------------------------------
 */

/* Names and stacks are read once for all recordings that go into the same `stacks`. */
static int read_shared_names(struct load *l)
{
	struct store *s = l->s;
	if (s->stacks == l->stacks)
		return 0;
	forget_names(s);
	int r = read_names(l, "comms", "SELECT id,comm FROM comms", &s->comm);
	if (!r)
		r = read_names(l, "dsos", "SELECT id,name FROM dsos", &s->dso);
	return r ? r : read_names(l, "symbols", "SELECT id,name FROM symbols", &s->symbol);
}

static int read_shared_stacks(struct load *l)
{
	if (l->s->stacks == l->stacks)
		return 0;
	int r = read_frames(l);
	if (!r)
		r = read_paths(l);
	if (!r)
		l->s->stacks = l->stacks;
	return r;
}

static int read_all(struct load *l)
{
	static int (*const tables[])(struct load *) = {
		read_recording,     read_shared_names, read_threads, read_events,
		read_shared_stacks, read_offs,         read_samples, read_totals,
		read_spans,         read_marks,        read_losses};
	int r = 0;
	for (size_t i = 0; !r && i < sizeof(tables) / sizeof(*tables); i++)
		r = tables[i](l);
	if (!r)
		r = timeline_finish(l->tl, l->e);
	if (!r && timeline_check(l->tl, l->e)) {
		err_prefix(l->e, "%s: a damaged store", l->s->path);
		r = ERR_FORMAT;
	}
	return r;
}

int store_load(struct store *s, int64_t recording, struct timeline *tl, struct stacks *stacks,
	       struct err *e)
{
	struct load l = {.s = s, .tl = tl, .stacks = stacks, .e = e, .recording = recording};
	int r = 0;
	if (!recording)
		r = query_int(s, "SELECT min(id) FROM recordings", &l.recording, e);
	*tl = (struct timeline){.stacks = stacks};
	if (!r && timeline_init(tl, stacks))
		r = err_nomem(e);
	if (!r)
		r = read_all(&l);
	sqlite3_finalize(l.st);
	u64map_release(&l.thread);
	u64map_release(&l.event);
	u64map_release(&l.span);
	return r;
}
