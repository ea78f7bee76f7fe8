#include "cmd/query/meant_input.h"
#include "base/count.h"
#include "cmd/cli/say.h"
#include "libtime/population/meant.h"
#include "libtime/record/recorded_for.h"
#include "render/text/escape.h"

#include <stdlib.h>
#include <string.h>

/* Could the command line name somebody? That of a stream is not known before its end. */
static int may_choose(const struct recording *rec)
{
	struct recorded_for w;
	int may = recording_is_stream(rec) || (!recorded_for_read(&w, rec, NULL) && w.whole &&
					       (w.command || w.ids.n || w.comms.n));
	if (!recording_is_stream(rec))
		recorded_for_release(&w);
	return may;
}

int meant_prepare(struct input *in, const struct tlinput_opts *opt)
{
	const struct recording *rec = in->profile->rec;
	int unsaid = !opt->meant && (opt->in.quiet || recording_is_stream(rec));
	if (unsaid || tlinput_names_threads(opt) || !may_choose(rec))
		return 0;
	in->fold.aggregate.activity = 1;
	in->fold.aggregate.by |= opt->meant ? BY_PID : 0;
	return opt->meant;
}

static int row_order(const void *a, const void *b)
{
	const struct folded *x = a, *y = b;
	const uint32_t p[] = {x->event, x->comm,   (uint32_t)x->tid, x->cpu,
			      x->path,  x->cgroup, x->label};
	const uint32_t q[] = {y->event, y->comm,   (uint32_t)y->tid, y->cpu,
			      y->path,  y->cgroup, y->label};
	return memcmp(p, q, sizeof(p));
}

/* Merge rows that only processes told apart. */
static void merge_rows(struct meant_rows *x)
{
	size_t n = 0;
	for (size_t i = 0; i < x->v.n; i++)
		x->v.v[i].pid = -1;
	if (x->v.n)
		qsort(x->v.v, x->v.n, sizeof(*x->v.v), row_order);
	for (size_t i = 0; i < x->v.n; i++) {
		struct folded *last = n ? &x->v.v[n - 1] : NULL;
		if (last && !row_order(last, &x->v.v[i])) {
			last->weight += x->v.v[i].weight;
			last->samples += x->v.v[i].samples;
		} else {
			x->v.v[n++] = x->v.v[i];
		}
	}
	x->v.n = n;
}

int meant_rows_of(struct profile *p, unsigned by, struct meant_rows *out, struct buf *name,
		  struct err *e)
{
	struct recorded_for w;
	struct meant meant = {0};
	*out = (struct meant_rows){0};
	int rc = recorded_for_read(&w, p->rec, e);
	rc = rc ? rc : meant_find(&meant, &w, &p->machine, &p->activity, e);
	for (size_t i = 0; i < p->folded.n && !rc; i++)
		if (!meant.pids.n || meant_has(&meant, p->folded.v[i].pid))
			rc = vec_push(&out->v, p->folded.v[i]) ? ERR_NOMEM : 0;
	if (!rc && meant.pids.n)
		buf_add(name, meant.name.v, meant.name.n);
	if (!rc && !(by & (BY_PID | BY_TID)))
		merge_rows(out);
	meant_release(&meant);
	recorded_for_release(&w);
	return rc || buf_failed(name) ? err_nomem(e) : 0;
}

void meant_text(struct buf *b, const struct buf *name)
{
	escape_visible(b, name->v, name->n);
	buf_str(b, ", which was recorded; --all for the whole machine");
}

static void say_left_out(const struct buf *name, const char *what)
{
	struct buf b = {0};
	escape_visible(&b, name->v, name->n);
	say("of %s, which was recorded; left out %s of other programs (--all)", buf_cstr(&b),
	    what);
	buf_release(&b);
}

void meant_say(const struct buf *name, uint64_t samples)
{
	if (samples)
		say_left_out(name, COUNT(samples, "sample"));
}

void meant_say_threads(const struct tlinput *ti)
{
	uint64_t n = 0;
	for (size_t i = 0; i < ti->tl.threads.n; i++)
		n += !(ti->tl.threads.v[i].flags & (THREAD_MEANT | THREAD_IDLE_TASK));
	if (ti->meant && n)
		say_left_out(&ti->meant_name, COUNT(n, "thread"));
}

/* 1 if not everybody of a recording is meant. */
static int is_about_some(const struct input *in)
{
	struct recorded_for w;
	struct meant meant = {0};
	if (!in->fold.aggregate.activity)
		return 0;
	int some =
		!recorded_for_read(&w, in->profile->rec, NULL) &&
		!meant_find(&meant, &w, &in->profile->machine, &in->profile->activity, NULL) &&
		meant.pids.n;
	meant_release(&meant);
	recorded_for_release(&w);
	return some;
}

void meant_say_everybody(const struct tlinput *ti)
{
	int some = ti->meant_name.n || (ti->in.profile && is_about_some(&ti->in));
	if (some && !ti->opt->in.quiet && !tlinput_names_threads(ti->opt))
		say("of all programs; svg, report and others are of what was recorded for, "
		    "unless --all");
}
