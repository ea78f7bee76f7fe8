/* One panel of a timeline: names, axis, bars and the marks on them. */
#include "render/timeline/timeline_svg_internal.h"
#include "base/mem.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"
#include "render/text/escape.h"
#include "render/text/units.h"
#include "render/flame/flame_data.h"
#include "render/svg/svg_text.h"

#include <math.h>
#include <string.h>

/* --- geometry ---------------------------------------------------------------------------- */

static double plot_width(const struct tl_writer *w)
{
	return w->o->width - 2 * PAD - NAMES;
}

static double row_height(const struct tl_row *r)
{
	return tl_row_is_heading(r) ? GROUP_H : r->kind == TLROW_CPU ? CPU_H : ROW_H;
}

static double rows_height(const struct tl_panel *p)
{
	double h = 0;
	for (size_t i = 0; i < p->nrows; i++)
		h += row_height(&p->rows[i]);
	return h;
}

/* How many characters of a caption fit a line. */
static size_t caption_room(const struct tl_writer *w)
{
	return (size_t)((w->o->width - 2 * PAD) / 7.3);
}

static int has_losses(const struct tl_writer *w, const struct tl_panel *p)
{
	for (size_t i = 0; i < w->tl->losses.n; i++)
		if (w->tl->losses.v[i].to_ns > p->from_ns &&
		    w->tl->losses.v[i].from_ns < p->to_ns)
			return 1;
	return 0;
}

struct tl_place tl_place_panel(struct tl_writer *w, const struct tl_panel *p, double top)
{
	struct tl_place at = {.top = top};
	at.axis = top +
		  CAPTION_H * svg_text_lines(NULL, "", 0, 0, 0, caption_room(w), p->caption);
	at.lost = at.axis + AXIS_H;
	at.rows = at.lost + (has_losses(w, p) ? LOST_H : 0);
	at.end = at.rows + rows_height(p);
	return at;
}

static double x_of(const struct tl_writer *w, const struct tl_panel *p, uint64_t ns)
{
	double x = ((double)ns - (double)p->from_ns) * plot_width(w) /
		   (double)(p->to_ns - p->from_ns);
	return PAD + NAMES + fmin(fmax(x, 0), plot_width(w));
}

/* --- texts ------------------------------------------------------------------------------- */

/* Text cut to `room` characters, escaped. */
static void put_cut(struct buf *b, const char *s, size_t room)
{
	struct buf text = {0};
	escape_visible(&text, s, strlen(s));
	if (escape_chars(text.v, text.n) <= room) {
		escape_xml(b, text.v, text.n);
	} else {
		escape_xml(b, text.v, escape_prefix(text.v, text.n, room > 2 ? room - 2 : 0));
		buf_str(b, "..");
	}
	if (buf_failed(&text))
		b->failed = buf_failed(&text);
	buf_release(&text);
}

/* A tick's text: the largest unit in which a step has at most one decimal. */
static void put_tick_text(struct buf *b, uint64_t t, uint64_t zero, uint64_t step)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	size_t u = 0;
	while (u < 3 && step < units[u].ns / 10)
		u++;
	uint64_t a = t < zero ? zero - t : t - zero;
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)(a / units[u].ns));
	buf_str(b, t < zero ? "\xe2\x88\x92" : "");
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf_char(b, ',');
		buf_char(b, digits[i]);
	}
	if (step < units[u].ns)
		buf_fmt(b, ".%llu", (unsigned long long)(a % units[u].ns / (units[u].ns / 10)));
	buf_fmt(b, " %s", units[u].name);
}

/* --- the parts of a panel ------------------------------------------------------------- */

