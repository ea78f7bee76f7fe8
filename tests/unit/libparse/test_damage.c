/* libparse: damaged input. Every prefix of images and recordings, and every byte flipped: the
 * reader ends by itself, with what it read or with one line that says why. Worth its price
 * under AddressSanitizer (make asan). */
#include "tests/lib/loadfile.h"
#include "tests/lib/perfwriter.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

static void decode_side_band(const struct recording *rec, const struct record *r)
{
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_switch sw;
		struct record_ksymbol ksymbol;
		struct record_lost lost;
		struct record_build_id build_id;
	} u;
	struct record_id id;
	volatile size_t length = 0;
	(void)length;
	recording_id(rec, r, &id);
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (!record_mmap_decode(r, rec->swap, &u.mmap, NULL))
			length += strlen(u.mmap.filename);
		break;
	case PERF_RECORD_COMM:
		if (!record_comm_decode(r, rec->swap, &u.comm, NULL))
			length += strlen(u.comm.comm);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		record_task_decode(r, rec->swap, &u.task, NULL);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		record_switch_decode(r, rec->swap, &u.sw, NULL);
		break;
	case PERF_RECORD_KSYMBOL:
		if (!record_ksymbol_decode(r, rec->swap, &u.ksymbol, NULL))
			length += strlen(u.ksymbol.name);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		record_lost_decode(r, rec->swap, &u.lost, NULL);
		break;
	case PERF_RECORD_HEADER_BUILD_ID:
		if (!record_build_id_decode(r, rec->swap, &u.build_id, NULL))
			length += strlen(u.build_id.filename);
		break;
	}
}

static uint64_t sum_words(struct sample_words w, int swap)
{
	uint64_t sum = 0;
	for (uint64_t i = 0; i < w.n; i++)
		sum += load_u64(w.p + 8 * i, swap);
	return sum;
}

/* Touch every byte a decoded sample points at. */
static uint64_t touch_sample(const struct sample *s, int swap)
{
	uint64_t sum = sum_words(s->callchain, swap) + sum_words(s->branches, swap) +
		       sum_words(s->branch_counters, swap) + sum_words(s->regs_user, swap) +
		       sum_words(s->regs_intr, swap) + sum_words(s->read_values, swap);
	for (uint64_t i = 0; i < s->raw_size; i++)
		sum += s->raw[i];
	for (uint64_t i = 0; i < s->stack_size; i++)
		sum += s->stack[i];
	for (uint64_t i = 0; i < s->aux_size; i++)
		sum += s->aux[i];
	return sum;
}

/* Read `n` bytes to the end, whatever they are. */
static void read_all(const void *p, size_t n)
{
	struct recording *rec = NULL;
	struct record r;
	struct err e = {0};
	volatile uint64_t sum = 0;
	(void)sum;
	uint64_t records = 0;
	int got = recording_open_mem(&rec, p, n, "damaged", &e);
	if (got) {
		assert_true(got < 0 && e.code == got && e.msg[0]);
		assert_null(strchr(e.msg, '\n'));
		assert_null(rec);
		return;
	}
	while ((got = recording_next(rec, &r, &e)) == 1) {
		const struct event *ev = recording_event(rec, &r);
		struct sample s;
		/* a zstd bomb apart, no more records than bytes */
		assert_true(++records < 1000000);
		if (r.type != PERF_RECORD_SAMPLE)
			decode_side_band(rec, &r);
		else if (ev && !sample_decode(&r, ev, rec->swap, &s, &e))
			sum += touch_sample(&s, rec->swap);
	}
	assert_true(got == 0 || e.msg[0]);
	recording_close(rec);
}

/* The bytes in a block of exactly n, so that a sanitizer sees one too far. */
static void read_copy(const char *p, size_t n)
{
	char *copy = mem_alloc(n);
	assert_non_null(copy);
	if (n)
		memcpy(copy, p, n);
	read_all(copy, n);
	mem_free(copy);
}

static void truncate_and_flip(const struct buf *image, size_t step)
{
	for (size_t n = 0; n <= image->n; n += step)
		read_copy(image->v, n);
	char *copy = mem_alloc(image->n);
	assert_non_null(copy);
	memcpy(copy, image->v, image->n);
	size_t flips = image->n < 4096 ? image->n : 4096;
	for (size_t i = 0; i<flips; i += step> 16 ? 3 : 1) {
		static const uint8_t masks[] = {0xff, 0x01, 0x80};
		for (size_t k = 0; k < 3; k++) {
			copy[i] = (char)(image->v[i] ^ masks[k]);
			read_all(copy, image->n);
		}
		copy[i] = image->v[i];
	}
	mem_free(copy);
}

