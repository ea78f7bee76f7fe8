/* libtime: chains that are named while a recording is read have the paths that they would have
 * had one by one. */
#include "tests/lib/unit.h"
#include "tests/lib/perfwriter.h"

#include "base/mem.h"
#include "libsym/profile.h"
#include "libtime/build/chain_namer.h"

enum { CHAINS = 20011, CPUS = 67, WORDS = 5 };

/* A profile without mappings. */
static struct profile *bare_profile(struct buf *image)
{
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1, .name = "cpu-clock"});
	assert_int_equal(pw_finish(&w, image), 0);
	assert_int_equal(recording_open_mem(&rec, image->v, image->n, "bare", NULL), 0);
	assert_int_equal(profile_of(&p, rec, &opt, NULL), 0);
	return p;
}

/* The nth chain: callers that chains share, and some chains more than once. */
static struct stack_entry nth_chain(uint32_t n, uint64_t *words)
{
	struct stack_entry x = {.words = (const uint8_t *)words,
				.kind = n % 5 ? CHAIN_RAW : CHAIN_NONE,
				.cpumode = PW_MISC_USER,
				.space = NO_ID};
	x.nwords = x.kind == CHAIN_NONE ? 1 : n % (WORDS + 1);
	for (uint32_t i = 0; i < x.nwords; i++)
		words[i] = 0x1000 * (uint64_t)(1 + n * 2654435761u % (4099 >> 2 * i));
	return x;
}

static void paths_are_those_of_chains_one_by_one(void **state)
{
	(void)state;
	struct buf image = {0};
	struct profile *p = bare_profile(&image);
	struct names_options opt = {0};
	struct names names;
	uint64_t words[WORDS];
	uint32_t *paths, id, alone;
	names_init(&names, &p->machine, p->modules, &p->stacks, &opt, 0);
	struct chain_namer *n = chain_namer_new(&names);
	assert_non_null(n);
	for (uint32_t i = 0; i < CHAINS; i++) {
		const struct stack_entry x = nth_chain(i, words);
		assert_int_equal(chain_namer_add(n, &x, i % CPUS, 0, &id), 0);
		assert_int_equal(id, i + 1);
	}
	assert_int_equal(chain_namer_end(n, &paths), 0);
	assert_int_equal(paths[0], 0);
	size_t made = p->stacks.paths.n;
	assert_true(made > 4099);
	for (uint32_t i = 0; i < CHAINS; i++) {
		const struct stack_entry x = nth_chain(i, words);
		assert_int_equal(names_symbolize(&names, &x, &alone, NULL), 0);
		assert_int_equal(paths[i + 1], alone);
		assert_int_equal(!alone, !x.nwords);
	}
	assert_int_equal(p->stacks.paths.n, made);
	mem_free(paths);
	names_release(&names);
	profile_close(p);
	buf_release(&image);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_those_of_chains_one_by_one)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
