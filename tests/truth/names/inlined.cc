// inlined.cc - as native.c, in C++ at -O2: a template and an inlined static function of a namespace.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/syscall.h>
#include <ctime>
#include <unistd.h>

static volatile uint64_t sink;

static uint64_t now()
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
}

namespace tn {
static inline __attribute__((always_inline)) void inner(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sink = sink * 31 + i;
}
template <int N> __attribute__((noinline)) void leaf()
{
	inner(200000 + N);
}
struct book {
	__attribute__((noinline)) void one() { leaf<1>(); asm volatile(""); }
	__attribute__((noinline)) void two() { leaf<2>(); asm volatile(""); }
};
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	FILE *out = fopen(argv[1], "a");
	uint64_t end = now() + uint64_t(atof(argv[2]) * 1e9);
	tn::book b;
	for (unsigned i = 0; now() < end; i++) {
		uint64_t from = now();
		while (now() < from + 20000000)
			i & 1 ? b.two() : b.one();
		fprintf(out, "%ld %llu %llu main;tn::book::%s;tn::leaf<%d>;tn::inner\n", syscall(SYS_gettid),
			(unsigned long long)from, (unsigned long long)now(), i & 1 ? "two" : "one", i & 1 ? 2 : 1);
	}
	return fclose(out) != 0;
}
