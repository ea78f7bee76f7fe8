#include "render/flame/flame_data.h"
#include "render/flame/flame_runs.h"
#include "base/mem.h"
#include "render/text/escape.h"
#include "render/svg/svg_text.h"

#include <string.h>

enum {
	NONE = 0, /* in the number tables: not numbered yet; else number + 1 */
	FLUSH_AT = 1 << 16,
	FINENESS = 3, /* bits of mantissa in the weight classes */
	CLASSES = 64 << FINENESS,
};

#define NO_NODE UINT32_MAX

/* The mark comes last in the frame table. */
#define SMALLER_TEXT "[smaller frames]"

/* A node whose children are being written. */
struct level {
	uint32_t next, end;
	uint64_t small[2]; /* of children omitted */
};

struct writer {
	const struct flame *f;
	const struct palette *p;
	struct buf *b;
	FILE *out;
	struct err *e;
	struct flame_data_stats *st;
	uint64_t least; /* lighter nodes are omitted */
	int two;        /* the graph has v[1] */
	uint32_t *frame_no;
	struct buf runs;
	VEC(uint32_t) frames; /* by number */
	VEC(struct level) levels;
};

int flame_flush(struct buf *b, FILE *out, struct err *e)
{
	if (buf_failed(b))
		return err_nomem(e);
	if (b->n && fwrite(b->v, 1, b->n, out) != b->n)
		return err_sys(e, "cannot write the picture");
	buf_clear(b);
	return 0;
}

/* --- which nodes --------------------------------------------------------------------- */

static uint64_t heavier(const struct flame_node *n)
{
	return n->v[0] > n->v[1] ? n->v[0] : n->v[1];
}

/* Classes of weight on a logarithmic scale, eight to a doubling. */
static unsigned weight_class(uint64_t w)
{
	if (w < 1 << FINENESS)
		return (unsigned)w;
	unsigned top = 63 - (unsigned)__builtin_clzll(w);
	return (top << FINENESS) + (unsigned)(w >> (top - FINENESS) & ((1 << FINENESS) - 1));
}

/* The least weight that keeps at most `max` nodes. A caller is never lighter than a callee, so
 * the kept nodes are connected. */
static uint64_t least_weight(const struct flame *f, size_t max)
{
	uint64_t count[CLASSES] = {0};
	size_t n = 0;
	unsigned c = CLASSES;
	for (size_t i = 0; i < f->nodes.n; i++)
		count[weight_class(heavier(&f->nodes.v[i]))]++;
	while (c-- > 1) {
		n += count[c];
		if (n > max)
			break;
	}
	c++; /* the lowest class that fits */
	if (c < 1 << (FINENESS + 1))
		return c;
	unsigned top = c >> FINENESS;
	return (8 + (uint64_t)(c & ((1 << FINENESS) - 1))) << (top - FINENESS);
}

/* --- nodes --------------------------------------------------------------------------- */

static int frame_number(struct writer *w, uint32_t frame, uint32_t *no)
{
	if (w->frame_no[frame] == NONE) {
		if (vec_push(&w->frames, frame))
			return ERR_NOMEM;
		w->frame_no[frame] = (uint32_t)w->frames.n;
	}
	*no = w->frame_no[frame] - 1;
	return 0;
}

static int put_node(struct writer *w, uint32_t frame, size_t ups, uint64_t self0,
		    uint64_t self1)
{
	uint32_t no;
	if (frame_number(w, frame, &no))
		return err_nomem(w->e);
	svg_number(w->b, no);
	svg_number(w->b, ups);
	svg_number(w->b, self0);
	if (w->two)
		svg_number(w->b, self1);
	w->st->nodes++;
	return w->b->n > FLUSH_AT || buf_failed(w->b) ? flame_flush(w->b, w->out, w->e) : 0;
}

/* `self` in the data: the weight that no child has; gaps are children, times away are not. */
static uint64_t own_weight(const struct flame *f, uint32_t node, int which)
{
	uint64_t self = f->nodes.v[node].v[which];
	for (uint32_t i = f->child_at[node]; i < f->child_at[node + 1]; i++)
		if (flame_node_frame(f, f->child[i])->kind != FLAME_AWAY)
			self -= f->nodes.v[f->child[i]].v[which];
	return self;
}

