#include "render/export/speedscope.h"
#include "base/text/longname.h"
#include "base/mem.h"
#include "render/text/json.h"

#include <stdlib.h>
#include <string.h>

struct speedscope {
	const struct stacks *s;
	FILE *f;
	struct buf b;
	struct json j;
	struct strtab names;    /* of frames, in the order of first use */
	struct u64map frame_of; /* name << 32 | file → index of frames */
	VEC(struct speedscope_frame {
		uint32_t name; /* of names */
		uint32_t file; /* strings id; 0: none */
	})
	frames;
	VEC(uint32_t) of_frame; /* frame of the stacks → index of frames + 1; 0: none yet */
	VEC(uint32_t) path;     /* frames of the stacks, leaf first */
	VEC(uint32_t) open;     /* evented: frames that are open, outermost first */
	VEC(uint32_t) wanted;   /* those that are to be */
	size_t profiles, shown; /* written, and the one to show first */
	uint64_t shown_total;
	struct buf text;
};

enum { FLUSH = 1 << 16 };

static int flush(struct speedscope *s, size_t above, struct err *e)
{
	if (buf_failed(&s->b))
		return err_nomem(e);
	if (s->b.n < above)
		return 0;
	fwrite(s->b.v, 1, s->b.n, s->f);
	buf_clear(&s->b);
	return ferror(s->f) ? err_sys(e, "cannot write") : 0;
}

/* --- frames --------------------------------------------------------------------------- */

static int frame_named(struct speedscope *s, const char *name, uint32_t file, uint32_t *index)
{
	struct speedscope_frame f = {.file = file};
	if (strtab_intern(&s->names, name, &f.name))
		return ERR_NOMEM;
	uint64_t key = (uint64_t)f.name << 32 | file;
	if (u64map_get(&s->frame_of, key, index))
		return 0;
	*index = (uint32_t)s->frames.n;
	return vec_push(&s->frames, f) ? ERR_NOMEM : u64map_put(&s->frame_of, key, *index);
}

static int frame_index(struct speedscope *s, uint32_t frame, uint32_t *index)
{
	const struct frame *f = &s->s->frames.v[frame];
	while (frame >= s->of_frame.n) /* the stacks have grown */
		if (vec_push(&s->of_frame, 0))
			return ERR_NOMEM;
	if (s->of_frame.v[frame]) {
		*index = s->of_frame.v[frame] - 1;
		return 0;
	}
	buf_clear(&s->text);
	export_frame_name(&s->text, s->s, f);
	const char *name = buf_cstr(&s->text);
	if (buf_failed(&s->text) || frame_named(s, name, f->srcfile, index))
		return ERR_NOMEM;
	s->of_frame.v[frame] = *index + 1;
	return 0;
}

/* The frames of a path as indexes, root first, behind what s->wanted holds. */
static int want_path(struct speedscope *s, uint32_t path)
{
	const struct call_path *paths = s->s->paths.v;
	s->path.n = 0;
	for (; path; path = paths[path].parent)
		if (vec_push(&s->path, paths[path].frame))
			return ERR_NOMEM;
	if (vec_reserve(&s->wanted, s->path.n))
		return ERR_NOMEM;
	for (size_t i = s->path.n; i-- > 0; s->wanted.n++)
		if (frame_index(s, s->path.v[i], &s->wanted.v[s->wanted.n]))
			return ERR_NOMEM;
	return 0;
}

static void put_name(struct speedscope *s, const char *key, const char *name)
{
	char cut[LONG_NAME];
	size_t n = strlen(name);
	name = long_name(name, &n, cut);
	json_text(&s->j, key, name, n);
}

static void put_frames(struct speedscope *s)
{
	json_open(&s->j, "shared", '{');
	json_open(&s->j, "frames", '[');
	for (size_t i = 0; i < s->frames.n; i++) {
		const struct speedscope_frame *f = &s->frames.v[i];
		json_open(&s->j, NULL, '{');
		put_name(s, "name", strtab_get(&s->names, f->name));
		if (f->file)
			put_name(s, "file", strtab_get(&s->s->strings, f->file));
		json_close(&s->j, '}');
	}
	json_close(&s->j, ']');
	json_close(&s->j, '}');
}

