#include "libsym/elf/elf_file.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "libsym/elf/decompress.h"
#include "libsym/elf/read_file.h"

#include <errno.h>
#include <string.h>

/* ELFCOMPRESS_ZSTD of gABI 2022; elf.h of glibc 2.36 lacks it. */
enum { COMPRESS_ZLIB = 1, COMPRESS_ZSTD = 2 };

/* Ceiling for one inflated section or module. */
static const size_t INFLATE_MAX = (size_t)1 << (sizeof(size_t) > 4 ? 32 : 30);

/* Linux runs no program with more than 64 KiB of program headers (fs/binfmt_elf.c). */
enum { SEGMENTS_MAX = 65536 / sizeof(Elf64_Phdr) };

/* A decompressed section. */
struct elf_inflated {
	struct elf_inflated *next;
	size_t index;
	uint8_t *data;
	size_t size;
};

/* --- opening ---------------------------------------------------------------------------- */

static int ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);
	return n >= t && !strcmp(s + n - t, tail);
}

/* Replace the mapping of a compressed module by its content. */
static int inflate_module(struct elf_file *f, struct err *e)
{
	enum decompress_kind kind;
	if (ends_with(f->path, ".ko.xz"))
		kind = DECOMPRESS_XZ;
	else if (ends_with(f->path, ".ko.zst"))
		kind = DECOMPRESS_ZSTD;
	else if (ends_with(f->path, ".ko.gz"))
		kind = DECOMPRESS_ZLIB;
	else
		return 0;
	uint8_t *data;
	size_t size;
	int rc = decompress(kind, f->data, f->size, INFLATE_MAX, f->path, &data, &size, e);
	if (rc)
		return rc;
	f->packed = f->data;
	f->packed_size = f->size;
	f->data = data;
	f->size = size;
	f->writable_copy = 1;
	return 0;
}

/* --- headers ---------------------------------------------------------------------------- */

static int bad(const struct elf_file *f, const char *what, struct err *e)
{
	return err_set(e, ERR_FORMAT, "%s: %s", f->path, what);
}

static int table_fits(const struct elf_file *f, uint64_t off, uint64_t n, uint64_t entsize)
{
	if (!n)
		return 1;
	return off <= f->size && entsize && n <= (f->size - off) / entsize;
}

static int read_headers(struct elf_file *f, struct err *e)
{
	const uint8_t *id = f->data;
	if (f->size < EI_NIDENT || memcmp(id, ELFMAG, SELFMAG) != 0)
		return bad(f, "not an ELF file", e);
	if ((id[EI_CLASS] != ELFCLASS32 && id[EI_CLASS] != ELFCLASS64) ||
	    (id[EI_DATA] != ELFDATA2LSB && id[EI_DATA] != ELFDATA2MSB))
		return bad(f, "ELF of an unknown class or byte order", e);
	f->swap = (id[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	elf_version(EV_CURRENT);
	errno = 0;
	f->elf = elf_memory((char *)(uintptr_t)f->data, f->size);
	if (!f->elf && errno == ENOMEM)
		return err_nomem(e);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->ehdr))
		return bad(f, "the ELF header is damaged", e);
	size_t phnum, shnum;
	if (elf_getphdrnum(f->elf, &phnum) || elf_getshdrnum(f->elf, &shnum))
		return bad(f, "the ELF header is damaged", e);
	if (!table_fits(f, f->ehdr.e_phoff, phnum, f->ehdr.e_phentsize))
		return bad(f, "the program headers lie outside the file", e);
	if (!table_fits(f, f->ehdr.e_shoff, shnum, f->ehdr.e_shentsize))
		return bad(f, "the section headers lie outside the file", e);
	return 0;
}

