/*
 * sites.h - names for calls whose return address is known, after the place that made them:
 * "serve at server+0x1a2f" is the function and the offset in its file.
 */
#ifndef LIBTIME_JOIN_SITES_H
#define LIBTIME_JOIN_SITES_H

#include "libsym/profile.h"
#include "libtime/join/clock.h"

/* Set the names of spans with a site. `p` has the mappings of the recorded processes; NULL (a
 * store): names are addresses, "0x55d0c0de1a2f". The address is that of the call, one less than
 * what it returns to. ERR_NOMEM, ERR_* of names_symbolize. */
int side_name_sites(struct side *side, struct profile *p, const struct timeline *tl,
		    const struct side_clock_map *map, struct err *e);

#endif
