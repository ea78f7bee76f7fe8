#include "libtime/watch/file_ids.h"
#include "base/hash.h"
#include "base/mem.h"
#include "libparse/linux_mmap.h"
#include "libsym/elf/kallsyms.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* MMAP2: pid, tid, address, length, offset; the file or its build-id; protection, flags, name */
enum {
	KEPT = RECORD_HEADER_SIZE + 32,
	FILE_SIZE = 24,
	ID_AT = 4,
	MODES = 8,
	KERNEL = -1,
};

static int64_t ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const struct build_id *id_of_file(struct file_ids *f, const char *path,
					 const struct stat *st)
{
	struct known_file now = {.dev = st->st_dev,
				 .ino = st->st_ino,
				 .mtime_ns = ns_of(st->st_mtim),
				 .ctime_ns = ns_of(st->st_ctim)};
	struct known_file *x = &f->files[hash_u64(now.ino ^ now.dev << 32) % FILE_IDS];
	struct elf_file *elf;
	if (x->dev == now.dev && x->ino == now.ino && x->mtime_ns == now.mtime_ns &&
	    x->ctime_ns == now.ctime_ns)
		return &x->id;
	if (!S_ISREG(st->st_mode))
		return NULL;
	if (!elf_file_open(path, &elf, NULL)) {
		now.id = elf->id;
		elf_file_close(elf);
	}
	*x = now;
	return &x->id;
}

/* The mapped file itself, as long as the process has it; else the file of that path, if it is
 * the same one. Some file systems (overlays, btrfs) have one device number here and another in
 * mappings. */
static const struct build_id *id_of_mapping(struct file_ids *f, const struct record_mmap *m)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", m->pid,
		 (unsigned long long)m->addr, (unsigned long long)(m->addr + m->len));
	if (!stat(path, &st) && st.st_ino == m->ino)
		return id_of_file(f, path, &st);
	if (!stat(m->filename, &st) && st.st_ino == m->ino &&
	    major(st.st_dev) == m->dev_major && minor(st.st_dev) == m->dev_minor)
		return id_of_file(f, m->filename, &st);
	return NULL;
}

/* The kernel, or a module: "[name]" or ".../name.ko.xz". */
static int id_of_kernel(const char *name, struct build_id *id)
{
	char path[128], plain[64];
	const char *base = strrchr(name, '/');
	size_t n = 0;
	if (!strncmp(name, "[kernel", 7))
		return !kernel_notes_build_id("/sys/kernel/notes", id, NULL);
	for (base = base ? base + 1 : name + (*name == '[');
	     n < sizeof(plain) - 1 && *base && !strchr("].", *base); base++)
		plain[n++] = *base == '-' ? '_' : *base;
	plain[n] = '\0';
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", plain);
	return n && !kernel_notes_build_id(path, id, NULL);
}

/* MMAP has neither a file's number nor protection and flags. */
static int write_record(struct file_ids *f, struct record *r, const struct build_id *id)
{
	static const uint8_t modes[MODES] = {LINUX_PROT_EXEC, 0, 0, 0, LINUX_MAP_PRIVATE};
	uint8_t bytes[FILE_SIZE] = {id->len};
	size_t rest = KEPT + (r->type == PERF_RECORD_MMAP2 ? FILE_SIZE : 0);
	struct perf_event_header {
		uint32_t type;
		uint16_t misc, size;
	} header = {PERF_RECORD_MMAP2, (uint16_t)(r->misc | PERF_RECORD_MISC_MMAP_BUILD_ID), 0};
	memcpy(bytes + ID_AT, id->v, id->len);
	buf_clear(&f->record);
	buf_add(&f->record, r->p, KEPT);
	buf_add(&f->record, bytes, FILE_SIZE);
	if (r->type == PERF_RECORD_MMAP)
		buf_add(&f->record, modes, MODES);
	buf_add(&f->record, r->p + rest, r->size - rest);
	if (buf_failed(&f->record))
		return ERR_NOMEM;
	if (f->record.n > UINT16_MAX)
		return 0;
	header.size = (uint16_t)f->record.n;
	memcpy(f->record.v, &header, sizeof(header));
	record_view((const uint8_t *)f->record.v, 0, r);
	return 0;
}

int file_ids_fill(struct file_ids *f, struct record *r)
{
	struct record_mmap m;
	struct build_id kernel;
	const struct build_id *id = NULL;
	if ((r->type != PERF_RECORD_MMAP && r->type != PERF_RECORD_MMAP2) ||
	    record_mmap_decode(r, 0, &m, NULL) || m.build_id_size)
		return 0;
	if (!f->files)
		f->files = mem_zalloc(FILE_IDS, sizeof(*f->files));
	if (!f->files)
		return ERR_NOMEM;
	if (m.pid == KERNEL)
		id = id_of_kernel(m.filename, &kernel) ? &kernel : NULL;
	else if (m.ino && m.filename[0] == '/')
		id = id_of_mapping(f, &m);
	return id && id->len ? write_record(f, r, id) : 0;
}

void file_ids_release(struct file_ids *f)
{
	mem_free(f->files);
	buf_release(&f->record);
}
