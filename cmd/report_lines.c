#include "cmd/report_lines.h"
#include "base/mem.h"
#include "render/text/missing_text.h"
#include "cmd/report_head.h"
#include "libparse/sample.h"
#include "libtime/store/store.h"
#include "render/text/escape.h"

#include <string.h>

static void count_one(struct report_counts *n, uint32_t event, uint64_t time_ns,
		      uint64_t period)
{
	n->events.v[event].samples++;
	n->events.v[event].weight += period;
	if (!sample_is_time(time_ns))
		return;
	n->first_ns = time_ns < n->first_ns ? time_ns : n->first_ns;
	n->last_ns = time_ns > n->last_ns ? time_ns : n->last_ns;
}

static int count(struct report_counts *n, const struct tlinput *ti)
{
	const struct timeline *tl = &ti->tl;
	*n = (struct report_counts){.first_ns = UINT64_MAX};
	for (size_t i = 0; i < tl->events.n; i++)
		if (vec_push(&n->events, (struct report_event){0}))
			return ERR_NOMEM;
	for (size_t i = 0; i < tl->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		n->events.v[i].samples += ev->counted;
		n->events.v[i].weight += ev->counted_period;
		n->first_ns =
			ev->counted && ev->first_ns < n->first_ns ? ev->first_ns : n->first_ns;
		n->last_ns = ev->last_ns > n->last_ns ? ev->last_ns : n->last_ns;
	}
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		count_one(n, s->event, s->time_ns, s->period);
	}
	for (size_t i = 0; i < tl->event_samples.n; i++) {
		const struct tl_event_sample *s = &tl->event_samples.v[i];
		count_one(n, s->event, s->time_ns, s->period);
	}
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

int report_lines_of(struct report_lines *out, struct tlinput *ti, struct err *e)
{
	struct profile *p = ti->in.profile;
	*out = (struct report_lines){0};
	if (!p)
		return read_store(out, ti, e);
	int r = add_head(out, ti);
	r = r ? r : tlinput_fold_paths(ti, !tlinput_has_scheduler(ti));
	if (!r && p->folded.n)
		r = add_names(out, p);
	p->folded.n = 0;
	return r ? err_nomem(e) : 0;
}

/* A store is untrusted: nothing but line feeds goes to the terminal as it is. */
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
