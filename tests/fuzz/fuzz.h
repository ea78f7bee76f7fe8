/*
 * fuzz.h - what every tests/fuzz/fuzz_*.c defines, and what several of them need.
 *
 * One target is one door: a place where bytes of a stranger come in. `make check` compiles all
 * of them with a driver that replays files (replay.c); `make fuzz` links them with libFuzzer.
 * tests/fuzz/README.md lists the doors.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "libparse/recording.h"
#include "libparse/sample.h"

#include <stddef.h>
#include <stdint.h>

/* One input. Always 0; what is wrong ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Read every byte of n at p, so that a sanitizer sees a view that passes its end. */
void fuzz_touch(const void *p, size_t n);

/* The same for a text that may be NULL. */
void fuzz_text(const char *s);

/* Set by the driver: running out of memory is a fault of the program, not of the machine. */
extern int fuzz_ceiling;

/* A failure has a code below 0 and says why. */
void fuzz_failed(int rc, const struct err *e);

/* Ends the process unless `ok`, saying what was expected to hold. */
void fuzz_must(int ok, const char *what);

/*
 * Inputs of several files: parts are separated by this line. fuzz_part gives the next one (an
 * exact heap copy, for mem_free) and its length; NULL when there is none left.
 */
#define FUZZ_NEXT "\n=next=\n"
uint8_t *fuzz_part(const uint8_t **p, size_t *n, size_t *part_n);

/* A folder of this process in memory (/dev/shm, else /tmp), removed at exit; and n bytes as a
 * file in it, whose path is borrowed until the next call. */
const char *fuzz_dir(void);
const char *fuzz_file(const char *name, const void *p, size_t n);

/* Decode a record whatever it is, its trailer too, and touch all of it. `ev` may be NULL. */
void fuzz_record(const struct record *r, const struct event *ev, int swap);

#endif
