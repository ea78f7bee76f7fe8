#include "libsym/elf/read_file.h"

#include "base/mem.h"
#include "base/os/os.h"
#include "base/regular.h"
#include "base/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int file_failed(const char *path, struct err *e)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return err_set(e, ERR_NOTFOUND, "%s: no such file", path);
	case EINVAL:
		return err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", path);
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		shortage_note("%s: %s", path, strerror(errno));
		return err_nomem(e);
	default:
		return err_sys(e, "%s", path);
	}
}

int file_open(const char *path, unsigned flags, int *fd, struct err *e)
{
	struct stat st;
	*fd = regular_open(AT_FDCWD, path, flags, &st);
	return *fd >= 0 ? 0 : file_failed(path, e);
}

int map_fd(int fd, const char *name, const uint8_t **data, size_t *size, struct err *e)
{
	struct stat st;
	*data = NULL;
	*size = 0;
	if (fstat(fd, &st))
		return file_failed(name, e);
	if (st.st_size <= 0)
		return 0;
	void *p = os_map(fd, (uint64_t)st.st_size);
	if (!p)
		return file_failed(name, e);
	*data = p;
	*size = (size_t)st.st_size;
	return 0;
}

int map_file(const char *path, const uint8_t **data, size_t *size, struct err *e)
{
	int fd, rc = file_open(path, REGULAR_NO_PSEUDO, &fd, e);
	*data = NULL;
	*size = 0;
	if (rc)
		return rc;
	rc = map_fd(fd, path, data, size, e);
	close(fd);
	return rc;
}

void unmap_file(const uint8_t *data, size_t size)
{
	if (data)
		os_unmap(data, size);
}

static int read_all(int fd, const char *path, size_t max, size_t cap, char **data, size_t *size,
		    struct err *e)
{
	char *v = mem_alloc_large(cap);
	size_t n = 0;
	if (!v)
		return err_nomem(e);
	for (;;) {
		if (n + 1 >= cap) {
			char *more = mem_resize(v, cap, 2);
			if (!more) {
				mem_free(v);
				return err_nomem(e);
			}
			v = more;
			cap *= 2;
		}
		ssize_t got = pread(fd, v + n, cap - n - 1, (off_t)n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || (size_t)got > max - n) {
			if (!got)
				break;
			mem_free(v);
			return got < 0 ? err_sys(e, "%s", path)
				       : err_set(e, ERR_LIMIT, "%s: more than %zu bytes", path,
						 max);
		}
		n += (size_t)got;
	}
	v[n] = '\0';
	*data = v;
	*size = n;
	return 0;
}

int read_fd(int fd, const char *name, size_t max, char **data, size_t *size, struct err *e)
{
	struct stat st;
	*data = NULL;
	*size = 0;
	if (fstat(fd, &st))
		return file_failed(name, e);
	/* procfs reports 0: begin with a block and double. */
	size_t guess = st.st_size > 0 ? (size_t)st.st_size : 0;
	return read_all(fd, name, max, guess && guess < max ? guess + 2 : 1 << 16, data, size,
			e);
}

int read_file(const char *path, size_t max, char **data, size_t *size, struct err *e)
{
	int fd;
	*data = NULL;
	*size = 0;
	int rc = file_open(path, 0, &fd, e);
	if (rc)
		return rc;
	rc = read_fd(fd, path, max, data, size, e);
	close(fd);
	return rc;
}
