/* One thread that alternates between arithmetic and page faults. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile unsigned sink;

static void count_primes(void)
{
	for (unsigned n = 2; n < 3000; n++)
		for (unsigned d = 2; d * d <= n; d++)
			if (n % d == 0) {
				sink++;
				break;
			}
}

static void touch_pages(void)
{
	char *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 1 << 20; i += 4096)
		m[i] = 1;
	munmap(m, 1 << 20);
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
	while (time(NULL) <= end) {
		count_primes();
		touch_pages();
	}
	return 0;
}
