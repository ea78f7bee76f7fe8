/*
 * sites.h - names calls by their call site, from the return address: "serve at server+0x1a2f"
 * is the calling function and the offset in its file.
 */
#ifndef LIBTIME_JOIN_SITES_H
#define LIBTIME_JOIN_SITES_H

#include "libsym/profile.h"
#include "libtime/join/clock.h"

/* Set the names of spans with a site (code_at.h): "0x55d0c0de1a2f" where no mapping holds it.
 * The address is that of the call, one less than what it returns to. ERR_NOMEM. */
int side_name_sites(struct side *side, struct profile *p, const struct timeline *tl,
		    const struct side_clock_map *map, struct err *e);

#endif
