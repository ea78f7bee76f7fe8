#include "render/flame/fold_tree.h"
#include "base/text/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int foldtree_text(struct foldtree *t, const char *text, size_t n, uint32_t *id)
{
	return strtab_intern_n(&t->texts, text, n, id);
}

int foldtree_new(struct foldtree *t, uint32_t parent, uint32_t text, uint32_t *node)
{
	struct foldnode fresh = {.parent = parent, .text = text};
	if ((!t->nodes.n && vec_push(&t->nodes, (struct foldnode){0})) ||
	    t->nodes.n >= UINT32_MAX || vec_push(&t->nodes, fresh))
		return ERR_NOMEM;
	*node = (uint32_t)(t->nodes.n - 1);
	return 0;
}

int foldtree_child(struct foldtree *t, uint32_t parent, uint32_t text, uint32_t *node)
{
	uint64_t key = (uint64_t)parent << 32 | text;
	if (u64map_get(&t->index, key, node))
		return 0;
	if (foldtree_new(t, parent, text, node))
		return ERR_NOMEM;
	t->nodes.v[*node].indexed = 1;
	return u64map_put(&t->index, key, *node);
}

void foldtree_add(struct foldtree *t, uint32_t node, uint64_t weight)
{
	t->nodes.v[node].weight += weight;
	t->nodes.v[node].ends = 1;
}

void foldtree_release(struct foldtree *t)
{
	strtab_release(&t->texts);
	vec_release(&t->nodes);
	u64map_release(&t->index);
}

/*
 * Whole lines are sorted, not components: "a b" precedes "a;x" because ' ' < ';'. So a node is
 * up to two items to sort among its siblings: the line that ends there, whose key is its text,
 * and the lines below it, whose keys all begin with text + ';'.
 */
struct item {
	const char *text;
	uint32_t len, node;
	int below;
};

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	uint32_t n = x->len < y->len ? x->len : y->len;
	int c = memcmp(x->text, y->text, n);
	if (c)
		return c;
	/* one text is a prefix of the other: compare what follows it, the end being lowest */
	unsigned char cx = x->len > n ? (unsigned char)x->text[n] : x->below ? ';' : 0;
	unsigned char cy = y->len > n ? (unsigned char)y->text[n] : y->below ? ';' : 0;
	if (cx != cy)
		return cx < cy ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Children of every node as one array: those of n are child[first[n] .. first[n + 1]). */
struct children {
	uint32_t *first, *child;
};