static int read_segments(struct elf_file *f, struct err *e)
{
	VEC(struct elf_segment) v = {0};
	size_t n = 0;
	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(f->elf, (int)i, &p))
			break;
		if (p.p_type != PT_LOAD)
			continue;
		struct elf_segment s = {.vaddr = p.p_vaddr,
					.offset = p.p_offset,
					.filesz = p.p_filesz,
					.memsz = p.p_memsz,
					.flags = p.p_flags};
		if (vec_push(&v, s)) {
			vec_release(&v);
			return err_nomem(e);
		}
	}
	f->segments = v.v;
	f->nsegments = v.n;
	return 0;
}

/* *left: bytes that may still be searched. It bounds the reading of overlapping notes. */
static int id_from_range(struct elf_file *f, uint64_t off, uint64_t size, uint64_t align,
			 size_t *left)
{
	if (off > f->size || size > f->size - off || size > *left)
		return 0;
	*left -= size;
	return build_id_from_notes(f->data + off, size, f->swap, align, &f->id);
}

/* Sections first: a .debug file has the PT_NOTE of the original without its bytes. */
static void read_build_id(struct elf_file *f)
{
	size_t left = f->size;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		GElf_Shdr s;
		if (gelf_getshdr(scn, &s) && s.sh_type == SHT_NOTE &&
		    id_from_range(f, s.sh_offset, s.sh_size, s.sh_addralign, &left))
			return;
	}
	size_t n = 0;
	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr p;
		if (!gelf_getphdr(f->elf, (int)i, &p))
			return;
		if (p.p_type == PT_NOTE &&
		    id_from_range(f, p.p_offset, p.p_filesz, p.p_align, &left))
			return;
	}
}

/* Cut the names after the last terminated one: libelf's elf_strptr searches for the end each
 * time. */
static void find_names(struct elf_file *f)
{
	size_t strndx;
	GElf_Shdr s;
	Elf_Scn *scn = elf_getshdrstrndx(f->elf, &strndx) ? NULL : elf_getscn(f->elf, strndx);
	if (!scn || !gelf_getshdr(scn, &s) || s.sh_type != SHT_STRTAB ||
	    s.sh_offset > f->size || s.sh_size > f->size - s.sh_offset)
		return;
	f->names = (const char *)f->data + s.sh_offset;
	f->names_size = s.sh_size;
	while (f->names_size && f->names[f->names_size - 1])
		f->names_size--;
}

static struct elf_file *file_new(const char *path, struct err *e)
{
	struct elf_file *f = mem_zalloc(1, sizeof(*f));
	if (f && (f->path = mem_strdup(path)))
		return f;
	mem_free(f);
	err_nomem(e);
	return NULL;
}

static int file_finish(struct elf_file *f, struct elf_file **out, struct err *e)
{
	int rc = read_headers(f, e);
	if (!rc)
		rc = read_segments(f, e);
	if (rc)
		return rc;
	read_build_id(f);
	find_names(f);
	f->packed_left = f->size;
	*out = f;
	return 0;
}

static int open_either(int fd, const char *path, struct elf_file **out, struct err *e)
{
	*out = NULL;
	struct elf_file *f = file_new(path, e);
	if (!f)
		return ERR_NOMEM;
	int rc = fd < 0 ? map_file(path, &f->data, &f->size, e)
			: map_fd(fd, path, &f->data, &f->size, e);
	if (!rc)
		rc = inflate_module(f, e);
	if (!rc)
		rc = file_finish(f, out, e);
	if (rc)
		elf_file_close(f);
	return rc;
}

int elf_file_open(const char *path, struct elf_file **out, struct err *e)
{
	return open_either(-1, path, out, e);
}

int elf_file_open_fd(int fd, const char *path, struct elf_file **out, struct err *e)
{
	return open_either(fd, path, out, e);
}

