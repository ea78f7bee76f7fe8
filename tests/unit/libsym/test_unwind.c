/*
 * Unwinding: hand-made code, call-frame information, registers and stacks, so that every frame
 * is known. Real programs are in tests/cli/unwind-chains.sh.
 *
 * The module lies at BIAS + CODE and has one FDE every 0x100 bytes; a byte 0xe8 five bytes
 * before an address makes it look like the return from a call.
 */
#include "tests/lib/unit.h"
#include "tests/lib/cfiasm.h"

#include "base/mem.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

#include <elf.h>
#include <endian.h>

enum { CODE = 0x1000, FRAME = 0x8000, BIAS = 0x400000, WORDS = 512 };
#define SP UINT64_C(0x7ffc00000000)
#define FUNC(n) (BIAS + CODE + 0x100 * (uint64_t)(n))
#define RET(n) (FUNC(n) + 0x20) /* a return address inside function n */
#define JIT_AT UINT64_C(0x7f0000000000)
#define VDSO_AT UINT64_C(0x7f0000100000) /* a mapping whose file is not at hand */

/* Register numbers of the sample: DWARF's own on aarch64. */
static const uint64_t x86_mask = 0xff01ff, arm_mask = 0x1ffffffff | UINT64_C(1) << 46;

struct world {
	uint16_t machine;
	struct cfiasm frames;
	uint8_t code[0x2000];
	struct cfi *cfi;
	struct unwinder *u;
	uint32_t flags; /* of the module, when it has no CFI */
	int no_cfi;
	uint64_t main;
	int fail;
	uint64_t reg[64];
	size_t nregs;
	uint64_t stack[WORDS], copy[WORDS]; /* words; as the little-endian machine has them */
	struct unwind_sample s;
	struct unwind_stack out;
	int calls;
};

static struct world w;

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	assert_ptr_equal(ctx, &w);
	w.calls++;
	if (w.fail)
		return ERR_IO;
	if (pc >= JIT_AT && pc < JIT_AT + 0x1000) {
		*out = (struct unwind_module){NULL, 0, 2, UNWIND_MOD_JIT};
		return 1;
	}
	if (pc >= VDSO_AT && pc < VDSO_AT + 0x1000) {
		*out = (struct unwind_module){NULL, 0, 3, UNWIND_MOD_NO_FILE};
		return 1;
	}
	if (pc < BIAS + CODE || pc >= BIAS + CODE + sizeof(w.code))
		return 0;
	*out = (struct unwind_module){w.no_cfi ? NULL : w.cfi, BIAS, 1, w.flags};
	return 1;
}

static int is_root(void *ctx, uint64_t lookup)
{
	(void)ctx;
	return lookup - FUNC(15) < 0x100           ? UNWIND_ROOT
	       : w.main && lookup - w.main < 0x100 ? UNWIND_MAIN
						   : 0;
}

