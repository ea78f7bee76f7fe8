#include "render/flame/fold_labels.h"
#include "base/text/longname.h"
#include "base/text/path.h"
#include "render/text/escape.h"
#include "libsym/name/simplify.h"
#include "libsym/name/tidy.h"

#include <stdio.h>
#include <string.h>

void fold_labels_init(struct fold_labels *l, const struct stacks *stacks, struct foldtree *tree,
		      const struct label_options *opt)
{
	*l = (struct fold_labels){.opt = *opt, .stacks = stacks, .tree = tree};
}

void fold_labels_release(struct fold_labels *l)
{
	buf_release(&l->text);
	vec_release(&l->texts);
	vec_release(&l->runs[0]);
	vec_release(&l->runs[1]);
	vec_release(&l->runs[2]);
	vec_release(&l->frames);
	vec_release(&l->places);
}

/* The id of a text in a line, without terminal control characters. */
static int text_id(struct fold_labels *l, const char *s, size_t n, uint32_t *id)
{
	struct buf b = {0};
	char cut[LONG_NAME];
	s = long_name(s, &n, cut);
	escape_controls(&b, s, n);
	int rc = buf_failed(&b) ? ERR_NOMEM : foldtree_text(l->tree, b.n ? b.v : "", b.n, id);
	buf_release(&b);
	return rc;
}

/* The three texts of a frame. */
enum { FOR_ALL, FOR_JAVA, FOR_WAKER };

static const char *mark_of(const struct fold_labels *l, const struct frame *f)
{
	if (f->flags & FRAME_INLINED)
		return l->opt.inlined ? "_[i]" : NULL;
	if (f->kind == FRAME_KERNEL)
		return l->opt.kernel ? "_[k]" : NULL;
	return f->kind == FRAME_JIT && l->opt.jit ? "_[j]" : NULL;
}

/* The frame's text, ';' between several, into l->text. */
static void make_text(struct fold_labels *l, const struct frame *f, int how)
{
	const struct strtab *s = &l->stacks->strings;
	struct buf raw = {0};
	unsigned flags = how == FOR_JAVA ? TIDY_JAVA : 0;
	const char *mark = how == FOR_WAKER ? "_[w]" : mark_of(l, f);
	buf_clear(&l->text);
	if (f->name && l->opt.simplify) {
		simplify(&raw, strtab_get(s, f->name), strtab_len(s, f->name), SIMPLIFY_ALL);
	} else if (f->name) {
		buf_str(&raw, strtab_get(s, f->name));
	} else {
		flags |= TIDY_NOSPLIT;
		buf_fmt(&raw, "[%s", f->dso ? path_base(strtab_get(s, f->dso)) : "unknown");
		if (l->opt.addrs && !frame_is_merged(f))
			buf_fmt(&raw, " <%llx>", (unsigned long long)f->addr);
		buf_char(&raw, ']');
	}
	tidy_name(&l->text, buf_cstr(&raw), raw.n, flags, mark);
	if (l->opt.srcline && f->srcfile && f->line && l->text.n)
		buf_fmt(&l->text, ":%s:%u", path_base(strtab_get(s, f->srcfile)), f->line);
	if (raw.failed)
		l->text.failed = raw.failed;
	buf_release(&raw);
}

/* Split l->text at ';' into a run of text ids. */
static int make_run(struct fold_labels *l, struct label_run *run)
{
	const char *p = buf_cstr(&l->text), *end = p + l->text.n;
	if (buf_failed(&l->text))
		return ERR_NOMEM;
	*run = (struct label_run){.at = (uint32_t)l->texts.n, .made = 1};
	while (p < end) {
		const char *semi = memchr(p, ';', (size_t)(end - p));
		const char *stop = semi ? semi : end;
		uint32_t id;
		if (text_id(l, p, (size_t)(stop - p), &id) || vec_push(&l->texts, id))
			return ERR_NOMEM;
		run->n++;
		p = stop + 1;
	}
	return 0;
}

static int run_of(struct fold_labels *l, uint32_t frame, int how, struct label_run *out)
{
	while (l->runs[how].n <= frame)
		if (vec_push(&l->runs[how], (struct label_run){0}))
			return ERR_NOMEM;
	if (!l->runs[how].v[frame].made) {
		make_text(l, &l->stacks->frames.v[frame], how);
		if (make_run(l, &l->runs[how].v[frame]))
			return ERR_NOMEM;
	}
	*out = l->runs[how].v[frame];
	return 0;
}

static int add_comm(struct fold_labels *l, uint32_t comm, int32_t pid, int32_t tid,
		    uint32_t *node)
{
	uint32_t text;
	buf_clear(&l->text);
	for (const char *s = strtab_get(&l->stacks->strings, comm); *s; s++)
		buf_char(&l->text, *s == ' ' ? '_' : *s == ';' ? ':' : *s);
	if (tid != -1)
		buf_fmt(&l->text, "-%d/%d", pid, tid);
	else if (pid != -1)
		buf_fmt(&l->text, "-%d", pid);
	if (buf_failed(&l->text) || text_id(l, buf_cstr(&l->text), l->text.n, &text))
		return ERR_NOMEM;
	return foldtree_child(l->tree, *node, text, node);
}

