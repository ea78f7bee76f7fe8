/*
 * arch.h - what differs between architectures, one file each: arch_x86_64.c (with its 32-bit
 * programs), arch_aarch64.c, arch_riscv64.c.
 *
 * Everything is data or a function of code bytes, so a recording of any of them is read on any
 * host. ELF files (libsym/elf has its own knowledge of machines) and recorded callchains need
 * no entry here: an architecture without one only lacks unwinding of stack copies, names of PLT
 * stubs and names of system calls by number.
 *
 * To add one: write arch_NAME.c, list it in arch.c.
 */
#ifndef LIBSYM_UNWIND_ARCH_H
#define LIBSYM_UNWIND_ARCH_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct plt_shapes;

/* DWARF numbers of the registers that the unwinder refers to by name. */
enum {
	X86_RBP = 6,
	X86_RSP = 7,
	X86_RIP = 16,
	ARM_FP = 29,
	ARM_LR = 30,
	ARM_SP = 31,
	ARM_PC = 32,
	ARM_VG = 46, /* the highest of all: CFI_REGS */
	I386_ESP = 4,
	I386_EBP = 5,
	I386_EIP = 8,
	RISCV_RA = 1,
	RISCV_SP = 2,
	RISCV_FP = 8,
	RISCV_PC = 32, /* DWARF's ft0; its value is not kept */
};

enum {
	ARCH_NONE = 0xff,     /* no such register, no such bit */
	ARCH_CALL_MAX = 8,    /* bytes of the longest call */
	ARCH_INSN_MAX = 15,   /* bytes of the longest instruction */
	ARCH_PLT_SLOT = 16,   /* bytes of a lazy PLT slot */
	ARCH_PROLOGUE_MAX = 4 /* bytes that set up a frame pointer */
};

/*
 * The kernel's rt_sigframe, as offsets from the sp that the trampoline runs with, and the
 * trampoline's code.
 */
struct arch_sigframe {
	int16_t pc, sp, fp; /* offsets of the interrupted registers */
	int16_t lr;         /* likewise; 0 without a link register */
	int16_t context;    /* of struct ucontext: uc_flags, then uc_link */
	int16_t mark;       /* of a word that ... */
	uint64_t mark_mask; /* ... under this mask ... */
	uint64_t mark_is;   /* ... is this one in every signal frame */
	const uint8_t *code;
	uint8_t code_size;
	uint8_t syscall; /* offset in the code of its system call instruction */
};

/*
 * Precise events whose registers are one instruction late (unwind_late.c). b has n readable
 * bytes; 0 if they do not contain it.
 */
struct arch_late {
	/* 1 when all n bytes are one call instruction. */
	int (*is_call)(const uint8_t *b, unsigned n);
	/* 1 when a return instruction begins at b. */
	int (*is_return)(const uint8_t *b, size_t n);
	/* Length of the instruction at b if it moves sp. */
	unsigned (*moves_sp)(const uint8_t *b, size_t n);
	/* The first thing at or after b + *at that looks like a direct call: 1, *at where to go
	 * on, and its return address and its target, as offsets from b (modulo 2^64). */
	int (*next_call)(const uint8_t *b, size_t n, size_t *at, uint64_t *returns,
			 uint64_t *target);
};

struct arch {
	uint16_t machine;     /* e_machine of its ELF files */
	const char *names[2]; /* as in uname -m and HEADER_ARCH; may be NULL */

	/* registers: DWARF numbers */
	uint8_t word; /* bytes of an address on the stack: 8 or 4 */
	uint8_t pc, sp, fp;
	uint8_t ra; /* the return address column of its CFI */
	uint8_t lr; /* the link register; ARCH_NONE if calls push the return address */
	/* DWARF number → bit of attr.sample_regs_user, or ARCH_NONE; NULL: the two are equal */
	const uint8_t *perf_bit;
	unsigned perf_bits;
	uint64_t kept;        /* registers (by number) that a call preserves */
	uint64_t dump_regs;   /* sample_regs_user of perf record --call-graph dwarf */
	uint64_t own_regs;    /* bits of sample_regs_user that no earlier row of arch.c has */
	uint8_t pac_bits;     /* bits of a user address if the upper ones may be a PAC; or 0 */
	uint8_t ones_unknown; /* in samples of the kernel a register of ~0 was not saved */

	/* the frame record at fp: offsets from fp of the caller's fp, of the return address,
	 * and of the caller's sp */
	int8_t record_fp, record_ra, record_end;

	/* calls: 1 when the n bytes before a return address end with one. n goes from call_max
	 * down to call_min in steps of call_step until that many bytes are readable */
	int (*after_call)(const uint8_t *before, unsigned n);
	uint8_t call_max, call_min, call_step;
	/* The target of the direct call in the call_max bytes before ra: 1 or 0. NULL: not
	 * known.
	 */
	int (*call_target)(const uint8_t *before, uint64_t ra, uint64_t *target);
	/* 1 when the ARCH_PROLOGUE_MAX bytes at b set up a frame pointer. NULL: not known. */
	int (*sets_fp)(const uint8_t *b);
	/* How many bytes a lazy PLT slot has pushed on top of the return address when pc is at
	 * `offset` in it; the slot is complete. NULL: none. */
	unsigned (*plt_pushed)(const uint8_t *slot, unsigned offset);

	struct arch_sigframe sigframe;
	const struct arch_late *late; /* NULL: precise events have exact registers */
	const struct plt_shapes *plt; /* libsym/elf/symtab.h */
	const char *syscalls;         /* names in order of number; see arch_generic_syscalls */
	const char *first_arg; /* the register of a function's first argument in perf probe */
	uint8_t has_vdso32;    /* 32-bit programs have their own vdso */
	uint16_t compat;       /* e_machine of 32-bit programs, if they are unwound; or 0 */

	/* user registers of a thread in a system call, as bits of sample_regs_user: the first
	 * argument; the one that the kernel sets to -ENOSYS on entry. ARCH_NONE: none */
	uint8_t call_arg, call_mark;
};

/* By e_machine, or NULL. */
const struct arch *arch_of(uint16_t machine);

/* By uname's name; NULL for an unknown one and for NULL. */
const struct arch *arch_named(const char *name);

/* The most likely architecture for these registers (sample_regs_user, not 0), if the recording
 * does not name its own. */
const struct arch *arch_of_registers(uint64_t mask);

/* The shapes of a file's PLT stubs, for symtab_from_elf. NULL when not known, and for NULL. */
const struct plt_shapes *arch_plt(const struct elf_file *f);

/* Bit of sample_regs_user of register `dwarf`, or ARCH_NONE. */
unsigned arch_perf_bit(const struct arch *a, unsigned dwarf);

/* --- for arch_*.c ------------------------------------------------------------------------- */

extern const struct arch arch_x86_64, arch_i386, arch_aarch64, arch_riscv64;

/* The system calls of asm-generic/unistd.h: names, each followed by one blank. A number sets
 * that of the next name; each further name has the next number. */
extern const char arch_generic_syscalls[];

/* Machine code is little-endian on all of them, whatever the host is. */
static inline uint32_t arch_code32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

#endif
