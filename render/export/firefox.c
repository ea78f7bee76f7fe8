#include "render/export/firefox_internal.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"
#include "render/export/export_rows.h"

#include <stdlib.h>
#include <string.h>

/* MarkerPhase of src/types/gecko-profile.ts. */
#define PHASE_INTERVAL "1"

/* A time of the recording's clock. */
static void put_time(struct firefox *x, const char *key, uint64_t ns)
{
	uint64_t zero = x->tl->rec.origin_ns;
	firefox_put_ms(x, key, ns > zero ? ns - zero : 0);
}

/* --- a thread's samples --------------------------------------------------------------- */

static int row_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static int add_samples(struct firefox *x, uint32_t thread)
{
	const struct timeline *tl = x->tl;
	for (uint32_t i = x->samples.first.v[thread]; i < x->samples.first.v[thread + 1]; i++) {
		const struct tl_sample *s = &tl->samples.v[x->samples.id.v[i]];
		struct row r = {s->time_ns, s->period, s->path, ROW_SAMPLE};
		if (x->o->wanted(x->o->ctx, s->event) &&
		    population_has_sample(x->o->of, tl, s) && vec_push(&x->rows, r))
			return ERR_NOMEM;
	}
	x->sampled = x->rows.n;
	return 0;
}

/* Where the thread left a CPU and came back to one; what of it is shown is a marker. */
static int add_part(struct firefox *x, const struct population *of, const struct offcpu *o,
		    int system)
{
	struct wait w;
	if (!population_wait(of, x->tl, o, &w) || w.end == w.start)
		return 0;
	struct row out = {w.start, 0, o->path, ROW_OUT}, in = {w.end, 0, o->path, ROW_IN};
	if (vec_push(&x->rows, out) || vec_push(&x->rows, in))
		return ERR_NOMEM;
	if (system) {
		x->hidden->system++;
		x->hidden->system_ns += w.end - w.start;
		return 0;
	}
	enum apart apart = w.apart;
	int open = w.open;
	uint64_t ns = wait_split_off(&w);
	if (ns && site_sums_add(&x->hidden->by[apart], x->tl, o, ns, open))
		return ERR_NOMEM;
	struct marker m = {w.start, w.end, w.blocked, w.runnable, o, 0, MARKER_WAIT};
	return w.end > w.start ? vec_push(&x->markers, m) : 0;
}

static int add_wait(struct firefox *x, const struct offcpu *o, int system)
{
	struct population part;
	uint64_t at = o->start_ns;
	int rc = 0;
	if (!population_has_thread(x->o->of, x->tl, o->thread, o->comm))
		return 0;
	while (!rc && population_part(x->o->of, o->thread, o->path, &at, o->end_ns, &part))
		rc = add_part(x, &part, o, system);
	return rc;
}

static int add_waits(struct firefox *x, uint32_t thread)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	int system = population_hides_thread(x->o->of, x->tl, thread), rc = 0;
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n && !rc; i++)
		rc = add_wait(x, &x->tl->offcpu.v[i], system);
	return rc;
}

static void put_row_column(struct firefox *x, const char *key,
			   void (*put)(struct firefox *x, size_t row))
{
	json_open(&x->j, key, '[');
	for (size_t i = 0; i < x->rows.n; i++)
		put(x, i);
	json_close(&x->j, ']');
}

static void put_row_time(struct firefox *x, size_t i)
{
	put_time(x, NULL, x->rows.v[i].ns);
}

static void put_row_stack(struct firefox *x, size_t i)
{
	uint32_t index;
	if (!x->rows.v[i].path)
		json_null(&x->j, NULL);
	else if (firefox_use_path(x, x->rows.v[i].path, &index))
		x->b.failed = ERR_NOMEM;
	else
		json_u64(&x->j, NULL, index);
}

static void put_row_weight(struct firefox *x, size_t i)
{
	if (x->o->in_time)
		firefox_put_ms(x, NULL, x->rows.v[i].weight);
	else
		json_u64(&x->j, NULL, x->rows.v[i].weight);
}

/* Rows where the thread's life begins and ends, so that all of its running time is included. */
static int add_edges(struct firefox *x, uint32_t thread)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	struct row from = {.ns = t->first_ns, .kind = ROW_SAMPLE};
	struct row to = {.ns = t->last_ns, .kind = ROW_SAMPLE};
	int cut;
	if (!population_clip(x->o->of, &from.ns, &to.ns, &cut))
		return 0;
	return vec_push(&x->rows, from) || vec_push(&x->rows, to) ? ERR_NOMEM : 0;
}

