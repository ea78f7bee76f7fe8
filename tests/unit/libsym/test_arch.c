/*
 * The table of architectures, and riscv64: registers, calls, frame records and signal frames
 * written by hand. Real programs of it are in tests/cli/unwind-riscv64.sh.
 *
 * The code lies at CODE, a function every 0x100 bytes, each 16th byte of it behind a call.
 */
#include "tests/lib/cfiasm.h"
#include "tests/lib/unit.h"

#include "libsym/unwind/arch.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

#include <elf.h>
#include <endian.h>

enum { CODE = 0x1000, FRAME = 0x8000, WORDS = 256 };
#define SP UINT64_C(0x3fff00000000)
#define FUNC(n) (CODE + 0x100 * (uint64_t)(n))
#define RET(n) (FUNC(n) + 0x20)
#define VDSO_AT UINT64_C(0x3fffe0000000) /* a mapping whose file is not at hand */

/* --- the table -------------------------------------------------------------------------- */

static void names_and_numbers_find_the_same(void **state)
{
	(void)state;
	assert_ptr_equal(arch_named("x86_64"), arch_of(EM_X86_64));
	assert_ptr_equal(arch_named("aarch64"), arch_of(EM_AARCH64));
	assert_ptr_equal(arch_named("arm64"), arch_of(EM_AARCH64));
	assert_ptr_equal(arch_named("riscv64"), arch_of(EM_RISCV));
	assert_null(arch_named("riscv32"));
	assert_null(arch_named("i686"));
	assert_null(arch_named(NULL));
	assert_null(arch_of(EM_S390));
}

/* sample_regs_user of perf record --call-graph dwarf, and of -g on aarch64. */
static void registers_tell_the_architecture(void **state)
{
	(void)state;
	assert_ptr_equal(arch_of_registers(0xff0fff), &arch_x86_64);
	assert_ptr_equal(arch_of_registers(1 << 8), &arch_x86_64);
	assert_ptr_equal(arch_of_registers(UINT64_C(0x1ffffffff)), &arch_aarch64);
	assert_ptr_equal(arch_of_registers(1 << 30), &arch_aarch64);
	assert_ptr_equal(arch_of_registers(UINT64_C(0xffffffff)), &arch_riscv64);
}

static void no_two_registers_share_a_bit(void **state)
{
	(void)state;
	static const uint16_t machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV};
	for (size_t i = 0; i < 3; i++) {
		const struct arch *a = arch_of(machines[i]);
		uint64_t seen = 0;
		for (unsigned r = 0; r < CFI_REGS; r++) {
			unsigned bit = arch_perf_bit(a, r);
			if (bit == ARCH_NONE)
				continue;
			assert_true(bit < 64);
			assert_false(seen >> bit & 1);
			seen |= UINT64_C(1) << bit;
		}
		/* what the unwinder needs is what perf asks for */
		uint64_t need = UINT64_C(1) << arch_perf_bit(a, a->pc) |
				UINT64_C(1) << arch_perf_bit(a, a->sp) |
				UINT64_C(1) << arch_perf_bit(a, a->fp);
		assert_int_equal(need & ~a->dump_regs, 0);
		assert_true(a->call_max <= ARCH_CALL_MAX);
		assert_true(a->sigframe.code_size <= 16);
	}
}

/* --- riscv64: code ---------------------------------------------------------------------- */

static int is_call(const struct arch *a, uint32_t insn)
{
	uint8_t b[4] = {(uint8_t)insn, (uint8_t)(insn >> 8), (uint8_t)(insn >> 16),
			(uint8_t)(insn >> 24)};
	return a->after_call(b, 4);
}

/* Encodings by riscv64-linux-gnu-as. */
static void riscv64_calls(void **state)
{
	(void)state;
	const struct arch *a = &arch_riscv64;
	assert_true(is_call(a, 0x010000ef));  /* jal ra, .+16 */
	assert_true(is_call(a, 0x010002ef));  /* jal t0, .+16 */
	assert_true(is_call(a, 0x000500e7));  /* jalr ra, a0 */
	assert_true(is_call(a, 0x02a080e7));  /* jalr ra, 42(ra) */
	assert_true(is_call(a, 0x95020001));  /* c.nop; c.jalr a0 */
	assert_false(is_call(a, 0x0100006f)); /* j .+16 */
	assert_false(is_call(a, 0x00008067)); /* ret */
	assert_false(is_call(a, 0x000e0367)); /* jalr t1, t3: a PLT stub's jump */
	assert_false(is_call(a, 0x80820001)); /* c.nop; c.jr ra */
	assert_false(is_call(a, 0x90020001)); /* c.nop; c.ebreak */
	assert_false(is_call(a, 0x952a0001)); /* c.nop; c.add a0, a0, a0 */
	assert_true(a->after_call((const uint8_t[]){0x02, 0x95}, 2));
}

