/*
 * spikes.h - counts the waits of a timeline that are new since the last answer, and explains
 * those that are spikes.
 */
#ifndef LIBTIME_WATCH_SPIKES_H
#define LIBTIME_WATCH_SPIKES_H

#include "libtime/explain/tail_model.h"

enum severity { SPIKE_INFO, SPIKE_WARNING, SPIKE_CRITICAL, SEVERITIES };

/* "info", "warning", "critical". */
const char *severity_name(unsigned severity);

enum {
	WATCH_PROCESSES = 32, /* processes counted by name; the others are "other" */
	WATCH_BUCKETS = 16,   /* buckets of lengths: 1, 3.16, 10 ... us, see watch_bucket_ns */
	WATCH_NAME = 16,
};

/* Stands for the processes that are not counted by name. */
#define WATCH_OTHER "other processes"

struct watch_process {
	char name[WATCH_NAME]; /* printable ASCII */
	uint64_t spikes[SEVERITIES];
};

/* Sums; plain data, which processes send through a pipe. Zero-initialized: none. */
struct watch_counts {
	uint64_t waits, wait_ns; /* of work */
	uint64_t
		bucket[WATCH_BUCKETS + 1]; /* by length; the last one: longer than all bounds */
	uint64_t cause_ns[CAUSE_COUNT];    /* time off a CPU by cause */
	uint64_t spikes[SEVERITIES], longest_ns;
	uint64_t cut;            /* spikes that began before the history, so are longer */
	uint64_t suspect;        /* waits next to missing records; not counted above; */
	uint64_t suspect_spikes; /* of these, those as long as a spike */
	uint64_t unclear;        /* unclear waits as long as a spike */
	struct watch_process process[WATCH_PROCESSES];
	struct watch_process other;
};

/* Upper bound of a bucket, ns. */
uint64_t watch_bucket_ns(unsigned bucket);

/* Add sums; processes that do not fit are added to `other`. */
void watch_counts_add(struct watch_counts *to, const struct watch_counts *more);

struct spike_query {
	uint64_t over_ns, warn_ns, crit_ns;
	uint64_t done_ns, safe_ns; /* waits that ended in (done, safe] are new */
	size_t most;               /* how many of the longest are explained; suspect ones only
				    * where others leave room */
	const char *recorder;      /* prefix of the watcher's own threads' names; or NULL */
	struct population of;
};

struct spikes {
	struct tail tail;
	VEC(uint32_t) rows;          /* of tail.rows: the spikes, by end */
	uint64_t more, more_suspect; /* those that are not in rows */
	struct watch_counts counts;
};

/* Find spikes in a timeline with causes. ERR_NOMEM: nothing to release. */
int spikes_find(struct spikes *out, const struct timeline *tl, const struct spike_query *q,
		struct err *e);
void spikes_release(struct spikes *s);

/* The severity of a length of at least over_ns. */
enum severity spike_severity(const struct spike_query *q, uint64_t ns);

#endif
