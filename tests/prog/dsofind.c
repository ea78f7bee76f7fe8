/*
 * dsofind [--symfs DIR] [--buildid-dir DIR] [--no-local] [--debuginfod] PATH [BUILD-ID] - which
 * files would be used for a mapping: the reason, then where each file comes from.
 */
#include "libsym/elf/dso_find.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct dso_options opt = {0};
	struct dso_files f;
	struct build_id id = {0};
	struct err e = {0};
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--symfs") && i + 1 < argc)
			opt.symfs = argv[++i];
		else if (!strcmp(argv[i], "--buildid-dir") && i + 1 < argc)
			opt.buildid_dir = argv[++i];
		else if (!strcmp(argv[i], "--no-local"))
			opt.no_local = 1;
		else if (!strcmp(argv[i], "--debuginfod"))
			opt.debuginfod = 1;
		else
			return 2;
	}
	if (i >= argc || (i + 1 < argc && build_id_parse(argv[i + 1], &id)))
		return 2;
	if (dso_find(&opt, argv[i], &id, NULL, &f, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	printf("%s\n", dso_reason_text(f.reason));
	if (f.runtime)
		printf("runtime %d %s\n", f.runtime_from, f.runtime->path);
	if (f.debug)
		printf("debug %d %s\n", f.debug_from, f.debug->path);
	if (*f.detail)
		printf("detail %s\n", f.detail);
	dso_files_release(&f);
	return 0;
}
