/*
 * build_args.c - what a thread waits on: the first argument of the system call it left its CPU
 * in; see build_internal.h.
 *
 * A switch-out shows the user's registers as they were when the thread entered the kernel. In a
 * system call they hold its arguments: x86-64 di, si, dx ..., arm64 x0, x1, x2 (the kernel
 * keeps x0 until it returns). That it was a system call, and which, the kernel's frames tell,
 * and x86-64's ax, which the kernel sets to -ENOSYS on entry (PUSH_AND_CLEAR_REGS in
 * arch/x86/entry/entry_64.S). Whole registers come with --call-graph dwarf; else with
 * --user-regs=di,si,dx.
 */
#include "base/bytes.h"
#include "libsym/unwind/arch.h"
#include "libtime/build/build_internal.h"

#include <errno.h>
#include <string.h>

enum { ABI_64 = 2 }; /* enum perf_sample_regs_abi */

/* Register `bit` of a sample: 1, or 0 where it was not recorded. */
static int user_register(const struct sample *s, unsigned bit, int swap, uint64_t *value)
{
	uint64_t mask = s->event->attr.sample_regs_user;
	uint64_t below = bit < 64 ? mask & ((1ull << bit) - 1) : 0;
	uint64_t at = (uint64_t)__builtin_popcountll(below);
	if (bit == ARCH_NONE || !(mask >> bit & 1) || at >= s->regs_user.n)
		return 0;
	*value = load_u64(s->regs_user.p + at * 8, swap);
	return 1;
}

int builder_argument(struct builder *b, const struct sample *s, uint16_t *index)
{
	int swap = b->rec->swap;
	const struct arch *arch = expander_arch(b->rec);
	uint64_t value, mark;
	*index = 0;
	if (s->regs_abi != ABI_64)
		return 0;
	if (!arch || !user_register(s, arch->call_arg, swap, &value))
		return 0;
	if (user_register(s, arch->call_mark, swap, &mark) && mark != (uint64_t)-ENOSYS)
		return 0; /* a page fault, an interrupt */
	return value <= INT64_MAX ? timeline_arg(b->tl, value, index) : 0;
}

/* What a system call's first argument is, by the call's name. */
static uint8_t kind_by_call(const char *call, size_t n)
{
	static const char *const descriptors[] = {
		"read",        "readv",   "pread64",     "preadv",    "preadv2",
		"write",       "writev",  "pwrite64",    "pwritev",   "pwritev2",
		"recvfrom",    "recvmsg", "recvmmsg",    "sendto",    "sendmsg",
		"sendmmsg",    "accept",  "accept4",     "connect",   "epoll_wait",
		"epoll_pwait", "ioctl",   "fsync",       "fdatasync", "fallocate",
		"flock",       "fcntl",   "epoll_pwait2"};
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++)
		if (strlen(descriptors[i]) == n && !memcmp(call, descriptors[i], n))
			return ARG_FD;
	return n == 5 && !memcmp(call, "futex", n) ? ARG_FUTEX : ARG_NONE;
}

/* "__x64_sys_recvfrom", the frame of a system call, or of a function that has its arguments. */
static uint8_t kind_by_frame(const char *name)
{
	static const char *const prefixes[] = {"__x64_sys_", "__arm64_sys_", "__se_sys_",
					       "__do_sys_",  "__sys_",       "ksys_",
					       "SyS_",       "sys_"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);
		if (!strncmp(name, prefixes[i], n))
			return kind_by_call(name + n, strcspn(name + n, "."));
	}
	return ARG_NONE;
}

/* By the kernel's frames at the end of a stack. */
static uint8_t kind_by_path(const struct stacks *s, uint32_t path)
{
	uint8_t kind = ARG_NONE;
	for (; path && !kind; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		if (f->kind != FRAME_KERNEL)
			break;
		kind = kind_by_frame(strtab_get(&s->strings, f->name));
	}
	return kind;
}

/* The same of one interval; where system calls were recorded these tell. */
static int kind_of(const struct timeline *tl, const struct off *o, struct u64map *memo,
		   uint32_t *kind)
{
	const char *call = o->syscall < tl->syscalls.n ? strtab_get(&tl->stacks->strings,
								    tl->syscalls.v[o->syscall])
						       : "";
	if (*call) {
		*kind = kind_by_call(call, strcspn(call, ":"));
		return 0;
	}
	if (u64map_get(memo, o->path, kind))
		return 0;
	*kind = kind_by_path(tl->stacks, o->path);
	return u64map_put(memo, o->path, *kind);
}

int builder_settle_arguments(struct builder *b, struct err *e)
{
	struct timeline *tl = b->tl;
	struct u64map memo = {0};
	uint32_t kind;
	int r = 0;
	for (size_t i = 0; !r && tl->args.n && i < tl->off.n; i++) {
		struct off *o = &tl->off.v[i];
		if (!o->arg || (r = kind_of(tl, o, &memo, &kind)))
			continue;
		if (kind == ARG_FD && b->opt->context)
			kind = fd_context_kind(b->opt->context, tl->threads.v[o->thread].pid,
					       tl->args.v[o->arg]);
		o->arg_kind = (uint8_t)kind;
		o->arg = kind ? o->arg : 0;
	}
	u64map_release(&memo);
	return r ? err_nomem(e) : 0;
}
