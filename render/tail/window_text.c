#include "render/tail/window_text.h"
#include "libtime/sched/timeline_query.h"
#include "render/text/labels.h"
#include "render/text/table.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

#include <string.h>

enum { THREADS = 5, PROSE = 80, TEXT = 16 };

struct writer {
	struct buf *b;
	const struct episodes_answer *a;
	struct part_sums parts;
	struct window_activity w;
};

static const struct episode *episode_at(const struct writer *w, size_t rank)
{
	return &w->a->episodes->v.v[w->a->selection->v.v[rank]];
}

static int look(struct writer *w, size_t rank, struct err *e)
{
	return window_of(&w->parts, &w->a->episodes->query, episode_at(w, rank), &w->w, e);
}

/* --- text ----------------------------------------------------------------------------- */

static int window_row(struct writer *w, struct table *table, size_t rank, struct err *e)
{
	const struct episode *ep = episode_at(w, rank);
	const struct timeline *tl = w->a->tl;
	int r = look(w, rank, e);
	table_count(table, rank + 1);
	units_since(&table->text, ep->start_ns, tl->rec.origin_ns);
	table_next(table);
	table_duration(table, episode_ns(ep));
	describe_name(&table->text, tl, episode_key_text(w->a->episodes, tl, ep));
	table_next(table);
	table_duration(table, w->w.sums.run);
	table_duration(table, w->w.sums.runnable);
	if (w->w.v.n)
		describe_thread(&table->text, tl, w->w.v.v[0].thread,
				tl->threads.v[w->w.v.v[0].thread].comm);
	table_next(table);
	return r;
}

static int windows_table(struct writer *w, struct err *e)
{
	static const struct table_column columns[] = {{"#", .right = 1},
						      {"start (s)", .right = 1},
						      {"length", .right = 1},
						      {"key"},
						      {"running", .right = 1},
						      {"runnable", .right = 1},
						      {"most by", .cut = TABLE_CUT_ID}};
	struct table table = {columns, 7};
	size_t n = answer_rows(w->a);
	int r = 0;
	for (size_t i = 0; i < n && !r; i++)
		r = window_row(w, &table, i, e);
	buf_char(w->b, '\n');
	table_write(w->b, &table, w->a->width);
	table_release(&table);
	answer_more(w->b, w->a);
	return r;
}

static void put_line(struct writer *w, const char *label, struct buf *line)
{
	buf_fmt(w->b, "    %-*s", TEXT - 4, label);
	text_wrapped(w->b, buf_cstr(line), TEXT, TEXT, PROSE);
	buf_clear(line);
}

static void thread_line(struct writer *w, const struct window_thread *x, const char *label)
{
	const struct timeline *tl = w->a->tl;
	struct buf line = {0};
	describe_thread(&line, tl, x->thread, tl->threads.v[x->thread].comm);
	buf_str(&line, " ran ");
	units_duration(&line, x->sums.run);
	buf_str(&line, ", was runnable ");
	units_duration(&line, x->sums.runnable);
	buf_str(&line, ", blocked ");
	units_duration(&line, x->sums.blocked);
	if (x->sums.unknown) {
		buf_str(&line, ", unknown ");
		units_duration(&line, x->sums.unknown);
	}
	put_line(w, label, &line);
	buf_release(&line);
}

static void others_line(struct writer *w)
{
	struct buf line = {0};
	if (!w->w.others)
		return;
	units_duration(&line, w->w.shared_run_ns);
	buf_str(&line, " of its running while ");
	units_plural(&line, w->w.others, "other span was open", "other spans were open");
	put_line(w, "shared", &line);
	buf_release(&line);
}

static void rest_line(struct writer *w)
{
	struct tl_sums rest = {0};
	struct buf line = {0};
	for (size_t i = THREADS; i < w->w.v.n; i++)
		rest.run += w->w.v.v[i].sums.run;
	if (w->w.v.n > THREADS) {
		units_plural(&line, w->w.v.n - THREADS, "more thread ran ",
			     "more threads ran ");
		units_duration(&line, rest.run);
	}
	if (w->w.asleep) {
		buf_str(&line, line.n ? "; " : "");
		units_count(&line, w->w.asleep);
		buf_str(&line, " more slept all the time");
	}
	if (line.n)
		put_line(w, "", &line);
	buf_release(&line);
}

