/*
 * firefox_internal.h - a profile of firefox.h while it is written: firefox.c writes threads,
 * with samples and markers, firefox_tables.c what they refer to.
 */
#ifndef RENDER_EXPORT_FIREFOX_INTERNAL_H
#define RENDER_EXPORT_FIREFOX_INTERNAL_H

#include "libtime/sched/by_thread.h"
#include "render/export/firefox.h"
#include "render/export/gzip.h"
#include "render/text/json.h"

enum { FIREFOX_FLUSH = 1 << 16 }; /* bytes that are written at once */

/* Index of the profile's categories. */
enum category {
	CAT_OTHER,
	CAT_USER,
	CAT_KERNEL,
	CAT_JIT,
	CAT_INLINED,
	CAT_WAIT,
	CAT_SPAN,
	CAT_COUNT
};

/* A row of the table of samples. */
struct row {
	uint64_t ns, weight;
	uint32_t path;
	enum { ROW_IN, ROW_SAMPLE, ROW_OUT } kind; /* in their order at one moment */
};

struct marker {
	uint64_t start, end;
	uint64_t blocked, runnable; /* a wait's, as far as it is shown */
	const struct offcpu *offcpu;
	uint32_t index; /* else of timeline.spans or timeline.losses */
	enum { MARKER_WAIT, MARKER_SPAN, MARKER_LOSS } kind;
};

/* Ids of the timeline → indexes in the profile, and back, in the order of first use. */
struct used {
	struct u64map index;
	uint32_t *at; /* in its place, where ids are dense: by id, 1 more than the index */
	VEC(uint64_t) v;
};

struct firefox {
	const struct timeline *tl;
	const struct firefox_options *o;
	struct gzip z;
	struct buf b, name;
	struct json j;
	struct strtab texts;
	struct used strings; /* of `texts` */
	struct used paths, frames;
	struct used funcs;         /* name's index << 32 | DSO's strings id */
	struct used dsos, sources; /* by strings id */
	VEC(struct func { uint32_t dso, source; })
	func_of; /* by func: strings ids, 0: none; the source is its first frame's */
	struct u64map waker_of, waker_stack_of; /* thread, path → the text's index */
	struct u64map main_of;                  /* process → index of its first main thread */
	struct by_thread samples;
	VEC(struct row) rows;
	VEC(struct marker) markers;
	VEC(uint32_t) spans; /* of one thread after the other */
	struct set_apart *hidden;
	size_t sampled;       /* samples of the thread at hand */
	size_t busiest, most; /* the thread shown first, by its samples */
	size_t threads;
};

/* Compress what is in x->b once it is more than `above` bytes. ERR_IO; ERR_NOMEM, also of an
 * append before. */
int firefox_flush(struct firefox *x, size_t above, struct err *e);

/* The index of a text, cut at 4 KB. ERR_NOMEM. */
int firefox_use_text(struct firefox *x, const char *s, uint32_t *index);

/* The index of a call path (not 0) in the table of stacks, with its callers, frames and
 * functions. ERR_NOMEM. */
int firefox_use_path(struct firefox *x, uint32_t path, uint32_t *index);

/* A text of the timeline's. */
const char *firefox_text_of(const struct firefox *x, uint32_t id);

/* Values: ns as ms, exact; untrusted text, cut at 4 KB; a column of n equal values. `key` as
 * in json.h. */
void firefox_put_ms(struct firefox *x, const char *key, uint64_t ns);
void firefox_put_text(struct firefox *x, const char *key, const char *s);
void firefox_put_column(struct firefox *x, const char *key, const char *value, size_t n);

/* What the whole file says of itself; then, once all threads are written, what they refer to.
 * ERR_NOMEM, ERR_IO. */
void firefox_put_meta(struct firefox *x);
int firefox_put_shared(struct firefox *x, struct err *e);
int firefox_put_lib_table(struct firefox *x, struct err *e);

/* Make the tables. ERR_NOMEM. */
int firefox_init_tables(struct firefox *x);

/* Give back the tables. */
void firefox_release_tables(struct firefox *x);

#endif
