#include "render/flame/flame_svg.h"
#include "libtime/tables/compare.h"
#include "render/flame/flame_runs.h"
#include "base/check.h"
#include "base/mem.h"
#include "libsym/name/simplify.h"
#include "render/text/escape.h"
#include "render/flame/flame_data.h"
#include "render/flame/flame_layout.h"
#include "render/svg/svg_text.h"
#include "render/text/units.h"
#include "render/text/weight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The style sheet and the script, made from flame.css and flame_*.js by the Makefile. */
extern const char flame_css[], flame_js[];

#define BOLD 1.15 /* width of Verdana's bold characters relative to others */

enum {
	PAD = 10, /* left and right of the graph */
	TITLE_Y = 28,
	TITLE_H = 22,
	LINE_H = 17,   /* lines below the title */
	LEGEND_H = 24, /* the row of colours above the graph */
	SLIVER = 2,    /* narrower boxes of one colour share a <path>, without tooltips */
	AXIS_H = 18,   /* a chart's times, above the graph */
	TICK_ROOM = 100,
	FOOT_H = 26, /* the line below the graph */
	MAX_KEYS = 12,
	LARGEST = 5,         /* functions in the <desc> */
	THIN_RGB = 0xb9b7b1, /* what runtime and kernel fold to; flame_draw.js has it, too */
};

#define KEY_CHAR 6.6 /* width of a character of the legend, px */

struct writer {
	const struct flame *f;
	const struct flame_svg_options *o;
	struct flame_layout l;
	struct buf b;
	FILE *out;
	struct err *e;
	double top, graph_h, height; /* px */
	double max_delta;            /* ticks */
	uint64_t before, after;      /* diff: totals, ticks; before unscaled */
	uint32_t kinds;              /* bit per frame kind in the graph */
	uint32_t *cause; /* PALETTE_CAUSE, _LABEL: by node, the FLAME_WAIT frame that most ends
			    in; 0 */
};

void flame_svg_defaults(struct flame_svg_options *o)
{
	*o = (struct flame_svg_options){
		.countname = "samples",
		.nametype = "Function:",
		.font = "Verdana",
		.width = 1200,
		.frame_height = 16,
		.minwidth = 0.1,
		.font_size = 12,
		.font_width = 0.59,
		.factor = 1,
		.before_scale = 1,
		.before_name = "before",
		.after_name = "after",
		.max_nodes = 1000000,
	};
}

/* --- texts --------------------------------------------------------------------------- */

static void put_percent(struct buf *b, double part, double whole)
{
	double p = whole > 0 ? 100 * part / whole : 0;
	if (p >= 99.995 && part >= whole)
		buf_str(b, "100%");
	else
		buf_fmt(b, "%.2f%%", p);
}

/* The unit is untrusted text, too. */
static void weight_of(struct writer *w, struct buf *b, double ticks)
{
	struct buf plain = {0};
	weight_text(&plain, ticks, (double)w->f->scale, w->o->factor, w->o->countname);
	escape_xml(b, plain.v, plain.n);
	if (buf_failed(&plain))
		b->failed = buf_failed(&plain);
	buf_release(&plain);
}

/* --- what the model says about a node ------------------------------------------------ */

/* 1 when the node is in the "before" profile only: below the FLAME_GONE mark. */
static int is_gone(const struct flame *f, uint32_t node)
{
	while (node && f->nodes.v[node].parent)
		node = f->nodes.v[node].parent;
	return node && flame_node_frame(f, node)->kind == FLAME_GONE;
}

static double delta_of(const struct writer *w, uint32_t node)
{
	const struct flame_node *n = &w->f->nodes.v[node];
	double after = !node ? (double)w->after : is_gone(w->f, node) ? 0 : (double)n->v[0];
	return after - (double)n->v[1] * w->o->before_scale;
}

/* Instructions per cycle; 0: not known. */
static double ipc_of(const struct flame_node *n)
{
	return n->v[0] ? (double)n->v[1] / (double)n->v[0] : 0;
}

static uint32_t color_of(const struct writer *w, uint32_t node)
{
	const struct flame_node *n = &w->f->nodes.v[node];
	const struct flame_frame *fr = flame_node_frame(w->f, node);
	if (w->o->mode == FLAME_DIFF) {
		double share = w->max_delta > 0 ? delta_of(w, node) / w->max_delta : 0;
		if (w->f->runs && !w->f->runs->changed[node])
			share = 0;
		return palette_delta(w->o->negate ? -share : share);
	}
	uint32_t own = palette_color(&w->o->palette, w->f, n->frame);
	if (w->o->mode == FLAME_IPC)
		return fr->kind == FLAME_MARK ? own : palette_ipc(ipc_of(n));
	if (w->cause && w->cause[node] && fr->kind != FLAME_WAIT && fr->kind != FLAME_MARK) {
		uint32_t why = palette_color(&w->o->palette, w->f, w->cause[node]);
		return palette_below_cause(why, own);
	}
	if (w->o->mode == FLAME_WALL && fr->kind != FLAME_WAIT && fr->kind != FLAME_MARK)
		return palette_heat(own, n->v[0] ? (double)n->v[1] / (double)n->v[0] : 0);
	return own;
}

