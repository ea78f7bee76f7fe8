/*
 * span_def.h - which events of a recording begin and end which spans.
 *
 * Without --span, the pairs of the user's own probes are found, that is, of events whose format
 * has the fields of a kprobe or uprobe (__probe_ip; __probe_func, __probe_ret_ip):
 *
 *	X and X__return                         (perf probe X, perf probe X%return)
 *	A_start, A_begin, A_entry, A_enter      (USDT and others)
 *	with A_done, A_end, A_return, A_exit
 *
 * of one group. The span's name is X or A; group:X if two groups have the same. If both events
 * have a field `key`, that is the key, and the span may go from thread to thread.
 *
 * Other pairs need --span:
 *
 *	NAME=BEGIN..END[,key=FIELD[+FIELD...]][,once]
 *
 * BEGIN and END are events as perf names them (a name without a group matches any group). A
 * numeric field of both is the key: FIELD/FIELD2 if the end's field has another name; "+" joins
 * several. once: see spans.h. Or one word names pairs of the kernel: syscalls, syscalls:NAME,
 * irq, softirq, block, contention.
 */
#ifndef LIBTIME_SPANS_SPAN_DEF_H
#define LIBTIME_SPANS_SPAN_DEF_H

#include "libparse/tracepoint.h"
#include "libtime/spans/spans.h"

enum { SPAN_KEY_FIELDS = 4 };

struct span_key { /* where the key is in one of the two events */
	struct tp_field field[SPAN_KEY_FIELDS];
	uint32_t n;
};

/* An event's part in a span. */
struct span_role {
	uint32_t event, kind; /* recording's event index; of spans_kind */
	uint8_t end;
	struct span_key key;
};

/* Ordered by event; for one event, ends come before begins. Zero-initialised is empty. */
struct span_roles {
	VEC(struct span_role) v;
};

/*
 * Find the pairs of a recording and add their kinds to `s`. `texts` are the n comma-separated
 * words of --span; one that begins with "key=", or is "once", belongs to the one before it.
 * ERR_USAGE with the text and what is wrong with it: its form, or no such event or field in
 * this recording; ERR_NOMEM.
 */
int spandefs_find(struct span_roles *out, struct spans *s, struct strtab *strings,
		  const struct recording *rec, const struct tracepoints *formats,
		  const char *const *texts, size_t n, struct err *e);

/* Order roles whose events have changed; of equal ones the first remains. */
void span_roles_order(struct span_roles *r);

/* Release the roles; what was added to `s` and `strings` stays. */
void span_roles_release(struct span_roles *r);

/* The key of a raw record: the number itself for one field, a hash for several or for text. */
uint64_t span_key_of(const struct span_key *k, const uint8_t *raw, uint32_t raw_size, int swap);

#endif
