/* libsym: stacks through generated code: by the unwinding information of a jitdump, and by guesses
 * where there is none, also in the files that perf inject makes. */
#include "tests/lib/unit.h"

#include "libsym/profile.h"
#include "tests/lib/cfiasm.h"
#include "tests/lib/perfwriter.h"
#include "tests/lib/smallelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TEXT = 0x401000,     /* the program, which calls generated code at 0x40 of it */
	RETURNS = 0x42,      /* … and where that returns to */
	CODE = 0x7f0000,     /* generated code: sub rsp, 8; a loop; add rsp, 8; ret */
	SP = 0x7ffff000,     /* of the sample */
	X86_REGS = 0xff0fff, /* as perf records them */
};

#define UPROBES 0x7fffffffe000ull

static const struct pw_id at = {.pid = 7, .tid = 7, .time = 30};
static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0x90, 0x90, 0x90,
			       0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3};
static uint64_t returns_to = TEXT + RETURNS;
static char dir[32];

static void put_file(const char *name, const void *data, size_t n)
{
	char path[128];
	snprintf(path, sizeof(path), "%s%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* --- files ---------------------------------------------------------------------------- */

/* DIR/none/server: one function, whose caller is not known. */
static void write_server(void)
{
	static struct smallelf elf;
	uint8_t text[0x100] = {[0x40] = 0xff, [0x41] = 0xd0}; /* call rax */
	struct cfiasm a = {.va = 0x2000};
	size_t cie = cfiasm_cie(&a, "zR", EM_X86_64, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
	cfiasm_fde(&a, cie, 0x1000, 0x100, CFI_BYTES(0x07, 16));
	cfiasm_zero(&a);
	smallelf_init(&elf, EM_X86_64);
	smallelf_section(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, text,
			 sizeof(text));
	smallelf_section(&elf, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x2000, a.b, a.n);
	put_file("/none/server", elf.image, smallelf_finish(&elf));
}

/* DIR/tmp/jitted-7-1.so: the code alone, at its entry point. */
static void write_injected(void)
{
	static struct smallelf elf;
	smallelf_init(&elf, EM_X86_64);
	smallelf_section(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
			 sizeof(code));
	size_t n = smallelf_finish(&elf);
	((Elf64_Ehdr *)(void *)elf.image)->e_entry = 0x1000;
	put_file("/tmp/jitted-7-1.so", elf.image, n);
}

struct dump {
	uint8_t b[1024];
	size_t n;
};

static void put(struct dump *d, const void *p, size_t n)
{
	memcpy(d->b + d->n, p, n);
	d->n += n;
}

static void put32(struct dump *d, uint32_t v)
{
	put(d, &v, sizeof(v));
}

static void put64(struct dump *d, uint64_t v)
{
	put(d, &v, sizeof(v));
}

static void put_record(struct dump *d, uint32_t id, size_t content)
{
	put32(d, id);
	put32(d, (uint32_t)(16 + content));
	put64(d, 50);
}

/* DIR/tmp/jit-7.dump: the code, and its call frame information for [CODE + shift, …). */
static void write_jitdump(uint32_t machine, uint32_t shift)
{
	static const char name[] = "jitted";
	struct dump d = {.n = 0};
	struct cfiasm a = {.va = CODE + 16};
	size_t cie = cfiasm_cie(&a, "zR", EM_X86_64, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
	cfiasm_fde(&a, cie, CODE + shift, sizeof(code),
		   CFI_BYTES(0x44, 0x0e, 16, 0x48, 0x0e, 8));
	put32(&d, 0x4a695444);
	put32(&d, 1);
	put32(&d, 40);
	put32(&d, machine);
	put32(&d, 0);
	put32(&d, 7);
	put64(&d, 10);
	put64(&d, 0);
	put_record(&d, 4, 24 + a.n);
	put64(&d, a.n);
	put64(&d, 0);
	put64(&d, a.n);
	put(&d, a.b, a.n);
	put_record(&d, 0, 40 + sizeof(name) + sizeof(code));
	put32(&d, 7);
	put32(&d, 7);
	put64(&d, CODE);
	put64(&d, CODE);
	put64(&d, sizeof(code));
	put64(&d, 1);
	put(&d, name, sizeof(name));
	put(&d, code, sizeof(code));
	put_file("/tmp/jit-7.dump", d.b, d.n);
}

static int make_files(void **state)
{
	char path[64];
	(void)state;
	strcpy(dir, "/tmp/perfkit-jit-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/none", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/tmp", dir);
	mkdir(path, 0700);
	write_server();
	write_injected();
	return 0;
}

static int drop_files(void **state)
{
	static const char *const names[] = {
		"/none/server", "/tmp/jitted-7-1.so", "/tmp/jit-7.dump", "/none", "/tmp", ""};
	char path[64];
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		remove(path);
	}
	return 0;
}

/* --- recordings ----------------------------------------------------------------------- */

static void map(struct pw *w, uint64_t addr, uint64_t pgoff, uint32_t pid, const char *name)
{
	pw_mmap2(w, &at,
		 &(struct pw_mmap){.pid = pid,
				   .tid = pid,
				   .addr = addr,
				   .len = 0x1000,
				   .pgoff = pgoff,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = name});
}

/* A sample of `pid` at CODE + pc whose return address is `pushed` bytes above sp. */
static void sample(struct pw *w, uint32_t pid, uint64_t pc, unsigned pushed)
{
	uint64_t stack[8] = {0}, regs[20] = {[7] = SP, [8] = CODE + pc};
	stack[pushed / 8] = returns_to;
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = CODE + pc,
				      .pid = pid,
				      .tid = pid,
				      .time = 200,
				      .user_abi = 2,
				      .user_regs = regs,
				      .stack = stack,
				      .stack_size = sizeof(stack),
				      .stack_dyn = sizeof(stack)});
}

static void begin(struct pw *w, enum pw_mode mode)
{
	pw_begin(w, &(struct pw_config){.mode = mode});
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						    PW_S_REGS_USER | PW_S_STACK_USER,
				     .regs_user = X86_REGS,
				     .stack_user = 64,
				     .flags = PW_SAMPLE_ID_ALL});
	map(w, TEXT, 0x1000, 7, "/none/server");
}