static size_t begin(uint16_t machine, const char *aug)
{
	memset(&w, 0, sizeof(w));
	w.machine = machine;
	w.frames.va = FRAME;
	if (machine == EM_AARCH64)
		return cfiasm_cie(&w.frames, aug, machine, CFI_BYTES(0x0c, 31, 0));
	return cfiasm_cie(&w.frames, aug, machine, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
}

static void func(size_t cie, unsigned n, const uint8_t *prog, size_t size)
{
	cfiasm_fde(&w.frames, cie, CODE + 0x100 * n, 0x100, prog, size);
	for (unsigned at = 0x10; at < 0x100; at += 0x10) /* every 16th byte follows a call */
		if (w.machine == EM_X86_64)
			w.code[0x100 * n + at - 5] = 0xe8;
		else
			memcpy(w.code + 0x100 * n + at - 4, "\0\0\0\x94", 4);
}

static void set_reg(unsigned dwarf, uint64_t v)
{
	static const uint8_t x86_at[] = {0,  3,  2,  1,  4,  5,  6,  7, 9,
					 10, 11, 12, 13, 14, 15, 16, 8};
	if (w.machine == EM_X86_64 && dwarf < sizeof(x86_at))
		w.reg[x86_at[dwarf]] = v;
	else
		w.reg[dwarf == 46 ? 33 : dwarf] = v;
}

static void ready(uint64_t pc)
{
	struct cfi_bytes b = {.machine = w.machine,
			      .eh_frame = w.frames.b,
			      .eh_frame_size = w.frames.n,
			      .eh_frame_va = FRAME,
			      .code = w.code,
			      .code_size = sizeof(w.code),
			      .code_va = CODE};
	assert_int_equal(cfi_open_bytes(&b, &w.cfi, NULL), 0);
	struct unwind_opts o = {
		.machine = w.machine, .module_at = module_at, .is_root = is_root};
	assert_int_equal(unwinder_new(&o, &w.u, NULL), 0);
	w.nregs = w.machine == EM_X86_64 ? 17 : 34;
	w.s = (struct unwind_sample){
		.regs = w.reg,
		.regs_mask = w.machine == EM_X86_64 ? x86_mask : arm_mask,
		.abi = 2,
		.stack = w.copy,
		.stack_size = sizeof(w.stack),
		.stack_asked = sizeof(w.stack),
		.space = 1,
		.ctx = &w,
	};
	set_reg(w.machine == EM_X86_64 ? X86_RIP : ARM_PC, pc);
	set_reg(w.machine == EM_X86_64 ? X86_RSP : ARM_SP, SP);
}

static void copy_stack(void)
{
	for (size_t i = 0; i < WORDS; i++)
		w.copy[i] = htole64(w.stack[i]);
}

static void go(void)
{
	copy_stack();
	assert_int_equal(unwind_sample(w.u, &w.s, &w.out, NULL), 0);
}

static void end(void)
{
	unwinder_free(w.u);
	cfi_close(w.cfi);
}

#define expect(want_end, ...)                                \
	expect_((want_end), (const uint64_t[]){__VA_ARGS__}, \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void expect_(enum unwind_end want, const uint64_t *ip, size_t n)
{
	go();
	for (size_t i = 0; i < w.out.n || i < n; i++)
		if (i >= n || i >= w.out.n || w.out.frames[i].ip != ip[i])
			fail_msg("frame %zu of %zu: 0x%llx, not 0x%llx (%s)", i, w.out.n,
				 i < w.out.n ? (unsigned long long)w.out.frames[i].ip : 0,
				 i < n ? (unsigned long long)ip[i] : 0,
				 unwind_end_name(w.out.end));
	assert_string_equal(unwind_end_name(w.out.end), unwind_end_name(want));
}

/* Three plain functions: leaf (CFA sp+8), one with 16 bytes of frame, one with rbp. */
static size_t x86_functions(void)
{
	size_t cie = begin(EM_X86_64, "zR");
	func(cie, 0, CFI_BYTES(0));
	func(cie, 1, CFI_BYTES(0x0e, 24));
	func(cie, 2, CFI_BYTES(0x0e, 16, 0x86, 2, 0x0d, 6));
	func(cie, 3, CFI_BYTES(0x07, 16)); /* _start */
	return cie;
}

static void x86_stack(void)
{
	w.stack[0] = RET(1); /* leaf → 1 */
	w.stack[3] = RET(2); /* 1 → 2 */
	w.stack[6] = 0;      /* 2: saved rbp */
	w.stack[7] = RET(3); /* 2 → _start */
	set_reg(X86_RBP, SP + 48);
}

static void plain_frames(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0) + 4);
	x86_stack();
	expect(UNWIND_COMPLETE, FUNC(0) + 4, RET(1), RET(2), RET(3));
	assert_int_equal(w.out.frames[0].lookup, FUNC(0) + 4);
	assert_int_equal(w.out.frames[1].lookup, RET(1) - 1);
	assert_int_equal(w.out.frames[0].trust, UNWIND_REGS);
	assert_int_equal(w.out.frames[2].trust, UNWIND_CFI);
	assert_int_equal(w.out.frames[2].module, 1);
	int asked = w.calls;
	go();
	assert_int_equal(w.calls, asked); /* the second time all is in the cache */
	w.s.space = 2;
	go();
	assert_true(w.calls > asked);
	end();
}

static void zero_return_address_is_the_root(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	w.stack[0] = RET(1);
	expect(UNWIND_COMPLETE, FUNC(0), RET(1));
	end();
}

static void short_copy_is_truncated_shorter_one_has_a_hole(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	x86_stack();
	w.s.stack_size = w.s.stack_asked = 32; /* up to and with the word at 24 */
	expect(UNWIND_TRUNCATED, FUNC(0), RET(1), RET(2));
	w.s.stack_size = w.s.stack_asked = 31;
	expect(UNWIND_TRUNCATED, FUNC(0), RET(1));
	w.s.stack_size = 31, w.s.stack_asked = 8192; /* a page was not there */
	expect(UNWIND_HOLE, FUNC(0), RET(1));
	w.s.stack = NULL, w.s.stack_size = w.s.stack_asked = 0;
	expect(UNWIND_TRUNCATED, FUNC(0));
	end();
}

