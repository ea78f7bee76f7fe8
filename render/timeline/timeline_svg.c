#include "render/timeline/timeline_svg_internal.h"
#include "base/mem.h"
#include "libtime/explain/gap_parts.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_query.h"
#include "render/text/escape.h"
#include "render/flame/flame_data.h"
#include "render/svg/svg_text.h"
#include "render/timeline/timeline_data.h"
#include "render/text/units.h"
#include "render/text/weight.h"

#include <math.h>
#include <string.h>

/* The style sheet and the script, made by the Makefile. */
extern const char timeline_css[], timeline_js[];

const char *tl_svg_grain(struct buf *b, uint64_t grain_ns)
{
	buf_str(b, "to ");
	units_duration(b, grain_ns);
	buf_str(b, ": what is shorter is summed up");
	return buf_cstr(b);
}

void tl_svg_defaults(struct tl_svg_options *o)
{
	*o = (struct tl_svg_options){
		.title = "Timeline",
		.font = "Verdana",
		.width = 1200,
		.max_arrows = 150,
	};
}

/* --- texts ------------------------------------------------------------------------------- */

void tl_put_ns(struct buf *b, uint64_t ns)
{
	weight_text(b, (double)ns, 1, 1, "ns");
}

int tl_cpu_unrecorded(const struct tl_writer *w, uint32_t cpu)
{
	const struct tl_runs *r = &w->runs;
	return w->tl->flags & TL_SOME_CPUS &&
	       ((size_t)cpu + 1 >= r->first.n || r->first.v[cpu] == r->first.v[cpu + 1]);
}

static void dot(struct buf *b)
{
	buf_str(b, b->n ? " \xc2\xb7 " : "");
}

/* The clock's time and the wall-clock time of the window, or of the recording for episodes. */
static void put_when(struct tl_writer *w, struct buf *b)
{
	const struct tl_recording *r = &w->tl->rec;
	const struct tl_panel *p = &w->panels[0];
	if (w->n > 1) {
		buf_fmt(b, "%zu episodes in ", w->n);
	} else if (p->from_ns > r->origin_ns || p->to_ns < r->end_ns) {
		tl_put_ns(b, p->to_ns - p->from_ns);
		buf_str(b, " from +");
		tl_put_ns(b, p->from_ns - r->origin_ns);
		buf_str(b, " of ");
	}
	tl_put_ns(b, r->end_ns - r->origin_ns);
	buf_str(b, w->n > 1 ? " recorded" : "");
	buf_fmt(b, " \xc2\xb7 times count from %llu.%09llu",
		(unsigned long long)(r->origin_ns / 1000000000),
		(unsigned long long)(r->origin_ns % 1000000000));
}

static void subtitle_text(struct tl_writer *w, struct buf *b)
{
	const struct tl_recording *r = &w->tl->rec;
	const char *file = tl_str(w, r->file), *slash = strrchr(file, '/');
	if (w->o->subtitle) {
		buf_str(b, w->o->subtitle);
		return;
	}
	buf_str(b, tl_str(w, r->host));
	if (r->wall_ns) {
		uint64_t at = w->n > 1 ? r->origin_ns : w->panels[0].from_ns;
		dot(b);
		units_wall_clock(b, r->wall_ns + (at - r->origin_ns), r->wall_exact);
	}
	if (*file) {
		dot(b);
		buf_str(b, !strcmp(file, "-") ? "stdin" : slash && slash[1] ? slash + 1 : file);
	}
	dot(b);
	put_when(w, b);
}

static void hidden_text(const struct tl_writer *w, struct buf *b)
{
	for (size_t i = 0; i < w->o->n_hidden; i++) {
		buf_str(b, i ? " \xc2\xb7 " : "");
		buf_str(b, w->o->hidden[i]);
	}
}

/* --- around the panels ---------------------------------------------------------------- */

static double head_line(struct tl_writer *w, const char *attrs, double y, const char *before,
			const char *text)
{
	struct buf line = {0};
	if (text && *text)
		buf_fmt(&line, "%s%s", before, text);
	int n = svg_text_lines(&w->b, attrs, w->o->width / 2, y, LINE_H,
			       (size_t)((w->o->width - 2 * PAD) / 7.1), buf_cstr(&line));
	if (buf_failed(&line))
		w->b.failed = 1;
	buf_release(&line);
	return y + n * LINE_H;
}