static void write_everything(struct pw *w)
{
	static const uint64_t ids[] = {11}, chain[] = {PW_CONTEXT_USER, 1, 2};
	static const uint8_t id[20] = {9};
	static const struct pw_branch lbr[] = {{1, 2, .mispred = 1}};
	static const struct pw_tracepoint tp = {"test", "name: t\nID: 1\nformat:\n\n"};
	struct pw_id at = {.pid = 7, .tid = 7, .time = 1, .id = 11};
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .sample_type = (1u << PW_S_BITS) - 1 - PW_S_WEIGHT,
				     .read_format = PW_R_GROUP | PW_R_ID,
				     .branch_sample_type = PW_BRANCH_COUNTERS,
				     .regs_user = 7,
				     .regs_intr = 1,
				     .flags = PW_SAMPLE_ID_ALL,
				     .name = "event",
				     .ids = ids,
				     .nids = 1});
	pw_feature_string(w, PW_FEAT_HOSTNAME, "host");
	pw_feature_event_desc(w);
	pw_feature_tracing_data(w, &tp, 1);
	pw_feature_build_id(w, 2, UINT32_MAX, id, 20, "/bin/x");
	pw_comm(w, &at, 7, 7, "comm", 1);
	pw_mmap2(w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = 4096,
				   .len = 4096,
				   .build_id = id,
				   .build_id_size = 20,
				   .filename = "/bin/x"});
	pw_ksymbol(w, &at, 1, 2, 3, 4, "ksym");
	pw_lost(w, &at, 11, 1);
	pw_switch_cpu_wide(w, &at, 0, 1, 2);
	pw_auxtrace(w, "12345678", 8, 0, 0, 0);
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = 2,
				      .id = 11,
				      .values = &(struct pw_read_value){1, 2, 3},
				      .nvalues = 1,
				      .ips = chain,
				      .nips = 3,
				      .raw = "raw",
				      .raw_size = 3,
				      .branches = lbr,
				      .nbranches = 1,
				      .user_abi = 2,
				      .user_regs = chain,
				      .intr_abi = 2,
				      .intr_regs = chain,
				      .stack = "12345678",
				      .stack_size = 8,
				      .stack_dyn = 8,
				      .aux = "87654321",
				      .aux_size = 8});
	pw_callchain_deferred(w, &at, 5, chain, 3);
	pw_finished_round(w);
}

static void images_cut_at_every_length_and_each_byte_flipped(void **state)
{
	(void)state;
	for (int variant = 0; variant < 8; variant++) {
		struct pw w;
		struct buf image = {0};
		pw_begin(&w, &(struct pw_config){.mode = variant & 1 ? PW_PIPE : PW_FILE,
						 .big_endian = variant >> 1 & 1,
						 .zstd_chunk = 100});
		if (variant & 4) {
			static const uint64_t ids[] = {11};
			pw_attr(&w, &(struct pw_attr){.type = 1,
						      .sample_type = PW_S_ID,
						      .ids = ids,
						      .nids = 1});
			pw_compress_begin(&w, PW_COMPRESSED2);
			for (int i = 0; i < 20; i++)
				pw_sample(&w, 0, &(struct pw_sample){.id = 11});
			pw_compress_end(&w);
		} else {
			write_everything(&w);
		}
		assert_int_equal(pw_finish(&w, &image), 0);
		truncate_and_flip(&image, 1);
		buf_release(&image);
	}
}

/* Real recordings, from the top of the source tree (where run.sh starts the programs). */
static void recordings_cut_and_flipped(void **state)
{
	(void)state;
	static const char *const files[] = {"testdata/pipe/perf.data",
					    "testdata/zstd/perf.data",
					    "testdata/uprobe/perf.data"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct buf image = {0};
		load_file(files[i], &image);
		truncate_and_flip(&image, image.n / 97 + 1);
		buf_release(&image);
	}
}

/* The n-th allocation fails, for every n: an error code, no leak, no crash. */
static void every_allocation_may_fail(void **state)
{
	(void)state;
	for (int variant = 0; variant < 2; variant++) {
		struct pw w;
		struct buf image = {0};
		pw_begin(&w, &(struct pw_config){.mode = variant ? PW_PIPE : PW_FILE});
		write_everything(&w);
		assert_int_equal(pw_finish(&w, &image), 0);
		int whole = 0;
		for (long n = 0; n < 500 && !whole; n++) {
			struct recording *rec = NULL;
			struct record r;
			mem_fail_after(n);
			int rc = recording_open_mem(&rec, image.v, image.n, "image", NULL);
			if (!rc)
				while ((rc = recording_next(rec, &r, NULL)) == 1)
					;
			recording_close(rec);
			whole = mem_fail_after(-1) <= n;
			assert_true(rc == 0 || rc == ERR_NOMEM);
		}
		assert_true(whole);
		buf_release(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_cut_at_every_length_and_each_byte_flipped),
		cmocka_unit_test(recordings_cut_and_flipped),
		cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("libparse damage", tests, NULL, NULL);
}
