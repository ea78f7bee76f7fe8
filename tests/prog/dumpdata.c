/*
 * dumpdata DUMP OUT [ARCH] - a stack that tests/unwind/chains.c wrote of itself on ARCH
 * (aarch64) becomes a recording with that one sample: registers, stack copy, mappings, as perf
 * would record them.
 */
#include "tests/lib/perfwriter.h"

#include "libsym/unwind/arch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 33, COPY = 65024, TID = 7 };

static uint64_t head[34];
static uint8_t stack[COPY];
static const uint64_t ids[] = {11};

/* The executable mappings, from the text of /proc/PID/maps. qemu has its signal trampoline in a
 * page without a name; a kernel has it in the vdso. */
static void put_maps(struct pw *w, const struct pw_id *at, FILE *f)
{
	char line[4096], prot[8], path[2048];
	uint64_t start, end, offset;
	while (fgets(line, sizeof(line), f)) {
		int n = sscanf(line,
			       "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %2047[^\n]",
			       &start, &end, prot, &offset, path);
		if (n >= 4 && strchr(prot, 'x'))
			pw_mmap2(w, at,
				 &(struct pw_mmap){.pid = TID,
						   .tid = TID,
						   .addr = start,
						   .len = end - start,
						   .pgoff = offset,
						   .prot = 5,
						   .filename = n == 5 ? path : "[vdso]"});
	}
}

static int write_out(const struct buf *image, const char *path)
{
	FILE *f = fopen(path, "w");
	if (!f)
		return 1;
	int bad = fwrite(image->v, 1, image->n, f) != image->n;
	return fclose(f) || bad;
}

int main(int argc, char **argv)
{
	const char *name = argc == 4 ? argv[3] : "aarch64";
	const struct arch *arch = arch_named(name);
	FILE *f = argc >= 3 ? fopen(argv[1], "r") : NULL;
	if (!f || !arch || fread(head, sizeof(head), 1, f) != 1 || head[SIZE] > COPY ||
	    fread(stack, 1, head[SIZE], f) != head[SIZE])
		return 2;
	struct buf image = {0};
	struct pw w;
	struct pw_id at = {.pid = TID, .tid = TID, .time = 1};
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						     PW_S_CALLCHAIN | PW_S_REGS_USER |
						     PW_S_STACK_USER,
				      .flags = PW_SAMPLE_ID_ALL,
				      .regs_user = arch->dump_regs,
				      .stack_user = COPY,
				      .ids = ids,
				      .nids = 1});
	pw_feature_string(&w, PW_FEAT_ARCH, name);
	pw_comm(&w, &at, TID, TID, "chains", 0);
	put_maps(&w, &at, f);
	fclose(f);
	pw_sample(&w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = head[arch_perf_bit(arch, arch->pc)],
				      .pid = TID,
				      .tid = TID,
				      .time = 2,
				      .user_abi = 2,
				      .user_regs = head,
				      .stack = stack,
				      .stack_size = COPY,
				      .stack_dyn = head[SIZE]});
	int bad = pw_finish(&w, &image) || write_out(&image, argv[2]);
	buf_release(&image);
	return bad;
}
