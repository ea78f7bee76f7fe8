/*
 * plausible.h - the one check of names whose addresses were computed, or come from another file
 * than the one that ran: a Go program's function table, MiniDebugInfo, a debug file of a program
 * that was prelinked since, kallsyms of another boot, a vmlinux, a kernel module, the perf map or
 * jitdump of another process. A wrong base gives every address its neighbour's name, so what does
 * not pass names nothing.
 */
#ifndef LIBSYM_ELF_PLAUSIBLE_H
#define LIBSYM_ELF_PLAUSIBLE_H

#include "libsym/elf/symtab.h"

/* Ranges of code; zero-initialised is empty. */
struct code_ranges {
	struct code_range {
		uint64_t start, end;
	} v[32]; /* more are joined with the last */
	size_t n;
};

/* The executable sections of a file, or its segments if it has no sections. */
void code_ranges_of(struct code_ranges *c, const struct elf_file *f);

/* Add [start, end), unless it is empty. */
void code_ranges_add(struct code_ranges *c, uint64_t start, uint64_t end);

/* 1 when nearly all of n functions are in the ranges: all but one in `spared`. */
int functions_fit(const struct code_ranges *c, const struct raw_symbol *v, size_t n,
		  size_t spared);

/* The same for the entries of a table's functions of the file itself (module 0), moved by
 * `slide`. */
int table_fits(const struct code_ranges *c, const struct symtab *t, uint64_t slide,
	       size_t spared);

/*
 * Generated code against the memory in which its process had code: sorted ranges that do not
 * touch. Only functions with a byte there are judged, as some interpreters list their data, too.
 */
struct generated_fit {
	const struct code_range *memory;
	size_t n;
	size_t inside, cut; /* functions that are all in one range; those with a part outside */
};

/* Judge one more function. */
void generated_fit_add(struct generated_fit *f, uint64_t start, uint64_t end);

/* 1 when there are functions, and nearly all are inside. */
int generated_fits(const struct generated_fit *f);

#endif
