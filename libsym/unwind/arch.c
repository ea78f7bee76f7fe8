/* The architectures, and the system calls that most of them share. */
#include "libsym/unwind/arch.h"
#include "libsym/elf/elf_file.h"

#include <string.h>

static const struct arch *const all[] = {&arch_x86_64, &arch_aarch64, &arch_riscv64,
					 &arch_i386};
enum { ARCHS = sizeof(all) / sizeof(*all) };

const struct arch *arch_of(uint16_t machine)
{
	for (size_t i = 0; i < ARCHS; i++)
		if (all[i]->machine == machine)
			return all[i];
	return NULL;
}

const struct arch *arch_named(const char *name)
{
	for (size_t i = 0; name && i < ARCHS; i++)
		for (size_t k = 0; k < 2 && all[i]->names[k]; k++)
			if (!strcmp(name, all[i]->names[k]))
				return all[i];
	return NULL;
}

const struct arch *arch_of_registers(uint64_t mask)
{
	for (size_t i = 0; i < ARCHS; i++)
		if (mask == all[i]->dump_regs && all[i]->names[0])
			return all[i];
	for (size_t i = ARCHS; i-- > 0;)
		if (mask & all[i]->own_regs)
			return all[i];
	return all[0];
}

const struct plt_shapes *arch_plt(const struct elf_file *f)
{
	const struct arch *a = f ? arch_of(f->ehdr.e_machine) : NULL;
	return a ? a->plt : NULL;
}

unsigned arch_perf_bit(const struct arch *a, unsigned dwarf)
{
	if (!a->perf_bit)
		return dwarf;
	return dwarf < a->perf_bits ? a->perf_bit[dwarf] : ARCH_NONE;
}

const char arch_generic_syscalls[] =
	"0 io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr "
	"fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr "
	"removexattr lremovexattr fremovexattr getcwd lookup_dcookie eventfd2 "
	"epoll_create1 epoll_ctl epoll_pwait dup dup3 fcntl inotify_init1 "
	"inotify_add_watch inotify_rm_watch ioctl ioprio_set ioprio_get flock "
	"mknodat mkdirat unlinkat symlinkat linkat renameat umount2 mount pivot_root "
	"nfsservctl statfs fstatfs truncate ftruncate fallocate faccessat chdir "
	"fchdir chroot fchmod fchmodat fchownat fchown openat close vhangup pipe2 "
	"quotactl getdents64 lseek read write readv writev pread64 pwrite64 preadv "
	"pwritev sendfile pselect6 ppoll signalfd4 vmsplice splice tee readlinkat "
	"newfstatat fstat sync fsync fdatasync sync_file_range2 timerfd_create "
	"timerfd_settime timerfd_gettime utimensat acct capget capset personality "
	"exit exit_group waitid set_tid_address unshare futex set_robust_list "
	"get_robust_list nanosleep getitimer setitimer kexec_load init_module "
	"delete_module timer_create timer_gettime timer_getoverrun timer_settime "
	"timer_delete clock_settime clock_gettime clock_getres clock_nanosleep "
	"syslog ptrace sched_setparam sched_setscheduler sched_getscheduler "
	"sched_getparam sched_setaffinity sched_getaffinity sched_yield "
	"sched_get_priority_max sched_get_priority_min sched_rr_get_interval "
	"restart_syscall kill tkill tgkill sigaltstack rt_sigsuspend rt_sigaction "
	"rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigreturn "
	"setpriority getpriority reboot setregid setgid setreuid setuid setresuid "
	"getresuid setresgid getresgid setfsuid setfsgid times setpgid getpgid "
	"getsid setsid getgroups setgroups uname sethostname setdomainname getrlimit "
	"setrlimit getrusage umask prctl getcpu gettimeofday settimeofday adjtimex "
	"getpid getppid getuid geteuid getgid getegid gettid sysinfo mq_open "
	"mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr msgget "
	"msgctl msgrcv msgsnd semget semctl semtimedop semop shmget shmctl shmat "
	"shmdt socket socketpair bind listen accept connect getsockname getpeername "
	"sendto recvfrom setsockopt getsockopt shutdown sendmsg recvmsg readahead "
	"brk munmap mremap add_key request_key keyctl clone execve mmap fadvise64 "
	"swapon swapoff mprotect msync mlock munlock mlockall munlockall mincore "
	"madvise remap_file_pages mbind get_mempolicy set_mempolicy migrate_pages "
	"move_pages rt_tgsigqueueinfo perf_event_open accept4 recvmmsg "
	"260 wait4 prlimit64 fanotify_init fanotify_mark name_to_handle_at "
	"open_by_handle_at clock_adjtime syncfs setns sendmmsg process_vm_readv "
	"process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 "
	"seccomp getrandom memfd_create bpf execveat userfaultfd membarrier mlock2 "
	"copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx "
	"io_pgetevents rseq kexec_file_load "
	"403 clock_gettime64 clock_settime64 clock_adjtime64 clock_getres_time64 "
	"clock_nanosleep_time64 timer_gettime64 timer_settime64 timerfd_gettime64 "
	"timerfd_settime64 utimensat_time64 pselect6_time64 ppoll_time64 "
	"416 io_pgetevents_time64 recvmmsg_time64 mq_timedsend_time64 "
	"mq_timedreceive_time64 semtimedop_time64 rt_sigtimedwait_time64 "
	"futex_time64 sched_rr_get_interval_time64 pidfd_send_signal io_uring_setup "
	"io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig "
	"fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 "
	"process_madvise epoll_pwait2 mount_setattr quotactl_fd "
	"landlock_create_ruleset landlock_add_rule landlock_restrict_self "
	"memfd_secret process_mrelease futex_waitv set_mempolicy_home_node ";
