/* elffile: one ELF file opened safely. Truth: what smallelf wrote, and readelf. */
#include "tests/lib/smallelf.h"
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/elf/elf_file.h"

#include <endian.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static const char id_hex[] = "0102030405060708090a0b0c0d0e0f1011121314";

static struct elf_file *open_small(struct smallelf *s)
{
	struct elf_file *f = NULL;
	struct err e = {0};
	assert_int_equal(elf_file_open_mem(s->image, smallelf_finish(s), "small", &f, &e), 0);
	return f;
}

static void build_ids_parse_print_and_compare(void **state)
{
	(void)state;
	struct build_id a, b, zero = {.len = 20};
	char hex[2 * BUILD_ID_MAX + 1];
	assert_int_equal(build_id_parse("00112233445566778899aabbccddeeff", &a), 0);
	assert_int_equal(a.len, 16);
	assert_string_equal(build_id_hex(&a, hex), "00112233445566778899aabbccddeeff");
	assert_int_equal(build_id_parse("00112233445566778899aabbccddeeff00000000", &b), 0);
	assert_true(build_id_equal(&a, &b)); /* perf pads md5 ids with zeroes */
	b.v[19] = 1;
	assert_false(build_id_equal(&a, &b));
	assert_false(build_id_equal(&zero, &zero));
	assert_int_equal(build_id_parse("abc", &a), ERR_FORMAT);
	assert_int_equal(build_id_parse("zz", &a), ERR_FORMAT);
	assert_int_equal(build_id_parse("000102030405060708090a0b0c0d0e0f1011121314", &a),
			 ERR_FORMAT);
}

static void build_id_comes_from_the_section(void **state)
{
	(void)state;
	static struct smallelf s;
	char hex[2 * BUILD_ID_MAX + 1];
	smallelf_init(&s, EM_X86_64);
	struct elf_file *f = open_small(&s);
	assert_string_equal(build_id_hex(&f->id, hex), id_hex);
	elf_file_close(f);
}

static void build_id_comes_from_pt_note_without_sections(void **state)
{
	(void)state;
	static struct smallelf s;
	struct elf_file *f = NULL;
	char hex[2 * BUILD_ID_MAX + 1];
	smallelf_init(&s, EM_X86_64);
	size_t n = smallelf_finish(&s);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)(void *)s.image;
	eh->e_shoff = 0;
	eh->e_shnum = eh->e_shstrndx = 0;
	assert_int_equal(elf_file_open_mem(s.image, n, "small", &f, NULL), 0);
	assert_string_equal(build_id_hex(&f->id, hex), id_hex);
	elf_file_close(f);
}

static void notes_with_eight_byte_alignment_are_walked(void **state)
{
	(void)state;
	/* A property note (descsz 16, aligned 8) in front of the id. */
	const uint32_t gnu = htole32(0x554e47), id_0 = htole32(0x04030201),
		       id_4 = htole32(0x08070605);
	const uint32_t notes[] = {4, 16, 5, gnu, 0xc0000002, 4, 3, 0, 4, 8, 3, gnu, id_0, id_4};
	struct build_id id;
	assert_int_equal(build_id_from_notes(notes, sizeof(notes), 0, 8, &id), 1);
	assert_int_equal(id.len, 8);
	assert_int_equal(id.v[7], 8);
	assert_int_equal(build_id_from_notes(notes, sizeof(notes) - 1, 0, 8, &id), 0);
}

static void special_files_are_refused(void **state)
{
	(void)state;
	char dir[] = "/tmp/perfkit-elf-XXXXXX", path[64];
	struct elf_file *f = NULL;
	struct err e = {0};
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(elf_file_open(path, &f, &e), ERR_UNSUPPORTED);
	unlink(path);
	assert_int_equal(elf_file_open(dir, &f, &e), ERR_UNSUPPORTED);
	assert_int_equal(elf_file_open("/dev/zero", &f, &e), ERR_UNSUPPORTED);
	assert_int_equal(elf_file_open("/proc/self/maps", &f, &e), ERR_UNSUPPORTED);
	assert_int_equal(elf_file_open(path, &f, &e), ERR_NOTFOUND);
	assert_int_equal(elf_file_open("tests/run.sh", &f, &e), ERR_FORMAT);
	assert_string_equal(e.msg, "tests/run.sh: not an ELF file");
	assert_null(f);
	rmdir(dir);
}