/* 1 when all of the thread's running time is known: its switches were recorded, and no filter
 * leaves out some of them. */
static int knows_cpu_time(const struct firefox *x, uint32_t thread)
{
	return timeline_flags_of(x->tl, thread) & TL_HAS_SWITCH && !x->o->of->ncpus &&
	       !x->o->of->label &&
	       x->tl->threads.v[thread].last_ns > x->tl->threads.v[thread].first_ns;
}

/* How much CPU time the thread had since the row before. */
static void put_cpu_deltas(struct firefox *x)
{
	uint64_t last = x->rows.n ? x->rows.v[0].ns : 0;
	int away = 0;
	json_open(&x->j, "threadCPUDelta", '[');
	for (size_t i = 0; i < x->rows.n; i++) {
		const struct row *r = &x->rows.v[i];
		json_u64(&x->j, NULL, away ? 0 : r->ns - last);
		away = r->kind == ROW_OUT || (away && r->kind != ROW_IN);
		last = r->ns;
	}
	json_close(&x->j, ']');
}

static int put_samples(struct firefox *x, int has_cpu_time, struct err *e)
{
	json_open(&x->j, "samples", '{');
	json_u64(&x->j, "length", x->rows.n);
	json_str(&x->j, "weightType", x->o->in_time ? "tracing-ms" : "samples");
	put_row_column(x, "time", put_row_time);
	put_row_column(x, "stack", put_row_stack);
	put_row_column(x, "weight", put_row_weight);
	if (has_cpu_time)
		put_cpu_deltas(x);
	json_close(&x->j, '}');
	return firefox_flush(x, FIREFOX_FLUSH, e);
}

/* --- markers -------------------------------------------------------------------------- */

static int marker_order(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void name_thread(struct firefox *x, uint32_t thread)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	buf_clear(&x->name);
	buf_fmt(&x->name, "%s %d/%d", firefox_text_of(x, t->comm), t->pid, t->tid);
}

/* A backtrace as the format has it. */
static void put_cause(struct firefox *x, uint32_t path, uint64_t ns)
{
	uint32_t index;
	if (!path)
		return;
	if (firefox_use_path(x, path, &index))
		x->b.failed = ERR_NOMEM;
	json_open(&x->j, "cause", '{');
	put_time(x, "time", ns);
	json_u64(&x->j, "stack", index);
	json_close(&x->j, '}');
}

static const char *in_doubt(const struct offcpu *o)
{
	return o->unknown               ? unknown_reason_name(o->unknown)
	       : o->flags & OFF_SUSPECT ? "records were lost there"
	       : o->flags & OFF_OPEN    ? "cut by the edge of the recording"
					: NULL;
}

/* The index of the text in x->name, which is noted for `id`. */
static uint32_t note_text(struct firefox *x, struct u64map *of, uint32_t id)
{
	uint32_t index = 0;
	const char *s = buf_cstr(&x->name);
	if (buf_failed(&x->name) || firefox_use_text(x, s, &index) || u64map_put(of, id, index))
		x->b.failed = ERR_NOMEM;
	return index;
}

static uint32_t waker_name(struct firefox *x, uint32_t thread)
{
	uint32_t index;
	if (u64map_get(&x->waker_of, thread, &index))
		return index;
	name_thread(x, thread);
	return note_text(x, &x->waker_of, thread);
}

static uint32_t waker_stack(struct firefox *x, uint32_t path)
{
	const struct stacks *s = x->tl->stacks;
	uint32_t index;
	if (u64map_get(&x->waker_stack_of, path, &index))
		return index;
	buf_clear(&x->name);
	for (uint32_t p = path; p; p = s->paths.v[p].parent) {
		buf_str(&x->name, x->name.n ? " < " : "");
		export_frame_name(&x->name, s, &s->frames.v[s->paths.v[p].frame]);
	}
	return note_text(x, &x->waker_stack_of, path);
}

