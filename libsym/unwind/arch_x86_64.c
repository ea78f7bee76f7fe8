/* x86-64, and its 32-bit programs, whose registers the kernel marks as such. */
#include "libsym/unwind/arch.h"
#include "libsym/elf/symtab.h"

#include <elf.h>
#include <string.h>

/* arch/x86/include/uapi/asm/perf_regs.h */
static const uint8_t perf_bit[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

/* --- calls ------------------------------------------------------------------------------ */

enum { CALL_BYTES = 7, E8 = 0xe8, DIRECT_CALL = 5 };

/* Length of an instruction FF /2 (call through register or memory) at p, 0 if it is not one;
 * n readable bytes. A prefix before it does not matter here. */
static unsigned call_indirect(const uint8_t *p, unsigned n)
{
	if (n < 2 || p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return 0;
	unsigned mod = p[1] >> 6, rm = p[1] & 7, len = 2;
	if (mod == 3)
		return len;
	if (rm == 4) { /* SIB */
		if (n < 3)
			return 0;
		if (mod == 0 && (p[2] & 7) == 5)
			len += 4;
		len++;
	} else if (mod == 0 && rm == 5) {
		len += 4; /* rip + disp32 */
	}
	return len + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static int indirect_before(const uint8_t *before, unsigned n)
{
	for (unsigned len = 2; len <= CALL_BYTES && len <= n; len++)
		if (call_indirect(before + n - len, len) == len)
			return 1;
	return 0;
}

static int after_call(const uint8_t *before, unsigned n)
{
	return (n >= DIRECT_CALL && before[n - DIRECT_CALL] == E8) ||
	       indirect_before(before, n);
}

static int call_target(const uint8_t *before, uint64_t ra, uint64_t *target)
{
	const uint8_t *call = before + CALL_BYTES - DIRECT_CALL;
	if (*call != E8 || indirect_before(before, CALL_BYTES))
		return 0;
	*target = ra + (uint64_t)(int64_t)(int32_t)arch_code32(call + 1);
	return 1;
}

/* push %rbp; mov %rsp,%rbp is two instructions; the second has two encodings. */
static int sets_fp(const uint8_t *b)
{
	return !memcmp(b, "\x55\x48\x89\xe5", 4) || !memcmp(b, "\x55\x48\x8b\xec", 4);
}

/* --- precise events --------------------------------------------------------------------- */

static int is_call(const uint8_t *b, unsigned n)
{
	/* notrack, operand size, bnd, REX: not relevant here */
	while (n && (*b == 0x3e || *b == 0x66 || *b == 0xf2 || (*b & 0xf0) == 0x40)) {
		b++;
		n--;
	}
	return (n == DIRECT_CALL && *b == E8) || (n && call_indirect(b, n) == n);
}

/* ret; ret $n; repz ret */
static int is_return(const uint8_t *b, size_t n)
{
	return n >= 2 && (b[0] == 0xc3 || b[0] == 0xc2 || (b[0] == 0xf3 && b[1] == 0xc3));
}

static unsigned moves_sp(const uint8_t *b, size_t n)
{
	static const struct {
		uint8_t mask[3], is[3], bytes, length;
	} forms[] = {
		{{0xf0}, {0x50}, 1, 1},                         /* push, pop */
		{{0xff, 0xf0}, {0x41, 0x50}, 2, 2},             /* … of r8 to r15 */
		{{0xff}, {0xc9}, 1, 1},                         /* leave */
		{{0xff, 0xff, 0xf7}, {0x48, 0x83, 0xc4}, 3, 4}, /* add $n,%rsp */
		{{0xff, 0xff, 0xff}, {0x48, 0x83, 0xec}, 3, 4}, /* sub */
		{{0xff, 0xff, 0xff}, {0x48, 0x81, 0xc4}, 3, 7},
		{{0xff, 0xff, 0xff}, {0x48, 0x81, 0xec}, 3, 7},
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		unsigned k = 0;
		while (k < forms[i].bytes && k < n &&
		       (b[k] & forms[i].mask[k]) == forms[i].is[k])
			k++;
		if (k == forms[i].bytes)
			return forms[i].length;
	}
	return 0;
}

/* call f: e8 rel32. */
static int next_call(const uint8_t *b, size_t n, size_t *at, uint64_t *returns,
		     uint64_t *target)
{
	if (*at > n || n - *at < DIRECT_CALL)
		return 0;
	const uint8_t *p = memchr(b + *at, E8, n - *at - (DIRECT_CALL - 1));
	if (!p)
		return 0;
	*returns = (uint64_t)(p - b) + DIRECT_CALL;
	*target = *returns + (uint64_t)(int64_t)(int32_t)arch_code32(p + 1);
	*at = (size_t)(p - b) + 1; /* the operand may contain one, too */
	return 1;
}

static const struct arch_late late = {is_call, is_return, moves_sp, next_call};

/* --- PLT -------------------------------------------------------------------------------- */

static int is_endbr64(const uint8_t *p)
{
	return p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3] == 0xfa;
}

static unsigned plt_pushed(const uint8_t *b, unsigned offset)
{
	unsigned push_end = 0;
	if (b[0] == 0xff && b[1] == 0x35) /* PLT0: push GOT[1]; jmp *GOT[2] */
		return offset < 6 ? 8 : 16;
	if (b[0] == 0xff && b[1] == 0x25 && b[6] == 0x68)
		push_end = 11;
	else if (is_endbr64(b) && b[4] == 0x68)
		push_end = 9;
	else if (b[0] == 0x68)
		push_end = 5;
	return push_end && offset >= push_end ? 8 : 0;
}

/*
 * A stub fills an entry of 8 or 16 bytes: [endbr64] [bnd] jmp *slot(%rip), or, where .plt.sec
 * has the jumps, [endbr64] push $index.
 */
static int plt_stub(const struct plt_bytes *s, size_t from, struct plt_stub *out)
{
	size_t n = s->step, at;
	const uint8_t *p = s->p + from;
	if (n > s->n - from)
		return 0;
	*out = (struct plt_stub){.start = from, .end = from + n};
	at = n >= 10 && is_endbr64(p) ? 4 : 0;
	if (at + 5 <= n && p[at] == 0x68) {
		out->kind = PLT_INDEX;
		out->value = arch_code32(p + at + 1);
		return 1;
	}
	if (at + 7 <= n && p[at] == 0xf2)
		at++;
	if (at + 6 > n || p[at] != 0xff || (p[at + 1] != 0x25 && p[at + 1] != 0x35))
		return 0;
	/* 35: push GOT[1](%rip) */
	out->kind = p[at + 1] == 0x35 ? PLT_HEADER : PLT_SLOT;
	out->value =
		s->addr + from + at + 6 + (uint64_t)(int64_t)(int32_t)arch_code32(p + at + 2);
	return 1;
}

static const struct plt_shapes plt = {
	.jump_slot = R_X86_64_JUMP_SLOT,
	.glob_dat = R_X86_64_GLOB_DAT,
	.irelative = R_X86_64_IRELATIVE,
	.stub = plt_stub,
};

/* --- signals ---------------------------------------------------------------------------- */

/* mov $__NR_rt_sigreturn,%rax; syscall */
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* arch/x86/include/uapi/asm/{ucontext,sigcontext}.h: after the frame's return address comes
 * struct ucontext, then siginfo. */
enum { GREGS = 40 };

/* --- system calls: asm/unistd_64.h ------------------------------------------------------ */

static const char syscalls[] =
	"0 read write open close stat fstat lstat poll lseek mmap mprotect munmap "
	"brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64 pwrite64 readv "
	"writev access pipe select sched_yield mremap msync mincore madvise shmget "
	"shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid "
	"sendfile socket connect accept sendto recvfrom sendmsg recvmsg shutdown "
	"bind listen getsockname getpeername socketpair setsockopt getsockopt clone "
	"fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget "
	"msgsnd msgrcv msgctl fcntl flock fsync fdatasync truncate ftruncate "
	"getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink symlink "
	"readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit "
	"getrusage sysinfo times ptrace getuid syslog getgid setuid setgid geteuid "
	"getegid setpgid getppid getpgrp setsid setreuid setregid getgroups "
	"setgroups setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid "
	"getsid capget capset rt_sigpending rt_sigtimedwait rt_sigqueueinfo "
	"rt_sigsuspend sigaltstack utime mknod uselib personality ustat statfs "
	"fstatfs sysfs getpriority setpriority sched_setparam sched_getparam "
	"sched_setscheduler sched_getscheduler sched_get_priority_max "
	"sched_get_priority_min sched_rr_get_interval mlock munlock mlockall "
	"munlockall vhangup modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex "
	"setrlimit chroot sync acct settimeofday mount umount2 swapon swapoff reboot "
	"sethostname setdomainname iopl ioperm create_module init_module "
	"delete_module get_kernel_syms query_module quotactl nfsservctl getpmsg "
	"putpmsg afs_syscall tuxcall security gettid readahead setxattr lsetxattr "
	"fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
	"removexattr lremovexattr fremovexattr tkill time futex sched_setaffinity "
	"sched_getaffinity set_thread_area io_setup io_destroy io_getevents "
	"io_submit io_cancel get_thread_area lookup_dcookie epoll_create "
	"epoll_ctl_old epoll_wait_old remap_file_pages getdents64 set_tid_address "
	"restart_syscall semtimedop fadvise64 timer_create timer_settime "
	"timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime "
	"clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes "
	"vserver mbind set_mempolicy get_mempolicy mq_open mq_unlink mq_timedsend "
	"mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key "
	"request_key keyctl ioprio_set ioprio_get inotify_init inotify_add_watch "
	"inotify_rm_watch migrate_pages openat mkdirat mknodat fchownat futimesat "
	"newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat "
	"pselect6 ppoll unshare set_robust_list get_robust_list splice tee "
	"sync_file_range vmsplice move_pages utimensat epoll_pwait signalfd "
	"timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 "
	"signalfd4 eventfd2 epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev "
	"rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init fanotify_mark "
	"prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg "
	"setns getcpu process_vm_readv process_vm_writev kcmp finit_module "
	"sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create "
	"kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range "
	"preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents "
	"rseq "
	"424 pidfd_send_signal io_uring_setup io_uring_enter io_uring_register "
	"open_tree move_mount fsopen fsconfig fsmount fspick pidfd_open clone3 "
	"close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 "
	"mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule "
	"landlock_restrict_self memfd_secret process_mrelease futex_waitv "
	"set_mempolicy_home_node ";

const struct arch arch_x86_64 = {
	.machine = EM_X86_64,
	.word = 8,
	.names = {"x86_64"},
	.pc = X86_RIP,
	.sp = X86_RSP,
	.fp = X86_RBP,
	.ra = X86_RIP,
	.lr = ARCH_NONE,
	.perf_bit = perf_bit,
	.perf_bits = sizeof(perf_bit),
	.kept = 1 << 3 | 1 << X86_RBP | 0xf << 12, /* psABI 3.2.1 */
	.dump_regs = 0xff0fff,
	/* entry code saves only part of the registers: arch/x86/kernel/perf_regs.c gives -1 */
	.ones_unknown = 1,
	.record_fp = 0,
	.record_ra = 8,
	.record_end = 16,
	.after_call = after_call,
	.call_max = CALL_BYTES,
	.call_min = 2,
	.call_step = 1,
	.call_target = call_target,
	.sets_fp = sets_fp,
	.plt_pushed = plt_pushed,
	.sigframe = {.pc = GREGS + 8 * 16,
		     .sp = GREGS + 8 * 15,
		     .fp = GREGS + 8 * 10,
		     .mark = GREGS + 8 * 18, /* the code segment */
		     .mark_mask = 0xffff,
		     .mark_is = 0x33,
		     .code = sigreturn,
		     .code_size = sizeof(sigreturn),
		     .syscall = 7},
	.late = &late,
	.plt = &plt,
	.syscalls = syscalls,
	.first_arg = "%di",
	.call_arg = 5,  /* di */
	.call_mark = 0, /* ax: PUSH_AND_CLEAR_REGS in arch/x86/entry/entry_64.S */
	.has_vdso32 = 1,
	.compat = EM_386,
};

/* --- 32-bit programs ---------------------------------------------------------------------- */

static const uint8_t perf_bit32[] = {0, 2, 3, 1, 7, 6, 4, 5, 8};

static int sets_fp32(const uint8_t *b)
{
	return !memcmp(b, "\x55\x89\xe5", 3) || !memcmp(b, "\x55\x8b\xec", 3);
}

/* Their signal trampolines are in their vdso, whose CFI marks them. */
const struct arch arch_i386 = {
	.machine = EM_386,
	.word = 4,
	.pc = I386_EIP,
	.sp = I386_ESP,
	.fp = I386_EBP,
	.ra = I386_EIP,
	.lr = ARCH_NONE,
	.perf_bit = perf_bit32,
	.perf_bits = sizeof(perf_bit32),
	.kept = 1 << 3 | 1 << I386_EBP | 3 << 6, /* ebx, ebp, esi, edi */
	.dump_regs = 0xff0fff,
	.ones_unknown = 1,
	.record_fp = 0,
	.record_ra = 4,
	.record_end = 8,
	.after_call = after_call,
	.call_max = CALL_BYTES,
	.call_min = 2,
	.call_step = 1,
	.call_target = call_target,
	.sets_fp = sets_fp32,
	.call_arg = ARCH_NONE,
	.call_mark = ARCH_NONE,
};
