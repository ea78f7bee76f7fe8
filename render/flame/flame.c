#include "render/flame/flame.h"
#include "render/flame/flame_runs.h"
#include "base/mem.h"
#include "base/radix.h"
#include "libsym/name/frame_table.h"
#include "libsym/name/simplify.h"
#include "render/text/escape.h"

#include <stdlib.h>
#include <string.h>

int flame_init(struct flame *f)
{
	*f = (struct flame){.scale = 1};
	uint32_t id;
	struct flame_node root = {0};
	if (flame_frame_named(f, "all", 3, &id) || vec_push(&f->nodes, root))
		return ERR_NOMEM;
	return 0;
}

void flame_release(struct flame *f)
{
	strtab_release(&f->strings);
	vec_release(&f->frames);
	vec_release(&f->nodes);
	vec_release(&f->path);
	idmap_release(&f->frame_index);
	idmap_release(&f->node_index);
	mem_free(f->child);
	mem_free(f->child_at);
	mem_free(f->thin);
	*f = (struct flame){0};
}

int flame_restart(struct flame *f)
{
	struct flame_node root = {0};
	idmap_release(&f->node_index);
	mem_free(f->child);
	mem_free(f->child_at);
	f->child = f->child_at = NULL;
	f->nodes.n = f->path.n = 0;
	f->stacks = f->deep = 0;
	f->finished = 0;
	return vec_push(&f->nodes, root);
}

/* 1 when source file `a` is preferred to `b` for a function. Any is preferred to none. */
static int prefer_src(const struct flame *f, uint32_t a, uint32_t b)
{
	const char *sa = strtab_get(&f->strings, a), *sb = strtab_get(&f->strings, b);
	return *sa && (!*sb || strcmp(sa, sb) < 0);
}

/*
 * Merge the lines of an equal frame: the first source file by name, and all its lines. The
 * result does not depend on the order.
 */
static void merge_lines(const struct flame *f, struct flame_frame *known,
			const struct flame_frame *fr)
{
	uint32_t to = fr->line_to ? fr->line_to : fr->line;
	uint32_t known_to = known->line_to ? known->line_to : known->line;
	int other = known->src != fr->src;
	if (other ? !prefer_src(f, fr->src, known->src) : !fr->line)
		return;
	if (other || !known->line) {
		known->src = fr->src;
		known->line = fr->line;
		known->line_to = fr->line_to;
		return;
	}
	known->line = fr->line < known->line ? fr->line : known->line;
	known_to = to > known_to ? to : known_to;
	known->line_to = known_to > known->line ? known_to : 0;
}

int flame_frame(struct flame *f, const struct flame_frame *fr, uint32_t *id)
{
	uint64_t h = hash_u64(hash_u64((uint64_t)fr->name << 32 | fr->dso) + fr->kind);
	if (f->apart)
		h = hash_u64(h + hash_u64(fr->addr) + fr->src);
	size_t at = 0;
	while (idmap_next(&f->frame_index, h, &at, id)) {
		struct flame_frame *known = &f->frames.v[*id];
		if (known->name == fr->name && known->dso == fr->dso &&
		    known->kind == fr->kind &&
		    (!f->apart || (known->addr == fr->addr && known->src == fr->src))) {
			merge_lines(f, known, fr);
			return 0;
		}
	}
	if (f->frames.n >= UINT32_MAX - 1 || vec_push(&f->frames, *fr))
		return ERR_NOMEM;
	*id = (uint32_t)(f->frames.n - 1);
	return idmap_put(&f->frame_index, h, *id);
}

/* The annotation letter of a name that ends in _[x], or 0. */
static char annotation(const char *name, size_t n)
{
	if (n < 4 || memcmp(name + n - 4, "_[", 2) || name[n - 1] != ']')
		return 0;
	return strchr("kjiw", name[n - 2]) && name[n - 2] ? name[n - 2] : 0;
}

size_t flame_label_len(const char *name, size_t n)
{
	return annotation(name, n) ? n - 4 : n;
}