static void popped_frame_pointer_is_live(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	/* epilogue: rbp popped, its rule still says c-16, below sp by now */
	func(cie, 4, CFI_BYTES(0x86, 2));
	ready(FUNC(4));
	w.stack[0] = RET(2);
	w.stack[7] = RET(3);
	set_reg(X86_RBP, SP + 48);
	expect(UNWIND_COMPLETE, FUNC(4), RET(2), RET(3));
	end();
}

static void noreturn_call_at_the_end_and_planted_start(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	w.code[0x200 - 5] =
		0xe8; /* function 1 ends in a call: 2's start is its return address */
	w.stack[0] = FUNC(2);
	w.stack[3] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(0), FUNC(2), RET(3));
	assert_int_equal(w.out.frames[1].lookup, FUNC(2) - 1);
	w.code[0x200 - 5] =
		0x90; /* no call: somebody planted the address of 2, which is a root */
	w.s.space = 2;
	w.stack[7] = 0x1234;
	set_reg(X86_RBP, SP + 48);
	expect(UNWIND_COMPLETE, FUNC(0), FUNC(2));
	assert_int_equal(w.out.frames[1].lookup, FUNC(2));
	end();
}

static void return_to_nowhere(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	w.stack[0] = 0x1234;
	expect(UNWIND_NO_MAP, FUNC(0));
	end();
}

static void no_progress_is_a_loop(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	func(cie, 4, CFI_BYTES(0x0e, 0)); /* CFA = sp */
	func(cie, 5, CFI_BYTES(0x13, 1)); /* CFA = sp - 8 */
	ready(FUNC(0));
	w.stack[0] = RET(4);
	expect(UNWIND_LOOP, FUNC(0), RET(4));
	w.stack[0] = RET(5);
	expect(UNWIND_BAD_READ, FUNC(0), RET(5));
	end();
}

static void depth_has_a_ceiling(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	for (int i = 0; i < WORDS; i++)
		w.stack[i] = RET(0);
	unwinder_free(w.u);
	struct unwind_opts o = {.machine = EM_X86_64, .module_at = module_at, .max_depth = 7};
	assert_int_equal(unwinder_new(&o, &w.u, NULL), 0);
	go();
	assert_int_equal(w.out.n, 7);
	assert_int_equal(w.out.end, UNWIND_DEPTH);
	end();
}

static void realigned_frame(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	/* CFA = *(rbp - 8), rbp saved at *(rbp) */
	func(cie, 4, CFI_BYTES(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0));
	ready(FUNC(4));
	set_reg(X86_RBP, SP + 64);
	w.stack[7] = SP + 96;  /* rbp - 8 */
	w.stack[8] = SP + 160; /* caller's rbp */
	w.stack[11] = RET(2);
	w.stack[21] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(4), RET(2), RET(3));
	end();
}

static void odd_register_restarts_with_all_of_them(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	func(cie, 4, CFI_BYTES(0x0e, 32, 0x83, 3));         /* saves rbx at c-24 */
	func(cie, 5, CFI_BYTES(0x0d, 3, 0x0e, 16));         /* CFA = rbx + 16 */
	func(cie, 6, CFI_BYTES(0x0f, 4, 0x73, 8, 0x23, 8)); /* rbx + 8 + 8 */
	ready(FUNC(4));
	w.stack[1] = SP + 80; /* 4: caller's rbx */
	w.stack[3] = RET(5);
	w.stack[11] = RET(3); /* at rbx + 8 */
	set_reg(3, 0xbad);
	expect(UNWIND_COMPLETE, FUNC(4), RET(5), RET(3));
	struct unwind_stats st;
	unwind_get_stats(w.u, &st);
	assert_int_equal(st.restarts, 1);
	w.stack[3] = RET(6);
	expect(UNWIND_COMPLETE, FUNC(4), RET(6), RET(3));
	end();
}

static void clobbered_registers_are_not_believed_in_a_caller(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	func(cie, 4, CFI_BYTES(0x0d, 0)); /* CFA in rax: fine in a leaf */
	ready(FUNC(4));
	set_reg(0, SP + 8);
	w.stack[1] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(4), RET(3));
	set_reg(X86_RIP, FUNC(0));
	w.stack[0] = RET(4);
	expect(UNWIND_BAD_READ, FUNC(0), RET(4));
	end();
}