/* "work-N  58 threads": the heading of row i. */
static void put_pool_name(struct tl_writer *w, const struct tl_panel *p, size_t i, double mid)
{
	struct buf *b = &w->b;
	struct buf name = {0};
	const char *comm = tl_str(w, w->tl->threads.v[p->rows[i].id].comm);
	size_t base = tl_pool_name(comm), n = i + 1;
	while (n < p->nrows && tl_in_pool(w->tl, &p->rows[n], comm, base))
		n++;
	buf_add(&name, comm, base);
	buf_char(&name, 'N');
	buf_fmt(b, "<text class=\"group\" id=\"n%zu-%zu\"", (size_t)(p - w->panels), i);
	svg_attr_px(b, "x", PAD);
	svg_attr_px(b, "y", mid);
	buf_char(b, '>');
	put_cut(b, buf_cstr(&name), 16);
	buf_fmt(b, "<tspan class=\"dim\"> %zu threads</tspan></text>\n", n - i - 1);
	if (buf_failed(&name))
		b->failed = buf_failed(&name);
	buf_release(&name);
}

/* `below`: the process whose heading is above. */
static void put_name(struct tl_writer *w, const struct tl_panel *p, size_t i, double y,
		     int32_t below)
{
	struct buf *b = &w->b;
	const struct tl_row *r = &p->rows[i];
	double mid = y + row_height(r) / 2 + 4;
	if (r->kind == TLROW_CPU) {
		buf_fmt(b, "<text class=\"cpu\" id=\"n%zu-%zu\"", (size_t)(p - w->panels), i);
		svg_attr_px(b, "x", PAD);
		svg_attr_px(b, "y", mid);
		buf_fmt(b, ">CPU %u</text>\n", timeline_cpu(w->tl, (uint16_t)r->id));
		return;
	}
	if (r->kind == TLROW_POOL) {
		put_pool_name(w, p, i, mid);
		return;
	}
	const struct tl_thread *t = &w->tl->threads.v[r->id];
	int group = r->kind == TLROW_GROUP;
	double x = PAD + (!group && t->pid == below ? 12 : 0);
	char id[32];
	int n = snprintf(id, sizeof(id), " %d", group ? t->pid : t->tid);
	size_t room = (size_t)((NAMES - 8 - (x - PAD)) / NAME_CHAR) - (size_t)n;
	buf_fmt(b, "<text class=\"%s\" id=\"n%zu-%zu\"", group ? "group" : "thread",
		(size_t)(p - w->panels), i);
	svg_attr_px(b, "x", x);
	svg_attr_px(b, "y", mid);
	buf_char(b, '>');
	put_cut(b, tl_str(w, t->comm), room);
	buf_fmt(b, "<tspan class=\"dim\">%s</tspan><title>", id);
	escape_xml_str(b, tl_str(w, t->comm));
	buf_str(b, " \xc2\xb7 process ");
	if (t->pid < 0)
		buf_str(b, "unknown");
	else
		buf_fmt(b, "%d", t->pid);
	buf_fmt(b, ", thread %d</title></text>\n", t->tid);
}

static void put_names(struct tl_writer *w, const struct tl_panel *p, const struct tl_place *at)
{
	double y = at->rows;
	int32_t below = -2; /* no process */
	buf_str(&w->b, "<g class=\"names\" font-size=\"11\">\n");
	for (size_t i = 0; i < p->nrows; i++) {
		put_name(w, p, i, y, below);
		if (tl_row_is_heading(&p->rows[i]))
			below = w->tl->threads.v[p->rows[i].id].pid;
		y += row_height(&p->rows[i]);
	}
	buf_str(&w->b, "</g>\n");
}

/* The bands behind the rows, which guide the eye. */
static void put_lanes(struct tl_writer *w, const struct tl_panel *p, const struct tl_place *at)
{
	struct buf *b = &w->b;
	double y = at->rows;
	buf_str(b, "<path class=\"lanes\" d=\"");
	for (size_t i = 0; i < p->nrows; i++) {
		double h = row_height(&p->rows[i]);
		if (!tl_row_is_heading(&p->rows[i])) {
			buf_fmt(b, "M%d ", PAD + NAMES);
			svg_px(b, y + h - 1.5);
			buf_char(b, 'h');
			svg_px(b, plot_width(w));
		}
		y += h;
	}
	buf_str(b, "\"/>\n");
}

