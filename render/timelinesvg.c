#include "render/timelinesvg.h"
#include "base/mem.h"
#include "libstore/causes.h"
#include "render/escape.h"
#include "render/flamedata.h"
#include "render/svgtext.h"
#include "render/timelinedata.h"
#include "render/weight.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* The style sheet and the script, made by the Makefile. */
extern const char timeline_css[], timeline_js[];

enum {
	PAD = 10,
	NAMES = 190, /* the column of names */
	TITLE_Y = 28,
	LINE_H = 17,
	TOOLS_H = 32,
	CAPTION_H = 18, /* a line of a caption */
	AXIS_H = 24,
	LOST_H = 8, /* the lane of lost records */
	PANEL_GAP = 26,
	FOOT_H = 84,
	GROUP_H = 18,
	ROW_H = 22,
	CPU_H = 18,
	BAR_Y = 4,      /* in a row: spans above, samples below */
	BAR_H = 14,     /* in CPUs' rows, too */
	BLOCKED_H = 10, /* shapes tell states apart, too: a blocked thread is lower, */
	IDLE_H = 2,     /* an idle one a line */
	TICK_ROOM = 110,
	LABEL_SIZE = 9,
};
#define LABEL_CHAR 5.6 /* px, on average, at LABEL_SIZE */
#define NAME_CHAR 6.4  /* at 11 px */

struct writer {
	const struct timeline *tl;
	const struct tl_panel *panels;
	size_t n;
	const struct tl_svg_options *o;
	struct buf b;
	FILE *out;
	struct err *e;
	struct tl_svg_stats *st;
	struct tl_runs runs;
	uint8_t *colors; /* of threads in CPU rows */
	uint64_t base_ns;
	double top, height;
	uint8_t seen[TLP_COUNT]; /* paints in the picture; and other things */
	int samples, spans, marks, losses;
	double key_x; /* where the legend goes on */
	int key_y;
};

void tl_svg_defaults(struct tl_svg_options *o)
{
	*o = (struct tl_svg_options){
		.title = "Timeline",
		.font = "Verdana",
		.width = 1200,
		.max_arrows = 150,
	};
}

/* --- geometry ---------------------------------------------------------------------------- */

static double plot_width(const struct writer *w)
{
	return w->o->width - 2 * PAD - NAMES;
}

static double row_height(const struct tl_row *r)
{
	return r->kind == TLROW_GROUP ? GROUP_H : r->kind == TLROW_CPU ? CPU_H : ROW_H;
}

static double rows_height(const struct tl_panel *p)
{
	double h = 0;
	for (size_t i = 0; i < p->nrows; i++)
		h += row_height(&p->rows[i]);
	return h;
}

/* How many characters of a caption fit a line. */
static size_t caption_room(const struct writer *w)
{
	return (size_t)((w->o->width - 2 * PAD) / 6.9);
}

/* The end of the caption's line that starts at `s`: the last blank that fits. */
static size_t caption_line(const struct writer *w, const char *s, size_t n)
{
	size_t room = caption_room(w), cut = escape_prefix(s, n, room);
	if (cut >= n)
		return n;
	for (size_t i = cut; i > cut / 2; i--)
		if (s[i] == ' ')
			return i;
	return cut ? cut : n;
}

/* Write the caption line by line from y on (y < 0: nothing); how many lines it has. */
static int caption_lines(struct writer *w, const char *caption, double y)
{
	struct buf text = {0};
	int lines = 0;
	if (!caption || !*caption)
		return 0;
	escape_visible(&text, caption, strlen(caption));
	for (size_t at = 0; at < text.n; lines++) {
		size_t n = caption_line(w, text.v + at, text.n - at);
		if (y >= 0) {
			buf_str(&w->b, "<text class=\"caption\"");
			svg_attr_px(&w->b, "x", PAD);
			svg_attr_px(&w->b, "y", y + CAPTION_H * lines + 13);
			buf_char(&w->b, '>');
			escape_xml(&w->b, text.v + at, n);
			buf_str(&w->b, "</text>\n");
		}
		at += n;
		while (at < text.n && text.v[at] == ' ')
			at++;
	}
	if (buf_failed(&text))
		w->b.failed = buf_failed(&text);
	buf_release(&text);
	return lines;
}

static int has_losses(const struct writer *w, const struct tl_panel *p)
{
	for (size_t i = 0; i < w->tl->losses.n; i++)
		if (w->tl->losses.v[i].to_ns > p->from_ns &&
		    w->tl->losses.v[i].from_ns < p->to_ns)
			return 1;
	return 0;
}

/* Where the parts of a panel are; its caption is at `top`. */
struct place {
	double top, axis, lost, rows, end;
};

