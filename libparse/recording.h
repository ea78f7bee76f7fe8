/*
 * recording.h - one perf.data, opened: events, features and a forward cursor over its records.
 *
 * This is libparse's model: to read a recording include this header, record.h and
 * sample.h, and nothing else of libparse but order.h (records in time order) and tracepoint.h
 * (fields of tracepoints).
 *
 *	struct recording *rec;
 *	if (recording_open(&rec, "perf.data", &e)) ...
 *	struct record r;
 *	while ((got = recording_next(rec, &r, &e)) == 1)
 *		if (r.type == PERF_RECORD_SAMPLE && (ev = recording_event(rec, &r)))
 *			sample_decode(&r, ev, rec->swap, &s, &e);
 *	recording_close(rec);
 *
 * File mode (PERFILE2 and the older PERFFILE), pipe mode, and directories of
 * `perf record --threads` look the same from here; compressed records are inflated on the way
 * and never seen. Format: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef LIBPARSE_RECORDING_H
#define LIBPARSE_RECORDING_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/vec.h"
#include "libparse/record.h"
#include "libparse/source.h"
#include "libparse/time_conv.h"

/* A path and its build-id, as recorded. Strings live as long as the recording. */
struct recorded_build_id {
	int32_t pid;   /* -1 host, as perf writes it */
	uint16_t misc; /* cpumode of the DSO */
	uint8_t size, id[20];
	const char *filename;
};

/* A mapped file and its build-id, as the recorded host had it (listed_files.h). */
struct listed_file {
	const char *path;
	uint64_t ino, generation; /* generation 0: not known */
	uint32_t dev_major, dev_minor;
	uint8_t size, id[20];
};

/* The feature sections (or HEADER_FEATURE records); absent texts are NULL, numbers 0.
 */
struct features {
	uint64_t bits[HEADER_FEAT_BITS / 64];
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	const char *cmdline; /* words joined by one space */
	const char *const *argv;
	size_t nargv;
	uint32_t cpus_online, cpus_available;
	uint64_t total_mem_kb;
	uint64_t first_sample_ns, last_sample_ns;
	int has_clockid;
	uint64_t clockid_res_ns;
	/* CLOCK_DATA: the same instant on the wall clock and on the recording's clock */
	int has_clock_data;
	uint32_t clockid;
	uint64_t wall_ns, clockid_ns;
	struct time_conv tsc; /* of TIME_CONV */
	uint32_t compress_type, compress_level, compress_ratio;
	VEC(struct recorded_build_id) build_ids;
	VEC(struct feature_group { /* GROUP_DESC: name may be "" */
				   const char *name;
				   uint32_t leader, members;
	})
	groups;
	VEC(struct
	    carried_entry { /* a file of simpleperf's FILE or FILE2, by path */
			    const char *path; /* a view, not terminated */
			    size_t n;
			    int is_proto;
			    struct bytes
				    rest; /* FILE: what follows the path; FILE2: the whole message */
	    })
	carried;
	const uint8_t *tracing_data; /* the trace-cmd style blob, for tracepoint.h */
	uint64_t tracing_data_size;
};

/* 1 when the recording was made on this host and kernel, so that local files are the recorded
 * ones. */
int features_are_ours(const struct features *f);

/* A time of the recording's clock in ns since 1970, 0: as recording began; 0 unless recorded. */
int64_t features_wall_ns(const struct features *f, uint64_t time);

enum { RECORD_TYPES_COUNTED = 128 };

/* Records skipped because they break their own layout. Zero-initialised: none. */
struct bad_records {
	uint64_t n;
	uint64_t first_at; /* offset of the first in the file, in any order of reading */
	char first[160];   /* what it was */
};

/* Count the record, or section, at `at`. */
void bad_records_note(struct bad_records *b, uint64_t at, const struct err *why);

/* Add those of `more`. */
void bad_records_add(struct bad_records *b, const struct bad_records *more);

