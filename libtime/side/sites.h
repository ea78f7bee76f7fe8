/*
 * sites.h - calls that are known by the address they return to, named after the place in the
 * program they were made from: "serve at server+0x1a2f", the function, and where in its file.
 */
#ifndef LIBTIME_SIDE_SITES_H
#define LIBTIME_SIDE_SITES_H

#include "libsym/profile.h"
#include "libtime/side/clock.h"

/* Set the names of spans with a site. `p` has the mappings of the recorded processes; NULL (a
 * store): names are addresses, "0x55d0c0de1a2f". The address is that of the call, one less than
 * what it returns to. ERR_NOMEM, ERR_* of names_symbolize. */
int side_name_sites(struct side *side, struct profile *p, const struct timeline *tl,
		    const struct side_clock_map *map, struct err *e);

#endif
