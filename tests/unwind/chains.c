/*
 * chains - programs with stacks known by construction. `chains CASE` builds one and stops in
 * leaf() at a breakpoint instruction, for stackat to look at. Compiled by the test with several
 * compilers and options; needs nothing but a C library.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif
#ifdef __aarch64__
#define HERE() __asm__ volatile("brk #0" ::: "memory")
#define ILLEGAL() __asm__ volatile("udf #0" ::: "memory")
#define BARE "brk #0; ret"
#elif defined(__riscv)
#define HERE() __asm__ volatile("ebreak" ::: "memory")
#define ILLEGAL() __asm__ volatile("unimp" ::: "memory")
#define BARE "ebreak; ret"
#else
#define HERE() __asm__ volatile("int3" ::: "memory")
#define ILLEGAL() __asm__ volatile("ud2" ::: "memory")
#define BARE "int3; ret"
#endif
#define NO_TAIL() __asm__ volatile("" ::: "memory")

static volatile int depth;

NOINLINE void leaf(void)
{
	HERE();
	NO_TAIL();
}

NOINLINE void c(int n)
{
	volatile char buf[100];
	buf[n] = 1;
	leaf();
	NO_TAIL();
}

NOINLINE void b(int n)
{
	c(n + 1);
	NO_TAIL();
}

NOINLINE void a(int n)
{
	b(n + 1);
	NO_TAIL();
}

/* What memcpy is: a leaf in assembler, without a frame pointer; and its callers. */
void bare(void);
__asm__(".text\n"
	".type bare, %function\n"
	".balign 16\n"
	"bare: .cfi_startproc\n"
	"	" BARE "\n"
	".cfi_endproc\n"
	".size bare, . - bare\n");

NOINLINE void calls_bare(int n)
{
	volatile char buf[200];
	buf[n] = 1;
	bare();
	NO_TAIL();
}

NOINLINE void bare_chain(int n)
{
	volatile char buf[2000];
	buf[n] = 1;
	calls_bare(n);
	NO_TAIL();
}

/* --- signals --- */

NOINLINE void handler(int sig)
{
	(void)sig;
	leaf();
	signal(SIGILL, SIG_DFL);
	_exit(0);
}

NOINLINE void interrupted(void)
{
	ILLEGAL();
	NO_TAIL();
}

static char alt[65536] __attribute__((aligned(4096)));

static void catch (int flags)
{
	struct sigaction sa;
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = handler;
	sa.sa_flags = flags;
	sigaction(SIGILL, &sa, NULL);
}

NOINLINE void on_altstack(void)
{
	stack_t st;
	memset(&st, 0, sizeof(st));
	st.ss_sp = alt;
	st.ss_size = sizeof(alt);
	sigaltstack(&st, NULL);
	catch (SA_ONSTACK);
	interrupted();
	NO_TAIL();
}

/* --- others --- */

static void (*volatile nothing)(void);

NOINLINE void calls_null(void)
{
	nothing();
	NO_TAIL();
}

#ifdef __GLIBC__
static ucontext_t back, coro;

NOINLINE void coroutine(void)
{
	a(1);
	NO_TAIL();
}

NOINLINE void switches(void)
{
	static char stack[65536] __attribute__((aligned(4096)));
	getcontext(&coro);
	coro.uc_stack.ss_sp = stack;
	coro.uc_stack.ss_size = sizeof(stack);
	coro.uc_link = &back;
	makecontext(&coro, coroutine, 0);
	swapcontext(&back, &coro);
	NO_TAIL();
}
#endif

NOINLINE int tail_target(int n)
{
	b(n);
	NO_TAIL();
	return n + 1;
}

NOINLINE int tail_caller(int n)
{
	return tail_target(n * 2);
}

NOINLINE int before_tail(int n)
{
	int r = tail_caller(n);
	NO_TAIL();
	return r + 1;
}

__attribute__((noinline, noreturn)) void dies(int n)
{
	c(n);
	_exit(0);
}

__attribute__((noinline)) void last_call_is_dies(int n)
{
	if (n)
		dies(n);
	__builtin_unreachable();
}

NOINLINE void realigned(int n)
{
	volatile char *p = alloca((size_t)n);
	volatile long wide[8] __attribute__((aligned(64)));
	p[0] = 1;
	wide[0] = n;
	a((int)wide[0] & 1);
	NO_TAIL();
}

NOINLINE int recurse(int n)
{
	volatile int here = n;
	if (n == 0)
		leaf();
	else
		recurse(n - 1);
	NO_TAIL();
	return here;
}

