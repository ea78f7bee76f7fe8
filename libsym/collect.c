#include "libsym/collect.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
	SLICE_MAX = 1 << 20,  /* a worker's helping */
	WINDOW_MAX = 1 << 28, /* streams: bytes kept for want of a FINISHED_ROUND */
	PROGRESS_EVERY = 1 << 26,
};

/* A run of whole records that lie one behind the other. */
struct slice {
	const uint8_t *p, *end;
	uint64_t offset;
	struct chunk *chunk;         /* held; NULL for a mapped file */
	const struct source *source; /* the file to read them from, apart from the mapping */
};

struct collector {
	struct recording *rec;
	struct machine *machine;
	const struct collect_options *opt;
	struct collection *out;
	VEC(struct slice) slices;
	size_t round_start; /* first slice of the round being read */
	uint64_t held;      /* bytes in slices that hold chunks */
	uint64_t round_max; /* newest time seen so far */
	uint64_t safe_time; /* newest time of the rounds before the one being read */
	int streaming;
	int timed; /* samples carry times */
	int apart; /* samples are so large that the mapping is not worth its faults */
	int kernel_met;
	uint64_t told; /* progress: bytes at the last call */
};

int collect_workers(const struct collect_options *opt)
{
	long n = opt->workers > 0 ? opt->workers : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : (int)n;
}

/* --- the samples of a window, on all workers ------------------------------------------- */

struct job {
	struct collector *c;
	size_t n;
	atomic_size_t next;
	atomic_int failed;
	struct err err;
};

struct worker {
	struct job *job;
	struct aggregate *aggregate;
	uint8_t *buf; /* of SLICE_MAX bytes, for slices with a source */
	pthread_t thread;
};

static int take_slice(struct worker *w, const struct slice *s, struct err *e)
{
	const uint8_t *p = s->p;
	size_t n = (size_t)(s->end - s->p);
	if (s->source) {
		if (!w->buf && !(w->buf = mem_alloc(SLICE_MAX)))
			return err_nomem(e);
		int rc = source_bytes(s->source, s->p, n, w->buf, &p, e);
		if (rc)
			return rc;
	}
	return aggregate_slice(w->aggregate, p, p + n, s->chunk ? NULL : s->p, s->offset, e);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct job *job = w->job;
	for (;;) {
		size_t i = atomic_fetch_add(&job->next, 1);
		if (i >= job->n || atomic_load(&job->failed))
			return NULL;
		struct err why = {0};
		int rc = take_slice(w, &job->c->slices.v[i], &why);
		int expected = 0;
		if (rc && atomic_compare_exchange_strong(&job->failed, &expected, rc))
			job->err = why;
	}
}

