/* Built twice, as left.so and right.so. */
#include <time.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static volatile unsigned sink;

void run(void);

static void PASTE(SIDE, _inner)(void)
{
	for (int i = 0; i < 20000; i++)
		sink += i;
}

static void PASTE(SIDE, _outer)(void)
{
	for (int i = 0; i < 10; i++)
		PASTE(SIDE, _inner)();
}

void run(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 50;
	while (clock() < end)
		PASTE(SIDE, _outer)();
}
