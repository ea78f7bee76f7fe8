/* libsym: what stacks share is named once, files are made ready on other threads, and neither
 * shows in any answer. */
#include "tests/lib/unit.h"
#include "tests/lib/perfwriter.h"

#include "libsym/unwind/stack_words.h"
#include "libsym/profile.h"

#include <stdio.h>
#include <stdlib.h>

/* A profile of one sample: a machine without mappings. */
static struct profile *bare_profile(struct buf *image)
{
	static const uint64_t ids[] = {11};
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME,
				      .ids = ids,
				      .nids = 1});
	pw_sample(&w, 0, &(struct pw_sample){.misc = PW_MISC_USER, .ip = 1, .time = 1});
	assert_int_equal(pw_finish(&w, image), 0);
	assert_int_equal(recording_open_mem(&rec, image->v, image->n, "bare", NULL), 0);
	assert_int_equal(profile_of(&p, rec, &opt, NULL), 0);
	return p;
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

/* A stack of few different words, so that neighbours share much, markers too. */
static uint32_t random_stack(uint32_t *seed, uint64_t *words, uint32_t max)
{
	static const uint64_t some[] = {PERF_CONTEXT_USER,
					UNWOUND_USER,
					PERF_CONTEXT_KERNEL,
					PERF_CONTEXT_HV,
					UNWOUND_CUT,
					0x1000,
					0x1000,
					0x2000,
					0x2000};
	uint32_t n = next_random(seed) % (max + 1);
	for (uint32_t i = 0; i < n; i++)
		words[i] = some[next_random(seed) % (sizeof(some) / sizeof(*some))];
	return n;
}

static void check_shared(int max_stack)
{
	enum { WORDS = 9, STACKS = 20000 };
	struct buf image = {0};
	struct profile *p = bare_profile(&image);
	struct names_options opt = {.max_stack = max_stack};
	struct names shared, alone;
	uint32_t seed = 7, kept = 0, last = 0;
	names_init(&shared, &p->machine, p->modules, &p->stacks, &opt, 0);
	for (int i = 0; i < STACKS; i++) {
		uint64_t words[WORDS];
		struct stack_entry x = {.words = (const uint8_t *)words,
					.kind = i & 1 ? CHAIN_UNWOUND : CHAIN_RAW,
					.cpumode = next_random(&seed) % 4 ? PW_MISC_USER
									  : PW_MISC_KERNEL,
					.space = NO_ID,
					.version = next_random(&seed) % 8 == 0};
		uint32_t behind, first;
		x.kind = next_random(&seed) % 8 ? CHAIN_UNWOUND : CHAIN_RAW;
		x.nwords = random_stack(&seed, words, WORDS);
		assert_int_equal(names_symbolize(&shared, &x, &behind, NULL), 0);
		names_init(&alone, &p->machine, p->modules, &p->stacks, &opt, 0);
		assert_int_equal(names_symbolize(&alone, &x, &first, NULL), 0);
		names_release(&alone);
		assert_int_equal(behind, first);
		kept += behind && behind == last;
		last = behind;
	}
	assert_true(kept > 0); /* else nothing was ever shared */
	names_release(&shared);
	profile_close(p);
	buf_release(&image);
}

static void a_stack_is_named_behind_another_as_it_is_alone(void **state)
{
	(void)state;
	check_shared(0);
}

static void a_stack_cut_at_max_stack_is_named_as_it_is_alone(void **state)
{
	(void)state;
	check_shared(3);
}

/* --- workers -------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void stack_text(const struct profile *p, const struct folded *f, struct buf *out)
{
	uint32_t frames[256];
	size_t n = stacks_frames(&p->stacks, f->path, frames, 256);
	buf_str(out, strtab_get(&p->stacks.strings, f->comm));
	for (size_t i = 0; i < n && i < 256; i++) {
		const struct frame *fr = &p->stacks.frames.v[frames[i]];
		buf_fmt(out, ";%s %s %s:%u %llx %u/%u",
			strtab_get(&p->stacks.strings, fr->name),
			strtab_get(&p->stacks.strings, fr->dso),
			strtab_get(&p->stacks.strings, fr->srcfile), fr->line,
			(unsigned long long)fr->addr, fr->kind, fr->flags);
	}
	buf_fmt(out, " %llu\n", (unsigned long long)f->samples);
}

/* All stacks of a fixture, in byte order. */
static void fold_text(const char *path, const char *symfs, int workers, struct buf *out)
{
	struct profile_options opt = {
		.modules = {.find = {.symfs = symfs, .buildid_dir = "", .no_local = 1},
			    .inlines = 1,
			    .lines = 1},
		.names = {.inlines = 1, .lines = 1}};
	struct fold_options how = {.workers = workers};
	struct profile *p;
	struct err e = {0};
	assert_int_equal(profile_open(&p, path, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_true(p->folded.n > 1);
	char **lines = calloc(p->folded.n, sizeof(*lines));
	for (size_t i = 0; i < p->folded.n; i++) {
		struct buf line = {0};
		stack_text(p, &p->folded.v[i], &line);
		lines[i] = strdup(buf_cstr(&line));
		buf_release(&line);
	}
	qsort(lines, p->folded.n, sizeof(*lines), by_text);
	for (size_t i = 0; i < p->folded.n; i++) {
		buf_str(out, lines[i]);
		free(lines[i]);
	}
	free(lines);
	profile_close(p);
}

static void check_workers(const char *path, const char *symfs, const char *frame)
{
	struct buf one = {0};
	fold_text(path, symfs, 1, &one);
	assert_non_null(strstr(buf_cstr(&one), frame));
	for (int workers = 2; workers <= 5; workers++) {
		struct buf more = {0};
		fold_text(path, symfs, workers, &more);
		assert_string_equal(buf_cstr(&more), buf_cstr(&one));
		buf_release(&more);
	}
	buf_release(&one);
}

static void the_number_of_workers_does_not_show(void **state)
{
	(void)state;
	check_workers("testdata/demo/perf.data", "testdata/demo/symfs", ";log_worker ");
	check_workers("testdata/dwarf/perf.data", "testdata/dwarf/symfs", ";leaf_mix ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_named_behind_another_as_it_is_alone),
		cmocka_unit_test(a_stack_cut_at_max_stack_is_named_as_it_is_alone),
		cmocka_unit_test(the_number_of_workers_does_not_show),
	};
	return cmocka_run_group_tests_name("libsym names", tests, NULL, NULL);
}