/* --- riscv64: stacks -------------------------------------------------------------------- */

struct world {
	struct cfiasm frames;
	uint8_t code[0x1000];
	struct cfi *cfi;
	struct unwinder *u;
	uint64_t reg[32]; /* in perf's order: pc, then x1 to x31 */
	uint64_t stack[WORDS], copy[WORDS];
	struct unwind_sample s;
	struct unwind_stack out;
};

static struct world w;
enum { PC = 0, RA = 1, S0 = 8 }; /* in reg[] */

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	(void)ctx;
	if (pc - VDSO_AT < 0x1000) {
		*out = (struct unwind_module){NULL, 0, 2, UNWIND_MOD_NO_FILE};
		return 1;
	}
	*out = (struct unwind_module){w.cfi, 0, 1, 0};
	return pc - CODE < sizeof(w.code);
}

static void func(size_t cie, unsigned n, const uint8_t *prog, size_t size)
{
	cfiasm_fde(&w.frames, cie, FUNC(n), 0x100, prog, size);
	for (unsigned at = 0x10; at < 0x100; at += 0x10)
		memcpy(w.code + 0x100 * n + at - 4, "\xef\0\0\x01", 4); /* jal ra, .+16 */
}

/*
 * 0: a leaf, ra untouched. 1: CFA sp + 32, ra and s0 saved below it. 2: the same by s0.
 * 3: the outermost. 4: the vdso's trampoline. 8 has no CFI.
 */
static void riscv_functions(void)
{
	static const uint8_t sigreturn[] = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0};
	memset(&w, 0, sizeof(w));
	w.frames.va = FRAME;
	size_t cie = cfiasm_cie(&w.frames, "zR", EM_RISCV, CFI_BYTES(0x0c, 2, 0));
	size_t signal = cfiasm_cie(&w.frames, "zRS", EM_RISCV, CFI_BYTES(0x0c, 2, 0));
	func(cie, 0, CFI_BYTES(0));
	func(cie, 1, CFI_BYTES(0x0e, 32, 0x81, 1, 0x88, 2));
	func(cie, 2, CFI_BYTES(0x81, 1, 0x88, 2, 0x0c, 8, 0));
	func(cie, 3, CFI_BYTES(0x07, 1));
	cfiasm_fde(&w.frames, signal, FUNC(4), sizeof(sigreturn), CFI_BYTES(0));
	memcpy(w.code + 0x400, sigreturn, sizeof(sigreturn));
}

static void ready(uint64_t pc, uint64_t ra)
{
	struct cfi_bytes b = {.machine = EM_RISCV,
			      .eh_frame = w.frames.b,
			      .eh_frame_size = w.frames.n,
			      .eh_frame_va = FRAME,
			      .code = w.code,
			      .code_size = sizeof(w.code),
			      .code_va = CODE};
	struct unwind_opts o = {.machine = EM_RISCV, .module_at = module_at};
	assert_int_equal(cfi_open_bytes(&b, &w.cfi, NULL), 0);
	assert_int_equal(unwinder_new(&o, &w.u, NULL), 0);
	w.s = (struct unwind_sample){.regs = w.reg,
				     .regs_mask = arch_riscv64.dump_regs,
				     .abi = 2,
				     .stack = w.copy,
				     .stack_size = sizeof(w.copy),
				     .stack_asked = sizeof(w.copy),
				     .space = 1};
	w.reg[PC] = pc;
	w.reg[RA] = ra;
	w.reg[2] = SP;
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
	for (size_t i = 0; i < WORDS; i++)
		w.copy[i] = htole64(w.stack[i]);
	assert_int_equal(unwind_sample(w.u, &w.s, &w.out, NULL), 0);
	for (size_t i = 0; i < w.out.n && i < n; i++)
		assert_int_equal(w.out.frames[i].ip, ip[i]);
	assert_int_equal(w.out.n, n);
	assert_string_equal(unwind_end_name(w.out.end), unwind_end_name(want));
}

static void riscv64_plain_frames(void **state)
{
	(void)state;
	riscv_functions();
	ready(FUNC(0) + 4, RET(1));
	w.stack[3] = RET(2); /* 1: ra */
	w.stack[2] = SP + 96;
	w.stack[11] = RET(3); /* 2: ra */
	expect(UNWIND_COMPLETE, FUNC(0) + 4, RET(1), RET(2), RET(3));
	assert_int_equal(w.out.frames[3].trust, UNWIND_CFI);
	/* a frame further up cannot have it in ra any more */
	w.stack[3] = RET(0);
	expect(UNWIND_LOOP, FUNC(0) + 4, RET(1), RET(0));
	w.s.stack_size = w.s.stack_asked = 24;
	expect(UNWIND_TRUNCATED, FUNC(0) + 4, RET(1));
	end();
}

