/*
 * libsym: precise events with copies of the stack. Their pc is the sampled instruction, their
 * other registers are those after it. A program written by hand, in real instructions:
 *
 *	_start (no caller)   call main; call *%rax
 *	main   (CFA sp + 32) call leaf, twice
 *	other  (CFA sp + 16) call leaf
 *	leaf   push %rbp ... pop %rbp; ret
 */
#include "tests/lib/unit.h"

#include "libsym/profile.h"
#include "tests/lib/cfiasm.h"
#include "tests/lib/perfwriter.h"
#include "tests/lib/smallelf.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { START = 0x1000, MAIN = 0x1040, LEAF = 0x1080, OTHER = 0x10c0, END = 0x1100 };
enum { LOADED = 0x400000, WORDS = 16 };
#define SP UINT64_C(0x7ffc00000000)

static char dir[] = "/tmp/perfkit-late-XXXXXX";

static void call(uint8_t *text, uint32_t at, uint32_t target)
{
	uint32_t rel = htole32(target - (at + 5));
	text[at - START] = 0xe8;
	memcpy(text + at - START + 1, &rel, 4);
}

static void put(uint8_t *text, uint32_t at, const char *bytes, size_t n)
{
	memcpy(text + at - START, bytes, n);
}

static void write_text(uint8_t *text)
{
	memset(text, 0x90, END - START);
	call(text, START + 0x10, MAIN);
	put(text, START + 0x1e, "\xff\xd0", 2); /* call *%rax */
	put(text, MAIN, "\x48\x83\xec\x18", 4); /* sub $24,%rsp */
	call(text, MAIN + 0x10, LEAF);
	call(text, MAIN + 0x20, LEAF);
	put(text, MAIN + 0x30, "\x48\x83\xc4\x18\xc3", 5);
	put(text, LEAF, "\x55", 1);
	put(text, LEAF + 0x10, "\x5d\xc3", 2);
	put(text, OTHER, "\x48\x83\xec\x08", 4);
	call(text, OTHER + 0x10, LEAF);
	put(text, OTHER + 0x20, "\x48\x83\xc4\x08\xc3", 5);
}