/* The first tick in the window: a whole number of steps from the axis's zero. */
static uint64_t first_tick(const struct tl_panel *p, uint64_t step)
{
	if (p->from_ns <= p->zero_ns)
		return p->zero_ns - (p->zero_ns - p->from_ns) / step * step;
	uint64_t rest = (p->from_ns - p->zero_ns) % step;
	return rest ? p->from_ns - rest + step : p->from_ns;
}

static void put_grid(struct tl_writer *w, const struct tl_panel *p, const struct tl_place *at)
{
	struct buf *b = &w->b;
	struct tl_window win = {p->from_ns, p->to_ns, plot_width(w), w->o->no_unclear};
	uint64_t step = tl_axis_step(&win, TICK_ROOM), t = first_tick(p, step);
	buf_str(b, "<g class=\"grid\" font-size=\"11\">\n");
	while (t >= p->from_ns && t <= p->to_ns) {
		double x = x_of(w, p, t);
		buf_str(b, "<path d=\"M");
		svg_px(b, x);
		buf_char(b, ' ');
		svg_px(b, at->axis + AXIS_H - 6);
		buf_char(b, 'V');
		svg_px(b, at->end);
		buf_str(b, "\"/><text");
		svg_attr_px(b, "x", x);
		svg_attr_px(b, "y", at->axis + 13);
		buf_str(b, x > w->o->width - PAD - 30 ? " text-anchor=\"end\">"
						      : " text-anchor=\"middle\">");
		put_tick_text(b, t, p->zero_ns, step);
		buf_str(b, "</text>\n");
		if (p->to_ns - t < step)
			break;
		t += step;
	}
	buf_str(b, "</g>\n");
}

/* `title`, which is trusted text, is its tooltip; NULL for none. */
static void put_rect(struct buf *b, const char *attrs, double x, double y, double width,
		     double height, const char *title)
{
	buf_fmt(b, "<rect %s", attrs);
	svg_attr_px(b, "x", x);
	svg_attr_px(b, "y", y);
	svg_attr_px(b, "width", width);
	svg_attr_px(b, "height", height);
	if (title)
		buf_fmt(b, "><title>%s</title></rect>\n", title);
	else
		buf_str(b, "/>\n");
}

/* "lost: 12 records, CPU 1, +1.2 ms to +3.4 ms". */
static void loss_text(const struct tl_writer *w, const struct tl_panel *p,
		      const struct tl_loss *l, struct buf *b)
{
	uint64_t from = l->from_ns > p->zero_ns ? l->from_ns - p->zero_ns : 0;
	buf_fmt(b, "%s: ", loss_kind_name(l->kind));
	if (l->kind == LOSS_LOST) {
		units_plural(b, l->count, "record", "records");
		buf_str(b, ", ");
	}
	if (l->cpu == TL_NOCPU)
		buf_str(b, "any CPU");
	else
		buf_fmt(b, "CPU %u", timeline_cpu(w->tl, l->cpu));
	buf_str(b, ", +");
	tl_put_ns(b, from);
	buf_str(b, " to +");
	tl_put_ns(b, l->to_ns > p->zero_ns ? l->to_ns - p->zero_ns : 0);
}

static void put_losses(struct tl_writer *w, const struct tl_panel *p, const struct tl_place *at)
{
	if (at->rows == at->lost)
		return;
	buf_str(&w->b, "<g class=\"losses\">\n");
	for (size_t i = 0; i < w->tl->losses.n; i++) {
		const struct tl_loss *l = &w->tl->losses.v[i];
		if (l->to_ns <= p->from_ns || l->from_ns >= p->to_ns)
			continue;
		w->losses = 1;
		double x = x_of(w, p, l->from_ns < p->from_ns ? p->from_ns : l->from_ns);
		double end = x_of(w, p, l->to_ns);
		double width = fmax(end - x, 1);
		struct buf text = {0};
		loss_text(w, p, l, &text);
		put_rect(&w->b, "class=\"lost\" fill=\"url(#hatch-lost)\"", x, at->lost, width,
			 LOST_H - 2, buf_cstr(&text));
		put_rect(&w->b, "class=\"lost-band\"", x, at->rows, width, at->end - at->rows,
			 NULL);
		buf_release(&text);
	}
	buf_str(&w->b, "</g>\n");
}

