#include "cmd/input/recording_hash.h"
#include "base/hash.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A fixed key, because the id of a file must be the same on every machine. */
static void id_key(uint8_t key[HASH_KEY_BYTES])
{
	for (size_t i = 0; i < HASH_KEY_BYTES; i++)
		key[i] = (uint8_t)(hash_u64(i + 1) >> 24);
}

/* Add a file's bytes to the id. */
static int hash_one(int dir, const char *name, const int *stop, uint64_t *id)
{
	uint8_t key[HASH_KEY_BYTES], sum[16];
	uint64_t size = 0, low = 0;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int r = fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ? ERR_IO : 0;
	id_key(key);
	r = r ? r : hash_file_keyed(fd, key, stop, sum, &size);
	for (size_t i = 0; !r && i < 8; i++)
		low = low << 8 | sum[i];
	*id = hash_u64(*id ^ low) + size;
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
		r = r ? r : hash_one(fd, names[i]->d_name, stop, id);
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
	h->rc = !strcmp(path, "-") || stat(path, &st) ? ERR_IO
		: S_ISDIR(st.st_mode)                 ? hash_folder(path, &h->stop, &id)
						      : hash_one(AT_FDCWD, path, &h->stop, &id);
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
