#include "cmd/input/bundle_cache.h"
#include "base/text/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "cmd/input/scratch.h"
#include "libparse/archive/bundle.h"
#include "libparse/archive/tar.h"
#include "libsym/elf/read_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	WORTH_BYTES =
		4 << 20, /* of a bundle: smaller ones are unpacked in a tenth of a second */
	INDEX_MAX = 1 << 26,
	PATH_BYTES = BUNDLE_CACHE_PATH,
	DAY = 86400,
	SUM_BYTES = 16,
	HEX_BYTES = 2 * SUM_BYTES + 1,
};

static const uint64_t limit_bytes = 2000000000;

/* A path in the cache; 0 when it is too long. */
static int path_of(char *out, const char *dir, const char *name, const char *leaf)
{
	return snprintf(out, PATH_BYTES, "%s/%s%s", dir, name, leaf) < PATH_BYTES;
}

/* --- the folder ----------------------------------------------------------------------- */

/* 1 when `path` is a directory owned by this user, created if needed. */
static int own_dir(const char *path)
{
	struct stat st;
	mkdir(path, 0700);
	return !stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

int bundle_cache_dir(char dir[PATH_BYTES])
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char parent[PATH_BYTES];
	struct stat st;
	int n = xdg && *xdg == '/'     ? snprintf(parent, PATH_BYTES, "%s", xdg)
		: home && *home == '/' ? snprintf(parent, PATH_BYTES, "%s/.cache", home)
				       : -1;
	return n > 0 && n < PATH_BYTES && own_dir(parent) &&
	       path_of(dir, parent, "perfkit", "") && own_dir(dir) && !lstat(dir, &st) &&
	       S_ISDIR(st.st_mode) && !(st.st_mode & 077);
}

/* Write a new file, completely or not at all, unless it exists. */
static void write_new(const char *dir, const char *name, const void *p, size_t n)
{
	char tmp[PATH_BYTES], to[PATH_BYTES];
	if (!path_of(tmp, dir, "tmp.XXXXXX", "") || !path_of(to, dir, name, ""))
		return;
	int fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, p, n) == (ssize_t)n && !link(tmp, to))
		errno = 0; /* or another process was first */
	close(fd);
	unlink(tmp);
}

static int read_key(const char *dir, uint8_t *key)
{
	char path[PATH_BYTES];
	int fd = path_of(path, dir, "key", "") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int whole = fd >= 0 && read(fd, key, HASH_KEY_BYTES) == HASH_KEY_BYTES;
	if (fd >= 0)
		close(fd);
	return whole;
}

/* The key of this cache, created if needed: 1, or 0. */
static int need_key(const char *dir, uint8_t *key)
{
	if (read_key(dir, key))
		return 1;
	if (os_random(key, HASH_KEY_BYTES))
		return 0;
	write_new(dir, "key", key, HASH_KEY_BYTES);
	return read_key(dir, key);
}

