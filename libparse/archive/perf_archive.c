#include "libparse/archive/perf_archive.h"
#include "libparse/archive/unzip.h"

#include <stdio.h>
#include <string.h>

/* Hex digits of a build-id: md5 and sha1 have 32 and 40; --build-id=0x makes shorter ones.
 */
enum { ID_MIN = 8, ID_MAX = 40 };

static int is_id(const char *s, size_t n)
{
	return n >= ID_MIN && n <= ID_MAX && n % 2 == 0 && strspn(s, "0123456789abcdef") >= n;
}

/* The last component of `name` up to `end`. */
static const char *component(const char *name, const char *end, size_t *n)
{
	const char *p = end;
	while (p > name && p[-1] != '/')
		p--;
	*n = (size_t)(end - p);
	return p;
}

/* Where to unpack a file of the archive: 1, or 0 if it names no frames. */
static int place(const char *name, char *out, size_t size)
{
	static const char *const leaves[] = {"elf", "debug", "vdso", "kallsyms", "vmlinux"};
	size_t n, nleaf;
	const char *end = name + strlen(name), *leaf = component(name, end, &nleaf), *id;
	if (is_id(leaf, nleaf)) { /* an old cache */
		const char *kind = !strncmp(name, "[kernel", 7) ? "kallsyms"
				   : !strncmp(name, "[vdso", 5) ? "vdso"
								: "elf";
		return snprintf(out, size, ".build-id/%.2s/%.*s/%s", leaf, (int)nleaf - 2,
				leaf + 2, kind) < (int)size;
	}
	if (leaf == name)
		return 0;
	id = component(name, leaf - 1, &n);
	for (size_t i = 0; is_id(id, n) && i < sizeof(leaves) / sizeof(*leaves); i++)
		if (!strcmp(leaf, leaves[i]))
			return snprintf(out, size, ".build-id/%.2s/%.*s/%s", id, (int)n - 2,
					id + 2, leaf) < (int)size;
	return 0;
}

int perf_archive_begins(const struct tar_entry *f)
{
	char to[128];
	return (f->is_link && !strncmp(f->name, ".build-id/", 10)) ||
	       (!f->is_link && !f->is_dir && place(f->name, to, sizeof(to)));
}

static int unpack_all(struct tree *t, struct tar_reader *tar, struct err *e)
{
	struct tar_entry f;
	char to[128];
	int rc;
	while ((rc = tar_next(tar, &f, e)) == 1) {
		if (f.is_link || f.is_dir || !place(f.name, to, sizeof(to)))
			continue;
		rc = tree_put_entry(t, to, NULL, 0, tar, e);
		if (rc)
			return rc;
	}
	if (!rc && !t->files)
		rc = err_set(e, ERR_FORMAT, "%s: not a perf archive: no file by build-id in it",
			     tar->name);
	return rc;
}

int perf_archive_unpack(struct source *src, const char *dir, struct unzip *outer, struct err *e)
{
	struct unzip *zip;
	struct tree t = {0};
	int rc = unzip_open(&zip, src, e);
	if (rc)
		return rc;
	unzip_within(zip, outer);
	struct tar_reader tar = {
		.read = unzip_read, .ctx = zip, .name = src->name, .lenient = 1};
	rc = tree_open(&t, dir, 1, 1, e);
	if (!rc)
		rc = unpack_all(&t, &tar, e);
	if (!rc)
		rc = unzip_drain(zip, e);
	tree_close(&t);
	tar_reader_release(&tar);
	unzip_close(zip);
	return rc;
}
