/*
 * replay.c - the driver of a fuzz target where there is no libFuzzer: every file given, or
 * below a folder given, is one input.
 *
 *	fuzz_NAME [--ceiling|--claims] FILE|FOLDER...
 *
 * --ceiling: an input that asks for more memory than there is (ulimit -v) ends the run.
 * --claims: that, and each input is read with absurd numbers in the place of 4 of its
 * bytes, too, at up to PLACES places.
 *
 * An input that takes longer than PER_INPUT seconds ends the run, naming it. The last line
 * says how many inputs were read.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PER_INPUT = 20, MAX_INPUT = 1 << 24, PLACES = 400 };

static unsigned inputs;
static int claims;
static const char *now = "";

/* For the reader of a crash: which input it was. */
static void say(const char *what)
{
	if (write(2, what, strlen(what)) < 0 || write(2, now, strlen(now)) < 0 ||
	    write(2, "\n", 1) < 0)
		return;
}

static void too_slow(int sig)
{
	(void)sig;
	say("fuzz: too slow: ");
	abort();
}

static void run_input(const uint8_t *p, size_t n)
{
	alarm(PER_INPUT);
	LLVMFuzzerTestOneInput(p, n);
	alarm(0);
	inputs++;
}

/* Counts, sizes and offsets that a file may claim: 4 G, 2 G, 1 G, 256 M,
 * 16 M. */
static void run_claims(uint8_t *p, size_t n)
{
	static const uint8_t absurd[][4] = {{0xff, 0xff, 0xff, 0xff},
					    {0xff, 0xff, 0xff, 0x7f},
					    {0, 0, 0, 0x40},
					    {0xf0, 0xff, 0xff, 0x0f},
					    {0, 0, 0, 1}};
	size_t step = n / PLACES / 4 * 4 + 4;
	for (size_t at = 0; n >= 4 && at <= n - 4; at += step)
		for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); i++) {
			uint8_t was[4];
			memcpy(was, p + at, 4);
			memcpy(p + at, absurd[i], 4);
			run_input(p, n);
			memcpy(p + at, was, 4);
		}
}

static int run(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)at;
	if (kind != FTW_F || st->st_size > MAX_INPUT)
		return 0;
	size_t n = (size_t)st->st_size;
	uint8_t *p = mem_alloc(n); /* exactly: a sanitizer sees one byte too far */
	FILE *f = fopen(path, "re");
	if (!p || !f || (n && fread(p, n, 1, f) != 1)) {
		fprintf(stderr, "%s: cannot read\n", path);
		exit(1);
	}
	fclose(f);
	now = path;
	if (getenv("FUZZ_VERBOSE"))
		say("fuzz: ");
	run_input(p, n);
	if (claims)
		run_claims(p, n);
	mem_free(p);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction slow = {.sa_handler = too_slow};
	sigaction(SIGALRM, &slow, NULL);
	claims = argc > 1 && !strcmp(argv[1], "--claims");
	fuzz_ceiling = claims || (argc > 1 && !strcmp(argv[1], "--ceiling"));
	for (int i = 1 + fuzz_ceiling; i < argc; i++)
		if (nftw(argv[i], run, 16, FTW_PHYS)) {
			fprintf(stderr, "%s: cannot read\n", argv[i]);
			return 1;
		}
	printf("%u inputs\n", inputs);
	return 0;
}