static void put_waker(struct firefox *x, const struct offcpu *o)
{
	uint32_t index = 0;
	if (o->waker != TL_NONE)
		json_u64(&x->j, "waker", waker_name(x, o->waker));
	else if (o->waker_context != WAKER_NONE) {
		if (firefox_use_text(x, waker_context_name(o->waker_context), &index))
			x->b.failed = ERR_NOMEM;
		json_u64(&x->j, "waker", index);
	}
	if (o->waker_path)
		json_u64(&x->j, "wakerStack", waker_stack(x, o->waker_path));
}

static void put_wait(struct firefox *x, const struct marker *m)
{
	const struct offcpu *o = m->offcpu;
	const struct tl_site *site = timeline_site(x->tl, o->site);
	json_str(&x->j, "type", "Wait");
	firefox_put_ms(x, "blocked", m->blocked);
	firefox_put_ms(x, "runnable", m->runnable);
	firefox_put_text(x, "state", firefox_text_of(x, x->tl->states[o->state]));
	put_waker(x, o);
	if (site && site->verdict == SITE_UNCLEAR)
		json_str(&x->j, "unclear", "at rest, or for an answer?");
	if (in_doubt(o))
		json_str(&x->j, "doubt", in_doubt(o));
	put_cause(x, o->path, o->start_ns);
}

static void put_span(struct firefox *x, const struct tl_span *s, uint32_t index)
{
	size_t first, n = timeline_labels_of(x->tl, index, &first);
	json_str(&x->j, "type", "Span");
	if (s->key_text)
		firefox_put_text(x, "key", firefox_text_of(x, s->key_text));
	else if (s->key)
		json_u64_text(&x->j, "key", s->key);
	firefox_put_ms(x, "run", s->run_ns);
	firefox_put_ms(x, "blocked", s->blocked_ns);
	firefox_put_ms(x, "runnable", s->runnable_ns);
	if (s->end_thread != s->thread && s->end_thread != TL_NONE) {
		name_thread(x, s->end_thread);
		firefox_put_text(x, "endThread", buf_cstr(&x->name));
	}
	buf_clear(&x->name);
	for (size_t i = first; i < first + n; i++)
		buf_fmt(&x->name, "%s%s=%s", i > first ? ", " : "",
			firefox_text_of(x, x->tl->labels.v[i].key),
			firefox_text_of(x, x->tl->labels.v[i].value));
	if (n)
		firefox_put_text(x, "labels", buf_cstr(&x->name));
}

static void put_loss(struct firefox *x, const struct tl_loss *l)
{
	json_str(&x->j, "type", "Loss");
	json_u64(&x->j, "count", l->count);
	if (l->cpu != TL_NOCPU)
		json_u64(&x->j, "cpu", l->cpu);
}

static void put_payload(struct firefox *x, const struct marker *m)
{
	json_open(&x->j, NULL, '{');
	if (m->kind == MARKER_WAIT)
		put_wait(x, m);
	else if (m->kind == MARKER_SPAN)
		put_span(x, &x->tl->spans.v[m->index], m->index);
	else
		put_loss(x, &x->tl->losses.v[m->index]);
	json_close(&x->j, '}');
}

static const char *marker_name(const struct firefox *x, const struct marker *m)
{
	return m->kind == MARKER_WAIT   ? cause_name(m->offcpu->cause)
	       : m->kind == MARKER_SPAN ? firefox_text_of(x, x->tl->spans.v[m->index].name)
					: loss_kind_name(x->tl->losses.v[m->index].kind);
}

static void put_marker_names(struct firefox *x)
{
	json_open(&x->j, "name", '[');
	for (size_t i = 0; i < x->markers.n; i++) {
		uint32_t index = 0;
		if (firefox_use_text(x, marker_name(x, &x->markers.v[i]), &index))
			x->b.failed = ERR_NOMEM;
		json_u64(&x->j, NULL, index);
	}
	json_close(&x->j, ']');
}

