/*
 * file_ids.h - puts build-ids into a stream's mappings, as `perf record --buildid-mmap` does,
 * from the files that are mapped on this host at that moment. Linux lets only one recording of
 * a host have them safely (docs/recording.md); without them a saved recording has no names
 * elsewhere.
 */
#ifndef LIBTIME_WATCH_FILE_IDS_H
#define LIBTIME_WATCH_FILE_IDS_H

#include "base/text/buf.h"
#include "libparse/record.h"
#include "libsym/elf/elf_file.h"

enum { FILE_IDS = 4096 };

/* A file that was read; id.len 0: it has none. */
struct known_file {
	uint64_t dev, ino;
	int64_t mtime_ns, ctime_ns;
	struct build_id id;
};

/* Zero-initialized: empty. */
struct file_ids {
	struct known_file *files; /* FILE_IDS, by hash; a later file replaces another */
	struct buf record;
};

/*
 * A mapping without a build-id whose file is still there, by its device and inode (the kernel
 * and its modules by name): *r becomes an MMAP2 with that id, borrowed until the next call.
 * Other records stay. ERR_NOMEM.
 */
int file_ids_fill(struct file_ids *f, struct record *r);

/* Release everything. */
void file_ids_release(struct file_ids *f);

#endif
