/* Built twice, as red and as blue (-DCOLOUR=…), without PIE: same addresses, other names. */
#include <time.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

static volatile unsigned sink;

void PASTE(COLOUR, _inner)(void);
void PASTE(COLOUR, _outer)(void);

void PASTE(COLOUR, _inner)(void)
{
	for (int i = 0; i < 20000; i++)
		sink += i;
}

void PASTE(COLOUR, _outer)(void)
{
	for (int i = 0; i < 10; i++)
		PASTE(COLOUR, _inner)();
}

int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 125;
	while (clock() < end)
		PASTE(COLOUR, _outer)();
	return 0;
}
