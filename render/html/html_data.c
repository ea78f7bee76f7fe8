#include "render/html/html_data.h"
#include "base/check.h"
#include "base/mem.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_query.h"
#include "render/flame/palette.h"
#include "render/text/escape.h"
#include "render/timeline/timeline_data.h"

/* Marks of the flame graphs, in the order of html_time.js. */
static const char *const html_marks[] = {"[open]",    "[state unknown]", "[suspect]",
					 "[unclear]", "[unclear]",       "runnable",
					 "preempted", "state unknown",   "[running, no sample]",
					 "[runnable]"};
/* The first ones are below a thread's name, the next ones on top of a wait's stack. */
enum { MARKS_BELOW = 4, MARKS_WAIT = 8, MARKS = 10 };
ENTRIES(html_marks, MARKS);

struct gathering {
	struct html_data *d;
	const struct timeline *tl;
	const struct population *of;
	struct html_column *path_parent, *path_frame, *row_comm, *row_path;
	struct html_column *v[9];  /* of the current table */
	struct html_column *lines; /* of the samples, then of the waits … */
	VEC(uint32_t) last_lines;  /* … and by row, the last one's */
	int64_t last_path;         /* the highest in a row so far */
	uint64_t at;               /* end of the thread's last wait or run */
	uint32_t thread;           /* its thread */
	struct html_column *life[3], *wait[11], *run[4];
	struct err *e;
};

static uint64_t since(const struct html_data *d, uint64_t ns)
{
	return ns > d->from_ns ? ns - d->from_ns : 0;
}

static void columns(struct gathering *g, struct html_column **out, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		out[i] = html_column(&g->d->columns, names[i]);
}

/* --- stacks ---------------------------------------------------------------------------- */

/* The number of the path of flame_input_begin; callers get theirs before callees. Paths with
 * equal names of frames are one. */
static int path_number(struct gathering *g, uint32_t *no)
{
	struct html_data *d = g->d;
	int rc = 0;
	*no = 0;
	for (size_t i = 1; i < d->fi.line.n && !rc; i++) {
		uint32_t parent = *no, frame = d->fi.line.v[i];
		uint64_t key = (uint64_t)parent << 32 | frame;
		if (u64map_get(&d->path_no, key, no))
			continue;
		html_put(g->path_parent, g->path_frame->n - parent);
		html_put(g->path_frame, frame);
		*no = (uint32_t)g->path_frame->n;
		rc = u64map_put(&d->path_no, key, *no);
	}
	return rc;
}

/* The number of the row of flame_input_begin, which equal stacks share. */
static int laid_out_row(struct gathering *g, uint32_t *no)
{
	struct html_data *d = g->d;
	uint32_t p;
	if (path_number(g, &p))
		return ERR_NOMEM;
	uint64_t key = 1ull << 63 | (uint64_t)d->fi.line.v[0] << 32 | p;
	if (u64map_get(&d->row_no, key, no))
		return 0;
	html_put(g->row_comm, d->fi.line.v[0]);
	html_put_signed(g->row_path, (int64_t)p - g->last_path);
	g->last_path = p > g->last_path ? p : g->last_path;
	*no = (uint32_t)g->row_comm->n;
	return u64map_put(&d->row_no, key, *no);
}

/* The number of a thread's name with a stack, from 1 on. ERR_NOMEM. */
static int row_number(struct gathering *g, uint32_t comm, uint32_t path, uint32_t *no)
{
	struct html_data *d = g->d;
	uint64_t key = (uint64_t)comm << 32 | path;
	struct folded f = {.comm = comm, .pid = -1, .tid = -1, .cpu = UINT32_MAX, .path = path};
	if (u64map_get(&d->row_no, key, no))
		return 0;
	if (flame_input_begin(&d->fi, &f, NULL) || laid_out_row(g, no))
		return ERR_NOMEM;
	return u64map_put(&d->row_no, key, *no);
}

/* Put a stack of lines: mostly the row's last one. `of`: html_source.of_sample, or of_wait. */
static int put_lines(struct gathering *g, const uint32_t *of, uint32_t row, uint32_t path)
{
	int rc = 0;
	if (!of)
		return 0;
	while (g->last_lines.n <= row && !rc)
		rc = vec_push(&g->last_lines, 0);
	if (rc)
		return rc;
	uint32_t lines = path < g->d->lines->npaths ? of[path] : 0;
	html_put(g->lines, g->last_lines.v[row] == lines ? 0 : lines + 1u);
	g->last_lines.v[row] = lines;
	return 0;
}