static int index_children(const struct foldtree *t, struct children *c)
{
	size_t n = t->nodes.n;
	c->first = mem_zalloc(n + 2, sizeof(*c->first));
	c->child = mem_zalloc(n, sizeof(*c->child));
	if (!c->first || !c->child)
		return ERR_NOMEM;
	for (size_t i = 1; i < n; i++)
		c->first[t->nodes.v[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		c->first[i] += c->first[i - 1];
	for (size_t i = 1; i < n; i++)
		c->child[c->first[t->nodes.v[i].parent + 1]++] = (uint32_t)i;
	return 0;
}

struct writer {
	const struct foldtree *t;
	struct children children;
	FILE *f;
	uint64_t (*value)(uint64_t weight, void *ctx);
	void *ctx;
	struct buf prefix, lines;
	VEC(struct item) stack; /* items to write, the next one last */
	VEC(uint32_t) equal;    /* nodes that are one line, or have one prefix */
};

static int push_children_of(struct writer *w, uint32_t node)
{
	const struct foldtree *t = w->t;
	const uint32_t *first = w->children.first;
	for (uint32_t i = first[node]; i < first[node + 1]; i++) {
		uint32_t child = w->children.child[i];
		struct item it = {.text = strtab_get(&t->texts, t->nodes.v[child].text),
				  .len = strtab_len(&t->texts, t->nodes.v[child].text),
				  .node = child};
		if (t->nodes.v[child].ends && vec_push(&w->stack, it))
			return ERR_NOMEM;
		it.below = 1;
		if (first[child] < first[child + 1] && vec_push(&w->stack, it))
			return ERR_NOMEM;
	}
	return 0;
}

/* The children of all nodes that are equal, in order. */
static int push_children(struct writer *w)
{
	size_t from = w->stack.n;
	for (size_t i = 0; i < w->equal.n; i++)
		if (push_children_of(w, w->equal.v[i]))
			return ERR_NOMEM;
	size_t n = w->stack.n - from;
	struct item *v = w->stack.v + from;
	if (n > 1)
		qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; i < n / 2; i++) {
		struct item swap = v[i];
		v[i] = v[n - 1 - i];
		v[n - 1 - i] = swap;
	}
	return 0;
}

static void write_lines(struct writer *w)
{
	if (w->lines.failed || !w->lines.n)
		return;
	fwrite(w->lines.v, 1, w->lines.n, w->f);
	buf_clear(&w->lines);
}

static void write_line(struct writer *w, const struct item *it)
{
	enum { AT_ONCE = 1 << 16 };
	uint64_t weight = 0;
	for (size_t i = 0; i < w->equal.n; i++)
		weight += w->t->nodes.v[w->equal.v[i]].weight;
	buf_add(&w->lines, w->prefix.v, w->prefix.n);
	buf_add(&w->lines, it->text, it->len);
	buf_char(&w->lines, ' ');
	buf_u64(&w->lines, w->value ? w->value(weight, w->ctx) : weight);
	buf_char(&w->lines, '\n');
	if (w->lines.n >= AT_ONCE)
		write_lines(w);
}

/* Take the next item; w->equal are the nodes of all items equal to it: their texts have one id,
 * and so one address. 0 or ERR_NOMEM. */
static int next_item(struct writer *w, struct item *it)
{
	*it = w->stack.v[w->stack.n - 1];
	w->equal.n = 0;
	while (w->stack.n) {
		const struct item *top = &w->stack.v[w->stack.n - 1];
		if (w->equal.n && (top->text != it->text || top->below != it->below))
			break;
		if (vec_push(&w->equal, top->node))
			return ERR_NOMEM;
		w->stack.n--;
	}
	return 0;
}

/* An explicit stack: a recording may be thousands of frames deep. */
static int write_all(struct writer *w)
{
	VEC(uint32_t) cuts = {0}; /* prefix lengths to return to */
	int rc = vec_push(&w->equal, 0) ? ERR_NOMEM : push_children(w);
	while (!rc && w->stack.n && !ferror(w->f)) {
		struct item it = w->stack.v[w->stack.n - 1];
		if (it.len == UINT32_MAX) { /* end of a subtree */
			w->prefix.n = cuts.v[--cuts.n];
			w->stack.n--;
			continue;
		}
		rc = next_item(w, &it);
		if (rc)
			break;
		if (!it.below) {
			write_line(w, &it);
			continue;
		}
		struct item end = {.len = UINT32_MAX};
		if (vec_push(&cuts, (uint32_t)w->prefix.n) || vec_push(&w->stack, end)) {
			rc = ERR_NOMEM;
			break;
		}
		buf_add(&w->prefix, it.text, it.len);
		buf_char(&w->prefix, ';');
		rc = push_children(w);
	}
	vec_release(&cuts);
	write_lines(w);
	return rc ? rc : w->prefix.failed ? w->prefix.failed : w->lines.failed;
}

int foldtree_write(struct foldtree *t, FILE *f, uint64_t (*value)(uint64_t weight, void *ctx),
		   void *ctx, struct err *e)
{
	struct writer w = {.t = t, .f = f, .value = value, .ctx = ctx};
	if (!t->nodes.n)
		return 0;
	int rc = index_children(t, &w.children);
	if (!rc)
		rc = write_all(&w);
	mem_free(w.children.first);
	mem_free(w.children.child);
	vec_release(&w.stack);
	vec_release(&w.equal);
	buf_release(&w.prefix);
	buf_release(&w.lines);
	return rc ? err_nomem(e) : 0;
}
