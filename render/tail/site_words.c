#include "render/tail/site_words.h"
#include "libtime/causes/causes.h"
#include "libtime/causes/sites.h"
#include "libtime/sched/timeline_answers.h"
#include "libtime/sched/timeline_names.h"
#include "render/text/escape.h"
#include "render/text/table.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

#include <string.h>

enum { SHOWN = 5, PROSE = 80 };

void describe_site(struct buf *b, const struct timeline *tl, uint32_t site)
{
	const struct tl_site *s = timeline_site(tl, site);
	if (!site) {
		buf_str(b, "[no site]");
		return;
	}
	describe_name(b, tl, s->role);
	buf_fmt(b, ": %s", cause_name(s->cause));
	if (s->frame) {
		buf_str(b, " in ");
		describe_function(b, tl, s->frame);
	}
}

/* A function as a regular expression for a shell: characters that are special in either become
 * ".". */
static void put_pattern(struct buf *b, const char *name)
{
	size_t n = strcspn(name, "(<");
	if (!n)
		n = strlen(name);
	for (size_t i = 0; i < n; i++)
		buf_char(b, strchr(" \t\"'`$&;|*?+^[]{}()<>\\!#~", name[i]) ? '.' : name[i]);
}

int describe_site_frame(struct buf *b, const struct timeline *tl, uint32_t site)
{
	const struct tl_site *s = timeline_site(tl, site);
	const struct frame *f = &tl->stacks->frames.v[s->frame];
	if (s->reason == REASON_NO_FRAME || !s->frame || !f->name)
		return 0;
	put_pattern(b, strtab_get(&tl->stacks->strings, f->name));
	return 1;
}

void describe_settling(struct buf *b, const struct timeline *tl, uint32_t site)
{
	const struct tl_site *s = timeline_site(tl, site);
	int copies = sites_have_copies(tl);
	struct buf name = {0};
	if (!describe_site_frame(&name, tl, site)) {
		buf_str(b, copies ? "symbols, or a perf map" : "record --call-graph dwarf");
		return;
	}
	if (s->loop || s->reason == REASON_LIBRARY_LOOP)
		buf_str(b, "--idle-frame ");
	else
		buf_str(b, copies && s->reason != REASON_ANSWERED
				   ? "--idle-frame or --work-frame "
				   : "--work-frame ");
	buf_str(b, buf_cstr(&name));
	b->failed |= name.failed;
	buf_release(&name);
}

static const char *show_with(const struct set_apart *x)
{
	return !x->by[APART_IDLE].count ? "--system"
	       : !x->system             ? "--idle"
					: "--idle, --system";
}

void describe_hidden(struct buf *b, const struct timeline *tl, const struct set_apart *x)
{
	const struct site_sums *idle = &x->by[APART_IDLE], *unclear = &x->by[APART_LEFT_OUT];
	size_t begin = b->n;
	if (idle->count) {
		units_plural(b, idle->count, "wait at rest", "waits at rest");
		buf_str(b, " at ");
		units_plural(b, idle->v.n, "site, ", "sites, ");
		units_duration(b, idle->ns);
		buf_str(b, " (longest ");
		units_duration(b, idle->max_ns);
		buf_str(b, ", ");
		describe_site(b, tl, idle->v.v[0].site);
		buf_char(b, ')');
	}
	if (unclear->count) {
		buf_str(b, b->n > begin ? "; " : "");
		units_plural(b, unclear->count, "unclear wait, ", "unclear waits, ");
		units_duration(b, unclear->ns);
	}
	if (x->system) {
		buf_str(b, b->n > begin ? "; " : "");
		units_plural(b, x->system, "wait", "waits");
		buf_str(b, " of kernel threads and perf, ");
		units_duration(b, x->system_ns);
	}
	if (idle->count || x->system)
		buf_fmt(b, " (show with %s)", show_with(x));
}

