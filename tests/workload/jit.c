/*
 * Code made at run time (x86-64): `jit map` tells of it in /tmp/perf-PID.map, `jit dump
 * FOLDER` in FOLDER/jit-PID.dump, mapped as perf wants it. The function is jitted_loop.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov ecx, 100000000; 1: dec ecx; jnz 1b; ret */
static const uint8_t code[] = {0xb9, 0x00, 0xe1, 0xf5, 0x05, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
static const char name[] = "jitted_loop";

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_map(const void *at)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fprintf(f, "%lx %zx %s\n", (unsigned long)at, sizeof(code), name);
	fclose(f);
}

/* tools/perf/Documentation/jitdump-specification.txt */
static void write_dump(const void *at, const char *folder)
{
	char path[4096];
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} head = {0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), now(), 0};
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, address, code_size, index;
	} load = {0,
		  56 + sizeof(name) + sizeof(code),
		  now(),
		  (uint32_t)getpid(),
		  (uint32_t)getpid(),
		  (uint64_t)(uintptr_t)at,
		  (uint64_t)(uintptr_t)at,
		  sizeof(code),
		  0};
	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	FILE *f = fopen(path, "w+");
	fwrite(&head, 1, sizeof(head), f);
	fwrite(&load, 1, sizeof(load), f);
	fwrite(name, 1, sizeof(name), f);
	fwrite(code, 1, sizeof(code), f);
	fflush(f);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
}

int main(int argc, char **argv)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(at, code, sizeof(code));
	if (argc > 2)
		write_dump(at, argv[2]);
	else
		write_map(at);
	for (int i = 0; i < 4; i++)
		((void (*)(void))at)();
	return 0;
}