size_t flame_short_label(const struct flame *f, const struct flame_frame *fr, struct buf *out)
{
	struct buf visible = {0};
	size_t n, from = out->n;
	const char *name = flame_name(f, fr, &n);
	n = flame_label_len(name, n);
	name_short(out, name, n);
	if (buf_failed(out))
		return 0;
	const char *s = out->v + from;
	size_t len = out->n - from, at = len ? name_own(s, len) : 0;
	if (at)
		escape_visible(&visible, s + at, len - at);
	size_t own = at ? escape_chars(buf_cstr(&visible), visible.n) : 0;
	if (len == n && (!n || !memcmp(s, name, n)))
		out->n = from;
	if (buf_failed(&visible))
		out->failed = visible.failed;
	buf_release(&visible);
	return own;
}

static uint32_t kind_of_name(const char *name, size_t n)
{
	switch (annotation(name, n)) {
	case 'k':
		return FLAME_KERNEL;
	case 'j':
		return FLAME_JIT;
	case 'i':
		return FLAME_INLINED;
	case 'w':
		return FLAME_WAKER;
	default:
		return (n == 1 || n == 2) && !memcmp(name, "--", n) ? FLAME_MARK : FLAME_USER;
	}
}

int flame_frame_named(struct flame *f, const char *name, size_t n, uint32_t *id)
{
	struct flame_frame fr = {.kind = kind_of_name(name, n)};
	if (strtab_intern_n(&f->strings, name, n, &fr.name))
		return ERR_NOMEM;
	return flame_frame(f, &fr, id);
}

/* Nodes are found by a hash of the whole path to them, without visiting the nodes on it. */
static uint64_t path_hash(uint64_t parent_way, uint32_t frame)
{
	return hash_u64(parent_way + frame + 1);
}

/* The child of `parent` with this frame, made when new; `way` is its path_hash. */
static int child_node(struct flame *f, uint32_t parent, uint32_t frame, uint64_t way,
		      uint32_t *id)
{
	size_t at = 0;
	while (!f->in_order && idmap_next(&f->node_index, way, &at, id)) {
		const struct flame_node *n = &f->nodes.v[*id];
		if (n->parent == parent && n->frame == frame)
			return 0;
	}
	struct flame_node node = {.parent = parent, .frame = frame};
	if (f->nodes.n >= UINT32_MAX - 1 || vec_push(&f->nodes, node))
		return ERR_NOMEM;
	*id = (uint32_t)(f->nodes.n - 1);
	return f->in_order ? 0 : idmap_put(&f->node_index, way, *id);
}

int flame_child(struct flame *f, uint32_t parent, uint32_t frame, uint32_t *id)
{
	uint32_t steps[FLAME_MAX_DEPTH + 1];
	uint64_t way = 0;
	size_t n = 0;
	for (uint32_t i = parent; i && n < FLAME_MAX_DEPTH; i = f->nodes.v[i].parent)
		steps[n++] = f->nodes.v[i].frame;
	while (n--)
		way = path_hash(way, steps[n]);
	return child_node(f, parent, frame, path_hash(way, frame), id);
}

/*
 * Prefetch what the walk down will touch, for the steps path[from..) whose hashes are set:
 * first all index slots, then their nodes.
 */
static void prefetch_path(const struct flame *f, size_t from, size_t n)
{
	const struct idmap *m = &f->node_index;
	if (!m->slot)
		return;
	for (size_t i = from; i < n; i++)
		__builtin_prefetch(idmap_first(m, f->path.v[i].hash));
	for (size_t i = from; i < n; i++) {
		uint32_t id = (uint32_t)*idmap_first(m, f->path.v[i].hash);
		__builtin_prefetch(&f->nodes.v[id ? id - 1 : 0]);
	}
}

/* The root keeps the sum of all weights while stacks are added, so that no node can pass it. */
static int add_to_total(struct flame *f, uint32_t leaf, uint64_t v0, uint64_t v1, struct err *e)
{
	struct flame_node *root = f->nodes.v, *n = &f->nodes.v[leaf];
	if (v0 > INT64_MAX - root->v[0] || v1 > INT64_MAX - root->v[1])
		return err_set(e, ERR_LIMIT, "the weights add up to more than 2^63");
	root->v[0] += v0;
	root->v[1] += v1;
	if (leaf) {
		n->v[0] += v0;
		n->v[1] += v1;
	}
	f->stacks++;
	return 0;
}

/*
 * In a flame chart, a stack that ends where its neighbour went deeper must not move to the left
 * of what that one called: it becomes a gap after it.
 */
