#include "libsym/source/disassemble.h"

int code_bytes_of(const struct elf_file *f, uint64_t start, uint64_t end,
		  struct code_bytes *out)
{
	uint64_t n = end - start < DISASSEMBLE_MAX ? end - start : DISASSEMBLE_MAX + 1;
	for (size_t i = 0; i < f->nsegments && end > start; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t at = start - s->vaddr;
		if (start < s->vaddr || at > s->filesz || n > s->filesz - at ||
		    s->offset > f->size || at + n > f->size - s->offset)
			continue;
		*out = (struct code_bytes){.v = f->data + s->offset + at,
					   .n = n,
					   .va = start,
					   .machine = f->ehdr.e_machine,
					   .narrow = f->ehdr.e_ident[EI_CLASS] != ELFCLASS64,
					   .swapped = f->ehdr.e_ident[EI_DATA] == ELFDATA2MSB};
		return 1;
	}
	return 0;
}

#if HAVE_CAPSTONE
#include "base/text/buf.h"

#include <capstone/capstone.h>
#include <stdlib.h>

/* Capstone's names for a machine: its instructions are data of the library, not knowledge that
 * belongs to an architecture's file here. */
static int machine_of(const struct code_bytes *c, cs_arch *arch, cs_mode *mode)
{
	int wide = !c->narrow;
	cs_mode order = c->swapped ? CS_MODE_BIG_ENDIAN : CS_MODE_LITTLE_ENDIAN;
	switch (c->machine) {
	case EM_X86_64:
	case EM_386:
		*arch = CS_ARCH_X86;
		*mode = c->machine == EM_386 ? CS_MODE_32 : CS_MODE_64;
		return 1;
	case EM_AARCH64:
		*arch = CS_ARCH_ARM64;
		*mode = CS_MODE_LITTLE_ENDIAN; /* code is, whatever the data */
		return 1;
#if CS_API_MAJOR >= 5
	case EM_RISCV:
		*arch = CS_ARCH_RISCV;
		*mode = (wide ? CS_MODE_RISCV64 : CS_MODE_RISCV32) | CS_MODE_RISCVC;
		return 1;
#endif
	case EM_PPC64:
		*arch = CS_ARCH_PPC;
		*mode = CS_MODE_64 | order;
		return 1;
	case EM_S390:
		*arch = CS_ARCH_SYSZ;
		*mode = CS_MODE_BIG_ENDIAN;
		return 1;
	case EM_MIPS:
		*arch = CS_ARCH_MIPS;
		*mode = (wide ? CS_MODE_MIPS64 : CS_MODE_MIPS32) | order;
		return 1;
	default:
		return 0;
	}
}

/* The address that the operands of a jump name last: "0x1139", "#0x1139", "x0, #0x1139". */
static uint64_t target_of(const cs_insn *x)
{
	const char *hex = NULL;
	for (const char *p = x->op_str; (p = strstr(p, "0x")); p += 2)
		hex = p;
	return hex && !strpbrk(x->op_str, "(*[") ? strtoull(hex, NULL, 16) : 0;
}

static int each(csh cs, const struct code_bytes *c,
		int (*take)(void *ctx, const struct instruction *i), void *ctx)
{
	const uint8_t *p = c->v;
	size_t left = (size_t)c->n;
	uint64_t va = c->va;
	cs_insn *x = cs_malloc(cs);
	struct buf text = {0};
	int rc = x ? 0 : ERR_NOMEM;
	while (!rc && left && cs_disasm_iter(cs, &p, &left, &va, x)) {
		int jump = x->id && cs_insn_group(cs, x, CS_GRP_JUMP) &&
			   !cs_insn_group(cs, x, CS_GRP_CALL);
		buf_clear(&text);
		buf_str(&text, x->mnemonic);
		if (*x->op_str)
			buf_fmt(&text, " %s", x->op_str);
		struct instruction i = {.va = x->address,
					.size = (uint8_t)x->size,
					.jumps = (uint8_t)jump,
					.target = jump ? target_of(x) : 0,
					.text = buf_cstr(&text)};
		rc = buf_failed(&text) ? ERR_NOMEM : take(ctx, &i);
	}
	buf_release(&text);
	if (x)
		cs_free(x, 1);
	return rc;
}

int disassemble(const struct code_bytes *c, int (*take)(void *ctx, const struct instruction *i),
		void *ctx, struct err *e)
{
	cs_arch arch;
	cs_mode mode;
	csh cs;
	if (!machine_of(c, &arch, &mode) || cs_open(arch, mode, &cs) != CS_ERR_OK)
		return err_set(e, ERR_UNSUPPORTED,
			       "Capstone, as installed, does not know this machine (%u)",
			       c->machine);
	int rc = 0;
	if (c->n > DISASSEMBLE_MAX)
		rc = err_set(e, ERR_LIMIT, "the function at 0x%llx has more than 1 MiB",
			     (unsigned long long)c->va);
	cs_option(cs, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(cs, CS_OPT_SKIPDATA, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		cs_option(cs, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	rc = rc ? rc : each(cs, c, take, ctx);
	cs_close(&cs);
	return rc;
}

#else

int disassemble(const struct code_bytes *c, int (*take)(void *ctx, const struct instruction *i),
		void *ctx, struct err *e)
{
	(void)c, (void)take, (void)ctx;
	return err_set(e, ERR_UNSUPPORTED,
		       "this perfkit was built without Capstone, which --asm needs");
}

#endif
