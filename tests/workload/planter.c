/*
 * planter.c - a process that chooses which files a packer finds: it maps files as code and runs
 * in them, so that they are recorded, then puts links in their place.
 *
 *	planter DIR SECONDS honest|links MAP DUMP BINARY
 *
 * DIR/jit-1.dump and DIR/nobid.bin are mapped, and memory of no file, which /tmp/perf-PID.map
 * names. With `links` the three end as links to MAP, DUMP and BINARY. The strings below are
 * what a packer could take for links to debug files. x86-64.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *volatile named[] = {PLANTED "/dwz", PLANTED "/x.debug", PLANTED "/y.dwo",
				"../../../../../../../.." PLANTED "/dwz",
				"../../../../../../../.." PLANTED "/x.debug"};

typedef int (*code_fn)(int);

/* mov $0,%eax; 1: inc %eax; cmp %edi,%eax; jne 1b; ret */
static const unsigned char loop[] = {0x31, 0xc0, 0xff, 0xc0, 0x39, 0xf8, 0x75, 0xfa, 0xc3};

/* Little-endian: magic, version 1, size of this header, x86-64, 0, pid 1, time, flags. */
static const char jitdump[40] = "DTiJ\1\0\0\0\50\0\0\0\76\0\0\0\0\0\0\0\1";

enum { CODE_AT = 64 };

/* The file with these first bytes, mapped as code. */
static code_fn map_code(const char *path, const char *head, size_t n)
{
	char page[4096] = {0};
	memcpy(page, head, n);
	memcpy(page + CODE_AT, loop, sizeof(loop));
	unlink(path);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, page, sizeof(page)) != (ssize_t)sizeof(page)) {
		perror(path);
		exit(1);
	}
	char *p = mmap(NULL, sizeof(page), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	return (code_fn)(p + CODE_AT);
}

static void plant(const char *path, const char *target)
{
	unlink(path);
	if (symlink(target, path))
		perror(path);
}

int main(int argc, char **argv)
{
	char map[64], dump[4096], binary[4096];
	if (argc != 7)
		return 2;
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	snprintf(dump, sizeof(dump), "%s/jit-1.dump", argv[1]);
	snprintf(binary, sizeof(binary), "%s/nobid.bin", argv[1]);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(p, loop, sizeof(loop));
	code_fn of[] = {(code_fn)p, map_code(dump, jitdump, sizeof(jitdump)),
			map_code(binary, "\177ELF\2\1\1", 7)};
	int fd = open(map, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dprintf(fd, "%lx 1000 own_code\n", (unsigned long)p);
	close(fd);
	puts(map);
	fflush(stdout);
	for (time_t end = time(NULL) + atoi(argv[2]); time(NULL) < end;)
		for (int i = 0; i < 3; i++)
			of[i](30000000);
	if (!strcmp(argv[3], "links")) {
		plant(map, argv[4]);
		plant(dump, argv[5]);
		plant(binary, argv[6]);
	}
	return named[0] == NULL;
}