/* Height and top of a cell in its row. */
static void cell_box(const struct tl_cell *c, double row_y, int cpu, double *y, double *h)
{
	double bottom = row_y + (cpu ? CPU_H - 2 : BAR_Y + BAR_H);
	double whole = c->mixed ? BAR_H : tl_paint_height(c->paint);
	*h = whole * (double)(c->high - c->low);
	*y = bottom - whole * (double)c->high;
}

/* Strokes are shorter than rectangles: a mixed column is one upwards, a pixel wide; any other
 * cell is one to the right, as thick as its paint is high. */
static void put_cell(struct buf *b, const struct tl_cell *c, double y, double h)
{
	buf_char(b, 'M');
	svg_px(b, PAD + NAMES + c->x + (c->mixed ? c->w / 2 : 0));
	buf_char(b, ' ');
	svg_px(b, c->mixed ? round(y * 10) / 10 : y + h / 2);
	buf_char(b, c->mixed ? 'v' : 'h');
	svg_px(b, c->mixed ? fmax(round(h * 10) / 10, 0.1) : c->w);
}

static void begin_paint(struct tl_writer *w, unsigned paint, int mixed)
{
	w->seen[paint] = 1;
	buf_fmt(&w->b, "<path%s stroke-width=\"%d\" stroke=\"",
		paint == TLP_RUN ? " class=\"run\"" : "",
		mixed ? 1 : (int)tl_paint_height(paint));
	if (paint == TLP_UNKNOWN)
		buf_str(&w->b, "url(#hatch)");
	else if (tl_paint_pattern(paint) && !mixed)
		buf_fmt(&w->b, "url(#paint%u)", tl_paint_filled_as(paint));
	else
		buf_fmt(&w->b, "#%06x", tl_paint_color(paint));
	buf_str(&w->b, "\" d=\"");
}

/* The cells of one paint: either the mixed columns, or all others. */
static void put_paint(struct tl_writer *w, const struct tl_panel *p, const double *row_y,
		      const tl_cells *cells, unsigned paint, int mixed)
{
	int open = 0;
	for (size_t i = 0; i < cells->n; i++) {
		const struct tl_cell *c = &cells->v[i];
		double y, h;
		if (c->paint != paint || c->mixed != mixed)
			continue;
		if (!open++)
			begin_paint(w, paint, mixed);
		cell_box(c, row_y[c->row], p->rows[c->row].kind == TLROW_CPU, &y, &h);
		put_cell(&w->b, c, y, h);
	}
	if (open)
		buf_str(&w->b, "\"/>\n");
}

/* The duration of a cell's interval: including parts beyond the window, unless the panel clips
 * them; of runs only the part in the window. */
static uint64_t shown_ns(const struct tl_writer *w, const struct tl_panel *p,
			 const struct tl_cell *c)
{
	if (c->ref == TL_NONE)
		return (uint64_t)llround(c->w / plot_width(w) *
					 (double)(p->to_ns - p->from_ns));
	struct offcpu cut = w->tl->offcpu.v[c->ref], *o = &cut;
	if (p->clip)
		tl_clip_off(o, p->from_ns, p->to_ns);
	int rest = c->paint == TLP_UNKNOWN || c->paint == TLP_RUNNABLE ||
		   c->paint == TLP_PREEMPTED;
	return rest ? offcpu_ns(o) - o->blocked_ns : o->blocked_ns;
}

