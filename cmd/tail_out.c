#include "cmd/input/output.h"
#include "cmd/tail_out.h"
#include "cmd/query/caption.h"
#include "render/flame/flame_input.h"
#include "render/text/escape.h"
#include "render/flame/flame_svg.h"
#include "render/tail/tail_text.h"
#include "render/timeline/tail_panels.h"

#include <string.h>

/* --- text ----------------------------------------------------------------------------------
 */

static void population_filters(const struct tail_opts *o, struct buf *b)
{
	filters_population(b, &o->wait.tl.in);
	filters_list(b, "where", &o->where);
}

void tailout_filters(const struct tail_opts *o, struct buf *b)
{
	filters_all(b, &o->wait);
	filters_list(b, "where", &o->where);
}

static void also_text(const struct tail_run *r, struct buf *b)
{
	enum { MAX = 4 };
	uint32_t names[MAX];
	const struct strtab *s = &r->ti.tl.stacks->strings;
	size_t n = episodes_span_names(&r->ti.tl, names, MAX);
	enum episode_kind kind = r->query.episodes.kind;
	if (kind != EPISODE_WAIT)
		buf_str(b, "--by wait");
	if (kind != EPISODE_ACTIVATION)
		buf_str(b, b->n ? ", --by activation" : "--by activation");
	for (size_t i = 0; i < n && i < MAX; i++) {
		if (kind == EPISODE_SPAN && names[i] == r->query.episodes.span)
			continue;
		buf_str(b, ", --by span:");
		escape_visible(b, strtab_get(s, names[i]), strtab_len(s, names[i]));
	}
	if (n > MAX)
		buf_str(b, ", ...");
}

const char *tailout_file(const struct tail_run *r)
{
	const char *s = strtab_get(&r->ti.tl.stacks->strings, r->ti.tl.rec.file);
	return *s ? s : r->ti.path;
}

int tailout_text(struct tail_run *r, struct tail *t, struct buf *b, struct err *e)
{
	const struct tail_opts *o = r->opt;
	struct buf filters = {0}, shown = {0}, also = {0};
	population_filters(o, &filters);
	filters_list(&shown, "cause", &o->wait.causes);
	filters_list(&shown, "state", &o->wait.states);
	also_text(r, &also);
	struct tailtext_options to = {
		.file = tailout_file(r),
		.filters = buf_cstr(&filters),
		.shown = buf_cstr(&shown),
		.also = buf_cstr(&also),
		.width = output_width(),
		.rows = o->rows < UINT32_MAX ? (uint32_t)o->rows : 0,
		.details = o->details < UINT32_MAX ? (uint32_t)o->details : UINT32_MAX,
		.hist = o->hist,
		.why = o->why,
		.full_stacks = o->stacks && !strcmp(o->stacks, "full"),
		.pick = r->query.pick,
	};
	int rc = tailtext_write(b, t, &to, e);
	buf_release(&filters);
	buf_release(&shown);
	buf_release(&also);
	return rc;
}

size_t tailout_ranked(const struct tail_run *r, const struct tail *t)
{
	return r->query.pick.dirty ? t->episodes.v.n : t->episodes.clean.n;
}

void tailout_population(struct tail_run *r, const struct tail *t, struct buf *b)
{
	struct buf filters = {0};
	population_filters(r->opt, &filters);
	struct tailtext_options to = {.filters = buf_cstr(&filters), .width = output_width()};
	tailtext_population(b, t, &to);
	buf_release(&filters);
}

/* --- flame graph ---------------------------------------------------------------------------
 */

static int add_flame(void *ctx, const struct folded *row, struct err *e)
{
	return flame_input_add(ctx, row, row->weight, 0, e);
}

static int add_flame_before(void *ctx, const struct folded *row, struct err *e)
{
	return flame_input_add(ctx, row, 0, row->weight, e);
}

int tailout_flame_add(const struct tail *t, struct flame_input *fi, const struct episode *ep,
		      int before, struct err *e)
{
	struct tail_times f = {
		.tail = t, .add = before ? add_flame_before : add_flame, .ctx = fi};
	return tail_times_add(&f, ep, e);
}

void tailout_what(const struct tail_run *r, const struct tail *t, struct buf *b)
{
	buf_fmt(b, "time inside the %zu worst of %zu episodes (by %s)", t->rows.n,
		tailout_ranked(r, t), episode_kind_name(r->query.episodes.kind));
}

static int write_flame(struct tail_run *r, const struct tail *t, struct flame *flame,
		       struct err *e)
{
	struct flame_svg_options o;
	struct outfile out;
	struct buf what = {0}, subtitle = {0}, filters = {0};
	flame_svg_defaults(&o);
	tailout_what(r, t, &what);
	caption_timeline(&subtitle, buf_cstr(&what), &r->ti);
	tailout_filters(r->opt, &filters);
	o.title = "Tail Flame Graph"; /* as svg --tail has it */
	o.subtitle = buf_cstr(&subtitle);
	o.filters = buf_cstr(&filters);
	o.countname = "ns";
	int rc = flame_finish(flame, e);
	rc = rc ? rc : output_open(&out, r->opt->flame, e);
	if (!rc)
		rc = outfile_end(&out, flame_svg_write(flame, &o, out.f, NULL, e), e);
	buf_release(&what);
	buf_release(&subtitle);
	buf_release(&filters);
	return rc;
}

int tailout_flame(struct tail_run *r, struct tail *t, struct err *e)
{
	struct flame flame;
	struct flame_input fi;
	int rc = flame_init(&flame) ? err_nomem(e) : 0;
	flame_input_init(&fi, t->tl->stacks, &flame, SPLIT_COMM, 0);
	for (size_t i = 0; !rc && i < t->rows.n; i++)
		rc = tailout_flame_add(t, &fi, &t->episodes.v.v[t->rows.v[i].episode], 0, e);
	if (!rc)
		rc = write_flame(r, t, &flame, e);
	flame_input_release(&fi);
	flame_release(&flame);
	return rc;
}

int tailout_svg(struct tail *t, size_t most, const char *path, const struct tl_svg_options *o,
		struct err *e)
{
	struct outfile out;
	int r = output_open(&out, path, e);
	return r ? r : outfile_end(&out, tail_panels_write(t, most, o, out.f, e), e);
}
