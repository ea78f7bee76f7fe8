/*
 * shortstack - record a program as perf itself cannot: a frame-pointer callchain together with
 * the user registers and a short copy of the stack.
 *
 *	shortstack [-z BYTES] -o FILE -- PROGRAM ARGS...
 *
 * cpu-clock at 997 Hz, PERF_SAMPLE_IP|TID|TIME|CALLCHAIN|PERIOD|REGS_USER|STACK_USER of BYTES
 * (8..512, a multiple of 8; 0: the callchain only), mmap2 and comm records. FILE is a plain
 * perf.data without features. Exit 77 when perf_event_open is not allowed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 256 };

struct section {
	uint64_t offset, size;
};

struct file_header { /* tools/perf/util/header.h: struct perf_file_header */
	uint64_t magic, size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

struct file_attr {
	struct perf_event_attr attr;
	struct section ids;
};

static struct perf_event_attr make_attr(unsigned bytes)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = 997,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PERIOD,
		.freq = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_callchain_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.sample_id_all = 1,
		.wakeup_events = 16,
	};
	if (bytes) {
		a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a.sample_regs_user = 0xff0fff;
		a.sample_stack_user = bytes;
	}
	return a;
}

/* Whatever is in the ring goes to the file as it is. */
static void drain(struct perf_event_mmap_page *ring, FILE *out, uint64_t *written)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	const char *data = (const char *)ring + page;
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->data_tail;
	while (tail < head) {
		size_t at = tail % size, n = size - at;
		if (n > head - tail)
			n = head - tail;
		fwrite(data + at, 1, n, out);
		tail += n;
		*written += n;
	}
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

/* The child waits until the event is there, then becomes the program. */
static pid_t start(char **argv, int *go)
{
	int p[2];
	if (pipe(p))
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		close(p[1]);
		if (read(p[0], &c, 1) == 1) {
			fcntl(p[0], F_SETFD, FD_CLOEXEC);
			execvp(argv[0], argv);
		}
		_exit(127);
	}
	close(p[0]);
	*go = p[1];
	return pid;
}

static int record(pid_t pid, int go, int fd, FILE *out, uint64_t *written)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *ring =
		mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int status = 0;
	if (ring == MAP_FAILED || write(go, "g", 1) != 1)
		return -1;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct pollfd p = {fd, POLLIN, 0};
		poll(&p, 1, 20);
		drain(ring, out, written);
	}
	drain(ring, out, written);
	munmap(ring, (PAGES + 1) * page);
	return status;
}

int main(int argc, char **argv)
{
	unsigned bytes = 512;
	const char *path = NULL;
	int opt, go;
	while ((opt = getopt(argc, argv, "+z:o:")) != -1) {
		if (opt == 'z')
			bytes = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == 'o')
			path = optarg;
		else
			return 2;
	}
	if (optind == argc || !path)
		return 2;
	struct perf_event_attr attr = make_attr(bytes);
	pid_t pid = start(argv + optind, &go);
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (pid < 0 || fd < 0) {
		printf("perf_event_open: %s\n", strerror(errno));
		return 77;
	}
	FILE *out = fopen(path, "wb");
	if (!out)
		return 1;
	struct file_attr fa = {attr, {0, 0}};
	struct file_header h = {
		.magic = UINT64_C(0x32454c4946524550), /* PERFILE2 */
		.size = sizeof(h),
		.attr_size = sizeof(fa),
		.attrs = {sizeof(h), sizeof(fa)},
		.data = {sizeof(h) + sizeof(fa), 0},
	};
	fwrite(&h, sizeof(h), 1, out);
	fwrite(&fa, sizeof(fa), 1, out);
	int status = record(pid, go, fd, out, &h.data.size);
	rewind(out);
	fwrite(&h, sizeof(h), 1, out);
	return fclose(out) || status != 0;
}
