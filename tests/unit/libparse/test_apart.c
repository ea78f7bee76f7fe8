/* libparse: samples of a file got apart from its mapping are the same as those in it. */
#include "tests/lib/unit.h"
#include "tests/lib/perfwriter.h"

#include "libparse/recording.h"

#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 1009, BIG_EVERY = 7, COMM_EVERY = 101 };

static char path[] = "/tmp/perfkit-apart-XXXXXX";

/* Small samples, others of more than a page, and a COMM here and there. */
static void write_samples(struct buf *image, int big_endian)
{
	static const uint64_t ids[] = {11};
	static const uint8_t stack[8192];
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE, .big_endian = big_endian});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type =
					      PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_STACK_USER,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct pw_id at = {.pid = 7, .tid = 7, .time = i};
		int big = i % BIG_EVERY == 0 || (i > 300 && i < 400);
		if (i % COMM_EVERY == 0)
			pw_comm(&w, &at, 7, 7, "server", 0);
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .ip = 0x401000 + i,
					      .pid = 7,
					      .tid = 7,
					      .time = i,
					      .stack = stack,
					      .stack_size = big ? sizeof(stack) : 0,
					      .stack_dyn = big ? i * 8 : 0});
	}
	assert_int_equal(pw_finish(&w, image), 0);
}

static void put_file(const void *p, size_t n)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

struct run {
	uint64_t offset, n;
	size_t bytes;
};

/* Every run of samples, at most `max` bytes each, and the number of samples in all of them. */
static size_t read_runs(int apart, size_t max, struct run *out, uint64_t *samples)
{
	struct recording *rec;
	struct record_run r;
	struct record other;
	struct err e = {0};
	size_t n = 0;
	int got;
	uint8_t *buf = malloc(max);
	assert_non_null(buf);
	*samples = 0;
	assert_int_equal(recording_open(&rec, path, &e), 0);
	do {
		while (apart ? recording_sample_run_pread(rec, max, &r)
			     : recording_sample_run(rec, max, &r)) {
			const uint8_t *p;
			size_t size = (size_t)(r.end - r.p);
			assert_true(size <= max && n < 2 * SAMPLES);
			assert_int_equal(source_bytes(r.source, r.p, size, buf, &p, &e), 0);
			assert_ptr_equal(p, buf);
			assert_memory_equal(p, r.p, size);
			out[n++] = (struct run){r.offset, r.n, size};
			*samples += r.n;
		}
		got = recording_next(rec, &other, &e);
		*samples += got == 1 && other.type == PERF_RECORD_SAMPLE;
	} while (got == 1);
	assert_int_equal(got, 0);
	recording_close(rec);
	free(buf);
	return n;
}

static void runs_are_those_of_the_mapping(void **state)
{
	static const size_t max[] = {9000, 1 << 16, 1 << 20};
	static struct run in_place[2 * SAMPLES], apart[2 * SAMPLES];
	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct buf image = {0};
		uint64_t a, b;
		write_samples(&image, i % 2 == 1);
		put_file(image.v, image.n);
		size_t n = read_runs(0, max[i / 2], in_place, &a);
		assert_int_equal(read_runs(1, max[i / 2], apart, &b), n);
		assert_int_equal(a, SAMPLES);
		assert_int_equal(b, SAMPLES);
		assert_memory_equal(in_place, apart, n * sizeof(*apart));
		buf_release(&image);
	}
}

/* A page mapped for each of them would be most of a recording with small rounds. */
static void marks_of_rounds_are_passed_over(void **state)
{
	static const uint64_t ids[] = {11};
	struct buf image = {0};
	struct recording *rec;
	struct record_run r;
	struct record other;
	struct pw w;
	(void)state;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type = PW_S_IP | PW_S_TID,
				      .ids = ids,
				      .nids = 1});
	pw_finished_round(&w);
	for (int i = 0; i < 3; i++) {
		pw_sample(&w, 0, &(struct pw_sample){.misc = PW_MISC_USER, .ip = 0x401000});
		pw_finished_round(&w);
	}
	assert_int_equal(pw_finish(&w, &image), 0);
	put_file(image.v, image.n);
	assert_int_equal(recording_open(&rec, path, NULL), 0);
	assert_int_equal(recording_sample_run_pread(rec, 1 << 20, &r), 1);
	assert_int_equal(r.n, 3);
	assert_int_equal(recording_next(rec, &other, NULL), 0);
	assert_int_equal(rec->stats.by_type[PERF_RECORD_SAMPLE], 3);
	assert_int_equal(rec->stats.by_type[PERF_RECORD_FINISHED_ROUND], 4);
	recording_close(rec);
	buf_release(&image);
}

static void a_torn_file_ends_at_the_same_record(void **state)
{
	static struct run in_place[2 * SAMPLES], apart[2 * SAMPLES];
	struct buf image = {0};
	(void)state;
	write_samples(&image, 0);
	for (size_t cut = 1; cut < 20000; cut += 611) {
		uint64_t a, b;
		put_file(image.v, image.n - cut);
		size_t n = read_runs(0, 1 << 16, in_place, &a);
		assert_int_equal(read_runs(1, 1 << 16, apart, &b), n);
		assert_int_equal(a, b);
		assert_memory_equal(in_place, apart, n * sizeof(*apart));
	}
	buf_release(&image);
}

static void a_file_that_became_shorter_is_told(void **state)
{
	struct source s;
	struct err e = {0};
	const uint8_t *p;
	static uint8_t bytes[3 * 4096], buf[sizeof(bytes)];
	(void)state;
	put_file(bytes, sizeof(bytes));
	assert_int_equal(source_open(&s, path, &e), 0);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(source_bytes(&s, s.data, 4096, buf, &p, &e), 0);
	assert_int_equal(source_bytes(&s, s.data + 4000, 200, buf, &p, &e), ERR_IO);
	assert_non_null(strstr(e.msg, "became shorter"));
	source_close(&s);
}

static void memory_is_given_where_it_lies(void **state)
{
	struct source s;
	struct err e = {0};
	const uint8_t *p;
	uint8_t buf[4];
	(void)state;
	assert_int_equal(source_open_mem(&s, "memory", 6, "test", &e), 0);
	assert_int_equal(source_bytes(&s, s.data + 2, 4, buf, &p, &e), 0);
	assert_ptr_equal(p, s.data + 2);
	source_close(&s);
}

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_those_of_the_mapping),
		cmocka_unit_test(marks_of_rounds_are_passed_over),
		cmocka_unit_test(a_torn_file_ends_at_the_same_record),
		cmocka_unit_test(a_file_that_became_shorter_is_told),
		cmocka_unit_test(memory_is_given_where_it_lies),
	};
	return cmocka_run_group_tests_name("libparse apart", tests, make_file, remove_file);
}
