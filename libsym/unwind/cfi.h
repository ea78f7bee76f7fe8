/*
 * cfi.h - the unwind rule of an address: one ELF file's call-frame information, decoded lazily
 * and cached compactly.
 *
 *	va ──► .eh_frame_hdr, searched in place ─┐
 *	       or an index made in one pass ─────┴► FDE ──► its rows, expanded once ──► rule
 *
 * Sources, in this order: .eh_frame of the file that ran; its .debug_frame; .debug_frame of its
 * debug file. (In a debug file .eh_frame is NOBITS: a debug package alone never unwinds.)
 *
 * A rule is 16 bytes and covers all but the rarest rows; for RULE_FULL the unwinder calls
 * cfi_row, which gives every register. Addresses here are the file's virtual addresses: the
 * caller has subtracted the mapping's bias.
 *
 * Threads: after cfi_open returned, all functions may be called from any thread on the same
 * handle; expanding an FDE takes a lock inside. The owner opens and closes it. The elf_file is
 * not touched by libelf calls after cfi_open, only its bytes are read.
 */
#ifndef LIBSYM_UNWIND_CFI_H
#define LIBSYM_UNWIND_CFI_H

#include "base/check.h"
#include "libsym/unwind/arch.h"
#include "libsym/unwind/cfi_decode.h"
#include "libsym/elf/elf_file.h"

struct cfi;

enum rule_kind {
	RULE_NONE,     /* no CFI covers the address */
	RULE_SP,       /* CFA = sp + cfa_off */
	RULE_FP,       /* CFA = fp + cfa_off */
	RULE_PLT,      /* CFA = sp + cfa_off + 8 * ((pc & 15) >= cfa_add) */
	RULE_DEREF_SP, /* CFA = *(sp + cfa_off) + cfa_add */
	RULE_DEREF_FP, /* CFA = *(fp + cfa_off) + cfa_add: realigned stacks */
	RULE_FULL,     /* needs other registers or an expression: cfi_row */
	RULE_END,      /* outermost frame: the return address is undefined */
};

/* Where a register is saved. */
enum rule_slot {
	SLOT_SAME, /* fp: not changed; ra: in the link register */
	SLOT_CFA,  /* at CFA + off */
	SLOT_SP,   /* at sp + off */
	SLOT_FP,   /* at fp + off */
	SLOT_LOST, /* undefined (fp only) */
};

enum rule_flag {
	RULE_SIGNAL = 1, /* the frame of a signal trampoline ('S') */
	RULE_EXACT = 2,  /* set by the unwinder: look the frame up at pc, not at pc - 1 */
};

struct unwind_rule {
	int32_t cfa_off;
	int16_t cfa_add, fp_off, ra_off;
	uint8_t kind;   /* enum rule_kind */
	uint8_t fp, ra; /* enum rule_slot */
	uint8_t flags;
	/* for the unwinder; cfi_rule sets them to 0 */
	uint8_t end; /* without a rule: enum unwind_end */
	union {
		uint8_t trust;        /* with a rule: enum unwind_trust of the caller's frame */
		uint8_t module_flags; /* without */
	};
};
SIZE_IS(struct unwind_rule, 16);

/* The rule for a va, and its FDE. */
struct cfi_hit {
	struct unwind_rule rule;
	uint64_t start, end; /* the FDE's [start, end) */
};

/*
 * Read the CFI of `f`, which must stay open as long as *out, as must `debug`, its separate
 * debug file (may be NULL). A file without any CFI gives a handle that returns RULE_NONE. Never
 * fails for damage inside the sections: damaged parts are RULE_NONE, and cfi_damage describes
 * the first. ERR_UNSUPPORTED for a machine that arch.h does not have, ERR_NOMEM.
 */
int cfi_open(struct elf_file *f, struct elf_file *debug, struct cfi **out, struct err *e);

/* CFI outside of a file, as in a jitdump's UNWINDING_INFO. All is borrowed. */
struct cfi_bytes {
	uint16_t machine; /* e_machine */
	const uint8_t *eh_frame;
	size_t eh_frame_size;
	uint64_t eh_frame_va; /* in the address space of cfi_find's `va` */
	const uint8_t *code;  /* may be NULL: machine code at code_va, for cfi_code */
	size_t code_size;
	uint64_t code_va;
};

/* As cfi_open, for such bytes; an index is made, so no .eh_frame_hdr is needed. */
int cfi_open_bytes(const struct cfi_bytes *b, struct cfi **out, struct err *e);

/* NULL is accepted. */
void cfi_close(struct cfi *c);

/* The architecture of the code. */
const struct arch *cfi_arch(const struct cfi *c);

/*
 * The rule at `va`: 1 and *hit; 0 when no FDE covers it or the FDE cannot be used (*hit is then
 * RULE_NONE with start = end = 0); ERR_NOMEM.
 */
int cfi_find(struct cfi *c, uint64_t va, struct cfi_hit *hit, struct err *e);

/*
 * All registers' rules at `va`, decoded again: 1, or 0 as above. *s is their section (for
 * cfi_expr_at), *ra_reg the return address column; both live as long as `c`.
 */
int cfi_row(struct cfi *c, uint64_t va, struct cfi_row *row, const struct cfi_section **s,
	    uint32_t *ra_reg, struct err *e);

/* The file's content from `va` to the end of its segment, *n bytes that live as long as `c`,
 * and the segment's first address. NULL when there is none. */
const uint8_t *cfi_code_from(const struct cfi *c, uint64_t va, uint64_t *start, size_t *n);

/* Up to `n` bytes of the file's content at `va` into out; returns how many there are. */
size_t cfi_code(const struct cfi *c, uint64_t va, uint8_t *out, size_t n);

/* 1 when va is in .plt, .plt.sec or .plt.got; *slot is the offset inside .plt's 16-byte
 * slot, *lazy is 1 in .plt itself. */
int cfi_in_plt(const struct cfi *c, uint64_t va, unsigned *slot, int *lazy);

/* The ELF entry point, 0 for loose bytes. */
uint64_t cfi_entry_point(const struct cfi *c);

/* The first damage seen so far, or NULL: text that lives as long as `c`. */
const char *cfi_damage(struct cfi *c);

/* Bytes of heap in use: for reporting. */
size_t cfi_memory(struct cfi *c);

/* Call fn for every usable FDE of every source, in the order of the section. A return other
 * than 0 stops and is returned. */
int cfi_each_fde(struct cfi *c,
		 int (*fn)(void *ctx, const struct cfi_section *s, const struct cfi_cie *cie,
			   const struct cfi_fde *fde),
		 void *ctx);

/* Reduce a row to a rule; RULE_FULL if it does not fit. */
void cfi_rule_of(const struct arch *a, const struct cfi_section *s, const struct cfi_cie *cie,
		 const struct cfi_row *row, struct unwind_rule *out);

#endif
