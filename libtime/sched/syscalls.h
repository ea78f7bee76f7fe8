/*
 * syscalls.h - what a system call is called, for the rules of causes.rules that name one.
 *
 * raw_syscalls:sys_enter has a number, which means what the recorded machine's architecture
 * says; syscalls:sys_enter_NAME has the name. Of a futex call the operation says more than the
 * name.
 */
#ifndef LIBTIME_SCHED_SYSCALLS_H
#define LIBTIME_SCHED_SYSCALLS_H

#include <stdint.h>

enum { SYSCALL_TEXT = 48 };

/* The name of a number on `arch` as uname says it ("x86_64", "aarch64"): 1, or 0 and "" where
 * it is not known. 32-bit programs on 64-bit kernels have other numbers and come out wrong. */
int syscall_name(const char *arch, int64_t number, char out[SYSCALL_TEXT]);

/* What a rule's syscall= is compared with: the name, "futex:wait_bitset" where the operation
 * (second argument) is known, else (-1) "futex"; the number where there is no name. */
void syscall_text(const char *name, int64_t number, int64_t futex_op, char out[SYSCALL_TEXT]);

#endif