static int put_markers(struct firefox *x, struct err *e)
{
	static const uint8_t category_of[] = {
		[MARKER_WAIT] = CAT_WAIT, [MARKER_SPAN] = CAT_SPAN, [MARKER_LOSS] = CAT_OTHER};
	int rc = 0;
	if (x->markers.n)
		qsort(x->markers.v, x->markers.n, sizeof(*x->markers.v), marker_order);
	json_open(&x->j, "markers", '{');
	json_u64(&x->j, "length", x->markers.n);
	json_open(&x->j, "data", '[');
	for (size_t i = 0; i < x->markers.n && !rc; i++) {
		put_payload(x, &x->markers.v[i]);
		rc = firefox_flush(x, FIREFOX_FLUSH, e);
	}
	json_close(&x->j, ']');
	put_marker_names(x);
	json_open(&x->j, "startTime", '[');
	for (size_t i = 0; i < x->markers.n; i++)
		put_time(x, NULL, x->markers.v[i].start);
	json_close(&x->j, ']');
	json_open(&x->j, "endTime", '[');
	for (size_t i = 0; i < x->markers.n; i++)
		put_time(x, NULL, x->markers.v[i].end);
	json_close(&x->j, ']');
	firefox_put_column(x, "phase", PHASE_INTERVAL, x->markers.n);
	json_open(&x->j, "category", '[');
	for (size_t i = 0; i < x->markers.n; i++)
		json_u64(&x->j, NULL, category_of[x->markers.v[i].kind]);
	json_close(&x->j, ']');
	json_close(&x->j, '}');
	return rc ? rc : firefox_flush(x, FIREFOX_FLUSH, e);
}

/* --- threads -------------------------------------------------------------------------- */

struct track {
	const char *name, *process;
	int32_t pid;
	int64_t tid;
	int is_main;
	uint64_t from, to;
};

static int put_track(struct firefox *x, const struct track *t, int has_cpu_time, struct err *e)
{
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", t->pid);
	json_open(&x->j, NULL, '{');
	json_str(&x->j, "processType", "default");
	firefox_put_text(x, "processName", t->process);
	put_time(x, "processStartupTime", t->from);
	json_null(&x->j, "processShutdownTime");
	put_time(x, "registerTime", t->from);
	put_time(x, "unregisterTime", t->to);
	firefox_put_column(x, "pausedRanges", "", 0);
	firefox_put_text(x, "name", t->name);
	json_bool(&x->j, "isMainThread", t->is_main);
	json_str(&x->j, "pid", t->pid < 0 ? "?" : pid);
	json_i64(&x->j, "tid", t->tid);
	int rc = put_samples(x, has_cpu_time, e);
	rc = rc ? rc : put_markers(x, e);
	json_close(&x->j, '}');
	if (x->sampled > x->most) {
		x->most = x->sampled;
		x->busiest = x->threads;
	}
	x->rows.n = x->markers.n = 0;
	x->threads++;
	return rc;
}

static int by_thread(const void *a, const void *b, void *timeline)
{
	const struct tl_span *v = ((const struct timeline *)timeline)->spans.v;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	if (v[i].thread != v[k].thread)
		return v[i].thread < v[k].thread ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int index_spans(struct firefox *x)
{
	for (size_t i = 0; i < x->tl->spans.n; i++)
		if (vec_push(&x->spans, (uint32_t)i))
			return ERR_NOMEM;
	if (x->spans.n)
		qsort_r(x->spans.v, x->spans.n, sizeof(*x->spans.v), by_thread, (void *)x->tl);
	return 0;
}

static int shows(const struct firefox *x, uint32_t thread)
{
	return thread == TL_NONE ||
	       population_has_thread(x->o->of, x->tl, thread, x->tl->threads.v[thread].comm);
}

/* The spans of `thread` (TL_NONE: of none), of which *next is the first. */
static int add_spans(struct firefox *x, uint32_t thread, size_t *next)
{
	for (; *next < x->spans.n; ++*next) {
		uint32_t i = x->spans.v[*next];
		const struct tl_span *s = &x->tl->spans.v[i];
		struct marker m = {s->start_ns, s->end_ns, 0, 0, NULL, i, MARKER_SPAN};
		int cut;
		if (s->thread > thread)
			break;
		if (s->thread == thread && shows(x, thread) &&
		    population_has_span(x->o->of, x->tl, i) &&
		    population_clip(x->o->of, &m.start, &m.end, &cut) &&
		    vec_push(&x->markers, m))
			return ERR_NOMEM;
	}
	return 0;
}

static int index_processes(struct firefox *x)
{
	for (uint32_t i = (uint32_t)x->tl->threads.n; i-- > 0;) {
		const struct tl_thread *p = &x->tl->threads.v[i];
		if (p->tid == p->pid && !(p->flags & THREAD_IDLE_TASK) &&
		    u64map_put(&x->main_of, (uint32_t)p->pid, i))
			return ERR_NOMEM;
	}
	return 0;
}

/* The name of a thread's process: that of its main thread, where it was seen. */
static uint32_t process_name(const struct firefox *x, const struct tl_thread *t)
{
	uint32_t i;
	return u64map_get(&x->main_of, (uint32_t)t->pid, &i) ? x->tl->threads.v[i].comm
							     : t->comm;
}

static int put_thread(struct firefox *x, uint32_t thread, size_t *span, struct err *e)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	if (add_samples(x, thread) || add_waits(x, thread) || add_spans(x, thread, span))
		return err_nomem(e);
	if (!x->sampled && !x->markers.n) { /* where it had a CPU says little by itself */
		x->rows.n = 0;
		return 0;
	}
	int has_cpu_time = knows_cpu_time(x, thread);
	if (has_cpu_time && add_edges(x, thread))
		return err_nomem(e);
	if (x->rows.n)
		qsort(x->rows.v, x->rows.n, sizeof(*x->rows.v), row_order);
	struct track k = {firefox_text_of(x, t->comm),
			  firefox_text_of(x, process_name(x, t)),
			  t->pid,
			  t->tid,
			  t->pid == t->tid,
			  t->first_ns,
			  t->last_ns};
	return put_track(x, &k, has_cpu_time, e);
}

