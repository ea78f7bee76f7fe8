/*
 * os.h - what perfkit asks of the operating system beyond POSIX, and what it asks whether the
 * system can.
 *
 * linux.c is Linux; portable.c is everything else, of which WebAssembly is tested: what cannot
 * be had there is left out (pages are not populated) or refused (a file that gets its name
 * late), and callers go the way they go on a Linux that refuses. No other room tells systems
 * apart (tests/house.sh).
 */
#ifndef BASE_OS_OS_H
#define BASE_OS_OS_H

#include <stddef.h>
#include <stdint.h>

/* --- memory ------------------------------------------------------------------------------ */

/* Advise large pages for this memory. */
void os_use_large_pages(void *p, size_t n);

/* The bytes that malloc gave for p. */
size_t os_allocated(void *p);

/* Have blocks from this size on returned to the system when they are freed. */
void os_return_freed(size_t size);

/* 1 if memory that is not touched costs nothing but address space. */
int os_can_reserve(void);

/* Have these pages there, where that is cheaper at once than one by one. */
void os_populate(void *p, size_t n);

/* Forget the content of these whole pages: those of a file are read again. */
void os_drop_pages(void *p, size_t n);

/* This process may have so many bytes of memory, if it may have more now. */
void os_limit_memory(uint64_t bytes);

/* The limit if n more bytes exceed it; else 0. */
uint64_t os_limit_exceeded(uint64_t n);

/* 1 if an allocation went beyond the limit, where the system does not refuse it itself. */
int os_is_beyond_limit(void);

/* --- files ------------------------------------------------------------------------------- */

/* Map a file for reading; NULL with errno. */
void *os_map(int fd, uint64_t n);

/* pread(2), of at most 1 GB. */
long os_read_at(int fd, void *buf, size_t n, uint64_t offset);

/* 1 if os_map copies, so that large files are better read in pieces. */
int os_map_is_copy(void);

/* The reader will go through these mapped bytes once. */
void os_read_ahead(void *p, size_t n);

/* Return what os_map gave. */
void os_unmap(const void *p, size_t n);

/* An open file without a name in this folder; -1 with errno. */
int os_unnamed_file(const char *folder);

/* The same, written only and with this mode, for os_name_file. */
int os_nameable_file(const char *folder, unsigned mode);

/* Give a file of os_nameable_file its name. 0; -1 with errno. */
int os_name_file(int fd, const char *path);

/* The same of memory that the system writes out when it is short: -1 if mappings are copies. */
int os_paging_file(const char *folder);

/* Extend a paging file and its mapping `p` of `had` bytes (0: none yet) to n; disk space is
 * allocated. NULL with errno: ENOMEM, else the disk's reason. */
void *os_grow_paging(int fd, void *p, size_t had, size_t n);

/* Return disk space and content of a part of a paging file. */
void os_punch(int fd, uint64_t from, uint64_t n);

/* 1 if an open file is the kernel's (procfs, sysfs, debugfs, tracefs). */
int os_is_pseudo(int fd);

/* The generation of a file's inode; 0: not known. */
uint32_t os_generation(int fd);

/* When a file's inode was made, in ns since 1970; 0: not known. */
int64_t os_born_ns(int fd);

/* Entries of an open folder from where it is being read, as system calls alone, so that a signal
 * handler may ask: bytes of struct os_entry in list, 0 at the end, < 0. */
struct os_entry {
	uint64_t ino;
	int64_t off;
	unsigned short size; /* the next one begins so many bytes behind */
	unsigned char type;
	char name[];
};
long os_read_folder(int fd, char *list, size_t size);

/* --- the process ------------------------------------------------------------------------- */

/* Random bytes. 0, or -1. */
int os_random(void *p, size_t n);

/* Eight that need no system call after the first time, the same for the process's life. */
uint64_t os_seed(void);

/* The vdso's address; 0: none. */
uintptr_t os_vdso(void);

/* Threads made from now on have at least so large a stack, and so has this one. 0, or -1 with
 * the bytes it has. */
int os_stack(size_t least, uint64_t *has);

/* Give up privileges that programs bring. 0 on success. */
int os_no_new_privileges(void);

/* 1 if this kernel counts the CPU's cycles for us. */
int os_counts_cycles(void);

/* NULL if processes can be recorded, run and watched here; else the name of what this is. */
const char *os_without_processes(void);

#endif
