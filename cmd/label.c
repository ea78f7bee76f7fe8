#include "cmd/label.h"
#include "libsym/tidy.h"

#include <string.h>

void labels_init(struct labels *l, const struct stacks *stacks, struct foldtree *tree,
		 const struct label_options *opt)
{
	*l = (struct labels){.opt = *opt, .stacks = stacks, .tree = tree};
}

void labels_release(struct labels *l)
{
	buf_release(&l->text);
	vec_release(&l->texts);
	vec_release(&l->runs[0]);
	vec_release(&l->runs[1]);
	vec_release(&l->frames);
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static const char *mark_of(const struct labels *l, const struct frame *f)
{
	if (f->flags & FRAME_INLINED)
		return l->opt.inlined ? "_[i]" : NULL;
	if (f->kind == FRAME_KERNEL)
		return l->opt.kernel ? "_[k]" : NULL;
	return f->kind == FRAME_JIT && l->opt.jit ? "_[j]" : NULL;
}

/* The frame's text, ';' between several, into l->text. */
static void make_text(struct labels *l, const struct frame *f, int java)
{
	const struct strtab *s = &l->stacks->strings;
	struct buf raw = {0};
	unsigned flags = java ? TIDY_JAVA : 0;
	buf_clear(&l->text);
	if (f->name) {
		buf_str(&raw, strtab_get(s, f->name));
	} else {
		flags |= TIDY_NOSPLIT;
		buf_fmt(&raw, "[%s", f->dso ? basename_of(strtab_get(s, f->dso)) : "unknown");
		if (l->opt.addrs)
			buf_fmt(&raw, " <%llx>", (unsigned long long)f->addr);
		buf_char(&raw, ']');
	}
	tidy_right(&l->text, buf_cstr(&raw), raw.n, flags, mark_of(l, f));
	if (l->opt.srcline && f->srcfile && f->line && l->text.n)
		buf_fmt(&l->text, ":%s:%u", basename_of(strtab_get(s, f->srcfile)), f->line);
	if (raw.failed)
		l->text.failed = raw.failed;
	buf_release(&raw);
}

/* Split l->text at ';' into a run of text ids. */
static int make_run(struct labels *l, struct label_run *run)
{
	const char *p = buf_cstr(&l->text), *end = p + l->text.n;
	if (buf_failed(&l->text))
		return ERR_NOMEM;
	*run = (struct label_run){.at = (uint32_t)l->texts.n, .made = 1};
	while (p < end) {
		const char *semi = memchr(p, ';', (size_t)(end - p));
		const char *stop = semi ? semi : end;
		uint32_t id;
		if (foldtree_text(l->tree, p, (size_t)(stop - p), &id) ||
		    vec_push(&l->texts, id))
			return ERR_NOMEM;
		run->n++;
		p = stop + 1;
	}
	return 0;
}

static int run_of(struct labels *l, uint32_t frame, int java, struct label_run *out)
{
	while (l->runs[java].n <= frame)
		if (vec_push(&l->runs[java], (struct label_run){0}))
			return ERR_NOMEM;
	if (!l->runs[java].v[frame].made) {
		make_text(l, &l->stacks->frames.v[frame], java);
		if (make_run(l, &l->runs[java].v[frame]))
			return ERR_NOMEM;
	}
	*out = l->runs[java].v[frame];
	return 0;
}

int labels_comm(struct labels *l, uint32_t comm, int32_t pid, int32_t tid, uint32_t *node)
{
	uint32_t text;
	buf_clear(&l->text);
	for (const char *s = strtab_get(&l->stacks->strings, comm); *s; s++)
		buf_char(&l->text, *s == ' ' ? '_' : *s == ';' || *s == '\n' ? ':' : *s);
	if (tid != -1)
		buf_fmt(&l->text, "-%d/%d", pid, tid);
	else if (pid != -1)
		buf_fmt(&l->text, "-%d", pid);
	if (buf_failed(&l->text) ||
	    foldtree_text(l->tree, buf_cstr(&l->text), l->text.n, &text))
		return ERR_NOMEM;
	return foldtree_child(l->tree, *node, text, node);
}

int labels_path(struct labels *l, uint32_t comm, uint32_t path, uint32_t *node)
{
	int java = !strncmp(strtab_get(&l->stacks->strings, comm), "java", 4);
	size_t n = stacks_depth(l->stacks, path);
	if (n > l->frames.cap && vec_reserve(&l->frames, n))
		return ERR_NOMEM;
	stacks_frames(l->stacks, path, l->frames.v, n);
	for (size_t i = 0; i < n; i++) {
		struct label_run run;
		if (run_of(l, l->frames.v[i], java, &run))
			return ERR_NOMEM;
		for (uint32_t k = 0; k < run.n; k++)
			if (foldtree_child(l->tree, *node, l->texts.v[run.at + k], node))
				return ERR_NOMEM;
	}
	return 0;
}