/* What changed in the node itself, without what it calls. */
static double own_delta(const struct writer *w, uint32_t node)
{
	double after = is_gone(w->f, node) ? 0 : (double)flame_self(w->f, node, 0);
	return after - (double)flame_self(w->f, node, 1) * w->o->before_scale;
}

/*
 * Compute the totals of both profiles, the kinds of frames, and the change that gets the full
 * colour: the largest of any function itself, because with the root's all others would be pale;
 * at least a hundredth of the total, so that noise stays pale.
 */
static void survey(struct writer *w)
{
	const struct flame *f = w->f;
	w->after = f->nodes.v[0].v[0];
	w->before = f->nodes.v[0].v[1];
	for (uint32_t i = f->child_at[0]; i < f->child_at[1]; i++)
		if (flame_node_frame(f, f->child[i])->kind == FLAME_GONE)
			w->after -= f->nodes.v[f->child[i]].v[0];
	for (size_t i = 0; i < w->l.boxes.n; i++) {
		uint32_t node = w->l.boxes.v[i].node;
		w->kinds |= 1u << flame_node_frame(f, node)->kind;
		if (w->o->mode == FLAME_DIFF && node && fabs(own_delta(w, node)) > w->max_delta)
			w->max_delta = fabs(own_delta(w, node));
	}
	w->max_delta = fmax(w->max_delta, (double)w->after / 100);
}

/* Add weight that ends in waits called `frame`, and keep the frame if it has the most. */
static void count_cause(struct writer *w, uint32_t frame, uint64_t *sum, uint64_t *most)
{
	const struct flame *f = w->f;
	memset(sum, 0, f->nodes.n * sizeof(*sum));
	for (size_t i = f->nodes.n; i-- > 1;) {
		const struct flame_node *n = &f->nodes.v[i];
		sum[i] = n->frame == frame ? n->v[0] : sum[i];
		sum[n->parent] += sum[i];
	}
	for (size_t i = 0; i < f->nodes.n; i++)
		if (sum[i] > most[i]) {
			most[i] = sum[i];
			w->cause[i] = frame;
		}
}

/* The cause of each node: that of at least half of its weight, or its caller's at the start of
 * stacks.
 */
static int find_causes(struct writer *w)
{
	const struct flame *f = w->f;
	uint64_t *sum = mem_zalloc(f->nodes.n, sizeof(*sum));
	uint64_t *most = mem_zalloc(f->nodes.n, sizeof(*most));
	w->cause = mem_zalloc(f->nodes.n, sizeof(*w->cause));
	int rc = sum && most && w->cause ? 0 : err_nomem(w->e);
	for (uint32_t i = 1; i < f->frames.n && !rc; i++)
		if (f->frames.v[i].kind == FLAME_WAIT)
			count_cause(w, i, sum, most);
	for (size_t i = 0; i < f->nodes.n && !rc; i++) {
		const struct flame_node *n = &f->nodes.v[i];
		if (!w->cause[i])
			w->cause[i] = n->parent ? w->cause[n->parent] : 0;
		else if (most[i] < n->v[0] - n->v[0] / 2)
			w->cause[i] = 0;
	}
	mem_free(sum);
	mem_free(most);
	return rc;
}

/* --- frames -------------------------------------------------------------------------- */

/* The weight in each run. */
static void put_runs(struct writer *w, uint32_t node)
{
	const struct flame_runs *r = w->f->runs;
	int side = -1;
	if (r)
		buf_str(&w->b, r->changed[node] ? "; changed" : "; chance may explain it");
	for (size_t k = 0; r && k < r->v.n; k++) {
		buf_str(&w->b, r->v.v[k].side == side ? ", "
			       : side < 0             ? "; runs before: "
						      : "; after: ");
		side = r->v.v[k].side;
		weight_of(w, &w->b,
			  (double)r->total[node * r->v.n + k] *
				  (double)flame_runs_of(r, AFTER));
	}
}

