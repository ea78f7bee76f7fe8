/*
 * replay.c - the driver of a fuzz target where there is no libFuzzer: every file given, or
 * below a folder given, is one input.
 *
 *	fuzz_NAME FILE|FOLDER...
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

enum { PER_INPUT = 20, MAX_INPUT = 1 << 24 };

static unsigned inputs;
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
	alarm(PER_INPUT);
	LLVMFuzzerTestOneInput(p, n);
	alarm(0);
	mem_free(p);
	inputs++;
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction slow = {.sa_handler = too_slow};
	sigaction(SIGALRM, &slow, NULL);
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], run, 16, FTW_PHYS)) {
			fprintf(stderr, "%s: cannot read\n", argv[i]);
			return 1;
		}
	printf("%u inputs\n", inputs);
	return 0;
}
