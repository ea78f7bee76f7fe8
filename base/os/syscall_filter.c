#ifdef __linux__
#include "base/os/syscall_filter.h"
#include "base/os/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <link.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those that older headers lack; from 424 on the numbers are the same on all architectures. */
enum {
	SYS_io_uring_setup_ = 425,
	SYS_io_uring_enter_,
	SYS_io_uring_register_,
	SYS_open_tree_,
	SYS_move_mount_,
	SYS_fsopen_,
	SYS_fsconfig_,
	SYS_fsmount_,
	SYS_fspick_,
	SYS_clone3_ = 435,
	SYS_openat2_ = 437,
	SYS_pidfd_getfd_,
	SYS_pidfd_send_signal_ = 424,
	SYS_process_madvise_ = 440,
	SYS_mount_setattr_ = 442,
	SYS_quotactl_fd_,
	SYS_process_mrelease_ = 448,
	SYS_fchmodat2_ = 452,
	SYS_setxattrat_ = 463,
	SYS_removexattrat_ = 466,
	SYS_open_tree_attr_,
	SYS_file_setattr_ = 469,
	/* whatever newer kernels have instead of an older call, libraries can do without */
	NEWEST = 470,
};

enum test {
	ALWAYS,
	EQUALS,   /* the masked argument is the value */
	HAS_ANY,  /* a bit of the mask is set */
	IS_SELF,  /* it is the id of this process */
	OR_NEWER, /* the number, or a greater one */
};

/* The first rule that applies decides. */
struct rule {
	int nr, error; /* error 0: allowed */
	unsigned unless;
	enum test test;
	int arg;
	unsigned mask, value;
};

#define DENY(name, unless)                           \
	{                                            \
		name, EPERM, unless, ALWAYS, 0, 0, 0 \
	}
#define WHEN(name, error, unless, arg, mask, value)           \
	{                                                     \
		name, error, unless, EQUALS, arg, mask, value \
	}
#define SELF(name)                           \
	{                                    \
		name, 0, 0, IS_SELF, 0, 0, 0 \
	}
#define ALL (~0u)
#define ACCESS 3u /* O_RDONLY, O_WRONLY, O_RDWR, and a fourth that only has ioctls */
#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)
enum { CLONE_FLAGS = -1 }; /* not at the same place everywhere */