/* What each run has in the node itself; nothing of the omitted ones. */
static void put_runs(struct writer *w, uint32_t node)
{
	const struct flame_runs *r = w->f->runs;
	for (size_t k = 0; r && k < r->v.n; k++) {
		uint64_t self = node != NO_NODE ? r->total[node * r->v.n + k] : 0;
		for (uint32_t i = node != NO_NODE ? w->f->child_at[node] : 0;
		     node != NO_NODE && i < w->f->child_at[node + 1]; i++) {
			uint64_t child = r->total[w->f->child[i] * r->v.n + k];
			self -= child < self ? child : self;
		}
		svg_number(&w->runs, self);
	}
}

static int enter(struct writer *w, uint32_t node, size_t ups)
{
	const struct flame *f = w->f;
	struct level in = {f->child_at[node], f->child_at[node + 1], {0, 0}};
	uint64_t self1 = w->two ? own_weight(f, node, 1) : 0;
	/* Copies of vanished stacks add only to the root's v[0]: the children may exceed its
	 * v[1]. */
	if (!node && self1 > f->nodes.v[0].v[1])
		self1 = 0;
	put_runs(w, node);
	int rc = put_node(w, f->nodes.v[node].frame, ups, own_weight(f, node, 0), self1);
	if (rc)
		return rc;
	return vec_push(&w->levels, in) ? err_nomem(w->e) : 0;
}

/* Write the mark for the omitted children, as the last child. */
static int put_smaller(struct writer *w, const struct level *l, size_t ups)
{
	if (!l->small[0] && !l->small[1])
		return 0;
	w->st->smaller += l->small[0];
	put_runs(w, NO_NODE);
	return put_node(w, (uint32_t)w->f->frames.n, ups, l->small[0], l->small[1]);
}

static int put_nodes(struct writer *w)
{
	const struct flame *f = w->f;
	size_t depth = 1; /* levels down to the last node written */
	int rc = enter(w, 0, 0);
	while (!rc && w->levels.n) {
		struct level *top = &w->levels.v[w->levels.n - 1];
		size_t ups = depth - w->levels.n;
		if (top->next == top->end) {
			rc = put_smaller(w, top, ups);
			if (top->small[0] || top->small[1])
				depth = w->levels.n + 1;
			w->levels.n--;
			continue;
		}
		uint32_t child = f->child[top->next++];
		const struct flame_node *n = &f->nodes.v[child];
		if (heavier(n) < w->least) {
			top->small[0] += n->v[0];
			top->small[1] += n->v[1];
			continue;
		}
		rc = enter(w, child, ups);
		depth = w->levels.n;
	}
	return rc;
}

/* --- tables -------------------------------------------------------------------------- */

/* Numbers for strings (or colours) in the order of first use. */
struct numbering {
	struct u64map no;
	uint32_t n;
};

static uint32_t number_of(struct numbering *m, uint64_t key, int *is_new, int *failed)
{
	uint32_t no;
	*is_new = !u64map_get(&m->no, key, &no);
	if (!*is_new)
		return no;
	if (u64map_put(&m->no, key, m->n))
		*failed = 1;
	return m->n++;
}

struct tables {
	struct numbering string_no, color_no;
	struct strtab shorts;
	struct buf strings, colors, frames;
	int failed;
};

static uint32_t string_number(struct tables *t, const struct flame *f, uint32_t str)
{
	int is_new;
	if (!str)
		return 0;
	uint32_t no = number_of(&t->string_no, str, &is_new, &t->failed);
	if (is_new) {
		buf_char(&t->strings, '\n');
		escape_xml(&t->strings, strtab_get(&f->strings, str),
			   strtab_len(&f->strings, str));
	}
	return no + 1;
}

/* The number of the simplified label; 0: it is the label. */
static uint32_t short_number(struct tables *t, const struct flame *f, uint32_t frame,
			     size_t *own)
{
	struct buf text = {0};
	uint32_t id = 0, no = 0;
	int is_new = 0;
	*own = flame_short_label(f, &f->frames.v[frame], &text);
	if (buf_failed(&text) || (text.n && strtab_intern_n(&t->shorts, text.v, text.n, &id)))
		t->failed = 1;
	else if (id)
		no = number_of(&t->string_no, 1ull << 32 | id, &is_new, &t->failed) + 1;
	if (is_new) {
		buf_char(&t->strings, '\n');
		escape_xml(&t->strings, text.v, text.n);
	}
	buf_release(&text);
	return no;
}