static int add_gap(struct flame *f, uint32_t *at)
{
	struct flame_frame fr = {.kind = FLAME_GAP};
	uint32_t frame;
	if (flame_frame(f, &fr, &frame) || child_node(f, *at, frame, 0, at))
		return ERR_NOMEM;
	struct flame_step gap = {.node = *at};
	return vec_push(&f->path, gap);
}

/* Extend the path, which ends in node `at`, by frames[same..n). */
static int walk_down(struct flame *f, uint32_t at, size_t same, const uint32_t *frames,
		     size_t n, uint32_t *leaf)
{
	struct flame_step *path = f->path.v;
	uint64_t way = same ? path[same - 1].hash : 0;
	for (size_t i = same; i < n; i++)
		path[i].hash = way = path_hash(way, frames[i]);
	if (!f->in_order)
		prefetch_path(f, same, n);
	for (size_t i = same; i < n; i++) {
		if (child_node(f, at, frames[i], path[i].hash, &at))
			return ERR_NOMEM;
		path[i].node = at;
		f->path.n = i + 1;
	}
	*leaf = at;
	return 0;
}

int flame_add_suffix(struct flame *f, size_t same, const uint32_t *frames, size_t n,
		     uint64_t v0, uint64_t v1, struct err *e)
{
	if (!v0 && !v1)
		return 0;
	if (n > FLAME_MAX_DEPTH) {
		n = FLAME_MAX_DEPTH;
		f->deep++;
	}
	if (same > f->path.n)
		same = f->path.n;
	if (same > n)
		same = n;
	while (same < n && same < f->path.n &&
	       f->nodes.v[f->path.v[same].node].frame == frames[same])
		same++;
	int ends_early = f->in_order && same == n && f->path.n > n;
	if (n > f->path.n && vec_reserve(&f->path, n - f->path.n))
		return err_nomem(e);
	f->path.n = same;
	uint32_t at = same ? f->path.v[same - 1].node : 0;
	if (ends_early && add_gap(f, &at))
		return err_nomem(e);
	if (walk_down(f, at, same, frames, n, &at))
		return err_nomem(e);
	return add_to_total(f, at, v0, v1, e);
}

int flame_add(struct flame *f, const uint32_t *frames, size_t n, uint64_t v0, uint64_t v1,
	      struct err *e)
{
	if (!f->reverse)
		return flame_add_suffix(f, 0, frames, n, v0, v1, e);
	uint32_t turned[FLAME_MAX_DEPTH];
	size_t depth = n < FLAME_MAX_DEPTH ? n : FLAME_MAX_DEPTH;
	for (size_t i = 0; i < depth; i++)
		turned[i] = frames[n - 1 - i];
	f->deep += n > depth && (v0 || v1);
	return flame_add_suffix(f, 0, turned, depth, v0, v1, e);
}

int flame_rescale(struct flame *f, uint64_t by, struct err *e)
{
	struct flame_node *root = f->nodes.v;
	if (root->v[0] > INT64_MAX / by || root->v[1] > INT64_MAX / by)
		return err_set(e, ERR_LIMIT, "the weights add up to more than 2^63");
	for (size_t i = 0; i < f->nodes.n; i++) {
		f->nodes.v[i].v[0] *= by;
		f->nodes.v[i].v[1] *= by;
	}
	f->scale *= by;
	if (f->runs)
		flame_runs_rescale(f->runs, by);
	return 0;
}

/* --- stacks that vanished ------------------------------------------------------------ */

/* Per node: 1 if any stack at or above it (towards the leaves) has v[0]. */
static uint8_t *mark_present(const struct flame *f)
{
	uint8_t *present = mem_zalloc(f->nodes.n, 1);
	for (size_t i = f->nodes.n; present && i-- > 1;)
		if (f->nodes.v[i].v[0] || present[i]) {
			present[i] = 1;
			present[f->nodes.v[i].parent] = 1;
		}
	return present;
}

/* The copy of node i below `gone`, made with its ancestors' copies when new. */
static int copy_gone(struct flame *f, uint32_t i, uint32_t gone, uint32_t *copy)
{
	uint32_t path[FLAME_MAX_DEPTH];
	size_t n = 0;
	uint64_t way = path_hash(0, f->nodes.v[gone].frame);
	for (; i && n < FLAME_MAX_DEPTH; i = f->nodes.v[i].parent)
		path[n++] = f->nodes.v[i].frame;
	for (*copy = gone; n--;) {
		way = path_hash(way, path[n]);
		if (child_node(f, *copy, path[n], way, copy))
			return ERR_NOMEM;
	}
	return 0;
}

