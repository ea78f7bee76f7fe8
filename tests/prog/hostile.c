/*
 * hostile.c - a recording whose every text wants to do something to the reader's terminal:
 * comm, mapping, host, kernel release, command line, event, build-id path. On stdout.
 *
 *	hostile PATH...		its code lies in files of these names, one sample in each; with
 *				HOSTILE_INODE=N mappings have that inode, and no build-id
 */
#include "tests/lib/perfwriter.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#define ESC "\033]0;owned\007\033[2J\n\r\tx\177\302\233"

/* A mapping and a sample in it for each path. */
static void map_paths(struct pw *w, const struct pw_id *at, char **paths, int n)
{
	const char *inode = getenv("HOSTILE_INODE");
	for (int i = 0; i < n; i++) {
		uint64_t addr = 0x10000000 + (uint64_t)i * 0x100000;
		pw_mmap2(w, at,
			 &(struct pw_mmap){.pid = 7,
					   .tid = 7,
					   .addr = addr,
					   .len = 0x10000,
					   .prot = 5,
					   .maj = inode ? 8 : 0,
					   .ino = inode ? strtoull(inode, NULL, 10) : 0,
					   .filename = paths[i]});
		uint64_t chain[] = {PW_CONTEXT_USER, addr + 0x1136, addr + 0x1200};
		pw_sample(w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .id = 11,
					      .pid = 7,
					      .tid = 7,
					      .time = 2000 + (uint64_t)i,
					      .period = 1000,
					      .ip = chain[1],
					      .ips = chain,
					      .nips = 3});
	}
}

int main(int argc, char **args)
{
	static const uint64_t ids[] = {11};
	static const uint8_t build_id[20] = {1};
	static const char *const argv[] = {"perf", "record", "-g", ESC "cmd"};
	uint64_t chain[] = {PW_CONTEXT_USER, 0x401136, 0x501200};
	struct pw_id at = {.pid = 7, .tid = 7, .id = 11};
	struct buf image = {0};
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = ESC "event",
				      .period = 1000,
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_ID |
						     PW_S_CPU | PW_S_PERIOD | PW_S_CALLCHAIN,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	struct utsname u = {0};
	int ours = getenv("HOSTILE_INODE") && !uname(&u); /* file_at is for this machine */
	pw_feature_string(&w, PW_FEAT_HOSTNAME, ours ? u.nodename : ESC "host");
	pw_feature_string(&w, PW_FEAT_OSRELEASE, ours ? u.release : ESC "release");
	pw_feature_string(&w, PW_FEAT_VERSION, ESC "version");
	pw_feature_string(&w, PW_FEAT_ARCH, "x86_64");
	pw_feature_string(&w, PW_FEAT_CPUDESC, ESC "cpu");
	pw_feature_cmdline(&w, argv, 4);
	pw_feature_event_desc(&w);
	pw_feature_build_id(&w, PW_MISC_USER, (uint32_t)-1, build_id, 20, "/no/" ESC "dso");
	pw_comm(&w, &at, 7, 7, ESC "cm", 0);
	pw_mmap2(&w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = 0x400000,
				   .len = 0x2000,
				   .prot = 5,
				   .filename = "/no/" ESC "dso"});
	for (uint64_t i = 0; i < 20; i++)
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .id = 11,
					      .pid = 7,
					      .tid = 7,
					      .time = 1000 + i,
					      .period = 1000,
					      .ip = 0x401136,
					      .ips = chain,
					      .nips = 3});
	map_paths(&w, &at, args + 1, argc - 1);
	pw_lost(&w, &at, 11, 5);
	if (pw_finish(&w, &image))
		return 1;
	fwrite(image.v, 1, image.n, stdout);
	buf_release(&image);
	return 0;
}
