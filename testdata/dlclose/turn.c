/* dlopen left.so, run it under the comm "left", dlclose; the same with right.so, N times: both
 * get the same address. Prints the address each time, so that the recipe can check it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	for (int i = 0; i < n; i++) {
		const char *path = i % 2 ? "/srv/perfkit/right.so" : "/srv/perfkit/left.so";
		void *lib = dlopen(path, RTLD_NOW);
		void (*run)(void) = lib ? (void (*)(void))dlsym(lib, "run") : NULL;
		if (!run)
			return 1;
		prctl(PR_SET_NAME, i % 2 ? "right" : "left");
		printf("%p\n", (void *)run);
		run();
		prctl(PR_SET_NAME, "turn");
		dlclose(lib);
	}
	return 0;
}