/* Without kernel symbols it is not known whether a wait is for a lock or for work. */
int describe_unnamed_waits(struct buf *b, const struct timeline *tl)
{
	uint64_t all, n = timeline_unnamed_waits(tl, &all);
	if (!n || n * 20 < all)
		return 0;
	buf_fmt(b,
		"no kernel symbols for %.0f %% of waits: their causes are unknown, and which "
		"of them are at rest",
		100.0 * (double)n / (double)all);
	return 1;
}

int describe_chosen(struct buf *b, const struct timeline *tl)
{
	if (!timeline_stacks_of_some(tl))
		return 0;
	uint32_t t = timeline_stacked_process(tl);
	buf_str(b, "only chosen threads were recorded with stacks");
	if (t == TL_NONE) {
		buf_str(b, ": ask about them with --comm or --pid");
		return 1;
	}
	int pid = tl->threads.v[t].pid;
	buf_fmt(b, ", those of process %d (", pid);
	describe_name(b, tl, tl->threads.v[t].comm);
	buf_fmt(b, "); add --pid %d to ask about it", pid);
	return 1;
}

/* --- tables --------------------------------------------------------------------------- */

static void length_cell(struct table *t, const struct site_sum *s)
{
	if (s->open)
		buf_str(&t->text, "\xe2\x89\xa5 ");
	table_duration(t, s->max_ns);
}

static void more_sites(struct buf *b, size_t n)
{
	if (n <= SHOWN)
		return;
	buf_str(b, "... ");
	units_plural(b, n - SHOWN, "more site", "more sites");
	buf_str(b, " (perfkit report --by site lists all)\n");
}

/* 1 when they are of several programs: a role, main() say, may be a function of each. */
static int of_several_programs(const struct timeline *tl, const struct site_sums *s)
{
	for (size_t i = 1; i < s->v.n; i++)
		if (timeline_site(tl, s->v.v[i].site)->program !=
		    timeline_site(tl, s->v.v[0].site)->program)
			return 1;
	return 0;
}

static void program_cell(struct table *t, const struct timeline *tl, uint32_t site)
{
	describe_name(&t->text, tl, timeline_site(tl, site)->program);
	table_next(t);
}

/* `last` writes a site's last column. */
static void sums_table(struct buf *b, const struct site_tables *t, const struct site_sums *s,
		       const char *title, const char *column,
		       void (*last)(struct buf *b, const struct timeline *tl, uint32_t site))
{
	const struct table_column columns[] = {{title, .cut = TABLE_CUT},
					       {"program"},
					       {"count", .right = 1},
					       {"total", .right = 1},
					       {"p50", .right = 1, .drop = 1},
					       {"max", .right = 1},
					       {column}};
	const struct table_column one[] = {columns[0], columns[2], columns[3],
					   columns[4], columns[5], columns[6]};
	int several = of_several_programs(t->tl, s);
	struct table table = {several ? columns : one, several ? 7 : 6};
	for (size_t i = 0; i < s->v.n && i < SHOWN; i++) {
		const struct site_sum *x = &s->v.v[i];
		describe_site(&table.text, t->tl, x->site);
		table_next(&table);
		if (several)
			program_cell(&table, t->tl, x->site);
		table_count(&table, x->count);
		table_duration(&table, x->ns);
		table_duration(&table, x->p50_ns);
		length_cell(&table, x);
		last(&table.text, t->tl, x->site);
		table_next(&table);
	}
	buf_char(b, '\n');
	table_write(b, &table, t->width);
	table_release(&table);
	more_sites(b, s->v.n);
}

static void say_reason(struct buf *b, const struct timeline *tl, uint32_t site)
{
	buf_str(b, site_reason_name(timeline_site(tl, site)->reason));
}

static void say_nothing(struct buf *b, const struct timeline *tl, uint32_t site)
{
	(void)b;
	(void)tl;
	(void)site;
}