/* Title, what is shown, the filters, what is omitted; returns where they end. */
static double put_heading(struct tl_writer *w)
{
	struct buf subtitle = {0}, hidden = {0};
	double y = TITLE_Y;
	y += TITLE_H * svg_text_lines(&w->b,
				      "id=\"title\" text-anchor=\"middle\" font-size=\"17\"",
				      w->o->width / 2, y, TITLE_H,
				      (size_t)((w->o->width - 2 * PAD) / 11.5), w->o->title);
	subtitle_text(w, &subtitle);
	hidden_text(w, &hidden);
	y = head_line(w, "id=\"subtitle\" class=\"dim\" text-anchor=\"middle\"", y, "",
		      buf_cstr(&subtitle));
	y = head_line(w, "id=\"filters\" text-anchor=\"middle\"", y, "only: ", w->o->filters);
	y = head_line(w, "id=\"hidden\" class=\"dim\" text-anchor=\"middle\"", y, "",
		      buf_cstr(&hidden));
	buf_release(&subtitle);
	buf_release(&hidden);
	return y - LINE_H + 8;
}

/* A key of the legend: a shape and its meaning; in a second line when the first is full. */
static void put_key(struct tl_writer *w, const char *shape, const char *text)
{
	double width = 17 + 6.7 * (double)escape_chars(text, strlen(text)) + 14;
	if (!w->key_y && w->key_x + width > w->o->width - PAD) {
		w->key_x = 0;
		w->key_y = LINE_H;
	}
	buf_str(&w->b, "<g transform=\"translate(");
	svg_px(&w->b, PAD + w->key_x);
	buf_fmt(&w->b, " %d)\">%s<text x=\"17\" y=\"10\">%s</text></g>\n", 6 + w->key_y, shape,
		text);
	w->key_x += width;
}

static void put_paint_key(struct tl_writer *w, unsigned paint)
{
	char shape[160], fill[24] = "url(#hatch)", name[32];
	int h = paint < TLP_BLOCKED   ? 12
		: paint < TLP_UNCLEAR ? 9
				      : (int)tl_paint_height(paint);
	if (tl_paint_pattern(paint))
		snprintf(fill, sizeof(fill), "url(#paint%u)", tl_paint_filled_as(paint));
	else if (paint != TLP_UNKNOWN)
		snprintf(fill, sizeof(fill), "#%06x", tl_paint_color(paint));
	snprintf(shape, sizeof(shape),
		 "<rect%s y=\"%d\" width=\"12\" height=\"%d\"%s fill=\"%s\"/>",
		 paint == TLP_RUN ? " class=\"run\"" : "", 12 - h, h, h > 4 ? " rx=\"2\"" : "",
		 fill);
	snprintf(name, sizeof(name), "%s%s", tl_paint_name(paint),
		 tl_paint_is_unclear(paint) ? "?" : "");
	put_key(w, shape, name);
}

/* The legend, above the panels, although its keys are only known after they are written. */
static void put_legend(struct tl_writer *w)
{
	buf_str(&w->b, "<g id=\"legend\" font-size=\"11\" transform=\"translate(0 ");
	svg_px(&w->b, w->top - LEGEND_H);
	buf_str(&w->b, ")\">\n");
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
			"records missing");
	if (w->unrecorded)
		put_key(w, "<rect width=\"12\" height=\"12\" fill=\"url(#hatch)\"/>",
			"not recorded");
	buf_str(&w->b, "</g>\n");
}

static void put_foot(struct tl_writer *w, double y)
{
	struct buf *b = &w->b;
	buf_str(b, "<text id=\"drawn\" class=\"dim\" text-anchor=\"end\"");
	svg_attr_px(b, "x", w->o->width - PAD);
	svg_attr_px(b, "y", y + 17);
	buf_char(b, '>');
	if (w->st->wakeups > w->st->arrows)
		buf_fmt(b, "%llu of %llu wakeups drawn", (unsigned long long)w->st->arrows,
			(unsigned long long)w->st->wakeups);
	buf_str(b, "</text>\n");
}

