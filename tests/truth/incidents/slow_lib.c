/* slow_lib.c - a library whose constructor takes 30 ms; see kinds.c, loader. */
#include <time.h>

__attribute__((constructor)) static void load_tables(void)
{
	struct timespec t = {0, 30000000};
	nanosleep(&t, NULL);
}
