/*
 * shop.c - the workload of several recordings here: a web shop in miniature.
 *
 *	shop [-n | -N] SECONDS [THREADS-OF-EACH-KIND]
 *
 * Four kinds of threads serve requests, rank search results, resize pictures and write logs.
 * -n gives the threads awkward names (blanks, quotes, brackets), -N worse ones (semicolons,
 * numbers that look like a column of perf script). All work is CPU work in functions that are easy to recognise in a flame graph; log-writer also makes
 * system calls. Build with frame pointers and without inlining:
 *
 *	clang -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-inline …, see build.sh
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef DEPTH
#define DEPTH 1 /* of the recursion in render_list, at least */
#endif

static volatile int stop;
static volatile uint64_t sink;

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* --- requests */

static uint64_t hash_password(const char *s, int rounds)
{
	uint64_t h = 1469598103934665603u;
	for (int r = 0; r < rounds; r++)
		for (const char *p = s; *p; p++)
			h = (h ^ (uint8_t)*p) * 1099511628211u;
	return h;
}

static int parse_header(const char *line)
{
	int words = 0;
	for (const char *p = line; *p; p++)
		words += *p == ' ' || *p == ':';
	return words;
}

static int parse_request(uint32_t *seed)
{
	char line[160];
	int n = 0;
	for (int i = 0; i < 30; i++) {
		memset(line, 'a' + (int)(next_random(seed) % 26), sizeof(line) - 1);
		line[sizeof(line) - 1] = 0;
		n += parse_header(line);
	}
	return n;
}

static void check_session(uint32_t *seed)
{
	sink += hash_password("correct horse battery staple", 100 + (int)(next_random(seed) % 50));
}

static void render_price(char *out, uint32_t cents)
{
	for (int i = 11; i >= 0; i--) {
		out[i] = (char)('0' + cents % 10);
		cents /= 10;
	}
}

static void render_list(uint32_t *seed, int depth)
{
	char text[16];
	for (int i = 0; i < 120; i++) {
		render_price(text, next_random(seed));
		sink += (uint8_t)text[i % 12];
	}
	if (depth)
		render_list(seed, depth - 1);
}

static void render_page(uint32_t *seed)
{
	render_list(seed, DEPTH + (int)(next_random(seed) % 4));
}

static void handle_request(uint32_t *seed)
{
	sink += (uint64_t)parse_request(seed);
	check_session(seed);
	render_page(seed);
}

static void *request_worker(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;
	while (!stop)
		handle_request(&seed);
	return NULL;
}

/* --- search */

static int compare_rank(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void sort_results(uint32_t *v, int n)
{
	for (int gap = n / 2; gap; gap /= 2)
		for (int i = gap; i < n; i++)
			for (int k = i; k >= gap && compare_rank(&v[k - gap], &v[k]) > 0; k -= gap) {
				uint32_t t = v[k];
				v[k] = v[k - gap];
				v[k - gap] = t;
			}
}

static void search_products(uint32_t *seed)
{
	uint32_t results[512];
	for (int i = 0; i < 512; i++)
		results[i] = next_random(seed);
	sort_results(results, 512);
	sink += results[0];
}

static void *search_worker(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;
	while (!stop)
		search_products(&seed);
	return NULL;
}

/* --- pictures */

static void convolve_row(const uint8_t *in, uint8_t *out, int n)
{
	for (int i = 2; i < n - 2; i++)
		out[i] = (uint8_t)((in[i - 2] + 4 * in[i - 1] + 6 * in[i] + 4 * in[i + 1] + in[i + 2]) / 16);
}

static void resize_picture(uint8_t *in, uint8_t *out)
{
	for (int row = 0; row < 256; row++)
		convolve_row(in + row * 256, out + row * 256, 256);
	sink += out[5000];
}

/* Fresh memory every time: page faults. */
static void *picture_worker(void *arg)
{
	(void)arg;
	while (!stop) {
		size_t size = 2 * 65536;
		uint8_t *m = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (m == MAP_FAILED)
			return NULL;
		for (int i = 0; i < 3; i++)
			resize_picture(m, m + 65536);
		munmap(m, size);
	}
	return NULL;
}

/* --- log */

static void write_line(int fd, uint32_t *seed)
{
	char line[128];
	memset(line, 'x', sizeof(line));
	render_price(line, next_random(seed));
	if (write(fd, line, sizeof(line)) < 0)
		abort();
}

static void *log_worker(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;
	int fd = open("/dev/null", O_WRONLY);
	while (!stop) {
		for (int i = 0; i < 400; i++)
			write_line(fd, &seed);
		usleep(200);
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const plain[] = {"request", "search", "picture", "log"};
	static const char *const awkward[] = {"io thread", "it's \"q\"", "x) [1] y:", "a-b(c)"};
	static const char *const worst[] = {"a;b", "worker 12", "7 8/9 x", "12"};
	static void *(*const work[])(void *) = {request_worker, search_worker, picture_worker,
						log_worker};
	const char *const *names = plain;
	pthread_t t[64];
	int n = 0;
	if (argc > 1 && (!strcmp(argv[1], "-n") || !strcmp(argv[1], "-N"))) {
		names = argv[1][1] == 'n' ? awkward : worst;
		argc--, argv++;
	}
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int each = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < each && n < 60; i++)
		for (int k = 0; k < 4; k++, n++) {
			pthread_create(&t[n], NULL, work[k], (void *)(uintptr_t)(n + 1));
			pthread_setname_np(t[n], names[k]);
		}
	struct timespec ts = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
	nanosleep(&ts, NULL);
	stop = 1;
	while (n)
		pthread_join(t[--n], NULL);
	return 0;
}