/* "1,234 samples, 12.34%", and for a diff the change. */
static void put_weights(struct writer *w, uint32_t node)
{
	struct buf *b = &w->b;
	const struct flame_node *n = &w->f->nodes.v[node];
	double total = (double)(w->l.total ? w->l.total : 1);
	if (w->o->mode == FLAME_DIFF) {
		double before = (double)n->v[1] * w->o->before_scale;
		weight_of(w, b, delta_of(w, node) + before);
		buf_str(b, ", ");
		put_percent(b, delta_of(w, node) + before, (double)w->after);
		buf_fmt(b, "; %+.2f points; before ",
			100 * delta_of(w, node) / (w->after ? (double)w->after : total));
		weight_of(w, b, before);
		if (w->o->before_scale != 1 && n->v[1] && !w->f->runs) {
			buf_str(b, ", scaled from ");
			weight_of(w, b, (double)n->v[1]);
		}
		put_runs(w, node);
		return;
	}
	double weight = node ? (double)n->v[0] : (double)w->l.total;
	weight_of(w, b, weight);
	buf_str(b, ", ");
	put_percent(b, weight, total);
	if (w->o->mode == FLAME_IPC && n->v[1]) {
		buf_fmt(b, "; %.2f instructions per cycle, ", ipc_of(n));
		units_count(b, n->v[1]);
		buf_str(b, " instructions");
	}
	if (w->o->mode == FLAME_WALL && n->v[0]) {
		buf_str(b, "; waiting ");
		put_percent(b, (double)n->v[1], (double)n->v[0]);
	}
}

static void put_tooltip(struct writer *w, uint32_t node)
{
	struct buf *b = &w->b;
	const struct flame_frame *fr = flame_node_frame(w->f, node);
	size_t n;
	const char *name = flame_name(w->f, fr, &n);
	escape_xml(b, name, flame_label_len(name, n));
	buf_str(b, " (");
	put_weights(w, node);
	buf_char(b, ')');
	if (fr->dso) {
		buf_str(b, "&#10;");
		escape_xml(b, strtab_get(&w->f->strings, fr->dso),
			   strtab_len(&w->f->strings, fr->dso));
	}
	if (fr->src) {
		buf_str(b, "&#10;");
		escape_xml(b, strtab_get(&w->f->strings, fr->src),
			   strtab_len(&w->f->strings, fr->src));
		if (fr->line)
			buf_fmt(b, ":%u", fr->line);
		if (fr->line_to)
			buf_fmt(b, "\xe2\x80\x93%u", fr->line_to);
	}
}

/* The name in `room` characters; nothing below three. */
static void put_label(struct buf *b, const struct flame *f, const struct flame_frame *fr,
		      double room)
{
	size_t n;
	const char *name = flame_name(f, fr, &n);
	struct buf text = {0}, fit = {0};
	if (room < 3)
		return;
	escape_visible(&text, name, flame_label_len(name, n));
	/* an ellipsis is wider than other characters */
	size_t least = (double)escape_chars(buf_cstr(&text), text.n) > room;
	name_fit(&fit, buf_cstr(&text), text.n, (size_t)room - least);
	escape_xml(b, buf_cstr(&fit), fit.n);
	if (buf_failed(&text) || buf_failed(&fit))
		b->failed = ERR_NOMEM;
	buf_release(&text);
	buf_release(&fit);
}

/* Height of a box, with the gap above it. */
static double box_h(const struct writer *w, const struct flame_box *box)
{
	return w->o->frame_height * (box->thin ? FLAME_THIN : FLAME_ROW) / FLAME_ROW;
}

static double box_y(const struct writer *w, const struct flame_box *box)
{
	double y = box->depth * w->o->frame_height / FLAME_ROW;
	return w->o->inverted ? w->top + y : w->top + w->graph_h - y - box_h(w, box);
}

static void put_box(struct writer *w, const struct flame_box *box, uint32_t rgb)
{
	struct buf *b = &w->b;
	const struct flame_svg_options *o = w->o;
	double x = PAD + box->x, y = box_y(w, box);
	buf_str(b, "<g><title>");
	put_tooltip(w, box->node);
	buf_str(b,
		box->thin ? "&#10;with the frames of the runtime and the kernel above it" : "");
	buf_str(b, "</title><rect");
	svg_attr_px(b, "x", x);
	svg_attr_px(b, "y", y);
	svg_attr_px(b, "width", box->w);
	svg_attr_px(b, "height", box_h(w, box) - 1);
	buf_fmt(b, " fill=\"#%06x\"%s/>", box->thin ? THIN_RGB : rgb,
		box->w >= 4 && !box->thin ? " rx=\"2\"" : "");
	double room = box->thin ? 0 : floor((box->w - 4) / (o->font_size * o->font_width));
	if (room >= 3) {
		buf_str(b, "<text");
		svg_attr_px(b, "x", x + 3);
		svg_attr_px(b, "y", y + o->frame_height / 2 + o->font_size * 0.3);
		buf_char(b, '>');
		put_label(b, w->f, flame_node_frame(w->f, box->node), room);
		buf_str(b, "</text>");
	}
	buf_str(b, "</g>\n");
}