/* What has been read so far; grows with recording_next. */
struct recording_stats {
	uint64_t by_type[RECORD_TYPES_COUNTED]; /* records per type, inflated ones included */
	uint64_t unknown_types;      /* records with a type ≥ RECORD_TYPES_COUNTED */
	uint64_t lost, lost_samples; /* sums of LOST and LOST_SAMPLES */
	struct bad_records bad;
	uint64_t torn_bytes;    /* bytes after the last whole record */
	uint64_t missing_bytes; /* of the data section, beyond the file's end */
	char truncated[160];    /* where and how the recording was cut; "" if not */
	int joined;             /* … since another recording begins there */
	uint64_t aux_bytes;     /* AUX area payload skipped by size */
};

struct recording {
	const char *name;                  /* path as given */
	int swap;                          /* the file's byte order is not this host's */
	int big_endian;                    /* of the file */
	int pipe_mode, directory, cut_off; /* cut_off: data size 0, never finalised */
	int compressed;
	VEC(struct event) events;
	struct features features;
	VEC(struct listed_file) files; /* from the context next to it */
	struct recording_stats stats;
	uint64_t data_size; /* bytes of the data sections; 0 for a stream not yet read */
	int64_t written_ns; /* time of the file's last write, since 1970; 0: no file */

	struct arena strings;
	struct u64map by_id;   /* PERF_SAMPLE_ID → event index */
	int id_offset;         /* of the id in a sample's body, -1: none */
	struct reader *reader; /* the cursor's state */
};

/* Open by path: a file, a directory of `record --threads`, a fifo, or "-" for stdin. The
 * header, events and features of a file are read; a stream is read up to its first non-header
 * record. ERR_IO, ERR_FORMAT, ERR_UNSUPPORTED (not perf.data), ERR_NOMEM; *out is NULL then. */
int recording_open(struct recording **out, const char *path, struct err *e);

/* The same, called `name` in answers: a recording in a bundle has the bundle's name. */
int recording_open_as(struct recording **out, const char *path, const char *name,
		      struct err *e);

/* The same for an open source, for callers that looked at its first bytes. The recording owns
 * it in any case (*src is emptied). */
int recording_open_source(struct recording **out, struct source *src, struct err *e);

/* The same for memory, borrowed until recording_close. */
int recording_open_mem(struct recording **out, const void *p, size_t n, const char *name,
		       struct err *e);

/* NULL is accepted. Records' views end here. */
void recording_close(struct recording *rec);

/*
 * The next record in file order. 1, 0 at the end (truncated ends are noted in stats.truncated
 * and are an end, not a failure), or < 0 when the stream cannot go on (read error, no memory).
 * Header records of pipe mode are applied (events, features, ids) and also returned. Not
 * thread-safe. r->chunk, when set, stays alive only until the next call unless chunk_hold is
 * called.
 */
int recording_next(struct recording *rec, struct record *r, struct err *e);

/* Consecutive samples, adjacent in memory. */
struct record_run {
	const uint8_t *p, *end;
	uint64_t offset;     /* of p, as in struct record */
	struct chunk *chunk; /* as in struct record */
	uint64_t n;          /* records */
};

/*
 * Skip past the samples that come next, at most about `max` bytes that are already in memory: 1
 * and *run, or 0 when the next record is not a sample or must be read first (then call
 * recording_next). For readers that decode samples later: only headers are read.
 */
int recording_sample_run(struct recording *rec, size_t max, struct record_run *run);

/* Samples that LOST_SAMPLES records count and LOST records do not. From Linux 6.0 on an event
 * can count the samples for which the ring buffer was full (read_format LOST), and perf writes
 * that as LOST_SAMPLES: the same loss again, except what was lost after a buffer's last record,
 * which no LOST follows: then *at_end is set to 1, unless at_end is NULL. */
uint64_t recording_dropped_samples(const struct recording *rec, int *at_end);

/* Go back to the first record. ERR_UNSUPPORTED for streams. Statistics start at 0 again. */
int recording_rewind(struct recording *rec, struct err *e);

