/*
 * episodes_answer.h - shared by answers about episodes without a thread of their own: gaps
 * (gap_text.h) and windows (window_text.h).
 */
#ifndef RENDER_TAIL_EPISODES_ANSWER_H
#define RENDER_TAIL_EPISODES_ANSWER_H

#include "libtime/explain/gap_answer.h"
#include "render/text/json.h"

struct episodes_answer {
	const struct timeline *tl;
	const struct episodes *episodes;
	const struct episode_selection *selection;
	size_t rows, details; /* episodes in the table (0: all), or in JSON; those explained in
				 full */
	size_t width;         /* columns of the terminal */
	const struct gap_answer *gaps; /* of EPISODE_GAP; else NULL */
};

/* The percentiles of JSON, by key; end with a key of NULL. */
struct answer_percentile {
	const char *key;
	uint32_t millipercent;
};
extern const struct answer_percentile answer_percentiles[];

/* "9.3 ms", or "9.3–9.6 ms" where missing events leave it open. */
void answer_put_percentile(struct buf *b, const struct episodes *x, uint32_t millipercent);

/* How many rows the table has. */
size_t answer_rows(const struct episodes_answer *a);

/* Append how many episodes the table omits; nothing if it has all. */
void answer_more(struct buf *b, const struct episodes_answer *a);

/* The members {"schema":1,"by":BY and, in a second call, "population":{"count","open","p50_ns"
 * ... "max_ns"}. */
void answer_json_open(struct json *j, const char *by);
void answer_json_population(struct json *j, const struct episodes *x);

/* A text of the timeline by its strings id; a thread's tid, pid and comm. */
void answer_json_text(struct json *j, const struct timeline *tl, const char *key, uint32_t id);
void answer_json_thread(struct json *j, const struct timeline *tl, uint32_t thread);

/* The members "rank" and "id" of an episode. */
void answer_json_episode(struct json *j, const struct episodes_answer *a, size_t rank);

#endif