/* A narrow box and its colour; boxes of one colour are drawn together. */
struct sliver {
	uint32_t rgb, box;
};

static int by_color(const void *pa, const void *pb)
{
	const struct sliver *a = pa, *b = pb;
	if (a->rgb != b->rgb)
		return a->rgb < b->rgb ? -1 : 1;
	return a->box < b->box ? -1 : a->box > b->box;
}

/* One path of thick horizontal strokes per colour. */
static int put_slivers(struct writer *w, struct sliver *v, size_t n)
{
	struct buf *b = &w->b;
	double h = w->o->frame_height - 1;
	int rc = 0;
	if (n)
		qsort(v, n, sizeof(*v), by_color);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct flame_box *box = &w->l.boxes.v[v[i].box];
		if (!i || v[i].rgb != v[i - 1].rgb)
			buf_fmt(b, "%s<path stroke-width=\"%g\" stroke=\"#%06x\" d=\"",
				i ? "\"/>\n" : "", h, v[i].rgb);
		buf_char(b, 'M');
		svg_px(b, PAD + box->x);
		buf_char(b, ' ');
		svg_px(b, box_y(w, box) + h / 2);
		buf_char(b, 'h');
		svg_px(b, box->w);
		if (b->n > 1 << 16)
			rc = flame_flush(b, w->out, w->e);
	}
	buf_str(b, n ? "\"/>\n" : "");
	return rc;
}

static int put_boxes(struct writer *w)
{
	VEC(struct sliver) slivers = {0};
	int rc = 0;
	buf_fmt(&w->b, "<g id=\"frames\" font-size=\"%g\">\n", w->o->font_size);
	for (uint32_t i = 0; i < w->l.boxes.n && !rc; i++) {
		const struct flame_box *box = &w->l.boxes.v[i];
		struct sliver s = {color_of(w, box->node), i};
		if (box->thin && box->w < SLIVER)
			continue;
		if (box->w >= SLIVER)
			put_box(w, box, s.rgb);
		else if (vec_push(&slivers, s))
			rc = err_nomem(w->e);
		if (w->b.n > 1 << 16)
			rc = flame_flush(&w->b, w->out, w->e);
	}
	rc = rc ? rc : put_slivers(w, slivers.v, slivers.n);
	buf_str(&w->b, "</g>\n");
	vec_release(&slivers);
	return rc;
}

/* --- around the frames --------------------------------------------------------------- */

static const char *title_of(const struct writer *w)
{
	if (w->o->title)
		return w->o->title;
	return w->o->mode == FLAME_DIFF ? "Differential Flame Graph"
	       : w->f->in_order         ? "Flame Chart"
	       : w->o->inverted         ? "Icicle Graph"
					: "Flame Graph";
}

/* The omissions of the picture, in one line. */
static void hidden_text(const struct writer *w, struct buf *line)
{
	for (size_t i = 0; i < w->o->n_hidden; i++) {
		buf_str(line, i ? " \xc2\xb7 " : "");
		buf_str(line, w->o->hidden[i]);
	}
	if (w->f->deep) {
		buf_str(line, line->n ? " \xc2\xb7 " : "");
		units_plural(line, w->f->deep, "stack", "stacks");
		buf_fmt(line, " truncated at %d frames", FLAME_MAX_DEPTH);
	}
}

static int put_head_line(struct writer *w, const char *attrs, double *y, const char *text)
{
	size_t room = (size_t)((w->o->width - 2 * PAD) / (12 * w->o->font_width));
	int n = svg_text_lines(&w->b, attrs, w->o->width / 2, *y, LINE_H, room, text);
	*y += n * LINE_H;
	return n;
}

