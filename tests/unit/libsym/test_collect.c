/* libsym: streams are counted round by round, with the comms of the samples' own times. */
#include "tests/lib/unit.h"
#include "tests/lib/perfwriter.h"

#include "libsym/profile.h"

enum { TID = 7, ROUNDS = 6, PER_ROUND = 4, START = 1000 };

static const char *const names[ROUNDS] = {"a", "b", "c", "d", "e", "f"};

/* One thread that takes another name in the middle of every round. */
static void write_rounds(struct buf *image, int compressed)
{
	static const uint64_t ids[] = {11};
	uint64_t time = START;
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	for (int r = 0; r < ROUNDS; r++) {
		if (compressed)
			pw_compress_begin(&w, PW_COMPRESSED);
		for (int i = 0; i < PER_ROUND; i++) {
			struct pw_id at = {.pid = TID, .tid = TID, .time = time++};
			if (i == PER_ROUND / 2)
				pw_comm(&w, &at, TID, TID, names[r], 0);
			pw_sample(&w, 0,
				  &(struct pw_sample){.misc = PW_MISC_USER,
						      .ip = 0x401136,
						      .pid = TID,
						      .tid = TID,
						      .time = time++});
		}
		if (compressed)
			pw_compress_end(&w);
		pw_finished_round(&w);
	}
	assert_int_equal(pw_finish(&w, image), 0);
}

static uint64_t samples_named(const struct profile *p, const char *comm)
{
	uint64_t n = 0;
	for (size_t i = 0; i < p->folded.n; i++) {
		const char *name = strtab_get(&p->stacks.strings, p->folded.v[i].comm);
		if (!strcmp(name, comm))
			n += p->folded.v[i].samples;
	}
	return n;
}

static void check_names(int compressed)
{
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct fold_options how = {.workers = 2};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	struct buf image = {0};
	struct err e = {0};
	write_rounds(&image, compressed);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "rounds", &e), 0);
	assert_int_equal(recording_is_mapped(rec), !compressed);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	for (int r = 0; r < ROUNDS - 1; r++)
		assert_int_equal(samples_named(p, names[r]), PER_ROUND);
	assert_int_equal(samples_named(p, names[ROUNDS - 1]), PER_ROUND / 2);
	profile_close(p);
	buf_release(&image);
}

static void a_file_names_samples_by_their_time(void **state)
{
	(void)state;
	check_names(0);
}

/* Compressed recordings stream, as pipes do. What was known of a thread when one round was
 * counted is not kept for the next. */
static void a_stream_names_samples_by_their_time(void **state)
{
	(void)state;
	check_names(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_names_samples_by_their_time),
		cmocka_unit_test(a_stream_names_samples_by_their_time),
	};
	return cmocka_run_group_tests_name("libsym collect", tests, NULL, NULL);
}