/* --- the file
 * -----------------------------------------------------------------------------------
 */

static void begin(struct speedscope *s)
{
	s->j = (struct json){.b = &s->b};
	json_open(&s->j, NULL, '{');
	json_str(&s->j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_str(&s->j, "exporter", "perfkit");
	json_open(&s->j, "profiles", '[');
}

static int finish(struct speedscope *s, struct err *e)
{
	json_close(&s->j, ']');
	json_u64(&s->j, "activeProfileIndex", s->shown);
	put_frames(s);
	json_close(&s->j, '}');
	buf_char(&s->b, '\n');
	return flush(s, 0, e);
}

static void release(struct speedscope *s)
{
	buf_release(&s->b);
	buf_release(&s->text);
	strtab_release(&s->names);
	u64map_release(&s->frame_of);
	vec_release(&s->of_frame);
	vec_release(&s->frames);
	vec_release(&s->path);
	vec_release(&s->open);
	vec_release(&s->wanted);
}

/* "comm 123/125", "comm ?/125" where no record has the process; and what is counted where that
 * is not said elsewhere. */
static void open_profile(struct speedscope *s, const char *type, const struct export_row *who,
			 const char *what)
{
	buf_clear(&s->text);
	buf_str(&s->text, strtab_get(&s->s->strings, who->comm));
	if (who->pid >= 0)
		buf_fmt(&s->text, " %d", who->pid);
	else if (who->tid >= 0)
		buf_str(&s->text, " ?");
	if (who->tid >= 0)
		buf_fmt(&s->text, "/%d", who->tid);
	if (what)
		buf_fmt(&s->text, " %s", what);
	json_open(&s->j, NULL, '{');
	json_str(&s->j, "type", type);
	put_name(s, "name", buf_cstr(&s->text));
}

/* The profile just written is shown first where it has the most. */
static void close_profile(struct speedscope *s, uint64_t total)
{
	if (total > s->shown_total) {
		s->shown_total = total;
		s->shown = s->profiles;
	}
	s->profiles++;
	json_close(&s->j, '}');
}

/* --- sums
 * ---------------------------------------------------------------------------------------
 */

struct sums {
	struct speedscope *s;
	const struct export_rows *rows;
	VEC(uint32_t) order; /* the rows of a thread, by column */
};

static int by_column(const void *a, const void *b, void *rows)
{
	const struct export_row *v = ((const struct export_rows *)rows)->v.v;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (v[x].column != v[y].column)
		return v[x].column < v[y].column ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int put_stack(struct speedscope *s, uint32_t path, struct err *e)
{
	s->wanted.n = 0;
	if (want_path(s, path))
		return err_nomem(e);
	json_open(&s->j, NULL, '[');
	for (size_t i = 0; i < s->wanted.n; i++)
		json_u64(&s->j, NULL, s->wanted.v[i]);
	json_close(&s->j, ']');
	return flush(s, FLUSH, e);
}

/* Rows of one thread and column. */
static int put_sampled(struct sums *m, const uint32_t *rows, size_t n, struct err *e)
{
	struct speedscope *s = m->s;
	const struct export_row *v = m->rows->v.v;
	const struct export_column *c = &m->rows->columns.v[v[rows[0]].column];
	uint64_t total = 0;
	int rc = 0;
	open_profile(s, "sampled", &v[rows[0]], m->rows->columns.n > 1 ? c->name : NULL);
	json_str(&s->j, "unit", strcmp(c->unit, "ns") ? "none" : "nanoseconds");
	json_open(&s->j, "samples", '[');
	for (size_t i = 0; i < n && !rc; i++)
		rc = put_stack(s, v[rows[i]].path, e);
	json_close(&s->j, ']');
	json_open(&s->j, "weights", '[');
	for (size_t i = 0; i < n && !rc; i++) {
		json_u64(&s->j, NULL, v[rows[i]].value);
		total += v[rows[i]].value;
		rc = flush(s, FLUSH, e);
	}
	json_close(&s->j, ']');
	json_u64(&s->j, "startValue", 0);
	json_u64(&s->j, "endValue", total);
	close_profile(s, v[rows[0]].column == m->rows->shown ? total : 0);
	return rc;
}

static int put_thread(struct sums *m, size_t first, size_t n, struct err *e)
{
	const struct export_row *v = m->rows->v.v;
	int rc = 0;
	m->order.n = 0;
	for (size_t i = first; i < first + n; i++)
		if (vec_push(&m->order, (uint32_t)i))
			return err_nomem(e);
	qsort_r(m->order.v, n, sizeof(*m->order.v), by_column, (void *)m->rows);
	for (size_t i = 0, k; i < n && !rc; i += k) {
		for (k = 1; i + k < n; k++)
			if (v[m->order.v[i]].column != v[m->order.v[i + k]].column)
				break;
		rc = put_sampled(m, &m->order.v[i], k, e);
	}
	return rc;
}

int speedscope_write(const struct export_rows *rows, FILE *f, struct err *e)
{
	struct speedscope s = {.s = rows->stacks, .f = f};
	struct sums m = {.s = &s, .rows = rows};
	const struct export_row *v = rows->v.v;
	int rc = 0;
	begin(&s);
	for (size_t i = 0, n; i < rows->v.n && !rc; i += n) {
		for (n = 1; i + n < rows->v.n; n++)
			if (!export_rows_same_thread(&v[i], &v[i + n]))
				break;
		rc = put_thread(&m, i, n, e);
	}
	rc = rc ? rc : finish(&s, e);
	vec_release(&m.order);
	release(&s);
	return rc;
}

/* --- in time
 * ------------------------------------------------------------------------------------
 */

int speedscope_open(struct speedscope **out, const struct stacks *stacks, FILE *f,
		    struct err *e)
{
	struct speedscope *s = *out = mem_zalloc(1, sizeof(*s));
	if (!s)
		return err_nomem(e);
	s->s = stacks;
	s->f = f;
	begin(s);
	return 0;
}

int speedscope_close(struct speedscope *s, int rc, struct err *e)
{
	if (!s)
		return rc;
	rc = rc ? rc : finish(s, e);
	release(s);
	mem_free(s);
	return rc;
}

static void put_event(struct speedscope *s, char type, uint32_t frame, uint64_t at)
{
	buf_fmt(&s->b, "%s{\"type\":\"%c\",\"frame\":", s->j.comma ? "," : "", type);
	buf_u64(&s->b, frame);
	buf_str(&s->b, ",\"at\":");
	buf_u64(&s->b, at);
	buf_char(&s->b, '}');
	s->j.comma = 1;
}

/* From `at` on s->wanted is open; what both have in common stays so. */
static int change(struct speedscope *s, uint64_t at, struct err *e)
{
	size_t same = 0;
	while (same < s->open.n && same < s->wanted.n && s->open.v[same] == s->wanted.v[same])
		same++;
	while (s->open.n > same)
		put_event(s, 'C', s->open.v[--s->open.n], at);
	for (size_t i = same; i < s->wanted.n; i++) {
		put_event(s, 'O', s->wanted.v[i], at);
		if (vec_push(&s->open, s->wanted.v[i]))
			return err_nomem(e);
	}
	return flush(s, FLUSH, e);
}

/* A thread while it is written. */
struct sweep {
	struct speedscope *s;
	const struct speedscope_thread *t;
	VEC(uint32_t) nest; /* spans that are open, outermost first */
	size_t next;        /* the first span that has not begun */
	uint32_t path;      /* of the piece at hand; 0: none */
	uint64_t at;        /* of the last event */
};

/* The stack from `ns` on: open spans, then the piece. */
static int set(struct sweep *w, uint64_t ns, struct err *e)
{
	struct speedscope *s = w->s;
	uint32_t index = 0;
	s->wanted.n = 0;
	for (size_t i = 0; i < w->nest.n; i++)
		if (frame_named(s, strtab_get(&s->s->strings, w->t->spans[w->nest.v[i]].name),
				0, &index) ||
		    vec_push(&s->wanted, index))
			return err_nomem(e);
	if (want_path(s, w->path))
		return err_nomem(e);
	ns = ns > w->t->zero_ns ? ns - w->t->zero_ns : 0;
	w->at = ns > w->at ? ns : w->at;
	return change(s, w->at, e);
}

/* Begin and end spans whose time is before `until`. What ends goes first, so that what follows
 * it does not lie in it. */
static int pass_spans(struct sweep *w, uint64_t until, struct err *e)
{
	const struct speedscope_span *v = w->t->spans;
	for (;;) {
		const struct speedscope_span *top =
			w->nest.n ? &v[w->nest.v[w->nest.n - 1]] : NULL;
		const struct speedscope_span *begins =
			w->next < w->t->nspans ? &v[w->next] : NULL;
		int ends = top && (!begins || top->end_ns <= begins->start_ns);
		uint64_t at = ends ? top->end_ns : begins ? begins->start_ns : UINT64_MAX;
		if (at >= until || (!ends && !begins))
			return 0;
		if (ends)
			w->nest.n--;
		else if (!top || begins->end_ns <= top->end_ns) {
			if (vec_push(&w->nest, (uint32_t)w->next))
				return err_nomem(e);
			w->next++;
		} else {
			w->next++; /* it does not nest */
			continue;
		}
		int rc = set(w, at, e);
		if (rc)
			return rc;
	}
}

/* Between two pieces there is none, unless they touch: then equal stacks go on. */
static int put_pieces(struct sweep *w, uint64_t *total, struct err *e)
{
	uint64_t end = 0;
	int rc = 0;
	for (size_t i = 0; i < w->t->npieces && !rc; i++) {
		const struct speedscope_piece *p = &w->t->pieces[i];
		w->path = 0;
		if (end < p->start_ns)
			rc = set(w, end, e);
		rc = rc ? rc : pass_spans(w, p->start_ns + 1, e);
		w->path = p->path;
		rc = rc ? rc : set(w, p->start_ns, e);
		rc = rc ? rc : pass_spans(w, p->end_ns, e);
		end = p->end_ns;
		*total += p->waiting ? 0 : p->end_ns - p->start_ns;
	}
	w->path = 0;
	rc = rc ? rc : set(w, end, e);
	return rc ? rc : pass_spans(w, UINT64_MAX, e);
}

/* Outer spans first; of equal ones, by their names. */
static int compare_spans(const void *a, const void *b, void *stacks)
{
	const struct speedscope_span *x = a, *y = b;
	const struct strtab *t = &((const struct stacks *)stacks)->strings;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return strcmp(strtab_get(t, x->name), strtab_get(t, y->name));
}

int speedscope_thread(struct speedscope *s, const struct speedscope_thread *t, struct err *e)
{
	struct export_row who = {.comm = t->comm, .pid = t->pid, .tid = t->tid};
	struct sweep w = {.s = s, .t = t};
	uint64_t total = 0;
	if (t->nspans)
		qsort_r(t->spans, t->nspans, sizeof(*t->spans), compare_spans, (void *)s->s);
	open_profile(s, "evented", &who, NULL);
	json_str(&s->j, "unit", "nanoseconds");
	json_open(&s->j, "events", '[');
	int rc = put_pieces(&w, &total, e);
	json_close(&s->j, ']');
	json_u64(&s->j, "startValue", 0);
	json_u64(&s->j, "endValue", w.at);
	close_profile(s, total);
	vec_release(&w.nest);
	return rc;
}
