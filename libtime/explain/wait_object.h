/*
 * wait_object.h - what a thread waited for, and where in the kernel it was, by the general
 * evidence that each wait has: its cause, its stack, the lock's symbol. mechanisms.rules has the
 * words for what is known more exactly.
 */
#ifndef LIBTIME_EXPLAIN_WAIT_OBJECT_H
#define LIBTIME_EXPLAIN_WAIT_OBJECT_H

#include "libtime/explain/told.h"

/* What a wait of a cause is for, and what the thread that ends it does: "a semaphore",
 * "posted". `object` is NULL if there are no such words. */
struct wait_words {
	const char *object, *verb;
};
struct wait_words words_of_wait(const struct timeline *tl, unsigned cause, uint32_t path);

/* 1 for vfork and posix_spawn, which wait until the child calls exec, not until it ends. */
int waited_for_exec(const struct timeline *tl, uint32_t path);

/* 1 when it waited for room to write or send, not for data. */
int waited_to_send(const struct timeline *tl, uint32_t path);

/* "waiting for the GIL", "asleep", "blocked (unknown)": a wait of that cause and stack; `m` is
 * its mechanism, or NULL. */
void told_waiting(struct told *to, const struct timeline *tl, unsigned cause, uint32_t path,
		  const struct mechanism *m);

/* " (book)", the symbol of the futex that an interval waited for; or " (taken in
 * ext4_iget())", the kernel function that takes the lock. Nothing if neither is known. */
void told_lock_name(struct told *to, const struct timeline *tl, uint32_t offcpu, uint32_t path);

/* " in ftruncate()", the system call that a stack is in; nothing if it shows none, or if the
 * function said before, a frame id or 0, has that name. */
void told_syscall(struct told *to, const struct timeline *tl, uint32_t path, uint32_t said);

#endif