/* Put a stack's row: 0 if it is new, since it then has the next number. */
static int put_row(struct gathering *g, struct html_column *c, uint32_t comm, uint32_t path,
		   const uint32_t *of)
{
	uint64_t rows = g->row_comm->n;
	uint32_t no = 0;
	int rc = row_number(g, comm, path, &no);
	html_put(c, no > rows ? 0 : no);
	return rc ? rc : put_lines(g, of, no, path);
}

/* The frame of a thread's name alone. */
static int comm_frame(struct gathering *g, uint32_t comm, uint32_t *frame)
{
	struct folded f = {.comm = comm, .pid = -1, .tid = -1, .cpu = UINT32_MAX};
	if (flame_input_begin(&g->d->fi, &f, NULL))
		return ERR_NOMEM;
	*frame = g->d->fi.line.v[0];
	return 0;
}

static int mark_frame(struct html_data *d, const char *text, enum flame_kind kind, uint32_t *id)
{
	d->fi.line.n = 0;
	if (flame_input_mark(&d->fi, text, kind))
		return ERR_NOMEM;
	*id = d->fi.line.v[0];
	return 0;
}

static int make_marks(struct html_data *d)
{
	int rc = 0;
	for (unsigned i = 0; i < MARKS && !rc; i++)
		rc = mark_frame(d, html_marks[i],
				i >= MARKS_BELOW && i < MARKS_WAIT ? FLAME_WAIT : FLAME_MARK,
				&d->marks[i]);
	for (unsigned c = 0; c < CAUSE_COUNT && !rc; c++)
		rc = mark_frame(d, cause_name(c), FLAME_WAIT, &d->cause_frames[c]);
	return rc;
}

/* --- samples --------------------------------------------------------------------------- */

/* The selected samples by CPU, and by time on each. */
static int samples_by_cpu(const struct html_data *d, const struct timeline *tl, uint32_t **list,
			  size_t *n)
{
	enum { CPUS = 1 << 16 };
	size_t *at = mem_zalloc(CPUS + 1, sizeof(*at));
	*list = mem_zalloc(tl->samples.n + 1, sizeof(**list));
	if (!at || !*list) {
		mem_free(at);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < tl->samples.n; i++)
		at[tl->samples.v[i].cpu + 1] +=
			(size_t)sample_is_selected(&d->samples, tl, &tl->samples.v[i]);
	for (size_t i = 0; i < CPUS; i++)
		at[i + 1] += at[i];
	*n = at[CPUS];
	for (size_t i = 0; i < tl->samples.n; i++)
		if (sample_is_selected(&d->samples, tl, &tl->samples.v[i]))
			(*list)[at[tl->samples.v[i].cpu]++] = (uint32_t)i;
	mem_free(at);
	return 0;
}

/* Samples are periodic, so differences between intervals on a CPU compress better than the
 * intervals. */
static int put_samples(struct gathering *g)
{
	static const char *const names[] = {
		"sample.t",   "sample.row", "sample.weight", "sample.event", "sample.thread",
		"sample.cpu", NULL};
	uint32_t *list;
	size_t n = 0;
	uint64_t at = g->d->from_ns;
	int64_t tick = 0;
	columns(g, g->v, names);
	g->lines = html_column(&g->d->columns, "sample.lines");
	int rc = samples_by_cpu(g->d, g->tl, &list, &n);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct tl_sample *s = &g->tl->samples.v[list[i]];
		int64_t since_last = (int64_t)(s->time_ns - at);
		html_put_signed(g->v[0], since_last - tick);
		rc = put_row(g, g->v[1], s->comm, s->path, g->d->lines->of_sample);
		html_put(g->v[2], s->period);
		html_put(g->v[3], s->event);
		html_put(g->v[4], s->thread == TL_NONE ? 0 : s->thread + 1u);
		html_put(g->v[5], s->cpu == TL_NOCPU ? 0 : s->cpu + 1u);
		rc = rc ? rc : html_labels_sample(&g->d->labels, s);
		at = s->time_ns;
		tick = since_last;
	}
	mem_free(list);
	return rc;
}

/* --- threads --------------------------------------------------------------------------- */

/* Put whether it is a wait, its thread, and the time since that thread's last wait or run. */
static void put_place(struct gathering *g, int is_wait, uint32_t thread, uint64_t start,
		      uint64_t end)
{
	if (thread != g->thread)
		g->at = g->d->from_ns;
	html_put(g->life[0], (uint64_t)is_wait);
	html_put_signed(g->life[1], (int64_t)thread - g->thread);
	html_put_signed(g->life[2], (int64_t)(start - g->at));
	g->thread = thread;
	g->at = end;
}