static int copy_all_gone(struct flame *f, const uint8_t *present, uint32_t gone, double scale)
{
	size_t n = f->nodes.n;
	for (uint32_t i = 1; i < n; i++) {
		uint64_t before = f->nodes.v[i].v[1];
		uint32_t copy;
		if (present[i] || !before || i == gone)
			continue;
		if (copy_gone(f, i, gone, &copy))
			return ERR_NOMEM;
		uint64_t width = (uint64_t)((double)before * scale + 0.5);
		f->nodes.v[copy].v[0] += width;
		f->nodes.v[copy].v[1] += before;
		f->nodes.v[0].v[0] += width;
		if (flame_runs_copy(f, i, copy))
			return ERR_NOMEM;
	}
	return 0;
}

int flame_show_gone(struct flame *f, const char *label, double before_scale, struct err *e)
{
	struct flame_frame fr = {.kind = FLAME_GONE};
	uint32_t frame, gone;
	if (strtab_intern(&f->strings, label, &fr.name) || flame_frame(f, &fr, &frame) ||
	    child_node(f, 0, frame, path_hash(0, frame), &gone))
		return err_nomem(e);
	uint8_t *present = mark_present(f);
	if (!present || copy_all_gone(f, present, gone, before_scale)) {
		mem_free(present);
		return err_nomem(e);
	}
	mem_free(present);
	return 0;
}

/* --- sums and order ------------------------------------------------------------------ */

/*
 * flamegraph.pl sorts whole lines, so a name is followed by ';' (more frames) or by ' ' (the
 * count). Each frame therefore has two sort keys; a node that ends stacks uses the ' ' one.
 */
struct sort_key {
	const char *name, *dso;
	uint32_t len;
	uint32_t kind;
	uint32_t slot; /* frame * 2 + (terminator is ' ') */
};

static unsigned char key_char(const struct sort_key *k, uint32_t i)
{
	return i < k->len    ? (unsigned char)k->name[i]
	       : i > k->len  ? 0
	       : k->slot & 1 ? ' '
			     : ';';
}

