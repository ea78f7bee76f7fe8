/*
 * build_args.c - what a thread waits on: the first argument of the system call in which it left
 * its CPU; see build_internal.h.
 *
 * A switch-out shows the user's registers as they were when the thread entered the kernel. In a
 * system call they hold its arguments: x86-64 di, si, dx ..., arm64 x0, x1, x2 (the kernel
 * keeps x0 until it returns). The kernel's frames show which system call it was, and x86-64's
 * ax shows that it was one: the kernel sets it to -ENOSYS on entry (PUSH_AND_CLEAR_REGS in
 * arch/x86/entry/entry_64.S). Registers are recorded with --call-graph dwarf or
 * --user-regs=di,si,dx. Without them, a probe on the function that waits for a lock shows which
 * lock it was.
 *
 * A futex in a file's data has the name of its variable; one on the heap or a stack has only
 * its address.
 */
#include "base/bytes.h"
#include "base/search.h"
#include "libsym/unwind/arch.h"
#include "libtime/build/build_internal.h"
#include "libtime/sched/lock_mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ABI_64 = 2 }; /* enum perf_sample_regs_abi */

/* Register `bit` of a sample: 1, or 0 if it was not recorded. */
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

/* As the recorded kernel has it on all of these architectures; this system's may differ. */
enum { LINUX_ENOSYS = 38 };

int builder_argument(struct builder *b, const struct sample *s, uint16_t *index)
{
	int swap = b->rec->swap;
	uint64_t value, mark;
	*index = 0;
	if (s->regs_abi != ABI_64)
		return 0;
	const struct arch *arch = expander_arch(b->rec);
	if (!arch || !user_register(s, arch->call_arg, swap, &value))
		return 0;
	if (user_register(s, arch->call_mark, swap, &mark) && mark != (uint64_t)-LINUX_ENOSYS)
		return 0; /* a page fault, an interrupt */
	return value <= INT64_MAX ? timeline_arg(b->tl, value, 0, index) : 0;
}

/* What a system call's first argument is, by the call's name. Only a listening socket blocks in
 * accept, only a connecting one in connect. */
static uint8_t kind_by_call(const char *call, size_t n)
{
	static const struct {
		const char *call;
		uint8_t kind;
	} calls[] = {{"futex", ARG_FUTEX},       {"read", ARG_FD},
		     {"readv", ARG_FD},          {"pread64", ARG_FD},
		     {"preadv", ARG_FD},         {"preadv2", ARG_FD},
		     {"write", ARG_FD},          {"writev", ARG_FD},
		     {"pwrite64", ARG_FD},       {"pwritev", ARG_FD},
		     {"pwritev2", ARG_FD},       {"ioctl", ARG_FD},
		     {"fsync", ARG_FD},          {"fdatasync", ARG_FD},
		     {"fallocate", ARG_FD},      {"flock", ARG_FD},
		     {"fcntl", ARG_FD},          {"recvfrom", ARG_SOCKET},
		     {"recvmsg", ARG_SOCKET},    {"recvmmsg", ARG_SOCKET},
		     {"sendto", ARG_SOCKET},     {"sendmsg", ARG_SOCKET},
		     {"sendmmsg", ARG_SOCKET},   {"accept", ARG_LISTENING},
		     {"accept4", ARG_LISTENING}, {"connect", ARG_CONNECTED},
		     {"epoll_wait", ARG_EPOLL},  {"epoll_pwait", ARG_EPOLL},
		     {"epoll_pwait2", ARG_EPOLL}};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strlen(calls[i].call) == n && !memcmp(call, calls[i].call, n))
			return calls[i].kind;
	return ARG_NONE;
}

/* Refine a descriptor's kind by the context, unless they contradict each other: then the number
 * was another file's during the wait. */