static const struct rule rules[] = {
	/* programs */
	DENY(SYS_execve, MAY_EXECUTE),
	DENY(SYS_execveat, MAY_EXECUTE),
	/* the network: no sockets of the machine's own services, which act for who asks them */
	DENY(SYS_socket, MAY_CONNECT),
	WHEN(SYS_socket, 0, 0, 0, ALL, AF_INET),
	WHEN(SYS_socket, 0, 0, 0, ALL, AF_INET6),
	{SYS_socket, EAFNOSUPPORT, 0, ALWAYS, 0, 0, 0},
	DENY(SYS_connect, MAY_CONNECT),
	DENY(SYS_bind, MAY_CONNECT),
	DENY(SYS_listen, 0),
	/* other processes, and memory that is shared with them */
	SELF(SYS_kill),
	DENY(SYS_kill, 0),
	SELF(SYS_tkill),
	DENY(SYS_tkill, MAY_FORK),
	SELF(SYS_tgkill),
	DENY(SYS_tgkill, MAY_FORK),
	DENY(SYS_rt_sigqueueinfo, 0),
	DENY(SYS_rt_tgsigqueueinfo, 0),
	DENY(SYS_pidfd_send_signal_, 0),
	DENY(SYS_pidfd_getfd_, 0),
	DENY(SYS_process_madvise_, 0),
	DENY(SYS_process_mrelease_, 0),
#ifndef __SANITIZE_ADDRESS__ /* it looks for leaks as a debugger would */
	DENY(SYS_ptrace, 0),
#endif
	DENY(SYS_process_vm_readv, 0),
	DENY(SYS_process_vm_writev, 0),
	DENY(SYS_kcmp, 0),
	DENY(SYS_setpriority, 0),
	DENY(SYS_sched_setscheduler, 0),
	DENY(SYS_sched_setparam, 0),
	DENY(SYS_sched_setattr, 0),
	DENY(SYS_ioprio_set, 0),
	WHEN(SYS_prlimit64, 0, 0, 0, ALL, 0),
	SELF(SYS_prlimit64),
	DENY(SYS_prlimit64, 0),
	DENY(SYS_mq_open, 0),
	DENY(SYS_mq_unlink, 0),
#ifdef SYS_shmget
	DENY(SYS_shmget, 0),
	DENY(SYS_shmat, 0),
	DENY(SYS_shmctl, 0),
	DENY(SYS_msgget, 0),
	DENY(SYS_msgsnd, 0),
	DENY(SYS_msgctl, 0),
	DENY(SYS_semget, 0),
	DENY(SYS_semctl, 0),
#endif
	/* what files are, beside their bytes: an open file is enough for some of these */
	DENY(SYS_fchmod, 0),
	DENY(SYS_fchmodat, 0),
	DENY(SYS_fchmodat2_, 0),
	DENY(SYS_fchown, 0),
	DENY(SYS_fchownat, 0),
	DENY(SYS_setxattr, 0),
	DENY(SYS_lsetxattr, 0),
	DENY(SYS_fsetxattr, 0),
	DENY(SYS_setxattrat_, 0),
	DENY(SYS_removexattr, 0),
	DENY(SYS_lremovexattr, 0),
	DENY(SYS_fremovexattr, 0),
	DENY(SYS_removexattrat_, 0),
	DENY(SYS_file_setattr_, 0),
	DENY(SYS_utimensat, 0),
	DENY(SYS_mknodat, 0),
#ifdef FS_IOC_SETFLAGS
	WHEN(SYS_ioctl, EPERM, 0, 1, ALL, (unsigned)FS_IOC_SETFLAGS),
	WHEN(SYS_ioctl, EPERM, 0, 1, ALL, (unsigned)FS_IOC_FSSETXATTR),
#endif
	/* Landlock's before ABI 3 */
	DENY(SYS_truncate, 0),
	WHEN(SYS_openat, EPERM, 0, 2, ACCESS | O_TRUNC, O_TRUNC),
	WHEN(SYS_openat, EPERM, 0, 2, ACCESS | O_TRUNC, ACCESS | O_TRUNC),
	{SYS_openat2_, ENOSYS, HELD_TRUNCATE | MAY_SEE_PROCESSES, ALWAYS, 0, 0, 0},
	/* keys that a terminal would take for the user's */
	WHEN(SYS_ioctl, EPERM, 0, 1, ALL, TIOCSTI),
	WHEN(SYS_ioctl, EPERM, 0, 1, ALL, TIOCLINUX),
	/* namespaces, in which a process has all of root's rights to the kernel */
	DENY(SYS_unshare, 0),
	DENY(SYS_setns, 0),
	{SYS_clone, EPERM, 0, HAS_ANY, CLONE_FLAGS, NAMESPACES, 0},
	{SYS_clone3_, ENOSYS, 0, ALWAYS, 0, 0, 0}, /* its flags are in memory */
	/* the machine, and the parts of the kernel that programs have to be trusted with */
	DENY(SYS_mount, 0),
	DENY(SYS_umount2, 0),
	DENY(SYS_pivot_root, 0),
	DENY(SYS_chroot, 0),
	DENY(SYS_open_tree_, 0),
	DENY(SYS_open_tree_attr_, 0),
	DENY(SYS_move_mount_, 0),
	DENY(SYS_fsopen_, 0),
	DENY(SYS_fsconfig_, 0),
	DENY(SYS_fsmount_, 0),
	DENY(SYS_fspick_, 0),
	DENY(SYS_mount_setattr_, 0),
	DENY(SYS_swapon, 0),
	DENY(SYS_swapoff, 0),
	DENY(SYS_quotactl, 0),
	DENY(SYS_quotactl_fd_, 0),
	DENY(SYS_open_by_handle_at, 0),
	DENY(SYS_fanotify_init, 0),
	DENY(SYS_bpf, 0),
	DENY(SYS_perf_event_open, 0),
	{SYS_io_uring_setup_, ENOSYS, 0, ALWAYS, 0, 0, 0}, /* it makes calls for others */
	{SYS_io_uring_enter_, ENOSYS, 0, ALWAYS, 0, 0, 0},
	{SYS_io_uring_register_, ENOSYS, 0, ALWAYS, 0, 0, 0},
	{SYS_userfaultfd, ENOSYS, 0, ALWAYS, 0, 0, 0},
	DENY(SYS_add_key, 0),
	DENY(SYS_request_key, 0),
	DENY(SYS_keyctl, 0),
	DENY(SYS_init_module, 0),
	DENY(SYS_finit_module, 0),
	DENY(SYS_delete_module, 0),
	DENY(SYS_kexec_load, 0),
#ifdef SYS_kexec_file_load
	DENY(SYS_kexec_file_load, 0),
#endif
	DENY(SYS_reboot, 0),
	DENY(SYS_acct, 0),
	DENY(SYS_syslog, 0),
	DENY(SYS_settimeofday, 0),
	DENY(SYS_clock_settime, 0),
	DENY(SYS_adjtimex, 0),
	DENY(SYS_clock_adjtime, 0),
	DENY(SYS_sethostname, 0),
	DENY(SYS_setdomainname, 0),
	DENY(SYS_vhangup, 0),
/* what newer architectures do not have */
#ifdef SYS_open
	WHEN(SYS_open, EPERM, 0, 1, ACCESS | O_TRUNC, O_TRUNC),
	WHEN(SYS_open, EPERM, 0, 1, ACCESS | O_TRUNC, ACCESS | O_TRUNC),
	DENY(SYS_chmod, 0),
	DENY(SYS_chown, 0),
	DENY(SYS_lchown, 0),
	DENY(SYS_utimes, 0),
	DENY(SYS_futimesat, 0),
	DENY(SYS_mknod, 0),
	DENY(SYS_uselib, 0),
#endif
#ifdef SYS_utime
	DENY(SYS_utime, 0),
#endif
#ifdef SYS_iopl
	DENY(SYS_iopl, 0),
	DENY(SYS_ioperm, 0),
#endif
/* what those of 32 bits have beside */
#ifdef SYS_truncate64
	DENY(SYS_truncate64, 0),
#endif
#ifdef SYS_chown32
	DENY(SYS_chown32, 0),
	DENY(SYS_lchown32, 0),
	DENY(SYS_fchown32, 0),
#endif
#ifdef SYS_socketcall
	DENY(SYS_socketcall, 0),
#endif
#ifdef SYS_ipc
	DENY(SYS_ipc, 0),
#endif
#ifdef SYS_clock_settime64
	DENY(SYS_clock_settime64, 0),
	DENY(SYS_clock_adjtime64, 0),
	DENY(SYS_utimensat_time64, 0),
#endif
	{NEWEST + 1, ENOSYS, 0, OR_NEWER, 0, 0, 0},
};