/* `out`: filtered out. */
static int put_run(struct gathering *g, uint32_t thread, uint32_t comm, uint16_t cpu,
		   uint64_t from, uint64_t to, int out)
{
	const struct html_data *d = g->d;
	uint32_t frame;
	from = from > d->from_ns ? from : d->from_ns;
	to = to < d->to_ns ? to : d->to_ns;
	out = out || !population_has_cpu(&d->of, d->tl, cpu, cpu);
	if (from >= to || (out && !d->drawn))
		return 0;
	if (comm_frame(g, comm, &frame))
		return ERR_NOMEM;
	put_place(g, 0, thread, from, to);
	html_put(g->run[0], to - from);
	html_put(g->run[1], cpu == TL_NOCPU ? 0 : cpu + 1u);
	html_put(g->run[2], frame);
	html_put(g->run[3], (uint64_t)out);
	return html_labels_interval(&g->d->labels, 0, thread, 0, from, to);
}

static unsigned wait_bits(const struct wait *w)
{
	const struct offcpu *o = w->offcpu;
	return o->flags | (unsigned)o->unknown << HTML_REASON |
	       (w->unclear ? HTML_UNCLEAR : 0u) | (w->apart != APART_NOT ? HTML_HIDDEN : 0u) |
	       (w->start > o->start_ns ? HTML_CUT_LEFT : 0u) |
	       (w->end < o->end_ns ? HTML_CUT_RIGHT : 0u);
}

/* The number of a waker's path; 0: none. */
static int waker_path(struct gathering *g, uint32_t path, uint32_t *no)
{
	struct html_data *d = g->d;
	struct folded f = {.pid = -1, .tid = -1, .cpu = UINT32_MAX, .path = path};
	uint64_t key = 1ull << 62 | path;
	*no = 0;
	if (!path || u64map_get(&d->row_no, key, no))
		return 0;
	if (flame_input_begin(&d->fi, &f, NULL) || path_number(g, no))
		return ERR_NOMEM;
	return u64map_put(&d->row_no, key, *no);
}

static unsigned state_number(struct html_data *d, uint8_t state)
{
	if (state && !d->state_no[state]) {
		d->states[d->nstates] = state;
		d->state_no[state] = ++d->nstates;
	}
	return d->state_no[state];
}

/* Put what tooltips show about a wait. */
static int put_story(struct gathering *g, const struct offcpu *o)
{
	uint32_t path;
	if (waker_path(g, o->waker_path, &path))
		return ERR_NOMEM;
	html_put(g->wait[5], state_number(g->d, o->state));
	html_put(g->wait[6], o->waker == TL_NONE ? 0 : o->waker + 1u);
	html_put(g->wait[7], tl_waker_context(o));
	html_put(g->wait[8], path);
	html_put(g->wait[9], o->cpu_out == TL_NOCPU ? 0 : o->cpu_out + 1u);
	html_put(g->wait[10], o->cpu_in == TL_NOCPU ? 0 : o->cpu_in + 1u);
	return 0;
}

/* Put a wait of the population, or (`out`) only for pictures. */
static int put_wait(struct gathering *g, const struct offcpu *o, int out)
{
	struct html_data *d = g->d;
	struct population all = {.start_ns = d->of.start_ns, .stop_ns = d->of.stop_ns};
	struct wait w;
	int drawn = d->drawn && d->drawn[o->thread];
	if (out || !population_wait(&d->of, g->tl, o, &w)) {
		if (!drawn || !population_wait(&all, g->tl, o, &w))
			return 0;
		out = 1;
	}
	put_place(g, 1, o->thread, w.start, w.end);
	html_put(g->wait[0], w.blocked + w.unknown);
	html_put(g->wait[1], w.runnable);
	html_put(g->wait[2], wait_bits(&w) | (out ? HTML_OUT : 0u));
	html_put(g->wait[4], o->cause);
	return put_row(g, g->wait[3], o->comm, o->path, d->lines->of_wait) || put_story(g, o) ||
			       html_labels_interval(&d->labels, 1, o->thread, o->path, w.start,
						    w.end)
		       ? ERR_NOMEM
		       : 0;
}