static void vfork_keeps_the_return_address_in_a_register(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	func(cie, 4, CFI_BYTES(0x0e, 0, 0x09, 16, 5)); /* popped into rdi */
	ready(FUNC(4));
	set_reg(5, RET(1));
	set_reg(X86_RBP, SP + 48);
	w.stack[2] = RET(2);
	w.stack[7] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(4), RET(1), RET(2), RET(3));
	end();
}

static void unknown_registers_of_kernel_entry(void **state)
{
	(void)state;
	size_t cie = x86_functions();
	func(cie, 4, CFI_BYTES(0x0d, 3, 0x0e, 16)); /* CFA = rbx + 16 */
	ready(FUNC(4));
	set_reg(3, UINT64_MAX);
	w.s.in_kernel = 1;
	w.stack[0] = RET(3);
	expect(UNWIND_BAD_READ, FUNC(4));
	end();
}

/* --- signals ---------------------------------------------------------------------------- */

static const uint8_t x86_sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

static void x86_ucontext(size_t at, uint64_t pc, uint64_t sp, uint64_t fp)
{
	w.stack[at + 5 + 10] = fp;
	w.stack[at + 5 + 15] = sp;
	w.stack[at + 5 + 16] = pc;
}

static void signal_trampoline_with_cfi(void **state)
{
	(void)state;
	begin(EM_X86_64, "zR");
	size_t cie = x86_functions();
	size_t sig = cfiasm_cie(&w.frames, "zRS", EM_X86_64,
				CFI_BYTES(0x0f, 4, 0x77, 0xa0, 1, 0x06, /* CFA *(rsp+160) */
					  0x10, 6, 3, 0x77, 0xf8, 0,    /* rbp at rsp+120 */
					  0x10, 16, 3, 0x77, 0xa8, 1)); /* rip at rsp+168 */
	func(sig, 4, CFI_BYTES(0));
	/* the interrupted function: rbp popped already though its rule does not say so */
	func(cie, 5, CFI_BYTES(0x86, 2));
	ready(FUNC(0));
	w.stack[0] = FUNC(4); /* the handler returns to the trampoline's first byte */
	x86_ucontext(1, FUNC(5), SP + 400, SP + 480);
	w.stack[49] = 0xdead; /* where rbp would be */
	w.stack[50] = RET(2);
	w.stack[61] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(0), FUNC(4), FUNC(5), RET(2), RET(3));
	assert_int_equal(w.out.frames[1].lookup, FUNC(4)); /* both exact */
	assert_int_equal(w.out.frames[2].lookup, FUNC(5));
	assert_int_equal(w.out.frames[1].signal, 1);
	assert_int_equal(w.out.frames[2].signal, 0);
	end();
}

static void signal_trampoline_by_its_bytes(void **state)
{
	(void)state;
	x86_functions();
	memcpy(w.code + 0x400, x86_sigreturn, sizeof(x86_sigreturn));
	ready(FUNC(0));
	w.stack[0] = FUNC(4);
	/* down to another stack, and back up */
	x86_ucontext(1, FUNC(0) + 1, SP + 400, 0);
	w.stack[50] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(0), FUNC(4), FUNC(0) + 1, RET(3));
	assert_int_equal(w.out.frames[2].trust, UNWIND_SIGCODE);
	assert_int_equal(w.out.frames[2].lookup, FUNC(0) + 1);
	end();
}

/* A larger copy would reach what is some kilobytes above, never what is on another stack. */
static void handler_with_a_stack_of_its_own(void **state)
{
	(void)state;
	x86_functions();
	memcpy(w.code + 0x400, x86_sigreturn, sizeof(x86_sigreturn));
	ready(FUNC(0));
	w.stack[0] = FUNC(4);
	x86_ucontext(1, FUNC(0) + 1, SP + 40000, 0);
	expect(UNWIND_TRUNCATED, FUNC(0), FUNC(4), FUNC(0) + 1);
	x86_ucontext(1, FUNC(0) + 1, SP + 140000, 0);
	expect(UNWIND_OTHER_STACK, FUNC(0), FUNC(4), FUNC(0) + 1);
	x86_ucontext(1, FUNC(0) + 1, SP - 4096, 0);
	expect(UNWIND_OTHER_STACK, FUNC(0), FUNC(4), FUNC(0) + 1);
	assert_string_equal(unwind_end_name(w.out.end), "other_stack");
	end();
}

/* Generated code that was interrupted keeps its frame pointer on the other stack. */
static void generated_code_below_a_handler_with_its_own_stack(void **state)
{
	(void)state;
	x86_functions();
	memcpy(w.code + 0x400, x86_sigreturn, sizeof(x86_sigreturn));
	ready(FUNC(0));
	w.stack[0] = FUNC(4);
	x86_ucontext(1, JIT_AT + 8, SP + 140000, SP + 140016);
	expect(UNWIND_OTHER_STACK, FUNC(0), FUNC(4), JIT_AT + 8);
	end();
}

