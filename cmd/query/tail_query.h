/*
 * tail_query.h - the options that select the tail, and the query made from them, for `tail` and
 * for commands that draw, fold or export the time inside its episodes.
 */
#ifndef CMD_QUERY_TAIL_QUERY_H
#define CMD_QUERY_TAIL_QUERY_H

#include "base/text/buf.h"
#include "cmd/query/waits.h"
#include "libtime/explain/tail_model.h"

/* Default of `top`: --top was not given. */
#define TAIL_NO_TOP UINT64_MAX

struct tail_opts {
	struct wait_opts wait;
	const char *by, *preset, *pct, *over, *key, *episode, *group, *stacks, *flame, *svg,
		*html, *against;
	struct opt_list where;
	uint64_t top, rows, details;
	int open, hist, why, json, csv;
	int rows_given;
};

enum { TAIL_WHERE = 16 };

struct tail_run {
	const char *verb;     /* for messages */
	uint8_t threadless;   /* the verb shows gaps and windows, which have no thread */
	uint8_t says_unnamed; /* as in struct tlinput_needs */
	const struct tail_opts *opt;
	struct tlinput ti;
	struct tail_query query;
	struct label_match where[TAIL_WHERE]; /* query.episodes.where */
};

/* The options that select the tail, for structs that begin with tail_opts; --top N, the N
 * longest (0: all), is each verb's own. */
extern const struct opt tail_pick_rows[];

/* Names of these and of other options that affect the selection, for a verb's modes. */
#define TAIL_PICKS                                                                     \
	WAITS_SHOW                                                                     \
	" span label with key where by p50 p90 p95 p99 p999 p9999 p pct over episode " \
	"open"

/*
 * Open `path` as a timeline and turn the options into r->query. *several is set if the
 * recording has spans of several names, names[0..*n), and none was chosen; if `several` is
 * NULL, that is a usage error. 0, or the exit status after one line on stderr, and nothing is
 * open.
 */
enum { TAIL_NAMES = 64 };
int tail_ask(struct tail_run *r, const char *verb, const char *path, uint32_t *names, size_t *n,
	     int *several);

/* The same for a timeline that is open as r->ti, and remains so. */
int tail_ask_opened(struct tail_run *r, const char *verb, uint32_t *names, size_t *n,
		    int *several);

/* 0 if the selected tail is based on complete episodes (or --force), else 3 after a message; also
 * if nothing has the id that was asked for. */
int tail_refuse(const struct tail_run *r, const struct tail *t);

/* 1 for episodes without a thread: gaps or windows. They have no chain.
 */
int tail_is_threadless(const struct tail_run *r);

/* tail_make, with a progress line. */
int tail_explain(struct tail_run *r, struct tail *t, struct err *e);

/* tail_explain and tail_refuse: 0, then the caller releases *t; or the exit status after one line
 * on stderr. */
int tail_take(struct tail_run *r, struct tail *t);

/* tail_ask and tail_take in one. 0, then the caller releases *t and closes r->ti; or the exit
 * status after one line on stderr, and nothing is open. */
int tail_open(struct tail_run *r, const char *verb, const char *path, struct tail *t);

/* The number of episodes of which the selected ones are the worst. */
size_t tail_ranked(const struct tail_run *r, const struct tail *t);

/* Append "time inside the 3 worst of 1200 episodes (by wait)", for captions. */
void tail_what(const struct tail_run *r, const struct tail *t, struct buf *b);

/* Append every filter that was given, for captions (caption.h). */
void tail_filters(const struct tlinput *ti, const struct tail_opts *o, struct buf *b);

#endif
