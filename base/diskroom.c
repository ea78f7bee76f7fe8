#include "base/diskroom.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

enum { ASK_EVERY = 16 << 20, LAST_PART = 10, SMALL = 32 << 20 };

/* Bytes free to this user where fd is; 1, or 0 where that is no file of a file system. */
static int ask(int fd, uint64_t *avail)
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
		d->floor = ask(fd, &avail) && avail >= SMALL ? avail / LAST_PART : 0;
	}
	uint64_t step = d->floor / 2 < ASK_EVERY ? d->floor / 2 : ASK_EVERY;
	if (!d->floor || d->taken < step || !ask(fd, &avail))
		return 0;
	d->taken = 0;
	if (avail >= d->floor + n)
		return 0;
	return err_set(e, ERR_IO,
		       "%s: stopped, to leave a tenth of the free disk space (%llu MB are "
		       "left)",
		       name, (unsigned long long)(avail >> 20));
}
