/*
 * elf_file.h - one ELF file, opened safely and mapped read-only, for symtab.h, cfi.h and
 * debug_info.h.
 *
 * The path may come from an untrusted recording: only regular files are opened (O_NONBLOCK,
 * fstat, no fifo, no device), libelf gets the mapped memory, never the path. A file that is not
 * ELF, or whose headers point outside of it, is refused with one line. 32 and 64 bits, both
 * byte orders. One object belongs to one thread at a time.
 */
#ifndef LIBSYM_ELF_ELF_FILE_H
#define LIBSYM_ELF_ELF_FILE_H

#include "base/bytes.h"
#include "base/err.h"

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BUILD_ID_MAX = 20 };

/* A build-id as recorded by perf or found in .note.gnu.build-id; len 0 means "none known".
 * Shorter ids (md5, 16 bytes) keep their length; longer ones are cut at 20, as perf does. */
struct build_id {
	uint8_t len;
	uint8_t v[BUILD_ID_MAX];
};

/* The file that was mapped, as MMAP2 records it. ino 0: not recorded. */
struct file_id {
	uint64_t ino;
	uint64_t generation; /* of the inode number, which is used again; 0: not recorded */
	uint32_t dev_major, dev_minor;
	int64_t mapped_ns;   /* when it was first mapped, since 1970: what was written into it
			      later is not what ran; 0: not known */
	uint8_t id_read;     /* the kernel read the file's build-id as it mapped it */
	uint8_t shared_path; /* several files had its path: only this very file may be used */
	uint8_t id_of_path;  /* its build-id is that of the file at its path in the end */
};

/* 1 when both may be one file: the same device and inode, no two generations. */
int file_id_fits(const struct file_id *a, const struct file_id *b);

/* 1 when both are known and equal over the shorter length perf may have padded with zeroes. An
 * id of only zeroes counts as unknown. */
int build_id_equal(const struct build_id *a, const struct build_id *b);

/* Lower-case hex into out (2 * BUILD_ID_MAX + 1 bytes); "" when unknown. Returns out. */
char *build_id_hex(const struct build_id *id, char *out);

/* Parse hex; 0, or ERR_FORMAT for an odd length, other characters or more than 20 bytes. */
int build_id_parse(const char *hex, struct build_id *id);

/*
 * The NT_GNU_BUILD_ID note among ELF notes (elf.h Elf64_Nhdr: namesz, descsz, type, then both
 * texts padded to `align`, 4 or 8), as in .note.gnu.build-id, a PT_NOTE or /sys/kernel/notes;
 * `swap` when they have the other byte order. 1 and *id, or 0 when there is none.
 */
int build_id_from_notes(const void *notes, size_t size, int swap, size_t align,
			struct build_id *id);

struct elf_segment { /* a PT_LOAD */
	uint64_t vaddr, offset, filesz, memsz;
	uint32_t flags; /* PF_X ... */
};

struct elf_file {
	char *path; /* for messages */
	const uint8_t
		*data; /* the mapped file; if the file shrinks, the caller handles SIGBUS */
	size_t size;
	Elf *elf; /* libelf's handle of the same memory */
	GElf_Ehdr ehdr;
	struct build_id id;
	struct elf_segment *segments;
	size_t nsegments;
	int writable_copy; /* data is a private heap copy (compressed module), not a mapping */
	const uint8_t *packed; /* … and that module as it lies there, mapped; else NULL */
	size_t packed_size;
	int has_owner; /* `owner` is that of the file, which was found where it was recorded */
	uid_t owner;
	int borrowed;      /* data belongs to the caller (elf_file_open_mem) */
	const char *names; /* of sections; names_size bytes that end in a NUL */
	size_t names_size;
	size_t packed_left; /* bytes that may still be inflated from compressed sections */
	int swap;           /* the file has the other byte order than this host */
	struct elf_inflated *inflated; /* decompressed sections, kept for the object's life */
};

/*
 * Open and map `path`. *out is heap-allocated, freed by elf_file_close. ERR_NOTFOUND when there
 * is no such file, ERR_UNSUPPORTED for a special file (also everything on procfs, sysfs,
 * debugfs, tracefs), ERR_FORMAT for an invalid ELF file, ERR_IO, ERR_NOMEM. Files ending in
 * .ko.xz/.ko.zst/.ko.gz are inflated into memory.
 */
int elf_file_open(const char *path, struct elf_file **out, struct err *e);

/* The same for an open file, which stays open. */
int elf_file_open_fd(int fd, const char *path, struct elf_file **out, struct err *e);

/* The same for memory, borrowed for the life of the object; `name` is for messages. */
int elf_file_open_mem(const void *data, size_t size, const char *name, struct elf_file **out,
		      struct err *e);

/* Drop the mapped file's pages from memory, for files that are read once, such as symbol
 * tables; a later read loads them again. NULL is accepted. */
void elf_file_drop_pages(const struct elf_file *f);

/* NULL is accepted. */
void elf_file_close(struct elf_file *f);

/*
 * Section by name: 1 and *shdr, *data, *size (borrowed, they live as long as `f`;
 * SHF_COMPRESSED and .zdebug sections are inflated, zlib and zstd), 0 when absent or SHT_NOBITS
 * (then *size is 0), ERR_* when it is there but cannot be read.
 */
int elf_file_section(struct elf_file *f, const char *name, GElf_Shdr *shdr,
		     const uint8_t **data, size_t *size, struct err *e);

/* The name of a section, "" if it is outside of the table. Borrowed; lives as long as `f`. */
const char *elf_file_section_name(const struct elf_file *f, const GElf_Shdr *s);

/*
 * File offset → virtual address through the PT_LOAD that contains the offset (PF_X preferred if
 * several do), else through one that covers it because mappings are whole pages. 1 and *vaddr,
 * or 0. Without PT_LOADs (a jitted-*.so, a .ko) section headers with SHF_ALLOC are used. Use
 * the runtime file: in a .debug file the offsets differ from the mapped ones.
 */
int elf_file_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr);

#endif