static uint32_t color_number(struct tables *t, uint32_t rgb)
{
	int is_new;
	uint32_t no = number_of(&t->color_no, rgb, &is_new, &t->failed);
	if (is_new)
		buf_fmt(&t->colors, no ? " %06x" : "%06x", rgb);
	return no;
}

static void add_frame(struct tables *t, const struct writer *w, uint32_t frame)
{
	const struct flame *f = w->f;
	int mark = frame == f->frames.n;
	struct flame_frame fr =
		mark ? (struct flame_frame){.kind = FLAME_MARK} : f->frames.v[frame];
	size_t own = 0;
	uint32_t name = string_number(t, f, fr.name);
	if (mark) { /* strings id 0 is "", so UINT32_MAX is for the mark's text */
		int is_new;
		name = number_of(&t->string_no, UINT32_MAX, &is_new, &t->failed) + 1;
		buf_str(&t->strings, "\n" SMALLER_TEXT);
	}
	svg_number(&t->frames, name);
	svg_number(&t->frames, fr.kind);
	svg_number(&t->frames, string_number(t, f, fr.dso));
	svg_number(&t->frames, string_number(t, f, fr.src));
	svg_number(&t->frames, fr.line);
	svg_number(&t->frames, fr.line_to);
	svg_number(&t->frames,
		   color_number(t, mark ? 0xc8c8c8 : palette_color(w->p, f, frame)));
	svg_number(&t->frames, mark ? 0 : short_number(t, f, frame, &own));
	svg_number(&t->frames, own);
	svg_number(&t->frames, !mark && f->thin && f->thin[frame]);
}

static void put_element(struct buf *b, const char *tag, const struct buf *content)
{
	buf_fmt(b, "<%s>", tag);
	buf_add(b, content->v, content->n);
	buf_fmt(b, "</%s>\n", tag);
}

static int put_tables(struct writer *w)
{
	struct tables t = {0};
	for (size_t i = 0; i < w->frames.n; i++)
		add_frame(&t, w, w->frames.v[i]);
	put_element(w->b, "d-strings", &t.strings);
	put_element(w->b, "d-colors", &t.colors);
	put_element(w->b, "d-frames", &t.frames);
	int rc = t.failed || buf_failed(&t.strings) || buf_failed(&t.colors) ||
				 buf_failed(&t.frames)
			 ? err_nomem(w->e)
			 : flame_flush(w->b, w->out, w->e);
	u64map_release(&t.string_no.no);
	u64map_release(&t.color_no.no);
	strtab_release(&t.shorts);
	buf_release(&t.strings);
	buf_release(&t.colors);
	buf_release(&t.frames);
	return rc;
}

int flame_data_write(const struct flame *f, const struct palette *p, size_t max_nodes,
		     struct buf *b, FILE *out, struct flame_data_stats *st, struct err *e)
{
	*st = (struct flame_data_stats){0};
	struct writer w = {.f = f, .p = p, .b = b, .out = out, .e = e, .st = st};
	w.two = f->nodes.v[0].v[1] > 0;
	w.least = f->nodes.n > max_nodes ? least_weight(f, max_nodes) : 1;
	w.frame_no = mem_zalloc(f->frames.n + 1, sizeof(*w.frame_no));
	int rc = w.frame_no ? 0 : err_nomem(e);
	buf_str(b, "<d-nodes>");
	rc = rc ? rc : put_nodes(&w);
	buf_str(b, "</d-nodes>\n");
	if (f->runs)
		put_element(b, "d-runs", &w.runs);
	rc = rc ? rc : put_tables(&w);
	st->left = f->nodes.n > st->nodes ? f->nodes.n - st->nodes : 0;
	rc = rc ? rc : buf_failed(&w.runs) ? err_nomem(e) : 0;
	buf_release(&w.runs);
	mem_free(w.frame_no);
	vec_release(&w.frames);
	vec_release(&w.levels);
	return rc;
}
