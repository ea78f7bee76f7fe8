#include "cmd/input/output.h"
#include "cmd/answer/html_report.h"
#include "cmd/answer/tail_out.h"
#include "cmd/query/caption.h"
#include "libtime/causes/causes.h"
#include "render/flame/flame_input.h"
#include "render/text/escape.h"
#include "render/flame/flame_svg.h"
#include "render/tail/tail_text.h"
#include "render/timeline/answer_panels.h"
#include "render/timeline/tail_panels.h"

#include <string.h>

/* --- text ----------------------------------------------------------------------------- */

static void population_filters(const struct tail_run *r, struct buf *b)
{
	filters_population(b, &r->ti);
	filters_list(b, "where", &r->opt->where);
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

size_t tailout_panels(const struct tail_opts *o)
{
	return o->rows_given && o->rows ? (size_t)o->rows : TAIL_PANELS;
}

int tailout_text(struct tail_run *r, struct tail *t, struct buf *b, struct err *e)
{
	const struct tail_opts *o = r->opt;
	struct buf filters = {0}, shown = {0}, also = {0};
	population_filters(r, &filters);
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
		.programs = !r->ti.meant && !tlinput_asks_threads(&o->wait.tl),
		.hist = o->hist,
		.why = o->why,
		.full_stacks = o->stacks && !strcmp(o->stacks, "full"),
		.pick = r->query.pick,
		.picture = o->svg,
		.pictured = tailout_panels(o),
		.report = o->html,
		.reported = HTML_EPISODES,
	};
	int rc = tailtext_write(b, t, &to, e);
	buf_release(&filters);
	buf_release(&shown);
	buf_release(&also);
	return rc;
}

void tailout_population(struct tail_run *r, const struct tail *t, struct buf *b)
{
	struct buf filters = {0};
	population_filters(r, &filters);
	struct tailtext_options to = {.filters = buf_cstr(&filters), .width = output_width()};
	tailtext_population(b, t, &to);
	buf_release(&filters);
}

void tailout_selection(struct tail_run *r, const struct tail *t, struct buf *b)
{
	struct tailtext_options to = {
		.shown = "", .pick = r->query.pick, .width = output_width()};
	tailtext_selection(b, t, &to);
}

/* --- flame graph ---------------------------------------------------------------------- */

static int add_row(void *flame_input, const struct stack_row *r, struct err *e)
{
	return flame_input_row(flame_input, r, r->of.weight, 0, e);
}

static int write_flame(struct tail_run *r, const struct tail *t, struct flame *flame,
		       struct err *e)
{
	struct flame_svg_options o;
	struct outfile out;
	struct buf what = {0}, subtitle = {0}, filters = {0};
	flame_svg_defaults(&o);
	tail_what(r, t, &what);
	caption_timeline(&subtitle, buf_cstr(&what), &r->ti);
	tail_filters(&r->ti, r->opt, &filters);
	o.title = "Tail Flame Graph"; /* as svg --tail has it */
	o.subtitle = buf_cstr(&subtitle);
	o.filters = buf_cstr(&filters);
	o.countname = "ns";
	int rc = flame_finish(flame, e);
	rc = rc ? rc : flame_find_thin(flame, causes_frames(r->ti.causes), e);
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
	rc = rc ? rc : stack_rows_tail(t, add_row, &fi, e);
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

int tailout_answer_svg(const struct episodes_answer *a, size_t most, const char *path,
		       const struct tl_svg_options *o, struct err *e)
{
	int gaps = a->episodes->query.kind == EPISODE_GAP;
	struct outfile out;
	int r = output_open(&out, path, e);
	if (r)
		return r;
	r = (gaps ? gap_panels_write : window_panels_write)(a, most, o, out.f, e);
	return outfile_end(&out, r, e);
}
