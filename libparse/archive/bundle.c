#include "libparse/archive/bundle.h"
#include "base/mem.h"
#include "base/regular.h"
#include "base/text/path.h"
#include "libparse/archive/perf_archive.h"
#include "libparse/archive/tree.h"
#include "libparse/archive/unzip.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTIAL BUNDLE_MANIFEST ".partial"
#define RECORDING "perf.data"

int bundle_detect(const uint8_t *head, size_t n)
{
	return unzip_detect(head, n);
}

int bundle_is_dir(const char *dir)
{
	char line[sizeof(BUNDLE_MAGIC_LINE)] = {0};
	size_t want = sizeof(BUNDLE_MAGIC_LINE) - 1;
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int fd = at < 0 ? -1 : regular_open(at, BUNDLE_MANIFEST, 0, &st);
	int is = fd >= 0 && read(fd, line, want) == (ssize_t)want &&
		 !strcmp(line, BUNDLE_MAGIC_LINE);
	if (fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	return is;
}

/* --- unpacking ---------------------------------------------------------------------------- */

struct unpacker {
	const char *name; /* of the source, for messages */
	struct unzip *zip;
	struct tar_reader tar;
	struct tree to;
};

static int not_a_bundle(const struct unpacker *u, struct err *e)
{
	return err_set(e, ERR_FORMAT,
		       "%s: compressed, but holds neither a recording nor a bundle (no %s)",
		       u->name, BUNDLE_MANIFEST);
}

/* Write MANIFEST under the name that means "not complete yet". */
static int begin(struct unpacker *u, const char *text, size_t n, struct err *e)
{
	struct stat st;
	if (!u->to.replace && !fstatat(u->to.fd, BUNDLE_MANIFEST, &st, AT_SYMLINK_NOFOLLOW))
		return err_set(e, ERR_IO, "%s: holds a bundle already (--force replaces it)",
			       u->to.dir);
	int rc = tree_put(&u->to, PARTIAL, text, n, e);
	if (!rc)
		unlinkat(u->to.fd, BUNDLE_MANIFEST, 0);
	return rc;
}

/* The first entry: check that this version knows the bundle's kind. */
static int read_manifest(struct unpacker *u, const struct tar_entry *f, struct err *e)
{
	static const size_t magic = sizeof(BUNDLE_MAGIC_LINE) - 1, stem = magic - 2;
	char *text = f->size > BUNDLE_MANIFEST_MAX ? NULL : mem_alloc((size_t)f->size + 1);
	size_t n = 0;
	int64_t got;
	if (!text)
		return f->size > BUNDLE_MANIFEST_MAX ? not_a_bundle(u, e) : err_nomem(e);
	while ((got = tar_read(&u->tar, text + n, (size_t)f->size - n, e)) > 0)
		n += (size_t)got;
	int rc = (int)got;
	if (!rc && (n < magic || memcmp(text, BUNDLE_MAGIC_LINE, stem)))
		rc = err_set(e, ERR_FORMAT, "%s: not a bundle: its %s is another program's",
			     u->name, BUNDLE_MANIFEST);
	if (!rc && memcmp(text, BUNDLE_MAGIC_LINE, magic))
		rc = err_set(e, ERR_UNSUPPORTED, "%s: a bundle of a newer perfkit", u->name);
	if (!rc)
		rc = begin(u, text, n, e);
	mem_free(text);
	return rc;
}

/* The entries after the MANIFEST, in their layout. */
static int unpack_bundle(struct unpacker *u, const struct tar_entry *first, struct err *e)
{
	struct tar_entry f;
	int rc = read_manifest(u, first, e);
	u->tar.lenient = 0;
	while (!rc && (rc = tar_next(&u->tar, &f, e)) == 1) {
		/* a bundle may not contain that name */
		if (!strcmp(f.name, PARTIAL))
			rc = err_set(e, ERR_REFUSED, "%s: refused: it holds a %s", u->name,
				     PARTIAL);
		else if (f.is_dir)
			rc = tree_mkdir(&u->to, f.name, e);
		else
			rc = tree_put_entry(&u->to, f.name, NULL, 0, &u->tar, e);
	}
	return rc;
}

/* --- perf archive --all ------------------------------------------------------------------ */

#define SYMBOLS "perf.symbols.tar.bz2"

/* Unpack the inner tarball, by way of a file, into debug/. */
static int unpack_symbols(struct unpacker *u, struct err *e)
{
	char path[4200], debug[4200];
	struct source src;
	int rc = tree_put_entry(&u->to, SYMBOLS, NULL, 0, &u->tar, e);
	snprintf(path, sizeof(path), "%s/" SYMBOLS, u->to.dir);
	snprintf(debug, sizeof(debug), "%s/debug", u->to.dir);
	if (!rc && !(rc = source_open(&src, path, e))) {
		rc = perf_archive_unpack(&src, debug, u->zip, e);
		source_close(&src);
	}
	unlinkat(u->to.fd, SYMBOLS, 0);
	return rc;
}

/* The recording, under the name that perf archive got: a file, or the folder `root` with files
 * in it. */
static int unpack_recording(struct unpacker *u, const struct tar_entry *f, const char *root,
			    struct err *e)
{
	char magic[8], to[TAR_NAME_MAX + 16] = RECORDING;
	size_t n = strlen(root);
	if (n && !strncmp(f->name, root, n) && f->name[n] == '/') {
		snprintf(to, sizeof(to), RECORDING "%s", f->name + n);
		return tree_put_entry(&u->to, to, NULL, 0, &u->tar, e);
	}
	int64_t got = tar_read(&u->tar, magic, sizeof(magic), e);
	if (got < 0)
		return (int)got;
	if (n || got < 8 || (memcmp(magic, "PERFILE2", 8) && memcmp(magic, "2ELIFREP", 8)))
		return not_a_bundle(u, e);
	return tree_put_entry(&u->to, to, magic, 8, &u->tar, e);
}

static int unpack_archive(struct unpacker *u, const struct tar_entry *first, struct err *e)
{
	static const char manifest[] = BUNDLE_MAGIC_LINE "made-by perf archive\n";
	char root[TAR_NAME_MAX + 1] = "";
	struct tar_entry f = *first;
	int rc = 0, more = 1;
	if (perf_archive_begins(&f))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s: holds files by build-id, as perf archive packs them, but "
			       "no recording: name the recording, and this with --buildid-dir",
			       u->name);
	if (f.is_dir)
		snprintf(root, sizeof(root), "%s", f.name);
	for (; !rc && more == 1; more = rc ? 0 : tar_next(&u->tar, &f, e)) {
		if (f.is_dir)
			continue;
		if (f.is_link)
			rc = not_a_bundle(u, e);
		else if (!strcmp(path_base(f.name), SYMBOLS))
			rc = unpack_symbols(u, e);
		else
			rc = unpack_recording(u, &f, root, e);
	}
	if (!rc && more < 0)
		rc = more;
	return rc ? rc : begin(u, manifest, sizeof(manifest) - 1, e);
}