static struct place place_panel(struct writer *w, const struct tl_panel *p, double top)
{
	struct place at = {.top = top};
	at.axis = top + CAPTION_H * caption_lines(w, p->caption, -1);
	at.lost = at.axis + AXIS_H;
	at.rows = at.lost + (has_losses(w, p) ? LOST_H : 0);
	at.end = at.rows + rows_height(p);
	return at;
}

static double x_of(const struct writer *w, const struct tl_panel *p, uint64_t ns)
{
	double x = ((double)ns - (double)p->from_ns) * plot_width(w) /
		   (double)(p->to_ns - p->from_ns);
	return PAD + NAMES + fmin(fmax(x, 0), plot_width(w));
}

/* --- texts ------------------------------------------------------------------------------- */

static void put_ns(struct buf *b, uint64_t ns)
{
	weight_text(b, (double)ns, 1, 1, "ns");
}

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

static const char *str(const struct writer *w, uint32_t id)
{
	return strtab_get(&w->tl->stacks->strings, id);
}

/* A tick's text: the largest unit in which a step has at most one decimal. */
static void put_tick_text(struct buf *b, int64_t ns, uint64_t step)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "\xc2\xb5s"}, {1, "ns"}};
	size_t u = 0;
	while (u < 3 && step < units[u].ns / 10)
		u++;
	uint64_t a = ns < 0 ? (uint64_t)-ns : (uint64_t)ns;
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)(a / units[u].ns));
	buf_str(b, ns < 0 ? "\xe2\x88\x92" : "");
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf_char(b, ',');
		buf_char(b, digits[i]);
	}
	if (step < units[u].ns)
		buf_fmt(b, ".%llu", (unsigned long long)(a % units[u].ns / (units[u].ns / 10)));
	buf_fmt(b, " %s", units[u].name);
}

/* 2026-11-21 10:48:07.123456 UTC of a time on the recording's clock; "" where not known. */
static void put_wall(struct buf *b, const struct tl_recording *r, uint64_t ns)
{
	uint64_t wall = r->wall_ns + (ns - r->origin_ns);
	time_t s = (time_t)(wall / 1000000000);
	struct tm tm;
	if (!r->wall_ns || !gmtime_r(&s, &tm))
		return;
	buf_fmt(b, "%s%04d-%02d-%02d %02d:%02d:%02d.%06llu UTC",
		r->wall_exact ? "" : "\xe2\x89\x88 ", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		(unsigned long long)(wall % 1000000000 / 1000));
}

static void put_subtitle(struct writer *w, struct buf *b)
{
	const struct tl_recording *r = &w->tl->rec;
	const struct tl_panel *p = &w->panels[0];
	if (w->o->subtitle) {
		escape_xml_str(b, w->o->subtitle);
		return;
	}
	if (*str(w, r->host)) {
		escape_xml_str(b, str(w, r->host));
		buf_str(b, " \xc2\xb7 ");
	}
	if (r->wall_ns) {
		put_wall(b, r, w->n > 1 ? r->origin_ns : p->from_ns);
		buf_str(b, " \xc2\xb7 ");
	}
	if (w->n > 1) {
		buf_fmt(b, "%zu episodes of ", w->n);
	} else if (p->from_ns > r->origin_ns || p->to_ns < r->end_ns) {
		put_ns(b, p->to_ns - p->from_ns);
		buf_str(b, " from +");
		put_ns(b, p->from_ns - r->origin_ns);
		buf_str(b, " of ");
	}
	put_ns(b, r->end_ns - r->origin_ns);
}

/* --- the parts of a panel ------------------------------------------------------------------
 */

static void put_name(struct writer *w, const struct tl_panel *p, size_t i, double y)
{
	struct buf *b = &w->b;
	const struct tl_row *r = &p->rows[i];
	double mid = y + row_height(r) / 2 + 4;
	if (r->kind == TLROW_CPU) {
		buf_str(b, "<text class=\"cpu\"");
		svg_attr_px(b, "x", PAD);
		svg_attr_px(b, "y", mid);
		buf_fmt(b, ">CPU %u</text>\n", r->id);
		return;
	}
	const struct tl_thread *t = &w->tl->threads.v[r->id];
	int group = r->kind == TLROW_GROUP;
	double x = PAD;
	/* Threads stand below their process until the next heading or another process. */
	for (size_t k = i; !group && k-- > 0 && p->rows[k].kind != TLROW_CPU;)
		if (p->rows[k].kind == TLROW_GROUP) {
			x += w->tl->threads.v[p->rows[k].id].pid == t->pid ? 12 : 0;
			break;
		}
	char id[32];
	int n = snprintf(id, sizeof(id), " %d", group ? t->pid : t->tid);
	size_t room = (size_t)((NAMES - 8 - (x - PAD)) / NAME_CHAR) - (size_t)n;
	buf_fmt(b, "<text class=\"%s\" id=\"n%zu-%zu\"", group ? "group" : "thread",
		(size_t)(p - w->panels), i);
	svg_attr_px(b, "x", x);
	svg_attr_px(b, "y", mid);
	buf_char(b, '>');
	put_cut(b, str(w, t->comm), room);
	buf_fmt(b, "<tspan class=\"dim\">%s</tspan><title>", id);
	escape_xml_str(b, str(w, t->comm));
	buf_fmt(b, " \xc2\xb7 process %d, thread %d</title></text>\n", t->pid, t->tid);
}

