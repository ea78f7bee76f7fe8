/*
 * frames_at - print the frames of addresses of one file, in llvm-symbolizer's layout, so that
 * tests can compare the two:
 *
 *	frames_at [-t] FILE [DEBUGFILE] <addresses
 *
 * For each address (hex, one a line): per frame the mangled name (?? = unknown) and FILE:LINE,
 * then an empty line. -t: print only the time per address, first and repeated.
 */
#include "libsym/dwarf/debug_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void show(struct debuginfo *d, uint64_t va)
{
	struct debuginfo_frame f[64];
	int n = debuginfo_frames(d, va, NULL, f, 64);
	if (n <= 0)
		printf("??\n??:0\n");
	for (int i = 0; i < n && i < 64; i++)
		printf("%s\n%s:%u\n", f[i].name ? f[i].name : "??",
		       f[i].file ? f[i].file : "??", f[i].line);
	printf("\n");
}

static double pass(struct debuginfo *d, const uint64_t *va, size_t n)
{
	struct debuginfo_frame f[64];
	double from = now();
	for (size_t i = 0; i < n; i++)
		debuginfo_frames(d, va[i], NULL, f, 64);
	return now() - from;
}

static void timing(struct debuginfo *d, const uint64_t *va, size_t n, double opened)
{
	struct debuginfo_stats s;
	double first = pass(d, va, n), again = pass(d, va, n);
	debuginfo_stats(d, &s);
	printf("open %.1f ms, %zu units; %zu built, %.2f MB in %.1f ms (%.2f ms/MB); "
	       "repeated %.3f us per address\n",
	       opened / 1e3, s.units, s.units_built, (double)s.bytes_built / 1e6, first / 1e3,
	       first / 1e3 / ((double)s.bytes_built / 1e6), n ? again / (double)n : 0);
}

int main(int argc, char **argv)
{
	struct elf_file *f = NULL, *dbg = NULL;
	struct debuginfo *d = NULL;
	struct err e = {0};
	uint64_t *va = NULL;
	size_t n = 0, cap = 0;
	char line[64];
	int timed = argc > 1 && !strcmp(argv[1], "-t");
	argc -= timed;
	argv += timed;
	if (argc < 2)
		return 2;
	double from = now();
	if (elf_file_open(argv[1], &f, &e) || (argc > 2 && elf_file_open(argv[2], &dbg, &e)) ||
	    debuginfo_open(f, dbg, NULL, &d, &e)) {
		fprintf(stderr, "frames_at: %s\n", e.msg);
		return 1;
	}
	double opened = now() - from;
	while (fgets(line, sizeof(line), stdin)) {
		if (n == cap)
			va = realloc(va, (cap = cap ? 2 * cap : 1024) * sizeof(*va));
		va[n++] = strtoull(line, NULL, 16);
	}
	if (timed)
		timing(d, va, n, opened);
	for (size_t i = 0; !timed && i < n; i++)
		show(d, va[i]);
	for (size_t i = 0; debuginfo_note(d, i); i++)
		fprintf(stderr, "note: %s\n", debuginfo_note(d, i));
	debuginfo_close(d);
	elf_file_close(dbg);
	elf_file_close(f);
	free(va);
	return 0;
}