static int detail(struct writer *w, size_t rank, struct err *e)
{
	const struct episode *ep = episode_at(w, rank);
	struct buf line = {0};
	int r = look(w, rank, e);
	buf_fmt(w->b, "\n#%zu  ", rank + 1);
	units_duration(w->b, episode_ns(ep));
	buf_str(w->b, "  from ");
	units_stretch(w->b, ep->start_ns, ep->end_ns, w->a->tl->rec.origin_ns);
	buf_str(w->b, ep->flags & OFF_OPEN ? ", open\n" : "\n");
	labels_words(&line, w->a->tl, ep->at);
	if (line.n)
		put_line(w, "request", &line);
	for (size_t i = 0; i < w->w.v.n && i < THREADS; i++)
		thread_line(w, &w->w.v.v[i], i ? "" : "in it");
	if (!w->w.v.n && !w->w.asleep) {
		buf_str(&line, "none of the chosen threads is recorded then");
		put_line(w, "in it", &line);
	}
	others_line(w);
	rest_line(w);
	buf_release(&line);
	return r;
}

static int text(struct writer *w, struct err *e)
{
	int r = windows_table(w, e);
	for (size_t i = 0; i < w->a->selection->v.n && i < w->a->details && !r; i++)
		r = detail(w, i, e);
	more_details(w->b, w->a->selection->v.n, w->a->details);
	buf_str(w->b,
		"\nWindows tell what threads did meanwhile, not what the spans did: these "
		"name no\nthread that worked on them alone.\n");
	return r;
}

/* --- JSON ----------------------------------------------------------------------------- */

static void threads(struct writer *w, struct json *j)
{
	const struct timeline *tl = w->a->tl;
	json_open(j, "threads", '[');
	for (size_t i = 0; i < w->w.v.n; i++) {
		const struct window_thread *x = &w->w.v.v[i];
		json_open(j, NULL, '{');
		answer_json_thread(j, tl, x->thread);
		json_u64(j, "run_ns", x->sums.run);
		json_u64(j, "interrupted_ns", x->sums.interrupted);
		json_u64(j, "blocked_ns", x->sums.blocked);
		json_u64(j, "runnable_ns", x->sums.runnable);
		json_u64(j, "preempted_ns", x->sums.preempted);
		json_u64(j, "unknown_ns", x->sums.unknown);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static int window_json(struct writer *w, struct json *j, size_t rank, struct err *e)
{
	const struct episode *ep = episode_at(w, rank);
	const struct timeline *tl = w->a->tl;
	uint64_t origin = tl->rec.origin_ns;
	int r = look(w, rank, e);
	json_open(j, NULL, '{');
	answer_json_episode(j, w->a, rank);
	answer_json_text(j, tl, "key", episode_key_text(w->a->episodes, tl, ep));
	labels_json(j, tl, ep->at);
	json_i64(j, "start_ns", (int64_t)(ep->start_ns - origin));
	json_i64(j, "end_ns", (int64_t)(ep->end_ns - origin));
	json_u64(j, "duration_ns", episode_ns(ep));
	json_bool(j, "open", ep->flags & OFF_OPEN);
	json_u64(j, "others", w->w.others);
	json_u64(j, "shared_run_ns", w->w.shared_run_ns);
	json_u64(j, "asleep", w->w.asleep);
	threads(w, j);
	json_close(j, '}');
	return r;
}

static int json(struct writer *w, struct err *e)
{
	struct json j = {.b = w->b};
	int r = 0;
	answer_json_open(&j, "window");
	answer_json_text(&j, w->a->tl, "span", w->a->episodes->query.span);
	answer_json_population(&j, w->a->episodes);
	json_open(&j, "episodes", '[');
	for (size_t i = 0; i < answer_rows(w->a) && !r; i++)
		r = window_json(w, &j, i, e);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_char(w->b, '\n');
	return r;
}

/* --- public functions ----------------------------------------------------------------- */

static int answer(struct buf *b, const struct episodes_answer *a,
		  int (*with)(struct writer *w, struct err *e), struct err *e)
{
	struct writer w = {.b = b, .a = a};
	int r = part_sums_init(&w.parts, a->tl) ? err_nomem(e) : with(&w, e);
	part_sums_release(&w.parts);
	window_release(&w.w);
	return r ? r : buf_failed(b) ? err_nomem(e) : 0;
}

int windows_text(struct buf *b, const struct episodes_answer *a, struct err *e)
{
	return answer(b, a, text, e);
}

int windows_json(struct buf *b, const struct episodes_answer *a, struct err *e)
{
	return answer(b, a, json, e);
}