static void sections_are_views_and_nobits_is_absent(void **state)
{
	(void)state;
	static struct smallelf s;
	GElf_Shdr sh;
	const uint8_t *data;
	size_t n;
	smallelf_init(&s, EM_X86_64);
	smallelf_section(&s, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, "abc",
			 3);
	smallelf_section(&s, ".bss", SHT_NOBITS, SHF_ALLOC, 0x2000, NULL, 64);
	struct elf_file *f = open_small(&s);
	assert_int_equal(elf_file_section(f, ".text", &sh, &data, &n, NULL), 1);
	assert_int_equal(n, 3);
	assert_ptr_equal(data, s.image + 0x1000);
	assert_int_equal(sh.sh_addr, 0x1000);
	assert_int_equal(elf_file_section(f, ".bss", &sh, &data, &n, NULL), 0);
	assert_int_equal(elf_file_section(f, ".data", &sh, &data, &n, NULL), 0);
	elf_file_close(f);
}

static void compressed_sections_come_inflated(void **state)
{
	(void)state;
	static struct smallelf s;
	static uint8_t plain[3000], z[4096];
	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i * i >> 3);
	smallelf_init(&s, EM_X86_64);
	Elf64_Chdr ch = {.ch_type = htole32(ELFCOMPRESS_ZLIB),
			 .ch_size = htole64(sizeof(plain))};
	uLongf zn = sizeof(z) - sizeof(ch);
	compress(z + sizeof(ch), &zn, plain, sizeof(plain));
	memcpy(z, &ch, sizeof(ch));
	smallelf_section(&s, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, z,
			 zn + sizeof(ch));
	memcpy(z, "ZLIB\0\0\0\0\0\0\x0b\xb8", 12);
	memmove(z + 12, z + sizeof(ch), zn);
	smallelf_section(&s, ".zdebug_line", SHT_PROGBITS, 0, 0, z, zn + 12);
	ch.ch_type = htole32(2); /* ELFCOMPRESS_ZSTD */
	size_t sn =
		ZSTD_compress(z + sizeof(ch), sizeof(z) - sizeof(ch), plain, sizeof(plain), 1);
	memcpy(z, &ch, sizeof(ch));
	smallelf_section(&s, ".debug_str", SHT_PROGBITS, SHF_COMPRESSED, 0, z, sn + sizeof(ch));
	ch.ch_size = htole64(sizeof(plain) - 1);
	memcpy(z, &ch, sizeof(ch));
	smallelf_section(&s, ".debug_lies", SHT_PROGBITS, SHF_COMPRESSED, 0, z,
			 sn + sizeof(ch));
	smallelf_section(&s, ".debug_cut", SHT_PROGBITS, SHF_COMPRESSED, 0, z, sn);

	struct elf_file *f = open_small(&s);
	static const char *const names[] = {".debug_info", ".debug_line", ".debug_str"};
	GElf_Shdr sh;
	const uint8_t *data, *again;
	size_t n;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(elf_file_section(f, names[i], &sh, &data, &n, NULL), 1);
		assert_int_equal(n, sizeof(plain));
		assert_memory_equal(data, plain, sizeof(plain));
		assert_int_equal(elf_file_section(f, names[i], &sh, &again, &n, NULL), 1);
		assert_ptr_equal(data, again);
	}
	assert_true(elf_file_section(f, ".debug_lies", &sh, &data, &n, NULL) < 0);
	assert_int_equal(elf_file_section(f, ".debug_cut", &sh, &data, &n, NULL),
			 ERR_TRUNCATED);
	elf_file_close(f);
}

static void offsets_and_addresses_map_through_segments(void **state)
{
	(void)state;
	static struct smallelf s;
	smallelf_init(&s, EM_X86_64);
	size_t n = smallelf_finish(&s);
	Elf64_Phdr *ph = (Elf64_Phdr *)(void *)(s.image + sizeof(Elf64_Ehdr));
	/* As lld lays it out: both segments share a page of the file, vaddr is not offset. */
	ph[0].p_filesz = ph[0].p_memsz = htole64(0x1100);
	ph[1].p_offset = htole64(0x1100);
	ph[1].p_vaddr = htole64(0x2100);
	ph[1].p_filesz = ph[1].p_memsz = htole64(0x5000);
	struct elf_file *f = NULL;
	uint64_t x;
	assert_int_equal(elf_file_open_mem(s.image, n, "small", &f, NULL), 0);
	assert_true(elf_file_vaddr(f, 0x10ff, &x) && x == 0x10ff);
	assert_true(elf_file_vaddr(f, 0x1100, &x) && x == 0x2100);
	assert_true(elf_file_vaddr(f, 0x60ff, &x) && x == 0x70ff);
	assert_true(elf_file_vaddr(f, 0x6100, &x) && x == 0x7100); /* rest of the last page */
	assert_false(elf_file_vaddr(f, 0x7000, &x));
	elf_file_close(f);
}

