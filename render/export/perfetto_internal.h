/*
 * perfetto_internal.h - a trace of perfetto.h while it is written: perfetto.c writes threads
 * and what CPUs ran, perfetto_samples.c samples, perfetto_slices.c spans, episodes and losses.
 */
#ifndef RENDER_EXPORT_PERFETTO_INTERNAL_H
#define RENDER_EXPORT_PERFETTO_INTERNAL_H

#include "libtime/explain/worst.h"
#include "libtime/sched/timeline_query.h"
#include "render/export/perfetto.h"
#include "render/export/protobuf.h"

/* Fields of protos/perfetto/trace/trace.proto and trace_packet.proto. */
enum {
	TRACE_PACKET = 1,

	PACKET_FTRACE_EVENTS = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_COMPRESSED = 50, /* packets, by zlib */
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	SEQUENCE_CLEARED = 1,
	SEQUENCE_NEEDS_STATE = 2,
};

/* Sequences of packets: all but samples, and behind it one for each event, with names of its
 * own. */
enum { FLUSH = 1 << 20, SEQUENCE = 1, SEQUENCE_OF_EVENT = 2 };

struct perfetto {
	const struct timeline *tl;
	const struct stacks *s;
	const struct population *of; /* whose label is exported */
	const struct worst *worst;
	FILE *f;
	struct buf b, packed;
	struct tl_runs runs;
	int modern;            /* the kernel reports states as 4.14 and later do */
	VEC(uint32_t) wakings; /* intervals with a wakeup, by its CPU and time */
	VEC(uint32_t) spans;   /* by thread, outer ones first */
	struct u64map threads; /* tid → the number of its track */
	uint64_t tracks;       /* that have a number */
	uint64_t flows;        /* likewise */
};

/* Write what is in p->b, compressed, once it is more than `above` bytes. ERR_IO; ERR_NOMEM,
 * also of an append to it before. */
int perfetto_flush(struct perfetto *p, size_t above, struct err *e);

/* A packet with a time; what pb_close is to be given. */
size_t perfetto_open(struct perfetto *p, uint32_t sequence, uint64_t ns);

/* A text of the timeline's. */
const char *perfetto_text(const struct perfetto *p, uint32_t id);

/* The parts of a trace. ERR_NOMEM, ERR_IO. */
int perfetto_put_samples(struct perfetto *p, struct err *e);
int perfetto_put_slices(struct perfetto *p, struct err *e);

#endif
