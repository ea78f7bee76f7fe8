/*
 * cfi_decode.h - call-frame information decoded from section bytes: CIEs, FDEs, and the rows of
 * their programs.
 *
 * cfi.h, above it, finds and caches the FDE of an address; this part only knows the format.
 * Sources: DWARF 5 section 6.4, LSB 5.0 core chapter 10.6 (.eh_frame and its pointer
 * encodings), the AArch64 DWARF ABI (RA_SIGN_STATE). Nothing is allocated; every position is
 * checked against the section; a program is run once, forwards.
 *
 *	cfi_entry_read ──► cfi_cie_read ──► cfi_fde_read ──► cfi_run_init ──► cfi_run_next ...
 */
#ifndef LIBSYM_UNWIND_CFI_DECODE_H
#define LIBSYM_UNWIND_CFI_DECODE_H

#include "base/bytes.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Rules of higher registers (vector ones) are read and dropped. */
enum { CFI_REGS = 47 };

/* The bytes of .eh_frame or .debug_frame, borrowed. */
struct cfi_section {
	const uint8_t *data;
	size_t size;
	uint64_t vaddr;     /* of data[0]: the base of DW_EH_PE_pcrel */
	uint64_t data_base; /* DW_EH_PE_datarel: .eh_frame_hdr's address, or the GOT's */
	uint64_t text_base; /* DW_EH_PE_textrel */
	uint8_t debug_frame;
	uint8_t swap;   /* other byte order than this host */
	uint8_t narrow; /* addresses have 4 bytes, not 8 */
};

/* How one register of the caller is found (DWARF 5, 6.4.1). */
enum cfi_how {
	CFI_UNSPEC, /* not specified: compilers mean "same value" */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,     /* saved at CFA + v */
	CFI_VAL_OFFSET, /* is CFA + v */
	CFI_REGISTER,   /* is in register v */
	CFI_EXPR,       /* saved at the address that the expression computes */
	CFI_VAL_EXPR,   /* is the expression's value */
};

struct cfi_reg {
	int32_t v;   /* offset, register, or position in the section of the expression's
			ULEB128 length */
	uint8_t how; /* enum cfi_how */
};

/* The rules for [start, end). */
struct cfi_row {
	uint64_t start, end;
	struct cfi_reg cfa; /* CFI_REGISTER: cfa_reg + v; CFI_EXPR; CFI_UNSPEC: none */
	uint32_t cfa_reg;
	uint8_t ra_signed; /* aarch64: the return address carries a PAC */
	struct cfi_reg reg[CFI_REGS];
};

struct cfi_cie {
	uint64_t offset; /* in the section; identifies the CIE */
	uint64_t code_align;
	int64_t data_align;
	uint32_t ra_reg;
	uint8_t fde_enc;
	uint8_t has_aug; /* augmentation starts with 'z': FDEs carry a length too */
	uint8_t signal;  /* 'S' */
	uint8_t addr_size;
	struct cfi_row init; /* after the CIE's own instructions */
};

struct cfi_fde {
	uint64_t start, end; /* virtual addresses [start, end) */
	const uint8_t *prog;
	size_t prog_size;
};

/* The head of one entry. */
struct cfi_entry {
	uint8_t kind;       /* enum below */
	uint64_t cie;       /* offset of the CIE (its own for a CIE) */
	uint64_t body, end; /* offsets: after the CIE pointer; after the entry */
};
enum { CFI_ENTRY_CIE, CFI_ENTRY_FDE, CFI_ENTRY_ZERO };

/*
 * Read the entry's head at `offset`; *out has its kind and where the next one starts (end). A
 * zero terminator is an entry of kind CFI_ENTRY_ZERO. ERR_TRUNCATED / ERR_FORMAT.
 */
int cfi_entry_read(const struct cfi_section *s, uint64_t offset, struct cfi_entry *out,
		   struct err *e);

/* Read the CIE at `offset` and run its instructions. ERR_FORMAT, ERR_TRUNCATED, ERR_UNSUPPORTED
 * for an undocumented augmentation. */
int cfi_cie_read(const struct cfi_section *s, uint64_t offset, struct cfi_cie *out,
		 struct err *e);

/* Read an FDE whose entry and CIE are known. ERR_FORMAT, ERR_TRUNCATED. */
int cfi_fde_read(const struct cfi_section *s, const struct cfi_entry *entry,
		 const struct cfi_cie *cie, struct cfi_fde *out, struct err *e);

/*
 * An encoded pointer (DW_EH_PE_*) at the cursor, which must point into s->data. 0 and *out, or
 * ERR_*; with DW_EH_PE_indirect *out is the address of the pointer, not its value.
 */
int cfi_pointer(const struct cfi_section *s, struct bytes *b, uint8_t enc, uint64_t func,
		uint64_t *out, struct err *e);

enum { CFI_REMEMBERED = 16 };

/* A run over one FDE's rows. It has about 7 KB: keep it on the stack of one function. */
struct cfi_run {
	const struct cfi_section *s;
	const struct cfi_cie *cie;
	struct bytes prog;
	uint64_t loc, end;
	struct cfi_row row; /* valid after cfi_run_next returned 1 */
	unsigned nsaved;
	struct cfi_row saved[CFI_REMEMBERED]; /* DW_CFA_remember_state */
};

/* Start at the FDE's first row. */
void cfi_run_init(struct cfi_run *r, const struct cfi_section *s, const struct cfi_cie *cie,
		  const struct cfi_fde *fde);

/* The next non-empty row, in ascending order: 1, 0 at the end, ERR_FORMAT (unknown opcode, a
 * location going backwards), ERR_LIMIT (absurd numbers or nesting). */
int cfi_run_next(struct cfi_run *r, struct err *e);

/* The expression block at position `pos` (from a rule's v): 0 and *p, *n, or ERR_FORMAT. */
int cfi_expr_at(const struct cfi_section *s, int32_t pos, const uint8_t **p, size_t *n);

#endif
