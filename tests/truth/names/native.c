/*
 * native.c - spins in known functions and logs, on CLOCK_MONOTONIC, in which chain it was when:
 * what the names of samples must be, without any symbolizer.
 *
 *	native LOG SECONDS [PLUGIN.so [OTHER.so] | fork | hugify | memfd | thread | protect | jit | share PLUGIN.so]
 *
 * Lines of LOG: "TID START_NS END_NS main;outer;leaf". -DV(x) appends a version to each name and moves
 * the functions, so that two builds never have the same function at one address. PLUGIN.so is loaded
 * again for each phase and has tn_plugin(), OTHER.so is written over it half way; "fork" does the phases in a child; "hugify" first replaces the program's
 * text by anonymous memory with the same bytes; "memfd" executes a copy of the program that has no path, "thread"
 * executes it from another thread; "protect" makes pages of text writable for a while; "jit" writes functions
 * into memory, two of them at one address by turns, and lists them in a perf map; "share" does the phases in
 * a process that shares its parent's memory, while the parent loads the plugin.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef V
#define V(x) x
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NOINLINE __attribute__((noinline))
#define STAY() __asm__ volatile("")

static FILE *out;
static volatile uint64_t sink;

static uint64_t now(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define SPIN(n) for (uint32_t i_ = 0; i_ < (n); i_++) sink = sink * 31 + i_
#ifdef MOVED
NOINLINE void V(tn_moved)(void)
{
	SPIN(MOVED);
	SPIN(MOVED + 1);
	SPIN(MOVED + 2);
	STAY();
}
#endif
NOINLINE static void V(tn_leaf_one)(void) { SPIN(200000); }
NOINLINE static void V(tn_leaf_two)(void) { SPIN(200001); SPIN(3); }
NOINLINE void V(tn_leaf_three)(void) { SPIN(7); SPIN(200002); SPIN(5); }
NOINLINE static void V(tn_outer_one)(void) { V(tn_leaf_one)(); STAY(); }
NOINLINE void V(tn_outer_two)(void) { V(tn_leaf_two)(); STAY(); }
NOINLINE static void V(tn_outer_three)(void) { V(tn_leaf_three)(); STAY(); }

#ifdef ASM /* in sizeless.S, whose symbols have no size, before a function that only C knows */
void tn_asm_outer(void);
void tn_asm_leaf(void);
NOINLINE static void after_asm(void) { SPIN(200003); SPIN(11); }
NOINLINE static void outer_after_asm(void) { after_asm(); STAY(); }
#endif

static const struct phase {
	void (*run)(void);
	const char *chain;
} phases[] = {
	{V(tn_outer_one), TEXT(V(tn_outer_one)) ";" TEXT(V(tn_leaf_one))},
	{V(tn_outer_two), TEXT(V(tn_outer_two)) ";" TEXT(V(tn_leaf_two))},
	{V(tn_outer_three), TEXT(V(tn_outer_three)) ";" TEXT(V(tn_leaf_three))},
#ifdef ASM
	{tn_asm_outer, "tn_asm_outer;tn_asm_leaf"},
	{outer_after_asm, "outer_after_asm;after_asm"},
#endif
};

enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

static void write_phase(uint64_t from, uint64_t to, const char *chain)
{
	fprintf(out, "%ld %llu %llu main;%s\n", syscall(SYS_gettid), (unsigned long long)from,
		(unsigned long long)to, chain);
}

static int text_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	uintptr_t *seg = arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			uintptr_t page = 4095, at = info->dlpi_addr + p->p_vaddr;
			seg[0] = at & ~page;
			seg[1] = (at + p->p_memsz + page) & ~page;
		}
	}
	return 1; /* the first is the program */
}

#ifdef __x86_64__
/* Maps [at, at + len) anew and copies its bytes back, with no call to code that is meanwhile gone: it runs in a
 * copy of its own section. */
extern char __start_tn_stub[], __stop_tn_stub[];

static inline __attribute__((always_inline)) long raw_mmap(uintptr_t at, size_t len)
{
	long ret = SYS_mmap;
	register long prot __asm__("rdx") = PROT_READ | PROT_WRITE | PROT_EXEC;
	register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	register long fd __asm__("r8") = -1;
	register long off __asm__("r9") = 0;
	__asm__ volatile("syscall" : "+a"(ret) : "D"(at), "S"(len), "r"(prot), "r"(flags), "r"(fd), "r"(off)
			 : "rcx", "r11", "memory");
	return ret;
}

__attribute__((section("tn_stub"), noinline)) static long remap(uintptr_t at, size_t len, const volatile char *copy)
{
	if (raw_mmap(at, len) != (long)at)
		return -1;
	for (size_t i = 0; i < len; i++)
		((volatile char *)at)[i] = copy[i];
	return 0;
}

/* What BOLT's hugify, ClickHouse, iodlr and node do: the same code at the same addresses, in other memory. */
static void hugify(void)
{
	uintptr_t seg[2] = {0, 0};
	dl_iterate_phdr(text_segment, seg);
	size_t len = seg[1] - seg[0], stub = (size_t)(__stop_tn_stub - __start_tn_stub);
	char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *code = mmap(NULL, stub, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED || code == MAP_FAILED)
		abort();
	memcpy(copy, (void *)seg[0], len);
	memcpy(code, __start_tn_stub, stub);
	long (*run)(uintptr_t, size_t, const volatile char *);
	*(void **)&run = code + ((char *)remap - __start_tn_stub);
	if (run(seg[0], len, copy))
		abort();
	munmap(code, stub);
}
#else
static void hugify(void) { abort(); }
#endif

