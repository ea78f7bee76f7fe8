#include "libsym/pack_source.h"
#include "base/mem.h"
#include "libparse/archive/tar.h"

#include <stdlib.h>
#include <string.h>

/* A source file that frames are in. */
struct hot_file {
	uint32_t file, dso; /* strings ids */
	uint64_t samples;
	size_t last; /* index + 1 in profile.folded */
};

struct hot_files {
	struct u64map index; /* file → v */
	VEC(struct hot_file) v;
};

static int count_frame(struct hot_files *h, const struct frame *f, size_t i, uint64_t samples)
{
	uint32_t at;
	if (!f->srcfile)
		return 0;
	if (!u64map_get(&h->index, f->srcfile, &at)) {
		struct hot_file new = {.file = f->srcfile, .dso = f->dso};
		at = (uint32_t)h->v.n;
		if (vec_push(&h->v, new) || u64map_put(&h->index, f->srcfile, at))
			return ERR_NOMEM;
	}
	struct hot_file *x = &h->v.v[at];
	x->samples += x->last == i + 1 ? 0 : samples;
	x->last = i + 1;
	return 0;
}

static int count(struct hot_files *h, const struct profile *p)
{
	const struct stacks *s = &p->stacks;
	int rc = 0;
	for (size_t i = 0; i < p->folded.n; i++)
		for (uint32_t at = p->folded.v[i].path; !rc && at; at = s->paths.v[at].parent)
			rc = count_frame(h, &s->frames.v[s->paths.v[at].frame], i,
					 p->folded.v[i].samples);
	return rc;
}

static int add(struct packlist *l, const struct hot_file *h, const struct source_text *t,
	       const char *compiled)
{
	struct buf name = {0};
	source_text_packed(&name, compiled, t->verdict);
	struct pack_file f = {.name = mem_strdup(buf_cstr(&name)),
			      .path = mem_strdup(t->path),
			      .made = mem_alloc(t->n + 1),
			      .size = t->n,
			      .dso = NO_ID,
			      .samples = h->samples,
			      .order = l->files.n};
	int rc = buf_failed(&name) || !f.name || !f.path || !f.made ? ERR_NOMEM : 0;
	buf_release(&name);
	if (!rc && tar_name_is_safe(f.name)) {
		memcpy(f.made, t->text, t->n);
		f.data = (const uint8_t *)f.made;
		rc = vec_push(&l->files, f);
		if (!rc)
			return 0;
	}
	pack_file_free(&f);
	return rc;
}

static int by_samples(const void *a, const void *b)
{
	const struct pack_file *x = a, *y = b;
	return x->samples != y->samples ? (x->samples > y->samples ? -1 : 1)
					: strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
	const struct pack_file *x = a, *y = b;
	int c = strcmp(x->name, y->name);
	return c ? c : by_samples(a, b);
}

/* Two names of one file (a/./b.c) are one entry. */
static void sort_unique(struct packlist *l, size_t first)
{
	size_t n = first;
	qsort(l->files.v + first, l->files.n - first, sizeof(*l->files.v), by_name);
	for (size_t i = first; i < l->files.n; i++)
		if (n > first && !strcmp(l->files.v[n - 1].name, l->files.v[i].name))
			pack_file_free(&l->files.v[i]);
		else
			l->files.v[n++] = l->files.v[i];
	l->files.n = n;
	qsort(l->files.v + first, n - first, sizeof(*l->files.v), by_samples);
}

int packlist_add_sources(struct packlist *l, const struct profile *p,
			 const struct source_options *from, size_t *absent, struct err *e)
{
	struct hot_files hot = {0};
	size_t first = l->files.n;
	int rc = count(&hot, p);
	*absent = 0;
	for (size_t i = 0; i < hot.v.n && !rc; i++) {
		const struct hot_file *h = &hot.v.v[i];
		const char *path = strtab_get(&p->stacks.strings, h->file);
		struct source_name name;
		struct source_text t = {0};
		rc = modules_source(p->modules, modules_dso_named(p->modules, h->dso), path,
				    &name);
		if (!rc && name.text && *name.text)
			continue; /* it is in the binary */
		rc = rc ? rc : source_text_load(&t, from, &name, e);
		*absent += !rc && !t.path;
		if (!rc && t.path)
			rc = add(l, h, &t, path);
		source_text_release(&t);
	}
	if (l->files.n > first)
		sort_unique(l, first);
	u64map_release(&hot.index);
	vec_release(&hot.v);
	return rc ? err_nomem(e) : 0;
}
