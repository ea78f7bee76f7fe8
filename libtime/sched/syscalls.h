/*
 * syscalls.h - names of system calls, for the rules of causes.rules that use them.
 *
 * raw_syscalls:sys_enter has a number, whose meaning depends on the recorded machine's
 * architecture; syscalls:sys_enter_NAME has the name. A futex call's operation says more than
 * its name.
 */
#ifndef LIBTIME_SCHED_SYSCALLS_H
#define LIBTIME_SCHED_SYSCALLS_H

#include <stdint.h>

enum { SYSCALL_TEXT = 48 };

/* The name of a number on `arch`, as uname prints it ("x86_64", "aarch64"): 1, or 0 and "" if
 * it is not known. 32-bit programs on 64-bit kernels have other numbers: their names are wrong.
 */
int syscall_name(const char *arch, int64_t number, char out[SYSCALL_TEXT]);

/* What a rule's syscall= is compared with: the name, "futex:wait_bitset" where the operation
 * (second argument) is known, else (-1) "futex"; the number where there is no name. */
void syscall_text(const char *name, int64_t number, int64_t futex_op, char out[SYSCALL_TEXT]);

#endif
