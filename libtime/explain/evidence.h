/*
 * evidence.h - indexes over a finished timeline that explanations ask: who had a CPU when, what
 * samples and marks a thread has in a window, which lock waits it ended.
 *
 * Each index is made when first asked for, so that questions that need none cost nothing.
 */
#ifndef LIBTIME_EXPLAIN_EVIDENCE_H
#define LIBTIME_EXPLAIN_EVIDENCE_H

#include "libtime/causes/app_frame.h"
#include "libtime/causes/mechanism.h"
#include "libtime/sched/disk_requests.h"
#include "libtime/sched/lock_mark.h"

/* A wait for a lock, or for a futex that may be one, and when which thread ended it. */
struct lock_wake {
	uint64_t time_ns;
	uint32_t waker, off;
};

struct evidence {
	const struct timeline *tl; /* borrowed, finished */
	struct mechanisms *mechanisms;
	struct tl_runs runs;
	VEC(size_t) last_run;            /* of a CPU: where the last question about it led to */
	struct by_thread {               /* ids of samples or marks: by thread, then in time */
		VEC(uint32_t) id, first; /* thread t: id[first[t]] .. id[first[t + 1]] */
	} samples, marks, spans, wakes, interrupts;
	VEC(struct lock_wake) lock_wakes; /* by time */
	VEC(struct lock_mark) lock_marks; /* by address, then in time */
	disk_requests requests;           /* by their ends */
	struct u64map by_tid;             /* tid → the first thread of it, ... */
	VEC(uint32_t) same_tid;           /* ... and from there to the next; TL_NONE */
	struct u64map tally;              /* scratch of evidence_hot */
	VEC(uint64_t) weight;
	int have_runs, have_samples, have_marks, have_spans, have_wakes, have_lock_marks;
	int have_tids, have_interrupts, have_requests;
};

/* Nothing is looked up yet: indices are made by the first question that needs them. ERR_NOMEM;
 * then, too, evidence_release. */
int evidence_init(struct evidence *x, const struct timeline *tl, struct err *e);
void evidence_release(struct evidence *x);

/* A stretch of a thread's time. */
struct window {
	uint64_t from_ns, to_ns;
	uint32_t thread;
};
typedef VEC(struct window) windows_vec;

/*
 * Who had `cpu` in [from, to), apart from `thread` itself: appended to *out in order of time,
 * cut to the window, not overlapping. ERR_NOMEM.
 */
int evidence_holders(struct evidence *x, uint16_t cpu, uint64_t from_ns, uint64_t to_ns,
		     uint32_t thread, windows_vec *out, struct err *e);

/* The priority that thread ran with on `cpu` at that time; -1 when not known. */
int evidence_prio(struct evidence *x, uint16_t cpu, uint32_t thread, uint64_t at_ns);

/* 1 when a thread is known to have run on `cpu` before `at_ns`: from then on all that it did is
 * known, where all switches were recorded. */
int evidence_knows_cpu(struct evidence *x, uint16_t cpu, uint64_t at_ns);

/* The idle state that `cpu` was in at that time, by the marks of power:cpu_idle; -1 where they
 * do not show it. */
int evidence_idle_state(const struct evidence *x, uint16_t cpu, uint64_t at_ns);

/* The time that recorded interrupts took from threads running in n windows; nested ones count
 * once. *vector (strings id) is the one that took most, 0 for none. ERR_NOMEM.
 */
int evidence_interrupted(struct evidence *x, const struct window *w, size_t n, uint64_t *ns,
			 uint32_t *vector, struct err *e);

/* What samples say about running time. */
struct hot {
	uint32_t path;        /* a stack of the function most samples were in; 0 = no samples */
	uint32_t function;    /* its frame id */
	uint64_t samples, of; /* samples in it, of all in the windows */
	int vague;            /* no stack shows a frame of the application */
	/* Samples that interrupts took from the thread, not counted above; what one of them
	 * did: a frame id. */
	uint64_t interrupted;
	uint32_t interrupt;
};

/* The application function most samples of the windows were taken in, each by its innermost
 * application frame. Samples without one count only where no other has one, by their innermost
 * user frame, else their leaf. ERR_NOMEM. */
int evidence_hot(struct evidence *x, const struct window *w, size_t n, struct hot *out,
		 struct err *e);

/* The thread that had a tid at a time, in the recording that thread `self` is of; TL_NONE where
 * there is none. ERR_NOMEM. */
int evidence_thread_at(struct evidence *x, uint32_t self, long tid, uint64_t ns, uint32_t *out,
		       struct err *e);

/* A wait for a lock, or for a futex that may be one? */
int off_is_lock(const struct off *o);

/*
 * The lock waits that a task ended in (after, to), in order of time: first..last of wakes.id,
 * which are indexes of lock_wakes. ERR_NOMEM.
 */
int evidence_lock_wakes(struct evidence *x, uint32_t waker, uint64_t after_ns, uint64_t to_ns,
			size_t *first, size_t *last, struct err *e);

/* The probe's last hit by a thread since it got on a CPU before interval `off`. 1, 0 for none;
 * ERR_NOMEM. */
int evidence_lock_mark(struct evidence *x, uint32_t off, struct lock_mark *out, struct err *e);

/* The hits for a lock in (after, to), in order of time: first..last of lock_marks. ERR_NOMEM.
 */
int evidence_lock_marks(struct evidence *x, uint64_t address, uint64_t after_ns, uint64_t to_ns,
			size_t *first, size_t *last, struct err *e);

/*
 * Where these samples are of functions that one function called, that one is what the time went
 * to: out->function and ->path become the innermost caller that three quarters of the samples
 * are in or below, if no function has as many itself, and unless that is where the thread
 * began.
 */
void evidence_caller(const struct evidence *x, const struct window *w, size_t n,
		     struct hot *out);

/* The request to a disk whose end ended the wait `off`, where block events were recorded; NULL
 * where none is known to have. Life: x's. ERR_NOMEM. */
int evidence_disk(struct evidence *x, uint32_t off, const struct disk_request **out,
		  struct err *e);

/* 1 when a kernel function of one of these names, which a NULL ends, is on the stack. */
int evidence_stack_has(const struct timeline *tl, uint32_t path, const char *const *names);

/* Ids (of timeline.marks) of a thread's marks in [from, to): first..last of marks.id. */
int evidence_marks(struct evidence *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		   size_t *first, size_t *last, struct err *e);

/* Ids (of timeline.spans) of a thread's spans that begin before `to`: first..last of spans.id.
 */
int evidence_spans(struct evidence *x, uint32_t thread, uint64_t to_ns, size_t *first,
		   size_t *last, struct err *e);

#endif
