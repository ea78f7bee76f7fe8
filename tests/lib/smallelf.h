/*
 * smallelf.h - a writer of tiny ELF files in memory, for tests that need exact symbols, damaged
 * headers or compressed sections. Little-endian, 64 bits, one R and one RX segment.
 *
 *	struct smallelf s;
 *	smallelf_init(&s, EM_X86_64);
 *	smallelf_section(&s, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
 *			 bytes, n);
 *	smallelf_symbol(&s, "main", STB_GLOBAL, STT_FUNC, 1, 0x1000, 16);
 *	size = smallelf_finish(&s, &image);
 */
#ifndef TESTS_LIB_SMALLELF_H
#define TESTS_LIB_SMALLELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct smallelf {
	uint8_t image[1 << 16];
	size_t n; /* bytes used; the ELF header is at 0, two PT_LOAD and a PT_NOTE follow */
	Elf64_Shdr sh[32];
	unsigned nsh;
	char names[1024];
	size_t nnames;
	Elf64_Sym sym[64], dynsym[16];
	unsigned nsym, ndynsym;
	char strs[4096];
	size_t nstrs;
	uint16_t machine;
};

void smallelf_init(struct smallelf *s, uint16_t machine);

/* Append a section; returns its index. Allocated sections must ascend in `addr`; their file
 * offset becomes addr & 0xffff, so that the RX segment (0x1000..0x8000) is one piece. */
unsigned smallelf_section(struct smallelf *s, const char *name, uint32_t type, uint64_t flags,
			  uint64_t addr, const void *data, size_t size);

/* Add to .symtab (or .dynsym). */
void smallelf_symbol(struct smallelf *s, const char *name, int bind, int type, uint16_t shndx,
		     uint64_t value, uint64_t size);
void smallelf_dynsym(struct smallelf *s, const char *name, int bind, int type, uint16_t shndx,
		     uint64_t value, uint64_t size);

/* Write symbol tables and headers; s->image holds that many bytes. */
size_t smallelf_finish(struct smallelf *s);

#endif