static int by_text(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;
	uint32_t n = a->len < b->len ? a->len : b->len;
	int c = memcmp(a->name, b->name, n);
	for (uint32_t i = n; !c && i <= n + 1; i++)
		c = key_char(a, i) - key_char(b, i);
	if (!c && a->len != b->len)
		c = a->len < b->len ? -1 : 1;
	/* The same text from several files: sort by file, because frames have no defined
	 * order. */
	if (!c)
		c = strcmp(a->dso, b->dso);
	if (!c && a->kind != b->kind)
		c = a->kind < b->kind ? -1 : 1;
	return c ? c : a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* The rank of each (frame, terminator) pair in text order; NULL when out of memory. */
static uint32_t *rank_frames(const struct flame *f)
{
	size_t n = f->frames.n * 2;
	struct sort_key *keys = mem_zalloc(n, sizeof(*keys));
	uint32_t *rank = mem_zalloc(n, sizeof(*rank));
	if (!keys || !rank) {
		mem_free(keys);
		mem_free(rank);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const struct flame_frame *fr = &f->frames.v[i / 2];
		keys[i] = (struct sort_key){.name = strtab_get(&f->strings, fr->name),
					    .dso = strtab_get(&f->strings, fr->dso),
					    .len = strtab_len(&f->strings, fr->name),
					    .kind = fr->kind,
					    .slot = (uint32_t)i};
	}
	qsort(keys, n, sizeof(*keys), by_text);
	for (size_t i = 0; i < n; i++)
		rank[keys[i].slot] = (uint32_t)i;
	mem_free(keys);
	return rank;
}

/* Sort rank << 32 | node words: insertion for the usual handful. */
static void sort_words(uint64_t *w, size_t n)
{
	if (n > 24) {
		qsort(w, n, sizeof(*w), order_u64);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		uint64_t x = w[i];
		size_t j = i;
		for (; j && w[j - 1] > x; j--)
			w[j] = w[j - 1];
		w[j] = x;
	}
}

/* Bucket the nodes by parent: child_at by counting, child in order of node id. */
static int link_children(struct flame *f)
{
	size_t n = f->nodes.n;
	f->child = mem_zalloc(n, sizeof(*f->child));
	f->child_at = mem_zalloc(n + 2, sizeof(*f->child_at));
	if (!f->child || !f->child_at)
		return ERR_NOMEM;
	uint32_t *at = f->child_at + 1; /* at[p] becomes the fill position of p's bucket */
	for (size_t i = 1; i < n; i++)
		at[f->nodes.v[i].parent + 1]++;
	for (size_t i = 1; i <= n; i++)
		at[i] += at[i - 1];
	for (size_t i = 1; i < n; i++)
		f->child[at[f->nodes.v[i].parent]++] = (uint32_t)i;
	return 0;
}

static int sort_children(struct flame *f, const uint32_t *rank)
{
	VEC(uint64_t) words = {0};
	for (size_t p = 0; p < f->nodes.n; p++) {
		uint32_t from = f->child_at[p], n = f->child_at[p + 1] - from;
		if (n < 2)
			continue;
		words.n = 0;
		if (vec_reserve(&words, n)) {
			vec_release(&words);
			return ERR_NOMEM;
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t id = f->child[from + i];
			const struct flame_node *c = &f->nodes.v[id];
			uint32_t slot = c->frame * 2 + (c->v[0] || c->v[1]);
			int last = f->frames.v[c->frame].kind == FLAME_GONE;
			words.v[i] = (uint64_t)(last ? UINT32_MAX : rank[slot]) << 32 | id;
		}
		sort_words(words.v, n);
		for (uint32_t i = 0; i < n; i++)
			f->child[from + i] = (uint32_t)words.v[i];
	}
	vec_release(&words);
	return 0;
}

static void sum_up(struct flame *f)
{
	for (size_t i = f->nodes.n; i-- > 1;) {
		const struct flame_node *n = &f->nodes.v[i];
		if (f->frames.v[n->frame].kind == FLAME_AWAY) {
			f->nodes.v[0].v[0] -= n->v[0];
			continue;
		}
		if (!n->parent)
			continue; /* the root already has the sum */
		f->nodes.v[n->parent].v[0] += n->v[0];
		f->nodes.v[n->parent].v[1] += n->v[1];
	}
}

int flame_finish(struct flame *f, struct err *e)
{
	idmap_release(&f->node_index);
	vec_release(&f->path);
	if (link_children(f))
		return err_nomem(e);
	if (!f->in_order) {
		uint32_t *rank = rank_frames(f);
		int r = rank ? sort_children(f, rank) : ERR_NOMEM;
		mem_free(rank);
		if (r)
			return err_nomem(e);
	}
	sum_up(f);
	f->finished = 1;
	return 0;
}

/* A waker's frame does not say whether it is the kernel's. */
static unsigned roles_of(const struct flame *f, const struct frame_table *t,
			 const struct flame_frame *fr)
{
	struct buf label = {0};
	size_t n;
	const char *name = flame_name(f, fr, &n), *dso = strtab_get(&f->strings, fr->dso);
	unsigned roles = 0;
	buf_add(&label, name, flame_label_len(name, n));
	if (fr->kind != FLAME_KERNEL)
		roles |= frame_roles(t, 0, buf_cstr(&label), dso);
	if (fr->kind == FLAME_KERNEL || fr->kind == FLAME_WAKER)
		roles |= frame_roles(t, 1, buf_cstr(&label), dso);
	buf_release(&label);
	return roles;
}

int flame_find_thin(struct flame *f, const struct frame_table *rules, struct err *e)
{
	struct frame_table *own = NULL;
	int rc = rules ? 0 : frame_table_new(&own, e);
	if (rc)
		return rc;
	mem_free(f->thin);
	f->thin = mem_zalloc(f->frames.n + 1, 1);
	for (uint32_t i = 1; f->thin && i < f->frames.n; i++)
		if (f->frames.v[i].kind < FLAME_MARK)
			f->thin[i] = (roles_of(f, rules ? rules : own, &f->frames.v[i]) &
				      ROLES_FOLDED) != 0;
	frame_table_free(own);
	return f->thin ? 0 : err_nomem(e);
}

uint64_t flame_self(const struct flame *f, uint32_t node, int which)
{
	uint64_t self = f->nodes.v[node].v[which];
	for (uint32_t i = f->child_at[node]; i < f->child_at[node + 1]; i++)
		if (flame_node_frame(f, f->child[i])->kind < FLAME_GAP)
			self -= f->nodes.v[f->child[i]].v[which];
	return self;
}
