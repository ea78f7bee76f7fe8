/*
 * counted LOG [--rounds N] [--go FIFO] - calls of work() and of walk(), which calls itself, that count
 * their own page faults and context switches. Two lines a call, inner ones first: "work": the
 * call; "work-counts": its page faults and context switches in place of times. It begins when
 * somebody opens the FIFO for writing.
 */
#include "truth.h"

#include <sys/mman.h>

enum { PAGE = 4096 };

struct counts {
	uint64_t faults, switches;
	uint64_t ns;
};

static struct counts now(void)
{
	struct rusage r;
	struct counts c = {.ns = now_ns()};
	getrusage(RUSAGE_THREAD, &r);
	c.faults = (uint64_t)(r.ru_minflt + r.ru_majflt);
	c.switches = (uint64_t)(r.ru_nvcsw + r.ru_nivcsw);
	return c;
}

static void tell(const char *name, const char *counts, const struct counts *a,
		 const struct counts *b)
{
	truth(name, a->ns, b->ns);
	truth(counts, b->faults - a->faults, b->switches - a->switches);
}

/* Touch n new pages. */
static void touch(int n)
{
	char *p = mmap(NULL, (size_t)(n + 1) * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; p != MAP_FAILED && i < n; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

static void doze(int n)
{
	for (int i = 0; i < n; i++)
		sleep_ns(200 * US);
}

NOINLINE static void work(int pages, int sleeps, struct counts *a, struct counts *b)
{
	*a = now();
	touch(pages);
	doze(sleeps);
	*b = now();
}

NOINLINE static void walk(int depth, struct counts *v)
{
	v[0] = now();
	touch(depth);
	if (depth > 1)
		walk(depth - 1, v + 2);
	doze(1);
	v[1] = now();
}

int main(int argc, char **argv)
{
	struct counts v[8] = {{0}};
	truth_begin(argc, argv, "counted");
	work(1, 1, &v[0], &v[1]); /* what the first call of all this maps */
	walk(3, v);
	if (truth_option("--go") && open(truth_option("--go"), O_RDONLY | O_CLOEXEC) < 0)
		return 1;
	for (int i = 1; i <= truth_int("--rounds", 31); i++) {
		work(i, i % 4, &v[0], &v[1]);
		tell("work", "work-counts", &v[0], &v[1]);
		walk(3, v);
		for (int k = 2; k >= 0; k--)
			tell("walk", "walk-counts", &v[2 * k], &v[2 * k + 1]);
	}
	truth_write();
	return 0;
}