static void signal_frame_by_its_shape(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	w.stack[0] = VDSO_AT + 16;
	x86_ucontext(1, FUNC(0) + 1, SP + 400, 0);
	w.stack[1 + 23] = 0x2b000000000033; /* cs */
	w.stack[50] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(0), VDSO_AT + 16, FUNC(0) + 1, RET(3));
	assert_int_equal(w.out.frames[1].lookup, VDSO_AT + 16);
	assert_int_equal(w.out.frames[1].signal, 1);
	assert_int_equal(w.out.frames[2].trust, UNWIND_SIG_GUESS);
	w.stack[1 + 23] = 0x10;
	expect(UNWIND_NO_FILE, FUNC(0), VDSO_AT + 16);
	end();
}

static void signal_frame_that_leads_to_itself(void **state)
{
	(void)state;
	x86_functions();
	memcpy(w.code + 0x400, x86_sigreturn, sizeof(x86_sigreturn));
	ready(FUNC(0));
	w.stack[0] = FUNC(4);
	x86_ucontext(1, FUNC(0), SP, 0);
	go();
	assert_int_equal(w.out.end, UNWIND_LOOP);
	assert_true(w.out.n < 8);
	end();
}

static void call_of_a_null_pointer(void **state)
{
	(void)state;
	x86_functions();
	ready(0);
	w.stack[0] = RET(3);
	expect(UNWIND_COMPLETE, 0, RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_LEAF_GUESS);
	w.stack[0] = FUNC(3) + 0x23; /* no call before it */
	expect(UNWIND_NO_MAP, 0);
	end();
}

/* --- guesses ---------------------------------------------------------------------------- */

static void code_without_cfi(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(8));
	w.stack[0] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(8), RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_LEAF_GUESS);
	w.stack[0] = 7;
	w.stack[4] = 0;
	w.stack[5] = RET(3);
	set_reg(X86_RBP, SP + 32);
	expect(UNWIND_COMPLETE, FUNC(8), RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_FP_GUESS);
	set_reg(X86_RBP, SP + 33); /* not aligned */
	expect(UNWIND_NO_CFI, FUNC(8));
	set_reg(X86_RBP, SP - 32);
	expect(UNWIND_NO_CFI, FUNC(8));
	/* a root by name, known to the caller: also when no call stands before the address */
	set_reg(X86_RBP, SP + 32);
	w.stack[5] = FUNC(15) + 1;
	expect(UNWIND_COMPLETE, FUNC(8), FUNC(15) + 1);
	w.stack[5] = FUNC(14) + 1;
	expect(UNWIND_NO_CFI, FUNC(8));
	set_reg(X86_RIP, FUNC(15));
	expect(UNWIND_COMPLETE, FUNC(15));
	end();
}

/* The word on top was left there by a call of another function: the frame pointer knows better,
 * but is there none, it is better than nothing. */
static void an_old_return_address_on_top_is_no_caller(void **state)
{
	static const int32_t elsewhere = 0x700000;
	(void)state;
	x86_functions();
	ready(FUNC(8) + 0x24);
	memcpy(w.code + 0x300 + 0x20 - 4, &elsewhere, 4); /* of the call before RET(3) */
	w.stack[0] = RET(3);
	w.stack[4] = 0;
	w.stack[5] = RET(2);
	set_reg(X86_RBP, SP + 32);
	go();
	assert_int_equal(w.out.frames[1].ip, RET(2));
	assert_int_equal(w.out.frames[1].trust, UNWIND_FP_GUESS);
	set_reg(X86_RBP, 5);
	go();
	assert_int_equal(w.out.frames[1].ip, RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_LEAF_GUESS);
	end();
}

static int function_at(void *ctx, uint64_t lookup, uint64_t *start)
{
	(void)ctx;
	*start = lookup & ~UINT64_C(0xff);
	return 1;
}

/* An indirect call may have led anywhere, so it counts as long as the function at hand has not
 * set up a frame pointer: from then on the word on top is a local one. */
