#include "libsym/collect.h"
#include "base/mem.h"
#include "base/populate.h"
#include "libparse/rounds.h"
#include "libsym/workers.h"

#include <pthread.h>
#include <unistd.h>

enum {
	WINDOW_MAX = 1 << 28, /* streams: most bytes kept without a FINISHED_ROUND */
	BATCH = 1 << 20,      /* bytes of ended rounds worth queueing */
	PROGRESS_EVERY = 1 << 20,
};

/* Which records a walk over the recording handles. */
enum pass { PASS_ALL, PASS_SIDEBAND, PASS_SAMPLES };

struct collector {
	struct recording *rec;
	struct names *names;
	struct machine *machine; /* of names */
	const struct collect_options *opt;
	struct collection *out;
	struct workers *workers;
	VEC(struct slice) slices;
	struct rounds rounds;  /* of a stream */
	size_t round_start;    /* first slice of the round being read */
	uint64_t queued;       /* bytes in slices that hold chunks */
	uint64_t queued_ended; /* of the rounds before the one being read */
	enum pass pass;
	int streaming; /* records come once, or from compressed data */
	int timed;     /* samples carry times */
	int kernel_requested;
	uint64_t reported; /* progress: bytes at the last call */
};

int collect_workers(const struct collect_options *opt)
{
	long n = opt->workers > 0 ? opt->workers : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : (int)n;
}

/* Queue the first n slices for counting. */
static int flush(struct collector *c, size_t n, struct err *e)
{
	int rc = workers_add(c->workers, c->slices.v, n, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct slice *s = &c->slices.v[i];
		uint64_t bytes = s->chunk ? (uint64_t)(s->end - s->p) : 0;
		c->queued -= bytes;
		c->queued_ended -= bytes < c->queued_ended ? bytes : c->queued_ended;
	}
	size_t left = c->slices.n - n;
	if (left)
		memmove(c->slices.v, c->slices.v + n, left * sizeof(*c->slices.v));
	c->slices.n = left;
	c->round_start = c->round_start > n ? c->round_start - n : 0;
	return workers_wait(c->workers, e);
}

/* --- the walk ------------------------------------------------------------------------- */

static struct slice *open_slice(struct collector *c)
{
	return c->slices.n > c->round_start ? &c->slices.v[c->slices.n - 1] : NULL;
}

/* 1 when the n bytes at p continue the slice. */
static int continues_slice(const struct slice *s, const uint8_t *p, size_t n,
			   const struct chunk *chunk)
{
	return s && s->end == p && s->chunk == chunk && p + n - s->p <= SLICE_MAX;
}

/* Append bytes with samples to the last slice, or start a new one. */
static int note_samples(struct collector *c, const struct record_run *r, struct err *e)
{
	struct slice *last = open_slice(c);
	if (continues_slice(last, r->p, (size_t)(r->end - r->p), r->chunk)) {
		last->end = r->end;
	} else {
		struct slice s = {
			.p = r->p, .end = r->end, .offset = r->offset, .chunk = r->chunk};
		if (vec_push(&c->slices, s))
			return err_nomem(e);
		chunk_hold(r->chunk);
	}
	c->queued += r->chunk ? (uint64_t)(r->end - r->p) : 0;
	return 0;
}

/* Other records between samples need not end a slice: they are skipped when it is read.
 */
static void note_other(struct collector *c, const struct record *r)
{
	struct slice *last = open_slice(c);
	if (!r->extra && continues_slice(last, r->p, r->size, r->chunk)) {
		last->end = r->p + r->size;
		c->queued += r->chunk ? r->size : 0;
	}
}

static uint64_t record_time(struct collector *c, const struct record *r)
{
	struct record_id id;
	recording_id(c->rec, r, &id);
	if (!c->timed)
		return r->offset;
	return id.has_time ? id.time : 0;
}

static int apply_sideband(struct collector *c, const struct record *r, uint64_t time,
			  struct err *e)
{
	struct err why = {0};
	int rc = machine_apply(c->machine, c->rec, r, time, &why);
	if (rc == ERR_FORMAT) {
		bad_records_note(&c->rec->stats.bad, r->offset, &why);
		return 0;
	}
	if (rc && e)
		*e = why;
	return rc;
}

static int handle_sideband(struct collector *c, const struct record *r, struct err *e)
{
	uint64_t time = record_time(c, r);
	rounds_note(&c->rounds, time);
	return apply_sideband(c, r, time, e);
}