/* Title, what is shown, the filters, what is hidden; the graph begins below. */
static void put_heading(struct writer *w)
{
	struct buf hidden = {0}, filters = {0};
	double y = TITLE_Y;
	size_t room = (size_t)((w->o->width - 2 * PAD) / (17 * BOLD * w->o->font_width));
	y += TITLE_H * svg_text_lines(&w->b,
				      "id=\"title\" text-anchor=\"middle\" font-size=\"17\"",
				      w->o->width / 2, y, TITLE_H, room, title_of(w));
	put_head_line(w, "id=\"subtitle\" class=\"dim\" text-anchor=\"middle\"", &y,
		      w->o->subtitle);
	if (w->o->filters && *w->o->filters)
		buf_fmt(&filters, "only: %s", w->o->filters);
	put_head_line(w, "id=\"filters\" text-anchor=\"middle\"", &y, buf_cstr(&filters));
	hidden_text(w, &hidden);
	put_head_line(w, "id=\"hidden\" class=\"dim\" text-anchor=\"middle\"", &y,
		      buf_cstr(&hidden));
	if (buf_failed(&hidden) || buf_failed(&filters))
		w->b.failed = 1;
	buf_release(&hidden);
	buf_release(&filters);
	w->top = y - LINE_H + 10;
}

static size_t legend_keys(struct writer *w, struct palette_key *k, size_t max)
{
	if (w->o->mode == FLAME_DIFF) {
		int n = w->o->negate;
		k[0] = (struct palette_key){palette_delta(n ? -1 : 1), "grew"};
		k[1] = (struct palette_key){palette_delta(n ? -0.2 : 0.2), "grew a little"};
		k[2] = (struct palette_key){palette_delta(0), "same"};
		k[3] = (struct palette_key){palette_delta(n ? 0.2 : -0.2), "shrank a little"};
		k[4] = (struct palette_key){palette_delta(n ? 1 : -1), "shrank"};
		return 5;
	}
	if (w->o->mode == FLAME_WALL) {
		k[0] = (struct palette_key){palette_heat(0xf5934e, 0), "running"};
		k[1] = (struct palette_key){palette_heat(0xf5934e, 0.5), "half and half"};
		k[2] = (struct palette_key){palette_heat(0xf5934e, 1), "waiting"};
		return 3;
	}
	return palette_legend(w->o->palette.id, w->kinds, k, max);
}

/* The width of a key of the legend: swatch, text, gap. */
static double key_width(const char *s, size_t n)
{
	return 17 + KEY_CHAR * (double)escape_chars(s, n) + 16;
}

/* One swatch with its text; returns where the next one starts. */
static double put_key(struct writer *w, double x, uint32_t rgb, const char *s, size_t n)
{
	struct buf *b = &w->b;
	buf_str(b, "<g transform=\"translate(");
	svg_px(b, x);
	buf_fmt(b,
		" 6)\"><rect width=\"12\" height=\"12\" rx=\"2\" fill=\"#%06x\"/>"
		"<text x=\"17\" y=\"10\">",
		rgb);
	escape_xml(b, s, n);
	buf_str(b, "</text></g>\n");
	return x + key_width(s, n);
}

/* The heaviest names of first-come frames of `kind` (causes) or files (DSO palette). */
struct tally {
	uint32_t str, rgb;
	uint64_t weight;
};

/* Add `weight` to the entry of `str`, kept in a small sorted-at-the-end table. */
static int tally_add(struct tally **v, size_t *n, struct u64map *at, uint32_t str, uint32_t rgb,
		     uint64_t weight)
{
	uint32_t i;
	if (!u64map_get(at, str, &i)) {
		struct tally *p = mem_resize(*v, *n + 1, sizeof(*p));
		if (!p || u64map_put(at, str, (uint32_t)*n)) {
			*v = p ? p : *v;
			return ERR_NOMEM;
		}
		*v = p;
		i = (uint32_t)(*n)++;
		p[i] = (struct tally){str, rgb, 0};
	}
	(*v)[i].weight += weight;
	return 0;
}

static int is_heavier(const struct flame *f, const struct tally *a, const struct tally *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return strcmp(strtab_get(&f->strings, a->str), strtab_get(&f->strings, b->str)) < 0;
}

/* Move the k heaviest to the front; equal ones by name. */
static void tally_top(const struct flame *f, struct tally *v, size_t n, size_t k)
{
	for (size_t i = 0; i < n && i < k; i++) {
		size_t best = i;
		for (size_t j = i + 1; j < n; j++)
			if (is_heavier(f, &v[j], &v[best]))
				best = j;
		struct tally t = v[best];
		memmove(v + i + 1, v + i, (best - i) * sizeof(*v));
		v[i] = t;
	}
}

