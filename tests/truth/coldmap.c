/*
 * coldmap LOG [--loud] [--rounds N] - requests read 32 pages of a mapping that is in memory;
 * now and then its pages were dropped from the page cache: the wait is a page fault. "fault":
 * reads of a cold page; "page": the same less the time in a run queue, at its end; "queued":
 * all time in run queues from the first such read to the last, by the scheduler's count.
 */
#include "truth.h"

#include <sys/mman.h>

enum { SIZE = 64 << 20, STEP = 8 << 20 };

static volatile char *map;
static int file;

NOINLINE static void N(lookup_page, read_record)(size_t at)
{
	for (int i = 0; i < 32; i++)
		map[(at + (size_t)i * 20480) % SIZE];
}

NOINLINE static void N(handle_request, serve_query)(size_t at, int cold)
{
	uint64_t before = cold ? queued_ns() : 0, t = now_ns();
	N(lookup_page, read_record)(at);
	if (cold) {
		uint64_t end = now_ns(), stood = queued_ns() - before;
		truth("fault", t, end);
		truth("page", t, end > t + stood ? end - stood : t);
	}
	burn_ns(50 * US);
}

int main(int argc, char **argv)
{
	char path[] = "truth-map-XXXXXX";
	static char block[1 << 20];
	truth_begin(argc, argv, N("front", "api"));
	file = mkstemp(path);
	unlink(path);
	memset(block, 1, sizeof(block));
	for (int i = 0; i < SIZE / (1 << 20); i++)
		if (write(file, block, sizeof(block)) < 0)
			return 1;
	fsync(file);
	map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
	madvise((void *)map, SIZE, MADV_RANDOM);
	maybe_loud();
	uint64_t queued = queued_ns(), begun = now_ns();
	for (int i = 0; i < truth_int("--rounds", 199); i++) {
		size_t at = (size_t)i * STEP % SIZE + (size_t)(i / 8) * 8192;
		int cold = i % 13 == 6;
		if (cold) {
			madvise((void *)map, SIZE, MADV_DONTNEED);
			posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		}
		N(handle_request, serve_query)(at, cold);
		sleep_ns(MS);
	}
	truth("queued", begun, begun + queued_ns() - queued);
	atomic_store(&truth_stop, 1);
	truth_write();
	return 0;
}