static int handle_deferred(struct collector *c, const struct record *r, struct err *e)
{
	struct err why = {0};
	int rc = deferred_add(c->opt->deferred, r, c->rec->swap, &why);
	if (rc == ERR_FORMAT) {
		bad_records_note(&c->rec->stats.bad, r->offset, &why);
		return 0;
	}
	return rc ? err_nomem(e) : 0;
}

/* Advance the machine to `until` and set build-ids: unwinding opens files by them. */
static int advance(struct collector *c, uint64_t until, struct err *e)
{
	int rc = machine_advance(c->machine, until, e);
	return rc ? rc : machine_set_build_ids(c->machine, c->rec, e);
}

/* A round ended: the one before it is complete. */
static int end_round(struct collector *c, struct err *e)
{
	if (!c->streaming)
		return 0;
	int rc = 0;
	rounds_end(&c->rounds, c->rounds.newest);
	if (c->queued_ended >= BATCH) {
		rc = advance(c, c->rounds.safe, e);
		if (!rc)
			rc = flush(c, c->round_start, e);
	}
	c->round_start = c->slices.n;
	c->queued_ended = c->queued;
	return rc;
}

static int flush_all(struct collector *c, uint64_t until, struct err *e)
{
	int rc = advance(c, until, e);
	return rc ? rc : flush(c, c->slices.n, e);
}

static void forget_slices(struct collector *c)
{
	for (size_t i = 0; i < c->slices.n; i++)
		chunk_drop(c->slices.v[i].chunk);
	c->slices.n = c->round_start = 0;
	c->queued = c->queued_ended = 0;
}

/* Note the newest time of a round, which bounds the times that may still come. */
static void note_times(struct collector *c, const struct record_run *run)
{
	struct record r = {.type = PERF_RECORD_SAMPLE, .offset = run->offset};
	for (r.p = run->p; r.p < run->end; r.p += r.size) {
		r.size = load_u16(r.p + 6, c->rec->swap);
		rounds_note(&c->rounds, record_time(c, &r));
	}
}

/* 1 when some samples are not to be counted. */
static int is_filtered(const struct sample_filter *f)
{
	return f->ncomms || f->npids || f->ntids || f->ncpus || f->start || f->stop;
}

/* The kernel's symbols take longest to read: they are requested as soon as a sample of the
 * kernel shows that they are needed, while this thread still looks for records. */
static int request_kernel(struct collector *c, const struct record_run *run, struct err *e)
{
	unsigned mode = load_u16(run->p + 4, c->rec->swap) & PERF_RECORD_MISC_CPUMODE_MASK;
	if (c->streaming || c->kernel_requested || mode != PERF_RECORD_MISC_KERNEL ||
	    is_filtered(&c->opt->aggregate.filter))
		return 0;
	c->kernel_requested = 1;
	int rc = advance(c, 0, e); /* the kernel's mapping has no time */
	if (!rc)
		modules_prefetch_kernel(c->names->modules);
	return rc;
}

static int handle_samples(struct collector *c, const struct record_run *run, struct err *e)
{
	int early = request_kernel(c, run, e);
	if (early)
		return early;
	chain_limits_note_run(&c->names->chains, run->p, run->end);
	if (c->pass == PASS_SIDEBAND)
		return 0;
	if (c->streaming)
		note_times(c, run);
	int rc = note_samples(c, run, e);
	if (!rc && c->pass == PASS_SAMPLES && c->queued > BATCH)
		return flush(c, c->slices.n, e);
	if (rc || c->queued <= WINDOW_MAX)
		return rc;
	if (!c->rec->directory) /* no rounds: count now, although records may come late */
		return flush_all(c, c->rounds.newest, e);
	c->pass = PASS_SIDEBAND; /* too much to keep: see walk_all */
	forget_slices(c);
	return 0;
}

static int handle_record(struct collector *c, const struct record *r, struct err *e)
{
	struct record_run one = {.p = r->p,
				 .end = r->p + r->size,
				 .offset = r->offset,
				 .chunk = r->chunk,
				 .n = 1};
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return handle_samples(c, &one, e);
	case PERF_RECORD_FINISHED_ROUND:
		return c->pass == PASS_ALL ? end_round(c, e) : 0;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		note_other(c, r);
		return c->opt->deferred && c->pass != PASS_SAMPLES ? handle_deferred(c, r, e)
								   : 0;
	default:
		note_other(c, r);
		return record_is_sideband(r->type) && c->pass != PASS_SAMPLES
			       ? handle_sideband(c, r, e)
			       : 0;
	}
}

