/*
 * tail_out.h - `perfkit tail`: its options, and its answers as text and pictures.
 */
#ifndef CMD_TAIL_OUT_H
#define CMD_TAIL_OUT_H

#include "base/buf.h"
#include "cmd/query/waits.h"
#include "libtime/explain/tail_times.h"
#include "libsym/profile.h"
#include "render/timeline/timeline_svg.h"

/* A verb's defaults have this for `top`: --top was not given. */
#define TAIL_NO_TOP UINT64_MAX

struct tail_opts {
	struct wait_opts wait;
	const char *by, *preset, *pct, *over, *key, *group, *stacks, *flame, *svg;
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
	WAITS_SHOW " span with key where by p50 p90 p95 p99 p999 p9999 p pct over open"

/* How many episodes the picked ones are the worst of. */
size_t tailout_ranked(const struct tail_run *r, const struct tail *t);

/* Every filter that was given, for captions (caption.h). */
void tailout_filters(const struct tail_opts *o, struct buf *b);

/* "time inside the 3 worst of 1200 episodes (by wait)", for captions. */
void tailout_what(const struct tail_run *r, const struct tail *t, struct buf *b);

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

struct flame_input;

/* The time inside one episode by stack, into a flame graph's first weight, or its second with
 * `before`. ERR_NOMEM, ERR_LIMIT. */
int tailout_flame_add(const struct tail *t, struct flame_input *fi, const struct episode *ep,
		      int before, struct err *e);

/* The whole answer as text, appended to b. ERR_NOMEM. */
int tailout_text(struct tail_run *r, struct tail *t, struct buf *b, struct err *e);

/* How the recording is called. */
const char *tailout_file(const struct tail_run *r);

/* Population and percentiles only. */
void tailout_population(struct tail_run *r, const struct tail *t, struct buf *b);

/* --flame: the time inside the shown episodes by stack, into a file. ERR_IO, ERR_NOMEM. */
int tailout_flame(struct tail_run *r, struct tail *t, struct err *e);

/* The first `most` of the shown episodes as timelines, into a file (tail_panels.h). ERR_IO,
 * ERR_NOMEM; ERR_NOTFOUND when there is none. */
enum { TAIL_PANELS = 10 }; /* where nothing else is asked for */
int tailout_svg(struct tail *t, size_t most, const char *path, const struct tl_svg_options *o,
		struct err *e);

#endif
