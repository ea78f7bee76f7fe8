/*
 * plant.c - LD_PRELOAD: what code of a stranger would try once it runs in the program, tried as
 * the program ends, and said on stderr where it worked:
 *
 *	files		made at $PLANT, $PLANT.old changed and moved, its mode, times and attributes
 *	processes	$PLANT_PID traced, read, signalled, slowed down
 *	network		127.0.0.1:$PLANT_PORT, the machine's own services
 *	kernel		programs run, namespaces, and what makes calls past a filter
 *
 * With PLANT_ABI=N the kernel seems to have Landlock's ABI level N; 0: it has none.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LANDLOCK_CREATE_RULESET = 444, LANDLOCK_RESTRICT_SELF = 446 };

long syscall(long nr, ...)
{
	static long (*next)(long, ...);
	const char *abi = getenv("PLANT_ABI");
	long a[6];
	va_list list;
	va_start(list, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (abi && nr >= LANDLOCK_CREATE_RULESET && nr <= LANDLOCK_RESTRICT_SELF) {
		if (!atoi(abi)) {
			errno = ENOSYS;
			return -1;
		}
		if (nr == LANDLOCK_CREATE_RULESET && !a[0])
			return atoi(abi);
	}
	if (!next)
		next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void worked(const char *what)
{
	dprintf(STDERR_FILENO, "planted: %s\n", what);
}

/* In a child, which may end by it: 1 if it returned 0. */
static int in_child(int (*what)(void))
{
	int status = 1;
	pid_t pid = fork();
	if (!pid) {
		alarm(5);
		_exit(what() != 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static pid_t other(void)
{
	const char *pid = getenv("PLANT_PID");
	return pid ? (pid_t)atoi(pid) : getppid();
}

/* --- files -------------------------------------------------------------------------------- */

static void change_files(const char *path, const char *old, const char *dir)
{
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
		worked("made");
	if (open(old, O_WRONLY | O_CLOEXEC) >= 0)
		worked("written");
	if (open(old, O_RDONLY | O_TRUNC | O_CLOEXEC) >= 0)
		worked("emptied");
	if (!truncate(old, 0))
		worked("truncated");
	if (!mkdir(dir, 0700))
		worked("folder");
	if (!symlink("/", dir))
		worked("link");
	if (!rename(old, path))
		worked("renamed");
	if (!unlink(old))
		worked("removed");
}

static void change_attributes(const char *old)
{
	static const struct timespec times[2] = {{1, 0}, {1, 0}};
	int fd = open(old, O_RDONLY | O_CLOEXEC);
	if (!chmod(old, 0666))
		worked("chmod");
	if (fd >= 0 && !fchmod(fd, 0666))
		worked("fchmod");
	if (!lchown(old, geteuid(), getegid()))
		worked("chown");
	if (!utimensat(AT_FDCWD, old, times, 0))
		worked("times");
	if (!setxattr(old, "user.x", "x", 1, 0))
		worked("attribute");
	if (fd >= 0)
		close(fd);
}

/* --- processes ---------------------------------------------------------------------------- */

static int trace(void)
{
	return ptrace(PTRACE_SEIZE, other(), 0, 0) != 0;
}

static void touch_processes(void)
{
	char byte;
	struct rlimit limit;
	struct iovec to = {&byte, 1}, from = {&byte, 1};
	if (in_child(trace))
		worked("traced");
	/* at an address that is none there: EFAULT behind the question of rights */
	from.iov_base = (void *)8;
	if (process_vm_readv(other(), &to, 1, &from, 1, 0) >= 0 || errno == EFAULT)
		worked("read-memory");
	if (!kill(other(), 0))
		worked("signalled");
	if (!setpriority(PRIO_PROCESS, (id_t)other(), 1))
		worked("slowed");
	if (!prlimit(other(), RLIMIT_CORE, NULL, &limit) &&
	    !prlimit(other(), RLIMIT_CORE, &limit, NULL))
		worked("limited");
	if (shmget(IPC_PRIVATE, 1, IPC_CREAT | 0600) >= 0)
		worked("shared");
}

/* --- network ------------------------------------------------------------------------------ */

static void connect_out(void)
{
	const char *port = getenv("PLANT_PORT");
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port ? port : "0")),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (port && fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)))
		worked("connected");
	if (socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0)
		worked("datagram");
	if (socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0)
		worked("services");
	if (socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0)
		worked("netlink");
}

/* --- kernel ------------------------------------------------------------------------------- */

static int run(void)
{
	unsetenv("LD_PRELOAD");
	execl("/bin/true", "true", (char *)NULL);
	return 1;
}

static int run_descriptor(void)
{
	unsetenv("LD_PRELOAD");
	fexecve(open("/bin/true", O_RDONLY), (char *[]){"true", NULL}, environ);
	return 1;
}

static int namespace(void)
{
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) || mount("none", "/", "tmpfs", 0, NULL);
}

static int cloned(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		_exit(0);
	return pid < 0;
}

#ifdef __x86_64__
static int foreign(void)
{
	long pid;
	__asm__ volatile("int $0x80" : "=a"(pid) : "0"(20L) : "memory", "cc"); /* getpid */
	return pid != getpid();
}
#endif

static void ask_kernel(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK};
	char params[256] = {0};
	if (in_child(run))
		worked("run");
	if (in_child(run_descriptor))
		worked("run-descriptor");
	if (in_child(namespace))
		worked("namespace");
	if (in_child(cloned))
		worked("cloned");
#ifdef __x86_64__
	if (in_child(foreign))
		worked("foreign");
#endif
	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) >= 0)
		worked("perf");
	if (syscall(425 /* io_uring_setup */, 1, params) >= 0)
		worked("io_uring");
	if (syscall(SYS_add_key, "user", "plant", "x", 1, -1 /* the thread's */) >= 0)
		worked("key");
	/* standard error is no terminal: ENOTTY behind the question of rights */
	if (!ioctl(STDERR_FILENO, TIOCSTI, "x") || errno == ENOTTY)
		worked("typed");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
		worked("privileges");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("PLANT");
	char old[4096], dir[4096];
	if (!path)
		return;
	snprintf(old, sizeof(old), "%s.old", path);
	snprintf(dir, sizeof(dir), "%s.dir", path);
	change_attributes(old);
	touch_processes();
	connect_out();
	ask_kernel();
	if (open(old, O_RDONLY | O_CLOEXEC) < 0)
		worked("unreadable");
	change_files(path, old, dir);
}
