#include "base/outfile.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/regular.h"
#include "base/shortage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void forget(struct outfile *o)
{
	mem_free(o->path);
	mem_free(o->tmp);
	*o = (struct outfile){.fd = -1};
}

/* What was no regular file when it was looked at is none when it is opened, or is not emptied. */
static int open_in_place(struct outfile *o, const char *path, int exists, struct err *e)
{
	struct stat st;
	o->path = mem_strdup(path);
	if (!o->path)
		return err_nomem(e);
	o->fd = open(path, O_WRONLY | O_CLOEXEC | (exists ? 0 : O_CREAT | O_TRUNC), 0666);
	if (o->fd < 0 || fstat(o->fd, &st))
		return err_sys(e, "%s: cannot write", path);
	return exists && S_ISREG(st.st_mode)
		       ? err_set(e, ERR_IO, "%s: cannot write: was replaced meanwhile", path)
		       : 0;
}

/* Open an unnamed file in the folder of `path`; -1 if that is not possible. */
static int open_unnamed(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	char *dir = !slash          ? mem_strdup(".")
		    : slash == path ? mem_strdup("/")
				    : mem_strndup(path, (size_t)(slash - path));
	int fd = dir ? os_nameable_file(dir, mode) : -1;
	mem_free(dir);
	return fd;
}

/* --- temporary names ------------------------------------------------------------------- */

enum { RANDOM_DIGITS = 16 };

/* PATH.tmp.RANDOM: nobody else can make that file beforehand. */
static int random_name(char *name, size_t size, const char *path)
{
	uint64_t any;
	if (os_random(&any, sizeof(any)))
		return -1;
	snprintf(name, size, "%s.tmp.%0*" PRIx64, path, RANDOM_DIGITS, any);
	return 0;
}

/* 1 if nothing writes a temporary file any more: who does has it locked. */
static int is_abandoned(int fd)
{
	enum { MINUTE = 60 }; /* between its making and its lock */
	struct stat st;
	return !fstat(fd, &st) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > MINUTE &&
	       !flock(fd, LOCK_EX | LOCK_NB);
}

/* Remove what killed processes left of the same target. */
static void remove_abandoned(const char *path)
{
	static const char mark[] = ".tmp.";
	const char *slash = strrchr(path, '/'), *leaf = slash ? slash + 1 : path;
	size_t n = strlen(leaf), k = sizeof(mark) - 1;
	char *folder = slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup(".");
	DIR *d = folder ? opendir(folder) : NULL;
	for (struct dirent *f; d && (f = readdir(d));) {
		const char *name = f->d_name;
		if (strlen(name) != n + k + RANDOM_DIGITS || strncmp(name, leaf, n) != 0 ||
		    strncmp(name + n, mark, k) != 0 ||
		    strspn(name + n + k, "0123456789abcdef") != RANDOM_DIGITS)
			continue;
		struct stat st;
		int fd = regular_open(dirfd(d), name, REGULAR_NO_LINK, &st);
		if (fd >= 0 && is_abandoned(fd))
			unlinkat(dirfd(d), name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	mem_free(folder);
}

int outfile_temporary(const char *path, int mode, char **name, int *fd, struct err *e)
{
	enum { TRIES = 100 };
	size_t n = strlen(path) + 32;
	*fd = -1;
	*name = mem_alloc(n);
	if (!*name)
		return err_nomem(e);
	remove_abandoned(path);
	for (int i = 0; *fd < 0 && i < TRIES && !random_name(*name, n, path); i++) {
		*fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			   (mode_t)mode);
		if (*fd < 0 && errno != EEXIST)
			break;
	}
	if (*fd >= 0) {
		flock(*fd, LOCK_EX | LOCK_NB);
		return 0;
	}
	int rc = err_sys(e, "%s: cannot write", path);
	mem_free(*name);
	*name = NULL; /* nothing to remove */
	return rc;
}

static int open_temporary(struct outfile *o, const char *path, mode_t mode, struct err *e)
{
	size_t n = strlen(path) + 32;
	o->path = mem_strdup(path);
	if (!o->path)
		return err_nomem(e);
	o->fd = open_unnamed(path, mode);
	o->unnamed = o->fd >= 0;
	if (!o->unnamed)
		return outfile_temporary(path, (int)mode, &o->tmp, &o->fd, e);
	o->tmp = mem_alloc(n);
	if (!o->tmp)
		return err_nomem(e);
	if (!random_name(o->tmp, n, path))
		return 0;
	int code = err_sys(e, "%s: cannot write", path);
	mem_free(o->tmp);
	o->tmp = NULL;
	return code;
}

/* --- the stream ----------------------------------------------------------------------- */

static const char *shown_name(const struct outfile *o)
{
	return o->path ? o->path : "stdout";
}

/* 1 if n more bytes may be written; else o->failed says why not. */
static int may_write(struct outfile *o, size_t n)
{
	o->written += n;
	if (o->most && o->written > o->most)
		return err_set(&o->failed, ERR_REFUSED,
			       "%s: would be larger than %llu MB (--max-memory SIZE allows "
			       "more, --force any size)",
			       shown_name(o), (unsigned long long)(o->most >> 20));
	return diskroom_reserve(&o->disk, o->fd, n, shown_name(o), &o->failed);
}

/* The write function of fopencookie(3): bytes written, 0 on failure. The first failure is
 * kept. */
static ssize_t put(void *cookie, const char *p, size_t n)
{
	struct outfile *o = cookie;
	size_t left = n;
	if (o->failed.code || may_write(o, n)) {
		errno = EIO;
		return 0;
	}
	while (left) {
		ssize_t k = write(o->fd, p, left);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			err_sys(&o->failed, "%s: cannot write", shown_name(o));
			return 0;
		}
		p += k;
		left -= (size_t)k;
	}
	return (ssize_t)n;
}

