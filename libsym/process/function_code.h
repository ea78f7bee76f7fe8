/*
 * function_code.h - the bytes of a function's code, from the file that ran or from a jitdump, or
 * why they are not known.
 */
#ifndef LIBSYM_PROCESS_FUNCTION_CODE_H
#define LIBSYM_PROCESS_FUNCTION_CODE_H

#include "base/text/buf.h"
#include "libsym/process/modules.h"

enum code_status {
	CODE_KNOWN,
	CODE_AS_BUILT,    /* the kernel's, as its vmlinux has it */
	CODE_UNKNOWN,     /* there is no file: `reason` */
	CODE_NO_SYMBOL,   /* where it begins is unknown */
	CODE_NO_LENGTH,   /* where the function ends is unknown */
	CODE_NO_VMLINUX,  /* the kernel's */
	CODE_NO_FILE,     /* of a kernel module or BPF */
	CODE_NO_JITDUMP,  /* generated code */
	CODE_SEVERAL,     /* generated code, of which several versions were at its address */
	CODE_OTHER_BUILD, /* recordings of a store have different code there */
	CODE_NOT_KEPT,    /* a store has none of this function */
	CODE_STATUSES
};

/* Zero-initialised: CODE_KNOWN without bytes. */
struct function_code {
	uint8_t status;              /* enum code_status */
	uint8_t reason;              /* enum dso_reason of CODE_UNKNOWN */
	struct code_bytes bytes;     /* v NULL: none. Borrowed from the modules */
	const struct elf_file *file; /* whose they are; NULL: of a jitdump, or a store's */
	uint32_t dso;                /* the machine's; NO_ID: none */
};

/*
 * The code of the symbol `name` at address `start` of the DSO that frames call `dso` (strings
 * ids); after all lookups. Its bytes are at most DISASSEMBLE_MAX. ERR_NOMEM.
 */
int function_code_find(struct modules *ms, const struct machine *m, uint32_t dso, uint32_t name,
		       uint64_t start, struct function_code *out);

/* Append why there are no bytes, or what they are; nothing for CODE_KNOWN. `dso`: its name. */
void function_code_why(struct buf *b, const struct function_code *c, const char *dso);

/* "", "as built", …: as a store has it. */
const char *code_status_word(unsigned int status);

#endif
