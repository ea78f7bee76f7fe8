#include "libparse/archive/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tree_open(struct tree *t, const char *dir, int replace, int follow, struct err *e)
{
	*t = (struct tree){.dir = dir, .fd = -1, .replace = replace};
	if (mkdir(dir, 0700) && errno != EEXIST)
		return err_sys(e, "%s: cannot make the folder", dir);
	t->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	return t->fd < 0 ? err_sys(e, "%s", dir) : 0;
}

/* Open the directory of `name`, created if needed; *leaf is the last component. The caller
 * closes *fd. */
static int open_parent(struct tree *t, const char *name, int *fd, const char **leaf,
		       struct err *e)
{
	int at = dup(t->fd);
	if (at < 0)
		return err_sys(e, "%s", t->dir);
	for (const char *slash; (slash = strchr(name, '/')); name = slash + 1) {
		char part[256];
		snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
		int made = mkdirat(at, part, 0700);
		t->dirs += !made;
		int next = made && errno != EEXIST
				   ? -1
				   : openat(at, part,
					    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int why = errno;
		close(at);
		errno = why;
		at = next;
		if (at < 0)
			return err_sys(e, "%s: cannot make the folder '%s'", t->dir, part);
		if (t->dirs > TREE_DIRS_MAX) {
			close(at);
			return err_set(e, ERR_LIMIT, "%s: more than %d folders", t->dir,
				       TREE_DIRS_MAX);
		}
	}
	*fd = at;
	*leaf = name;
	return 0;
}

static int create(struct tree *t, const char *name, int replace, int *fd, struct err *e)
{
	const char *leaf;
	int at, rc = open_parent(t, name, &at, &leaf, e);
	if (rc)
		return rc;
	if (replace)
		unlinkat(at, leaf, 0);
	*fd = openat(at, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		rc = errno == EEXIST ? err_set(e, ERR_IO,
					       "%s/%s: exists already (--force "
					       "replaces it)",
					       t->dir, name)
				     : err_sys(e, "%s/%s: cannot write", t->dir, name);
	close(at);
	return rc;
}

static int write_all(struct tree *t, const char *name, int fd, const void *p, size_t n,
		     struct err *e)
{
	const char *at = p;
	int rc = diskroom_reserve(&t->room, fd, n, t->dir, e);
	for (size_t left = rc ? 0 : n; left;) {
		ssize_t k = write(fd, at, left);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return err_sys(e, "%s/%s: cannot write", t->dir, name);
		at += k;
		left -= (size_t)k;
	}
	t->bytes += rc ? 0 : n;
	return rc;
}

static int finish(struct tree *t, const char *name, int fd, int rc, struct err *e)
{
	if (close(fd) && !rc)
		rc = err_sys(e, "%s/%s: cannot write", t->dir, name);
	t->files++;
	return rc;
}

int tree_put(struct tree *t, const char *name, const void *p, size_t n, struct err *e)
{
	int fd, rc = create(t, name, 1, &fd, e);
	return rc ? rc : finish(t, name, fd, write_all(t, name, fd, p, n, e), e);
}

int tree_put_entry(struct tree *t, const char *name, const void *p, size_t n,
		   struct tar_reader *tar, struct err *e)
{
	uint8_t piece[65536];
	int64_t got = 0;
	int fd, rc = create(t, name, t->replace, &fd, e);
	if (rc)
		return rc;
	rc = write_all(t, name, fd, p, n, e);
	while (!rc && (got = tar_read(tar, piece, sizeof(piece), e)) > 0)
		rc = write_all(t, name, fd, piece, (size_t)got, e);
	return finish(t, name, fd, rc ? rc : (int)got, e);
}

int tree_mkdir(struct tree *t, const char *name, struct err *e)
{
	char inside[TAR_NAME_MAX + 8];
	const char *leaf;
	int at;
	snprintf(inside, sizeof(inside), "%s/.", name);
	int rc = open_parent(t, inside, &at, &leaf, e);
	if (!rc)
		close(at);
	return rc;
}

void tree_close(struct tree *t)
{
	if (t->dir && t->fd >= 0)
		close(t->fd);
	*t = (struct tree){0};
}
