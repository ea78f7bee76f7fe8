/*
 * stackat - run a program, stop it at its breakpoint instruction, and unwind what a sample
 * would hold there: registers in perf's order and a copy of the stack. The witness needs no
 * perf: it is ptrace, /proc/PID/maps and the program's own construction.
 *
 *	stackat [options] -- PROGRAM ARGS...
 *	stackat [options] -f DUMP        # a stack that an aarch64 or riscv64 program wrote of
 * itself
 *
 * Prints one line: the function names leaf first, guessed frames with "?", signal trampolines
 * as "<signal>", recorded ones with "+", then the reason. Options:
 *	-z BYTES     size of the stack copy (default 65528)
 *	-c           give the frame-pointer chain too, as the kernel would record it
 *	-s FUNCTION  from the first breakpoint step by single instructions to the next one; at
 *	             each, the stack must hold FUNCTION and main and be complete. Prints
 *	             the count of steps, of failures, and the first failures' stacks;
 *	             exit 1 if any
 */
#include "libsym/name/frame_table.h"
#include "libsym/unwind/arch.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MODULES = 64, COPY_MAX = 65528, STEPS_MAX = 60000, CHAIN_MAX = 127 };

struct module {
	uint64_t start, end, offset;
	char path[512];
	struct elf_file *elf;
	struct cfi *cfi;
	uint64_t bias;
	void *image;
};

struct target {
	pid_t pid;
	int mem;
	struct module m[MODULES];
	size_t n;
	struct frame_table *frames;
};

/* --- the mappings ----------------------------------------------------------------------- */

static void open_vdso(struct target *t, struct module *m)
{
	size_t size = m->end - m->start;
	m->image = malloc(size);
	if (m->image && pread(t->mem, m->image, size, (off_t)m->start) == (ssize_t)size)
		elf_file_open_mem(m->image, size, "[vdso]", &m->elf, NULL);
}

/* The segment whose pages the mapping shows; executable ones first, as lld lets the last page
 * of one segment and the first of the next share a place in the file. */
static void find_bias(struct module *m)
{
	for (int exec = 1; exec >= 0; exec--)
		for (size_t i = 0; i < m->elf->nsegments; i++) {
			const struct elf_segment *p = &m->elf->segments[i];
			uint64_t low = p->offset & ~UINT64_C(0xfff);
			if ((exec && !(p->flags & PF_X)) ||
			    p->offset + p->filesz <= m->offset ||
			    low >= m->offset + (m->end - m->start))
				continue;
			m->bias = m->start - m->offset + p->offset - p->vaddr;
			return;
		}
}

static void open_module(struct target *t, struct module *m)
{
	if (!strcmp(m->path, "[vdso]"))
		open_vdso(t, m);
	else if (m->path[0] == '/')
		elf_file_open(m->path, &m->elf, NULL);
	if (!m->elf)
		return;
	find_bias(m);
	cfi_open(m->elf, NULL, &m->cfi, NULL);
}

static void read_maps(struct target *t, FILE *f)
{
	char line[1024];
	while (f && fgets(line, sizeof(line), f) && t->n < MODULES) {
		struct module *m = &t->m[t->n];
		char prot[8];
		memset(m, 0, sizeof(*m));
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]",
			   &m->start, &m->end, prot, &m->offset, m->path) < 4 ||
		    !strchr(prot, 'x'))
			continue;
		open_module(t, m);
		t->n++;
	}
}

static FILE *maps_of(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "r");
}

static void forget_maps(struct target *t)
{
	for (size_t i = 0; i < t->n; i++) {
		cfi_close(t->m[i].cfi);
		elf_file_close(t->m[i].elf);
		free(t->m[i].image);
	}
	t->n = 0;
}

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	struct target *t = ctx;
	for (size_t i = 0; i < t->n; i++)
		if (pc >= t->m[i].start && pc < t->m[i].end) {
			*out = (struct unwind_module){t->m[i].cfi, t->m[i].bias,
						      (uint32_t)i + 1,
						      t->m[i].elf ? 0 : UNWIND_MOD_NO_FILE};
			return 1;
		}
	return 0;
}

/* --- names ------------------------------------------------------------------------------ */

static int symbol_in(Elf *elf, Elf_Scn *scn, uint64_t va, char *out, size_t size)
{
	GElf_Shdr sh;
	Elf_Data *data = elf_getdata(scn, NULL);
	if (!data || !gelf_getshdr(scn, &sh) || !sh.sh_entsize)
		return 0;
	int best = 0;
	for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
		GElf_Sym sym;
		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_shndx ||
		    GELF_ST_TYPE(sym.st_info) > STT_FUNC || va < sym.st_value ||
		    va - sym.st_value >= (sym.st_size ? sym.st_size : 1))
			continue;
		const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
		if (!name || !*name || (best && GELF_ST_BIND(sym.st_info) != STB_GLOBAL))
			continue;
		snprintf(out, size, "%s", name);
		best = 1;
	}
	return best;
}