static void beside_a_frame_pointer_an_indirect_call_is_no_caller(void **state)
{
	(void)state;
	x86_functions();
	memcpy(w.code + 0x320 - 5, "\x90\x90\x90\xff\xd0", 5); /* call *%rax before RET(3) */
	memcpy(w.code + 0x804, "\x55\x48\x89\xe5", 4);         /* push %rbp; mov %rsp,%rbp */
	ready(FUNC(8) + 0x24);
	struct unwind_opts o = {.machine = w.machine,
				.module_at = module_at,
				.is_root = is_root,
				.function_at = function_at};
	unwinder_free(w.u);
	assert_int_equal(unwinder_new(&o, &w.u, NULL), 0);
	w.stack[0] = RET(3);
	w.stack[4] = 0;
	w.stack[5] = RET(2);
	set_reg(X86_RBP, SP + 32);
	go();
	assert_int_equal(w.out.frames[1].ip, RET(2));
	assert_int_equal(w.out.frames[1].trust, UNWIND_FP_GUESS);
	set_reg(X86_RIP, FUNC(8) + 4);
	go();
	assert_int_equal(w.out.frames[1].ip, RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_LEAF_GUESS);
	end();
}

static void generated_code_goes_by_frame_pointer(void **state)
{
	(void)state;
	x86_functions();
	ready(JIT_AT + 8);
	set_reg(X86_RBP, SP + 32);
	w.stack[0] = RET(2); /* looks like a leaf's, but is old */
	w.stack[4] = SP + 64;
	w.stack[5] = JIT_AT + 100;
	w.stack[8] = 0;
	w.stack[9] = RET(3);
	expect(UNWIND_COMPLETE, JIT_AT + 8, JIT_AT + 100, RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_FP_GUESS);
	w.s.stack_size = w.s.stack_asked = 64;
	expect(UNWIND_TRUNCATED, JIT_AT + 8, JIT_AT + 100);
	end();
}

/* musl's libc.so has neither: what called main is its start. */
static void who_calls_main_is_the_root_without_name_and_cfi(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	x86_stack();
	set_reg(X86_RBP, 0);
	w.stack[3] = RET(8);
	expect(UNWIND_NO_CFI, FUNC(0), RET(1), RET(8));
	w.main = FUNC(1);
	expect(UNWIND_COMPLETE, FUNC(0), RET(1), RET(8));
	w.main = FUNC(0);
	expect(UNWIND_NO_CFI, FUNC(0), RET(1), RET(8));
	end();
}

static void without_the_file_nothing_else_leads_on(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	x86_stack();
	w.no_cfi = 1;
	w.flags = UNWIND_MOD_NO_FILE;
	set_reg(X86_RBP, 0);
	expect(UNWIND_NO_FILE, FUNC(0));
	end();
}

/* --- the recorded chain ----------------------------------------------------------------- */

static void short_copy_goes_on_along_the_chain(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	x86_stack();
	/* frame pointers alone miss function 1, whose frame has none */
	const uint64_t chain[] = {FUNC(0), RET(2), JIT_AT + 5, RET(3)};
	w.s.chain = chain;
	w.s.nchain = 3;
	w.s.stack_size = w.s.stack_asked = 8;
	expect(UNWIND_CHAIN, FUNC(0), RET(1), RET(2), JIT_AT + 5);
	assert_int_equal(w.out.frames[2].trust, UNWIND_RECORDED);
	assert_int_equal(w.out.recorded, 2);
	assert_int_equal(w.out.stopped, UNWIND_TRUNCATED);
	w.s.nchain = 4; /* up to where the return address is undefined */
	expect(UNWIND_COMPLETE, FUNC(0), RET(1), RET(2), JIT_AT + 5, RET(3));
	assert_int_equal(w.out.stopped, UNWIND_TRUNCATED);
	w.s.nchain = 0;
	expect(UNWIND_TRUNCATED, FUNC(0), RET(1));
	end();
}

static void chain_alone_when_there_are_no_registers(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	const uint64_t chain[] = {FUNC(0), RET(1), RET(2)};
	w.s.abi = 1; /* of a 32-bit task: its pc is known */
	expect(UNWIND_NO_REGS, FUNC(0));
	w.s.abi = 0;
	expect_(UNWIND_NO_REGS, NULL, 0);
	w.s.chain = chain;
	w.s.nchain = 3;
	expect(UNWIND_CHAIN, FUNC(0), RET(1), RET(2));
	assert_int_equal(w.out.frames[0].lookup, FUNC(0));
	assert_int_equal(w.out.frames[1].lookup, RET(1) - 1);
	w.s.abi = 1;
	expect(UNWIND_CHAIN, FUNC(0), RET(1), RET(2));
	end();
}

/* --- aarch64 ---------------------------------------------------------------------------- */

static const uint64_t pac = UINT64_C(0x002a) << 48;

