/*
 * gap_parts.h - the parts of a gap: what had the CPU while a program that wanted it did not.
 *
 *	spinner   ████████▏                  ▕████████        what it measured: the gap
 *	CPU       spinner │ cc1 ──────│ spinner                  sched_switch
 *	interrupts        ├ timer ┤     ├ virtio ┤               irq, softirq, vectors
 *	parts             timer   cc1   ?  virtio  ?             ? = unexplained
 *
 * An interrupt's time does not count for what it interrupted, whether a thread or another
 * interrupt, so the parts add up to the gap. Nothing outside of a gap explains it: where the
 * spinner had the CPU and no interrupt was recorded, the time is unexplained (the hypervisor,
 * SMIs, NMIs, or what was not recorded).
 *
 * For some gaps only an interval that contains them is known. The gap is then placed at the one
 * stretch of its length (up to a tenth shorter) in which the spinner did not have the CPU. If
 * there is no such stretch, or several, the gap is a single part, "not placed".
 */
#ifndef LIBTIME_EXPLAIN_GAP_PARTS_H
#define LIBTIME_EXPLAIN_GAP_PARTS_H

#include "libtime/sched/timeline.h"

enum gap_part_kind {
	GAP_THREAD,
	GAP_INTERRUPT,
	GAP_UNEXPLAINED,
	GAP_NOT_RUNNING,     /* no thread had the CPU: the spinner itself was waiting */
	GAP_RECORDS_MISSING, /* records are missing there */
	GAP_NOT_PLACED,      /* not placed */
};

/* "thread", "interrupt", "unexplained", "spinner not running", "records missing", "not placed";
 * for tables and JSON. */
const char *gap_part_kind_name(unsigned int by);

struct gap_part {
	uint64_t ns;
	uint32_t what; /* thread, or strings id of an interrupt; else 0 */
	uint8_t by;    /* enum gap_part_kind */
};

/* One gap's parts; zero-initialised is empty, reused from gap to gap. */
struct gap_parts {
	VEC(struct gap_part) v;    /* the longest first */
	uint64_t start_ns, end_ns; /* where it was; 0 and 0: not placed */
};

struct gap_finder;

/* The timeline is finished, and borrowed. ERR_NOMEM. */
int gap_finder_new(struct gap_finder **out, const struct timeline *tl, struct err *e);
void gap_finder_free(struct gap_finder *f);
/* Find the parts of one gap of that timeline; they replace those of *out and add up to the gap.
 * ERR_NOMEM. */
int gap_explain(struct gap_finder *f, const struct tl_gap *gap, struct gap_parts *out,
		struct err *e);
void gap_parts_release(struct gap_parts *w);

#endif