static int put_life(struct gathering *g, uint32_t thread)
{
	const struct timeline *tl = g->tl;
	const struct html_data *d = g->d;
	const struct tl_thread *t = &tl->threads.v[thread];
	uint64_t at = t->first_ns;
	uint32_t comm = t->comm;
	uint16_t cpu = t->first_cpu;
	int hidden = population_hides_thread(&d->of, tl, thread), rc = 0;
	for (uint32_t i = t->offcpu_first; i < t->offcpu_first + t->offcpu_n && !rc; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		comm = o->comm;
		int out = !population_has_thread(&d->of, tl, thread, comm);
		rc = put_run(g, thread, comm, o->cpu_out, at, o->start_ns, out);
		rc = rc ? rc : put_wait(g, o, out || hidden);
		at = o->end_ns;
		cpu = o->cpu_in;
	}
	return rc ? rc
		  : put_run(g, thread, comm, cpu, at, t->last_ns,
			    !population_has_thread(&d->of, tl, thread, comm));
}

/* Intern a string of the timeline in the page's strings. */
static int name_string(struct gathering *g, uint32_t id, uint32_t *name)
{
	const struct strtab *s = &g->tl->stacks->strings;
	return strtab_intern_n(&g->d->flame.strings, strtab_get(s, id), strtab_len(s, id),
			       name);
}

/* Where a thread's process is, and what the runtime calls that container. */
static int put_cgroup(struct gathering *g, uint32_t thread)
{
	uint32_t path = fact_cgroup(g->tl, thread), name = 0, no[2] = {0, 0};
	if (path)
		name = fact_container(g->tl, thread, path);
	if ((path && name_string(g, path, &no[0])) || (name && name_string(g, name, &no[1])))
		return ERR_NOMEM;
	html_put(g->v[7], no[0]);
	html_put(g->v[8], no[1]);
	return 0;
}

static int put_threads(struct gathering *g)
{
	static const char *const names[] = {"thread.comm",      "thread.pid",
					    "thread.tid",       "thread.first",
					    "thread.life",      "thread.flags",
					    "thread.name",      "thread.cgroup",
					    "thread.container", NULL};
	static const char *const lives[] = {"life.wait", "life.thread", "life.gap", NULL};
	static const char *const waits[] = {"wait.blocked", "wait.rest",    "wait.bits",
					    "wait.row",     "wait.cause",   "wait.state",
					    "wait.waker",   "wait.context", "wait.wakerPath",
					    "wait.out",     "wait.in",      NULL};
	static const char *const runs[] = {"run.ns", "run.cpu", "run.comm", "run.out", NULL};
	struct html_data *d = g->d;
	int rc = 0;
	columns(g, g->v, names);
	columns(g, g->life, lives);
	columns(g, g->wait, waits);
	columns(g, g->run, runs);
	g->lines = html_column(&d->columns, "wait.lines");
	g->last_lines.n = 0;
	for (uint32_t i = 0; i < g->tl->threads.n && !rc; i++) {
		const struct tl_thread *t = &g->tl->threads.v[i];
		uint32_t frame = 0, name = 0;
		rc = comm_frame(g, t->comm, &frame) || name_string(g, t->comm, &name) ||
				     put_cgroup(g, i)
			     ? ERR_NOMEM
			     : 0;
		html_put(g->v[0], frame);
		html_put(g->v[1], (uint64_t)(t->pid + 1ll));
		html_put(g->v[2], (uint64_t)(t->tid + 1ll));
		html_put(g->v[3], since(d, t->first_ns));
		html_put(g->v[4], t->last_ns - t->first_ns);
		html_put(g->v[5], t->flags & ~(unsigned)THREAD_MEANT);
		html_put(g->v[6], name);
		if (!rc && !(t->flags & THREAD_IDLE_TASK) && timeline_has_switches(d->tl))
			rc = put_life(g, i);
	}
	return rc;
}

/* --- spans, losses, frames --------------------------------------------------------------- */

static int put_spans(struct gathering *g)
{
	static const char *const names[] = {"span.t", "span.ns", "span.name", "span.thread",
					    NULL};
	const struct html_data *d = g->d;
	columns(g, g->v, names);
	for (size_t i = 0; i < g->tl->spans.n; i++) {
		const struct tl_span *s = &g->tl->spans.v[i];
		uint32_t name;
		if (s->start_ns < d->from_ns || s->start_ns >= d->to_ns)
			continue;
		if (name_string(g, s->name, &name))
			return ERR_NOMEM;
		html_put(g->v[0], s->start_ns - d->from_ns);
		html_put(g->v[1], s->end_ns - s->start_ns);
		html_put(g->v[2], name);
		html_put(g->v[3], s->thread == TL_NONE ? 0 : s->thread + 1u);
		if (html_labels_span(&g->d->labels, (uint32_t)i))
			return ERR_NOMEM;
	}
	return 0;
}

