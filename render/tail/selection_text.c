#include "render/tail/tail_text.h"
#include "render/tail/episodes_answer.h"
#include "render/text/table.h"
#include "render/text/units.h"

enum { PROSE = 80 };

/* Warn that a high percentile of few episodes is just the longest. */
static void put_few_episodes(struct buf *b, const struct tail *t, uint32_t millipercent)
{
	uint64_t n = t->episodes.clean.n, need = percentile_needs(millipercent);
	if (!n || !t->too_few)
		return;
	buf_str(b, " (the longest: p");
	units_percent(b, millipercent);
	buf_str(b, " takes ");
	units_count(b, need);
	buf_str(b, " episodes, and there ");
	buf_str(b, n == 1 ? "is " : "are ");
	units_count(b, n);
	buf_str(b, "; ask for --top N or --p90)");
}

/* "3 gaps lasted at least ". */
static void put_lasted(struct buf *line, const struct tail *t, uint64_t n)
{
	static const char *const nouns[][2] = {
		[EPISODE_WAIT] = {"episode", "episodes"},
		[EPISODE_SPAN] = {"episode", "episodes"},
		[EPISODE_ACTIVATION] = {"episode", "episodes"},
		[EPISODE_WINDOW] = {"window", "windows"},
		[EPISODE_GAP] = {"gap", "gaps"},
	};
	const char *const *noun = nouns[t->episodes.query.kind];
	units_plural(line, n, noun[0], noun[1]);
	buf_str(line, " lasted at least ");
}

/* The percentile, and how many reach it. */
static void percentile_line(struct buf *line, const struct tail *t,
			    const struct episode_pick *p)
{
	if (t->selection.extended && !t->selection.uncertain) {
		buf_str(line, "the ");
		units_plural(line, t->selection.v.n, "longest episode", "longest episodes");
		buf_str(line, " (at least ");
		units_duration(line, t->selection.threshold_ns);
		buf_str(line, "); p");
		units_percent(line, p->millipercent);
		buf_str(line, " = ");
		answer_put_percentile(line, &t->episodes, p->millipercent);
		put_few_episodes(line, t, p->millipercent);
		return;
	}
	buf_char(line, 'p');
	units_percent(line, p->millipercent);
	if (t->selection.uncertain) {
		buf_str(line, p->dirty ? ": cannot say; "
				       : ": cannot say; of those measured whole, ");
		put_lasted(line, t, p->dirty ? t->selection.v.n : t->selection.whole);
		units_duration(line, t->selection.threshold_ns);
		return;
	}
	buf_str(line, " = ");
	answer_put_percentile(line, &t->episodes, p->millipercent);
	put_few_episodes(line, t, p->millipercent);
	buf_str(line, "; ");
	put_lasted(line, t, t->selection.v.n);
	buf_str(line, "that long");
}

static void selected(struct buf *line, const struct tail *t, const struct episode_pick *p)
{
	switch (p->kind) {
	case PICK_PERCENTILE:
		percentile_line(line, t, p);
		break;
	case PICK_OVER:
		put_lasted(line, t, t->selection.v.n);
		units_duration(line, p->ns);
		break;
	case PICK_KEY:
	case PICK_ID:
		units_plural(line, t->selection.v.n, "episode has", "episodes have");
		buf_fmt(line, " that %s", p->kind == PICK_KEY ? "key" : "id");
		break;
	default:
		buf_str(line, "the ");
		if (t->selection.v.n == 1)
			buf_str(line, "longest episode");
		else
			units_plural(line, t->selection.v.n, "", "longest episodes");
	}
}

/* "; 35 longer waits by design are left out, up to 101 ms (--top N ranks them, too)". */
static void put_by_design(struct buf *line, const struct tail *t)
{
	const struct episode_selection *s = &t->selection;
	if (!s->by_design)
		return;
	buf_str(line, "; not ranked: ");
	units_plural(line, s->by_design, "wait", "waits");
	buf_str(line, " by design, up to ");
	units_duration(line, s->longest_ns);
	buf_str(line, " (--top N ranks all)");
}

void tailtext_selection(struct buf *b, const struct tail *t, const struct tailtext_options *o)
{
	struct buf line = {0};
	buf_char(b, '\n');
	selected(&line, t, &o->pick);
	if (*o->shown) {
		buf_str(&line, "; showing ");
		units_count(&line, t->rows.n);
		buf_fmt(&line, " with %s", o->shown);
	}
	if (t->selection.dirty && !o->pick.dirty) {
		buf_str(&line, "; ");
		units_plural(&line, t->selection.dirty, "open or suspect one lasted",
			     "open or suspect ones lasted");
		buf_str(&line, " as long");
		if (t->selection.unlisted)
			buf_fmt(&line, " (%s --open)",
				t->selection.unlisted < t->selection.dirty
					? "all are listed with"
					: "list with");
	}
	put_by_design(&line, t);
	text_wrapped(b, buf_cstr(&line), 0, 2, PROSE);
	buf_release(&line);
}
