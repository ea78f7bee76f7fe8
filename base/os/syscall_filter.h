/*
 * syscall_filter.h - the system calls that a verb never makes, forbidden by seccomp: what no
 * path is part of, or what Landlock does not know or came to know late.
 */
#ifndef BASE_OS_SYSCALL_FILTER_H
#define BASE_OS_SYSCALL_FILTER_H

/* 1 if the kernel and this architecture have such filters. */
int syscall_filter_exists(void);

/* Forbid permanently, for this thread and all it makes later, what none of the abilities in `may`
 * (landlock.h) allows. The process must have given up new privileges. Does nothing where
 * syscall_filter_exists does not. */
void syscall_filter_enter(unsigned may);

#endif