static void put_conf(struct tl_writer *w)
{
	struct buf *b = &w->b;
	buf_fmt(b, "<d-conf>width %g\npad %d\nnames %d\nfoot %d\naxisH %d\nlostH %d\n",
		w->o->width, PAD, NAMES, FOOT_H, AXIS_H, LOST_H);
	buf_fmt(b, "captionH %d\npanelGap %d\nstillArrows %d\nsomeCpus %d\nfromPage %d\n",
		CAPTION_H, PANEL_GAP, STILL_ARROWS, (w->tl->flags & TL_SOME_CPUS) != 0,
		w->o->page_ns != NULL);
	buf_fmt(b, "groupH %d\nrowH %d\ncpuH %d\nbarY %d\nbarH %d\nblockedH %d\n", GROUP_H,
		ROW_H, CPU_H, BAR_Y, BAR_H, BLOCKED_H);
	buf_fmt(b, "unclearH %d\nidleH %d\nunclear %d\nidle %d\nnoUnclear %d\n", UNCLEAR_H,
		IDLE_H, TLP_UNCLEAR, TLP_IDLE, w->o->no_unclear);
	buf_fmt(b, "tickRoom %d\nlabelChar %g\nlabelH %d\nwide %d\nmaxArrows %zu\n", TICK_ROOM,
		LABEL_CHAR, LABEL_SIZE, TL_WIDE, w->o->max_arrows);
	buf_str(b, "paints");
	for (unsigned i = 0; i < TLP_COUNT; i++)
		buf_fmt(b, " %06x:%s%s:%u", tl_paint_color(i), tl_paint_name(i),
			tl_paint_is_unclear(i) ? "?" : "",
			tl_paint_pattern(i) ? tl_paint_filled_as(i) : 0);
	buf_str(b, "\ncontexts");
	for (unsigned i = 0; i <= WAKER_IDLE; i++)
		buf_fmt(b, " %s", *waker_context_name(i) ? waker_context_name(i) : "-");
	buf_str(b, "\nreasons");
	for (unsigned i = 0; i <= UNKNOWN_NO_WAKE; i++)
		buf_fmt(b, "%s%s", i ? "|" : " ", unknown_reason_name(i));
	buf_str(b, "\nlosses");
	for (unsigned i = 0; i < LOSS_KINDS; i++)
		buf_fmt(b, "%s%s", i ? "|" : " ", loss_kind_name(i));
	buf_str(b, "\ntakers");
	for (unsigned i = 0; i <= GAP_NOT_PLACED; i++)
		buf_fmt(b, "%s%s", i ? "|" : " ", gap_part_kind_name(i));
	buf_fmt(b, "\nclock %llu", (unsigned long long)w->base_ns);
	buf_fmt(b, "\nwallMs %.3f\n</d-conf>\n",
		w->tl->rec.wall_ns ? ((double)w->tl->rec.wall_ns -
				      ((double)w->tl->rec.origin_ns - (double)w->base_ns)) /
					     1e6
				   : 0.0);
}

static int put_script(struct tl_writer *w)
{
	struct tl_data d = {w->tl, &w->runs, w->colors, w->base_ns, w->o->page_ns};
	if (w->o->no_script)
		return 0;
	buf_str(&w->b, "<metadata id=\"timeline-data\">\n");
	put_conf(w);
	int rc = tl_data_write(&d, w->panels, w->n, &w->b, w->out, w->e);
	buf_str(&w->b, "</metadata>\n");
	if (w->o->in_page)
		return rc;
	buf_str(&w->b, "<script type=\"text/javascript\"><![CDATA[\n");
	buf_str(&w->b, timeline_js);
	buf_str(&w->b, "]]></script>\n");
	return rc;
}

/* The description for screen readers. */
static void put_desc(struct tl_writer *w)
{
	struct buf subtitle = {0}, hidden = {0};
	subtitle_text(w, &subtitle);
	hidden_text(w, &hidden);
	buf_str(&w->b, "<desc>");
	svg_desc_line(&w->b, "", buf_cstr(&subtitle));
	svg_desc_line(&w->b, "Only ", w->o->filters);
	svg_desc_line(&w->b, "", buf_cstr(&hidden));
	for (size_t i = 0; i < w->n; i++)
		svg_desc_line(&w->b, "", w->panels[i].caption);
	svg_desc_line(&w->b, "", w->o->notes);
	buf_str(&w->b, "</desc>\n");
	buf_release(&subtitle);
	buf_release(&hidden);
}

/* A pattern for each cause that shares its hue with another. */
static void put_patterns(struct buf *b)
{
	static const char *const lines[] = {"", "M0 6L6 0", "M0 0L6 6", "M3 0v6", "M0 3h6"};
	for (unsigned i = TLP_BLOCKED; i < TLP_UNCLEAR; i++)
		if (tl_paint_pattern(i))
			buf_fmt(b,
				"<pattern id=\"paint%u\" width=\"6\" height=\"6\" "
				"patternUnits=\"userSpaceOnUse\"><rect width=\"6\" "
				"height=\"6\" "
				"fill=\"#%06x\"/><path d=\"%s\" stroke=\"#000\" "
				"stroke-opacity=\"0.4\"/></pattern>\n",
				i, tl_paint_color(i), lines[tl_paint_pattern(i)]);
}