/* Swatches for the causes of waits, or files: the heaviest, if there is room. */
static int put_own_keys(struct writer *w, double x, double room)
{
	const struct flame *f = w->f;
	struct tally *v = NULL;
	struct u64map at = {0};
	size_t n = 0;
	struct buf text = {0};
	int rc = 0, dso = w->o->palette.id == PALETTE_DSO && w->o->mode == FLAME_PLAIN;
	for (uint32_t node = 1; !rc && node < f->nodes.n; node++) {
		const struct flame_frame *fr = flame_node_frame(f, node);
		if (dso && fr->dso)
			rc = tally_add(&v, &n, &at, fr->dso, color_of(w, node),
				       flame_self(f, node, 0));
		else if (fr->kind == FLAME_WAIT && w->o->mode != FLAME_DIFF)
			rc = tally_add(&v, &n, &at, fr->name, color_of(w, node),
				       f->nodes.v[node].v[0]);
	}
	tally_top(f, v, n, MAX_KEYS);
	for (size_t i = 0; i < n && i < MAX_KEYS; i++) {
		const char *s = strtab_get(&f->strings, v[i].str), *slash = strrchr(s, '/');
		s = dso && slash && slash[1] ? slash + 1 : s;
		buf_clear(&text);
		buf_str(&text, s);
		if (w->o->palette.id == PALETTE_CAUSE) {
			buf_char(&text, ' ');
			weight_text(&text, (double)v[i].weight, (double)f->scale, w->o->factor,
				    w->o->countname);
		}
		if (buf_failed(&text) || x + key_width(buf_cstr(&text), text.n) > room)
			break;
		x = put_key(w, x, v[i].rgb, buf_cstr(&text), text.n);
	}
	buf_release(&text);
	mem_free(v);
	u64map_release(&at);
	return rc ? err_nomem(w->e) : 0;
}

static double pruned_share(const struct writer *w)
{
	return w->l.total ? (double)w->l.pruned_weight / (double)w->l.total : 0;
}

/* How much is drawn, and how much is too narrow for it. */
static void put_drawn(struct writer *w, struct buf *b)
{
	uint64_t total = w->f->span                 ? w->f->nodes.v[0].v[0]
			 : w->o->mode == FLAME_DIFF ? w->after
						    : w->l.total;
	weight_of(w, b, (double)total);
	if (w->o->mode == FLAME_DIFF) {
		buf_str(b, ", before ");
		weight_of(w, b, (double)w->before);
	}
	if (w->l.pruned_nodes)
		buf_fmt(b, " \xc2\xb7 %.*f%% in frames too narrow to draw",
			pruned_share(w) < 0.00095 ? 3 : 1, 100 * pruned_share(w));
}

/* What the colours mean, in a row above the graph; w->top moves below it. */
static int put_legend(struct writer *w)
{
	struct palette_key keys[MAX_KEYS];
	size_t n = legend_keys(w, keys, MAX_KEYS);
	double x = PAD;
	buf_str(&w->b, "<g id=\"legend\" transform=\"translate(0 ");
	svg_px(&w->b, w->top - 8);
	buf_str(&w->b, ")\">");
	size_t before = w->b.n;
	for (size_t i = 0; i < n; i++)
		x = put_key(w, x, keys[i].rgb, keys[i].text, strlen(keys[i].text));
	int rc = put_own_keys(w, x, w->o->width - PAD);
	w->top += w->b.n > before ? LEGEND_H : 0;
	buf_str(&w->b, "</g>\n");
	return rc;
}

