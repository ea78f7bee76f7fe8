#include "cmd/answer/html_report.h"
#include "base/check.h"
#include "base/bigvec.h"
#include "base/mem.h"
#include "cmd/input/output.h"
#include "cmd/query/caption.h"
#include "cmd/query/timeline_samples.h"
#include "libtime/sched/thin.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline_query.h"
#include "render/html/html_data.h"
#include "render/html/html_graphs.h"
#include "render/html/html_page.h"
#include "render/tail/program_table.h"
#include "render/tail/site_words.h"
#include "render/tail/tail_answer.h"
#include "render/tail/tail_json.h"
#include "render/tail/tail_text.h"
#include "render/text/finding_text.h"
#include "render/text/units.h"
#include "render/timeline/tail_panels.h"

#include <string.h>

enum { PICTURES = 10, TOP_THREADS = 50, TEXT_WIDTH = 100 };

struct report {
	const struct html_request *opt;
	struct tail_run *r;
	struct tail *t; /* NULL: there are no waits to show */
	struct html_data data;
	struct timeline thin;
	const struct timeline *shown; /* the recording's, or `thin` */
	uint64_t grain_ns;            /* of `thin`; 0: nothing is summed up */
	struct findings findings;
	struct html_source lines;
	struct buf subtitle, filters, answer, also, note, text, head, source;
	struct buf scratch;
	int failed; /* scratch did, before it was used again */
	struct population of;
	struct tl_pick pick;                /* rows of the timeline */
	uint8_t *drawn;                     /* by thread: in a picture */
	struct thin_keep windows[PICTURES]; /* of the episodes that have pictures */
	struct thin_keep keep[PICTURES]; /* windows in which a thinned timeline is complete */
	size_t nkeep;
};

/* The scratch text, empty. */
static void again(struct report *p)
{
	p->failed |= buf_failed(&p->scratch);
	buf_clear(&p->scratch);
}

/* --- what the page says ------------------------------------------------------------------ */

static void head_findings(struct report *p, struct json *j)
{
	static const struct {
		const char *name;
		unsigned bit;
	} topics[] = {{"CPU time", ABOUT_CPU},
		      {"waiting", ABOUT_OFFCPU},
		      {"worst episodes", ABOUT_TAIL},
		      {"names", ABOUT_NAMES}};
	json_open(j, "verdicts", '[');
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++) {
		int waits = topics[i].bit & (ABOUT_OFFCPU | ABOUT_TAIL);
		const char *verdict = findings_verdict(&p->findings, topics[i].bit);
		if (!verdict || (waits && !p->t) ||
		    (topics[i].bit == ABOUT_CPU && !p->r->ti.tl.samples.n))
			continue;
		json_open(j, NULL, '[');
		json_str(j, NULL, topics[i].name);
		json_str(j, NULL, verdict);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_open(j, "findings", '[');
	for (size_t i = 0; i < p->findings.v.n; i++) {
		const struct finding *f = &p->findings.v.v[i];
		json_open(j, NULL, '{');
		json_str(j, "harm", finding_severity_name(f->severity));
		again(p);
		finding_title(&p->scratch, f);
		json_str(j, "title", buf_cstr(&p->scratch));
		json_str(j, "spoils", f->kind->impact);
		again(p);
		finding_remedy(&p->scratch, f);
		json_str(j, "remedy", buf_cstr(&p->scratch));
		json_close(j, '}');
	}
	json_close(j, ']');
	json_str(j, "line", p->findings.line);
}

static void head_site(struct report *p, struct json *j, const struct site_sum *s, int settle)
{
	const struct timeline *tl = &p->r->ti.tl;
	const struct tl_site *site = timeline_site(tl, s->site);
	struct buf *b = &p->scratch;
	json_open(j, NULL, '{');
	again(p);
	describe_site(b, tl, s->site);
	json_str(j, "site", buf_cstr(b));
	again(p);
	describe_name(b, tl, site->program);
	json_str(j, "program", buf_cstr(b));
	json_str(j, "reason", site_reason_name(site->reason));
	json_u64(j, "count", s->count);
	json_u64(j, "ns", s->ns);
	json_u64(j, "p50_ns", s->p50_ns);
	json_u64(j, "max_ns", s->max_ns);
	json_bool(j, "open", s->open);
	if (settle) {
		again(p);
		describe_settling(b, tl, s->site);
		json_str(j, "settle", buf_cstr(b));
	}
	json_close(j, '}');
}

