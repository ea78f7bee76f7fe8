#include "libtime/store/store_rows.h"
#include "base/check.h"
#include "base/mem.h"
#include "libparse/sample.h"
#include "libtime/store/store.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- opening ----------------------------------------------------------------------------- */

/* Rows are read, never computed: a virtual table or a generated column runs what a stranger
 * wrote, for as long and with as much memory as it likes. */
static int check_plain(struct store *s, struct err *e)
{
	int64_t computed;
	int r = store_query_int(
		s,
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
	int r = store_query_int(s, "PRAGMA application_id", &application, e);
	if (!r)
		r = store_query_int(s, "PRAGMA user_version", &version, e);
	if (!r)
		r = store_query_int(
			s,
			"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
			"('recordings','comms','threads','selected_events','dsos','symbols',"
			"'frames','call_paths','samples','offcpu','offcpu_totals','spans',"
			"'marks','losses','sites','labels')",
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
	if (version > 0 && version < STORE_VERSION)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: a store of version %lld, made by an older perfkit; import "
			       "the recording again",
			       s->path, (long long)version);
	if (version < 1 || tables != 16)
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

static void forget_names(struct store *s)
{
	struct u64map *const maps[] = {&s->frame, &s->path_of, &s->comm, &s->dso, &s->symbol};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		u64map_release(maps[i]);
	s->stacks = NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close_v2(s->db);
	forget_names(s);
	vec_release(&s->recordings);
	arena_release(&s->texts);
	mem_free(s->path);
	mem_free(s);
}

/* Each is sought among the rows of all. */
enum { MAX_RECORDINGS = 4096 };

/* NULL when there is no memory, or more text than can be. */
static const char *column_text(struct store *s, sqlite3_stmt *st, int col)
{
	const char *text = (const char *)sqlite3_column_text(st, col);
	size_t n = text ? strlen(text) : 0;
	return store_take_text(s, n) ? NULL : arena_strndup(&s->texts, text ? text : "", n);
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
		else if (s->recordings.n == MAX_RECORDINGS)
			r = err_set(e, ERR_LIMIT, "%s: more than %d recordings in one store",
				    s->path, MAX_RECORDINGS);
		else if (!x.host || !x.file || vec_push(&s->recordings, x))
			r = err_nomem(e);
	}
	sqlite3_finalize(st);
	*v = s->recordings.v;
	*n = s->recordings.n;
	return r ? r : got == SQLITE_DONE ? 0 : store_db_failed(s, e);
}

/* --- tables ------------------------------------------------------------------------------ */

static int read_recording(struct load *l)
{
	struct tl_recording *rec = &l->tl->rec;
	uint32_t *const text[] = {&rec->host,   &rec->file, &rec->clock,
				  &rec->kernel, &rec->arch, &rec->cmdline};
	static const uint32_t flags[] = {TL_PER_TASK,   TL_HAS_SWITCH, TL_HAS_RECORDS,
					 TL_HAS_WAKING, TL_HAS_WAKEUP, TL_SAMPLED,
					 TL_HAS_TOTALS, TL_HAS_DIRECT, TL_SOME_CPUS};
	int r = rows_select(
		l, "recordings",
		"SELECT id,host,file,clock,kernel,arch,cmdline,origin_ns,end_ns,wall_ns,"
		"wall_exact,ncpus,per_task,has_switch,has_records,has_waking,has_wakeup,"
		"sampled,has_totals,has_direct,some_cpus FROM recordings WHERE id = ?");
	if (!r)
		r = rows_next(l);
	if (r <= 0)
		return r ? r
			 : err_set(l->e, ERR_NOTFOUND, "%s: no recording %lld in this store",
				   l->s->path, (long long)l->recording);
	take(l);
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		if (take_string(l, text[i]))
			return rows_nomem(l);
	rec->origin_ns = take_ns(l);
	rec->end_ns = take_ns(l);
	rec->wall_ns = (uint64_t)column_int_or(l, INT64_MAX, 0);
	rec->wall_exact = take(l) != 0;
	rec->ncpus = (uint32_t)column_int_or(l, UINT16_MAX, 0);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		l->tl->flags |= take(l) ? flags[i] : 0;
	return l->bad ? rows_damaged(l, "a time or number out of range") : rows_next(l);
}

/* Tables of id and text: → strings ids. */
static int read_names(struct load *l, const char *table, const char *sql, struct u64map *map)
{
	int r = rows_select(l, table, sql), got = 0;
	while (!r && (got = rows_next(l)) == 1) {
		uint32_t id;
		uint64_t key = (uint64_t)take(l);
		if (take_string(l, &id) || u64map_put(map, key, id))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_build_ids(struct load *l)
{
	int got = 0;
	int r = rows_select(
		l, "dsos",
		"SELECT id,build_id FROM dsos WHERE build_id IS NOT NULL ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		uint32_t dso = 0, id;
		if (!u64map_get(&l->s->dso, (uint64_t)take(l), &dso))
			return rows_damaged(l, "a build-id of no file");
		if (take_string(l, &id) ||
		    stacks_note_build_id(l->stacks, dso, strtab_get(&l->stacks->strings, id)))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

/* -1: samples of a thread at its end. */
static int32_t take_tid(struct load *l)
{
	int64_t v = take(l);
	l->bad |= v < INT32_MIN || v > INT32_MAX;
	return l->bad ? 0 : (int32_t)v;
}

static int read_threads(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "threads",
			    "SELECT id,pid,tid,comm_id,first_ns,last_ns,first_cpu,first_prio,"
			    "kernel,recorder,born,exited,lifeless FROM threads "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		uint64_t key = (uint64_t)take(l);
		struct tl_thread t = {.pid = (int32_t)column_int_or(l, INT32_MAX, -1),
				      .tid = take_tid(l)};
		t.comm = take_id(l, &l->s->comm, 0);
		t.first_ns = take_ns(l);
		t.last_ns = take_ns(l);
		t.first_cpu = take_cpu(l);
		t.first_prio = (int16_t)column_int_or(l, INT16_MAX, -1);
		t.flags = (uint32_t)take_flag(l, THREAD_KERNEL);
		t.flags |= (uint32_t)take_flag(l, THREAD_RECORDER);
		t.flags |= (uint32_t)take_flag(l, THREAD_BORN);
		t.flags |= (uint32_t)take_flag(l, THREAD_EXITED);
		t.flags |= (uint32_t)take_flag(l, THREAD_IDLE_TASK);
		if (l->bad || t.last_ns < t.first_ns || l->tl->threads.n >= UINT32_MAX - 2)
			return rows_damaged(l, "a time or number out of range");
		if (u64map_put(&l->thread, key, (uint32_t)l->tl->threads.n) ||
		    vec_push(&l->tl->threads, t))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_events(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "selected_events",
			    "SELECT id,name,tracepoint,sched,stacks FROM selected_events "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		struct tl_event ev = {0};
		uint64_t key = (uint64_t)take(l);
		if (l->tl->events.n >= UINT16_MAX)
			return rows_damaged(l, "too many events");
		if (take_string(l, &ev.name))
			return rows_nomem(l);
		ev.tracepoint = take(l) != 0;
		ev.sched = take(l) != 0;
		ev.stacks = take_name(l, l->stack_kinds, stack_kind_name, STACK_KINDS);
		if (u64map_put(&l->event, key, (uint32_t)l->tl->events.n) ||
		    vec_push(&l->tl->events, ev))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static uint8_t kind_of(const char *s)
{
	static const char *const names[] = {"user", "kernel", "jit", "mark"};
	ENTRIES(names, FRAME_MARK + 1);
	for (uint8_t i = 1; i < 4; i++)
		if (!strcmp(s, names[i]))
			return i;
	return FRAME_USER;
}

static int read_frames(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "frames",
			    "SELECT id,symbol_id,dso_id,address,file,line,inlined,guessed,kind "
			    "FROM frames ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		uint64_t key = (uint64_t)take(l);
		uint32_t id;
		struct frame f = {.name = take_id(l, &l->s->symbol, 0),
				  .dso = take_id(l, &l->s->dso, 0)};
		f.addr = (uint64_t)take(l);
		if (take_string(l, &f.srcfile))
			return rows_nomem(l);
		f.line = (uint32_t)column_int_or(l, UINT32_MAX, 0);
		f.flags = (uint8_t)take_flag(l, FRAME_INLINED);
		f.flags = (uint8_t)(f.flags | take_flag(l, FRAME_GUESSED));
		f.kind = kind_of(take_text(l));
		if (l->bad)
			return rows_damaged(l, "a symbol or line that is not there");
		if (stacks_frame(l->stacks, &f, &id) || u64map_put(&l->s->frame, key, id))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

/* A parent stands before its children, which also makes the tree a tree. */
static int read_paths(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "call_paths",
			    "SELECT id,parent_id,frame_id FROM call_paths ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		uint64_t key = (uint64_t)take(l);
		uint32_t parent = take_id(l, &l->s->path_of, 0),
			 frame = take_id(l, &l->s->frame, 0), id;
		if (l->bad || !frame)
			return rows_damaged(l, "a parent or frame that is not there");
		if (stacks_push(l->stacks, parent, frame, &id) ||
		    u64map_put(&l->s->path_of, key, id))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_site(struct load *l, struct tl_site *x)
{
	if (take_string(l, &x->program) || take_string(l, &x->role))
		return ERR_NOMEM;
	x->cause = take_name(l, l->causes, cause_name, CAUSE_COUNT);
	x->frame = take_id(l, &l->s->frame, 0);
	x->verdict = take_name(l, l->verdicts, site_verdict_name, SITE_VERDICTS);
	x->reason = take_name(l, l->site_reasons, site_reason_name, SITE_REASONS);
	x->loop = take(l) != 0;
	x->waits = take_ns(l);
	x->wait_ns = take_ns(l);
	x->max_ns = take_ns(l);
	return 0;
}

static int read_sites(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "sites",
			    "SELECT id,program,role,cause,frame_id,verdict,reason,loop,waits,"
			    "wait_ns,max_ns FROM sites WHERE recording_id = ? ORDER BY id");
	if (!r && vec_push(&l->tl->sites, (struct tl_site){0}))
		r = rows_nomem(l);
	while (!r && (got = rows_next(l)) == 1) {
		struct tl_site x = {0};
		uint64_t key = (uint64_t)take(l);
		if (read_site(l, &x))
			return rows_nomem(l);
		if (l->bad || l->tl->sites.n >= UINT32_MAX - 2)
			return rows_damaged(l, "a frame or number out of range");
		if (u64map_put(&l->site, key, (uint32_t)l->tl->sites.n) ||
		    vec_push(&l->tl->sites, x))
			r = rows_nomem(l);
	}
	l->sites = l->tl->sites.v;
	return r ? r : got;
}

static int read_samples(struct load *l)
{
	int got = 0;
	int r = rows_select(
		l, "samples",
		"SELECT a.id,a.event_id,a.thread_id,a.comm_id,a.time_ns,a.cpu,a.period,"
		"a.call_path_id FROM samples a JOIN selected_events e ON e.id = a.event_id "
		"WHERE e.recording_id = ? ORDER BY a.id");
	while (!r && (got = rows_next(l)) == 1) {
		take(l);
		struct tl_sample s = {.event = (uint16_t)take_id(l, &l->event, UINT16_MAX)};
		s.thread = take_id(l, &l->thread, TL_NONE);
		s.comm = take_id(l, &l->s->comm, 0);
		s.time_ns = take_ns(l);
		s.cpu = take_cpu(l);
		s.period = take_ns(l);
		s.path = take_id(l, &l->s->path_of, 0);
		if (l->bad || s.event == UINT16_MAX)
			return rows_damaged(l,
					    "a thread, stack, CPU or time that is not there");
		r = bigvec_push(&l->tl->samples, s, l->e);
	}
	return r ? r : got;
}

static int read_event_samples(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "event_samples",
			    "SELECT a.id,a.event_id,a.pid,a.tid,a.comm_id,a.time_ns,"
			    "a.cpu,a.period,a.call_path_id FROM event_samples a JOIN "
			    "selected_events e ON e.id = a.event_id "
			    "WHERE e.recording_id = ? ORDER BY a.id");
	while (!r && (got = rows_next(l)) == 1) {
		take(l);
		struct tl_event_sample s = {
			.event = (uint16_t)take_id(l, &l->event, UINT16_MAX)};
		s.pid = take_tid(l);
		s.tid = take_tid(l);
		s.comm = take_id(l, &l->s->comm, 0);
		int64_t time = column_int_or(l, INT64_MAX, -1);
		s.time_ns = time < 0 ? SAMPLE_DUMMY_TIMES : (uint64_t)time;
		s.cpu = take_cpu(l);
		s.period = take_ns(l);
		s.path = take_id(l, &l->s->path_of, 0);
		if (l->bad || s.event == UINT16_MAX)
			return rows_damaged(l, "a stack, CPU or time that is not there");
		r = bigvec_push(&l->tl->event_samples, s, l->e);
	}
	return r ? r : got;
}

static int read_totals(struct load *l)
{
	int got = 0;
	int r = rows_select(
		l, "offcpu_totals",
		"SELECT id,thread_id,comm_id,call_path_id,ns,count FROM offcpu_totals "
		"WHERE thread_id IN (SELECT id FROM threads WHERE recording_id = ?) "
		"ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		take(l);
		struct tl_off_total t = {.thread = take_thread(l)};
		t.comm = take_id(l, &l->s->comm, 0);
		t.path = take_id(l, &l->s->path_of, 0);
		t.ns = take_ns(l);
		t.count = take_ns(l);
		if (l->bad)
			return rows_damaged(l, "a thread, stack or time that is not there");
		if (vec_push(&l->tl->totals, t))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_spans(struct load *l)
{
	int got = 0;
	int r = rows_select(
		l, "spans",
		"SELECT id,name,thread_id,end_thread_id,start_ns,end_ns,key,parent_id,"
		"run_ns,blocked_ns,runnable_ns,preempted_ns,unknown_ns,open,suspect,"
		"handed_ns,key_text,pid,overlapped FROM spans "
		"WHERE recording_id = ? ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		struct tl_span s = {0};
		uint64_t key = (uint64_t)take(l);
		if (take_string(l, &s.name))
			return rows_nomem(l);
		s.thread = take_id(l, &l->thread, TL_NONE);
		s.end_thread = take_id(l, &l->thread, TL_NONE);
		s.start_ns = take_ns(l);
		s.end_ns = take_ns(l);
		s.key = (uint64_t)take(l);
		s.parent = take_id(l, &l->span, TL_NONE);
		s.run_ns = take_ns(l);
		s.blocked_ns = take_ns(l);
		s.runnable_ns = take_ns(l);
		s.preempted_ns = take_ns(l);
		s.unknown_ns = take_ns(l);
		s.flags = (uint32_t)take_flag(l, OFF_OPEN);
		s.flags |= (uint32_t)take_flag(l, OFF_SUSPECT);
		s.handed_ns = (uint64_t)column_int_or(l, INT64_MAX, 0);
		if (take_string(l, &s.key_text))
			return rows_nomem(l);
		s.pid = (int32_t)column_int_or(l, INT32_MAX, -1);
		s.flags |= (uint32_t)take_flag(l, SPAN_OVERLAPPED);
		l->bad |= (s.thread == TL_NONE) != (s.end_thread == TL_NONE);
		if (l->bad || s.end_ns < s.start_ns)
			return rows_damaged(l, "a thread, parent or time that is not there");
		if (u64map_put(&l->span, key, (uint32_t)l->tl->spans.n) ||
		    vec_push(&l->tl->spans, s))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

/* Of a label without a span nothing is known yet to hold it. */
static int read_labels(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "labels",
			    "SELECT l.rowid,l.span_id,l.key,l.value FROM labels l "
			    "JOIN spans s ON s.id = l.span_id WHERE s.recording_id = ? "
			    "ORDER BY l.rowid");
	while (!r && (got = rows_next(l)) == 1) {
		struct tl_label x = {.key = 0};
		take(l);
		x.span = take_id(l, &l->span, TL_NONE);
		if (take_string(l, &x.key) || take_string(l, &x.value))
			return rows_nomem(l);
		if (l->tl->labels.n && l->tl->labels.v[l->tl->labels.n - 1].span > x.span)
			l->bad = 1;
		if (l->bad)
			return rows_damaged(l, "a span that is not there, or not in order");
		if (vec_push(&l->tl->labels, x))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_marks(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "marks",
			    "SELECT id,thread_id,time_ns,cpu,name,text,call_path_id FROM marks "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		take(l);
		struct tl_mark m = {.thread = take_id(l, &l->thread, TL_NONE)};
		m.time_ns = take_ns(l);
		m.cpu = take_cpu(l);
		if (take_string(l, &m.name) || take_string(l, &m.text))
			return rows_nomem(l);
		m.path = take_id(l, &l->s->path_of, 0);
		if (l->bad)
			return rows_damaged(l, "a thread, stack or time that is not there");
		if (vec_push(&l->tl->marks, m))
			r = rows_nomem(l);
	}
	return r ? r : got;
}

static int read_losses(struct load *l)
{
	int got = 0;
	int r = rows_select(l, "losses",
			    "SELECT id,kind,cpu,from_ns,to_ns,count,sched FROM losses "
			    "WHERE recording_id = ? ORDER BY id");
	while (!r && (got = rows_next(l)) == 1) {
		take(l);
		struct tl_loss x = {0};
		x.kind = take_name(l, l->kinds, loss_kind_name, LOSS_KINDS);
		x.cpu = take_cpu(l);
		x.from_ns = take_ns(l);
		x.to_ns = take_ns(l);
		x.count = take_ns(l);
		x.sched = take(l) != 0;
		if (l->bad)
			return rows_damaged(l, "a time or number out of range");
		if (vec_push(&l->tl->losses, x))
			r = rows_nomem(l);
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
	int r = read_names(l, "comms", "SELECT id,comm FROM comms ORDER BY id", &s->comm);
	if (!r)
		r = read_names(l, "dsos", "SELECT id,name FROM dsos ORDER BY id", &s->dso);
	if (!r)
		r = read_build_ids(l);
	return r ? r
		 : read_names(l, "symbols", "SELECT id,name FROM symbols ORDER BY id",
			      &s->symbol);
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
		read_recording,     read_shared_names, read_threads,  read_events,
		read_shared_stacks, read_sites,        storeoff_read, read_samples,
		read_totals,        read_spans,        read_labels,   read_marks,
		read_losses};
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

int store_load(struct store *s, int64_t recording, int event_samples, struct timeline *tl,
	       struct stacks *stacks, struct err *e)
{
	struct load l = {.s = s, .tl = tl, .stacks = stacks, .e = e, .recording = recording};
	int r = 0;
	if (!recording)
		r = store_query_int(s, "SELECT min(id) FROM recordings", &l.recording, e);
	*tl = (struct timeline){.stacks = stacks};
	if (!r && timeline_init(tl, stacks))
		r = err_nomem(e);
	if (!r)
		r = read_all(&l);
	if (!r && event_samples)
		r = read_event_samples(&l);
	sqlite3_finalize(l.st);
	u64map_release(&l.thread);
	u64map_release(&l.event);
	u64map_release(&l.span);
	u64map_release(&l.site);
	return r;
}