static const char *depth_of(struct pw *w)
{
	struct profile_options opt = {
		.modules.find = {.no_local = 1, .buildid_dir = "", .symfs = dir}};
	struct fold_options how = {.workers = 1};
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct err e = {0};
	assert_int_equal(pw_finish(w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(p->folded.n, 1);
	size_t n = stacks_depth(&p->stacks, p->folded.v[0].path);
	int whole = p->unwinding.by_end[UNWIND_COMPLETE] > 0;
	uint32_t root = p->stacks.paths.v[p->folded.v[0].path].parent;
	const struct frame *f = &p->stacks.frames.v[p->stacks.paths.v[root].frame];
	int probed = p->unwinding.by_end[UNWIND_UPROBES] &&
		     !strcmp(strtab_get(&p->stacks.strings, f->name), "[uprobes]");
	profile_close(p);
	buf_release(&image);
	return n == 2 && probed   ? "probed"
	       : n == 2 && whole  ? "whole"
	       : n == 1 && !whole ? "leaf"
				  : "?";
}

/* --- tests ---------------------------------------------------------------------------- */

/* How far a stack goes from CODE + 5, where the code has pushed eight bytes. */
static const char *by_jitdump(enum pw_mode mode, uint32_t machine, uint32_t shift)
{
	struct pw w;
	write_jitdump(machine, shift);
	begin(&w, mode);
	map(&w, CODE, 0, 7, "//anon");
	map(&w, 0x10000, 0, 7, "/tmp/jit-7.dump");
	sample(&w, 7, 5, 8);
	return depth_of(&w);
}

static void unwinding_information_is_used(void **state)
{
	(void)state;
	assert_string_equal(by_jitdump(PW_FILE, EM_X86_64, 0), "whole");
	assert_string_equal(by_jitdump(PW_PIPE, EM_X86_64, 0), "whole");
	assert_string_equal(by_jitdump(PW_FILE, EM_NONE, 0), "whole"); /* CPython */
}

static void that_of_other_code_is_not_used(void **state)
{
	(void)state;
	assert_string_equal(by_jitdump(PW_FILE, EM_X86_64, 16), "leaf");
	assert_string_equal(by_jitdump(PW_FILE, EM_AARCH64, 0), "leaf");
}

static void forked_process_has_what_its_parent_had(void **state)
{
	struct pw w;
	(void)state;
	for (int before = 0; before < 2; before++) {
		write_jitdump(EM_X86_64, 0);
		begin(&w, PW_FILE);
		map(&w, CODE, 0, 7, "//anon");
		map(&w, 0x10000, 0, 7, "/tmp/jit-7.dump");
		/* the code is of time 50 */
		const struct pw_id child = {.pid = 7, .tid = 7, .time = before ? 40 : 150};
		pw_fork(&w, &child, 8, 7, 8, 7, child.time);
		sample(&w, 8, 5, 8);
		assert_string_equal(depth_of(&w), before ? "leaf" : "whole");
	}
}

static void code_from_perf_inject_is_generated_code(void **state)
{
	struct pw w;
	(void)state;
	begin(&w, PW_FILE);
	map(&w, CODE, 0x1000, 7, "/tmp/jitted-7-1.so");
	sample(&w, 7, 0, 0);
	assert_string_equal(depth_of(&w), "whole");
	/* … also if the file is gone */
	begin(&w, PW_FILE);
	map(&w, CODE, 0x80, 7, "/tmp/jitted-7-2.so");
	sample(&w, 7, 0, 0);
	assert_string_equal(depth_of(&w), "whole");
}

static void return_probe_is_named(void **state)
{
	struct pw w;
	(void)state;
	write_jitdump(EM_X86_64, 0);
	returns_to = UPROBES;
	begin(&w, PW_FILE);
	map(&w, CODE, 0, 7, "//anon");
	map(&w, 0x10000, 0, 7, "/tmp/jit-7.dump");
	map(&w, UPROBES, 0, 7, "[uprobes]");
	sample(&w, 7, 5, 8);
	assert_string_equal(depth_of(&w), "probed");
	returns_to = TEXT + RETURNS;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unwinding_information_is_used),
		cmocka_unit_test(that_of_other_code_is_not_used),
		cmocka_unit_test(forked_process_has_what_its_parent_had),
		cmocka_unit_test(code_from_perf_inject_is_generated_code),
		cmocka_unit_test(return_probe_is_named),
	};
	return cmocka_run_group_tests(tests, make_files, drop_files);
}
