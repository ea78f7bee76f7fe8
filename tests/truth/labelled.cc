/*
 * labelled - queries of three kinds under labels (contrib/dynamic_label.hpp), on two threads; what
 * it logs is the truth: a line for each piece of work, with begin, end and both labels, as CSV.
 *
 *	DYNAMIC_LABELS=labels.txt labelled truth.csv [QUERIES]
 *	labelled --cost                 ns of a plain call, of one through a label, of a label's life
 */
#include "contrib/dynamic_label.hpp"

#include <cstring>
#include <mutex>
#include <sys/syscall.h>
#include <thread>

static FILE *truth;
static std::mutex truth_lock;
static volatile unsigned sink;

static long long now()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

[[gnu::noinline]] static void scan(unsigned rounds)
{
	unsigned x = 1;
	for (unsigned i = 0; i < rounds * 1000; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

[[gnu::noinline]] static void fetch()
{
	timespec t = {0, 700000};
	nanosleep(&t, nullptr);
}

[[gnu::noinline]] static void query(int n)
{
	static const char *const tables[] = {"users", "orders", "events"};
	const char *table = tables[n % 3];
	dynamic_label::label by_query("query", std::to_string(n)), by_table("table", table);
	long long begin = 0, end = 0;
	by_query.apply([&] {
		by_table.apply([&] {
			begin = now();
			scan(n % 3 ? 2500 : 5000);
			if (n % 3 == 2)
				fetch();
			scan(300);
			end = now();
		});
	});
	std::lock_guard<std::mutex> lock(truth_lock);
	fprintf(truth, "%lld,%lld,%ld,%d,%s\n", begin, end, syscall(SYS_gettid), n, table);
}

[[gnu::noinline]] static void worker(int from, int to)
{
	for (int n = from; n < to; n += 2)
		query(n);
}

static void cost()
{
	enum { N = 10000000, LIVES = 1000000 };
	dynamic_label::label l("query", "1");
	unsigned x = 0;
	long long t0 = now();
	for (int i = 0; i < N; i++) {
		asm volatile("" : "+r"(x));
		x++;
	}
	long long t1 = now();
	for (int i = 0; i < N; i++)
		l.apply([&] { x++; });
	long long t2 = now();
	for (int i = 0; i < LIVES; i++)
		dynamic_label::label("query", "42");
	long long t3 = now();
	sink = x;
	printf("inline %.1f ns, through a label %.1f ns, a label's life %.1f ns\n",
	       double(t1 - t0) / N, double(t2 - t1) / N, double(t3 - t2) / LIVES);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--cost")) {
		cost();
		return 0;
	}
	int n = argc > 2 ? atoi(argv[2]) : 101;
	truth = argc > 1 ? fopen(argv[1], "w") : nullptr;
	if (!truth)
		return 1;
	fprintf(truth, "start_ns,end_ns,tid,query,table\n");
	std::thread other(worker, 1, n);
	worker(0, n);
	other.join();
	return fclose(truth) != 0;
}
