#include "libsym/collect.h"
#include "base/mem.h"
#include "libsym/counting.h"

#include <pthread.h>
#include <unistd.h>

enum {
	WINDOW_MAX = 1 << 28, /* streams: bytes kept for want of a FINISHED_ROUND */
	ROUNDS_MAX = 1 << 26, /* files read by rounds: bytes of rounds that have not ended */
	BATCH = 1 << 20,      /* bytes of ended rounds that are worth handing on */
	QUEUE_MAX = 8 << 20,  /* bytes handed on and not counted while reading goes on; a
			       * few large pages that stay warm */
	CHUNKS_MAX = 32,      /* of the file: that waiting side-band records hold */
	PROGRESS_EVERY = 1 << 26,
	AGAIN = 1, /* rounds do not hold what they promise */
};

/* What a walk over the recording looks at. */
enum pass { PASS_ALL, PASS_SIDEBAND, PASS_SAMPLES };

/* A side-band record that waits until no thread looks at the machine. */
struct sideband {
	struct record record; /* its chunk is held */
	uint64_t time;
};

struct collector {
	struct recording *rec;
	struct names *names;
	struct machine *machine; /* theirs */
	const struct collect_options *opt;
	struct collection *out;
	struct counting *counting;
	VEC(struct slice) slices;
	size_t round_start;  /* first slice of the round being read */
	uint64_t held;       /* bytes in slices that hold chunks */
	uint64_t held_ended; /* … of the rounds before the one being read */
	uint64_t round_max;  /* newest time seen so far */
	uint64_t safe_time;  /* newest time of the rounds before the one being read */
	enum pass pass;
	int streaming; /* records come in chunks */
	int by_rounds; /* … of a file, and are counted while it is read on */
	int begun;     /* samples have been handed on */
	int timed;     /* samples carry times */
	int apart;     /* samples are so large that the mapping is not worth its faults */
	int on_kernel_sample;
	VEC(struct sideband) sideband; /* by_rounds */
	size_t sideband_chunks;        /* that these hold */
	uint64_t next_sideband;        /* the earliest time of a record that was not applied */
	uint64_t told;                 /* progress: bytes at the last call */
};

int collect_workers(const struct collect_options *opt)
{
	long n = opt->workers > 0 ? opt->workers : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : (int)n;
}

/* Hand the first n slices on. */
static int flush(struct collector *c, size_t n, struct err *e)
{
	int rc = counting_give(c->counting, c->slices.v, n, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const struct slice *s = &c->slices.v[i];
		uint64_t bytes = s->chunk ? (uint64_t)(s->end - s->p) : 0;
		c->held -= bytes;
		c->held_ended -= bytes < c->held_ended ? bytes : c->held_ended;
	}
	size_t left = c->slices.n - n;
	if (left)
		memmove(c->slices.v, c->slices.v + n, left * sizeof(*c->slices.v));
	c->slices.n = left;
	c->round_start = c->round_start > n ? c->round_start - n : 0;
	c->begun |= n > 0;
	return counting_wait(c->counting, c->by_rounds ? QUEUE_MAX : 0, e);
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
	if (time > c->round_max && time < SAMPLE_DUMMY_TIMES)
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

static int apply_sideband(struct collector *c, const struct record *r, uint64_t time,
			  struct err *e)
{
	struct err why = {0};
	int rc = machine_take(c->machine, c->rec, r, time, &why);
	if (rc == ERR_FORMAT) {
		bad_records_note(&c->rec->stats.bad, r->offset, &why);
		return 0;
	}
	if (rc && e)
		*e = why;
	return rc;
}

/* What waits goes to the machine. */
static int take_waiting(struct collector *c, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < c->sideband.n; i++) {
		const struct sideband *s = &c->sideband.v[i];
		if (!rc)
			rc = apply_sideband(c, &s->record, s->time, e);
		chunk_drop(s->record.chunk);
	}
	c->sideband.n = c->sideband_chunks = 0;
	return rc;
}

