#include "tests/lib/smallelf.h"

#include <assert.h>
#include <libelf.h>
#include <string.h>

/* Everything that is not allocated goes behind the segments. */
enum { TEXT_OFF = 0x1000, TAIL_OFF = 0x8000 };

static const uint8_t build_id_note[] = {
	4, 0, 0, 0, 20, 0, 0, 0,  3,  0,  0,  0,  'G', 'N', 'U', 0,  1,  2,
	3, 4, 5, 6, 7,  8, 9, 10, 11, 12, 13, 14, 15,  16,  17,  18, 19, 20,
};

/* Structures go into the image as a little-endian machine writes them. */
static void put(struct smallelf *s, size_t off, Elf_Type type, const void *from, size_t size)
{
	Elf_Data in = {.d_buf = (void *)(uintptr_t)from,
		       .d_type = type,
		       .d_version = EV_CURRENT,
		       .d_size = size};
	Elf_Data out = in;
	out.d_buf = s->image + off;
	elf_version(EV_CURRENT);
	assert(elf64_xlatetof(&out, &in, ELFDATA2LSB));
}

static Elf_Type content_of(uint32_t section_type)
{
	return section_type == SHT_RELA                                   ? ELF_T_RELA
	       : section_type == SHT_SYMTAB || section_type == SHT_DYNSYM ? ELF_T_SYM
									  : ELF_T_BYTE;
}

static uint32_t add_name(struct smallelf *s, const char *name)
{
	size_t at = s->nnames, n = strlen(name) + 1;
	assert(at + n <= sizeof(s->names));
	memcpy(s->names + at, name, n);
	s->nnames += n;
	return (uint32_t)at;
}

void smallelf_init(struct smallelf *s, uint16_t machine)
{
	memset(s, 0, sizeof(*s));
	s->machine = machine;
	s->n = TAIL_OFF;
	s->nnames = s->nstrs = 1;
	s->nsh = s->nsym = s->ndynsym = 1;
	smallelf_section(s, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x200, build_id_note,
			 sizeof(build_id_note));
}

unsigned smallelf_section(struct smallelf *s, const char *name, uint32_t type, uint64_t flags,
			  uint64_t addr, const void *data, size_t size)
{
	assert(s->nsh < 32);
	size_t off = flags & SHF_ALLOC ? addr & 0xffff : (s->n + 7) & ~(size_t)7;
	assert(off + size <= (flags & SHF_ALLOC ? (size_t)TAIL_OFF : sizeof(s->image)));
	if (type != SHT_NOBITS && size)
		put(s, off, content_of(type), data, size);
	if (!(flags & SHF_ALLOC))
		s->n = off + size;
	s->sh[s->nsh] = (Elf64_Shdr){.sh_name = add_name(s, name),
				     .sh_type = type,
				     .sh_flags = flags,
				     .sh_addr = addr,
				     .sh_offset = off,
				     .sh_size = size,
				     .sh_addralign = type == SHT_NOTE ? 4 : 8};
	return s->nsh++;
}

static Elf64_Sym make_symbol(struct smallelf *s, const char *name, int bind, int type,
			     uint16_t shndx, uint64_t value, uint64_t size)
{
	size_t at = s->nstrs, n = strlen(name) + 1;
	assert(at + n <= sizeof(s->strs));
	memcpy(s->strs + at, name, n);
	s->nstrs += n;
	return (Elf64_Sym){.st_name = (uint32_t)at,
			   .st_info = (uint8_t)ELF64_ST_INFO(bind, type),
			   .st_shndx = shndx,
			   .st_value = value,
			   .st_size = size};
}

void smallelf_symbol(struct smallelf *s, const char *name, int bind, int type, uint16_t shndx,
		     uint64_t value, uint64_t size)
{
	assert(s->nsym < 64);
	s->sym[s->nsym++] = make_symbol(s, name, bind, type, shndx, value, size);
}

void smallelf_dynsym(struct smallelf *s, const char *name, int bind, int type, uint16_t shndx,
		     uint64_t value, uint64_t size)
{
	assert(s->ndynsym < 16);
	s->dynsym[s->ndynsym++] = make_symbol(s, name, bind, type, shndx, value, size);
}

static void add_tables(struct smallelf *s)
{
	unsigned str = smallelf_section(s, ".strtab", SHT_STRTAB, 0, 0, s->strs, s->nstrs);
	if (s->nsym > 1) {
		unsigned i = smallelf_section(s, ".symtab", SHT_SYMTAB, 0, 0, s->sym,
					      s->nsym * sizeof(s->sym[0]));
		s->sh[i].sh_link = str;
		s->sh[i].sh_entsize = sizeof(Elf64_Sym);
	}
	if (s->ndynsym > 1) {
		unsigned i = smallelf_section(s, ".dynsym", SHT_DYNSYM, 0, 0, s->dynsym,
					      s->ndynsym * sizeof(s->dynsym[0]));
		s->sh[i].sh_link = str;
		s->sh[i].sh_entsize = sizeof(Elf64_Sym);
	}
	for (unsigned i = 1; i < s->nsh; i++)
		if (s->sh[i].sh_type == SHT_RELA) {
			s->sh[i].sh_entsize = sizeof(Elf64_Rela);
			for (unsigned j = 1; j < s->nsh; j++)
				if (s->sh[j].sh_type == SHT_DYNSYM)
					s->sh[i].sh_link = j;
		}
}

size_t smallelf_finish(struct smallelf *s)
{
	add_tables(s);
	unsigned shstr =
		smallelf_section(s, ".shstrtab", SHT_STRTAB, 0, 0, s->names, sizeof(s->names));
	memcpy(s->image + s->sh[shstr].sh_offset, s->names, s->nnames);
	s->n = s->sh[shstr].sh_offset + s->nnames;
	s->sh[shstr].sh_size = s->nnames;

	Elf64_Phdr ph[3] = {
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = TEXT_OFF, .p_memsz = TEXT_OFF},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_offset = TEXT_OFF,
		 .p_vaddr = TEXT_OFF,
		 .p_filesz = TAIL_OFF - TEXT_OFF,
		 .p_memsz = TAIL_OFF - TEXT_OFF},
		{.p_type = PT_NOTE,
		 .p_flags = PF_R,
		 .p_offset = 0x200,
		 .p_vaddr = 0x200,
		 .p_filesz = sizeof(build_id_note),
		 .p_memsz = sizeof(build_id_note),
		 .p_align = 4},
	};
	s->n = (s->n + 7) & ~(size_t)7;
	Elf64_Ehdr eh = {.e_type = ET_DYN,
			 .e_machine = s->machine,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(eh),
			 .e_shoff = s->n,
			 .e_ehsize = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = (uint16_t)s->nsh,
			 .e_shstrndx = (uint16_t)shstr};
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	put(s, 0, ELF_T_EHDR, &eh, sizeof(eh));
	put(s, sizeof(eh), ELF_T_PHDR, ph, sizeof(ph));
	size_t shsize = s->nsh * sizeof(Elf64_Shdr);
	assert(s->n + shsize <= sizeof(s->image));
	put(s, s->n, ELF_T_SHDR, s->sh, shsize);
	s->n += shsize;
	return s->n;
}