static size_t arm_functions(void)
{
	size_t cie = begin(EM_AARCH64, "zR");
	func(cie, 0, CFI_BYTES(0));                                          /* leaf */
	func(cie, 1, CFI_BYTES(0x0e, 32, 0x9d, 4, 0x9e, 3));                 /* sp + 32 */
	func(cie, 2, CFI_BYTES(0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x0d, 29)); /* x29 + 16, PAC */
	func(cie, 3, CFI_BYTES(0x07, 30));
	return cie;
}

static void aarch64_leaf_and_pac(void **state)
{
	(void)state;
	arm_functions();
	ready(FUNC(0) + 4);
	set_reg(ARM_LR, RET(1) | pac);
	w.stack[0] = SP + 32; /* 1: x29, x30 */
	w.stack[1] = RET(2);
	w.stack[4] = 0; /* 2: at x29 */
	w.stack[5] = RET(3) | pac;
	expect(UNWIND_COMPLETE, FUNC(0) + 4, RET(1), RET(2), RET(3));
	/* a frame further up cannot have it in lr any more */
	w.stack[1] = RET(0);
	expect(UNWIND_LOOP, FUNC(0) + 4, RET(1), RET(0));
	end();
}

static void aarch64_signal_in_the_vdso(void **state)
{
	(void)state;
	static const uint8_t sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	arm_functions();
	memcpy(w.code + 0x400, sigreturn, sizeof(sigreturn));
	ready(FUNC(0));
	set_reg(ARM_LR, FUNC(4));
	enum { REGS = (128 + 176 + 8) / 8 };
	w.stack[REGS + 29] = SP + 1600;
	w.stack[REGS + 30] = RET(2); /* the interrupted leaf's lr */
	w.stack[REGS + 31] = SP + 1600;
	w.stack[REGS + 32] = FUNC(0) + 8;
	w.stack[200] = 0;
	w.stack[201] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(0), FUNC(4), FUNC(0) + 8, RET(2), RET(3));
	assert_int_equal(w.out.frames[1].signal, 1);
	assert_int_equal(w.out.frames[2].lookup, FUNC(0) + 8);
	end();
}

static void aarch64_scalable_vectors(void **state)
{
	(void)state;
	size_t cie = arm_functions();
	/* CFA = sp + 16 + 8 * VG: what gcc writes for an SVE frame */
	func(cie, 4,
	     CFI_BYTES(0x0f, 9, 0x8f, 16, 0x92, 46, 0, 0x38, 0x1e, 0x22, 0x96, 0x9e, 2));
	ready(FUNC(4));
	set_reg(ARM_VG, 4);
	w.stack[4] = RET(3); /* c - 16 */
	expect(UNWIND_COMPLETE, FUNC(4), RET(3));
	end();
}

static void aarch64_without_cfi(void **state)
{
	(void)state;
	arm_functions();
	ready(FUNC(8));
	set_reg(ARM_LR, RET(3));
	expect(UNWIND_COMPLETE, FUNC(8), RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_LEAF_GUESS);
	set_reg(ARM_LR, FUNC(3) + 0x24); /* no bl before it */
	set_reg(ARM_FP, SP + 16);
	w.stack[2] = 0;
	w.stack[3] = RET(3) | pac;
	expect(UNWIND_COMPLETE, FUNC(8), RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_FP_GUESS);
	end();
}

/* --- anything --------------------------------------------------------------------------- */

static uint64_t seed;

static uint64_t rnd(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return seed >> 33;
}

static uint64_t some_word(void)
{
	switch (rnd() % 4) {
	case 0:
		return SP + rnd() % sizeof(w.stack);
	case 1:
		return FUNC(rnd() % 20) + rnd() % 0x100;
	case 2:
		return JIT_AT + rnd() % 0x1100;
	default:
		return rnd() << (rnd() % 34);
	}
}