/* What belongs to no thread, on tracks of their own. */
static int put_rest(struct firefox *x, size_t *span, struct err *e)
{
	const struct tl_recording *r = &x->tl->rec;
	struct track k = {"spans of no thread", "spans", 0, -1, 1, r->origin_ns, r->end_ns};
	if (add_spans(x, TL_NONE, span))
		return err_nomem(e);
	int rc = x->markers.n ? put_track(x, &k, 0, e) : 0;
	for (size_t i = 0; i < x->tl->losses.n && !rc; i++) {
		const struct tl_loss *l = &x->tl->losses.v[i];
		struct marker m = {l->from_ns, l->to_ns, 0, 0, NULL, (uint32_t)i, MARKER_LOSS};
		int cut;
		if (population_clip(x->o->of, &m.start, &m.end, &cut) &&
		    vec_push(&x->markers, m))
			rc = err_nomem(e);
	}
	k.name = k.process = "lost records";
	k.tid = -2;
	return rc || !x->markers.n ? rc : put_track(x, &k, 0, e);
}

static int put_threads(struct firefox *x, struct err *e)
{
	size_t span = 0;
	int rc = BY_THREAD_BUILD(&x->samples, x->tl->threads.n, x->tl->samples) ||
				 index_spans(x) || index_processes(x)
			 ? err_nomem(e)
			 : 0;
	json_open(&x->j, "threads", '[');
	for (uint32_t i = 0; i < x->tl->threads.n && !rc; i++)
		rc = put_thread(x, i, &span, e);
	rc = rc || !x->threads ? rc : put_rest(x, &span, e);
	json_close(&x->j, ']');
	return rc;
}

static int put_profile(struct firefox *x, struct err *e)
{
	json_open(&x->j, NULL, '{');
	int rc = put_threads(x, e);
	firefox_put_meta(x);
	if (!rc && !x->threads)
		rc = err_set(e, ERR_REFUSED, "no samples, waits or spans to export");
	rc = rc ? rc : firefox_put_shared(x, e);
	rc = rc ? rc : firefox_put_lib_table(x, e);
	json_close(&x->j, '}');
	buf_char(&x->b, '\n');
	return rc ? rc : firefox_flush(x, 0, e);
}

static void release(struct firefox *x)
{
	firefox_release_tables(x);
	buf_release(&x->b);
	buf_release(&x->name);
	u64map_release(&x->main_of);
	by_thread_release(&x->samples);
	vec_release(&x->rows);
	vec_release(&x->markers);
	vec_release(&x->spans);
}

int firefox_write(const struct timeline *tl, const struct firefox_options *o, FILE *f,
		  struct set_apart *hidden, struct err *e)
{
	struct firefox x = {.tl = tl, .o = o, .hidden = hidden};
	*hidden = (struct set_apart){0};
	x.j.b = &x.b;
	int rc = gzip_begin(&x.z, f, e);
	if (rc)
		return rc;
	rc = firefox_init_tables(&x) ? err_nomem(e) : put_profile(&x, e);
	rc = gzip_end(&x.z, rc, e);
	release(&x);
	return rc || !set_apart_finish(hidden) ? rc : err_nomem(e);
}
