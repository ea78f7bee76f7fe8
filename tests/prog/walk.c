/*
 * walk FILE - the floor for any reader of perf.data: map the file and step from record header
 * to record header, looking at nothing else. Prints how many there were.
 */
#include "base/bytes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
	struct stat st;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &st) || st.st_size < 104) {
		fputs("usage: walk FILE\n", stderr);
		return 2;
	}
	const uint8_t *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	uint64_t at = load_u64(p + 40, 0), end = at + load_u64(p + 48, 0);
	uint64_t records = 0, samples = 0;
	if (end > (uint64_t)st.st_size)
		end = (uint64_t)st.st_size;
	while (at + 8 <= end) {
		uint16_t size = load_u16(p + at + 6, 0);
		if (size < 8)
			break;
		samples += load_u32(p + at, 0) == 9;
		records++;
		at += size;
	}
	printf("%" PRIu64 " records, %" PRIu64 " samples\n", records, samples);
	return 0;
}
