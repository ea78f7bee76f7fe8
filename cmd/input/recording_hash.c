#include "cmd/input/recording_hash.h"
#include "base/digest.h"
#include "base/mem.h"
#include "base/regular.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 18 };

static int must_stop(const int *stop)
{
	return __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Add all that is read from a file. */
static int add_file(struct digest *d, int fd, const int *stop)
{
	ssize_t n = -1;
	uint8_t *chunk = mem_alloc(READ_BYTES);
	if (!chunk)
		return ERR_NOMEM;
	while (!must_stop(stop) &&
	       ((n = read(fd, chunk, READ_BYTES)) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			digest_add(d, chunk, (size_t)n);
	mem_free(chunk);
	return n ? ERR_IO : 0;
}

/* Add a file's bytes to the id; `flags` as of regular_open. */
static int hash_one(int dir, const char *name, unsigned flags, const int *stop, uint64_t *id)
{
	uint8_t sum[DIGEST_BYTES];
	struct digest d;
	struct stat st;
	int fd = regular_open(dir, name, flags, &st), r = fd < 0 ? ERR_IO : 0;
	digest_init(&d);
	digest_add(&d, id, *id ? sizeof(*id) : 0); /* of the files before it */
	r = r ? r : add_file(&d, fd, stop);
	digest_end(&d, sum);
	*id = 0;
	for (size_t i = 0; i < sizeof(*id); i++)
		*id = *id << 8 | sum[i];
	if (fd >= 0)
		close(fd);
	return r;
}

static int is_file(const struct dirent *d)
{
	return *d->d_name != '.';
}

static int hash_folder(const char *path, const int *stop, uint64_t *id)
{
	struct dirent **names;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = fd < 0 ? -1 : scandir(path, &names, is_file, alphasort);
	int r = n > 0 ? 0 : n < 0 && errno == ENOMEM ? ERR_NOMEM : ERR_IO;
	for (int i = 0; i < n; i++) {
		r = r ? r : hash_one(fd, names[i]->d_name, REGULAR_NO_LINK, stop, id);
		mem_free(names[i]);
	}
	if (n >= 0)
		mem_free(names);
	if (fd >= 0)
		close(fd);
	return r;
}

static void *hash_recording(void *hashing)
{
	struct recording_hashing *h = hashing;
	const char *path = h->in->bundle.recording ? h->in->bundle.recording : h->in->path;
	struct stat st;
	uint64_t id = 0;
	unsigned flags = h->in->bundle.recording ? REGULAR_NO_LINK : 0;
	h->rc = !strcmp(path, "-") || stat(path, &st) ? ERR_IO
		: S_ISDIR(st.st_mode)                 ? hash_folder(path, &h->stop, &id)
				      : hash_one(AT_FDCWD, path, flags, &h->stop, &id);
	h->hash = h->rc ? 0 : id & INT64_MAX;
	return NULL;
}

void recording_hash_begin(struct recording_hashing *h, const struct input *in)
{
	*h = (struct recording_hashing){.in = in};
	h->started = !pthread_create(&h->thread, NULL, hash_recording, h);
	if (!h->started)
		hash_recording(h);
}

void recording_hash_stop(struct recording_hashing *h)
{
	__atomic_store_n(&h->stop, 1, __ATOMIC_RELAXED);
}

int recording_hash_end(struct recording_hashing *h, uint64_t *hash)
{
	if (h->started)
		pthread_join(h->thread, NULL);
	*hash = h->hash;
	return h->rc == ERR_NOMEM ? ERR_NOMEM : 0;
}