/* The text in a cell, if there is room. */
static void put_label(struct tl_writer *w, const struct tl_panel *p, const double *row_y,
		      const struct tl_cell *c)
{
	struct buf text = {0};
	int cpu = p->rows[c->row].kind == TLROW_CPU;
	size_t room = c->w > 8 ? (size_t)((c->w - 6) / LABEL_CHAR) : 0;
	double y, h;
	if (c->mixed || tl_paint_is_line(c->paint) || room < 3)
		return;
	if (cpu && c->ref != TL_NONE) {
		buf_str(&text, tl_str(w, w->tl->threads.v[w->runs.v.v[c->ref].thread].comm));
	} else if (!cpu) {
		buf_fmt(&text, "%s%s ", tl_paint_name(c->paint),
			tl_paint_is_unclear(c->paint) ? "?" : "");
		size_t name = text.n;
		tl_put_ns(&text, shown_ns(w, p, c));
		if (escape_chars(text.v, text.n) > room && !buf_failed(&text))
			text.n = name - 1;
	}
	cell_box(c, row_y[c->row], cpu, &y, &h);
	const char *s = buf_cstr(&text);
	if (*s && (cpu || escape_chars(s, strlen(s)) <= room)) {
		int above = h < LABEL_SIZE; /* the cell is lower than the text */
		buf_str(&w->b, c->paint == TLP_RUN ? "<text class=\"light\""
			       : above             ? "<text class=\"above\""
						   : "<text");
		svg_attr_px(&w->b, "x", PAD + NAMES + c->x + 3);
		svg_attr_px(&w->b, "y", above ? y - 1 : y + h / 2 + 3.2);
		buf_char(&w->b, '>');
		put_cut(&w->b, s, room);
		buf_str(&w->b, "</text>\n");
	}
	if (buf_failed(&text))
		w->b.failed = buf_failed(&text);
	buf_release(&text);
}

/* Mark CPUs of which nothing is known: blank would mean idle. */
static void put_unrecorded(struct tl_writer *w, const struct tl_panel *p, const double *row_y)
{
	for (size_t i = 0; i < p->nrows; i++) {
		if (p->rows[i].kind != TLROW_CPU || !tl_cpu_unrecorded(w, p->rows[i].id))
			continue;
		w->unrecorded = 1;
		put_rect(&w->b, "class=\"unrecorded\" fill=\"url(#hatch)\"", PAD + NAMES,
			 row_y[i] + 2, plot_width(w), CPU_H - 4,
			 "nothing was recorded of this CPU: it may have been busy");
		svg_text(&w->b, "class=\"unrecorded\" font-size=\"11\"", PAD + NAMES + 4,
			 row_y[i] + CPU_H / 2.0 + 3, "not recorded");
	}
}

static int put_bars(struct tl_writer *w, const struct tl_panel *p, const double *row_y)
{
	tl_cells cells = {0};
	struct tl_window win = {p->from_ns, p->to_ns, plot_width(w), w->o->no_unclear};
	int rc = 0;
	for (size_t i = 0; i < p->nrows && !rc; i++) {
		const struct tl_row *r = &p->rows[i];
		if (r->kind == TLROW_THREAD)
			rc = tl_thread_cells(w->tl, r->id, &win, (uint32_t)i, &cells);
		else if (r->kind == TLROW_CPU)
			rc = tl_cpu_cells(&w->runs, r->id, w->colors, &win, (uint32_t)i,
					  &cells);
	}
	if (!rc) {
		put_unrecorded(w, p, row_y);
		buf_str(&w->b, "<g class=\"bars\" fill=\"none\">\n");
		for (unsigned i = 0; i < 2 * TLP_COUNT; i++)
			put_paint(w, p, row_y, &cells, i / 2, i % 2);
		buf_fmt(&w->b, "</g>\n<g class=\"labels\" font-size=\"%d\">\n", LABEL_SIZE);
		for (size_t i = 0; i < cells.n; i++)
			put_label(w, p, row_y, &cells.v[i]);
		buf_str(&w->b, "</g>\n");
		w->st->cells += cells.n;
	}
	vec_release(&cells);
	return rc;
}