static void put_names(struct writer *w, const struct tl_panel *p, const struct place *at)
{
	double y = at->rows;
	buf_str(&w->b, "<g class=\"names\" font-size=\"11\">\n");
	for (size_t i = 0; i < p->nrows; i++) {
		put_name(w, p, i, y);
		y += row_height(&p->rows[i]);
	}
	buf_str(&w->b, "</g>\n");
}

/* The bands behind the rows, so that the eye follows them. */
static void put_lanes(struct writer *w, const struct tl_panel *p, const struct place *at)
{
	struct buf *b = &w->b;
	double y = at->rows;
	buf_str(b, "<path class=\"lanes\" d=\"");
	for (size_t i = 0; i < p->nrows; i++) {
		double h = row_height(&p->rows[i]);
		if (p->rows[i].kind != TLROW_GROUP) {
			buf_fmt(b, "M%d ", PAD + NAMES);
			svg_px(b, y + h - 1.5);
			buf_char(b, 'h');
			svg_px(b, plot_width(w));
		}
		y += h;
	}
	buf_str(b, "\"/>\n");
}

static void put_grid(struct writer *w, const struct tl_panel *p, const struct place *at)
{
	struct buf *b = &w->b;
	struct tl_window win = {p->from_ns, p->to_ns, plot_width(w)};
	uint64_t step = tl_axis_step(&win, TICK_ROOM);
	int64_t from = (int64_t)(p->from_ns - p->zero_ns);
	int64_t t = from / (int64_t)step * (int64_t)step;
	buf_str(b, "<g class=\"grid\" font-size=\"10\">\n");
	for (t += t < from ? (int64_t)step : 0; p->zero_ns + (uint64_t)t <= p->to_ns;
	     t += (int64_t)step) {
		double x = x_of(w, p, p->zero_ns + (uint64_t)t);
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
		put_tick_text(b, t, step);
		buf_str(b, "</text>\n");
	}
	buf_str(b, "</g>\n");
}

static void put_rect(struct buf *b, const char *attrs, double x, double y, double width,
		     double height)
{
	buf_fmt(b, "<rect %s", attrs);
	svg_attr_px(b, "x", x);
	svg_attr_px(b, "y", y);
	svg_attr_px(b, "width", width);
	svg_attr_px(b, "height", height);
	buf_str(b, "/>\n");
}

static void put_losses(struct writer *w, const struct tl_panel *p, const struct place *at)
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
		put_rect(&w->b, "class=\"lost\" fill=\"url(#hatch-lost)\"", x, at->lost, width,
			 LOST_H - 2);
		put_rect(&w->b, "class=\"lost-band\"", x, at->rows, width, at->end - at->rows);
	}
	buf_str(&w->b, "</g>\n");
}

static double paint_height(unsigned paint)
{
	return paint == TLP_IDLE                          ? IDLE_H
	       : paint >= TLP_BLOCKED && paint < TLP_IDLE ? BLOCKED_H
							  : BAR_H;
}

/* Height and top of a cell in its row. */
static void cell_box(const struct tl_cell *c, double row_y, int cpu, double *y, double *h)
{
	double bottom = row_y + (cpu ? CPU_H - 2 : BAR_Y + BAR_H);
	double whole = c->mixed ? BAR_H : paint_height(c->paint);
	*h = whole * (double)(c->high - c->low);
	*y = bottom - whole * (double)c->high;
}

/* Strokes are shorter to write than rectangles: a mixed column is one upwards, a pixel wide;
 * any other cell is one to the right, as thick as its paint is high. */