/* The trampoline's own CFI says "signal frame" and nothing else. */
static void riscv64_signal_in_the_vdso(void **state)
{
	(void)state;
	enum { REGS = (128 + 176) / 8 };
	riscv_functions();
	ready(FUNC(0), FUNC(4));
	w.stack[REGS] = FUNC(0) + 8; /* interrupted: a leaf, its caller in ra */
	w.stack[REGS + 1] = RET(2);
	w.stack[REGS + 2] = SP + 1584;
	w.stack[REGS + 8] = SP + 1600;
	w.stack[199] = RET(3);
	expect(UNWIND_COMPLETE, FUNC(0), FUNC(4), FUNC(0) + 8, RET(2), RET(3));
	assert_int_equal(w.out.frames[1].signal, 1);
	assert_int_equal(w.out.frames[2].trust, UNWIND_SIGCODE);
	assert_int_equal(w.out.frames[2].lookup, FUNC(0) + 8);
	end();
}

/* The same where the vdso's bytes are not at hand. */
static void riscv64_signal_frame_by_its_shape(void **state)
{
	(void)state;
	enum { UC = 128 / 8, REGS = (128 + 176) / 8, FCSR = REGS + 64 };
	riscv_functions();
	ready(FUNC(0), VDSO_AT + 0x800);
	w.stack[REGS] = RET(3);
	w.stack[REGS + 2] = SP + 1600;
	w.stack[FCSR] = 0x1f;
	expect(UNWIND_COMPLETE, FUNC(0), VDSO_AT + 0x800, RET(3));
	assert_int_equal(w.out.frames[1].signal, 1);
	assert_int_equal(w.out.frames[2].trust, UNWIND_SIG_GUESS);
	w.stack[FCSR] = 0x4000;
	expect(UNWIND_NO_FILE, FUNC(0), VDSO_AT + 0x800);
	w.stack[FCSR] = 0;
	w.stack[UC + 1] = SP; /* uc_link */
	expect(UNWIND_NO_FILE, FUNC(0), VDSO_AT + 0x800);
	end();
}

static void riscv64_without_cfi(void **state)
{
	(void)state;
	riscv_functions();
	ready(FUNC(8), RET(3));
	expect(UNWIND_COMPLETE, FUNC(8), RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_LEAF_GUESS);
	w.reg[RA] = FUNC(3) + 0x24; /* no call before it */
	w.reg[S0] = SP + 32;        /* the record lies below s0 */
	w.stack[2] = SP + 96;
	w.stack[3] = FUNC(8) + 0x10;
	w.stack[11] = RET(3);
	memcpy(w.code + 0x80c, "\x02\x95\x02\x95", 4); /* c.jalr a0 */
	expect(UNWIND_COMPLETE, FUNC(8), FUNC(8) + 0x10, RET(3));
	assert_int_equal(w.out.frames[1].trust, UNWIND_FP_GUESS);
	assert_int_equal(w.out.frames[2].trust, UNWIND_FP_GUESS);
	end();
}

/* What the copy covers of a chain that the kernel followed through s0 is told by place. */
static void riscv64_goes_on_along_the_recorded_chain(void **state)
{
	(void)state;
	const uint64_t chain[] = {FUNC(2) + 8, RET(1), RET(2), RET(3)};
	riscv_functions();
	ready(FUNC(2) + 8, 0);
	w.reg[S0] = SP + 32;
	w.stack[2] = SP + 512;
	w.stack[3] = RET(1);
	w.s.stack_size = w.s.stack_asked = 48;
	w.s.chain = chain;
	w.s.nchain = 4;
	expect(UNWIND_COMPLETE, FUNC(2) + 8, RET(1), RET(2), RET(3));
	assert_int_equal(w.out.recorded, 2);
	assert_string_equal(unwind_end_name(w.out.stopped), "truncated");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_numbers_find_the_same),
		cmocka_unit_test(registers_tell_the_architecture),
		cmocka_unit_test(no_two_registers_share_a_bit),
		cmocka_unit_test(riscv64_calls),
		cmocka_unit_test(riscv64_plain_frames),
		cmocka_unit_test(riscv64_signal_in_the_vdso),
		cmocka_unit_test(riscv64_signal_frame_by_its_shape),
		cmocka_unit_test(riscv64_without_cfi),
		cmocka_unit_test(riscv64_goes_on_along_the_recorded_chain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
