/* libsym: streams are counted round by round, with the comms of the samples' own times. */
#include "tests/lib/unit.h"
#include "tests/lib/perfwriter.h"
#include "tests/lib/pieces.h"

#include "libsym/profile.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TID = 7, ROUNDS = 6, PER_ROUND = 4, START = 1000 };
enum { DUMP_ROUNDS = 40, DUMPS = 16, STACK = 8192 }; /* several megabytes */

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

static void check_names(int compressed, int in_pieces)
{
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct fold_options how = {.workers = 2};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	struct buf image = {0};
	struct err e = {0};
	write_rounds(&image, compressed);
	int rc = in_pieces ? open_in_pieces(&rec, &image, &e)
			   : recording_open_mem(&rec, image.v, image.n, "rounds", &e);
	assert_int_equal(rc, 0);
	assert_int_equal(recording_is_mapped(rec), !compressed && !in_pieces);
	assert_int_equal(recording_is_plain(rec), !compressed);
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
	check_names(0, 0);
	check_names(0, 1);
}

/* Compressed recordings stream, as pipes do. What was known of a thread when one round was
 * counted is not kept for the next. */
static void a_stream_names_samples_by_their_time(void **state)
{
	(void)state;
	check_names(1, 0);
}

static void add_timed_event(struct pw *w)
{
	static const uint64_t ids[] = {11};
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .name = "cpu-clock",
				     .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						    PW_S_CALLCHAIN | PW_S_RAW,
				     .flags = PW_SAMPLE_ID_ALL,
				     .ids = ids,
				     .nids = 1});
}

/* DIR/name: a whole recording, or its data section alone, as the files of a thread are. */
static void write_file(struct pw *w, const char *dir, const char *name, int data_only)
{
	char path[64];
	struct buf image = {0};
	uint64_t at = 0, n;
	assert_int_equal(pw_finish(w, &image), 0);
	n = image.n;
	if (data_only) { /* struct perf_file_header */
		memcpy(&at, image.v + 40, 8);
		memcpy(&n, image.v + 48, 8);
		at = le64toh(at);
		n = le64toh(n);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(image.v + at, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	buf_release(&image);
}

static void write_many(const char *dir, uint64_t samples)
{
	enum { WORDS = 8000, NOISE = 256 }; /* more than a few bytes for 64 KB: no bomb */
	static uint64_t chain[WORDS];
	uint8_t noise[NOISE];
	struct pw w;
	srand(13);
	for (int i = 0; i < WORDS; i++)
		chain[i] = i ? 0x401136 : PW_CONTEXT_USER;
	pw_begin(&w, &(struct pw_config){.zstd_chunk = 1 << 20});
	add_timed_event(&w);
	pw_compress_begin(&w, PW_COMPRESSED);
	for (uint64_t i = 0; i < samples; i++) {
		for (int k = 0; k < NOISE; k++)
			noise[k] = (uint8_t)rand();
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .pid = TID,
					      .tid = TID,
					      .time = START + i,
					      .ips = chain,
					      .nips = WORDS,
					      .raw = noise,
					      .raw_size = NOISE});
	}
	pw_compress_end(&w);
	write_file(&w, dir, "data.0", 1);
}

/* perf record --threads -z: the names of one file's samples lie in the next, behind more than
 * is kept of what was inflated. */