/* Count the samples of the first n slices and let their memory go. */
static int flush(struct collector *c, size_t n, struct err *e)
{
	struct worker workers[MAX_WORKERS];
	struct job job = {.c = c, .n = n};
	int started = 1, n_set = 0;
	do /* there is one at least */
		workers[n_set] =
			(struct worker){.job = &job, .aggregate = c->out->aggregates[n_set]};
	while (++n_set < c->out->n);
	while (started < c->out->n && (size_t)started < n &&
	       !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
		started++;
	work(&workers[0]);
	for (int i = 0; i < started; i++) {
		if (i)
			pthread_join(workers[i].thread, NULL);
		mem_free(workers[i].buf);
	}
	for (size_t i = 0; i < n; i++) {
		struct slice *s = &c->slices.v[i];
		if (s->chunk)
			c->held -= (uint64_t)(s->end - s->p);
		chunk_drop(s->chunk);
	}
	size_t left = c->slices.n - n;
	if (left)
		memmove(c->slices.v, c->slices.v + n, left * sizeof(*c->slices.v));
	c->slices.n = left;
	c->round_start = c->round_start > n ? c->round_start - n : 0;
	if (job.failed) {
		if (e)
			*e = job.err;
		return job.failed;
	}
	return 0;
}

/* --- the walk ------------------------------------------------------------------------------
 */

static struct slice *open_slice(struct collector *c)
{
	return c->slices.n > c->round_start ? &c->slices.v[c->slices.n - 1] : NULL;
}

/* Can the slice go on with what lies at p? The next data file of a directory may be mapped
 * right behind the one that the slice is read from. */
static int goes_on(const struct slice *s, const uint8_t *p, size_t n, const struct chunk *chunk)
{
	if (!s || s->end != p || s->chunk != chunk || p + n - s->p > SLICE_MAX)
		return 0;
	return !s->source || (uint64_t)(p + n - s->source->data) <= s->source->size;
}

/* Bytes with samples: behind the last slice's, or a new slice. */
static int note_samples(struct collector *c, const struct record_run *r, struct err *e)
{
	struct slice *last = open_slice(c);
	const struct source *source = c->apart ? r->source : NULL;
	if (goes_on(last, r->p, (size_t)(r->end - r->p), r->chunk)) {
		last->end = r->end;
		if (!last->source && source && last->p >= source->data)
			last->source = source; /* it began with a single record */
	} else {
		struct slice s = {.p = r->p,
				  .end = r->end,
				  .offset = r->offset,
				  .chunk = r->chunk,
				  .source = source};
		if (vec_push(&c->slices, s))
			return err_nomem(e);
		chunk_hold(r->chunk);
	}
	c->held += r->chunk ? (uint64_t)(r->end - r->p) : 0;
	return 0;
}

/* Other records between samples need not break a slice: they are passed over when it is read.
 */
static void note_other(struct collector *c, const struct record *r)
{
	struct slice *last = open_slice(c);
	if (!r->extra && goes_on(last, r->p, r->size, r->chunk)) {
		last->end = r->p + r->size;
		c->held += r->chunk ? r->size : 0;
	}
}

/* A time of ~0 or 0 is perf's "no time": it says nothing about the round. */
static void note_time(struct collector *c, uint64_t time)
{
	if (time > c->round_max && time != UINT64_MAX && time < 0xffffffff00000000u)
		c->round_max = time;
}

static uint64_t record_time(struct collector *c, const struct record *r)
{
	struct record_id id;
	recording_id(c->rec, r, &id);
	if (!c->timed)
		return r->offset;
	return id.has_time ? id.time : 0;
}

static int take_sideband(struct collector *c, const struct record *r, struct err *e)
{
	struct err why = {0};
	uint64_t time = record_time(c, r);
	note_time(c, time);
	int rc = machine_take(c->machine, c->rec, r, time, &why);
	if (rc == ERR_FORMAT) {
		recording_note_bad(c->rec, &why);
		return 0;
	}
	if (rc && e)
		*e = why;
	return rc;
}

static int take_deferred(struct collector *c, const struct record *r, struct err *e)
{
	struct err why = {0};
	int rc = deferred_take(c->opt->deferred, r, c->rec->swap, &why);
	if (rc == ERR_FORMAT) {
		recording_note_bad(c->rec, &why);
		return 0;
	}
	return rc ? err_nomem(e) : 0;
}

/* The machine as of `until`, build-ids included: unwinding opens files by them. */
static int advance(struct collector *c, uint64_t until, struct err *e)
{
	int rc = machine_advance(c->machine, until, e);
	return rc ? rc : machine_take_build_ids(c->machine, c->rec, e);
}

/* A round ended: the one before it is complete. */
static int end_round(struct collector *c, struct err *e)
{
	if (!c->streaming)
		return 0;
	int rc = 0;
	if (c->round_start) {
		rc = advance(c, c->safe_time, e);
		if (!rc)
			rc = flush(c, c->round_start, e);
	}
	c->round_start = c->slices.n;
	c->safe_time = c->round_max;
	return rc;
}

static int flush_all(struct collector *c, uint64_t until, struct err *e)
{
	int rc = advance(c, until, e);
	return rc ? rc : flush(c, c->slices.n, e);
}

/* Streams: the newest time of a round bounds what may still come. */
static void note_times(struct collector *c, const struct record_run *run)
{
	struct record r = {.type = PERF_RECORD_SAMPLE, .offset = run->offset};
	for (r.p = run->p; r.p < run->end; r.p += r.size) {
		r.size = load_u16(r.p + 6, c->rec->swap);
		note_time(c, record_time(c, &r));
	}
}

/* What perf found when it began has no times, and the kernel's mapping is part of it. */
static int meet_kernel(struct collector *c, struct err *e)
{
	c->kernel_met = 1;
	int rc = advance(c, 0, e);
	if (!rc)
		c->opt->kernel_met(c->opt->kernel_met_ctx);
	return rc;
}

static int take_samples(struct collector *c, const struct record_run *run, struct err *e)
{
	if (c->streaming)
		note_times(c, run);
	int rc = 0;
	if (run->kernel && !c->streaming && !c->kernel_met && c->opt->kernel_met)
		rc = meet_kernel(c, e);
	if (!rc)
		rc = note_samples(c, run, e);
	if (!rc && c->held > WINDOW_MAX) /* no rounds: better early than never */
		rc = flush_all(c, c->round_max, e);
	return rc;
}

static int take_record(struct collector *c, const struct record *r, struct err *e)
{
	struct record_run one = {.p = r->p,
				 .end = r->p + r->size,
				 .offset = r->offset,
				 .chunk = r->chunk,
				 .n = 1};
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return take_samples(c, &one, e);
	case PERF_RECORD_FINISHED_ROUND:
		return end_round(c, e);
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		note_other(c, r);
		return c->opt->deferred ? take_deferred(c, r, e) : 0;
	default:
		note_other(c, r);
		return machine_wants(r->type) ? take_sideband(c, r, e) : 0;
	}
}

