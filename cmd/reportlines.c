#include "cmd/reportlines.h"
#include "base/mem.h"
#include "cmd/missing.h"
#include "cmd/reporthead.h"
#include "libstore/store.h"
#include "render/escape.h"

#include <string.h>

/* The timeline has samples of CPU time; the survey counted all. */
static int count(struct report_counts *n, const struct tlinput *ti)
{
	const struct recording *rec = ti->in.profile->rec;
	*n = (struct report_counts){.first_ns = ti->survey.first_ns,
				    .last_ns = ti->survey.last_ns};
	for (size_t i = 0; i < rec->events.n; i++)
		if (vec_push(&n->events, (struct report_event){0}))
			return ERR_NOMEM;
	for (size_t i = 0; i < ti->tl.samples.n; i++) {
		struct report_event *c = &n->events.v[ti->tl.samples.v[i].event];
		c->samples++;
		c->weight += ti->tl.samples.v[i].period;
	}
	for (size_t i = 0; i < rec->events.n && i < ti->survey.events.n; i++)
		if (!n->events.v[i].samples)
			n->events.v[i].samples = ti->survey.events.v[i].samples;
	return 0;
}

static int add_head(struct report_lines *out, const struct tlinput *ti)
{
	struct report_counts n;
	struct buf b = {0};
	int r = count(&n, ti);
	if (!r) {
		report_head(&b, &ti->in, &n);
		r = buf_failed(&b) ? ERR_NOMEM : report_lines_add(out, "head", buf_cstr(&b));
	}
	vec_release(&n.events);
	buf_release(&b);
	return r;
}

/* All samples by their stacks, where missing_find looks for them. */
static int fold_by_path(struct profile *p, const struct timeline *tl)
{
	size_t paths = p->stacks.paths.n;
	uint64_t *n = mem_zalloc(paths + 1, sizeof(*n));
	int r = n ? 0 : ERR_NOMEM;
	p->folded.n = 0;
	for (size_t i = 0; i < tl->samples.n && !r; i++)
		n[tl->samples.v[i].path]++;
	for (uint32_t i = 0; i < paths && !r; i++) {
		struct folded f = {.path = i, .samples = n[i]};
		r = n[i] && vec_push(&p->folded, f) ? ERR_NOMEM : 0;
	}
	mem_free(n);
	return r;
}

static int add_names(struct report_lines *out, const struct profile *p)
{
	struct missing m;
	struct buf b = {0};
	int r = missing_find(&m, p, NULL);
	buf_fmt(&b, "names: %.1f %% of all samples have a named innermost function\n",
		m.samples ? 100.0 * (double)m.named_leaf / (double)m.samples : 100.0);
	r = r ? r : report_lines_add(out, "names", buf_cstr(&b));
	for (size_t i = 0; i < m.dsos.n && !r; i++) {
		buf_clear(&b);
		missing_text(&b, p, &m, &m.dsos.v[i]);
		r = buf_failed(&b) ? ERR_NOMEM : report_lines_add(out, "file", buf_cstr(&b));
	}
	if (!r && missing_by_debuginfod(p, &m))
		r = report_lines_add(out, "hint", "debuginfod");
	buf_release(&b);
	missing_release(&m);
	return r;
}

static int read_store(struct report_lines *out, const struct tlinput *ti, struct err *e)
{
	struct store *s;
	int r = store_open(&s, ti->path, e);
	if (r)
		return r;
	r = store_report(s, ti->recording, out, e);
	store_close(s);
	return r;
}

int report_lines_of(struct report_lines *out, const struct tlinput *ti, struct err *e)
{
	struct profile *p = ti->in.profile;
	*out = (struct report_lines){0};
	if (!p)
		return read_store(out, ti, e);
	int r = add_head(out, ti);
	r = r ? r : fold_by_path(p, &ti->tl);
	if (!r && p->folded.n)
		r = add_names(out, p);
	p->folded.n = 0;
	return r ? err_nomem(e) : 0;
}

/* A store may be a stranger's: nothing but line feeds goes to the terminal as it is. */
static void put(const char *text)
{
	struct buf b = {0};
	while (*text) {
		size_t n = strcspn(text, "\n");
		escape_visible(&b, text, n);
		text += n;
		if (*text)
			buf_char(&b, *text++);
	}
	fputs(buf_cstr(&b), stdout);
	buf_release(&b);
}

int report_lines_head(const struct report_lines *l)
{
	int printed = 0;
	for (size_t i = 0; i < l->v.n; i++)
		if (!strcmp(l->v.v[i].part, "head")) {
			put(l->v.v[i].text);
			printed = 1;
		}
	return printed;
}

void report_lines_names(const struct report_lines *l, int top)
{
	size_t files = 0;
	int hint = 0;
	for (size_t i = 0; i < l->v.n; i++) {
		const struct report_line *x = &l->v.v[i];
		hint |= !strcmp(x->part, "hint");
		if (!strcmp(x->part, "names")) {
			putchar('\n');
			put(x->text);
		}
		if (strcmp(x->part, "file") != 0)
			continue;
		if (!files++)
			fputs(MISSING_TITLE, stdout);
		if (top <= 0 || files <= (size_t)top)
			put(x->text);
	}
	if (top > 0 && files > (size_t)top)
		printf(MISSING_MORE, files - (size_t)top);
	if (hint)
		missing_print_hint(stdout);
}
