/*
 * pprof.h - rows as a profile of pprof: gzipped profile.proto, as `go tool pprof`, Pyroscope
 * and others read it.
 *
 *	column cpu-clock     sample types samples/count and cpu/nanoseconds
 *	column cycles        sample types samples/count and cycles/count
 *	a tracepoint         sample type NAME/count
 *	row                  Sample: locations leaf first, one value per type; labels comm,
 *	                     pid, tid, ...
 *	frame                Location, with a Line for it and for each function inlined into
 *	                     it, innermost first
 *	DSO                  Mapping with its build-id; start and limit are 0, since the
 *	                     mapped addresses are no longer known
 *
 * Named frames have no address; for unnamed ones it is the offset in the file, of callers less
 * 1, as pprof wants it: inside the calling instruction.
 *
 * The format: github.com/google/pprof, proto/profile.proto; field numbers stand in pprof.c.
 */
#ifndef RENDER_EXPORT_PPROF_H
#define RENDER_EXPORT_PPROF_H

#include "render/export/export_rows.h"

#include <stdio.h>

/* Write sorted rows to `f`. ERR_NOMEM, ERR_IO. */
int pprof_write(const struct export_rows *rows, FILE *f, struct err *e);

#endif