static void copy(int from, int to)
{
	char bytes[1 << 16];
	for (ssize_t n; (n = read(from, bytes, sizeof(bytes))) > 0;)
		if (write(to, bytes, (size_t)n) != n)
			abort();
}

static void phases_until(uint64_t end, const char *plugin, const char *other)
{
	uint64_t half = now() + (end - now()) / 2;
	for (unsigned i = 0; now() < end; i++) {
		if (other && now() > half) {
			copy(open(other, O_RDONLY), open(plugin, O_WRONLY | O_TRUNC));
			other = NULL;
		}
		void *lib = plugin ? dlopen(plugin, RTLD_NOW) : NULL;
		if (plugin && !lib)
			abort();
		void (*run)(void) = NULL;
		const char *chain = phases[i % PHASES].chain;
		if (lib) {
			*(void **)&run = dlsym(lib, "tn_plugin");
			const char **name = dlsym(lib, "tn_chain");
			chain = *name;
		} else {
			run = phases[i % PHASES].run;
		}
		uint64_t from = now(), until = from + 20000000;
		while (now() < until)
			run();
		write_phase(from, now(), chain);
		if (lib)
			dlclose(lib);
	}
}

/* The program again, without what it was asked to do first. */
static void again(char **argv, int fd)
{
	char *args[] = {argv[0], argv[1], argv[2], NULL};
	fexecve(fd, args, environ);
	abort();
}

static void from_memory(char **argv)
{
	int fd = memfd_create("app", MFD_CLOEXEC);
	copy(open("/proc/self/exe", O_RDONLY), fd);
	again(argv, fd);
}

static void *from_thread(void *argv)
{
	again(argv, open("/proc/self/exe", O_RDONLY));
	return NULL;
}

/* As programs that patch themselves do: the text's mapping falls into pieces. */
static void protect(void)
{
	uintptr_t seg[2] = {0, 0}, page = 4095, at = (uintptr_t)phases[1].run & ~page;
	dl_iterate_phdr(text_segment, seg);
	if (mprotect((void *)at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) ||
	    (seg[1] - at > 4096 && mprotect((void *)(at + 4096), 4096, PROT_READ | PROT_WRITE)) ||
	    (seg[1] - at > 4096 && mprotect((void *)(at + 4096), 4096, PROT_READ | PROT_EXEC)))
		abort();
}

#ifdef __x86_64__
/* A function that counts down from n. */
static void write_function(uint8_t *at, uint32_t n)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
	memcpy(at, code, sizeof(code));
	memcpy(at + 5, &n, sizeof(n));
}

static int generate(uint64_t end)
{
	char path[64];
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	for (unsigned i = 0; map && code != MAP_FAILED && now() < end; i++) {
		static const char *const names[] = {"tn_jit_one", "tn_jit_two", "tn_jit_three"};
		uint8_t *at = code + (i % 3 == 2 ? 256 : 0);
		void (*run)(void);
		char chain[64];
		write_function(at, 400000 + i % 3);
		fprintf(map, "%lx %x %s\n", (unsigned long)at, 15u, names[i % 3]);
		fflush(map);
		*(void **)&run = at;
		uint64_t from = now(), until = from + 20000000;
		while (now() < until)
			run();
		snprintf(chain, sizeof(chain), "generate;%s", names[i % 3]);
		write_phase(from, now(), chain);
	}
	return !map;
}
#else
static int generate(uint64_t end) { return end != 0; }
#endif

static int shared[2];
static void *shared_lib;

/* Does phases in the library that its parent has loaded since. */
static int share_child(void *arg)
{
	(void)arg;
	for (char c; read(shared[0], &c, 1) == 1;) {
		void (*run)(void);
		*(void **)&run = dlsym(shared_lib, "tn_plugin");
		const char **chain = dlsym(shared_lib, "tn_chain");
		uint64_t from = now(), until = from + 40000000;
		while (now() < until)
			run();
		uint64_t to = now();
		char line[256];
		int n = snprintf(line, sizeof(line), "%ld %llu %llu share_child;%s\n", syscall(SYS_getpid), (unsigned long long)from,
				 (unsigned long long)to, strrchr(*chain, ';') + 1);
		if (write(fileno(out), line, (size_t)n) != n)
			abort();
	}
	_exit(0);
}

static int share(const char *plugin, uint64_t end)
{
	static char stack[1 << 18] __attribute__((aligned(16)));
	if (pipe(shared))
		return 2;
	int pid = clone(share_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	while (now() < end) {
		shared_lib = dlopen(plugin, RTLD_NOW);
		if (pid < 0 || !shared_lib || write(shared[1], "", 1) != 1)
			return 2;
		usleep(70000);
		dlclose(shared_lib);
	}
	kill(pid, SIGKILL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3 || !(out = fopen(argv[1], "a")))
		return 2;
	uint64_t end = now() + (uint64_t)(atof(argv[2]) * 1e9);
	const char *how = argc > 3 ? argv[3] : "";
	if (!strcmp(how, "hugify"))
		hugify();
	if (!strcmp(how, "memfd"))
		from_memory(argv);
	if (!strcmp(how, "thread")) {
		pthread_t t;
		pthread_create(&t, NULL, from_thread, argv);
		pause();
	}
	if (!strcmp(how, "protect"))
		protect();
	if (!strcmp(how, "jit"))
		return generate(end);
	if (!strcmp(how, "share"))
		return share(argv[4], end);
	if (!strcmp(how, "fork") && fork() > 0) {
		wait(NULL);
		return 0;
	}
	phases_until(end, strchr(how, '/') ? how : NULL, argc > 4 ? argv[4] : NULL);
	return fclose(out) != 0;
}
