/*
 * code_at.h - what code stands at an address of a recorded process, by the recording's
 * mappings, else by those that the side file brought (side.maps).
 */
#ifndef LIBTIME_JOIN_CODE_AT_H
#define LIBTIME_JOIN_CODE_AT_H

#include "libsym/profile.h"
#include "libtime/side/side.h"

/* Strings ids; 0: not known. */
struct code_at {
	uint32_t file;      /* as frames have it in `dso` */
	uint32_t function;  /* the innermost one, perhaps inlined */
	uint32_t symbol;    /* that it is in, as frames have it in `name` */
	uint64_t symbol_at; /* and in `addr` */
	uint64_t place;     /* what frames without a name have in `addr` */
};

/*
 * What process `pid` (-1: not known) has at `addr` at `ns` of the recording's clock: 1, or 0:
 * no mapping holds it. `p` may be NULL (a store): then only the file is known. ERR_NOMEM.
 */
int code_at(struct profile *p, const struct side *side, int32_t pid, uint64_t ns, uint64_t addr,
	    struct code_at *out);

#endif