/* 1, 2 or 5 times a power of ten, for ticks at least TICK_ROOM px apart. */
static uint64_t axis_step(const struct writer *w)
{
	double least = (double)w->f->span * TICK_ROOM / (w->o->width - 2 * PAD);
	uint64_t step = 1;
	for (int k = 0; (double)step < least && step < UINT64_MAX / 10; k++)
		step = k % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

/* Time since the chart's start, in a row above the lanes. */
static void put_axis(struct writer *w)
{
	uint64_t step = axis_step(w);
	buf_str(&w->b, "<g id=\"axis\" class=\"dim\" font-size=\"11\">");
	for (uint64_t t = 0; t <= w->f->span; t += step) {
		struct buf text = {0};
		double x = (double)t / (double)w->f->span * (w->o->width - 2 * PAD);
		units_duration(&text, t);
		if (x < w->o->width - 2 * PAD - TICK_ROOM / 2)
			svg_text(&w->b, "class=\"dim\"", PAD + x, w->top - 5, buf_cstr(&text));
		buf_release(&text);
	}
	buf_str(&w->b, "</g>\n");
}

static void put_foot(struct writer *w)
{
	struct buf *b = &w->b;
	buf_str(b, "<text id=\"drawn\" class=\"dim\" text-anchor=\"end\"");
	svg_attr_px(b, "x", w->o->width - PAD);
	svg_attr_px(b, "y", w->top + w->graph_h + 17);
	buf_char(b, '>');
	put_drawn(w, b);
	buf_str(b, "</text>\n");
}

static void put_conf_str(struct buf *b, const char *key, const char *value)
{
	buf_fmt(b, "%s ", key);
	escape_xml_str(b, value ? value : "");
	buf_char(b, '\n');
}

/* The script's settings, one "key value" per line. */
static void put_conf(struct writer *w)
{
	struct buf *b = &w->b;
	const struct flame_svg_options *o = w->o;
	static const char *const modes[] = {"plain", "diff", "ipc", "wall"};
	ENTRIES(modes, FLAME_WALL + 1);
	buf_fmt(b,
		"<d-conf>width %g\nframeHeight %g\nminWidth %.9g\nfontSize %g\nfontWidth %g\n",
		o->width, o->frame_height,
		o->minwidth_percent ? o->minwidth * (o->width - 2 * PAD) / 100 : o->minwidth,
		o->font_size, o->font_width);
	buf_fmt(b, "pad %d\nfoot %d\naxisH %d\nspan %llu\n", PAD, FOOT_H, AXIS_H,
		(unsigned long long)w->f->span);
	buf_fmt(b, "mode %s\ninverted %d\nnegate %d\nsorted %d\nreversed %d\n", modes[o->mode],
		o->inverted != 0, o->negate != 0, !w->f->in_order, w->f->reverse != 0);
	buf_fmt(b, "two %d\nscale %llu\nfactor %.17g\nbeforeScale %.17g\nmaxDelta %.17g\n",
		w->f->nodes.v[0].v[1] > 0, (unsigned long long)w->f->scale, o->factor,
		o->before_scale, w->max_delta);
	buf_fmt(b, "total %llu\nbefore %llu\nafter %llu\nunitNs %g\n",
		(unsigned long long)w->l.total, (unsigned long long)w->before,
		(unsigned long long)w->after, weight_unit_ns(o->countname));
	if (w->f->runs)
		buf_fmt(b, "runsBefore %zu\nrunsAfter %zu\npairs %ld\nleast %.17g\n",
			flame_runs_of(w->f->runs, BEFORE), flame_runs_of(w->f->runs, AFTER),
			w->f->runs->pairs, w->f->runs->least);
	put_conf_str(b, "palette", palette_name(o->palette.id));
	put_conf_str(b, "countname", o->countname);
	put_conf_str(b, "nametype", o->nametype);
	put_conf_str(b, "beforeName", o->before_name);
	put_conf_str(b, "afterName", o->after_name);
	buf_str(b, "</d-conf>\n");
}

static int put_script(struct writer *w, struct flame_svg_stats *st)
{
	struct flame_data_stats data = {0};
	if (w->o->no_script)
		return 0;
	buf_str(&w->b, "<metadata id=\"flame-data\">\n");
	put_conf(w);
	int rc = flame_data_write(w->f, &w->o->palette, w->o->max_nodes, &w->b, w->out, &data,
				  w->e);
	buf_str(&w->b, "</metadata>\n<script type=\"text/javascript\"><![CDATA[\n");
	buf_str(&w->b, flame_js);
	buf_str(&w->b, "]]></script>\n");
	st->nodes_carried = data.nodes;
	st->nodes_left = data.left;
	return rc;
}

/* --- the <desc> ---------------------------------------------------------------------- */

/* The functions that most weight ends in, by name. */
static int put_largest(struct writer *w)
{
	const struct flame *f = w->f;
	struct tally *v = NULL;
	struct u64map at = {0};
	size_t n = 0;
	int rc = 0;
	for (uint32_t i = 1; i < f->nodes.n && !rc; i++)
		if (flame_self(f, i, 0))
			rc = tally_add(&v, &n, &at, flame_node_frame(f, i)->name, 0,
				       flame_self(f, i, 0));
	tally_top(f, v, n, LARGEST);
	for (size_t i = 0; i < n && i < LARGEST; i++) {
		const char *name = strtab_get(&f->strings, v[i].str);
		buf_str(&w->b, i ? ", " : "Most of it in ");
		escape_xml(&w->b, name, flame_label_len(name, strlen(name)));
		buf_char(&w->b, ' ');
		put_percent(&w->b, (double)v[i].weight, (double)w->l.total);
	}
	buf_str(&w->b, n ? ". " : "");
	mem_free(v);
	u64map_release(&at);
	return rc ? err_nomem(w->e) : 0;
}

/* The description for screen readers: what the picture shows, how much, and the largest
 * functions. */
static int put_desc(struct writer *w)
{
	struct buf hidden = {0};
	buf_str(&w->b, "<desc>");
	svg_desc_line(&w->b, "", w->o->subtitle);
	svg_desc_line(&w->b, "Only ", w->o->filters);
	hidden_text(w, &hidden);
	svg_desc_line(&w->b, "", buf_cstr(&hidden));
	buf_release(&hidden);
	buf_str(&w->b, "Total ");
	put_drawn(w, &w->b);
	buf_str(&w->b, ". ");
	int rc = put_largest(w);
	svg_desc_line(&w->b, "", w->o->notes);
	buf_str(&w->b, "</desc>\n");
	return rc;
}

static int put_head(struct writer *w)
{
	struct buf *b = &w->b;
	const struct flame_svg_options *o = w->o;
	uint32_t bg[2];
	const char *name = o->background || o->mode == FLAME_PLAIN ? o->background : "grey";
	int rc = palette_background(name, o->palette.id, bg, w->e);
	if (rc)
		return rc;
	buf_str(b, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" class=\"flame\"");
	svg_attr_px(b, "width", o->width);
	svg_attr_px(b, "height", w->height);
	buf_str(b, " viewBox=\"0 0 ");
	svg_px(b, o->width);
	buf_char(b, ' ');
	svg_px(b, w->height);
	buf_str(b, "\" font-family=\"");
	escape_xml_str(b, o->font);
	buf_str(b, ", DejaVu Sans, sans-serif\" font-size=\"12\">\n<title>");
	escape_xml_str(b, title_of(w));
	buf_str(b, "</title>\n");
	rc = put_desc(w);
	buf_str(b, "<style type=\"text/css\"><![CDATA[\n");
	buf_fmt(b, "svg.flame:root { background: #%06x; }\n", bg[1]);
	buf_str(b, flame_css);
	buf_str(b, "]]></style>\n");
	buf_fmt(b,
		"<defs><linearGradient id=\"bg\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">"
		"<stop class=\"bg0\" offset=\"0\" stop-color=\"#%06x\"/>"
		"<stop class=\"bg1\" offset=\"1\" "
		"stop-color=\"#%06x\"/></linearGradient></defs>\n"
		"<rect id=\"background\" width=\"100%%\" height=\"100%%\" "
		"fill=\"url(#bg)\"/>\n",
		bg[0], bg[1]);
	return rc;
}

/* Write what is above the graph into a buffer: its height gives the picture's, which the first
 * line of the file needs. */
static int put_above(struct writer *w, struct buf *above)
{
	put_heading(w);
	int rc = put_legend(w);
	if (w->f->span) {
		w->top += AXIS_H;
		put_axis(w);
	}
	*above = w->b;
	w->b = (struct buf){0};
	w->graph_h = w->l.depth * w->o->frame_height / FLAME_ROW;
	w->height = w->top + w->graph_h + FOOT_H;
	return rc;
}

static int put_all(struct writer *w, struct flame_svg_stats *st)
{
	struct buf above = {0};
	int rc = put_above(w, &above);
	rc = rc ? rc : put_head(w);
	buf_add(&w->b, above.v, above.n);
	w->b.failed = w->b.failed ? w->b.failed : buf_failed(&above);
	buf_release(&above);
	if (rc)
		return rc;
	if (!w->f->nodes.v[0].v[0])
		svg_text(&w->b, "id=\"empty\" text-anchor=\"middle\"", w->o->width / 2,
			 w->top + w->o->frame_height / 2 + 4, "no stack has any weight");
	else
		rc = put_boxes(w);
	put_foot(w);
	if (!rc && w->f->nodes.v[0].v[0])
		rc = put_script(w, st);
	buf_str(&w->b, "</svg>\n");
	return rc ? rc : flame_flush(&w->b, w->out, w->e);
}

int flame_svg_write(const struct flame *f, const struct flame_svg_options *o, FILE *out,
		    struct flame_svg_stats *st, struct err *e)
{
	struct flame_svg_stats own;
	st = st ? st : &own;
	*st = (struct flame_svg_stats){0};
	struct writer w = {.f = f, .o = o, .out = out, .e = e};
	double room = o->width - 2 * PAD;
	double min = o->minwidth_percent ? o->minwidth * room / 100 : o->minwidth;
	int rc = flame_layout(&w.l, f, room, min, o->total, e);
	if (!rc) {
		survey(&w);
		if ((o->palette.id == PALETTE_CAUSE || o->palette.id == PALETTE_LABEL) &&
		    o->mode == FLAME_PLAIN)
			rc = find_causes(&w);
	}
	if (!rc) {
		rc = put_all(&w, st);
	}
	st->frames_drawn = w.l.boxes.n;
	st->pruned_nodes = w.l.pruned_nodes;
	st->pruned_share = pruned_share(&w);
	flame_layout_release(&w.l);
	mem_free(w.cause);
	buf_release(&w.b);
	return rc;
}
