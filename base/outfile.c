#include "base/outfile.h"
#include "base/mem.h"
#include "base/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(struct outfile *o)
{
	mem_free(o->path);
	mem_free(o->tmp);
	*o = (struct outfile){0};
}

static int open_in_place(struct outfile *o, const char *path, struct err *e)
{
	o->path = mem_strdup(path);
	if (!o->path)
		return err_nomem(e);
	o->f = fopen(path, "we");
	return o->f ? 0 : err_sys(e, "%s: cannot write", path);
}

/* In the folder of `path`, without a name; -1 where that cannot be. */
static int open_unnamed(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char *dir = !slash          ? mem_strdup(".")
		    : slash == path ? mem_strdup("/")
				    : mem_strndup(path, (size_t)(slash - path));
	int fd = !dir || access("/proc/self/fd", X_OK)
			 ? -1
			 : open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	mem_free(dir);
	return fd;
}

/* Name what open_unnamed made. */
static int name_late(const struct outfile *o)
{
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(o->f));
	return linkat(AT_FDCWD, self, AT_FDCWD, o->tmp, AT_SYMLINK_FOLLOW);
}

static int open_temporary(struct outfile *o, const char *path, mode_t mode, struct err *e)
{
	size_t n = strlen(path) + 32;
	o->path = mem_strdup(path);
	o->tmp = mem_alloc(n);
	if (!o->path || !o->tmp)
		return err_nomem(e);
	snprintf(o->tmp, n, "%s.tmp.%ld", path, (long)getpid());
	int fd = open_unnamed(path, mode);
	o->unnamed = fd >= 0;
	if (fd < 0)
		fd = open(o->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0) {
		int code = err_sys(e, "%s: cannot write", path);
		mem_free(o->tmp);
		o->tmp = NULL;
		return code;
	}
	o->f = fdopen(fd, "w");
	if (!o->f) {
		close(fd);
		return err_sys(e, "%s: cannot write", path);
	}
	return 0;
}

static int is_link(const char *path)
{
	struct stat st;
	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

const char *outfile_target(const char *path, char *out)
{
	return is_link(path) && realpath(path, out) ? out : path;
}

static int is_stdout(const struct stat *st)
{
	struct stat own;
	return !fstat(STDOUT_FILENO, &own) && own.st_dev == st->st_dev &&
	       own.st_ino == st->st_ino;
}

static int open_mode(struct outfile *o, const char *path, mode_t mode, struct err *e)
{
	char target[PATH_MAX];
	struct stat st;
	*o = (struct outfile){0};
	int exists = strcmp(path, "-") && !stat(path, &st);
	if (!strcmp(path, "-") || (exists && S_ISREG(st.st_mode) && is_stdout(&st))) {
		o->f = stdout;
		return 0;
	}
	if (exists && S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "%s: cannot write: is a directory", path);
	/* a link that leads to nothing yet, or to what has no name any more, is followed, too
	 */
	int in_place = exists ? !S_ISREG(st.st_mode) : is_link(path);
	int r = in_place ? open_in_place(o, path, e)
			 : open_temporary(o, outfile_target(path, target), mode, e);
	if (r)
		outfile_abort(o);
	return r;
}

int outfile_open(struct outfile *o, const char *path, struct err *e)
{
	return open_mode(o, path, 0666, e);
}

int outfile_open_private(struct outfile *o, const char *path, struct err *e)
{
	return open_mode(o, path, 0600, e);
}

int outfile_commit(struct outfile *o, struct err *e)
{
	if (o->f == stdout) {
		int r = shortage(e);
		if (fflush(stdout) || ferror(stdout))
			r = err_sys(e, "stdout: cannot write");
		*o = (struct outfile){0};
		return r;
	}
	int r = shortage(e);
	if (!r && (fflush(o->f) || ferror(o->f) ||
		   (o->tmp && fsync(fileno(o->f)) && errno != EINVAL)))
		r = err_sys(e, "%s: cannot write", o->path);
	if (!r && o->tmp && o->unnamed && name_late(o))
		r = err_sys(e, "%s: cannot write", o->path);
	if (fclose(o->f) && !r)
		r = err_sys(e, "%s: cannot write", o->path);
	o->f = NULL;
	if (!r && o->tmp && rename(o->tmp, o->path))
		r = err_sys(e, "%s: cannot rename into place", o->path);
	if (r && o->tmp)
		unlink(o->tmp); /* ENOENT where it never had a name */
	forget(o);
	return r;
}

void outfile_abort(struct outfile *o)
{
	if (o->f && o->f != stdout)
		fclose(o->f);
	if (o->tmp && !o->unnamed)
		unlink(o->tmp);
	forget(o);
}
