/*
 * spin.h - threads that each spin on a CPU, read CLOCK_MONOTONIC and note every gap in it.
 *
 *	spinner of CPU 1 ──ring──► the caller's thread, every 10 ms ──► wish.gap()
 *
 * Between two readings, a spinner only compares them and stores a gap; the other thread writes
 * it. A full ring drops gaps and counts them.
 */
#ifndef CMD_JITTER_SPIN_H
#define CMD_JITTER_SPIN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { SPIN_CPUS = 1024 };

struct spin_wish {
	const int *cpus; /* one spinner each, SPIN_CPUS at most */
	size_t n;
	uint64_t threshold_ns; /* shorter gaps are ignored */
	uint64_t duration_ns;  /* 0: until a signal asks to end */
	void (*gap)(void *ctx, int cpu, uint64_t begin_ns, uint64_t end_ns);
	void *ctx;
};

/* One spinner, and what it saw when it has ended. */
struct spinner {
	int cpu, tid;
	uint64_t begin_ns, end_ns;
	uint64_t readings, reading_ns; /* of one undisturbed reading */
	uint64_t gaps, lost_ns, max_ns;
	uint64_t dropped; /* of `gaps`: not given to wish.gap */
};

struct spin;

/*
 * Start the threads; they wait on their CPUs. `wish` must outlive them. ERR_USAGE if a CPU
 * cannot be used, or if the threshold is at most the time of two clock readings; ERR_NOMEM,
 * ERR_IO. On failure *out is NULL.
 */
int spin_new(struct spin **out, const struct spin_wish *wish, struct err *e);

/* The i-th of wish.n spinners, in the order of wish.cpus; borrowed. */
const struct spinner *spin_at(const struct spin *s, size_t i);

/* Spin until the time is over, or SIGINT, SIGTERM or SIGHUP arrives; these are caught from here
 * on. Calls wish.gap for every gap; the gaps of one CPU come in order. */
void spin_run(struct spin *s);

/* NULL is accepted. */
void spin_free(struct spin *s);

/* CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW and CLOCK_REALTIME at one moment, which is `error_ns`
 * uncertain. */
struct spin_clocks {
	uint64_t mono_ns, raw_ns, real_ns, error_ns;
};
struct spin_clocks spin_clocks(void);

#endif