static void write_cfi(struct cfiasm *a)
{
	size_t cie = cfiasm_cie(a, "zR", EM_X86_64, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
	cfiasm_fde(a, cie, START, MAIN - START, CFI_BYTES(0x07, 16));
	cfiasm_fde(a, cie, MAIN, LEAF - MAIN, CFI_BYTES(0x44, 0x0e, 32, 0x70, 0x0e, 8));
	cfiasm_fde(a, cie, LEAF, OTHER - LEAF, CFI_BYTES(0x41, 0x0e, 16, 0x50, 0x0e, 8));
	cfiasm_fde(a, cie, OTHER, END - OTHER, CFI_BYTES(0x44, 0x0e, 16, 0x60, 0x0e, 8));
	cfiasm_zero(a);
}

static int write_program(void **state)
{
	static struct smallelf elf;
	static struct cfiasm a = {.va = 0x2000};
	uint8_t text[END - START];
	char path[64];
	(void)state;
	write_text(text);
	write_cfi(&a);
	smallelf_init(&elf, EM_X86_64);
	unsigned at = smallelf_section(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				       START, text, sizeof(text));
	smallelf_section(&elf, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x2000, a.b, a.n);
	smallelf_symbol(&elf, "_start", STB_GLOBAL, STT_FUNC, (uint16_t)at, START, 0x40);
	smallelf_symbol(&elf, "main", STB_GLOBAL, STT_FUNC, (uint16_t)at, MAIN, 0x40);
	smallelf_symbol(&elf, "leaf", STB_GLOBAL, STT_FUNC, (uint16_t)at, LEAF, 0x40);
	smallelf_symbol(&elf, "other", STB_GLOBAL, STT_FUNC, (uint16_t)at, OTHER, 0x40);
	size_t n = smallelf_finish(&elf);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/prog", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(elf.image, 1, n, f), n);
	return fclose(f);
}

static int remove_program(void **state)
{
	char path[64];
	(void)state;
	snprintf(path, sizeof(path), "%s/prog", dir);
	unlink(path);
	return rmdir(dir);
}

/* The names of the only stack, root first, and what was made of late registers. */
static void names_of(struct pw *w, char *out, size_t size, struct expand_counts *counts)
{
	struct profile_options opt = {
		.modules.find = {.no_local = 1, .buildid_dir = "", .symfs = dir}};

	struct fold_options how = {.workers = 1};
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct err e = {0};
	uint32_t frames[32];
	assert_int_equal(pw_finish(w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(p->folded.n, 1);
	size_t n = stacks_frames(&p->stacks, p->folded.v[0].path, frames, 32);
	*out = '\0';
	for (size_t i = 0; i < n; i++) {
		const struct frame *f = &p->stacks.frames.v[frames[i]];
		size_t k = strlen(out);
		snprintf(out + k, size - k, "%s%s%s", i ? " " : "",
			 f->name ? strtab_get(&p->stacks.strings, f->name) : "?",
			 f->flags & FRAME_GUESSED ? "*" : "");
	}
	*counts = p->unwinding;
	profile_close(p);
	buf_release(&image);
}

/* A sample at `pc` with these words from sp up; the rest of the copy is 0. */
static void check(uint16_t misc, uint32_t pc, const uint64_t *stack, size_t n, const char *want,
		  enum unwind_late late)
{
	static const struct pw_id at = {.pid = 7, .tid = 7, .time = 100};
	struct pw w;
	struct expand_counts counts;
	char got[256];
	uint64_t words[WORDS] = {0}, regs[3] = {0, SP, LOADED + pc}; /* bp, sp, ip */
	for (size_t i = 0; i < n; i++)
		words[i] = htole64(stack[i]);
	pw_begin(&w, &(struct pw_config){0});
	pw_attr(&w, &(struct pw_attr){.sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						     PW_S_REGS_USER | PW_S_STACK_USER,
				      .regs_user = 1 << 6 | 1 << 7 | 1 << 8,
				      .stack_user = sizeof(words),
				      .flags = PW_SAMPLE_ID_ALL});
	pw_mmap2(&w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = LOADED + START,
				   .len = 0x1000,
				   .pgoff = START,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = "/prog"});
	pw_sample(&w, 0,
		  &(struct pw_sample){.misc = misc,
				      .ip = LOADED + pc,
				      .pid = 7,
				      .tid = 7,
				      .time = 200,
				      .user_abi = 2,
				      .user_regs = regs,
				      .stack = (const uint8_t *)words,
				      .stack_size = sizeof(words),
				      .stack_dyn = sizeof(words)});
	names_of(&w, got, sizeof(got), &counts);
	assert_string_equal(got, want);
	for (int i = UNWIND_LATE_CALL; i <= UNWIND_LATE_LOST; i++)
		assert_int_equal(counts.late[i], (enum unwind_late)i == late);
}

#define EXACT (PW_MISC_USER | PW_MISC_EXACT_IP)
#define IN_START (LOADED + START + 0x15)
#define IN_MAIN (LOADED + MAIN + 0x15)
#define STACK(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8

static void call_has_pushed_its_return_address(void **state)
{
	(void)state;
	/* main has 24 bytes of its own, then its return address */
	check(EXACT, MAIN + 0x10, STACK(IN_MAIN, 1, 2, 3, IN_START), "_start main",
	      UNWIND_LATE_CALL);
	/* the same bytes of an event that is not precise: sp is main's own */
	check(PW_MISC_USER, MAIN + 0x10, STACK(1, 2, 3, IN_START), "_start main",
	      UNWIND_NOT_LATE);
}

static void call_that_pushed_nothing_is_left_alone(void **state)
{
	(void)state;
	check(EXACT, MAIN + 0x10, STACK(1, 2, 3, IN_START), "_start main", UNWIND_NOT_LATE);
}

static void ret_goes_on_in_the_caller_whose_frame_fits(void **state)
{
	(void)state;
	check(EXACT, LEAF + 0x11, STACK(1, 2, 3, IN_START), "_start main* leaf",
	      UNWIND_LATE_RETURN);
	/* here other's frame would fit, too */
	check(EXACT, LEAF + 0x11, STACK(1, IN_MAIN, 3, IN_START), "_start main* leaf",
	      UNWIND_LATE_RETURN);
}

static void ret_without_a_caller_that_fits_ends_there(void **state)
{
	(void)state;
	check(EXACT, LEAF + 0x11, STACK(1, 2, 3, 4, 5), "leaf", UNWIND_LATE_LOST);
	/* two fit: main, or other if the indirect call led there */
	check(EXACT, LEAF + 0x11, STACK(1, LOADED + START + 0x20, 3, IN_START), "leaf",
	      UNWIND_LATE_LOST);
}

static void ret_of_an_event_that_is_not_precise_has_its_return_address(void **state)
{
	(void)state;
	check(PW_MISC_USER, LEAF + 0x11, STACK(IN_MAIN, 1, 2, 3, IN_START), "_start main leaf",
	      UNWIND_NOT_LATE);
}

static void push_and_pop_have_moved_sp(void **state)
{
	(void)state;
	check(EXACT, LEAF, STACK(9, IN_MAIN, 1, 2, 3, IN_START), "_start main leaf",
	      UNWIND_NOT_LATE);
	check(EXACT, LEAF + 0x10, STACK(IN_MAIN, 1, 2, 3, IN_START), "_start main leaf",
	      UNWIND_NOT_LATE);
	check(EXACT, MAIN, STACK(1, 2, 3, IN_START), "_start main", UNWIND_NOT_LATE);
	check(EXACT, MAIN + 0x30, STACK(IN_START), "_start main", UNWIND_NOT_LATE);
}

static void registers_of_user_code_below_the_kernel_are_in_time(void **state)
{
	(void)state;
	check(PW_MISC_KERNEL | PW_MISC_EXACT_IP, LEAF + 0x11, STACK(IN_MAIN, 1, 2, 3, IN_START),
	      "_start main leaf", UNWIND_NOT_LATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_has_pushed_its_return_address),
		cmocka_unit_test(call_that_pushed_nothing_is_left_alone),
		cmocka_unit_test(ret_goes_on_in_the_caller_whose_frame_fits),
		cmocka_unit_test(ret_without_a_caller_that_fits_ends_there),
		cmocka_unit_test(ret_of_an_event_that_is_not_precise_has_its_return_address),
		cmocka_unit_test(push_and_pop_have_moved_sp),
		cmocka_unit_test(registers_of_user_code_below_the_kernel_are_in_time),
	};
	return cmocka_run_group_tests(tests, write_program, remove_program);
}