/* 1 for records that describe the recording itself. */
int record_is_header(uint32_t type);

/* 1 when records are in the file itself, which costs little to read twice; 0 for pipes and
 * compressed files (by their header). */
int recording_is_plain(const struct recording *rec);

/* The same if it is mapped, so that views live as long as the recording; else records come in
 * chunks. */
int recording_is_mapped(const struct recording *rec);

/* 1 when p is in the mapped file: what is there stays readable until recording_close. */
int recording_holds(const struct recording *rec, const void *p);

/* The mapped file whose records these are (of a directory, that of its header), *n bytes long;
 * NULL if there is none. */
const void *recording_file(const struct recording *rec, size_t *n);

/* 1 if the recording can be read only once: recording_rewind refuses. */
int recording_is_stream(const struct recording *rec);

/* Keep a record's memory alive, or release it. NULL is accepted. */
void chunk_hold(struct chunk *c);
void chunk_drop(struct chunk *c);

/* The event a record belongs to (by id for samples and by trailer otherwise; the only event
 * when there is one), or NULL when the id is not known. */
static inline const struct event *recording_event_of_id(const struct recording *rec,
							uint64_t id)
{
	uint32_t i;
	if (u64map_get(&rec->by_id, id, &i))
		return &rec->events.v[i];
	return NULL;
}
const struct event *recording_event(const struct recording *rec, const struct record *r);

/* How well the name `want` matches an event's: 2 the same, 1 the same except for modifiers
 * ("cycles" and "cycles:P"), recording terms ("cpu-clock" and "cpu-clock/freq=99/") or the unit
 * of one kind of core ("cycles" and "cpu_core/cycles/P"), 0 not. */
int event_name_fits(const char *have, const char *want);

/* 1 when two names are one event, also as its halves on the two kinds of cores of a hybrid CPU:
 * "cpu_core/cycles/P", "cpu_atom/cycles/P". */
int event_names_match(const char *a, const char *b);

/* A hash (hash_seed) that names which match have in common. */
uint64_t event_name_hash(const char *name);

/* Append the name under which an event is shown with its other halves among nth(ctx, 0 .. n - 1),
 * which is NULL for events that are not shown: "cycles:P (cpu_atom, cpu_core)". */
struct buf;
void event_name_shown(struct buf *b, const char *name,
		      const char *(*nth)(const void *ctx, size_t i), const void *ctx, size_t n);

/* 1 for the name of an event that one kind of core counts: "cpu_atom/cycles/P". */
int event_of_core(const char *name);

/* 1 when `want`, which fits the event `found` best, also means the event `name`: one of that
 * name, or another half of it unless `want` names one kind of core. */
int event_is_chosen(const char *name, const char *found, const char *want);

/* The rule for the event that is shown where none is asked for, in every command: of those that
 * have samples, the first of the lowest rank, with its other halves. The rank is 0 if it samples
 * CPU time, 1 if it is not the scheduler's, 2 for a tracepoint sched:*. */
int event_default_rank(const char *name, int tracepoint);

/* 1 for the event of perf record --off-cpu, whose samples are waits. */
int event_name_is_off_cpu(const char *name);

/* The unit of an event's weights: "ns" for clocks and --off-cpu, "samples" for tracepoints,
 * else "events". The second decides by the name alone. */
const char *event_unit(const struct event *ev);
const char *event_name_unit(const char *name, int tracepoint);

/* The first event that matches the name ("cycles", "sched:sched_switch") best, or NULL. */
const struct event *recording_find_event(const struct recording *rec, const char *name);

/* The trailer (or, for samples, the fixed fields) of any record: pid, tid, time, cpu, id. */
void recording_id(const struct recording *rec, const struct record *r, struct record_id *out);

/* The same for callers that have the event from recording_event. */
void recording_id_of(const struct recording *rec, const struct record *r,
		     const struct event *ev, struct record_id *out);

#endif
