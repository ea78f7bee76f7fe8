/* smallstore.h - a small store of two recordings with every kind of row in it. */
#ifndef TESTS_FUZZ_SMALLSTORE_H
#define TESTS_FUZZ_SMALLSTORE_H

/* Write it to `path`. 0 or ERR_*. */
int smallstore_write(const char *path);

#endif
