/*
 * flame_input.h - counted call paths (a profile's or a timeline's) into a flame graph.
 */
#ifndef RENDER_FLAME_FLAME_INPUT_H
#define RENDER_FLAME_FLAME_INPUT_H

#include "base/text/buf.h"
#include "libsym/profile.h"
#include "libtime/explain/stack_rows.h"
#include "render/flame/flame.h"

/* The first level above "all". Waits have only the first three, samples of a flame chart also
 * the CPU. */
enum flame_split {
	SPLIT_COMM,
	SPLIT_PID,    /* comm-PID */
	SPLIT_TID,    /* comm-PID/TID */
	SPLIT_CPU,    /* "CPU 3", then comm */
	SPLIT_EVENT,  /* event name, then comm */
	SPLIT_CGROUP, /* cgroup's path, then comm */
	SPLIT_LABEL,  /* value of a label, then comm */
};

struct flame_input {
	const struct stacks *stacks; /* borrowed */
	const void *events;          /* borrowed; NULL unless SPLIT_EVENT, as below */
	const char *(*event_name)(const void *events, uint32_t event);
	struct flame *flame; /* borrowed */
	enum flame_split split;
	int simplify;         /* short names, so that equal frames merge */
	enum stack_side side; /* frames of the other side are omitted; the caller sets it */
	int merge_threads; /* work-0, work-1 ... become work-N; the caller sets it, as `events`
			    */
	/* If not NULL, the value of each row's label is on top of its stack, as a FLAME_WAIT;
	 * values not in `values` are "[other values]". Borrowed. */
	const struct u64map *values;
	struct buf text;
	VEC(uint32_t) ids; /* by frame id: the graph's frame + 1; 0 = not made */
	VEC(uint32_t) path, line;
};

/* Feed `flame` with paths of `stacks`; the caller sets `events` if needed. */
void flame_input_init(struct flame_input *fi, const struct stacks *stacks, struct flame *flame,
		      enum flame_split split, int simplify);
/* Free the working memory; the graph stays. */
void flame_input_release(struct flame_input *fi);

/*
 * A stack in steps, if more frames follow its own: begin (first levels, `mark` below the comm
 * unless NULL, the path), then marks, then end with its weights (flame_add's v0, v1). 0,
 * ERR_NOMEM, ERR_LIMIT.
 */
int flame_input_begin(struct flame_input *fi, const struct folded *f, const char *mark);
int flame_input_mark(struct flame_input *fi, const char *text, enum flame_kind kind);
int flame_input_end(struct flame_input *fi, uint64_t v0, uint64_t v1, struct err *e);

/* A row with its marks and wakers ("--", the frames from leaf to root, the name). A
 * stack without marks has r->cause, unless NULL, on top. ERR_NOMEM, ERR_LIMIT. */
int flame_input_row(struct flame_input *fi, const struct stack_row *r, uint64_t v0, uint64_t v1,
		    struct err *e);

/* "comm", "pid", "tid", "cpu", "event", "cgroup" or "label:KEY". 0, or ERR_USAGE. */
int flame_split_parse(const char *text, enum flame_split *out, struct err *e);

#endif