static int open_stream(struct outfile *o, struct err *e)
{
	enum { BUFFER = 1 << 16 };
	o->f = fopencookie(o, "w", (cookie_io_functions_t){.write = put});
	if (!o->f)
		return err_nomem(e);
	setvbuf(o->f, NULL, _IOFBF, BUFFER);
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
	*o = (struct outfile){.fd = -1};
	int exists = strcmp(path, "-") && !stat(path, &st);
	if (!strcmp(path, "-") || (exists && S_ISREG(st.st_mode) && is_stdout(&st))) {
		fflush(stdout); /* keeps the order of what was printed before */
		o->fd = STDOUT_FILENO;
		return open_stream(o, e);
	}
	if (exists && S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "%s: cannot write: is a directory", path);
	/* a link to nothing, or to a deleted file, is followed, too
	 */
	int in_place = exists ? !S_ISREG(st.st_mode) : is_link(path);
	int r = in_place ? open_in_place(o, path, exists, e)
			 : open_temporary(o, outfile_target(path, target), mode, e);
	if (!r)
		r = open_stream(o, e);
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

int outfile_open_derived(struct outfile *o, const char *path, unsigned mode, struct err *e)
{
	struct stat st;
	*o = (struct outfile){.fd = -1};
	if (!lstat(path, &st) && S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "%s: cannot write: is a directory", path);
	int r = open_temporary(o, path, (mode_t)mode, e);
	r = r ? r : open_stream(o, e);
	if (r)
		outfile_abort(o);
	return r;
}

/* Close the stream; its first failure, or 0 once the kernel has everything. */
static int end_stream(struct outfile *o, struct err *e)
{
	int r = o->f && fclose(o->f) ? ERR_IO : 0;
	o->f = NULL;
	if (!o->failed.code)
		return r ? err_sys(e, "%s: cannot write", shown_name(o)) : 0;
	return err_set(e, o->failed.code, "%s", o->failed.msg);
}

static int close_file(struct outfile *o, struct err *e)
{
	int r = 0;
	if (o->fd > STDOUT_FILENO && close(o->fd))
		r = err_sys(e, "%s: cannot write", shown_name(o));
	o->fd = -1;
	return r;
}

/* 1 if the commit would replace a file of other content. */
static int replaces_other(const struct outfile *o)
{
	enum { PIECE = 1 << 14 };
	char a[PIECE], b[PIECE], self[64];
	ssize_t n = 1, m = 1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	struct stat st;
	int there = regular_open(AT_FDCWD, o->path, REGULAR_NO_LINK, &st);
	if (!o->tmp || there < 0)
		return o->tmp && errno != ENOENT;
	int own = open(o->unnamed ? self : o->tmp, O_RDONLY | O_CLOEXEC);
	for (off_t at = 0; own >= 0 && n > 0 && n == m; at += n) {
		n = pread(own, a, sizeof(a), at);
		m = pread(there, b, sizeof(b), at);
		if (n > 0 && n == m && memcmp(a, b, (size_t)n) != 0)
			m = -1;
	}
	close(there);
	if (own >= 0)
		close(own);
	return own < 0 || n || m;
}

int outfile_keep_other(const struct outfile *o, struct err *e)
{
	return replaces_other(o) ? err_set(e, ERR_REFUSED,
					   "%s: is there already, with other content; not "
					   "replaced (--force)",
					   o->path)
				 : 0;
}

/* Give the file its name. While it has the temporary one, signals are blocked. */
static int replace(struct outfile *o, struct err *e)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int r = o->unnamed && os_name_file(o->fd, o->tmp)
			? err_sys(e, "%s: cannot write", o->path)
			: 0;
	if (close_file(o, r ? NULL : e) && !r)
		r = ERR_IO;
	if (!r && rename(o->tmp, o->path))
		r = err_sys(e, "%s: cannot rename into place", o->path);
	if (r)
		unlink(o->tmp); /* ENOENT if it never had a name */
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

int outfile_commit(struct outfile *o, struct err *e)
{
	int r = shortage(&o->failed);
	if (end_stream(o, e) && !r)
		r = ERR_IO;
	if (!r && o->tmp && fsync(o->fd) && errno != EINVAL)
		r = err_sys(e, "%s: cannot write", o->path);
	if (!r && o->tmp)
		r = replace(o, e);
	else if (close_file(o, r ? NULL : e) && !r)
		r = ERR_IO;
	if (r && o->tmp && !o->unnamed)
		unlink(o->tmp);
	forget(o);
	return r && e ? e->code : r;
}

int outfile_end(struct outfile *o, int rc, struct err *e)
{
	if (!rc)
		return outfile_commit(o, e);
	if (o->failed.code) /* the stream's own reason, not the writer's */
		rc = err_set(e, o->failed.code, "%s", o->failed.msg);
	outfile_abort(o);
	return rc;
}

void outfile_abort(struct outfile *o)
{
	o->failed.code = ERR_IO; /* discards what is still in the buffer */
	end_stream(o, NULL);
	close_file(o, NULL);
	if (o->tmp && !o->unnamed)
		unlink(o->tmp);
	forget(o);
}
