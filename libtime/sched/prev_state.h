/*
 * prev_state.h - what the bits of sched_switch's prev_state mean, by the recorded format.
 *
 * The bits changed between kernels (64 is "x" up to 4.13 and "P" since; the "+" of a preempted
 * task is bit 512, 1024, 2048, 4096 or 256), but every recording carries the tracepoint's
 * print_fmt, in which the kernel itself spells them out:
 *
 *	... REC->prev_state & (MASK) ? __print_flags(REC->prev_state & (MASK), "|",
 *	    { 0x01, "S" }, { 0x02, "D" }, ...) : "R", REC->prev_state & BIT ? "+" : "", ...
 */
#ifndef LIBTIME_SCHED_PREV_STATE_H
#define LIBTIME_SCHED_PREV_STATE_H

#include "base/err.h"
#include "libtime/sched/sched.h"

#include <stddef.h>
#include <stdint.h>

enum { PREVSTATE_FLAGS = 32, PREVSTATE_NAME = 8, PREVSTATE_TEXT = 64 };

struct prevstate {
	struct prevstate_flag {
		uint64_t bits;
		char name[PREVSTATE_NAME];
	} flag[PREVSTATE_FLAGS];
	size_t nflags;
	uint64_t mask; /* of the bits that are looked at; ~0 when the format has no mask */
	uint64_t plus; /* the "+" bit; 0 when this kernel has none */
	char delim[4];
};

/*
 * Read the print_fmt (the text after "print fmt:", n bytes, or the whole format file) of a
 * sched_switch. 0, or ERR_FORMAT when it does not name the states in this way.
 */
int prevstate_parse(struct prevstate *p, const char *print_fmt, size_t n, struct err *e);

/* The text perf prints for a value, as "S", "D|K", "R+"; `out` has PREVSTATE_TEXT bytes. If
 * no bit has a name, the masked value in hex. Returns out. */
char *prevstate_text(const struct prevstate *p, uint64_t value, char *out);

/* STATE_RUNNING for R and R+, STATE_DEAD where one of the names is X, Z or x, else
 * STATE_BLOCKED. It goes by the names, since the numbers change. */
enum state_class prevstate_class(const struct prevstate *p, uint64_t value);

#endif