static void hex_of(const uint8_t sum[SUM_BYTES], char hex[HEX_BYTES])
{
	for (size_t i = 0; i < SUM_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

/* The name of the entry for these bytes: 1, or 0. */
static int name_entry(const char *dir, const struct source *src, char name[HEX_BYTES])
{
	uint8_t key[HASH_KEY_BYTES], sum[SUM_BYTES];
	if (!need_key(dir, key))
		return 0;
	hash_keyed(src->data, src->size, key, sum);
	hex_of(sum, name);
	return 1;
}

/* --- the index ------------------------------------------------------------------------ */

struct listing {
	VEC(char *) lines;
	uint64_t bytes;
	uint8_t key[HASH_KEY_BYTES];
	int rc; /* ERR_NOMEM; ERR_IO; ERR_FORMAT: the tree has something that bundles do not
		   contain */
};

/* List one regular file: its name in the bundle and the hash of its content. Closes `fd`. */
static void list_file(struct listing *l, const char *name, int fd)
{
	struct buf b = {0};
	uint8_t sum[SUM_BYTES];
	char hex[HEX_BYTES];
	uint64_t size = 0;
	l->rc = fd < 0 ? ERR_IO : hash_file_keyed(fd, l->key, sum, &size);
	if (fd >= 0)
		close(fd);
	if (l->rc)
		return;
	hex_of(sum, hex);
	buf_fmt(&b, "%s %" PRIu64 " %s\n", hex, size, name);
	buf_cstr(&b); /* ends in a NUL */
	if (buf_failed(&b) || vec_push(&l->lines, b.v)) {
		l->rc = ERR_NOMEM;
		buf_release(&b);
	}
	l->bytes += size;
}

/* List everything below the directory `fd`, which is closed; `path` is its name in the bundle,
 * or "". */
static void list_dir(struct listing *l, int fd, struct buf *path, int depth)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t n = path->n;
	if (!d)
		l->rc = ERR_FORMAT;
	for (struct dirent *f; d && !l->rc && (f = readdir(d));) {
		struct stat st;
		if (!strcmp(f->d_name, ".") || !strcmp(f->d_name, ".."))
			continue;
		buf_str(path, n ? "/" : "");
		buf_str(path, f->d_name);
		const char *name = buf_cstr(path);
		if (fstatat(fd, f->d_name, &st, AT_SYMLINK_NOFOLLOW) || depth > TAR_DEPTH_MAX)
			l->rc = ERR_FORMAT;
		else if (S_ISREG(st.st_mode))
			list_file(l, name,
				  openat(fd, f->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
		else if (S_ISDIR(st.st_mode))
			list_dir(l,
				 openat(fd, f->d_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
				 path, depth + 1);
		else
			l->rc = ERR_FORMAT;
		path->n = n;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The INDEX of a tree as it is now. 0, ERR_NOMEM, ERR_IO, ERR_FORMAT. */
static int make_index(const char *dir, const char *tree, struct buf *out)
{
	struct listing l = {0};
	struct buf path = {0};
	if (!read_key(dir, l.key))
		return ERR_IO;
	list_dir(&l, open(tree, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), &path, 0);
	if (l.lines.n)
		qsort(l.lines.v, l.lines.n, sizeof(*l.lines.v), by_text);
	buf_fmt(out, "bytes %" PRIu64 "\n", l.bytes);
	for (size_t i = 0; i < l.lines.n; i++) {
		buf_str(out, l.lines.v[i]);
		mem_free(l.lines.v[i]);
	}
	vec_release(&l.lines);
	buf_release(&path);
	return l.rc ? l.rc : buf_failed(out) ? ERR_NOMEM : 0;
}

/* --- entries -------------------------------------------------------------------------- */

/* Open and lock the INDEX of an entry: a descriptor, or -1 if it is gone. */
static int lock_entry(const char *dir, const char *name, int how)
{
	char path[PATH_BYTES];
	struct stat at, now;
	int fd = path_of(path, dir, name, "/INDEX")
			 ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
			 : -1;
	if (fd >= 0 && (flock(fd, how) || fstat(fd, &at) || stat(path, &now) ||
			at.st_ino != now.st_ino || at.st_dev != now.st_dev)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* 1 when the entry still has its original content. */
static int is_intact(const char *dir, const char *name)
{
	char index[PATH_BYTES], tree[PATH_BYTES];
	struct buf now = {0};
	char *then = NULL;
	size_t n = 0;
	int same = path_of(index, dir, name, "/INDEX") && path_of(tree, dir, name, "/tree") &&
		   !read_file(index, INDEX_MAX, &then, &n, NULL) &&
		   !make_index(dir, tree, &now) && n == now.n && !memcmp(then, now.v, n);
	mem_free(then);
	buf_release(&now);
	return same;
}

/* Rename the entry first, so that no process finds a part of it. Under an exclusive lock. */
static void remove_entry(const char *dir, const char *name)
{
	char from[PATH_BYTES], to[PATH_BYTES];
	if (!path_of(from, dir, name, "") || !path_of(to, dir, "tmp.XXXXXX", "") ||
	    !mkdtemp(to))
		return;
	if (!rename(from, to))
		scratch_remove_tree(to);
	else
		rmdir(to);
}

/* The entry's tree, touched and locked: 1, or 0 if it cannot be used. */
static int use_entry(const char *dir, const char *name, char **tree, int *lock)
{
	char path[PATH_BYTES];
	int fd = lock_entry(dir, name, LOCK_SH);
	if (fd < 0)
		return 0;
	if (is_intact(dir, name) && path_of(path, dir, name, "/tree") &&
	    (*tree = mem_strdup(path))) {
		futimens(fd, NULL);
		*lock = fd;
		return 1;
	}
	if (!flock(fd, LOCK_EX | LOCK_NB))
		remove_entry(dir, name);
	close(fd);
	return 0;
}

/* --- room ----------------------------------------------------------------------------- */

struct entry {
	char name[64];
	struct timespec used;
	uint64_t bytes;
};

static int is_older(const struct entry *a, const struct entry *b)
{
	return a->used.tv_sec != b->used.tv_sec ? a->used.tv_sec < b->used.tv_sec
						: a->used.tv_nsec < b->used.tv_nsec;
}

/* Read an entry's size from its INDEX: 1, or 0. */
static int read_entry(const char *dir, const char *name, struct entry *x)
{
	char path[PATH_BYTES], head[64] = {0};
	size_t len = strlen(name);
	struct stat st;
	int fd = len < sizeof(x->name) && path_of(path, dir, name, "/INDEX")
			 ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
			 : -1;
	int ok = fd >= 0 && !fstat(fd, &st) && read(fd, head, sizeof(head) - 1) > 0 &&
		 sscanf(head, "bytes %" SCNu64, &x->bytes) == 1;
	if (fd >= 0)
		close(fd);
	if (ok) {
		memcpy(x->name, name, len + 1);
		x->used = st.st_mtim;
	}
	return ok;
}

/* Remove what a killed command left a day ago. */
static void remove_leftover(const char *dir, const char *name)
{
	char path[PATH_BYTES];
	struct stat st;
	if (!path_of(path, dir, name, "") || lstat(path, &st) || time(NULL) - st.st_mtime < DAY)
		return;
	if (S_ISDIR(st.st_mode))
		scratch_remove_tree(path);
	else
		unlink(path);
}

/* The least recently used entry after `after`, and the sum of all, in one pass. */
static int find_oldest(const char *dir, const struct entry *after, struct entry *oldest,
		       uint64_t *total)
{
	DIR *d = opendir(dir);
	struct entry x;
	int found = 0;
	*total = 0;
	for (struct dirent *f; d && (f = readdir(d));) {
		if (!strncmp(f->d_name, "tmp.", 4))
			remove_leftover(dir, f->d_name);
		else if (f->d_name[0] != '.' && strlen(f->d_name) < sizeof(x.name) &&
			 read_entry(dir, f->d_name, &x)) {
			*total += x.bytes;
			if ((after && !is_older(after, &x)) || (found && !is_older(&x, oldest)))
				continue;
			*oldest = x;
			found = 1;
		}
	}
	if (d)
		closedir(d);
	return found;
}

/* Remove the least recently used entries, except those in use, until `bytes` more fit. How many
 * there are with these; 0 if they do not fit. */
static uint64_t make_room(const char *dir, uint64_t bytes)
{
	struct entry oldest, tried;
	uint64_t total;
	int more = 0;
	while (find_oldest(dir, more ? &tried : NULL, &oldest, &total)) {
		if (total + bytes <= limit_bytes)
			break;
		int fd = lock_entry(dir, oldest.name, LOCK_EX | LOCK_NB);
		if (fd >= 0) {
			remove_entry(dir, oldest.name);
			close(fd);
		}
		tried = oldest;
		more = 1;
	}
	return total + bytes <= limit_bytes ? total + bytes : 0;
}

/* --- making one ----------------------------------------------------------------------- */

/* Make the finished folder `tmp` the entry if there is room and no other process was first;
 * else it stays and is removed when the process ends. */
static void keep(const char *dir, const char *name, const char *tmp, uint64_t bytes,
		 struct bundle_cached *out)
{
	char path[PATH_BYTES], to[PATH_BYTES];
	struct buf index = {0};
	uint64_t all = 0;
	if (!path_of(path, tmp, "tree", "") || !path_of(to, dir, name, "") ||
	    make_index(dir, path, &index) || !(all = make_room(dir, bytes))) {
		buf_release(&index);
		return;
	}
	write_new(tmp, "INDEX", index.v, index.n);
	buf_release(&index);
	int fd = lock_entry(tmp, ".", LOCK_SH);
	char *kept = path_of(path, to, "tree", "") ? mem_strdup(path) : NULL;
	if (fd >= 0 && kept && !rename(tmp, to)) {
		scratch_also(NULL);
		mem_free(out->tree);
		*out = (struct bundle_cached){kept, fd, all};
		return;
	}
	mem_free(kept);
	if (fd >= 0)
		close(fd);
}

/* Unpack next to the entries. 0 if there is no room, and it must be unpacked elsewhere. */
static int make_entry(const char *dir, const char *name, struct source *src,
		      struct bundle_cached *out, struct err *e)
{
	char tmp[PATH_BYTES], path[PATH_BYTES];
	struct bundle_counts counts;
	struct err why = {0};
	if (!path_of(tmp, dir, "tmp.XXXXXX", "") || !mkdtemp(tmp))
		return 0;
	scratch_also(tmp);
	int rc = path_of(path, tmp, "tree", "") ? bundle_unpack(src, path, 0, &counts, &why)
						: ERR_IO;
	out->tree = rc ? NULL : mem_strdup(path);
	if (out->tree) {
		keep(dir, name, tmp, counts.bytes, out);
		return 1;
	}
	scratch_remove_tree(tmp);
	scratch_also(NULL);
	if (rc == ERR_IO)
		return 0;
	if (rc && e)
		*e = why;
	return rc ? rc : err_nomem(e);
}

int bundle_cache_get(struct source *src, struct bundle_cached *out, struct err *e)
{
	char dir[PATH_BYTES], name[HEX_BYTES];
	*out = (struct bundle_cached){.lock = -1};
	if (!source_is_mapped(src) || src->size < WORTH_BYTES || !bundle_cache_dir(dir) ||
	    !name_entry(dir, src, name))
		return 0;
	if (use_entry(dir, name, &out->tree, &out->lock))
		return 1;
	return make_entry(dir, name, src, out, e);
}
