/*
 * expand.h - the stack of a sample whose recorded callchain is incomplete.
 *
 *	registers + stack copy ──unwind──► kernel part of the callchain, then unwound frames
 *	LBR call stack (--call-graph lbr)► kernel part, then the branches' call sites
 *	link register (aarch64, perf -g) ► the caller of a leaf, after the first user address
 *	deferred user chain ─────────────► the CALLCHAIN_DEFERRED record with the same cookie
 *
 * One object per worker: the context of aggregate_options.expand. The machine, the modules and
 * the deferred chains are shared and only read.
 */
#ifndef LIBSYM_EXPAND_H
#define LIBSYM_EXPAND_H

#include "libsym/aggregate.h"
#include "libsym/process/modules.h"
#include "libsym/unwind/unwind.h"

/*
 * User callchains that came after their samples (Linux 6.19, attr.defer_callchain): one record
 * serves all samples of a thread since it entered the kernel. Words are in host order.
 * Source: PERF_RECORD_CALLCHAIN_DEFERRED in include/uapi/linux/perf_event.h.
 */
struct deferred_chains {
	struct arena text;
	struct u64map by_cookie; /* → index into chains */
	VEC(struct deferred_chain {
		const uint64_t *ips;
		uint32_t n;
	})
	chains;
};

/* Add one CALLCHAIN_DEFERRED record. ERR_FORMAT when it breaks its layout, ERR_NOMEM. */
int deferred_add(struct deferred_chains *d, const struct record *r, int swap, struct err *e);
void deferred_release(struct deferred_chains *d);

struct expander;

struct expand_counts {
	uint64_t unwound;    /* stacks unwound */
	uint64_t full, half; /* … copies that were full, or at least half so */
	uint64_t by_end[UNWIND_NO_REGS + 1]; /* … by enum unwind_end */
	uint64_t late[UNWIND_LATE_LOST + 1]; /* … by enum unwind_late: precise events */
	uint64_t deferred_missing;           /* cookies without a chain */
};

/* The recording's architecture, by its header or by its sampled registers; NULL: other or
 * unknown.
 */
const struct arch *expander_arch(const struct recording *rec);

/* All arguments are borrowed. At most `max_stack` frames are unwound (0: 1024). ERR_NOMEM. */
int expander_new(struct expander **out, const struct recording *rec, const struct machine *m,
		 struct modules *modules, const struct deferred_chains *deferred, int max_stack,
		 struct err *e);
void expander_free(struct expander *x);
const struct expand_counts *expander_counts(const struct expander *x);

/* 1 when any event of the recording has samples that need expanding. */
int expander_needed(const struct recording *rec);

/*
 * A callchain (n words as recorded) with the deferred user chain in place of its marker, in
 * host order: 1 and *words, *nwords, which live until the next call; 0 if it has no marker. For
 * callers that keep callchains until the deferred records have come, as of a pipe. ERR_NOMEM.
 */
int expander_join_deferred(struct expander *x, const uint8_t *chain, uint64_t n, int swap,
			   const uint64_t **words, size_t *nwords);

/* aggregate_options.expand */
int expander_expand(void *expander, const struct sample *s, const struct thread_view *v,
		    int swap, const uint64_t **words, size_t *n);

#endif
