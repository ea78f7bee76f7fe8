/*
 * slowdisk LOG [--rounds N] [--alone] [--disk PATH] - a disk that takes 8 ms for each request, and two
 * threads that write to it, past the page cache: `bulk`, whose requests have priority, and
 * `front`.
 *
 *	bulk      W────────────┐
 *	front       W──queued──┼──served──┐
 *	slowdisk  └── 8 ms ──┘ └── 8 ms ──┘
 *
 * The disk is a loop device over a file of a FUSE file system, which this program's thread
 * `slowdisk` serves, one request after the other. Its scheduler (mq-deadline) keeps front's
 * requests in the queue while it has one of bulk's. --alone: without bulk. --disk: this one,
 * which is slow already; both then write to it alike.
 *
 * Logged: "wait", each of front's writes of more than 1 ms; "serve", what the disk took for each.
 */
#include "truth.h"

#include <linux/fuse.h>
#include <linux/ioprio.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/uio.h>

enum { FILE_ID = 2, SIZE = 1 << 20, BLOCK = 4096, MOST = 1 << 17, SERVICE = 8 * MS };

static int fuse, disk_fd, rounds;
static atomic_int slow;
static char content[SIZE];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	fprintf(stderr, "no slow disk can be made: %s: %s\n", what, strerror(errno));
	_exit(77);
}

/* --- the file system ------------------------------------------------------------------ */

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){.ino = node,
				  .size = node == FILE_ID ? SIZE : 0,
				  .mode = node == FILE_ID ? 0100600 : 040700,
				  .nlink = 1,
				  .blksize = BLOCK};
}

static void answer(uint64_t id, int error, const void *body, size_t n)
{
	struct fuse_out_header h = {(uint32_t)(sizeof(h) + n), error, id};
	struct iovec v[] = {{&h, sizeof(h)}, {(void *)(uintptr_t)body, n}};
	if (writev(fuse, v, n ? 2 : 1) < 0 && errno != ENOENT)
		perror("fuse");
}

NOINLINE static void transfer(void)
{
	uint64_t t = now_ns();
	if (!atomic_load(&slow))
		return;
	sleep_ns(SERVICE);
	truth("serve", t, now_ns());
}

static void serve_data(const struct fuse_in_header *h, const void *body)
{
	const struct fuse_read_in *r = body; /* begins as fuse_write_in does */
	struct fuse_write_out out = {.size = r->size};
	if (r->offset > SIZE || r->size > SIZE - r->offset) {
		answer(h->unique, -EINVAL, NULL, 0);
	} else if (h->opcode == FUSE_READ) {
		answer(h->unique, 0, content + r->offset, r->size);
	} else {
		transfer();
		memcpy(content + r->offset, (const char *)body + sizeof(struct fuse_write_in),
		       r->size);
		answer(h->unique, 0, &out, sizeof(out));
	}
}

static void serve(const struct fuse_in_header *h, const void *body)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
				     .minor = FUSE_KERNEL_MINOR_VERSION,
				     .max_readahead = BLOCK,
				     .max_write = MOST / 2};
	struct fuse_entry_out entry = {.nodeid = FILE_ID, .attr = attributes(FILE_ID)};
	struct fuse_attr_out attr = {.attr = attributes(h->nodeid)};
	struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
	switch (h->opcode) {
	case FUSE_INIT:
		answer(h->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(h->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(h->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(h->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_WRITE:
		serve_data(h, body);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_FSYNC:
		answer(h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(h->unique, -ENOSYS, NULL, 0);
	}
}

static void *serves(void *arg)
{
	static char text[MOST];
	(void)arg;
	name_thread("slowdisk");
	for (;;) {
		ssize_t n = read(fuse, text, sizeof(text));
		if (n < (ssize_t)sizeof(struct fuse_in_header)) {
			if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
				continue;
			return NULL; /* unmounted */
		}
		serve((const void *)text, text + sizeof(struct fuse_in_header));
	}
}

/* --- the disk ------------------------------------------------------------------------- */

static void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd >= 0 && write(fd, text, strlen(text)) > 0 && !close(fd), path);
}

/* The mount is this process's alone, and is gone with it; so is the loop device. */
static void make_disk(const char *folder)
{
	char text[256];
	struct loop_config config = {.block_size = BLOCK};
	must(!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL),
	     "unshare");
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(text, sizeof(text), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	must(fuse >= 0 && !mount("slowdisk", folder, "fuse", 0, text), "FUSE");
	pthread_detach(start(serves, NULL));
	snprintf(text, sizeof(text), "%s/disk", folder);
	int file = open(text, O_RDWR | O_CLOEXEC), control = open("/dev/loop-control", O_RDWR);
	must(file >= 0, text);
	int number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	must(number >= 0, "/dev/loop-control");
	snprintf(text, sizeof(text), "/dev/loop%d", number);
	disk_fd = open(text, O_RDWR | O_DIRECT | O_CLOEXEC);
	config.fd = (uint32_t)file;
	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	must(disk_fd >= 0 && !ioctl(disk_fd, LOOP_CONFIGURE, &config), text);
	close(file);
	close(control);
	snprintf(text, sizeof(text), "/sys/block/loop%d/queue/scheduler", number);
	put_text(text, "mq-deadline");
}

static void open_disk(const char *path)
{
	disk_fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	must(disk_fd >= 0, path);
}

/* --- who writes ----------------------------------------------------------------------- */

static sem_t written, go;

NOINLINE static void save(int block)
{
	static _Thread_local char page[BLOCK] __attribute__((aligned(BLOCK)));
	must(pwrite(disk_fd, page, BLOCK, (off_t)block * BLOCK) == BLOCK, "write");
	STAY();
}

static void *bulk(void *arg)
{
	(void)arg;
	name_thread("bulk");
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 0));
	while (!sem_wait(&go) && !atomic_load(&truth_stop)) {
		save(1);
		sem_post(&written);
	}
	return NULL;
}

static void front(int alone)
{
	for (int i = 0; i < rounds; i++) {
		if (!alone) {
			sem_post(&go);
			sleep_ns(2 * MS);
		}
		uint64_t t = now_ns();
		save(2 + i % 200);
		if (now_ns() - t > MS) /* a limit lets some through at once */
			truth("wait", t, now_ns());
		while (!alone && sem_wait(&written))
			;
		sleep_ns(5 * MS);
	}
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/slowdisk.XXXXXX";
	truth_begin(argc, argv, "front");
	rounds = truth_int("--rounds", 25);
	int alone = truth_option("--alone") != NULL;
	must(mkdtemp(folder) != NULL, "mkdtemp");
	if (truth_option("--disk"))
		open_disk(truth_option("--disk"));
	else
		make_disk(folder);
	must(!sem_init(&written, 0, 0) && !sem_init(&go, 0, 0), "semaphore");
	pthread_t t = start(bulk, NULL);
	atomic_store(&slow, 1);
	front(alone);
	atomic_store(&slow, 0);
	atomic_store(&truth_stop, 1);
	sem_post(&go);
	pthread_join(t, NULL);
	close(disk_fd);
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	truth_write();
	return 0;
}
