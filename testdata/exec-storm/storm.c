/* N times: fork; the child runs red or blue, two static-position programs with different
 * functions at the same addresses; every third child first works a while under its own name,
 * and changes its comm itself. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

static void spin_ms(unsigned ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	long long end = t.tv_sec * 1000000000ll + t.tv_nsec + ms * 1000000ll;
	do {
		for (int i = 0; i < 3000; i++)
			sink += i;
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while (t.tv_sec * 1000000000ll + t.tv_nsec < end);
}

static void green_child(void)
{
	spin_ms(4);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 30;
	for (int i = 0; i < n; i++) {
		if (!fork()) {
			if (i % 3 == 2) {
				prctl(PR_SET_NAME, "green");
				green_child();
			}
			const char *prog = i % 2 ? "/srv/perfkit/red" : "/srv/perfkit/blue";
			execl(prog, prog, (char *)NULL);
			_exit(1);
		}
		if (i % 2)
			while (wait(NULL) > 0)
				;
	}
	return 0;
}
