/* perfwriter_priv.h - what the files of the perf.data writer share; not for tests. */
#ifndef TESTS_LIB_PERFWRITER_PRIV_H
#define TESTS_LIB_PERFWRITER_PRIV_H

#include "tests/lib/perfwriter.h"

/* The n low bytes of x, in the file's byte order. */
void pw_put(struct pw *w, struct buf *b, uint64_t x, size_t n);
void pw_put_zeroes(struct buf *b, size_t n);
void pw_put_header_string(struct pw *w, struct buf *b, const char *s);
void pw_put_attr(struct pw *w, struct buf *b, const struct pw_attr *a);
/* struct read_format */
void pw_put_read(struct pw *w, uint64_t format, const struct pw_sample *s);
/* Close a record that has no sample_id trailer. */
void pw_rec_end_bare(struct pw *w);

#endif
