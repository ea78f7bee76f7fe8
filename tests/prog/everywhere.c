/*
 * everywhere.c - a recording whose stacks hold every address of the code of binaries: as the
 * leaf, as a return address and as a call in a branch stack. A name that differs anywhere is
 * found.
 *
 *	everywhere BINARY... > perf.data
 *
 * Each is mapped as the kernel maps it, far above the addresses of its segments.
 */
#include "libsym/elf/elf_file.h"
#include "tests/lib/perfwriter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PID = 7, CALLERS = 16, PAGE = 4096 };
enum { POINTERS = 11, LBR = 12 }; /* ids of events */
enum {
	SAMPLE_TYPE =
		PW_S_IDENTIFIER | PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CALLCHAIN | PW_S_PERIOD
};
#define APART (1ull << 40)

static struct pw_id at = {.pid = PID, .tid = PID, .time = 1000, .id = POINTERS};

/* The segment's pages, as load_elf_binary maps them. */
static void map_segment(struct pw *w, const struct elf_file *f, const struct elf_segment *s,
			uint64_t base)
{
	uint64_t before = s->vaddr % PAGE, whole = before + s->filesz + PAGE - 1;
	pw_mmap2(w, &at,
		 &(struct pw_mmap){.pid = PID,
				   .tid = PID,
				   .addr = base + s->vaddr - before,
				   .len = whole - whole % PAGE,
				   .pgoff = s->offset - before,
				   .prot = PROT_READ | PROT_EXEC,
				   .build_id = f->id.v,
				   .build_id_size = (uint8_t)f->id.len,
				   .filename = f->path});
}

/* A stack of frame pointers. */
static void add_chain(struct pw *w, uint64_t leaf, uint64_t return_address, size_t callers)
{
	uint64_t chain[2 + CALLERS] = {PW_CONTEXT_USER, leaf};
	for (size_t i = 0; i < callers; i++)
		chain[2 + i] = return_address + i;
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = leaf,
				      .pid = PID,
				      .tid = PID,
				      .time = ++at.time,
				      .id = POINTERS,
				      .period = 1,
				      .ips = chain,
				      .nips = 2 + callers});
}

/* A stack of last branch records. */
static void add_branches(struct pw *w, uint64_t leaf, uint64_t call, size_t callers)
{
	const uint64_t chain[] = {PW_CONTEXT_USER, leaf};
	struct pw_branch calls[CALLERS];
	for (size_t i = 0; i < callers; i++)
		calls[i] = (struct pw_branch){.from = call + i, .to = leaf};
	pw_sample(w, 1,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = leaf,
				      .pid = PID,
				      .tid = PID,
				      .time = ++at.time,
				      .id = LBR,
				      .period = 1,
				      .ips = chain,
				      .nips = 2,
				      .branches = calls,
				      .nbranches = callers});
}

static void add_segment(struct pw *w, uint64_t start, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		add_chain(w, start + i, 0, 0);
	for (uint64_t i = 0; i < n; i += CALLERS) {
		size_t callers = n - i < CALLERS ? n - i : CALLERS;
		add_chain(w, start, start + i + 1, callers);
		add_branches(w, start, start + i, callers);
	}
}

static int add_binary(struct pw *w, const char *name, uint64_t base)
{
	struct elf_file *f;
	struct err e = {0};
	char path[PATH_MAX];
	if (!realpath(name, path) || elf_file_open(path, &f, &e)) {
		fprintf(stderr, "%s: %s\n", name, e.msg);
		return 1;
	}
	for (size_t i = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];
		if (!(s->flags & PF_X) || !s->filesz)
			continue;
		map_segment(w, f, s, base);
		add_segment(w, base + s->vaddr, s->filesz);
	}
	elf_file_close(f);
	return 0;
}

int main(int argc, char **argv)
{
	struct pw w;
	struct buf image = {0};
	int bad = 0;
	pw_begin(&w, &(struct pw_config){0});
	pw_attr(&w, &(struct pw_attr){.name = "pointers",
				      .sample_type = SAMPLE_TYPE,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = (uint64_t[]){POINTERS},
				      .nids = 1});
	pw_attr(&w,
		&(struct pw_attr){.name = "lbr",
				  .sample_type = SAMPLE_TYPE | PW_S_BRANCH_STACK,
				  .branch_sample_type = PW_BRANCH_USER | PW_BRANCH_CALL_STACK,
				  .flags = PW_SAMPLE_ID_ALL,
				  .ids = (uint64_t[]){LBR},
				  .nids = 1});
	pw_comm(&w, &at, PID, PID, "everywhere", 0);
	for (int i = 1; i < argc; i++)
		bad |= add_binary(&w, argv[i], (uint64_t)i * APART);
	if (pw_finish(&w, &image))
		return 1;
	bad |= fwrite(image.v, 1, image.n, stdout) != image.n;
	buf_release(&image);
	return bad;
}