/* By thread: y of its row in the panel, or < 0. */
static double *thread_rows(const struct tl_writer *w, const struct tl_panel *p,
			   const double *row_y)
{
	double *y = mem_zalloc(w->tl->threads.n + 1, sizeof(*y));
	for (size_t i = 0; y && i < w->tl->threads.n; i++)
		y[i] = -1;
	for (size_t i = 0; y && i < p->nrows; i++)
		if (p->rows[i].kind == TLROW_THREAD)
			y[p->rows[i].id] = row_y[i];
	return y;
}

static int row_of_thread(const struct tl_writer *w, const double *y, uint32_t thread)
{
	return thread < w->tl->threads.n && y[thread] >= 0;
}

static void put_tick(struct buf *b, double x, double y)
{
	buf_char(b, 'M');
	svg_px(b, x);
	buf_char(b, ' ');
	svg_px(b, y);
}

/* perfkit's own probes are drawn when the reader asks (timeline_rows.js). */
static int is_own_probe(const struct timeline *tl, const struct tl_mark *m)
{
	return !strncmp(strtab_get(&tl->stacks->strings, m->name), "perfkit:", 8);
}

/* Samples below the bars, one tick per half pixel; spans and marks above. */
static int put_events(struct tl_writer *w, const struct tl_panel *p, const double *row_y)
{
	const struct timeline *tl = w->tl;
	struct buf *b = &w->b;
	double *y = thread_rows(w, p, row_y);
	double *last = mem_zalloc(tl->threads.n + 1, sizeof(*last));
	int rc = y && last ? 0 : ERR_NOMEM;
	buf_str(b, "<path class=\"samples\" d=\"");
	for (size_t i = tl_sample_after(tl, p->from_ns); i < tl->samples.n && !rc; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (s->time_ns >= p->to_ns)
			break;
		if (!row_of_thread(w, y, s->thread))
			continue;
		double x = x_of(w, p, s->time_ns);
		if (x < last[s->thread] + 0.5)
			continue;
		last[s->thread] = x;
		w->samples = 1;
		put_tick(b, x, y[s->thread] + BAR_Y + BAR_H);
		buf_str(b, "v3");
	}
	buf_str(b, "\"/>\n<path class=\"spans\" d=\"");
	for (size_t i = 0; i < tl->spans.n && !rc; i++) {
		const struct tl_span *s = &tl->spans.v[i];
		if (s->end_ns <= p->from_ns || s->start_ns >= p->to_ns)
			continue;
		uint32_t thread = timeline_span_thread(tl, (uint32_t)i);
		if (!row_of_thread(w, y, thread))
			continue;
		double x = x_of(w, p, s->start_ns), end = x_of(w, p, s->end_ns);
		w->spans = 1;
		put_tick(b, x, y[thread] + 3);
		buf_str(b, "v-1.5h");
		svg_px(b, fmax(end - x, 0.5));
		buf_str(b, "v1.5");
	}
	buf_str(b, "\"/>\n<path class=\"marks\" d=\"");
	for (size_t i = 0; i < tl->marks.n && !rc; i++) {
		const struct tl_mark *m = &tl->marks.v[i];
		if (m->time_ns < p->from_ns || m->time_ns >= p->to_ns || is_own_probe(tl, m) ||
		    !row_of_thread(w, y, m->thread))
			continue;
		w->marks = 1;
		put_tick(b, x_of(w, p, m->time_ns), y[m->thread]);
		buf_str(b, "l2.5 2.5l-2.5 2.5l-2.5-2.5z");
	}
	buf_str(b, "\"/>\n");
	mem_free(y);
	mem_free(last);
	return rc;
}