/* The roots of the episodes, by time. */
static void head_groups(struct report *p, struct json *j)
{
	struct buf *b = &p->scratch;
	json_open(j, "groups", '[');
	for (size_t i = 0; i < p->t->groups.n && i < HTML_EPISODES; i++) {
		const struct tail_group *g = &p->t->groups.v[i];
		json_open(j, NULL, '{');
		again(p);
		describe_group(b, p->t, g);
		json_text(j, "root", buf_cstr(b), b->n);
		json_u64(j, "count", g->count);
		json_u64(j, "ns", g->ns);
		json_u64(j, "rank", g->row + 1u); /* of the worst of them */
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* What the page's first sentence speaks of: how much of the worst episodes' time. */
static void head_told(struct report *p, struct json *j)
{
	const struct tail *t = p->opt->verdict ? p->opt->verdict : p->t;
	uint64_t ns = 0;
	for (size_t i = 0; i < t->rows.n; i++)
		ns += episode_ns(&t->episodes.v.v[t->rows.v[i].episode]);
	json_open(j, "told", '{');
	json_u64(j, "count", t->told.count);
	json_u64(j, "ns", t->told.ns);
	json_u64(j, "of", t->rows.n);
	json_u64(j, "of_ns", ns);
	json_u64(j, "rank", t->told.count ? t->told.row + 1u : 0);
	json_close(j, '}');
}

static void put_sites(struct report *p, struct json *j, const struct set_apart *x)
{
	static const char *const names[] = {NULL, "idle", "unclear", "left_out", "life"};
	ENTRIES(names, APART_KINDS);
	json_open(j, "sites", '{');
	for (int k = APART_IDLE; k < APART_KINDS; k++) {
		json_open(j, names[k], '[');
		for (size_t i = 0; i < x->by[k].v.n; i++)
			head_site(p, j, &x->by[k].v.v[i], k == APART_UNCLEAR);
		json_close(j, ']');
	}
	json_u64(j, "system", x->system);
	json_u64(j, "system_ns", x->system_ns);
	json_close(j, '}');
}

/* Spans and gaps set no waits apart: the other views do. */
static int head_sites(struct report *p, struct json *j, struct err *e)
{
	const struct episodes *of = &p->t->episodes;
	struct episode_query q = {.kind = EPISODE_WAIT, .of = of->query.of};
	struct episodes waits;
	if (of->query.kind == EPISODE_WAIT || of->query.kind == EPISODE_ACTIVATION) {
		put_sites(p, j, &of->apart);
		return 0;
	}
	int rc = episodes_collect(&p->r->ti.tl, &q, &waits, e);
	if (!rc)
		put_sites(p, j, &waits.apart);
	if (!rc)
		episodes_release(&waits);
	return rc;
}

/* The number of complete episodes by length, in powers of the square root of two. */
static void head_lengths(struct report *p, struct json *j)
{
	const struct episodes *x = &p->t->episodes;
	json_open(j, "lengths", '[');
	for (size_t i = 0; i < x->clean.n;) {
		uint64_t low = x->clean.v[i], n = 0;
		unsigned top = low ? 63 - (unsigned)__builtin_clzll(low) : 0;
		uint64_t half = top ? (1ull << top) + (1ull << (top - 1)) : 1;
		uint64_t from = low < half ? 1ull << top : half;
		uint64_t to = low < half ? half : top < 63 ? 2ull << top : UINT64_MAX;
		for (; i < x->clean.n && x->clean.v[i] < to; i++)
			n++;
		json_open(j, NULL, '[');
		json_u64(j, NULL, from);
		json_u64(j, NULL, to);
		json_u64(j, NULL, n);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static int head_tail(struct report *p, struct json *j, struct err *e)
{
	struct buf *b = &p->scratch;
	struct tailtext_options to = {
		.file = "", .filters = "", .shown = "", .also = "", .width = TEXT_WIDTH};
	int rc = 0;
	again(p);
	rc = tailjson_write(b, p->t, HTML_EPISODES, 0, e);
	json_raw(j, "tail", buf_cstr(b));
	again(p);
	rc = rc ? rc : tailjson_median(b, p->t, e);
	json_raw(j, "median", buf_cstr(b));
	json_open(j, "texts", '[');
	for (size_t i = 0; !rc && i < p->t->rows.n && i < HTML_EPISODES; i++) {
		again(p);
		rc = tailtext_episode(b, p->t, i, &to, e);
		json_text(j, NULL, buf_cstr(b), b->n);
	}
	json_close(j, ']');
	json_open(j, "roots", '[');
	for (size_t i = 0; i < p->t->rows.n && i < HTML_EPISODES; i++) {
		again(p);
		describe_root_brief(b, p->t, &p->t->rows.v[i].root);
		json_text(j, NULL, buf_cstr(b), b->n);
	}
	json_close(j, ']');
	head_groups(p, j);
	head_told(p, j);
	head_lengths(p, j);
	return rc ? rc : head_sites(p, j, e);
}

static size_t pictures(const struct report *p)
{
	return !p->t ? 0 : p->t->rows.n < PICTURES ? p->t->rows.n : PICTURES;
}

static size_t rows_shown(const struct report *p)
{
	return p->t->rows.n < HTML_EPISODES ? p->t->rows.n : HTML_EPISODES;
}

/* Of all waits: --cause and --state only select episodes. */
static int head_graphs(struct report *p, struct json *j, struct err *e)
{
	struct wait_opts all = p->r->opt->wait;
	struct wait_selection which;
	all.causes = all.states = (struct opt_list){0};
	int rc = waits_selection(&which, &p->r->ti, &all, WAITS_BY_WAKER, e);
	return rc ? rc : html_graphs_add(&p->data, p->t, &which, rows_shown(p), j, e);
}

static int make_head(struct report *p, struct err *e)
{
	struct json j = {.b = &p->head};
	int rc = 0;
	json_open(&j, NULL, '{');
	json_u64(&j, "schema", 1);
	json_str(&j, "filters", buf_cstr(&p->filters));
	json_u64(&j, "grain_ns", p->grain_ns);
	html_data_head(&p->data, &j);
	head_findings(p, &j);
	json_str(&j, "why_not", p->t ? NULL : p->opt->why_not);
	json_u64(&j, "pictures", pictures(p));
	if (p->t)
		rc = head_tail(p, &j, e);
	if (p->t && !rc)
		rc = head_graphs(p, &j, e);
	rc = rc ? rc : html_data_frames(&p->data, e);
	html_columns_head(&p->data.columns, &j);
	json_close(&j, '}');
	return rc;
}

/* --- pictures ---------------------------------------------------------------------------- */

static void picture_options(const struct report *p, struct tl_svg_options *o)
{
	tl_svg_defaults(o);
	o->in_page = 1;
	o->page_ns = &p->data.from_ns;
	o->filters = buf_cstr((struct buf *)&p->filters);
}

/* 1 if the picture needs its own intervals, because the report's are summed up. */
static int keeps(const struct report *p, size_t rank)
{
	const struct timeline *tl = &p->r->ti.tl;
	const struct thin_keep *x = &p->windows[rank];
	size_t n = 0;
	for (uint32_t i = 0; i < tl->threads.n && n <= PANEL_INTERVALS; i++)
		n += timeline_offcpu_after(tl, i, x->to_ns) -
		     timeline_offcpu_after(tl, i, x->from_ns);
	return n <= PANEL_INTERVALS;
}

/* A picture to write into a blob through a stream. */
struct picture {
	struct report *p;
	size_t rank; /* of an episode */
	struct tl_panel panel;
	int (*draw)(struct picture *x, FILE *out, struct err *e);
};

static int put_picture(struct picture *x, const char *id, FILE *out, struct err *e)
{
	struct html_blob blob;
	int rc = html_blob_begin(&blob, id, out, e);
	if (rc)
		return rc;
	FILE *f = html_blob_file(&blob);
	rc = f ? x->draw(x, f, e) : err_nomem(e);
	if (f && fclose(f) && !rc)
		rc = err_sys(e, "cannot write");
	return html_blob_end(&blob, rc, e);
}

static int draw_episode(struct picture *x, FILE *out, struct err *e)
{
	struct tl_svg_options o;
	picture_options(x->p, &o);
	o.title = "Episode";
	if (x->p->grain_ns && !keeps(x->p, x->rank))
		o.page_ns = NULL;
	return tail_panels_one(x->p->t, x->rank, &o, out, e);
}

static int draw_panel(struct picture *x, FILE *out, struct err *e)
{
	struct tl_svg_options o;
	picture_options(x->p, &o);
	struct buf b = {0};
	const char *thinned = tl_svg_grain(&b, x->p->grain_ns);
	o.hidden = &thinned;
	o.n_hidden = x->p->grain_ns > 0;
	int rc = timeline_svg_write(x->p->shown, &x->panel, 1, &o, out, NULL, e);
	buf_release(&b);
	return rc;
}

static void pick_options(const struct report *p, struct tl_pick_options *o)
{
	const struct timeline *tl = p->shown;
	uint64_t from = p->of.start_ns, to = p->of.stop_ns;
	*o = (struct tl_pick_options){.from_ns = from > tl->rec.origin_ns ? from
									  : tl->rec.origin_ns,
				      .to_ns = to && to < tl->rec.end_ns ? to : tl->rec.end_ns,
				      .top = TOP_THREADS,
				      .show_system = p->r->opt->wait.system,
				      .merge = p->opt->merge_threads,
				      .no_cpus = (tl->flags & TL_PER_TASK) != 0};
}

/* Choose the windows of the episodes' pictures, and their threads. */
static int choose_windows(struct report *p, struct err *e)
{
	int rc = 0;
	p->drawn = mem_zalloc(p->r->ti.tl.threads.n + 1, 1);
	if (!p->drawn)
		return err_nomem(e);
	for (size_t i = 0; i < pictures(p) && !rc; i++) {
		rc = tail_panels_what(p->t, i, &p->windows[i], p->drawn, e);
		if (!rc && keeps(p, i))
			p->keep[p->nkeep++] = p->windows[i];
	}
	return rc;
}

/* Choose the rows of the timeline. */
static int choose_rows(struct report *p, struct err *e)
{
	const struct timeline *tl = p->shown;
	struct tl_pick_options o;
	pick_options(p, &o);
	uint8_t *allowed = mem_zalloc(tl->threads.n + 1, 1);
	if (!allowed)
		return err_nomem(e);
	for (uint32_t i = 0; i < tl->threads.n; i++)
		allowed[i] = (uint8_t)tl_thread_passes(&p->r->ti, i, tl->threads.v[i].comm);
	o.allowed = allowed;
	int rc = tl_pick(tl, &o, &p->pick, e);
	mem_free(allowed);
	for (size_t i = 0; i < p->pick.rows.n && !rc; i++)
		if (p->pick.rows.v[i].kind == TLROW_THREAD)
			p->drawn[p->pick.rows.v[i].id] = 1;
	return rc;
}

static int put_timeline(struct report *p, FILE *out, struct err *e)
{
	struct picture x = {.p = p, .draw = draw_panel};
	x.panel = (struct tl_panel){.from_ns = p->data.from_ns,
				    .to_ns = p->data.to_ns,
				    .zero_ns = p->shown->rec.origin_ns,
				    .clip = p->r->opt->wait.tl.in.time != NULL,
				    .rows = p->pick.rows.v,
				    .nrows = p->pick.rows.n};
	return put_picture(&x, "timeline", out, e);
}

static int put_pictures(struct report *p, FILE *out, struct err *e)
{
	int rc = p->t ? put_timeline(p, out, e) : 0;
	for (size_t i = 0; i < pictures(p) && !rc; i++) {
		struct picture x = {.p = p, .rank = i, .draw = draw_episode};
		char id[32];
		snprintf(id, sizeof(id), "episode%zu", i + 1);
		rc = put_picture(&x, id, out, e);
	}
	return rc;
}

/* --- the page ---------------------------------------------------------------------------- */

static int put_columns(struct report *p, FILE *out, struct err *e)
{
	struct html_blob blob;
	struct buf strings = {0};
	html_data_strings(&p->data, &strings);
	int rc = html_blob_write("strings", &strings, out, e);
	rc = rc ? rc : html_blob_begin(&blob, "columns", out, e);
	if (rc)
		return rc;
	return html_blob_end(&blob, html_columns_write(&p->data.columns, &blob, e), e);
}

/* The lines of functions are the same however much of the timeline is summed up. */
static int put_source(struct report *p, FILE *out, struct err *e)
{
	struct buf b = {0};
	if (!p->source.n)
		return 0;
	buf_add(&b, p->source.v, p->source.n);
	return html_blob_write("source-data", &b, out, e);
}

/* 1 if memory for a text of the page ran out. */
static int texts_failed(const struct report *p)
{
	const struct buf *const all[] = {&p->subtitle, &p->filters, &p->answer, &p->also,
					 &p->note,     &p->text,    &p->scratch};
	int failed = p->failed;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		failed |= buf_failed(all[i]);
	return failed;
}

static int put_page(struct report *p, FILE *out, struct err *e)
{
	struct buf b = {0}, title = {0};
	buf_fmt(&title, "perfkit report: %s", caption_file(tailout_file(p->r)));
	struct html_page page = {.title = p->opt->title ? p->opt->title : buf_cstr(&title),
				 .subtitle = buf_cstr(&p->subtitle),
				 .filters = buf_cstr(&p->filters),
				 .answer = buf_cstr(&p->answer),
				 .also = buf_cstr(&p->also),
				 .note = buf_cstr(&p->note),
				 .text = buf_cstr(&p->text)};
	html_page_begin(&page, &b, out);
	int rc = buf_failed(&b) || buf_failed(&title) || texts_failed(p) ? err_nomem(e) : 0;
	buf_release(&b);
	buf_release(&title);
	rc = rc ? rc : html_blob_write("head", &p->head, out, e);
	rc = rc ? rc : put_columns(p, out, e);
	rc = rc ? rc : put_source(p, out, e);
	rc = rc ? rc : put_pictures(p, out, e);
	html_page_end(out);
	return rc;
}

/* The page in memory, or beyond that in a file without a name; `most` 0: of any size. */
struct sink {
	BIGVEC(char) v;
	uint64_t most;
	int too_large;
	struct err e;
};

static ssize_t write_sink(void *sink, const char *p, size_t n)
{
	struct sink *s = sink;
	s->too_large |= s->most && s->v.n + n > s->most;
	if (s->too_large || s->e.code || bigvec_reserve(&s->v, n, &s->e))
		return 0;
	memcpy(s->v.v + s->v.n, p, n);
	s->v.n += n;
	return (ssize_t)n;
}

static int write_page(struct report *p, struct sink *s, struct err *e)
{
	FILE *f = fopencookie(s, "w", (cookie_io_functions_t){.write = write_sink});
	if (!f)
		return err_nomem(e);
	int rc = put_page(p, f, e);
	if (fclose(f) && !rc)
		rc = err_sys(e, "cannot write");
	return s->e.code ? err_set(e, s->e.code, "%s", s->e.msg) : rc;
}

/* Make the page, with intervals below p->grain_ns summed up. */
static int make_page(struct report *p, struct sink *s, struct err *e)
{
	const struct timeline *tl = &p->r->ti.tl;
	const struct sample_selection samples = tl_selection(&p->r->ti);
	int rc = p->grain_ns ? timeline_thin(tl, p->grain_ns, p->keep, p->nkeep, &p->thin, e)
			     : 0;
	p->shown = p->grain_ns ? &p->thin : tl;
	p->of = waits_population(&p->r->ti, &p->r->opt->wait);
	rc = rc || !p->t ? rc : choose_rows(p, e);
	rc = rc ? rc
		: html_data_gather(&p->data, p->shown, &p->of, &samples, p->drawn, &p->lines,
				   p->opt->merge_threads, e);
	buf_clear(&p->head);
	rc = rc ? rc : make_head(p, e);
	rc = rc ? rc : write_page(p, s, e);
	html_data_release(&p->data);
	tl_pick_release(&p->pick);
	if (p->grain_ns)
		timeline_thin_release(&p->thin);
	return rc;
}

static void say_grain(struct report *p)
{
	struct buf b = {0};
	units_duration(&b, p->grain_ns);
	input_warn(&p->r->ti.in,
		   "to stay below %g MB (--max-size), everything shorter than %s is only "
		   "summed up",
		   p->opt->max_size, buf_cstr(&b));
	buf_release(&b);
}

static int too_large(const struct report *p, struct err *e)
{
	return err_set(e, ERR_REFUSED,
		       "the report would exceed --max-size %g MB, even with everything "
		       "shorter than 10 ms summed up; narrow it with --time or --comm",
		       p->opt->max_size);
}

static int write_report(struct report *p, struct err *e)
{
	static const uint64_t grains[] = {0, 10000, 100000, 1000000, 10000000};
	struct sink s = {.most = (uint64_t)(p->opt->max_size * (1 << 20))};
	struct outfile out;
	struct progress line;
	int rc = 0;
	progress_start(&line, "writing", input_shows_progress(&p->r->opt->wait.tl.in));
	for (size_t i = 0; i < sizeof(grains) / sizeof(*grains); i++) {
		p->grain_ns = grains[i];
		s.v.n = 0;
		s.too_large = 0;
		rc = make_page(p, &s, e);
		if (!s.too_large)
			break;
	}
	progress_end(&line);
	rc = s.too_large ? too_large(p, e) : rc;
	if (!rc && p->grain_ns)
		say_grain(p);
	rc = rc ? rc : output_open(&out, p->opt->output, e);
	if (!rc) {
		fwrite(s.v.v, 1, s.v.n, out.f);
		rc = outfile_end(&out, 0, e);
	}
	bigvec_release(&s.v);
	return rc;
}

/* --- all of it --------------------------------------------------------------------------- */

static int say_all(struct report *p, struct err *e)
{
	caption_timeline(&p->subtitle, "recorded", &p->r->ti);
	if (p->opt->merge_threads)
		buf_str(&p->subtitle, " \xc2\xb7 numbered threads merged");
	tail_filters(&p->r->ti, p->r->opt, &p->filters);
	if (!p->t)
		return 0;
	tailtext_unclear(&p->note, p->t, "Wait sites");
	struct tail *verdict = p->opt->verdict ? p->opt->verdict : p->t;
	int whole = !p->r->ti.meant && !tlinput_asks_threads(&p->r->opt->wait.tl);
	int rc = whole && program_words(&p->also, verdict) ? err_nomem(e) : 0;
	rc = rc ? rc : tail_answer(&p->answer, verdict, e);
	tailtext_recurrence(&p->also, verdict);
	struct tail_opts text = *p->r->opt;
	struct tail_run as_text = *p->r;
	text.details = 3;
	text.rows = HTML_EPISODES;
	text.html = text.svg = NULL;
	as_text.opt = &text;
	return rc ? rc : tailout_text(&as_text, p->t, &p->text, e);
}

static int make_source(struct report *p, struct err *e)
{
	const struct sample_selection samples = tl_selection(&p->r->ti);
	const struct population waits = waits_population(&p->r->ti, &p->r->opt->wait);
	return html_source_make(&p->r->ti, &samples, &waits, &p->opt->source, &p->lines,
				&p->source, e);
}

int html_report(struct tail_run *r, struct tail *t, const struct html_request *o, struct err *e)
{
	struct report p = {.opt = o, .r = r, .t = t};
	int rc = tlinput_check_label(&r->ti, e);
	rc = rc ? rc : tlinput_findings(&r->ti, 0, &p.findings, e);
	rc = rc ? rc : say_all(&p, e);
	rc = rc || !t ? rc : choose_windows(&p, e);
	rc = rc ? rc : make_source(&p, e);
	rc = rc ? rc : write_report(&p, e);
	mem_free(p.drawn);
	html_source_release(&p.lines);
	findings_release(&p.findings);
	buf_release(&p.subtitle);
	buf_release(&p.filters);
	buf_release(&p.answer);
	buf_release(&p.also);
	buf_release(&p.note);
	buf_release(&p.text);
	buf_release(&p.head);
	buf_release(&p.source);
	buf_release(&p.scratch);
	return rc;
}
