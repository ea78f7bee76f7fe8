#include "libsym/elf/claimed_file.h"
#include "base/os/os.h"

#include "base/regular.h"
#include "libparse/source.h"
#include "libsym/elf/file_at.h"
#include "libsym/elf/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LINKS_MAX = 40, /* as the kernel's MAXSYMLINKS */
	UPS_MAX = 400,  /* each ".." is a walk from the root */
};

struct walk {
	struct claimed *c;
	char name[PATH_MAX]; /* for messages: as asked for */
	unsigned flags;
	const char *root; /* where w->left begins … */
	int above;        /* … so many folders above it */
	int links, ups;
	char left[PATH_MAX]; /* not yet walked; empty, or it begins with a slash */
};

/* --- the walk ----------------------------------------------------------------------------- */

/* Begin anew with what a link in the folder `in` says, and what follows it. */
static int begin_anew(struct walk *w, const char *in, const char *target, const char *rest)
{
	char all[2 * PATH_MAX];
	int n = snprintf(all, sizeof(all), "%s/%s%s", *target == '/' ? "" : in, target, rest);
	if (n < 0 || n >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(w->left, all, (size_t)n + 1);
	return 0;
}

/* The next part of the path at *p, which moves behind it; "" at the end. -1: too long. */
static int next_part(const char **p, char part[NAME_MAX + 1])
{
	size_t n;
	do {
		*p += strspn(*p, "/");
		n = strcspn(*p, "/");
		*p += n;
	} while (n == 1 && (*p)[-1] == '.');
	if (n > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(part, *p - n, n);
	part[n] = '\0';
	return 0;
}

static int is_callers(uid_t uid)
{
	return !uid || uid == geteuid();
}

/* 1 when only root and the caller can change what a folder holds. */
static int is_callers_folder(const struct stat *st)
{
	return is_callers(st->st_uid) && !(st->st_mode & S_IWOTH) &&
	       (!(st->st_mode & S_IWGRP) || !st->st_gid);
}

static int refuse_link(const struct walk *w, const struct stat *st, struct err *e)
{
	return err_set(e, ERR_REFUSED,
		       "%s: a link that user %u made, or could have, leads there", w->name,
		       (unsigned)st->st_uid);
}

/* 1 when the link, in this folder, may be followed. Who reads for himself, without root's rights,
 * needs no more than the kernel demands of every link (may_follow_link in fs/namei.c, with
 * fs.protected_symlinks). */
static int may_follow(const struct walk *w, const struct stat *link, const struct stat *folder)
{
	mode_t shared = S_ISVTX | S_IWOTH;
	if (w->flags & CLAIMED_INSIDE)
		return 1;
	if (w->flags & CLAIMED_FOR_SELF && geteuid())
		return link->st_uid == geteuid() || (folder->st_mode & shared) != shared ||
		       folder->st_uid == link->st_uid;
	return is_callers(link->st_uid) && is_callers_folder(folder);
}

/* 1 when a link was taken into w->left. */
static int follow(struct walk *w, int folder, const char *part, const struct stat *st,
		  const char *rest, struct err *e)
{
	char target[PATH_MAX];
	struct stat in;
	if (fstat(folder, &in))
		return file_failed(w->name, e);
	if (!may_follow(w, st, &in))
		return refuse_link(w, st, e);
	ssize_t n = readlinkat(folder, part, target, sizeof(target) - 1);
	errno = n < 0 ? errno : ELOOP;
	if (n < 0 || ++w->links > LINKS_MAX)
		return file_failed(w->name, e);
	target[n] = '\0';
	if (*target == '/' && !(w->flags & CLAIMED_INSIDE)) {
		w->root = "";
		w->above = 0;
	}
	return begin_anew(w, w->c->path, target, rest) ? file_failed(w->name, e) : 1;
}

/* ".." of the folder c->path, which is without links: its parent, but of the root with
 * CLAIMED_INSIDE. 1: w->left begins anew there. A handle of the parent would not do: the folder
 * may just have been moved out of the root. */
static int go_up(struct walk *w, int folder, const char *rest, struct err *e)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(w->c->path, '/');
	int up = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (up >= 0)
		close(up);
	errno = up < 0 ? errno : ELOOP;
	if (up < 0 || ++w->ups > UPS_MAX)
		return file_failed(w->name, e);
	w->above += !slash && !(w->flags & CLAIMED_INSIDE);
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - w->c->path) : 0,
		 w->c->path);
	return begin_anew(w, parent, "", rest) ? file_failed(w->name, e) : 1;
}

/* Open the file that `at` is only a handle of. */
static int open_last(struct walk *w, int folder, int at, const char *part, struct err *e)
{
	struct claimed *c = w->c;
	c->fd = regular_reopen(at, folder, part, REGULAR_NO_LINK | REGULAR_NO_PSEUDO, &c->st);
	c->shown &= c->fd >= 0 && c->st.st_mode & S_IROTH;
	return c->fd >= 0 ? 0 : file_failed(w->name, e);
}

