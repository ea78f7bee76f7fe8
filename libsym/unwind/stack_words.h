/*
 * stack_words.h - the words of a stack, whoever made them.
 *
 * A recorded callchain is a list of addresses, leaf first, with context markers
 * (PERF_CONTEXT_KERNEL, …USER) in between. The unwinder adds two markers of its own, so that
 * one list of words can hold kernel frames of the callchain and user frames from a stack dump.
 */
#ifndef LIBSYM_UNWIND_STACK_WORDS_H
#define LIBSYM_UNWIND_STACK_WORDS_H

#include <stdint.h>

/* Below the kernel's markers (≥ PERF_CONTEXT_MAX = -4095), above any user address. */
#define UNWOUND_USER                                                                  \
	((uint64_t)-8192) /* user frames follow as lookup addresses: a return address \
			     has its 1 subtracted already. Leaf first. */
#define UNWOUND_GUESS ((uint64_t)-8193) /* the next frame was found without CFI */
#define UNWOUND_CUT ((uint64_t)-8194)   /* the stack dump ended here: not the root */

static inline int is_chain_marker(uint64_t word)
{
	return word >= UNWOUND_CUT;
}

#endif