static void report_progress(struct collector *c, uint64_t done)
{
	if (!c->opt->progress || done - c->reported <= PROGRESS_EVERY)
		return;
	c->reported = done;
	c->opt->progress(c->opt->progress_ctx, done, c->rec->data_size);
}

static int walk(struct collector *c, struct err *e)
{
	struct record r;
	struct record_run run;
	int got;
	for (;;) {
		while (recording_sample_run(c->rec, SLICE_MAX, &run)) {
			int rc = handle_samples(c, &run, e);
			if (rc)
				return rc;
			report_progress(c, run.offset);
		}
		got = recording_next(c->rec, &r, e);
		if (got != 1)
			return got ? got : flush_all(c, TIME_END, e);
		int rc = handle_record(c, &r, e);
		if (rc)
			return rc;
		report_progress(c, r.offset);
	}
}

/*
 * A compressed directory has no rounds, and the records that name one file's samples may be in
 * another. If its inflated samples are too large to keep, the first walk skips them, and a
 * second one counts them; so it is with a file that is read in pieces.
 */
static int walk_all(struct collector *c, struct err *e)
{
	int rc = walk(c, e);
	if (rc || c->pass != PASS_SIDEBAND)
		return rc;
	struct recording_stats stats = c->rec->stats;
	rc = recording_rewind(c->rec, e);
	c->pass = PASS_SAMPLES;
	c->reported = 0;
	rc = rc ? rc : walk(c, e);
	c->rec->stats = stats;
	return rc;
}

static int start(struct collector *c, struct err *e)
{
	for (int i = 0; i < collect_workers(c->opt); i++) {
		int rc = aggregate_new(&c->out->aggregates[i], c->rec, c->names,
				       &c->opt->aggregate, c->opt->expand_ctx[i], e);
		if (rc)
			return rc;
		c->out->n++;
	}
	return 0;
}

int collect(struct recording *rec, struct names *names, const struct collect_options *opt,
	    struct collection *out, struct err *e)
{
	struct collector c = {.rec = rec,
			      .names = names,
			      .machine = names->machine,
			      .opt = opt,
			      .out = out,
			      .streaming = !recording_is_plain(rec)};
	struct populate ahead = {0};
	if (!c.streaming && !recording_is_mapped(rec)) /* nothing of the file is kept */
		c.pass = PASS_SIDEBAND;
	*out = (struct collection){0};
	for (size_t i = 0; i < rec->events.n; i++)
		c.timed |= !!(rec->events.v[i].attr.sample_type & PERF_SAMPLE_TIME);
	int rc = start(&c, e);
	if (!rc)
		rc = workers_new(&c.workers, out->aggregates, out->n, e);
	size_t n;
	const void *file = recording_file(rec, &n);
	if (!rc && file && !c.streaming && out->n > 1)
		populate_begin(&ahead, file, n);
	if (!rc)
		rc = walk_all(&c, e);
	populate_end(&ahead);
	workers_free(c.workers);
	forget_slices(&c);
	vec_release(&c.slices);
	return rc;
}

struct finisher {
	struct aggregate *aggregate;
	const struct names *names; /* to sort by; NULL: to finish */
	pthread_t thread;
	int started, rc;
};

static void *finish_one(void *arg)
{
	struct finisher *f = arg;
	f->rc = f->names ? tally_sort(aggregate_tally(f->aggregate), f->names)
			 : aggregate_finish(f->aggregate);
	return NULL;
}

static int finish_all(struct collection *c, const struct names *names)
{
	struct finisher all[MAX_WORKERS] = {0};
	int rc = 0;
	for (int i = 0; i < c->n; i++) {
		struct finisher *f = &all[i];
		f->aggregate = c->aggregates[i];
		f->names = names;
		f->started = i && !pthread_create(&f->thread, NULL, finish_one, f);
	}
	for (int i = 0; i < c->n; i++) {
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
		else
			finish_one(&all[i]);
		rc = rc ? rc : all[i].rc;
	}
	return rc;
}

int collection_finish(struct collection *c, struct err *e)
{
	return finish_all(c, NULL) ? err_nomem(e) : 0;
}

int collection_sort(struct collection *c, const struct names *names, struct err *e)
{
	return finish_all(c, names) ? err_nomem(e) : 0;
}

void collection_release(struct collection *c)
{
	for (int i = 0; i < c->n; i++)
		aggregate_free(c->aggregates[i]);
	*c = (struct collection){0};
}
