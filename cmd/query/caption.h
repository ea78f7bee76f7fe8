/*
 * caption.h - captions of answers and pictures: "waiting on web1 · 2026-11-22 15:45:54 UTC ·
 * perf.data · 100 ms of 1.1 s", and the filters, "comm=front-0,front-1 time=1.5,1.6".
 */
#ifndef CMD_QUERY_CAPTION_H
#define CMD_QUERY_CAPTION_H

#include "base/text/buf.h"
#include "cmd/query/waits.h"

/* Append "name=a,b" in visible form, after a blank if `b` has text; nothing for an empty list.
 */
void filters_list(struct buf *b, const char *name, const struct opt_list *l);

/* Append what defines the population: the filters of threads, CPUs, time and label, and who is
 * meant by default: "redis-server, which was recorded; --all for the whole machine". "" for
 * none. */
void filters_population(struct buf *b, const struct tlinput *ti);

/* Append that, and every other filter that was given: event, state, cause, --idle, --system. ""
 * for none. */
void filters_all(struct buf *b, const struct tlinput *ti, const struct wait_opts *o);

/* "/a/perf.data" → "perf.data"; "stdin" for "-". */
const char *caption_file(const char *path);

/* Where and when something was recorded; borrowed texts, "" if unknown. */
struct caption_origin {
	const char *host, *file;
	uint64_t wall_ns; /* since 1970; 0: unknown */
	int exact;
	size_t recordings; /* 0: one */
};

/* The origin of a timeline, with the wall clock at `at_ns` (UINT64_MAX: without). Texts are in
 * *hosts, which the caller releases. */
struct caption_origin caption_origin_of(const struct tlinput *ti, uint64_t at_ns,
					struct buf *hosts);

/* Append the caption of a time of `ns` (0: unknown) out of `whole_ns` (0: it is all). */
void caption(struct buf *b, const char *what, const struct caption_origin *o, uint64_t ns,
	     uint64_t whole_ns);

/* Append the caption of the part of a timeline in --time; returns its length in ns. */
uint64_t caption_timeline(struct buf *b, const char *what, const struct tlinput *ti);

#endif
