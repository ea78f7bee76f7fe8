/* Replaces a plugin and loads it again: host PLUGIN SECONDS BUILD... puts each build at the
 * plugin's path, as an upgrade does, and runs it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	char line[4096];
	for (int i = 3; i < argc; i++) {
		snprintf(line, sizeof(line), "cp %s %s.new && mv %s.new %s", argv[i], argv[1],
			 argv[1], argv[1]);
		if (system(line))
			return 1;
		void *plugin = dlopen(argv[1], RTLD_NOW);
		void (*run)(double) = plugin ? (void (*)(double))dlsym(plugin, "run") : 0;
		if (!run)
			return 1;
		run(atof(argv[2]));
		dlclose(plugin);
	}
	return 0;
}