static void name_of(const struct target *t, const struct unwind_frame *f, char *out,
		    size_t size)
{
	snprintf(out, size, "-");
	if (!f->module || !t->m[f->module - 1].elf)
		return;
	const struct module *m = &t->m[f->module - 1];
	for (Elf_Scn *s = NULL; (s = elf_nextscn(m->elf->elf, s));) {
		GElf_Shdr sh;
		if (gelf_getshdr(s, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM) &&
		    symbol_in(m->elf->elf, s, f->lookup - m->bias, out, size))
			return;
	}
}

static int is_root(void *ctx, uint64_t lookup)
{
	struct target *t = ctx;
	struct unwind_module m = {0};
	char name[256];
	if (!module_at(t, lookup, &m))
		return 0;
	struct unwind_frame f = {.lookup = lookup, .module = m.id};
	name_of(t, &f, name, sizeof(name));
	return frame_roles(t->frames, 0, name, "") & (ROLE_START | ROLE_ROOT_START)
		       ? UNWIND_ROOT
		       : 0;
}

static void print_stack(const struct target *t, const struct unwind_stack *st)
{
	for (size_t i = 0; i < st->n; i++) {
		const struct unwind_frame *f = &st->frames[i];
		char name[256];
		name_of(t, f, name, sizeof(name));
		printf("%s%s ", f->signal ? "<signal>" : name,
		       f->trust >= UNWIND_LEAF_GUESS ? "?"
		       : f->trust == UNWIND_RECORDED ? "+"
						     : "");
	}
	printf("[%s]\n", unwind_end_name(st->end));
}

/* --- a sample --------------------------------------------------------------------------- */

/* In the order of perf's x86 registers, bits 0-8 and 16-23: --call-graph dwarf's mask. */
static const uint64_t mask = 0xff01ff;

static void perf_order(const struct user_regs_struct *r, uint64_t *out)
{
	const uint64_t v[] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
			      r->rbp, r->rsp, r->rip, r->r8,  r->r9,  r->r10,
			      r->r11, r->r12, r->r13, r->r14, r->r15};
	memcpy(out, v, sizeof(v));
}

/* perf_callchain_user of arch/x86/events/core.c. */
static size_t fp_chain(const struct target *t, const struct user_regs_struct *r, uint64_t *out)
{
	uint64_t frame[2], fp = r->rbp;
	size_t n = 0;
	out[n++] = r->rip;
	while (n < CHAIN_MAX && pread(t->mem, frame, 16, (off_t)fp) == 16) {
		out[n++] = frame[1];
		if (frame[0] <= fp)
			break;
		fp = frame[0];
	}
	return n;
}

struct options {
	const struct arch *arch; /* of the dump */
	size_t copy;
	int chain;
	const char *step;
};

static int unwind_at(struct target *t, const struct options *o, pid_t tid, struct unwinder *u,
		     struct unwind_stack *st)
{
	static uint8_t stack[COPY_MAX];
	static uint64_t chain[CHAIN_MAX];
	struct user_regs_struct r;
	uint64_t regs[17];
	struct err e = {0};
	if (ptrace(PTRACE_GETREGS, tid, NULL, &r))
		return -1;
	perf_order(&r, regs);
	ssize_t n = pread(t->mem, stack, o->copy, (off_t)r.rsp);
	struct unwind_sample s = {
		.regs = regs,
		.regs_mask = mask,
		.abi = 2,
		.stack = stack,
		.stack_size = n > 0 ? (size_t)n : 0,
		.stack_asked = o->copy,
		.space = 1,
		.ctx = t,
	};
	if (o->chain) {
		s.chain = chain;
		s.nchain = fp_chain(t, &r, chain);
	}
	return unwind_sample(u, &s, st, &e);
}

/* The sample in a file that chains.c wrote: registers as perf orders them in 33 words, length,
 * the copy, then the maps. */
static int unwind_dump(struct target *t, const struct options *o, FILE *f, struct unwinder *u,
		       struct unwind_stack *st)
{
	static uint8_t stack[COPY_MAX];
	uint64_t head[34];
	struct err e = {0};
	if (fread(head, sizeof(head), 1, f) != 1 || head[33] > sizeof(stack) ||
	    fread(stack, 1, head[33], f) != head[33])
		return -1;
	read_maps(t, f);
	struct unwind_sample s = {
		.regs = head,
		.regs_mask = o->arch->dump_regs,
		.abi = 2,
		.stack = stack,
		.stack_size = o->copy < head[33] ? o->copy : head[33],
		.stack_asked = o->copy,
		.space = 1,
		.ctx = t,
	};
	return unwind_sample(u, &s, st, &e);
}

