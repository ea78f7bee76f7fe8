/*
 * linux_mmap.h - mmap(2)'s numbers as Linux records them, on whatever system they are read.
 * Source: include/uapi/asm-generic/mman-common.h.
 */
#ifndef LIBPARSE_LINUX_MMAP_H
#define LIBPARSE_LINUX_MMAP_H

enum {
	LINUX_PROT_READ = 1,
	LINUX_PROT_EXEC = 4,
	LINUX_MAP_PRIVATE = 2,
	LINUX_MAP_HUGETLB = 0x40000,
};

#endif
