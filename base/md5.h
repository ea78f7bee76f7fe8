/*
 * md5.h - MD5 (RFC 1321), by which line tables name the text of source files. It proves
 * nothing about texts made to collide.
 */
#ifndef BASE_MD5_H
#define BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

enum { MD5_BYTES = 16 };

/* The MD5 of the n bytes at p. */
void md5_of(const void *p, size_t n, uint8_t sum[MD5_BYTES]);

#endif