static int has(const struct target *t, const struct unwind_stack *st, const char *want)
{
	char name[256];
	for (size_t i = 0; i < st->n; i++) {
		name_of(t, &st->frames[i], name, sizeof(name));
		if (!strcmp(name, want))
			return 1;
	}
	return 0;
}

static int step_through(struct target *t, const struct options *o, pid_t tid,
			struct unwinder *u)
{
	unsigned steps = 0, bad = 0;
	int status;
	struct unwind_stack st;
	while (steps < STEPS_MAX) {
		struct user_regs_struct r;
		if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) ||
		    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			break;
		siginfo_t si;
		ptrace(PTRACE_GETREGS, tid, NULL, &r);
		uint8_t before = 0;
		if (WSTOPSIG(status) == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &si) &&
		    si.si_code == SI_KERNEL &&
		    pread(t->mem, &before, 1, (off_t)r.rip - 1) == 1 && before == 0xcc)
			break;
		steps++;
		if (unwind_at(t, o, tid, u, &st))
			return 1;
		if (st.end == UNWIND_COMPLETE && has(t, &st, "main") && has(t, &st, o->step))
			continue;
		if (bad++ < 10) {
			printf("ip %#llx: ", (unsigned long long)r.rip);
			print_stack(t, &st);
		}
	}
	printf("%u steps, %u bad\n", steps, bad);
	return steps < 3 || bad;
}

/* Run until a breakpoint (or a jump to address 0), passing other signals on. */
static pid_t run_to_breakpoint(void)
{
	for (;;) {
		int status, sig = 0;
		pid_t tid = waitpid(-1, &status, __WALL);
		if (tid < 0 || !WIFSTOPPED(status))
			return -1;
		struct user_regs_struct r;
		siginfo_t si = {0};
		ptrace(PTRACE_GETREGS, tid, NULL, &r);
		ptrace(PTRACE_GETSIGINFO, tid, NULL, &si);
		if (WSTOPSIG(status) == SIGTRAP && si.si_code == SI_KERNEL)
			return tid;
		if (WSTOPSIG(status) == SIGSEGV && r.rip == 0)
			return tid;
		if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
			sig = WSTOPSIG(status);
		ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)sig);
	}
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	int status;
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL,
	       (void *)(intptr_t)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL));
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	return pid;
}

static struct unwinder *new_unwinder(uint16_t machine)
{
	struct unwind_opts o = {.machine = machine, .module_at = module_at, .is_root = is_root};
	struct unwinder *u = NULL;
	unwinder_new(&o, &u, NULL);
	return u;
}

static int from_dump(struct target *t, const struct options *o, const char *path)
{
	struct unwinder *u = new_unwinder(o->arch->machine);
	struct unwind_stack st;
	FILE *f = fopen(path, "rb");
	int rc = 1;
	if (f && u && !unwind_dump(t, o, f, u, &st)) {
		print_stack(t, &st);
		rc = 0;
	}
	if (f)
		fclose(f);
	unwinder_free(u);
	return rc;
}

static int from_program(struct target *t, const struct options *o, char **argv)
{
	t->pid = start(argv);
	pid_t tid = t->pid > 0 ? run_to_breakpoint() : -1;
	if (tid < 0) {
		printf("%s: did not stop\n", argv[0]);
		return 1;
	}
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	t->mem = open(path, O_RDONLY);
	FILE *maps = maps_of(t->pid);
	read_maps(t, maps);
	fclose(maps);
	struct unwinder *u = new_unwinder(EM_X86_64);
	struct unwind_stack st;
	int rc = 1;
	if (u && o->step) {
		rc = step_through(t, o, tid, u);
	} else if (u && !unwind_at(t, o, tid, u, &st)) {
		print_stack(t, &st);
		rc = 0;
	}
	unwinder_free(u);
	kill(t->pid, SIGKILL);
	close(t->mem);
	return rc;
}

int main(int argc, char **argv)
{
	struct options o = {.arch = arch_named("aarch64"), .copy = COPY_MAX};
	static struct target t;
	const char *dump = NULL;
	int opt;
	while ((opt = getopt(argc, argv, "+z:cs:f:a:")) != -1) {
		if (opt == 'z')
			o.copy = strtoul(optarg, NULL, 10);
		else if (opt == 'c')
			o.chain = 1;
		else if (opt == 's')
			o.step = optarg;
		else if (opt == 'f')
			dump = optarg;
		else if (opt == 'a')
			o.arch = arch_named(optarg);
		else
			return 2;
	}
	if ((optind == argc) != (dump != NULL) || o.copy > COPY_MAX || !o.arch)
		return 2;
	if (frame_table_new(&t.frames, NULL))
		return 1;
	int rc = dump ? from_dump(&t, &o, dump) : from_program(&t, &o, argv + optind);
	forget_maps(&t);
	frame_table_free(t.frames);
	return rc;
}
