/*
 * maps.h - mappings of a process as /proc/PID/maps has them; LDB copies that file when the
 * program starts ("maps.data").
 *
 *	55d0c0de0000-55d0c0df2000 r-xp 00002000 08:01 1835 /srv/server
 */
#ifndef LIBTIME_SIDE_MAPS_H
#define LIBTIME_SIDE_MAPS_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* Read all of it into out->maps, sorted; those of no file are left out. ERR_FORMAT with the
 * line that is no mapping; ERR_* of lines.h, ERR_NOMEM. */
int side_maps_read(struct side *out, struct side_lines *l, struct err *e);

#endif