NOINLINE void *worker(void *arg)
{
	(void)arg;
	a(1);
	NO_TAIL();
	return NULL;
}

/* From the breakpoint on, the test steps by single instructions until the next breakpoint. */
NOINLINE void through_plt(void)
{
	char s[40];
	HERE();
	strtol("12", NULL, 10); /* resolved now, if binding is lazy */
	snprintf(s, sizeof(s), "%d %s %g", 12, "abc", 1.5);
	HERE();
	NO_TAIL();
}

NOINLINE void through_vfork(void)
{
	int status;
	HERE();
	pid_t pid = vfork();
	if (pid == 0)
		_exit(0);
	HERE();
	waitpid(pid, &status, 0);
}

NOINLINE void through_realigned(void)
{
	HERE();
	realigned(40);
	HERE();
}

#if defined(__aarch64__) || defined(__riscv)
#ifdef __aarch64__
enum { SP_WORD = 31 };
static void take_registers(const ucontext_t *uc, unsigned long long *head)
{
	memcpy(head, uc->uc_mcontext.regs, 31 * 8);
	head[31] = uc->uc_mcontext.sp;
	head[32] = uc->uc_mcontext.pc;
}
#else
enum { SP_WORD = 2 };
static void take_registers(const ucontext_t *uc, unsigned long long *head)
{
	memcpy(head, uc->uc_mcontext.__gregs, 32 * 8);
}
#endif

/*
 * Without a debugger (under qemu-user) the program takes its own sample: at the breakpoint it
 * writes registers in perf's order (33 words), the length of the stack copy, the copy, and its
 * mappings.
 */
static void dump(int sig, siginfo_t *si, void *context)
{
	const ucontext_t *uc = context;
	unsigned long long head[34];
	char line[4096];
	ssize_t n;
	(void)sig, (void)si;
	memset(head, 0, sizeof(head));
	take_registers(uc, head);
	int out = creat(getenv("CHAINS_DUMP"), 0644), maps = open("/proc/self/maps", O_RDONLY);
	lseek(out, sizeof(head), SEEK_SET);
	/* pieces that never cross into a page that is not there */
	for (size_t piece; head[33] < 65024; head[33] += piece) {
		piece = 16 - (size_t)(head[SP_WORD] + head[33]) % 16;
		if ((head[SP_WORD] + head[33]) % 4096 == 0)
			piece = 4096;
		if (head[33] + piece > 65024 ||
		    write(out, (char *)head[SP_WORD] + head[33], piece) != (ssize_t)piece)
			break;
	}
	lseek(out, (off_t)(sizeof(head) + head[33]), SEEK_SET);
	while ((n = read(maps, line, sizeof(line))) > 0)
		if (write(out, line, (size_t)n) != n)
			break;
	lseek(out, 0, SEEK_SET);
	_exit(write(out, head, sizeof(head)) != sizeof(head));
}

static void dump_at_breakpoint(void)
{
	struct sigaction sa;
	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = dump;
	sa.sa_flags = SA_SIGINFO;
	if (getenv("CHAINS_DUMP")) {
		sigaction(SIGTRAP, &sa, NULL);
		sigaction(SIGSEGV, &sa, NULL);
	}
}
#else
#define dump_at_breakpoint() (void)0
#endif

int main(int argc, char **argv)
{
	dump_at_breakpoint();
	const char *which = argc > 1 ? argv[1] : "plain";
	nothing = 0;
	if (!strcmp(which, "plain"))
		a(argc);
	else if (!strcmp(which, "signal"))
		catch (0), interrupted();
	else if (!strcmp(which, "altstack"))
		on_altstack();
	else if (!strcmp(which, "null"))
		calls_null();
#ifdef __GLIBC__
	else if (!strcmp(which, "coroutine"))
		switches();
#endif
	else if (!strcmp(which, "tail"))
		depth = before_tail(argc);
	else if (!strcmp(which, "noreturn"))
		last_call_is_dies(argc);
	else if (!strcmp(which, "realigned"))
		realigned(argc * 20);
	else if (!strcmp(which, "deep"))
		depth = recurse(argc * 1000);
	else if (!strcmp(which, "shallow"))
		depth = recurse(argc * 20);
	else if (!strcmp(which, "thread")) {
		pthread_t t;
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(which, "bare"))
		bare_chain(argc);
	else if (!strcmp(which, "plt"))
		through_plt();
	else if (!strcmp(which, "vfork"))
		through_vfork();
	else if (!strcmp(which, "drap"))
		through_realigned();
	else
		return 2;
	NO_TAIL();
	return 0;
}