enum { RULE_MAX = 6, PROGRAM_MAX = RULE_MAX * sizeof(rules) / sizeof(*rules) + 8 };

struct program {
	struct sock_filter v[PROGRAM_MAX];
	unsigned short n;
};

static void put(struct program *p, unsigned code, unsigned value, unsigned yes, unsigned no)
{
	p->v[p->n++] = (struct sock_filter){(unsigned short)code, (unsigned char)yes,
					    (unsigned char)no, value};
}

static void put_load(struct program *p, size_t offset)
{
	put(p, BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

static void put_return(struct program *p, int error)
{
	put(p, BPF_RET | BPF_K, error ? SECCOMP_RET_ERRNO | (unsigned)error : SECCOMP_RET_ALLOW,
	    0, 0);
}

/* The architecture of this program, from its own ELF header, as the filter sees it; 0 for one
 * that the filter was not written for. */
static unsigned own_architecture(void)
{
	extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
	static const unsigned known[] = {
		AUDIT_ARCH_X86_64,  AUDIT_ARCH_I386,  AUDIT_ARCH_AARCH64, AUDIT_ARCH_ARM,
		AUDIT_ARCH_RISCV64, AUDIT_ARCH_S390X, AUDIT_ARCH_PPC64,   AUDIT_ARCH_PPC64LE};
	const unsigned char *id = __ehdr_start.e_ident;
	unsigned own = __ehdr_start.e_machine |
		       (id[EI_CLASS] == ELFCLASS64 ? (unsigned)__AUDIT_ARCH_64BIT : 0) |
		       (id[EI_DATA] == ELFDATA2LSB ? (unsigned)__AUDIT_ARCH_LE : 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (own == known[i])
			return own;
	return 0;
}

/* The lower half of an argument: the kernel looks at no more of those that are tested. */
static size_t argument(int arg)
{
	if (arg == CLONE_FLAGS)
		arg = own_architecture() == AUDIT_ARCH_S390X;
	size_t at = offsetof(struct seccomp_data, args) + (size_t)arg * sizeof(__u64);
	return at + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(__u32) : 0);
}

/* Append a rule; its end is reached when it does not apply. */
static void put_rule(struct program *p, const struct rule *r)
{
	unsigned rest = r->test == ALWAYS || r->test == OR_NEWER ? 1
			: r->test == EQUALS                      ? 4
								 : 3;
	put_load(p, offsetof(struct seccomp_data, nr));
	put(p, BPF_JMP | BPF_K | (r->test == OR_NEWER ? BPF_JGE : BPF_JEQ), (unsigned)r->nr, 0,
	    rest);
	if (rest > 1)
		put_load(p, argument(r->arg));
	if (r->test == EQUALS)
		put(p, BPF_ALU | BPF_AND | BPF_K, r->mask, 0, 0);
	if (rest > 1)
		put(p, BPF_JMP | BPF_K | (r->test == HAS_ANY ? BPF_JSET : BPF_JEQ),
		    r->test == HAS_ANY   ? r->mask
		    : r->test == IS_SELF ? (unsigned)getpid()
					 : r->value,
		    0, 1);
	put_return(p, r->error);
}

int syscall_filter_exists(void)
{
	/* EFAULT where there is such a mode: it misses its program */
	return own_architecture() && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) &&
	       errno == EFAULT;
}

void syscall_filter_enter(unsigned may)
{
	struct program p = {.n = 0};
	unsigned arch = own_architecture();
	if (!arch)
		return;
	put_load(&p, offsetof(struct seccomp_data, arch));
	put(&p, BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0);
	put_return(&p, ENOSYS); /* the calls of another architecture have other numbers */
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!(rules[i].unless & may) &&
		    /* which has some of its own far above */
		    (rules[i].test != OR_NEWER || arch != AUDIT_ARCH_ARM))
			put_rule(&p, &rules[i]);
	put_return(&p, 0);
	struct sock_fprog program = {.len = p.n, .filter = p.v};
	/* before Linux 5.16 a filter would slow memory accesses down unless it says this */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		    &program))
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#endif