int elf_file_open_mem(const void *data, size_t size, const char *name, struct elf_file **out,
		      struct err *e)
{
	*out = NULL;
	struct elf_file *f = file_new(name, e);
	if (!f)
		return ERR_NOMEM;
	f->data = data;
	f->size = size;
	f->borrowed = 1;
	int rc = file_finish(f, out, e);
	if (rc)
		elf_file_close(f);
	return rc;
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	for (struct elf_inflated *p = f->inflated, *next; p; p = next) {
		next = p->next;
		mem_free(p->data);
		mem_free(p);
	}
	if (f->writable_copy)
		mem_free((void *)(uintptr_t)f->data);
	else if (!f->borrowed)
		unmap_file(f->data, f->size);
	unmap_file(f->packed, f->packed_size);
	mem_free(f->segments);
	mem_free(f->path);
	mem_free(f);
}

void elf_file_drop_pages(const struct elf_file *f)
{
	if (f && !f->writable_copy && !f->borrowed && f->size)
		os_drop_pages((void *)(uintptr_t)f->data, f->size);
}

/* --- sections --------------------------------------------------------------------------- */

/* 1 when the section is `name`, 2 when it is its .zdebug twin, else 0. */
static int name_matches(const char *have, const char *name)
{
	if (!strcmp(have, name))
		return 1;
	if (!strncmp(name, ".debug_", 7) && !strncmp(have, ".zdebug_", 8) &&
	    !strcmp(have + 8, name + 7))
		return 2;
	return 0;
}

const char *elf_file_section_name(const struct elf_file *f, const GElf_Shdr *s)
{
	return s->sh_name < f->names_size ? f->names + s->sh_name : "";
}

static Elf_Scn *find_section(struct elf_file *f, const char *name, GElf_Shdr *shdr, int *kind)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(f->elf, scn));) {
		if (!gelf_getshdr(scn, shdr))
			continue;
		*kind = name_matches(elf_file_section_name(f, shdr), name);
		if (*kind)
			return scn;
	}
	return NULL;
}

/* The compression header (gABI Elf64_Chdr, or "ZLIB" + big-endian size before a .zdebug). */
static int compression(struct elf_file *f, const char *name, int zdebug, struct bytes *b,
		       enum decompress_kind *kind, uint64_t *size, struct err *e)
{
	if (zdebug) {
		const void *magic = bytes_take(b, 4);
		*kind = DECOMPRESS_ZLIB;
		b->swap = __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__;
		*size = bytes_u64(b);
		if (!magic || !bytes_ok(b) || memcmp(magic, "ZLIB", 4) != 0)
			return err_set(e, ERR_FORMAT, "%s: %s: no ZLIB header", f->path, name);
		return 0;
	}
	uint32_t type = bytes_u32(b);
	if (f->data[EI_CLASS] == ELFCLASS64) {
		bytes_skip(b, 4);
		*size = bytes_u64(b);
		bytes_skip(b, 8);
	} else {
		*size = bytes_u32(b);
		bytes_skip(b, 4);
	}
	if (!bytes_ok(b))
		return err_set(e, ERR_FORMAT, "%s: %s: truncated compression header", f->path,
			       name);
	if (type != COMPRESS_ZLIB && type != COMPRESS_ZSTD)
		return err_set(e, ERR_UNSUPPORTED, "%s: %s: unknown compression %u", f->path,
			       name, type);
	*kind = type == COMPRESS_ZLIB ? DECOMPRESS_ZLIB : DECOMPRESS_ZSTD;
	return 0;
}

