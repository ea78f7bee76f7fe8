/*
 * lacking.h - functions of Linux's C library that a system's own lacks, for compilers that are
 * told to include this first (the Makefile's wasm). Those that need a Linux kernel fail with
 * ENOSYS.
 */
#ifndef BASE_OS_LACKING_H
#define BASE_OS_LACKING_H

#ifdef __EMSCRIPTEN__
#include <stddef.h>

/* As glibc's, which is stable where it has memory: so is qsort, which lacking.c replaces too. */
void qsort_r(void *v, size_t n, size_t size, int (*cmp)(const void *, const void *, void *),
	     void *ctx);

/* For code of record, watch and fleet, which are refused before. */
int gettid(void);
#endif

#endif
