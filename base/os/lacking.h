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

#ifdef __APPLE__
#define wait wait_of_the_system /* a union there */
#include <sys/wait.h>
#undef wait
#include <fcntl.h>
#include <pthread.h>
#undef SCHED_OTHER /* a name of libtime's */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>

#define st_mtim st_mtimespec
#define O_PATH O_EVTONLY
#define CLOCK_BOOTTIME CLOCK_MONOTONIC /* counts sleep there, too */

#define MFD_CLOEXEC 0

/* As memfd_create(2), but a file of $TMPDIR. */
int memfd_create(const char *name, unsigned flags);

/* As above; the system's own qsort_r has another order of parameters. */
#define qsort_r lacking_qsort_r
#define qsort lacking_qsort
void qsort_r(void *v, size_t n, size_t size, int (*cmp)(const void *, const void *, void *),
	     void *ctx);
void qsort(void *v, size_t n, size_t size, int (*cmp)(const void *, const void *));

/* Deadlines are of CLOCK_MONOTONIC, the one clock that anything here sets. */
#define pthread_condattr_setclock(attr, clock) ((void)(attr), (void)(clock), 0)
#define pthread_cond_timedwait lacking_cond_timedwait
int lacking_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
			   const struct timespec *deadline);

/* As memrchr(3) and fopencookie(3) on Linux; of the functions, `write` alone. */
void *memrchr(const void *p, int c, size_t n);
typedef struct {
	ssize_t (*write)(void *cookie, const char *p, size_t n);
} cookie_io_functions_t;
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions);
#endif

#endif