/* Any registers, stack and chain: the walk ends, inside its arrays, with a reason. */
static void whatever_the_bytes(void **state)
{
	(void)state;
	for (int arm = 0; arm < 2; arm++) {
		size_t cie = arm ? arm_functions() : x86_functions();
		for (unsigned i = 4; i < 16; i++) {
			uint8_t prog[12];
			for (size_t k = 0; k < sizeof(prog); k++)
				prog[k] = (uint8_t)(rnd() % 3 ? rnd() % 0x20 : rnd());
			func(cie, i, prog, sizeof(prog));
		}
		memcpy(w.code + 0x1200, x86_sigreturn, sizeof(x86_sigreturn));
		ready(FUNC(0));
		w.flags = 0;
		for (int round = 0; round < 3000; round++) {
			uint64_t chain[8];
			for (size_t i = 0; i < 34; i++)
				w.reg[i] = some_word();
			for (size_t i = 0; i < WORDS; i++)
				w.stack[i] = some_word();
			for (size_t i = 0; i < 8; i++)
				chain[i] = some_word();
			set_reg(arm ? ARM_SP : X86_RSP, SP + rnd() % 8);
			set_reg(arm ? ARM_PC : X86_RIP, FUNC(rnd() % 20) + rnd() % 0x100);
			w.s.stack_size = rnd() % (sizeof(w.stack) + 1);
			w.s.stack_asked = rnd() % 2 ? w.s.stack_size : sizeof(w.stack) + 8;
			w.s.chain = chain;
			w.s.nchain = rnd() % 9;
			go();
			assert_true(w.out.n <= 1024 && w.out.recorded <= w.out.n);
			assert_in_range(w.out.end, UNWIND_COMPLETE, UNWIND_NO_REGS);
		}
		end();
	}
}

static void failures_of_the_caller_are_handed_on(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	w.fail = 1;
	assert_int_equal(unwind_sample(w.u, &w.s, &w.out, NULL), ERR_IO);
	w.fail = 0;
	x86_stack();
	expect(UNWIND_COMPLETE, FUNC(0), RET(1), RET(2), RET(3));
	end();
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	x86_functions();
	ready(FUNC(0));
	x86_stack();
	copy_stack();
	for (long n = 0;; n++) {
		struct unwinder *u = NULL;
		struct unwind_opts o = {.machine = EM_X86_64, .module_at = module_at};
		mem_fail_after(n);
		int rc = unwinder_new(&o, &u, NULL);
		if (!rc)
			rc = unwind_sample(u, &w.s, &w.out, NULL);
		mem_fail_after(-1);
		unwinder_free(u);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
	}
	assert_int_equal(w.out.n, 4);
	end();
}

static void names_of_ends(void **state)
{
	(void)state;
	assert_string_equal(unwind_end_name(UNWIND_NO_FILE), "no_file");
	assert_string_equal(unwind_end_name((enum unwind_end)0), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_frames),
		cmocka_unit_test(zero_return_address_is_the_root),
		cmocka_unit_test(short_copy_is_truncated_shorter_one_has_a_hole),
		cmocka_unit_test(popped_frame_pointer_is_live),
		cmocka_unit_test(noreturn_call_at_the_end_and_planted_start),
		cmocka_unit_test(return_to_nowhere),
		cmocka_unit_test(no_progress_is_a_loop),
		cmocka_unit_test(depth_has_a_ceiling),
		cmocka_unit_test(realigned_frame),
		cmocka_unit_test(odd_register_restarts_with_all_of_them),
		cmocka_unit_test(clobbered_registers_are_not_believed_in_a_caller),
		cmocka_unit_test(vfork_keeps_the_return_address_in_a_register),
		cmocka_unit_test(unknown_registers_of_kernel_entry),
		cmocka_unit_test(signal_trampoline_with_cfi),
		cmocka_unit_test(signal_trampoline_by_its_bytes),
		cmocka_unit_test(handler_with_a_stack_of_its_own),
		cmocka_unit_test(generated_code_below_a_handler_with_its_own_stack),
		cmocka_unit_test(signal_frame_by_its_shape),
		cmocka_unit_test(signal_frame_that_leads_to_itself),
		cmocka_unit_test(call_of_a_null_pointer),
		cmocka_unit_test(code_without_cfi),
		cmocka_unit_test(an_old_return_address_on_top_is_no_caller),
		cmocka_unit_test(beside_a_frame_pointer_an_indirect_call_is_no_caller),
		cmocka_unit_test(generated_code_goes_by_frame_pointer),
		cmocka_unit_test(who_calls_main_is_the_root_without_name_and_cfi),
		cmocka_unit_test(without_the_file_nothing_else_leads_on),
		cmocka_unit_test(short_copy_goes_on_along_the_chain),
		cmocka_unit_test(chain_alone_when_there_are_no_registers),
		cmocka_unit_test(aarch64_leaf_and_pac),
		cmocka_unit_test(aarch64_signal_in_the_vdso),
		cmocka_unit_test(aarch64_scalable_vectors),
		cmocka_unit_test(aarch64_without_cfi),
		cmocka_unit_test(whatever_the_bytes),
		cmocka_unit_test(failures_of_the_caller_are_handed_on),
		cmocka_unit_test(exhaustion_is_an_error),
		cmocka_unit_test(names_of_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
