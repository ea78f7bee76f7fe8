/*
 * digest.h - BLAKE2b (RFC 7693) with 256 bits: a cryptographic hash, for names that strangers'
 * bytes get, of which nobody can make two alike.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { DIGEST_BYTES = 32, DIGEST_BLOCK = 128 };

struct digest {
	uint64_t h[8], n; /* n: bytes so far */
	uint8_t block[DIGEST_BLOCK];
	size_t used; /* of block */
};

/* Begin. */
void digest_init(struct digest *d);

/* Add n bytes. */
void digest_add(struct digest *d, const void *p, size_t n);

/* The hash of all that was added; *d is to be initialised again. */
void digest_end(struct digest *d, uint8_t sum[DIGEST_BYTES]);

#endif