static void put_cell(struct buf *b, const struct tl_cell *c, double y, double h)
{
	buf_char(b, 'M');
	svg_px(b, PAD + NAMES + c->x + (c->mixed ? c->w / 2 : 0));
	buf_char(b, ' ');
	svg_px(b, c->mixed ? round(y * 10) / 10 : y + h / 2);
	buf_char(b, c->mixed ? 'v' : 'h');
	svg_px(b, c->mixed ? fmax(round(h * 10) / 10, 0.1) : c->w);
}

static void begin_paint(struct writer *w, unsigned paint, int mixed)
{
	w->seen[paint] = 1;
	buf_fmt(&w->b, "<path stroke-width=\"%d\" stroke=\"",
		mixed ? 1 : (int)paint_height(paint));
	if (paint == TLP_UNKNOWN)
		buf_str(&w->b, "url(#hatch)");
	else
		buf_fmt(&w->b, "#%06x", tl_paint_color(paint));
	buf_str(&w->b, "\" d=\"");
}

/* The cells of one paint: either the mixed columns, or all others. */
static void put_paint(struct writer *w, const struct tl_panel *p, const double *row_y,
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

/* How long what a cell shows lasted, beyond the window's edges, too; but for runs. */
static uint64_t shown_ns(const struct writer *w, const struct tl_panel *p,
			 const struct tl_cell *c)
{
	if (c->ref == TL_NONE)
		return (uint64_t)llround(c->w / plot_width(w) *
					 (double)(p->to_ns - p->from_ns));
	const struct off *o = &w->tl->off.v[c->ref];
	int rest = c->paint == TLP_UNKNOWN || c->paint == TLP_RUNNABLE ||
		   c->paint == TLP_PREEMPTED;
	return rest ? off_ns(o) - o->blocked_ns : o->blocked_ns;
}

/* What is written into a cell, when there is room. */
static void put_label(struct writer *w, const struct tl_panel *p, const double *row_y,
		      const struct tl_cell *c)
{
	struct buf text = {0};
	int cpu = p->rows[c->row].kind == TLROW_CPU;
	size_t room = c->w > 8 ? (size_t)((c->w - 6) / LABEL_CHAR) : 0;
	double y, h;
	if (c->mixed || c->paint == TLP_IDLE || room < 3)
		return;
	if (cpu && c->ref != TL_NONE) {
		buf_str(&text, str(w, w->tl->threads.v[w->runs.v.v[c->ref].thread].comm));
	} else if (!cpu) {
		buf_fmt(&text, "%s ", tl_paint_name(c->paint));
		size_t name = text.n;
		put_ns(&text, shown_ns(w, p, c));
		if (escape_chars(text.v, text.n) > room && !buf_failed(&text))
			text.n = name - 1;
	}
	cell_box(c, row_y[c->row], cpu, &y, &h);
	const char *s = buf_cstr(&text);
	if (*s && (cpu || escape_chars(s, strlen(s)) <= room)) {
		buf_str(&w->b, c->paint == TLP_RUN ? "<text class=\"light\"" : "<text");
		svg_attr_px(&w->b, "x", PAD + NAMES + c->x + 3);
		svg_attr_px(&w->b, "y", y + h / 2 + 3.2);
		buf_char(&w->b, '>');
		put_cut(&w->b, s, room);
		buf_str(&w->b, "</text>\n");
	}
	if (buf_failed(&text))
		w->b.failed = buf_failed(&text);
	buf_release(&text);
}

static int put_bars(struct writer *w, const struct tl_panel *p, const double *row_y)
{
	tl_cells cells = {0};
	struct tl_window win = {p->from_ns, p->to_ns, plot_width(w)};
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
static double *thread_rows(const struct writer *w, const struct tl_panel *p,
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

static int row_of_thread(const struct writer *w, const double *y, uint32_t thread)
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

/* Samples below the bars, one tick a half pixel; spans and marks above. */
static int put_events(struct writer *w, const struct tl_panel *p, const double *row_y)
{
	const struct timeline *tl = w->tl;
	struct buf *b = &w->b;
	double *y = thread_rows(w, p, row_y);
	double *last = mem_zalloc(tl->threads.n + 1, sizeof(*last));
	int rc = y && last ? 0 : ERR_NOMEM;
	buf_str(b, "<path class=\"samples\" d=\"");
	for (size_t i = 0; i < tl->samples.n && !rc; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		if (s->time_ns < p->from_ns || s->time_ns >= p->to_ns ||
		    !row_of_thread(w, y, s->thread))
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
		if (s->end_ns <= p->from_ns || s->start_ns >= p->to_ns ||
		    !row_of_thread(w, y, s->thread))
			continue;
		double x = x_of(w, p, s->start_ns), end = x_of(w, p, s->end_ns);
		w->spans = 1;
		put_tick(b, x, y[s->thread] + 3);
		buf_str(b, "v-1.5h");
		svg_px(b, fmax(end - x, 0.5));
		buf_str(b, "v1.5");
	}
	buf_str(b, "\"/>\n<path class=\"marks\" d=\"");
	for (size_t i = 0; i < tl->marks.n && !rc; i++) {
		const struct tl_mark *m = &tl->marks.v[i];
		if (m->time_ns < p->from_ns || m->time_ns >= p->to_ns ||
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
static void put_arrow(struct writer *w, const struct tl_panel *p, const double *row_y,
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

static int put_arrows(struct writer *w, const struct tl_panel *p, const double *row_y)
{
	tl_arrows found = {0};
	const struct tl_arrow *v = p->arrows;
	size_t n = p->narrows, total = n;
	int rc = 0;
	if (!v) {
		struct tl_window win = {p->from_ns, p->to_ns, plot_width(w)};
		rc = tl_find_arrows(w->tl, p->rows, p->nrows, &win, w->o->max_arrows, &found,
				    &total);
		v = found.v;
		n = found.n;
	}
	/* Many are paler, so that they do not hide the bars. */
	double faint = n > 40 ? fmax(40.0 / (double)n, 0.35) : 1;
	buf_fmt(&w->b, "<path class=\"arrows\" opacity=\"%.2f\" d=\"", faint);
	for (size_t i = 0; i < n && !rc; i++)
		put_arrow(w, p, row_y, &v[i]);
	buf_str(&w->b, "\"/>\n");
	w->st->arrows += n;
	w->st->wakeups += total;
	vec_release(&found);
	return rc;
}

static void put_highlights(struct writer *w, const struct tl_panel *p, const double *row_y)
{
	buf_str(&w->b, "<g class=\"highlights\">");
	for (size_t i = 0; i < p->nhighlights; i++) {
		const struct tl_highlight *h = &p->highlights[i];
		double x = x_of(w, p, h->from_ns);
		put_rect(&w->b, "class=\"highlight\" rx=\"3\"", x, row_y[h->row] + 1,
			 x_of(w, p, h->to_ns) - x, row_height(&p->rows[h->row]) - 2);
	}
	buf_str(&w->b, "</g>\n");
}

static int put_panel(struct writer *w, const struct tl_panel *p, double top)
{
	struct place at = place_panel(w, p, top);
	double *row_y = mem_zalloc(p->nrows + 1, sizeof(*row_y)), y = at.rows;
	if (!row_y)
		return err_nomem(w->e);
	for (size_t i = 0; i < p->nrows; i++) {
		row_y[i] = y;
		y += row_height(&p->rows[i]);
	}
	caption_lines(w, p->caption, top);
	put_names(w, p, &at);
	buf_fmt(&w->b, "<g class=\"plot\" id=\"plot%zu\">\n", (size_t)(p - w->panels));
	put_lanes(w, p, &at);
	put_grid(w, p, &at);
	int rc = put_bars(w, p, row_y);
	rc = rc ? rc : put_events(w, p, row_y);
	rc = rc ? rc : put_arrows(w, p, row_y);
	put_losses(w, p, &at);
	put_highlights(w, p, row_y);
	buf_str(&w->b, "</g>\n");
	mem_free(row_y);
	return rc ? err_nomem(w->e) : flame_flush(&w->b, w->out, w->e);
}

/* --- around the panels ---------------------------------------------------------------------
 */

static void put_heading(struct writer *w)
{
	struct buf *b = &w->b;
	double mid = w->o->width / 2;
	svg_text(b, "id=\"title\" text-anchor=\"middle\" font-size=\"17\"", mid, TITLE_Y,
		 w->o->title);
	buf_str(b, "<text id=\"subtitle\" class=\"dim\" text-anchor=\"middle\"");
	svg_attr_px(b, "x", mid);
	svg_attr_px(b, "y", TITLE_Y + LINE_H + 2);
	buf_char(b, '>');
	put_subtitle(w, b);
	buf_str(b, "</text>\n");
	if (!w->o->n_hidden)
		return;
	buf_str(b, "<text id=\"hidden\" class=\"dim\" text-anchor=\"middle\"");
	svg_attr_px(b, "x", mid);
	svg_attr_px(b, "y", TITLE_Y + 2 * LINE_H + 2);
	buf_char(b, '>');
	for (size_t i = 0; i < w->o->n_hidden; i++) {
		buf_str(b, i ? " \xc2\xb7 " : "");
		escape_xml_str(b, w->o->hidden[i]);
	}
	buf_str(b, "</text>\n");
}

/* One sample of a drawing and what it means; a second line where the first is full. */
static void put_key(struct writer *w, const char *shape, const char *text)
{
	double width = 17 + 6.7 * (double)escape_chars(text, strlen(text)) + 14;
	if (!w->key_y && w->key_x + width > w->o->width - 260) {
		w->key_x = 0;
		w->key_y = LINE_H;
	}
	buf_str(&w->b, "<g transform=\"translate(");
	svg_px(&w->b, PAD + w->key_x);
	buf_fmt(&w->b, " %d)\">%s<text x=\"17\" y=\"10\">%s</text></g>\n", 6 + w->key_y, shape,
		text);
	w->key_x += width;
}

static void put_paint_key(struct writer *w, unsigned paint)
{
	char shape[160], fill[24] = "url(#hatch)";
	int h = paint == TLP_IDLE ? IDLE_H : paint >= TLP_BLOCKED ? 9 : 12;
	if (paint != TLP_UNKNOWN)
		snprintf(fill, sizeof(fill), "#%06x", tl_paint_color(paint));
	snprintf(shape, sizeof(shape),
		 "<rect y=\"%d\" width=\"12\" height=\"%d\"%s fill=\"%s\"/>", 12 - h, h,
		 h > 4 ? " rx=\"2\"" : "", fill);
	put_key(w, shape, tl_paint_name(paint));
}

static void put_legend(struct writer *w)
{
	buf_str(&w->b, "<g id=\"legend\" font-size=\"11\">\n");
	for (unsigned i = 0; i < TLP_CPU; i++)
		if (w->seen[i])
			put_paint_key(w, i);
	if (w->samples)
		put_key(w, "<path class=\"samples\" d=\"M4 4v6M8 4v6\"/>", "sample");
	if (w->spans)
		put_key(w, "<path class=\"spans\" d=\"M1 9v-3h10v3\"/>", "span");
	if (w->marks)
		put_key(w, "<path class=\"marks\" d=\"M6 2l4 4l-4 4l-4-4z\"/>", "event");
	if (w->st->arrows)
		put_key(w, "<path class=\"arrows\" d=\"M6 0V11m-3-4l3 4l3-4\"/>", "wakeup");
	if (w->losses)
		put_key(w,
			"<rect class=\"lost\" width=\"12\" height=\"12\" "
			"fill=\"url(#hatch-lost)\"/>",
			"lost");
	buf_str(&w->b, "</g>\n");
}

static void put_foot(struct writer *w, double y)
{
	struct buf *b = &w->b;
	buf_str(b, "<g id=\"foot\" transform=\"translate(0 ");
	svg_px(b, y);
	buf_str(b, ")\">\n");
	put_legend(w);
	buf_str(b, "<text id=\"drawn\" class=\"dim\" text-anchor=\"end\" y=\"16\"");
	svg_attr_px(b, "x", w->o->width - PAD);
	buf_char(b, '>');
	if (w->st->wakeups > w->st->arrows)
		buf_fmt(b, "%llu of %llu wakeups drawn", (unsigned long long)w->st->arrows,
			(unsigned long long)w->st->wakeups);
	buf_str(b, "</text>\n");
	svg_text(b, "id=\"details\"", PAD, 54, "");
	svg_text(b, "id=\"matched\" text-anchor=\"end\"", w->o->width - PAD, 72, "");
	buf_str(b, "</g>\n");
}

static void put_conf(struct writer *w)
{
	struct buf *b = &w->b;
	buf_fmt(b, "<d-conf>width %g\npad %d\nnames %d\ntop %g\naxisH %d\nlostH %d\n",
		w->o->width, PAD, NAMES, w->top, AXIS_H, LOST_H);
	buf_fmt(b, "groupH %d\nrowH %d\ncpuH %d\nbarY %d\nbarH %d\nblockedH %d\nidleH %d\n",
		GROUP_H, ROW_H, CPU_H, BAR_Y, BAR_H, BLOCKED_H, IDLE_H);
	buf_fmt(b, "tickRoom %d\nlabelChar %g\nwide %d\nmaxArrows %zu\n", TICK_ROOM, LABEL_CHAR,
		TL_WIDE, w->o->max_arrows);
	buf_str(b, "panelY");
	double y = w->top;
	for (size_t i = 0; i < w->n; i++) {
		struct place at = place_panel(w, &w->panels[i], y);
		buf_fmt(b, " %g:%g", at.axis, at.rows);
		y = at.end + PANEL_GAP;
	}
	buf_str(b, "\npaints");
	for (unsigned i = 0; i < TLP_COUNT; i++)
		buf_fmt(b, " %06x:%s", tl_paint_color(i), tl_paint_name(i));
	buf_str(b, "\ncontexts");
	for (unsigned i = 0; i <= WAKER_IDLE; i++)
		buf_fmt(b, " %s", *waker_context_name(i) ? waker_context_name(i) : "-");
	buf_str(b, "\nreasons");
	for (unsigned i = 0; i <= UNKNOWN_NO_WAKE; i++)
		buf_fmt(b, "%s%s", i ? "|" : " ", unknown_reason_name(i));
	buf_str(b, "\nlosses");
	for (unsigned i = 0; i <= LOSS_THROTTLE; i++)
		buf_fmt(b, "%s%s", i ? "|" : " ", loss_kind_name(i));
	buf_fmt(b, "\nwallMs %.3f\n</d-conf>\n",
		w->tl->rec.wall_ns ? ((double)w->tl->rec.wall_ns -
				      ((double)w->tl->rec.origin_ns - (double)w->base_ns)) /
					     1e6
				   : 0.0);
}

static int put_script(struct writer *w)
{
	struct tl_data d = {w->tl, &w->runs, w->colors, w->base_ns};
	if (w->o->no_script)
		return 0;
	buf_str(&w->b, "<metadata id=\"timeline-data\">\n");
	put_conf(w);
	int rc = tl_data_write(&d, w->panels, w->n, &w->b, w->out, w->e);
	buf_str(&w->b, "</metadata>\n<script type=\"text/javascript\"><![CDATA[\n");
	buf_str(&w->b, timeline_js);
	buf_str(&w->b, "]]></script>\n");
	return rc;
}

static void put_head(struct writer *w)
{
	struct buf *b = &w->b;
	buf_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		   "class=\"timeline\"");
	svg_attr_px(b, "width", w->o->width);
	svg_attr_px(b, "height", w->height);
	buf_str(b, " viewBox=\"0 0 ");
	svg_px(b, w->o->width);
	buf_char(b, ' ');
	svg_px(b, w->height);
	buf_str(b, "\" font-family=\"");
	escape_xml_str(b, w->o->font);
	buf_str(b, ", DejaVu Sans, sans-serif\" font-size=\"12\">\n<title>");
	escape_xml_str(b, w->o->title);
	buf_str(b, "</title>\n<desc>");
	escape_xml_str(b, w->o->notes);
	buf_str(b, "</desc>\n<style type=\"text/css\"><![CDATA[\n");
	buf_str(b, timeline_css);
	buf_str(b, "]]></style>\n<defs><linearGradient id=\"bg\" x1=\"0\" y1=\"0\" x2=\"0\" "
		   "y2=\"1\"><stop class=\"bg0\" offset=\"0\" stop-color=\"#fbfbf9\"/><stop "
		   "class=\"bg1\" offset=\"1\" stop-color=\"#eeeeea\"/></linearGradient>\n"
		   "<pattern id=\"hatch\" width=\"5\" height=\"5\" "
		   "patternUnits=\"userSpaceOnUse\" "
		   "patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"5\" "
		   "height=\"5\"/><path class=\"hatch-line\" d=\"M1 0v5\"/></pattern>\n"
		   "<pattern id=\"hatch-lost\" width=\"4\" height=\"4\" "
		   "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\"><path "
		   "class=\"lost-line\" d=\"M1 0v4\"/></pattern></defs>\n"
		   "<rect id=\"background\" width=\"100%\" height=\"100%\" "
		   "fill=\"url(#bg)\"/>\n");
}

/* --- the whole ------------------------------------------------------------------------- */

static int check_panel(const struct timeline *tl, const struct tl_panel *p, struct err *e)
{
	if (p->from_ns >= p->to_ns)
		return err_set(e, ERR_USAGE, "timeline: an empty window");
	for (size_t i = 0; i < p->nrows; i++)
		if (p->rows[i].kind != TLROW_CPU && p->rows[i].id >= tl->threads.n)
			return err_set(e, ERR_USAGE, "timeline: no thread %u", p->rows[i].id);
	for (size_t i = 0; i < p->nhighlights; i++)
		if (p->highlights[i].row >= p->nrows)
			return err_set(e, ERR_USAGE, "timeline: no row to highlight");
	for (size_t i = 0; p->arrows && i < p->narrows; i++)
		if (p->arrows[i].from >= p->nrows || p->arrows[i].to >= p->nrows)
			return err_set(e, ERR_USAGE, "timeline: an arrow without a row");
	return 0;
}

/* Heights, the base of times, colours of the CPU rows. */
static int survey(struct writer *w)
{
	uint64_t from = UINT64_MAX, to = 0;
	int cpus = 0, rc = 0;
	w->top = TITLE_Y + LINE_H * (w->o->n_hidden ? 2 : 1) + TOOLS_H + 4;
	double y = w->top;
	w->base_ns = w->tl->rec.origin_ns;
	for (size_t i = 0; i < w->n && !rc; i++) {
		const struct tl_panel *p = &w->panels[i];
		rc = check_panel(w->tl, p, w->e);
		if (rc)
			return rc;
		y = place_panel(w, p, y).end + (i + 1 < w->n ? PANEL_GAP : 0);
		from = p->from_ns < from ? p->from_ns : from;
		to = p->to_ns > to ? p->to_ns : to;
		w->base_ns = p->zero_ns < w->base_ns ? p->zero_ns : w->base_ns;
		for (size_t k = 0; k < p->nrows; k++)
			cpus |= p->rows[k].kind == TLROW_CPU;
	}
	w->base_ns = from < w->base_ns ? from : w->base_ns;
	w->height = y + FOOT_H + 6;
	if (cpus)
		rc = timeline_runs(w->tl, &w->runs, w->e);
	if (!rc && tl_cpu_colors(w->tl, from, to, &w->colors))
		rc = err_nomem(w->e);
	return rc;
}

static int put_all(struct writer *w)
{
	int rc = 0;
	put_head(w);
	put_heading(w);
	double y = w->top;
	for (size_t i = 0; i < w->n && !rc; i++) {
		rc = put_panel(w, &w->panels[i], y);
		y = place_panel(w, &w->panels[i], y).end + PANEL_GAP;
	}
	if (!w->n || (w->n == 1 && !w->panels[0].nrows))
		svg_text(&w->b, "id=\"empty\" text-anchor=\"middle\"", w->o->width / 2,
			 w->height - FOOT_H, "nothing happened here");
	put_foot(w, w->height - FOOT_H);
	rc = rc ? rc : put_script(w);
	buf_str(&w->b, "</svg>\n");
	return rc ? rc : flame_flush(&w->b, w->out, w->e);
}

int timeline_svg_write(const struct timeline *tl, const struct tl_panel *panels, size_t n,
		       const struct tl_svg_options *o, FILE *out, struct tl_svg_stats *st,
		       struct err *e)
{
	struct tl_svg_stats own;
	st = st ? st : &own;
	*st = (struct tl_svg_stats){0};
	struct writer w = {
		.tl = tl, .panels = panels, .n = n, .o = o, .out = out, .e = e, .st = st};
	if (!n)
		return err_set(e, ERR_USAGE, "timeline: nothing to draw");
	int rc = survey(&w);
	rc = rc ? rc : put_all(&w);
	mem_free(w.colors);
	tl_runs_release(&w.runs);
	buf_release(&w.b);
	return rc;
}

/* --- episodes -------------------------------------------------------------------------- */

int timeline_svg_episode(const struct timeline *tl, const struct tl_episode *ep,
			 struct tl_panel *out, struct err *e)
{
	*out = (struct tl_panel){.caption = ep->sentence, .zero_ns = ep->start_ns};
	if (ep->start_ns >= ep->end_ns)
		return err_set(e, ERR_USAGE, "timeline: an empty episode");
	uint64_t margin = (ep->end_ns - ep->start_ns) / 10;
	uint64_t before =
		ep->start_ns > tl->rec.origin_ns ? ep->start_ns - tl->rec.origin_ns : 0;
	uint64_t after = tl->rec.end_ns > ep->end_ns ? tl->rec.end_ns - ep->end_ns : 0;
	out->from_ns = ep->start_ns - (margin < before ? margin : before);
	out->to_ns = ep->end_ns + (margin < after ? margin : after);
	struct tl_row *rows = mem_zalloc(ep->nthreads + ep->ncpus + 1, sizeof(*rows));
	struct tl_highlight *high = mem_zalloc(1, sizeof(*high));
	if (!rows || !high) {
		mem_free(rows);
		mem_free(high);
		return err_nomem(e);
	}
	for (size_t i = 0; i < ep->nthreads; i++)
		rows[out->nrows++] = (struct tl_row){ep->threads[i], TLROW_THREAD};
	for (size_t i = 0; i < ep->ncpus; i++)
		rows[out->nrows++] = (struct tl_row){ep->cpus[i], TLROW_CPU};
	*high = (struct tl_highlight){ep->start_ns, ep->end_ns, 0};
	out->rows = rows;
	out->highlights = high;
	out->nhighlights = ep->nthreads > 0;
	return 0;
}

void timeline_svg_episode_release(struct tl_panel *p)
{
	if (!p)
		return;
	mem_free((void *)p->rows);
	mem_free((void *)p->highlights);
	*p = (struct tl_panel){0};
}