static int put_losses(struct gathering *g)
{
	static const char *const names[] = {"loss.t",    "loss.ns",    "loss.cpu",
					    "loss.kind", "loss.count", NULL};
	const struct html_data *d = g->d;
	columns(g, g->v, names);
	for (size_t i = 0; i < g->tl->losses.n; i++) {
		const struct tl_loss *l = &g->tl->losses.v[i];
		if (l->to_ns <= d->from_ns || l->from_ns >= d->to_ns)
			continue;
		html_put(g->v[0], since(d, l->from_ns));
		html_put(g->v[1], since(d, l->to_ns) - since(d, l->from_ns));
		html_put(g->v[2], l->cpu == TL_NOCPU ? 0 : l->cpu + 1u);
		html_put(g->v[3], l->kind);
		html_put(g->v[4], l->count);
	}
	return 0;
}

enum { PART_RUNTIME = 1, PART_KERNEL = 2, PART_HOW = 4, PART_THIN = 8 };

/* The part of a program that each frame belongs to. */
static uint8_t *frame_parts(const struct html_data *d)
{
	uint8_t *part = mem_zalloc(d->flame.frames.n + 1, 1);
	for (uint32_t i = 0; part && i < d->fi.ids.n; i++) {
		uint32_t to = d->fi.ids.v[i];
		if (!to)
			continue;
		if (timeline_roles(d->tl, i) & (ROLE_RUNTIME | ROLE_START | ROLE_PLUMBING))
			part[to - 1] |= PART_RUNTIME;
		if (timeline_roles(d->tl, i) &
		    (ROLE_WRAPPER | ROLE_SHARED_INLINE | ROLE_SCHEDULER | ROLE_HELPER))
			part[to - 1] |= PART_HOW;
		if (timeline_roles(d->tl, i) & ROLES_FOLDED)
			part[to - 1] |= PART_THIN;
		if (d->tl->stacks->frames.v[i].kind == FRAME_KERNEL)
			part[to - 1] |= PART_KERNEL;
	}
	return part;
}

int html_data_frames(struct html_data *d, struct err *e)
{
	static const char *const names[] = {
		"frame.name",  "frame.dso", "frame.src",  "frame.line",  "frame.to",
		"frame.kind",  "frame.hot", "frame.cold", "frame.chain", "frame.part",
		"frame.short", "frame.own", NULL};
	struct flame *f = &d->flame;
	uint8_t *part = frame_parts(d);
	if (!part)
		return err_nomem(e);
	const struct palette hot = {.id = PALETTE_HOT}, cause = {.id = PALETTE_CAUSE},
			     chain = {.id = PALETTE_CHAIN};
	struct html_column *v[12];
	struct buf text = {0};
	int rc = 0;
	for (size_t i = 0; names[i]; i++)
		v[i] = html_column(&d->columns, names[i]);
	for (uint32_t i = 0; i < f->frames.n && !rc; i++) {
		const struct flame_frame *fr = &f->frames.v[i];
		html_put(v[0], fr->name);
		html_put(v[1], fr->dso);
		html_put(v[2], fr->src);
		html_put(v[3], fr->line);
		html_put(v[4], fr->line_to);
		html_put(v[5], fr->kind);
		html_put(v[6], palette_color(&hot, f, i));
		html_put(v[7], palette_color(&cause, f, i));
		html_put(v[8], palette_color(&chain, f, i));
		html_put(v[9], part[i]);
		uint32_t id = 0;
		buf_clear(&text);
		html_put(v[11], flame_short_label(f, fr, &text));
		if (buf_failed(&text) ||
		    (text.n && strtab_intern_n(&f->strings, text.v, text.n, &id)))
			rc = err_nomem(e);
		html_put(v[10], id);
	}
	buf_release(&text);
	mem_free(part);
	return rc;
}

/* --- all of it --------------------------------------------------------------------------- */