static int take_sideband(struct collector *c, const struct record *r, struct err *e)
{
	size_t n = c->sideband.n;
	uint64_t time = record_time(c, r);
	note_time(c, time);
	if (!c->by_rounds)
		return apply_sideband(c, r, time, e);
	if (c->begun && (time <= c->machine->applied || time == UINT64_MAX))
		return AGAIN; /* samples were counted that should have known of it */
	c->sideband_chunks += !n || c->sideband.v[n - 1].record.chunk != r->chunk;
	struct sideband s = {.record = *r, .time = time};
	if (vec_push(&c->sideband, s))
		return err_nomem(e);
	chunk_hold(r->chunk);
	if (time < c->next_sideband)
		c->next_sideband = time;
	if (c->sideband_chunks <= CHUNKS_MAX)
		return 0;
	int rc = counting_wait(c->counting, 0, e);
	return rc ? rc : take_waiting(c, e);
}

static int take_deferred(struct collector *c, const struct record *r, struct err *e)
{
	struct err why = {0};
	int rc = deferred_take(c->opt->deferred, r, c->rec->swap, &why);
	if (rc == ERR_FORMAT) {
		bad_records_note(&c->rec->stats.bad, r->offset, &why);
		return 0;
	}
	return rc ? err_nomem(e) : 0;
}

/* The machine as of `until`, build-ids included: unwinding opens files by them. */
static int advance(struct collector *c, uint64_t until, struct err *e)
{
	if (c->begun && c->next_sideband > until) {
		machine_set_watermark(c->machine, until);
		return 0;
	}
	int rc = counting_wait(c->counting, 0, e);
	if (!rc)
		rc = take_waiting(c, e);
	if (!rc)
		rc = machine_advance(c->machine, until, e);
	if (c->by_rounds)
		c->next_sideband = machine_next(c->machine);
	return rc ? rc : machine_take_build_ids(c->machine, c->rec, e);
}

/* A round ended: the one before it is complete. */
static int end_round(struct collector *c, struct err *e)
{
	if (!c->streaming)
		return 0;
	int rc = 0;
	if (c->held_ended >= BATCH) {
		rc = advance(c, c->safe_time, e);
		if (!rc)
			rc = flush(c, c->round_start, e);
	}
	c->round_start = c->slices.n;
	c->held_ended = c->held;
	c->safe_time = c->round_max;
	return rc;
}

static int flush_all(struct collector *c, uint64_t until, struct err *e)
{
	int rc = advance(c, until, e);
	if (!rc)
		rc = flush(c, c->slices.n, e);
	return rc ? rc : counting_wait(c->counting, 0, e);
}

/* The newest time of a round bounds what may still come. AGAIN: a sample wants to know all. */
static int note_times(struct collector *c, const struct record_run *run)
{
	struct record r = {.type = PERF_RECORD_SAMPLE, .offset = run->offset};
	for (r.p = run->p; r.p < run->end; r.p += r.size) {
		r.size = load_u16(r.p + 6, c->rec->swap);
		uint64_t time = record_time(c, &r);
		if (c->by_rounds && time >= SAMPLE_DUMMY_TIMES)
			return AGAIN;
		note_time(c, time);
	}
	return 0;
}

/* What perf found when it began has no times, and the kernel's mapping is part of it. */
static int first_kernel_sample(struct collector *c, struct err *e)
{
	c->on_kernel_sample = 1;
	int rc = advance(c, 0, e);
	if (!rc)
		c->opt->on_kernel_sample(c->opt->kernel_met_ctx);
	return rc;
}