/* Open, ask everything, close: nothing may crash whatever the bytes say. */
static void poke(const uint8_t *image, size_t n)
{
	static const char *const names[] = {".note.gnu.build-id", ".text", ".symtab",
					    ".debug_info"};
	struct elf_file *f = NULL;
	struct err e = {0};
	GElf_Shdr sh;
	const uint8_t *data;
	size_t size;
	uint64_t x;
	int rc = elf_file_open_mem(image, n, "damaged", &f, &e);
	if (rc) {
		assert_null(f);
		assert_int_equal(e.code, rc);
		return;
	}
	for (size_t i = 0; i < 4; i++)
		if (elf_file_section(f, names[i], &sh, &data, &size, &e) == 1 && size)
			assert_true(data[0] + data[size - 1] >= 0);
	for (uint64_t a = 0; a < 0x9000; a += 0x7ff)
		elf_file_vaddr(f, a, &x);
	elf_file_close(f);
}

static void damaged_headers_never_crash(void **state)
{
	(void)state;
	static struct smallelf s;
	static uint8_t z[600], plain[2000];
	smallelf_init(&s, EM_X86_64);
	Elf64_Chdr ch = {.ch_type = htole32(ELFCOMPRESS_ZLIB),
			 .ch_size = htole64(sizeof(plain))};
	uLongf zn = sizeof(z) - sizeof(ch);
	compress(z + sizeof(ch), &zn, plain, sizeof(plain));
	memcpy(z, &ch, sizeof(ch));
	smallelf_section(&s, ".debug_info", SHT_PROGBITS, SHF_COMPRESSED, 0, z,
			 zn + sizeof(ch));
	smallelf_symbol(&s, "f", STB_GLOBAL, STT_FUNC, 1, 0x1000, 4);
	size_t n = smallelf_finish(&s);
	uint8_t *copy = mem_alloc(n);
	for (size_t i = 0; i < n; i++) {
		if (i > 0x300 && i < 0x8000)
			continue; /* padding */
		memcpy(copy, s.image, n);
		uint8_t *cut = mem_alloc(i);
		memcpy(cut, s.image, i);
		poke(cut, i);
		mem_free(cut);
		static const uint8_t flips[] = {0xff, 0x01, 0x80};
		for (size_t k = 0; k < sizeof(flips); k++) {
			copy[i] = s.image[i] ^ flips[k];
			poke(copy, n);
		}
	}
	mem_free(copy);
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	static struct smallelf s;
	smallelf_init(&s, EM_X86_64);
	size_t n = smallelf_finish(&s);
	struct elf_file *f = NULL;
	for (long k = 0;; k++) {
		mem_fail_after(k);
		int rc = elf_file_open_mem(s.image, n, "small", &f, NULL);
		mem_fail_after(-1);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
	}
	elf_file_close(f);
}

/* The outside witness: readelf's build-id and .text of this very program. */
static void agrees_with_readelf(void **state)
{
	(void)state;
	char self[512], cmd[700], want[128] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	assert_true(n > 0);
	self[n] = '\0';
	snprintf(cmd, sizeof(cmd),
		 "readelf -SW '%s' 2>/dev/null | "
		 "sed -n 's/.* \\.text  *PROGBITS  *\\([0-9a-f]*\\) \\([0-9a-f]*\\) "
		 "\\([0-9a-f]*\\) .*/\\1 \\2 \\3/p'",
		 self);
	FILE *p = popen(cmd, "r");
	assert_non_null(p);
	if (!fgets(want, sizeof(want), p))
		want[0] = '\0';
	pclose(p);
	if (!want[0])
		skip_because("no readelf here");
	unsigned long long addr, off, size;
	assert_int_equal(sscanf(want, "%llx %llx %llx", &addr, &off, &size), 3);
	struct elf_file *f = NULL;
	GElf_Shdr sh;
	const uint8_t *data;
	size_t got;
	uint64_t x;
	assert_int_equal(elf_file_open(self, &f, NULL), 0);
	assert_int_equal(elf_file_section(f, ".text", &sh, &data, &got, NULL), 1);
	assert_int_equal(sh.sh_addr, addr);
	assert_int_equal(got, size);
	assert_ptr_equal(data, f->data + off);
	assert_true(elf_file_vaddr(f, off, &x) && x == addr);
	elf_file_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_ids_parse_print_and_compare),
		cmocka_unit_test(build_id_comes_from_the_section),
		cmocka_unit_test(build_id_comes_from_pt_note_without_sections),
		cmocka_unit_test(notes_with_eight_byte_alignment_are_walked),
		cmocka_unit_test(special_files_are_refused),
		cmocka_unit_test(sections_are_views_and_nobits_is_absent),
		cmocka_unit_test(compressed_sections_come_inflated),
		cmocka_unit_test(offsets_and_addresses_map_through_segments),
		cmocka_unit_test(damaged_headers_never_crash),
		cmocka_unit_test(exhaustion_is_an_error),
		cmocka_unit_test(agrees_with_readelf),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