static void tell_progress(struct collector *c, uint64_t done)
{
	if (!c->opt->progress || done - c->told <= PROGRESS_EVERY)
		return;
	c->told = done;
	c->opt->progress(c->opt->progress_ctx, done, c->rec->data_size);
}

static int next_samples(struct collector *c, struct record_run *run)
{
	return c->apart ? recording_skip_samples(c->rec, SLICE_MAX, run)
			: recording_sample_run(c->rec, SLICE_MAX, run);
}

static int walk(struct collector *c, struct err *e)
{
	struct record r;
	struct record_run run;
	int got;
	for (;;) {
		while (next_samples(c, &run)) {
			int rc = take_samples(c, &run, e);
			if (rc)
				return rc;
			tell_progress(c, run.offset);
		}
		got = recording_next(c->rec, &r, e);
		if (got != 1)
			return got ? got : flush_all(c, TIME_END, e);
		int rc = take_record(c, &r, e);
		if (rc)
			return rc;
		tell_progress(c, r.offset);
	}
}

static int start(struct collector *c, struct err *e)
{
	for (int i = 0; i < collect_workers(c->opt); i++) {
		int rc = aggregate_new(&c->out->aggregates[i], c->rec, c->machine,
				       &c->opt->aggregate, c->opt->expand_ctx[i], e);
		if (rc)
			return rc;
		c->out->n++;
	}
	return 0;
}

int collect(struct recording *rec, struct machine *m, const struct collect_options *opt,
	    struct collection *out, struct err *e)
{
	struct collector c = {.rec = rec, .machine = m, .opt = opt, .out = out};
	*out = (struct collection){0};
	c.streaming = !recording_is_mapped(rec);
	for (size_t i = 0; i < rec->events.n; i++) {
		uint64_t has = rec->events.v[i].attr.sample_type;
		c.timed |= !!(has & PERF_SAMPLE_TIME);
		c.apart |= !!(has & PERF_SAMPLE_STACK_USER);
	}
	int rc = start(&c, e);
	if (!rc)
		rc = walk(&c, e);
	for (size_t i = 0; i < c.slices.n; i++)
		chunk_drop(c.slices.v[i].chunk);
	vec_release(&c.slices);
	return rc;
}

void collection_release(struct collection *c)
{
	for (int i = 0; i < c->n; i++)
		aggregate_free(c->aggregates[i]);
	*c = (struct collection){0};
}
