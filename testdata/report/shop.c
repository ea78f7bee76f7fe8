/* shop.c - a server whose requests call four functions; it logs what each took, on CLOCK_MONOTONIC. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void spin(uint64_t ns)
{
	for (uint64_t end = now() + ns; now() < end;)
		;
}

__attribute__((noinline)) void parse(int i)
{
	spin(20000 + (uint64_t)(i % 7) * 1000);
}

__attribute__((noinline)) void lookup(int i)
{
	spin(30000);
	if (i % 50 == 49)
		usleep(3000);
}

__attribute__((noinline)) void answer(int i)
{
	spin(10000 + (uint64_t)(i % 3) * 1000);
	__asm__ volatile("");
}

__attribute__((noinline)) void handle(int i)
{
	parse(i);
	lookup(i);
	answer(i);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int n = 211;
	static uint64_t at[211][2];
	(void)argc;
	for (int i = 0; i < n; i++) {
		at[i][0] = now();
		handle(i);
		at[i][1] = now();
		usleep(500);
	}
	FILE *f = fopen(argv[1], "w");
	fprintf(f, "start_ns,end_ns,tid,key\n");
	for (int i = 0; i < n; i++)
		fprintf(f, "%llu,%llu,%d,%d\n", (unsigned long long)at[i][0], (unsigned long long)at[i][1], (int)getpid(), i);
	return fclose(f) != 0;
}
