/*
 * tail_query.h - the options that say which episodes are the tail, and the question they make:
 * of `tail`, and of what draws, folds or exports the time inside those episodes.
 */
#ifndef CMD_QUERY_TAIL_QUERY_H
#define CMD_QUERY_TAIL_QUERY_H

#include "base/text/buf.h"
#include "cmd/query/waits.h"
#include "libtime/explain/tail_model.h"

/* A verb's defaults have this for `top`: --top was not given. */
#define TAIL_NO_TOP UINT64_MAX

struct tail_opts {
	struct wait_opts wait;
	const char *by, *preset, *pct, *over, *key, *group, *stacks, *flame, *svg, *html,
		*against;
	struct opt_list where;
	uint64_t top, rows, details;
	int open, hist, why, json, csv;
	int rows_given;
};

enum { TAIL_WHERE = 16 };

struct tail_run {
	const char *verb; /* who asks, for messages */
	const struct tail_opts *opt;
	struct tlinput ti;
	struct tail_query query;
	struct label_match where[TAIL_WHERE]; /* query.episodes.where */
};

/* Rows of the options that say which episodes are the tail, for structs that begin with
 * tail_opts; --top N, the N longest (0 = all), is each verb's own. */
extern const struct opt tail_pick_rows[];

/* Their names, and those of other options that the picked episodes depend on, for a verb's
 * modes. */
#define TAIL_PICKS \
	WAITS_SHOW " span label with key where by p50 p90 p95 p99 p999 p9999 p pct over open"

/*
 * Open `path` as a timeline and turn the options into r->query. *several, when not NULL: the
 * recording has spans of several names and none was chosen; names[0..*n) are they. With NULL
 * that is a usage error. 0, or the exit status after one line on stderr; then nothing is open.
 */
enum { TAIL_NAMES = 64 };
int tail_ask(struct tail_run *r, const char *verb, const char *path, uint32_t *names, size_t *n,
	     int *several);

/* The same of a timeline that is open as r->ti, and stays so. */
int tail_ask_opened(struct tail_run *r, const char *verb, uint32_t *names, size_t *n,
		    int *several);

/* 0 when the selected tail rests on episodes seen whole (or --force), else 3 after saying so.
 */
int tail_refuse(const struct tail_run *r, const struct tail *t);

/* Are the episodes that were asked for no single thread's: gaps or windows? They have no chain.
 */
int tail_is_threadless(const struct tail_run *r);

/* tail_make and tail_refuse: 0, then *t is the caller's to release; or the exit status after
 * one line on stderr. */
int tail_take(struct tail_run *r, struct tail *t);

/* tail_ask and tail_take in one. 0, then *t is the caller's to release and r->ti
 * to close; or the exit status after one line on stderr, and nothing is left. */
int tail_open(struct tail_run *r, const char *verb, const char *path, struct tail *t);

/* How many episodes the picked ones are the worst of. */
size_t tail_ranked(const struct tail_run *r, const struct tail *t);

/* Append "time inside the 3 worst of 1200 episodes (by wait)", for captions. */
void tail_what(const struct tail_run *r, const struct tail *t, struct buf *b);

/* Append every filter that was given, for captions (caption.h). */
void tail_filters(const struct tail_opts *o, struct buf *b);

#endif
