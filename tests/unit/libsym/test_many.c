/* libsym: very many of one kind in one recording are folded in the time that they take, not in
 * the square of it. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "libsym/profile.h"

#include <time.h>

/* N of them took from ten seconds to half a minute, and take a tenth of one. */
enum { N = 100000, LONG = 5 };

#define KERNEL 0xffffffff80000000u

static void begin(struct pw *w)
{
	pw_begin(w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME,
				     .flags = PW_SAMPLE_ID_ALL,
				     .name = "cpu-clock"});
}

static struct profile *fold(struct pw *w, struct buf *image)
{
	static const struct profile_options opt = {
		.modules = {.find = {.buildid_dir = "", .no_local = 1}}};
	struct fold_options how = {.workers = 1};
	struct recording *rec;
	struct profile *p;
	struct err e = {0};
	double start = (double)clock() / CLOCKS_PER_SEC;
	assert_int_equal(pw_finish(w, image), 0);
	assert_int_equal(recording_open_mem(&rec, image->v, image->n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_true((double)clock() / CLOCKS_PER_SEC - start < LONG);
	return p;
}

static void threads_that_stand_in_one_place(void **state)
{
	(void)state;
	struct pw w;
	struct buf image = {0};
	begin(&w);
	for (uint32_t i = 0; i < N; i++)
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .ip = 0x1000,
					      .pid = 5,
					      .tid = 5 + i,
					      .time = i});
	struct profile *p = fold(&w, &image);
	assert_int_equal(p->folded.n, N); /* nobody named them */
	profile_close(p);
	buf_release(&image);
}

static void programs_of_a_kernel_without_a_map(void **state)
{
	(void)state;
	struct pw w;
	struct buf image = {0};
	char name[32];
	begin(&w);
	for (uint32_t i = 0; i < N; i++) {
		struct pw_id at = {.time = i};
		snprintf(name, sizeof(name), "bpf_prog_%u", i);
		pw_ksymbol(&w, &at, KERNEL + i * 64, 64, 1, 0, name);
	}
	for (uint32_t i = 0; i < N; i++)
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_KERNEL,
					      .ip = KERNEL + i * 64,
					      .pid = 5,
					      .tid = 5,
					      .time = N + i});
	struct profile *p = fold(&w, &image);
	assert_true(p->machine.kernel_map == NO_ID);
	assert_int_equal(p->folded.n, N);
	profile_close(p);
	buf_release(&image);
}

/* The lowest mapping of the kernel is its own, whenever it came. */
static void the_kernels_map_among_others(void **state)
{
	(void)state;
	struct pw w;
	struct buf image = {0};
	static const struct {
		uint64_t addr;
		const char *name;
	} maps[] = {{KERNEL + 0x3000, "[kernel.kallsyms]_text"},
		    {KERNEL + 0x1000, "[kernel.kallsyms]_text"},
		    {KERNEL + 0x2000, "[kernel.kallsyms]_text"},
		    {KERNEL, "/lib/modules/6.1/kernel/x.ko"}};
	begin(&w);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct pw_id at = {.pid = UINT32_MAX, .time = i};
		pw_mmap(&w, &at,
			&(struct pw_mmap){.misc = PW_MISC_KERNEL,
					  .pid = UINT32_MAX,
					  .addr = maps[i].addr,
					  .len = 0x1000,
					  .filename = maps[i].name});
	}
	pw_sample(&w, 0, &(struct pw_sample){.ip = KERNEL, .time = 9});
	struct profile *p = fold(&w, &image);
	assert_true(p->machine.kernel_map != NO_ID);
	assert_int_equal(p->machine.maps.v[p->machine.kernel_map].start, KERNEL + 0x1000);
	profile_close(p);
	buf_release(&image);
}

static void files_and_build_ids_of_one_path(void **state)
{
	(void)state;
	struct pw w;
	struct buf image = {0};
	begin(&w);
	for (uint32_t i = 0; i < N; i++) {
		struct pw_id at = {.pid = 5, .tid = 5, .time = i};
		uint8_t id[20] = {1, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16)};
		pw_mmap2(&w, &at,
			 &(struct pw_mmap){.pid = 5,
					   .tid = 5,
					   .addr = 0x1000 + i * 0x1000ull,
					   .len = 0x1000,
					   .ino = i + 1,
					   .prot = 5,
					   .filename = "/lib/libc.so"});
		pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, sizeof(id),
				    "/lib/libc.so");
	}
	pw_sample(&w, 0,
		  &(struct pw_sample){
			  .misc = PW_MISC_USER, .ip = 0x1000, .pid = 5, .tid = 5, .time = N});
	struct profile *p = fold(&w, &image);
	assert_int_equal(p->machine.dsos.n, N);
	assert_int_equal(p->machine.dsos.v[0].id.len, 0);
	profile_close(p);
	buf_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_stand_in_one_place),
		cmocka_unit_test(programs_of_a_kernel_without_a_map),
		cmocka_unit_test(the_kernels_map_among_others),
		cmocka_unit_test(files_and_build_ids_of_one_path),
	};
	return cmocka_run_group_tests_name("libsym many", tests, NULL, NULL);
}
