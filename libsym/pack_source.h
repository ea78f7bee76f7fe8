/*
 * pack_source.h - the source texts of sampled lines, for a bundle.
 */
#ifndef LIBSYM_PACK_SOURCE_H
#define LIBSYM_PACK_SOURCE_H

#include "libsym/pack_list.h"

/*
 * Append to the list, by samples, the texts of the source files in which a sample of a folded
 * profile has a frame, if they are found in `from`; each is what `perfkit source` would show. The
 * profile has lines (modules_options.lines). *absent: files without a text. ERR_NOMEM.
 */
int packlist_add_sources(struct packlist *l, const struct profile *p,
			 const struct source_options *from, size_t *absent, struct err *e);

#endif
