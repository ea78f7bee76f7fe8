/*
 * disassemble.h - the instructions of a function, by Capstone. Built without that library, it
 * says so.
 */
#ifndef LIBSYM_SOURCE_DISASSEMBLE_H
#define LIBSYM_SOURCE_DISASSEMBLE_H

#include "libsym/elf/elf_file.h"

/* Code to disassemble. Borrowed. */
struct code_bytes {
	const uint8_t *v;
	uint64_t n, va;
	uint16_t machine;        /* e_machine */
	uint8_t narrow, swapped; /* 32 bits; big-endian */
};

struct instruction {
	uint64_t va;
	uint8_t size;
	uint8_t jumps;   /* to `target`, without a return address */
	uint64_t target; /* 0: no jump, or not to a fixed address */
	const char
		*text; /* "jne 0x1139", as the machine's assembler writes it (x86: AT&T); valid
			   * during the call */
};

/* A function longer than this is not shown. */
enum { DISASSEMBLE_MAX = 1 << 20 };

/* 1 and *out, a view: what the file has in [start, end); bytes past DISASSEMBLE_MAX + 1 are left
 * out. 0: it has no such bytes. */
int code_bytes_of(const struct elf_file *f, uint64_t start, uint64_t end,
		  struct code_bytes *out);

/*
 * Call `take` for each instruction, in order; bytes that are none are ".byte ...". Stops at the
 * first return value that is not 0 and returns it. ERR_NOMEM; ERR_UNSUPPORTED: no library, or a
 * machine that it does not know; ERR_LIMIT.
 */
int disassemble(const struct code_bytes *c, int (*take)(void *ctx, const struct instruction *i),
		void *ctx, struct err *e);

#endif
