/* libsym: stacks whose recorded callchain is not the whole story: LBR call stacks, leaves whose
 * caller is in the link register, user callchains that come after their samples. Images are
 * written by hand, addresses by design. */
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

enum { TEXT = 0x401000 };
#define KERNEL 0xffffffff81000010ull

static const struct pw_id at = {.pid = 7, .tid = 7, .time = 100};

static void begin(struct pw *w, enum pw_mode mode, const struct pw_attr *attr)
{
	pw_begin(w, &(struct pw_config){.mode = mode});
	pw_attr(w, attr);
	pw_comm(w, &at, 7, 7, "server", 0);
	pw_mmap2(w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = TEXT,
				   .len = 0x10000,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = "/none/server"});
}

/* The addresses (offsets in the file) of the only folded stack, root first, as text. */
static void fold_with(struct pw *w, const char *symfs, char *out, size_t size,
		      uint64_t *missing)
{
	struct profile_options opt = {
		.modules.find = {.no_local = 1, .buildid_dir = "", .symfs = symfs}};
	struct fold_options how = {.workers = 1, .aggregate.by = BY_ADDR};
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct err e = {0};
	assert_int_equal(pw_finish(w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(p->folded.n, 1);
	uint32_t frames[32];
	size_t n = stacks_frames(&p->stacks, p->folded.v[0].path, frames, 32);
	*out = '\0';
	for (size_t i = 0; i < n; i++) {
		size_t k = strlen(out);
		snprintf(out + k, size - k, "%s%llx", i ? " " : "",
			 (unsigned long long)p->stacks.frames.v[frames[i]].addr);
	}
	*missing = p->unwinding.deferred_missing;
	profile_close(p);
	buf_release(&image);
}

static void fold(struct pw *w, char *out, size_t size, uint64_t *missing)
{
	fold_with(w, NULL, out, size, missing);
}

/* The stack of a sample at TEXT + 0x34 with this chain and the first `branches` calls: from the
 * caller's call site to the function entered, innermost first. */
static void check_lbr(uint16_t mode, const uint64_t *chain, size_t n, unsigned branches,
		      const char *want)
{
	struct pw w;
	char got[128];
	uint64_t missing;
	struct pw_branch br[] = {{.from = TEXT + 0x20, .to = TEXT + 0x30},
				 {.from = TEXT + 0x10, .to = TEXT + 0x18}};
	begin(&w, PW_FILE,
	      &(struct pw_attr){.type = 0,
				.sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
					       PW_S_BRANCH_STACK | (n ? PW_S_CALLCHAIN : 0),
				.branch_sample_type = PW_BRANCH_CALL_STACK,
				.flags = PW_SAMPLE_ID_ALL});
	pw_sample(&w, 0,
		  &(struct pw_sample){.misc = mode,
				      .ip = mode == PW_MISC_USER ? TEXT + 0x34 : KERNEL,
				      .pid = 7,
				      .tid = 7,
				      .time = 200,
				      .ips = chain,
				      .nips = n,
				      .branches = br,
				      .nbranches = branches});
	fold(&w, got, sizeof(got), &missing);
	assert_string_equal(got, want);
}

static void lbr_call_stack_is_the_sampled_ip_then_the_call_sites(void **state)
{
	(void)state;
	/* the ip of the event, and where the interrupt came a little later */
	const uint64_t chain[] = {PW_CONTEXT_USER, TEXT + 0x38, TEXT + 0x8};
	check_lbr(PW_MISC_USER, chain, 3, 2, "10 20 34");
	check_lbr(PW_MISC_USER, NULL, 0, 2, "10 20 34");
}

static void lbr_below_the_kernel_begins_where_user_code_left(void **state)
{
	(void)state;
	const uint64_t chain[] = {PW_CONTEXT_KERNEL, KERNEL, PW_CONTEXT_USER, TEXT + 0x38};
	check_lbr(PW_MISC_KERNEL, chain, 4, 2, "10 20 38 ffffffff81000010");
	/* that address not recorded: the function entered last */
	check_lbr(PW_MISC_KERNEL, chain, 3, 2, "10 20 30 ffffffff81000010");
}

static void lbr_of_a_sample_without_user_code_is_not_its_own(void **state)
{
	(void)state;
	const uint64_t chain[] = {PW_CONTEXT_KERNEL, KERNEL};
	check_lbr(PW_MISC_KERNEL, chain, 2, 2, "ffffffff81000010");
	check_lbr(PW_MISC_KERNEL, NULL, 0, 2, "ffffffff81000010");
}

static void lbr_without_entries_leaves_the_callchain(void **state)
{
	(void)state;
	const uint64_t chain[] = {PW_CONTEXT_USER, TEXT + 0x34, TEXT + 0x8};
	check_lbr(PW_MISC_USER, chain, 3, 0, "8 34");
}

/* --- the link register -------------------------------------------------------------------- */

/* DIR/none/server for aarch64: up to 0x40 of its text functions that keep the return address in
 * the link register, behind that some that save it at once. */
static void write_server(const char *dir)
{
	static struct smallelf elf;
	static const uint8_t text[0x100];
	struct cfiasm a = {.va = 0x2000};
	char path[64];
	size_t cie = cfiasm_cie(&a, "zR", EM_AARCH64, CFI_BYTES(0x0c, 31, 0));
	cfiasm_fde(&a, cie, 0x1000, 0x40, NULL, 0);
	cfiasm_fde(&a, cie, 0x1040, 0xc0, CFI_BYTES(0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1));
	cfiasm_zero(&a);
	smallelf_init(&elf, EM_AARCH64);
	smallelf_section(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, text,
			 sizeof(text));
	smallelf_section(&elf, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x2000, a.b, a.n);
	size_t n = smallelf_finish(&elf);
	snprintf(path, sizeof(path), "%s/none", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/none/server", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(elf.image, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void remove_server(const char *dir)
{
	char path[64];
	snprintf(path, sizeof(path), "%s/none/server", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/none", dir);
	rmdir(path);
	rmdir(dir);
}

/* The stack of a sample at TEXT + leaf whose frame records begin with TEXT + next. */
static void check_leaf(const char *dir, uint64_t leaf, uint64_t next, uint64_t lr,
		       const char *want)
{
	struct pw w;
	char got[128];
	uint64_t missing, chain[] = {PW_CONTEXT_USER, TEXT + leaf, TEXT + next, TEXT + 0xf0};
	pw_begin(&w, &(struct pw_config){0});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						     PW_S_CALLCHAIN | PW_S_REGS_USER,
				      .regs_user = 1 << 30,
				      .flags = PW_SAMPLE_ID_ALL});
	pw_mmap2(&w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = TEXT,
				   .len = 0x1000,
				   .pgoff = 0x1000,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = "/none/server"});
	pw_sample(&w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = TEXT + leaf,
				      .pid = 7,
				      .tid = 7,
				      .time = 200,
				      .ips = chain,
				      .nips = 4,
				      .user_abi = 2,
				      .user_regs = &lr});
	fold_with(&w, dir, got, sizeof(got), &missing);
	assert_string_equal(got, want);
}

static void caller_of_a_leaf_is_in_the_link_register(void **state)
{
	(void)state;
	char dir[] = "/tmp/perfkit-leaf-XXXXXX";
	uint64_t signed_lr = 0x7f5a000000000000 | (TEXT + 0xa0);
	assert_non_null(mkdtemp(dir));
	write_server(dir);
	check_leaf(dir, 0x10, 0xb0, TEXT + 0xa0, "10f0 10b0 10a0 1010");
	check_leaf(dir, 0x10, 0xb0, signed_lr, "10f0 10b0 10a0 1010");
	/* already there */
	check_leaf(dir, 0x10, 0xa0, TEXT + 0xa0, "10f0 10a0 1010");
	/* saved by then: what the register holds is no caller any more */
	check_leaf(dir, 0x60, 0xb0, TEXT + 0xa0, "10f0 10b0 1060");
	/* … but not yet at its first instruction */
	check_leaf(dir, 0x40, 0xb0, TEXT + 0xa0, "10f0 10b0 10a0 1040");
	remove_server(dir);
}

/* --- deferred chains ---------------------------------------------------------------------- */

static void deferred(enum pw_mode mode, uint64_t cookie, const char *want,
		     uint64_t want_missing)
{
	struct pw w;
	char got[128];
	uint64_t missing, chain[] = {PW_CONTEXT_USER_DEFERRED, cookie};
	uint64_t user[] = {PW_CONTEXT_USER, TEXT + 0x30, TEXT + 0x20, TEXT + 0x10};
	begin(&w, mode,
	      &(struct pw_attr){.type = 1,
				.sample_type = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CALLCHAIN,
				.flags = PW_SAMPLE_ID_ALL | PW_DEFER_CALLCHAIN});
	pw_sample(&w, 0,
		  &(struct pw_sample){.misc = 2,
				      .ip = TEXT + 0x30,
				      .pid = 7,
				      .tid = 7,
				      .time = 200,
				      .ips = chain,
				      .nips = 2});
	pw_callchain_deferred(&w, &at, 77, user, 4);
	fold(&w, got, sizeof(got), &missing);
	assert_string_equal(got, want);
	assert_int_equal(missing, want_missing);
}

static void deferred_chain_joins_its_sample_by_cookie(void **state)
{
	(void)state;
	deferred(PW_FILE, 77, "10 20 30", 0);
	deferred(PW_PIPE, 77, "10 20 30", 0);
}

static void deferred_chain_that_never_came_is_counted(void **state)
{
	(void)state;
	deferred(PW_FILE, 78, "", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lbr_call_stack_is_the_sampled_ip_then_the_call_sites),
		cmocka_unit_test(lbr_below_the_kernel_begins_where_user_code_left),
		cmocka_unit_test(lbr_of_a_sample_without_user_code_is_not_its_own),
		cmocka_unit_test(lbr_without_entries_leaves_the_callchain),
		cmocka_unit_test(caller_of_a_leaf_is_in_the_link_register),
		cmocka_unit_test(deferred_chain_joins_its_sample_by_cookie),
		cmocka_unit_test(deferred_chain_that_never_came_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