static int take_samples(struct collector *c, const struct record_run *run, struct err *e)
{
	if (c->pass == PASS_SIDEBAND)
		return 0;
	int rc = c->streaming ? note_times(c, run) : 0;
	if (!rc && run->kernel && !c->streaming && !c->on_kernel_sample &&
	    c->opt->on_kernel_sample)
		rc = first_kernel_sample(c, e);
	if (!rc)
		rc = note_samples(c, run, e);
	if (!rc && c->by_rounds && c->held > ROUNDS_MAX)
		return AGAIN;
	if (!rc && c->pass == PASS_SAMPLES && c->held > BATCH)
		return flush(c, c->slices.n, e);
	if (!rc && c->held > WINDOW_MAX && c->rec->directory)
		return AGAIN;
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
		return c->pass == PASS_ALL ? end_round(c, e) : 0;
	case PERF_RECORD_CALLCHAIN_DEFERRED:
		note_other(c, r);
		return c->opt->deferred && c->pass != PASS_SAMPLES ? take_deferred(c, r, e) : 0;
	default:
		if (c->by_rounds && (c->begun || c->slices.n) && record_is_header(r->type))
			return AGAIN;
		note_other(c, r);
		return machine_wants(r->type) && c->pass != PASS_SAMPLES
			       ? take_sideband(c, r, e)
			       : 0;
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
	return c->apart ? recording_sample_run_pread(c->rec, SLICE_MAX, run)
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

/*
 * A compressed directory has no rounds, and what names the samples of one file may be in
 * another. Inflated, all samples are more than can be kept: they are passed over at first.
 */
static int walk_twice(struct collector *c, struct err *e)
{
	c->pass = PASS_SIDEBAND;
	int rc = walk(c, e);
	struct recording_stats stats = c->rec->stats;
	if (!rc)
		rc = recording_rewind(c->rec, e);
	c->pass = PASS_SAMPLES;
	c->told = 0;
	if (!rc)
		rc = walk(c, e);
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

/* Can samples be counted while the file is read on? What comes late is noticed in time. */
static int by_rounds(const struct collector *c)
{
	for (size_t i = 0; i < c->rec->events.n; i++)
		if (attr_flag(&c->rec->events.v[i].attr, ATTR_DEFER_CALLCHAIN))
			return 0;
	return c->apart && !c->opt->headers_first && recording_read_copies(c->rec);
}

int collect(struct recording *rec, struct names *names, const struct collect_options *opt,
	    struct collection *out, struct err *e)
{
	struct collector c = {
		.rec = rec, .names = names, .machine = names->machine, .opt = opt, .out = out};
	*out = (struct collection){0};
	for (size_t i = 0; i < rec->events.n; i++) {
		uint64_t has = rec->events.v[i].attr.sample_type;
		c.timed |= !!(has & PERF_SAMPLE_TIME);
		c.apart |= !!(has & PERF_SAMPLE_STACK_USER);
	}
	c.by_rounds = by_rounds(&c);
	c.next_sideband = c.by_rounds ? UINT64_MAX : 0;
	c.streaming = c.by_rounds || !recording_is_mapped(rec);
	c.apart &= !c.streaming;
	int rc = start(&c, e);
	if (!rc)
		rc = counting_new(&c.counting, out->aggregates, out->n, e);
	if (!rc)
		rc = c.streaming && rec->directory && opt->headers_first ? walk_twice(&c, e)
									 : walk(&c, e);
	counting_free(c.counting);
	for (size_t i = 0; i < c.slices.n; i++)
		chunk_drop(c.slices.v[i].chunk);
	for (size_t i = 0; i < c.sideband.n; i++)
		chunk_drop(c.sideband.v[i].record.chunk);
	vec_release(&c.slices);
	vec_release(&c.sideband);
	return rc;
}

struct finisher {
	struct aggregate *aggregate;
	pthread_t thread;
	int started, rc;
};

static void *finish_one(void *arg)
{
	struct finisher *f = arg;
	f->rc = aggregate_finish(f->aggregate);
	return NULL;
}

int collection_finish(struct collection *c, struct err *e)
{
	struct finisher all[MAX_WORKERS] = {0};
	int rc = 0;
	for (int i = 0; i < c->n; i++) {
		struct finisher *f = &all[i];
		f->aggregate = c->aggregates[i];
		f->started = i && !pthread_create(&f->thread, NULL, finish_one, f);
	}
	for (int i = 0; i < c->n; i++) {
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
		else
			finish_one(&all[i]);
		rc = rc ? rc : all[i].rc;
	}
	for (int i = 0; !rc && i < c->n; i++)
		rc = tally_merge(&c->tally, aggregate_tally(c->aggregates[i]));
	return rc ? err_nomem(e) : 0;
}

void collection_release(struct collection *c)
{
	for (int i = 0; i < c->n; i++)
		aggregate_free(c->aggregates[i]);
	tally_release(&c->tally);
	*c = (struct collection){0};
}