/* A handle of one part, which may be a link; with `more` to come, a folder is asked for first,
 * because only that mounts an automount. */
static int open_part(int folder, const char *part, int more)
{
	enum { HANDLE = O_PATH | O_NOFOLLOW | O_CLOEXEC };
	int at = more ? openat(folder, part, HANDLE | O_DIRECTORY) : -1;
	return at >= 0 || (more && errno != ENOTDIR) ? at : openat(folder, part, HANDLE);
}

/* Walk w->left from an open folder, which is closed. 0, 1 when a link or ".." begins it anew. */
static int walk_from(struct walk *w, int folder, struct err *e)
{
	struct claimed *c = w->c;
	char part[NAME_MAX + 1];
	const char *p = w->left;
	int rc = 0, opened = 0;
	while (!rc && !opened) {
		if (next_part(&p, part)) {
			rc = file_failed(w->name, e);
			break;
		}
		if (!*part) {
			rc = err_set(e, ERR_UNSUPPORTED, "%s: not a regular file", w->name);
			break;
		}
		if (!strcmp(part, "..")) {
			rc = go_up(w, folder, p, e);
			break;
		}
		int at = open_part(folder, part, *p);
		if (at < 0 || fstat(at, &c->st))
			rc = file_failed(w->name, e);
		else if (S_ISLNK(c->st.st_mode))
			rc = follow(w, folder, part, &c->st, p, e);
		else {
			size_t had = strlen(c->path);
			snprintf(c->path + had, sizeof(c->path) - had, "/%s", part);
			opened = !*p;
			if (opened)
				rc = open_last(w, folder, at, part, e);
			else
				c->shown &= !!(c->st.st_mode & S_IXOTH);
		}
		close(folder);
		folder = at;
	}
	if (folder >= 0)
		close(folder);
	return rc;
}

/* 1 when everybody may search the folder and all those above it. */
static int is_searchable(int folder)
{
	struct stat st, above = {0};
	int ok = !fstat(folder, &st), at = folder, top = 0;
	while (ok && !top) {
		ok = !!(st.st_mode & S_IXOTH);
		int up = ok ? openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
		ok = ok && up >= 0 && !fstat(up, &above);
		top = ok && above.st_ino == st.st_ino && above.st_dev == st.st_dev;
		st = above;
		if (at != folder)
			close(at);
		at = up;
	}
	if (at >= 0 && at != folder)
		close(at);
	return ok;
}

/* The folder where w->left begins. */
static int open_root(const struct walk *w)
{
	enum { FOLDER = O_PATH | O_DIRECTORY | O_CLOEXEC };
	int folder = open(*w->root ? w->root : "/", FOLDER);
	for (int i = 0; i < w->above && folder >= 0; i++) {
		int up = openat(folder, "..", FOLDER);
		close(folder);
		folder = up;
	}
	return folder;
}

int claimed_open(const char *root, unsigned flags, const char *path, struct claimed *c,
		 struct err *e)
{
	struct walk w = {.c = c, .flags = flags, .root = root};
	int rc = 1;
	*c = (struct claimed){.fd = -1};
	snprintf(w.name, sizeof(w.name), "%s%s%s", strcmp(root, ".") ? root : "",
		 *root && *path != '/' && strcmp(root, ".") ? "/" : "", path);
	if (begin_anew(&w, "", path, ""))
		return file_failed(w.name, e);
	while (rc == 1) {
		int folder = open_root(&w);
		*c = (struct claimed){.fd = -1, .shown = folder >= 0 && is_searchable(folder)};
		rc = folder < 0 ? file_failed(w.name, e) : walk_from(&w, folder, e);
	}
	return rc;
}

/* --- who may have it ---------------------------------------------------------------------- */

/* 1 for a file that may be run by some who may not read it: having mapped it proves nothing. */
static int is_run_only(mode_t mode)
{
	return (mode & (S_IXGRP | S_IRGRP)) == S_IXGRP ||
	       (mode & (S_IXOTH | S_IROTH)) == S_IXOTH;
}

/* 1 if it is the file of the mapping, unchanged since. */
static int is_mapped(const struct claimed *c, const struct claim *k)
{
	const struct file_id *m = k->mapped;
	struct file_id here;
	return m && m->ino && (!k->written_ns || source_mtime_ns(&c->st) <= k->written_ns) &&
	       file_at_fd(c->fd, &here, NULL) && file_compare(m, &here) == FILE_SAME;
}

int claimed_check(const struct claimed *c, const struct claim *k, const char *name,
		  struct err *e)
{
	const struct stat *st = &c->st;
	if (geteuid() || c->shown || k->trusted)
		return 0;
	if (!is_run_only(st->st_mode) && (k->id_read || is_mapped(c, k)))
		return 0;
	/* a second name of a file may lie where its owner did not put it */
	if (k->has_owner && k->owner == st->st_uid && st->st_nlink == 1)
		return 0;
	return err_set(e, ERR_REFUSED,
		       "%s: not everybody may read it, and nothing recorded proves that it is "
		       "the file that was used (--trust-paths)",
		       name);
}
