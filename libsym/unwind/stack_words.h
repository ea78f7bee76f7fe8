/*
 * stack_words.h - the words of a stack, from any source.
 *
 * A recorded callchain is a list of addresses, leaf first, with context markers
 * (PERF_CONTEXT_KERNEL, …USER) in between. The unwinder adds two markers of its own, so that
 * one list of words can hold kernel frames of the callchain and user frames from a stack dump.
 */
#ifndef LIBSYM_UNWIND_STACK_WORDS_H
#define LIBSYM_UNWIND_STACK_WORDS_H

#include <stdint.h>

/* Below the kernel's markers (≥ PERF_CONTEXT_MAX = -4095), above any user address. After
 * UNWOUND_USER, user frames follow as lookup addresses, leaf first: a return address has its 1
 * subtracted already. */
#define UNWOUND_USER ((uint64_t)-8192)
#define UNWOUND_GUESS ((uint64_t)-8193) /* the next frame was found without CFI */
#define UNWOUND_CUT ((uint64_t)-8194)   /* the stack dump ended here: not the root */

static inline int is_chain_marker(uint64_t word)
{
	return word >= UNWOUND_CUT;
}

/* How a sample's stack words are to be read. */
enum chain_kind {
	CHAIN_NONE,    /* words is only the ip: the event records no callchain */
	CHAIN_RAW,     /* words are the recorded callchain, in the file's byte order */
	CHAIN_UNWOUND, /* words are in host order and may contain UNWOUND_USER */
};

/* The words of a sample's stack, and what decides their meaning. */
struct stack_entry {
	uint64_t first; /* time of its first sample: when to look up mappings */
	const uint8_t *words;
	uint32_t nwords;
	uint32_t event;
	int32_t pid, tid; /* of the first sample */
	uint32_t space;   /* NO_ID when the process is not known */
	uint32_t version; /* of the space: mappings made by then */
	uint8_t kind;     /* enum chain_kind */
	uint8_t cpumode;  /* of the sample, for words before any context marker */
};

#endif
