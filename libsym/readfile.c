#include "libsym/readfile.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_checked(const char *path, int *fd, size_t *guess, struct err *e)
{
	struct stat st;
	if (stat(path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return err_set(e, ERR_NOTFOUND, "%s: no such file", path);
		return err_sys(e, "%s", path);
	}
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", path);
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return err_sys(e, "%s", path);
	*guess = st.st_size > 0 ? (size_t)st.st_size : 0;
	return 0;
}

static int read_all(int fd, const char *path, size_t max, size_t cap, char **data, size_t *size,
		    struct err *e)
{
	char *v = mem_alloc(cap);
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
		ssize_t got = read(fd, v + n, cap - n - 1);
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

int read_file(const char *path, size_t max, char **data, size_t *size, struct err *e)
{
	int fd = -1;
	size_t guess = 0;
	*data = NULL;
	*size = 0;
	int rc = open_checked(path, &fd, &guess, e);
	if (rc)
		return rc;
	/* procfs says 0: begin with a block and double. */
	size_t cap = guess && guess < max ? guess + 2 : 1 << 16;
	rc = read_all(fd, path, max, cap, data, size, e);
	close(fd);
	return rc;
}