static uint8_t kind_in_context(uint8_t by_call, uint8_t known)
{
	int epoll = known >= ARG_EPOLL && known <= ARG_EPOLL_CONNECTED;
	switch (by_call) {
	case ARG_FD:
		return known;
	case ARG_SOCKET:
		return known == ARG_ACCEPTED || known == ARG_CONNECTED ? known : by_call;
	case ARG_EPOLL:
		return epoll ? known : by_call;
	default:
		return by_call;
	}
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

/* The kind for an interval: from the system call if those were recorded, else from the stack.
 */
static int kind_of(const struct timeline *tl, const struct offcpu *o, struct u64map *memo,
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

/* Name a futex by its variable. `memo`: space << 16 | argument → argument with a name. */
static int name_futex(struct builder *b, struct offcpu *o, struct u64map *memo)
{
	struct timeline *tl = b->tl;
	const struct tl_thread *t = &tl->threads.v[o->thread];
	uint32_t space = builder_view(b, t->pid, t->tid, o->start_ns)->space, known, name = 0;
	uint64_t value = tl->args.v[o->arg].value;
	uint64_t key = (uint64_t)space << 16 | o->arg;
	if (space == NO_ID || u64map_get(memo, key, &known)) {
		o->arg = space == NO_ID ? o->arg : (uint16_t)known;
		return 0;
	}
	int r = modules_variable_at(b->p->modules, space, value, o->start_ns, &name);
	if (r == 1)
		r = timeline_arg(tl, value, name, &o->arg);
	return r || u64map_put(memo, key, o->arg) ? ERR_NOMEM : 0;
}

/* --- locks by a probe ----------------------------------------------------------------- */

struct probed_locks {
	VEC(struct lock_mark) hit; /* by thread, then in time */
	struct u64map inside;      /* path → whether it waits in the probed function */
};

static int hit_order(const void *a, const void *b)
{
	const struct lock_mark *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int find_hits(const struct timeline *tl, struct probed_locks *p)
{
	struct lock_mark hit;
	for (size_t i = 0; i < tl->marks.n; i++)
		if (lock_mark_read(tl, &tl->marks.v[i], &hit) && hit.address &&
		    vec_push(&p->hit, hit))
			return ERR_NOMEM;
	if (p->hit.n)
		qsort(p->hit.v, p->hit.n, sizeof(*p->hit.v), hit_order);
	return 0;
}

/* __lll_lock_wait under any of its names, but not __lll_lock_wait_private, which has no probe.
 */
static int waits_inside(const struct stacks *s, uint32_t path)
{
	for (; path; path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		const char *name = strtab_get(&s->strings, f->name);
		const char *at = f->kind == FRAME_KERNEL ? NULL : strstr(name, "lll_lock_wait");
		if (at)
			return !strstr(at, "_private");
	}
	return 0;
}

/* The lock that an interval waits for: that of its thread's last hit, since each wait has one.
 */
static int find_probed(struct timeline *tl, struct offcpu *o, struct probed_locks *p,
		       struct u64map *kinds)
{
	uint32_t inside, kind;
	if (!u64map_get(&p->inside, o->path, &inside)) {
		inside = (uint32_t)waits_inside(tl->stacks, o->path);
		if (u64map_put(&p->inside, o->path, inside))
			return ERR_NOMEM;
	}
	if (!inside)
		return 0;
	if (kind_of(tl, o, kinds, &kind))
		return ERR_NOMEM;
	const struct lock_mark now = {.time_ns = o->start_ns, .thread = o->thread};
	size_t at = PARTITION_POINT(i, 0, p->hit.n, hit_order(&p->hit.v[i], &now) <= 0);
	if (!at || kind != ARG_FUTEX || p->hit.v[at - 1].thread != o->thread ||
	    p->hit.v[at - 1].address > INT64_MAX)
		return 0;
	return timeline_arg(tl, p->hit.v[at - 1].address, 0, &o->arg);
}

/* --- all of them ---------------------------------------------------------------------- */

/* Add the target of a descriptor that a thread waited on as a fact, each once. */
static int add_target(struct builder *b, struct u64map *known, int32_t pid, uint64_t fd)
{
	const char *target = fd_context_target(b->opt->context, pid, fd);
	uint64_t key = (uint64_t)(uint32_t)pid << 32 | fd;
	struct strtab *s = &b->tl->stacks->strings;
	struct tl_fact f = {0};
	char subject[48];
	uint32_t yes;
	if (!target || u64map_get(known, key, &yes))
		return 0;
	snprintf(subject, sizeof(subject), "%d/%llu", pid, (unsigned long long)fd);
	if (u64map_put(known, key, 1) || strtab_intern(s, "fd", &f.kind) ||
	    strtab_intern(s, subject, &f.subject) || strtab_intern(s, "target", &f.key) ||
	    strtab_intern(s, target, &f.before))
		return ERR_NOMEM;
	f.after = f.before;
	return vec_push(&b->tl->facts, f);
}

/* What has been found out about arguments. */
struct found {
	struct u64map kinds, futexes, targets;
	struct probed_locks probed;
};

static int find_argument(struct builder *b, struct offcpu *o, struct found *known)
{
	const struct timeline *tl = b->tl;
	const struct fd_context *context = b->opt->context;
	uint32_t kind;
	if (kind_of(tl, o, &known->kinds, &kind))
		return ERR_NOMEM;
	if (kind >= ARG_FD && context) {
		int32_t pid = tl->threads.v[o->thread].pid;
		uint64_t fd = tl->args.v[o->arg].value;
		kind = kind_in_context((uint8_t)kind, fd_context_kind(context, pid, fd));
		if (add_target(b, &known->targets, pid, fd))
			return ERR_NOMEM;
	}
	o->arg_kind = (uint8_t)kind;
	o->arg = kind ? o->arg : 0;
	return kind == ARG_FUTEX ? name_futex(b, o, &known->futexes) : 0;
}

int builder_find_arguments(struct builder *b, struct err *e)
{
	struct found known = {.kinds = {0}};
	int r = b->opt->context ? fact_table_apply(fd_context_facts(b->opt->context), b->tl)
				: 0;
	if (!r)
		r = find_hits(b->tl, &known.probed);
	size_t n = b->tl->args.n || known.probed.hit.n ? b->tl->offcpu.n : 0;
	for (size_t i = 0; !r && i < n; i++) {
		struct offcpu *o = &b->tl->offcpu.v[i];
		if (!o->arg && known.probed.hit.n && !(o->flags & OFF_RUNNING))
			r = find_probed(b->tl, o, &known.probed, &known.kinds);
		if (!r && o->arg)
			r = find_argument(b, o, &known);
	}
	vec_release(&known.probed.hit);
	u64map_release(&known.probed.inside);
	u64map_release(&known.kinds);
	u64map_release(&known.futexes);
	u64map_release(&known.targets);
	return r ? err_nomem(e) : 0;
}
