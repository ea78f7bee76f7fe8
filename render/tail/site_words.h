/*
 * site_words.h - wait sites in words, and the tables of waits listed separately: unclear ones,
 * hidden ones, those of a whole life.
 */
#ifndef RENDER_TAIL_SITE_WORDS_H
#define RENDER_TAIL_SITE_WORDS_H

#include "base/text/buf.h"
#include "libtime/population/population.h"

/* A site (index of timeline.sites): "worker: cond in get_job()". */
void describe_site(struct buf *b, const struct timeline *tl, uint32_t site);

/* A regular expression for --work-frame and --idle-frame that names the site's function. 1, or 0:
 * it has none with a name. */
int describe_site_frame(struct buf *b, const struct timeline *tl, uint32_t site);

/* The option that settles an unclear site: "--idle-frame get_job", "--work-frame get_job", or
 * both without evidence; or what the next recording needs: "record --call-graph dwarf", or
 * names if it has stack copies. */
void describe_settling(struct buf *b, const struct timeline *tl, uint32_t site);

/* One line: "1,234 idle waits at 3 sites, 12.3 s (longest 40.0 ms, worker: cond in get_job());
 * 7 waits of kernel threads and perf, 1.2 s (show with --idle, --system)". */
void describe_hidden(struct buf *b, const struct timeline *tl, const struct set_apart *x);

/* The effect of missing kernel symbols: "no kernel symbols for 58 % of waits: their causes are
 * unknown, and idle ones among them are not recognized". 1; 0, and nothing appended, if 95 % of
 * waits or more have them. */
int describe_unnamed_waits(struct buf *b, const struct timeline *tl);

/* Whose stacks were recorded, where not everybody's were (perfkit record -p and others):
 * "only chosen threads have stacks of their waits, those of process 4711 (serve); add --pid 4711
 * to ask about it". 1; 0, and nothing appended, elsewhere. */
int describe_chosen(struct buf *b, const struct timeline *tl);

/*
 * The tables, as wide as `width`: at most 5 sites each, those with the longest waits. `reach`:
 * the length from which a wait is among the worst; hidden waits of that length are mentioned.
 * `bounds`: unclear waits are the bounds of activations. `probable`: the unclear waits that rank
 * with work; NULL or empty: none.
 */
struct site_tables {
	const struct timeline *tl;
	const struct set_apart *apart;
	const struct site_sums *probable;
	uint64_t reach;
	int bounds;
	size_t width;
};
void site_tables_write(struct buf *b, const struct site_tables *t);

#endif