static int gather(struct gathering *g)
{
	static const char *const stacks[] = {"path.parent", "path.frame", "row.comm",
					     "row.path", NULL};
	struct html_column *v[4];
	columns(g, v, stacks);
	g->path_parent = v[0];
	g->path_frame = v[1];
	g->row_comm = v[2];
	g->row_path = v[3];
	int rc = html_labels_begin(&g->d->labels, g->tl, g->of, &g->d->flame.strings,
				   &g->d->columns);
	rc = rc ? rc : make_marks(g->d);
	rc = rc ? rc : put_samples(g);
	rc = rc ? rc : put_threads(g);
	rc = rc ? rc : put_spans(g);
	rc = rc ? rc : put_losses(g);
	vec_release(&g->last_lines);
	return rc;
}

int html_data_gather(struct html_data *d, const struct timeline *tl,
		     const struct population *of, const struct sample_selection *samples,
		     const uint8_t *drawn, const struct html_source *lines, int merge_threads,
		     struct err *e)
{
	*d = (struct html_data){
		.tl = tl, .of = *of, .samples = *samples, .drawn = drawn, .lines = lines};
	d->from_ns = of->start_ns > tl->rec.origin_ns ? of->start_ns : tl->rec.origin_ns;
	d->to_ns = of->stop_ns && of->stop_ns < tl->rec.end_ns ? of->stop_ns : tl->rec.end_ns;
	if (d->to_ns <= d->from_ns) /* one sample */
		d->to_ns = d->from_ns + 1;
	int rc = flame_init(&d->flame) ? err_nomem(e) : 0;
	flame_input_init(&d->fi, tl->stacks, &d->flame, SPLIT_COMM, 0);
	d->fi.merge_threads = merge_threads;
	d->of.label = d->samples.of.label = NULL; /* the page cuts */
	struct gathering g = {.d = d, .tl = tl, .of = of, .at = d->from_ns, .e = e};
	return rc ? rc : gather(&g) ? err_nomem(e) : 0;
}

static void head_events(const struct html_data *d, struct json *j)
{
	const struct timeline *tl = d->tl;
	json_open(j, "events", '[');
	for (size_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		const char *name = strtab_get(&d->tl->stacks->strings, ev->name);
		json_open(j, NULL, '{');
		json_str(j, "name", name);
		json_str(j, "unit", event_name_unit(name, ev->tracepoint));
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Colours on a light and on a dark ground, by what they mean. */
static void head_palette(struct json *j)
{
	struct palette_meaning m;
	json_open(j, "palette", '{');
	for (size_t i = 0; i < palette_meaning(i, &m); i++) {
		json_open(j, m.name, '[');
		json_u64(j, NULL, m.light);
		json_u64(j, NULL, m.dark);
		json_close(j, ']');
	}
	json_close(j, '}');
}

void html_data_head(const struct html_data *d, struct json *j)
{
	json_u64_text(j, "from_ns", d->from_ns);
	json_u64(j, "span_ns", d->to_ns - d->from_ns);
	json_u64(j, "before_ns", d->from_ns - d->tl->rec.origin_ns); /* left out by --time */
	json_u64(j, "after_ns",
		 d->tl->rec.end_ns > d->to_ns ? d->tl->rec.end_ns - d->to_ns : 0);
	json_u64(j, "cpus", d->tl->rec.ncpus);
	json_bool(j, "shows_system", d->of.system);
	json_open(j, "marks", '[');
	for (unsigned i = 0; i < MARKS; i++)
		json_u64(j, NULL, d->marks[i]);
	json_close(j, ']');
	json_open(j, "causes", '[');
	for (unsigned c = 0; c < CAUSE_COUNT; c++)
		json_u64(j, NULL, d->cause_frames[c]);
	json_close(j, ']');
	json_open(j, "states", '[');
	json_str(j, NULL, "");
	for (unsigned i = 0; i < d->nstates; i++)
		json_str(j, NULL,
			 strtab_get(&d->tl->stacks->strings, d->tl->states[d->states[i]]));
	json_close(j, ']');
	head_palette(j);
	html_labels_head(&d->labels, j);
	head_events(d, j);
}

void html_data_strings(const struct html_data *d, struct buf *b)
{
	const struct strtab *s = &d->flame.strings;
	for (uint32_t i = 0; i < strtab_count(s); i++) {
		if (i)
			buf_char(b, '\n');
		escape_visible(b, strtab_get(s, i), strtab_len(s, i));
	}
}

void html_data_release(struct html_data *d)
{
	html_columns_release(&d->columns);
	html_labels_release(&d->labels);
	u64map_release(&d->path_no);
	u64map_release(&d->row_no);
	flame_input_release(&d->fi);
	flame_release(&d->flame);
}
