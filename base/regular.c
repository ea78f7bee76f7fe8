#include "base/regular.h"
#include "base/mem.h"
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct pin {
	char path[PATH_MAX];
	struct stat is;
} * pins;
static size_t npins;

enum { FOR_READING = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static int link_flag(unsigned flags)
{
	return flags & REGULAR_NO_LINK ? O_NOFOLLOW : 0;
}

/* Open the file that `at` is only a handle of. */
static int open_handle(int at, int dir, const char *name, unsigned flags, int how)
{
	char self[32];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	int fd = open(self, how & ~O_NOFOLLOW);
	if (fd < 0 && (errno == ENOENT || errno == EACCES)) /* no procfs, or not ours */
		fd = openat(dir, name, how | link_flag(flags));
	return fd;
}

static int same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const struct pin *pin_of(const char *path)
{
	for (size_t i = npins; i-- > 0;)
		if (!strcmp(pins[i].path, path))
			return &pins[i];
	return NULL;
}

int regular_is_pinned(const char *path)
{
	return pin_of(path) != NULL;
}

int regular_pin(const char *path, const struct stat *is)
{
	if (!path) {
		npins = 0;
		return 0;
	}
	if (!pins)
		pins = mem_zalloc(REGULAR_PINS, sizeof(*pins));
	if (!pins || npins == REGULAR_PINS || strlen(path) >= sizeof(pins->path))
		return -1;
	strcpy(pins[npins].path, path);
	pins[npins++].is = *is;
	return 0;
}

static int reopen(int at, int dir, const char *name, unsigned flags, int how, struct stat *st)
{
	const struct pin *pin = pin_of(name);
	struct stat was;
	int fd = -1, failed = 0;
	if (fstat(at, &was))
		failed = errno;
	else if (pin && !same_file(&pin->is, &was))
		failed = ESTALE;
	else if (!S_ISREG(was.st_mode))
		failed = S_ISLNK(was.st_mode) ? ELOOP : EINVAL;
	else if (flags & REGULAR_NO_PSEUDO && os_is_pseudo(at))
		failed = EINVAL;
	else if ((fd = open_handle(at, dir, name, flags, how)) < 0 || fstat(fd, st))
		failed = errno;
	else
		failed = same_file(&was, st) ? 0 : EINVAL;
	if (failed && fd >= 0) {
		close(fd);
		fd = -1;
	}
	errno = failed;
	return fd;
}

int regular_reopen(int at, int dir, const char *name, unsigned flags, struct stat *st)
{
	return reopen(at, dir, name, flags, FOR_READING, st);
}

static int open_as(int dir, const char *name, unsigned flags, int how, struct stat *st)
{
	int at = openat(dir, name, O_PATH | O_CLOEXEC | link_flag(flags));
	if (at < 0)
		return -1;
	int fd = reopen(at, dir, name, flags, how, st), failed = errno;
	close(at);
	errno = failed;
	return fd;
}

int regular_open_as(int dir, const char *name, unsigned flags, int how, const struct stat *is)
{
	struct stat st;
	int fd = open_as(dir, name, flags, how | O_CLOEXEC, &st);
	if (fd < 0 || !is || same_file(&st, is))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int regular_open(int dir, const char *name, unsigned flags, struct stat *st)
{
	return open_as(dir, name, flags, FOR_READING, st);
}
