#include "base/diskroom.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

enum { READ_EVERY = 16 << 20, LAST_PART = 10, SMALL = 32 << 20 };

/* Bytes free to this user on fd's file system; 1, or 0 if fd is not a regular file. */
static int free_bytes(int fd, uint64_t *avail)
{
	struct stat st;
	struct statvfs fs;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || fstatvfs(fd, &fs))
		return 0;
	*avail = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 1;
}

int diskroom_reserve(struct diskroom *d, int fd, size_t n, const char *name, struct err *e)
{
	uint64_t avail;
	d->taken += n;
	if (!d->begun) {
		d->begun = 1;
		d->floor = free_bytes(fd, &avail) && avail >= SMALL ? avail / LAST_PART : 0;
	}
	uint64_t step = d->floor / 2 < READ_EVERY ? d->floor / 2 : READ_EVERY;
	if (!d->floor || d->taken < step || !free_bytes(fd, &avail))
		return 0;
	d->taken = 0;
	if (avail >= d->floor + n)
		return 0;
	return err_set(e, ERR_IO,
		       "%s: stopped, to leave a tenth of the free disk space (%llu MB are "
		       "left)",
		       name, (unsigned long long)(avail >> 20));
}