static void put_head(struct tl_writer *w)
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
	buf_str(b, "</title>\n");
	put_desc(w);
	buf_str(b, "<style type=\"text/css\"><![CDATA[\n");
	buf_str(b, timeline_css);
	struct palette_meaning running;
	palette_meaning(0, &running);
	buf_fmt(b,
		"@media (prefers-color-scheme: dark) { path.run { stroke: #%06x; } rect.run { "
		"fill: #%06x; } }\n",
		running.dark, running.dark);
	buf_str(b, "]]></style>\n<defs><linearGradient id=\"bg\" x1=\"0\" y1=\"0\" x2=\"0\" "
		   "y2=\"1\"><stop class=\"bg0\" offset=\"0\" stop-color=\"#fbfbf9\"/><stop "
		   "class=\"bg1\" offset=\"1\" stop-color=\"#eeeeea\"/></linearGradient>\n"
		   "<pattern id=\"hatch\" width=\"5\" height=\"5\" "
		   "patternUnits=\"userSpaceOnUse\" "
		   "patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"5\" "
		   "height=\"5\"/><path class=\"hatch-line\" d=\"M1 0v5\"/></pattern>\n"
		   "<pattern id=\"hatch-lost\" width=\"4\" height=\"4\" "
		   "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\"><path "
		   "class=\"lost-line\" d=\"M1 0v4\"/></pattern>\n");
	put_patterns(b);
	buf_str(b, "</defs>\n"
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
static int survey(struct tl_writer *w)
{
	uint64_t from = UINT64_MAX;
	int cpus = 0, rc = 0;
	double y = w->top;
	w->base_ns = w->tl->rec.origin_ns;
	for (size_t i = 0; i < w->n && !rc; i++) {
		const struct tl_panel *p = &w->panels[i];
		rc = check_panel(w->tl, p, w->e);
		if (rc)
			return rc;
		y = tl_place_panel(w, p, y).end + (i + 1 < w->n ? PANEL_GAP : 0);
		from = p->from_ns < from ? p->from_ns : from;
		w->base_ns = p->zero_ns < w->base_ns ? p->zero_ns : w->base_ns;
		for (size_t k = 0; k < p->nrows; k++)
			cpus |= p->rows[k].kind == TLROW_CPU;
	}
	w->base_ns = from < w->base_ns ? from : w->base_ns;
	w->height = y + FOOT_H + 6;
	if (cpus)
		rc = timeline_runs(w->tl, &w->runs, w->e);
	if (!rc && tl_cpu_colors(w->tl, &w->colors))
		rc = err_nomem(w->e);
	return rc;
}

static int put_all(struct tl_writer *w, const struct buf *heading)
{
	int rc = 0;
	put_head(w);
	buf_add(&w->b, heading->v, heading->n);
	double y = w->top;
	for (size_t i = 0; i < w->n && !rc; i++) {
		rc = tl_put_panel(w, &w->panels[i], y);
		y = tl_place_panel(w, &w->panels[i], y).end + PANEL_GAP;
	}
	if (!w->n || (w->n == 1 && !w->panels[0].nrows))
		svg_text(&w->b, "id=\"empty\" text-anchor=\"middle\"", w->o->width / 2,
			 w->height - FOOT_H, "no running or waiting was recorded here");
	put_legend(w);
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
	struct tl_writer w = {
		.tl = tl, .panels = panels, .n = n, .o = o, .out = out, .e = e, .st = st};
	if (!n)
		return err_set(e, ERR_USAGE, "timeline: nothing to draw");
	w.top = put_heading(&w) + LEGEND_H;
	struct buf heading = w.b; /* the picture's first line depends on its height */
	w.b = (struct buf){.failed = buf_failed(&heading)};
	int rc = survey(&w);
	rc = rc ? rc : put_all(&w, &heading);
	buf_release(&heading);
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
	*high = (struct tl_highlight){ep->start_ns, ep->end_ns, (uint32_t)ep->marked};
	out->rows = rows;
	out->highlights = high;
	out->nhighlights = ep->marked < out->nrows;
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
