/*
 * lbrgen.c - a recording of `perf record --call-graph lbr`, which needs an Intel processor,
 * from a list of its samples: real addresses of a real program, written by hand.
 *
 *	lbrgen PROGRAM START LENGTH OFFSET [any] < samples > perf.data
 *
 * "any": all branches (perf record -b), and no call stack; each may be followed by /m, if it was
 * mispredicted, and /CYCLES (decimal).
 * PROGRAM is mapped at START (its executable segment, of LENGTH bytes from OFFSET in the file).
 * One line a sample, addresses in hexadecimal, innermost call first:
 *
 *	PERIOD IP [FROM>TO ...]
 */
#include "tests/lib/perfwriter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PID = 7, CALLS = 32 };

static uint64_t hex(const char *s)
{
	return strtoull(s, NULL, 16);
}

/* [/m][/CYCLES] after a branch. */
static void read_flags(struct pw_branch *b, const char *word)
{
	for (const char *p = strchr(word, '/'); p; p = strchr(p + 1, '/')) {
		b->mispred |= p[1] == 'm';
		b->cycles = (uint16_t)(b->cycles + strtoul(p + 1, NULL, 10));
	}
	b->predicted = !b->mispred;
}

/* FROM>TO ...: how many. */
static size_t read_calls(struct pw_branch *b)
{
	size_t n = 0;
	for (char *word; n < CALLS && (word = strtok(NULL, " \n")); n++) {
		char *to = strchr(word, '>');
		b[n] = (struct pw_branch){.from = hex(word), .to = to ? hex(to + 1) : 0};
		read_flags(&b[n], word);
	}
	return n;
}

static void write_sample(struct pw *w, char *line, uint64_t time)
{
	struct pw_branch calls[CALLS];
	uint64_t period = strtoull(strtok(line, " \n"), NULL, 10);
	const char *word = strtok(NULL, " \n");
	uint64_t ip = word ? hex(word) : 0;
	const uint64_t chain[] = {PW_CONTEXT_USER, ip};
	size_t n = read_calls(calls);
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = ip,
				      .pid = PID,
				      .tid = PID,
				      .time = time,
				      .period = period,
				      .ips = chain,
				      .nips = 2,
				      .branches = calls,
				      .nbranches = n});
}

int main(int argc, char **argv)
{
	static const struct pw_id at = {.pid = PID, .tid = PID, .time = 1000};
	struct pw w;
	struct buf image = {0};
	char line[4096];
	if (argc != 5 && argc != 6)
		return 2;
	const char *name = strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1];
	pw_begin(&w, &(struct pw_config){0});
	pw_attr(&w, &(struct pw_attr){.sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						     PW_S_CALLCHAIN | PW_S_PERIOD |
						     PW_S_BRANCH_STACK,
				      .branch_sample_type = PW_BRANCH_USER |
							    (argc == 6 ? PW_BRANCH_ANY
								       : PW_BRANCH_CALL_STACK),
				      .flags = PW_SAMPLE_ID_ALL});
	pw_comm(&w, &at, PID, PID, name, 0);
	pw_mmap2(&w, &at,
		 &(struct pw_mmap){.pid = PID,
				   .tid = PID,
				   .addr = hex(argv[2]),
				   .len = hex(argv[3]),
				   .pgoff = hex(argv[4]),
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = argv[1]});
	for (uint64_t time = 2000; fgets(line, sizeof(line), stdin); time += 1000)
		write_sample(&w, line, time);
	if (pw_finish(&w, &image))
		return 1;
	int failed = fwrite(image.v, 1, image.n, stdout) != image.n;
	buf_release(&image);
	return failed;
}
