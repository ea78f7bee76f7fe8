/* pieces.h - a recording that is read in pieces, as where files cannot be mapped. */
#ifndef TESTS_LIB_PIECES_H
#define TESTS_LIB_PIECES_H

#include "base/text/buf.h"
#include "libparse/recording.h"
#include "libparse/source.h"

#include <stdlib.h>
#include <unistd.h>

static inline int open_in_pieces(struct recording **rec, const struct buf *image, struct err *e)
{
	char path[] = "/tmp/perfkit-pieces-XXXXXX";
	struct source src;
	int fd = mkstemp(path);
	int rc = fd < 0 || write(fd, image->v, image->n) != (ssize_t)image->n;
	if (!rc)
		rc = source_open_pieces(&src, path, e);
	if (!rc)
		rc = recording_open_source(rec, &src, e);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return rc;
}

#endif
