/* endian.h - endian(3), wherever the system has it. */
#ifndef BASE_OS_ENDIAN_H
#define BASE_OS_ENDIAN_H

#ifdef __APPLE__ /* little-endian on every machine that is still made */
#define le32toh(x) ((uint32_t)(x))
#define le64toh(x) ((uint64_t)(x))
#define htole32(x) ((uint32_t)(x))
#define htole64(x) ((uint64_t)(x))
#define be16toh(x) __builtin_bswap16(x)
#define be32toh(x) __builtin_bswap32(x)
#define htobe32(x) __builtin_bswap32(x)
#define htobe64(x) __builtin_bswap64(x)
#else
#include <endian.h>
#endif

#endif