static void a_directorys_files_are_read_as_one(void **state)
{
	(void)state;
	enum { SAMPLES = 4400 }; /* of 64 KB */
	static const char *const files[] = {"data", "data.0", "data.1"};
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct fold_options how = {.workers = 1};
	struct pw_id at = {.pid = TID, .tid = TID, .time = 1};
	char dir[] = "/tmp/perfkit-threads-XXXXXX", path[64];
	struct profile *p = NULL;
	struct pw w;
	assert_non_null(mkdtemp(dir));
	pw_begin(&w, &(struct pw_config){0});
	add_timed_event(&w);
	pw_compress_begin(&w, PW_COMPRESSED); /* adds the feature */
	pw_compress_end(&w);
	write_file(&w, dir, "data", 0);
	write_many(dir, SAMPLES);
	pw_begin(&w, &(struct pw_config){0});
	add_timed_event(&w);
	pw_comm(&w, &at, TID, TID, names[0], 0);
	write_file(&w, dir, "data.1", 1);
	assert_int_equal(profile_open(&p, dir, &opt, NULL), 0);
	assert_int_equal(profile_fold(p, &how, NULL), 0);
	assert_int_equal(p->totals.samples, SAMPLES);
	assert_int_equal(samples_named(p, names[0]), SAMPLES);
	assert_int_equal(p->rec->stats.by_type[PERF_RECORD_SAMPLE], SAMPLES);
	profile_close(p);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* The sums of --off-cpu as perf writes them since 6.16: all in RAW, the other fields empty. */
static void off_cpu_sums_are_counted_for_their_threads(void **state)
{
	(void)state;
	static const uint64_t ids[] = {11};
	uint64_t raw[] = {(uint64_t)TID << 32 | TID, 300, 2, PW_CONTEXT_USER, 0x401136, 0};
	for (size_t i = 0; i < sizeof(raw) / sizeof(*raw); i++)
		raw[i] = htole64(raw[i]);
	struct profile_options opt = {.modules.find = {.buildid_dir = "", .no_local = 1}};
	struct fold_options how = {.workers = 1};
	struct pw_id at = {.pid = TID, .tid = TID, .time = START};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	struct buf image = {0};
	struct err e = {0};
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .config = 10,
				      .name = "offcpu-time",
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
						     PW_S_PERIOD | PW_S_RAW,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	pw_feature_event_desc(&w);
	pw_comm(&w, &at, TID, TID, names[0], 0);
	for (uint64_t i = 0; i < 3; i++)
		pw_sample(&w, 0,
			  &(struct pw_sample){.time = 0xffffffff00000000 + i,
					      .raw = raw,
					      .raw_size = sizeof(raw)});
	assert_int_equal(pw_finish(&w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "sums", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(p->folded.n, 1);
	assert_int_equal(samples_named(p, names[0]), 3);
	assert_int_equal(p->folded.v[0].weight, 900);
	profile_close(p);
	buf_release(&image);
}

/* Where a record is that belongs far ahead, as perf record --tail-synthesize writes them. */
enum late { IN_TIME, LATE_COMM, LATE_EXEC, LATE_UNTIMED, NEVER };

static void write_late(struct pw *w, enum late late)
{
	struct pw_id at = {.pid = TID, .tid = TID, .time = START + DUMP_ROUNDS * DUMPS};
	if (late == LATE_UNTIMED)
		at.time = 0;
	if (late != IN_TIME && late != NEVER)
		pw_comm(w, &at, TID, TID, "late", late == LATE_EXEC ? PW_MISC_COMM_EXEC : 0);
}

/* Samples with stack dumps: after each round's middle the thread has another name. */
static void write_dumps(struct buf *image, enum late late)
{
	static const uint64_t ids[] = {11};
	static const uint8_t stack[STACK];
	uint64_t time = START;
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type =
					      PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_STACK_USER,
				      .stack_user = STACK,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	for (int r = 0; r < DUMP_ROUNDS; r++) {
		for (int i = 0; i < DUMPS; i++) {
			struct pw_id at = {.pid = TID, .tid = TID, .time = time++};
			if (i == DUMPS / 2)
				pw_comm(&w, &at, TID, TID, names[r % ROUNDS], 0);
			pw_sample(&w, 0,
				  &(struct pw_sample){.misc = PW_MISC_USER,
						      .ip = 0x401136,
						      .pid = TID,
						      .tid = TID,
						      .time = time++,
						      .stack = stack,
						      .stack_size = STACK,
						      .stack_dyn = STACK});
		}
		struct pw_id never = {.pid = TID, .tid = TID, .time = UINT64_MAX - 1};
		if (late == NEVER)
			pw_comm(&w, &never, TID, TID, "late", 0);
		pw_finished_round(&w);
	}
	write_late(&w, late);
	assert_int_equal(pw_finish(&w, image), 0);
}

/* Samples by name, those before the first one last. */
static void count_names(struct recording *rec, int workers, uint64_t n[ROUNDS + 2])
{
	struct profile_options opt = {.modules.find.no_local = 1};
	struct fold_options how = {.workers = workers};
	struct profile *p = NULL;
	struct err e = {0};
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(p->totals.samples, DUMP_ROUNDS * DUMPS);
	assert_int_equal(rec->stats.by_type[PERF_RECORD_SAMPLE], DUMP_ROUNDS * DUMPS);
	assert_int_equal(rec->stats.by_type[PERF_RECORD_FINISHED_ROUND], DUMP_ROUNDS);
	for (int i = 0; i < ROUNDS; i++)
		n[i] = samples_named(p, names[i]);
	n[ROUNDS] = samples_named(p, "late");
	n[ROUNDS + 1] = samples_named(p, ":7");
	profile_close(p);
}

/* From a file and from memory. */
static void check_dumps(enum late late, int workers)
{
	char path[] = "/tmp/perfkit-rounds-XXXXXX";
	uint64_t file[ROUNDS + 2], memory[ROUNDS + 2], sum = 0;
	struct recording *rec = NULL;
	struct buf image = {0};
	struct err e = {0};
	write_dumps(&image, late);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image.v, image.n), image.n);
	close(fd);
	assert_int_equal(recording_open(&rec, path, &e), 0);
	count_names(rec, workers, file);
	unlink(path);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "memory", &e), 0);
	count_names(rec, workers, memory);
	assert_memory_equal(file, memory, sizeof(file));
	for (int i = 0; i < ROUNDS + 2; i++)
		sum += file[i];
	assert_int_equal(sum, DUMP_ROUNDS * DUMPS);
	assert_int_equal(!file[ROUNDS], late == IN_TIME || late == NEVER);
	buf_release(&image);
}

static void a_file_of_dumps_is_counted_as_memory_is(void **state)
{
	(void)state;
	check_dumps(IN_TIME, 1);
	check_dumps(IN_TIME, 2);
	check_dumps(IN_TIME, 5);
}

static void records_of_no_time_that_comes_change_no_name(void **state)
{
	(void)state;
	check_dumps(NEVER, 1);
	check_dumps(NEVER, 3);
}

static void a_record_behind_its_round_is_in_time_all_the_same(void **state)
{
	(void)state;
	for (int workers = 1; workers < 4; workers++) {
		check_dumps(LATE_COMM, workers);
		check_dumps(LATE_EXEC, workers);
		check_dumps(LATE_UNTIMED, workers);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_dumps_is_counted_as_memory_is),
		cmocka_unit_test(a_record_behind_its_round_is_in_time_all_the_same),
		cmocka_unit_test(records_of_no_time_that_comes_change_no_name),
		cmocka_unit_test(a_file_names_samples_by_their_time),
		cmocka_unit_test(a_stream_names_samples_by_their_time),
		cmocka_unit_test(a_directorys_files_are_read_as_one),
		cmocka_unit_test(off_cpu_sums_are_counted_for_their_threads),
	};
	return cmocka_run_group_tests_name("libsym collect", tests, NULL, NULL);
}