static void sentence(struct buf *b, struct buf *line)
{
	if (line->n) {
		buf_char(b, '\n');
		text_wrapped(b, buf_cstr(line), 0, 2, PROSE);
	}
	buf_release(line);
}

/* "16 waits, 540 ms, in pool_borrow(): --work-frame pool_borrow makes them work, --idle-frame
 * pool_borrow hides them." */
static void settle_line(struct buf *b, const struct timeline *tl, const struct site_sum *x,
			int ranked)
{
	struct buf line = {0}, name = {0};
	if (!describe_site_frame(&name, tl, x->site))
		return;
	units_plural(&line, x->count, "wait, ", "waits, ");
	units_duration(&line, x->ns);
	buf_str(&line, ", in ");
	describe_function(&line, tl, timeline_site(tl, x->site)->frame);
	buf_fmt(&line, ": --work-frame %s %s, --idle-frame %s hides them", buf_cstr(&name),
		ranked ? "makes them work" : "ranks them in full", buf_cstr(&name));
	b->failed = buf_failed(&name) ? ERR_NOMEM : b->failed;
	buf_release(&name);
	text_wrapped(b, buf_cstr(&line), 0, 2, PROSE);
	buf_release(&line);
}

static void probable_table(struct buf *b, const struct site_tables *t)
{
	sums_table(b, t, t->probable, "unclear, probably waited for: ranked", "decide with",
		   describe_settling);
	settle_line(b, t->tl, &t->probable->v.v[0], 1);
}

static void unclear_table(struct buf *b, const struct site_tables *t)
{
	sums_table(b, t, &t->apart->by[APART_UNCLEAR],
		   t->bounds ? "unclear bounds of activations" : "unclear: at rest, or work?",
		   "decide with", describe_settling);
	if (!t->bounds)
		settle_line(b, t->tl, &t->apart->by[APART_UNCLEAR].v.v[0], 0);
}

/* The waits omitted by --no-unclear. */
static void left_out(struct buf *b, const struct site_sums *x)
{
	struct buf line = {0};
	if (!x->count)
		return;
	buf_str(&line, "left out: ");
	units_plural(&line, x->count, "wait", "waits");
	buf_str(&line, " that are unclear, ");
	units_duration(&line, x->ns);
	buf_str(&line, ", the longest ");
	units_duration(&line, x->max_ns);
	buf_str(&line, " (--no-unclear)");
	sentence(b, &line);
}

static void hidden_table(struct buf *b, const struct site_tables *t)
{
	const struct site_sums *idle = &t->apart->by[APART_IDLE];
	struct buf line = {0};
	if (idle->count) {
		sums_table(b, t, idle, "hidden: at rest", "why", say_reason);
		if (t->reach && idle->max_ns >= t->reach) {
			buf_str(&line, "a hidden wait of ");
			units_duration(&line, idle->max_ns);
			buf_str(&line, " would be among the worst (show with --idle)");
		}
	}
	sentence(b, &line);
	left_out(b, &t->apart->by[APART_LEFT_OUT]);
	if (t->apart->system) {
		struct buf system = {0};
		buf_str(&system, "hidden: ");
		units_plural(&system, t->apart->system, "wait", "waits");
		buf_str(&system, " of kernel threads and perf, ");
		units_duration(&system, t->apart->system_ns);
		buf_str(&system, " (show with --system)");
		sentence(b, &system);
	}
	if (!idle->count && !t->apart->system && !t->apart->by[APART_LEFT_OUT].count)
		buf_str(b, "\nhidden: nothing\n");
}

void site_tables_write(struct buf *b, const struct site_tables *t)
{
	if (t->probable && t->probable->count)
		probable_table(b, t);
	if (t->apart->by[APART_UNCLEAR].count)
		unclear_table(b, t);
	hidden_table(b, t);
	if (t->apart->by[APART_LIFE].count)
		sums_table(b, t, &t->apart->by[APART_LIFE],
			   "a thread's whole life, or its process's exit", "", say_nothing);
}