static int inflate_section(struct elf_file *f, size_t index, const char *name, int zdebug,
			   const GElf_Shdr *s, struct elf_inflated **out, struct err *e)
{
	for (struct elf_inflated *p = f->inflated; p; p = p->next)
		if (p->index == index) {
			*out = p;
			return 0;
		}
	if (s->sh_size > f->packed_left)
		return err_set(e, ERR_LIMIT, "%s: compressed sections overlap", f->path);
	f->packed_left -= s->sh_size;
	struct bytes b = bytes_init(f->data + s->sh_offset, s->sh_size, f->swap);
	enum decompress_kind kind;
	uint64_t size;
	int rc = compression(f, name, zdebug, &b, &kind, &size, e);
	if (rc)
		return rc;
	struct elf_inflated *p = mem_zalloc(1, sizeof(*p));
	if (!p)
		return err_nomem(e);
	rc = decompress(kind, b.p, bytes_left(&b), size < INFLATE_MAX ? size : INFLATE_MAX,
			f->path, &p->data, &p->size, e);
	if (!rc && p->size != size) {
		mem_free(p->data);
		rc = err_set(e, ERR_FORMAT, "%s: %s: inflates to %zu bytes, %llu announced",
			     f->path, name, p->size, (unsigned long long)size);
	}
	if (rc) {
		mem_free(p);
		return rc;
	}
	p->index = index;
	p->next = f->inflated;
	f->inflated = p;
	*out = p;
	return 0;
}

int elf_file_section(struct elf_file *f, const char *name, GElf_Shdr *shdr,
		     const uint8_t **data, size_t *size, struct err *e)
{
	int kind = 0;
	*data = NULL;
	*size = 0;
	Elf_Scn *scn = find_section(f, name, shdr, &kind);
	if (!scn || shdr->sh_type == SHT_NOBITS)
		return 0;
	if (shdr->sh_offset > f->size || shdr->sh_size > f->size - shdr->sh_offset)
		return err_set(e, ERR_FORMAT, "%s: section %s lies outside the file", f->path,
			       name);
	if (kind == 2 || (shdr->sh_flags & SHF_COMPRESSED)) {
		struct elf_inflated *p = NULL;
		int rc = inflate_section(f, elf_ndxscn(scn), name, kind == 2, shdr, &p, e);
		if (rc)
			return rc;
		*data = p->data;
		*size = p->size;
		return 1;
	}
	*data = f->data + shdr->sh_offset;
	*size = shdr->sh_size;
	return 1;
}

/* --- addresses -------------------------------------------------------------------------- */

/* vaddr of an offset by the allocated sections, for files without PT_LOAD. */
static int section_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr)
{
	Elf_Scn *scn = NULL;
	for (int i = 0; i < SEGMENTS_MAX && (scn = elf_nextscn(f->elf, scn)); i++) {
		GElf_Shdr s;
		if (!gelf_getshdr(scn, &s) || !(s.sh_flags & SHF_ALLOC) ||
		    s.sh_type == SHT_NOBITS)
			continue;
		if (offset >= s.sh_offset && offset - s.sh_offset < s.sh_size) {
			*vaddr = s.sh_addr + (offset - s.sh_offset);
			return 1;
		}
	}
	return 0;
}

/* 1 when the segment, widened to pages of `page` bytes, contains the file offset. */
static int holds(const struct elf_segment *s, uint64_t offset, uint64_t page)
{
	uint64_t lo = s->offset & ~(page - 1), hi;
	if (__builtin_add_overflow(s->offset, s->filesz, &hi))
		return 0;
	if (page > 1 && __builtin_add_overflow(hi, page - 1, &hi))
		return 0;
	hi &= ~(page - 1);
	return s->filesz && offset >= lo && offset < hi;
}

int elf_file_vaddr(const struct elf_file *f, uint64_t offset, uint64_t *vaddr)
{
	if (!f->nsegments)
		return section_vaddr(f, offset, vaddr);
	/* Linkers for arm64 align segments for pages of up to 64 KiB. */
	const uint64_t pages[] = {1, f->ehdr.e_machine == EM_AARCH64 ? 65536 : 4096};
	for (size_t k = 0; k < 2; k++) {
		const struct elf_segment *hit = NULL;
		for (size_t i = 0; i < f->nsegments; i++) {
			const struct elf_segment *s = &f->segments[i];
			if (holds(s, offset, pages[k]) &&
			    (!hit || (!(hit->flags & PF_X) && (s->flags & PF_X))))
				hit = s;
		}
		if (hit) {
			*vaddr = offset - hit->offset + hit->vaddr;
			return 1;
		}
	}
	return 0;
}