/* ----------------------------------------------------------------------------------------- */

static int unpack_all(struct unpacker *u, struct err *e)
{
	struct tar_entry f;
	int rc = tar_next(&u->tar, &f, e);
	if (rc < 0)
		return err_prefix(e, "neither a recording nor a bundle");
	if (!rc)
		return not_a_bundle(u, e);
	if (!f.is_dir && !f.is_link && !strcmp(f.name, BUNDLE_MANIFEST))
		rc = unpack_bundle(u, &f, e);
	else
		rc = unpack_archive(u, &f, e);
	if (!rc)
		rc = unzip_drain(u->zip,
				 e); /* checks what follows the end-of-archive mark, too */
	if (!rc && renameat(u->to.fd, PARTIAL, u->to.fd, BUNDLE_MANIFEST))
		rc = err_sys(e, "%s/%s", u->to.dir, BUNDLE_MANIFEST);
	return rc;
}

int bundle_unpack(struct source *src, const char *dir, int flags, struct bundle_counts *counts,
		  struct err *e)
{
	struct unpacker u = {.name = src->name};
	int rc = unzip_open(&u.zip, src, e);
	if (rc)
		return rc == ERR_FORMAT ? err_prefix(e, "neither a recording nor a bundle")
					: rc;
	u.tar = (struct tar_reader){
		.read = unzip_read, .ctx = u.zip, .name = src->name, .lenient = 1};
	rc = tree_open(&u.to, dir, flags & BUNDLE_OVERWRITE, !(flags & BUNDLE_DERIVED), e);
	if (!rc)
		rc = unpack_all(&u, e);
	if (counts)
		*counts = (struct bundle_counts){u.to.files, u.to.bytes};
	tree_close(&u.to);
	tar_reader_release(&u.tar);
	unzip_close(u.zip);
	return rc;
}