/* From the waker's bar to the woken one's, with a head there. */
static void put_arrow(struct tl_writer *w, const struct tl_panel *p, const double *row_y,
		      const struct tl_arrow *a)
{
	struct buf *b = &w->b;
	double x = x_of(w, p, a->time_ns), mid = BAR_Y + BAR_H / 2.0;
	int down = row_y[a->to] > row_y[a->from];
	double y0 = row_y[a->from] + mid, y1 = row_y[a->to] + (down ? BAR_Y : BAR_Y + BAR_H);
	put_tick(b, x, y0);
	buf_char(b, 'V');
	svg_px(b, y1);
	buf_str(b, down ? "m-2.5-4l2.5 4l2.5-4" : "m-2.5 4l2.5-4l2.5 4");
}

static int put_arrows(struct tl_writer *w, const struct tl_panel *p, const double *row_y)
{
	tl_arrows found = {0};
	const struct tl_arrow *v = p->arrows;
	size_t n = p->narrows, total = n;
	int rc = 0;
	if (!v) {
		struct tl_window win = {p->from_ns, p->to_ns, plot_width(w), w->o->no_unclear};
		rc = tl_find_arrows(w->tl, p->rows, p->nrows, &win, w->o->max_arrows, &found,
				    &total);
		v = found.v;
		n = found.n;
	}
	if (!p->arrows && n > STILL_ARROWS)
		n = 0; /* so many would hide the bars; the script draws those of one row */
	buf_str(&w->b, "<path class=\"arrows\" d=\"");
	for (size_t i = 0; i < n && !rc; i++)
		put_arrow(w, p, row_y, &v[i]);
	buf_str(&w->b, "\"/>\n");
	w->st->arrows += n;
	w->st->wakeups += total;
	vec_release(&found);
	return rc;
}

static void put_highlights(struct tl_writer *w, const struct tl_panel *p, const double *row_y)
{
	buf_str(&w->b, "<g class=\"highlights\">");
	for (size_t i = 0; i < p->nhighlights; i++) {
		const struct tl_highlight *h = &p->highlights[i];
		double x = x_of(w, p, h->from_ns);
		put_rect(&w->b, "class=\"highlight\" rx=\"3\"", x, row_y[h->row] + 1,
			 x_of(w, p, h->to_ns) - x, row_height(&p->rows[h->row]) - 2, NULL);
	}
	buf_str(&w->b, "</g>\n");
}

static void put_caption(struct tl_writer *w, const struct tl_panel *p, double top)
{
	char attrs[48];
	snprintf(attrs, sizeof(attrs), "class=\"caption\" id=\"c%zu\"",
		 (size_t)(p - w->panels));
	svg_text_lines(&w->b, attrs, PAD, top + 13, CAPTION_H, caption_room(w), p->caption);
}

int tl_put_panel(struct tl_writer *w, const struct tl_panel *p, double top)
{
	struct tl_place at = tl_place_panel(w, p, top);
	double *row_y = mem_zalloc(p->nrows + 1, sizeof(*row_y)), y = at.rows;
	if (!row_y)
		return err_nomem(w->e);
	for (size_t i = 0; i < p->nrows; i++) {
		row_y[i] = y;
		y += row_height(&p->rows[i]);
	}
	put_caption(w, p, top);
	put_names(w, p, &at);
	buf_fmt(&w->b, "<g class=\"plot\" id=\"plot%zu\">\n", (size_t)(p - w->panels));
	size_t still = w->b.n;
	put_lanes(w, p, &at);
	put_grid(w, p, &at);
	int rc = put_bars(w, p, row_y);
	rc = rc ? rc : put_events(w, p, row_y);
	rc = rc ? rc : put_arrows(w, p, row_y);
	put_losses(w, p, &at);
	put_highlights(w, p, row_y);
	if (w->o->in_page && !buf_failed(&w->b))
		w->b.n = still; /* only needed for the legend: the page's script draws it again
				 */
	buf_str(&w->b, "</g>\n");
	mem_free(row_y);
	return rc ? err_nomem(w->e) : flame_flush(&w->b, w->out, w->e);
}
