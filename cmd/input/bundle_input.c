#include "cmd/input/bundle_input.h"
#include "base/text/buf.h"
#include "base/mem.h"
#include "cmd/input/bundle_cache.h"
#include "cmd/input/scratch.h"
#include "libparse/archive/bundle.h"
#include "libparse/archive/perf_archive.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *below(const char *dir, const char *name)
{
	struct buf b = {0};
	buf_fmt(&b, "%s/%s", dir, name);
	buf_cstr(&b); /* ends in a NUL */
	if (!b.failed)
		return b.v; /* heap (mem.h), owned by the caller */
	buf_release(&b);
	return NULL;
}

static int locate(struct bundle_input *out, const char *dir, struct err *e)
{
	out->dir = mem_strdup(dir);
	out->recording = below(dir, "perf.data");
	out->symfs = below(dir, "symfs");
	out->buildid_dir = below(dir, "debug");
	return out->dir && out->recording && out->symfs && out->buildid_dir ? 0 : err_nomem(e);
}

/* A name below the scratch folder for each archive of this process, on the heap. */
static int scratch_name(char **dir, struct err *e)
{
	static unsigned count;
	const char *scratch;
	char number[16];
	int rc = scratch_dir(&scratch, e);
	if (rc)
		return rc;
	snprintf(number, sizeof(number), "%u", count++);
	*dir = below(scratch, number);
	return *dir ? 0 : err_nomem(e);
}

static int unpack(struct bundle_input *out, struct source *src, int cache, char **dir,
		  struct err *e)
{
	struct bundle_cached at = {.lock = -1};
	int rc = cache ? bundle_cache_get(src, &at, e) : 0;
	out->cached = at.lock + 1;
	out->cache_grown = at.grown;
	*dir = at.tree;
	if (rc)
		return rc < 0 ? rc : 0;
	rc = scratch_name(dir, e);
	return rc ? rc : bundle_unpack(src, *dir, 0, NULL, e);
}

/* Replace the bundle by its recording, under the bundle's name. */
static int open_recording(const struct bundle_input *b, const char *path, struct source *src,
			  struct err *e)
{
	struct stat st;
	uint64_t origin = source_origin(src);
	source_close(src);
	if (stat(b->recording, &st))
		return err_set(e, ERR_FORMAT, "%s: a bundle without a perf.data", path);
	if (S_ISDIR(st.st_mode))
		return 0;
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FORMAT, "%s: its perf.data is not a regular file", path);
	int rc = source_open(src, b->recording, e);
	char *name = rc ? NULL : mem_strdup(path);
	if (rc || !name)
		return rc ? rc : err_nomem(e);
	mem_free(src->name);
	src->name = name;
	src->origin = origin;
	return 0;
}

int bundle_input_open(struct bundle_input *out, const char *path, struct source *src, int cache,
		      struct err *e)
{
	const uint8_t *head;
	size_t n;
	char *dir = NULL;
	int rc = 0;
	*out = (struct bundle_input){0};
	if (!src->data && src->fd < 0) {
		if (!bundle_is_dir(path))
			return 0;
		rc = locate(out, path, e);
		return rc ? rc : open_recording(out, path, src, e);
	}
	rc = source_peek(src, &head, &n, e);
	if (rc || !bundle_detect(head, n))
		return rc;
	rc = unpack(out, src, cache, &dir, e);
	if (!rc)
		rc = locate(out, dir, e);
	if (!rc)
		rc = open_recording(out, path, src, e);
	mem_free(dir);
	return rc;
}

int bundle_input_archive(struct bundle_input *out, const char *path, struct err *e)
{
	struct source src;
	char *dir = NULL;
	int rc = source_open(&src, path, e);
	if (rc)
		return rc;
	rc = scratch_name(&dir, e);
	if (!rc)
		rc = perf_archive_unpack(&src, dir, NULL, e);
	source_close(&src);
	if (rc) {
		mem_free(dir);
		return rc;
	}
	mem_free(out->buildid_dir);
	out->buildid_dir = dir;
	return 0;
}

void bundle_input_release(struct bundle_input *b)
{
	mem_free(b->dir);
	mem_free(b->recording);
	mem_free(b->symfs);
	mem_free(b->buildid_dir);
	if (b->cached)
		close(b->cached - 1);
	*b = (struct bundle_input){0};
}