static int add_text(struct fold_labels *l, const char *text, uint32_t *node)
{
	uint32_t id;
	if (foldtree_text(l->tree, text, strlen(text), &id))
		return ERR_NOMEM;
	return foldtree_child(l->tree, *node, id, node);
}

/* The path's frame ids into l->frames; their number in *n. */
static int path_frames(struct fold_labels *l, uint32_t path, size_t *n)
{
	*n = stacks_depth(l->stacks, path);
	l->frames.n = 0;
	if (vec_reserve(&l->frames, *n))
		return ERR_NOMEM;
	stacks_frames(l->stacks, path, l->frames.v, *n);
	return 0;
}

typedef int child_of(struct foldtree *t, uint32_t parent, uint32_t text, uint32_t *node);

static int push_run(struct fold_labels *l, uint32_t frame, int how, child_of *child,
		    uint32_t *node)
{
	struct label_run run;
	if (run_of(l, frame, how, &run))
		return ERR_NOMEM;
	for (uint32_t k = 0; k < run.n; k++)
		if (child(l->tree, *node, l->texts.v[run.at + k], node))
			return ERR_NOMEM;
	return 0;
}

/* 1 when the last frame of `path`, which has no place, may have the text of another path's
 * below `node`, as unnamed frames that differ only by address, and all frames below them. */
static int is_shared(const struct fold_labels *l, uint32_t path, uint32_t root, uint32_t node)
{
	const struct frame *f = &l->stacks->frames.v[l->stacks->paths.v[path].frame];
	int address = !f->name && f->addr << 16 && !frame_is_merged(f);
	return address || (node + 1 != root && l->tree->nodes.v[node].indexed);
}

/* Add the last frame of `path` below *node. Its node is then in l->places until another thread
 * name has the path; if the first one has it again, nodes of equal text are made twice. */
static int push_frame(struct fold_labels *l, uint32_t path, uint32_t root, int how,
		      uint32_t *node)
{
	const struct call_path *p = &l->stacks->paths.v[path];
	int shared = is_shared(l, path, root, *node);
	return push_run(l, p->frame, how, shared ? foldtree_child : foldtree_new, node);
}

/* Stacks of one thread are consecutive, so callers already have their place. */
static int add_path(struct fold_labels *l, uint32_t comm, uint32_t path, uint32_t *node)
{
	int java = !strncmp(strtab_get(&l->stacks->strings, comm), "java", 4);
	uint32_t root = *node + 1;
	while (l->places.n < l->stacks->paths.n)
		if (vec_push(&l->places, (struct label_place){0}))
			return ERR_NOMEM;
	l->frames.n = 0;
	for (; path && l->places.v[path].root != root; path = l->stacks->paths.v[path].parent)
		if (vec_push(&l->frames, path))
			return ERR_NOMEM;
	if (path)
		*node = l->places.v[path].node;
	while (l->frames.n) {
		path = l->frames.v[--l->frames.n];
		const struct frame *f = &l->stacks->frames.v[l->stacks->paths.v[path].frame];
		if (frame_is_on(f, l->opt.side) &&
		    push_frame(l, path, root, java ? FOR_JAVA : FOR_ALL, node))
			return ERR_NOMEM;
		l->places.v[path] = (struct label_place){root, *node};
	}
	return 0;
}

static int add_waker(struct fold_labels *l, uint32_t path, const char *name, uint32_t *node)
{
	char text[64];
	uint32_t id;
	size_t n;
	if (add_text(l, "--", node) || path_frames(l, path, &n))
		return ERR_NOMEM;
	while (n-- > 0)
		if (frame_is_on(&l->stacks->frames.v[l->frames.v[n]], l->opt.side) &&
		    push_run(l, l->frames.v[n], FOR_WAKER, foldtree_child, node))
			return ERR_NOMEM;
	snprintf(text, sizeof(text), "%.40s_[w]", name);
	for (char *p = text; *p; p++)
		*p = *p == ' ' ? '_' : *p == ';' ? ':' : *p;
	if (text_id(l, text, strlen(text), &id))
		return ERR_NOMEM;
	return foldtree_child(l->tree, *node, id, node);
}

int fold_labels_row(struct fold_labels *l, const struct stack_row *r, uint32_t *node)
{
	const struct folded *f = &r->of;
	if (l->thread.comm != f->comm || l->thread.pid != f->pid || l->thread.tid != f->tid)
		l->thread.node = 0;
	*node = l->thread.node;
	if (!*node && add_comm(l, f->comm, f->pid, f->tid, node))
		return ERR_NOMEM;
	l->thread = (__typeof__(l->thread)){f->comm, f->pid, f->tid, *node};
	if ((r->state && add_text(l, r->state, node)) ||
	    (r->below && add_text(l, r->below, node)) || add_path(l, f->comm, f->path, node))
		return ERR_NOMEM;
	for (size_t i = 0; i < r->nwakers; i++)
		if (add_waker(l, r->wakers[i].path, r->wakers[i].name, node))
			return ERR_NOMEM;
	return 0;
}
