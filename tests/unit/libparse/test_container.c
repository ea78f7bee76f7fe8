/* libparse: containers. The same three samples of two events, whatever file they stand in:
 * every attr size, version, byte order, file, pipe, compressed, cut off, torn. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/temptree.h"
#include "tests/lib/torture.h"

#include "base/bytes.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BOTH = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_ID | PW_S_PERIOD };

static void add_events(struct pw *w)
{
	static const uint64_t ids[][2] = {{101, 102}, {201, 202}};
	static const char *const names[] = {"cpu-clock:u", "page-faults"};
	for (int i = 0; i < 2; i++)
		pw_attr(w, &(struct pw_attr){.type = 1,
					     .config = i ? 2 : 0,
					     .config1 = 0x1111,
					     .config2 = 0x2222,
					     .period = 99,
					     .sample_type = BOTH,
					     .branch_sample_type = 0x3333,
					     .regs_user = 0x4444,
					     .stack_user = 0x5555,
					     .clockid = -1,
					     .regs_intr = 0x6666,
					     .aux_watermark = 0x7777,
					     .max_stack = 0x88,
					     .aux_sample_size = 0x9999,
					     .sig_data = 0xaaaa,
					     .config3 = 0xbbbb,
					     .flags = PW_SAMPLE_ID_ALL | PW_FREQ | PW_MMAP |
						      PW_USE_CLOCKID | PW_BUILD_ID_BIT,
					     .name = names[i],
					     .ids = ids[i],
					     .nids = 2});
}

static void add_samples(struct pw *w)
{
	for (uint64_t i = 0; i < 3; i++)
		pw_sample(w, i % 2,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .ip = 0x1000 + i,
					      .pid = 7,
					      .tid = 7,
					      .time = 500 + i,
					      .id = i % 2 ? 202 : 102,
					      .period = 10 + i});
}

static void write_image(const struct pw_config *cfg, int compress, struct buf *image)
{
	struct pw w;
	pw_begin(&w, cfg);
	add_events(&w);
	/* without HOSTNAME a big-endian header is taken for a 32-bit machine's, as perf does */
	pw_feature_string(&w, PW_FEAT_HOSTNAME, "host");
	if (cfg->mode != PW_FILE_V1)
		pw_feature_event_desc(&w);
	if (compress)
		pw_compress_begin(&w, compress);
	add_samples(&w);
	if (compress)
		pw_compress_end(&w);
	assert_int_equal(pw_finish(&w, image), 0);
}

/* Read all; returns the number of samples, each checked. */
static int count_samples(struct recording *rec)
{
	struct record r;
	struct err e = {0};
	uint64_t n = 0;
	int got;
	while ((got = recording_next(rec, &r, &e)) == 1) {
		struct sample s;
		if (r.type != PERF_RECORD_SAMPLE)
			continue;
		const struct event *ev = recording_event(rec, &r);
		assert_non_null(ev);
		assert_int_equal(ev->index, n % 2);
		assert_int_equal(sample_decode(&r, ev, rec->swap, &s, &e), 0);
		assert_int_equal(s.ip, 0x1000 + n);
		assert_int_equal(s.time, 500 + n);
		assert_int_equal(s.period, 10 + n);
		n++;
	}
	assert_int_equal(got, 0);
	return (int)n;
}

/* The same bytes as a file that is read in pieces, as where mapping copies. */
static void open_in_pieces(struct recording **rec, const void *p, size_t n)
{
	char path[] = "/tmp/perfkit-pieces-XXXXXX";
	struct source src;
	struct err e = {0};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	assert_int_equal(source_open_pieces(&src, path, &e), 0);
	assert_int_equal(recording_open_source(rec, &src, &e), 0);
	assert_false(recording_is_mapped(*rec));
	close(fd);
	unlink(path);
}

static void check_attr(const struct event_attr *a, uint32_t size)
{
	assert_int_equal(a->type, 1);
	assert_int_equal(a->size, size);
	assert_int_equal(a->sample_period, 99);
	assert_int_equal(a->sample_type, BOTH);
	assert_true(attr_flag(a, ATTR_SAMPLE_ID_ALL));
	assert_true(attr_flag(a, ATTR_FREQ));
	assert_true(attr_flag(a, ATTR_USE_CLOCKID));
	assert_true(attr_flag(a, ATTR_BUILD_ID));
	assert_false(attr_flag(a, ATTR_INHERIT));
	assert_false(attr_flag(a, ATTR_COMM));
	assert_int_equal(a->config1, 0x1111);
	assert_int_equal(a->config2, size >= 72 ? 0x2222 : 0);
	assert_int_equal(a->branch_sample_type, size >= 80 ? 0x3333 : 0);
	assert_int_equal(a->sample_regs_user, size >= 96 ? 0x4444 : 0);
	assert_int_equal(a->sample_stack_user, size >= 96 ? 0x5555 : 0);
	assert_int_equal(a->clockid, size >= 96 ? -1 : 0);
	assert_int_equal(a->sample_regs_intr, size >= 104 ? 0x6666 : 0);
	assert_int_equal(a->aux_watermark, size >= 112 ? 0x7777 : 0);
	assert_int_equal(a->sample_max_stack, size >= 112 ? 0x88 : 0);
	assert_int_equal(a->aux_sample_size, size >= 120 ? 0x9999 : 0);
	assert_int_equal(a->sig_data, size >= 128 ? 0xaaaa : 0);
	assert_int_equal(a->config3, size >= 136 ? 0xbbbb : 0);
}

static void check_image_as(const struct pw_config *cfg, int compress, int in_pieces)
{
	struct buf image = {0};
	struct recording *rec;
	struct err e = {0};
	uint32_t size = cfg->attr_size ? cfg->attr_size : 128;
	write_image(cfg, compress, &image);
	if (in_pieces)
		open_in_pieces(&rec, image.v, image.n);
	else
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(rec->big_endian, cfg->big_endian);
	assert_int_equal(rec->pipe_mode, cfg->mode == PW_PIPE);
	assert_int_equal(rec->events.n, 2);
	for (int i = 0; i < 2; i++) {
		check_attr(&rec->events.v[i].attr, size);
		assert_int_equal(rec->events.v[i].ids.n, 2);
	}
	if (cfg->mode != PW_FILE_V1 && !cfg->cut) {
		assert_string_equal(rec->events.v[0].name, "cpu-clock:u");
		assert_string_equal(rec->events.v[1].name, "page-faults");
	}
	for (int pass = 0; pass < 2; pass++) { /* the second after a rewind */
		assert_int_equal(count_samples(rec), 3);
		assert_int_equal(rec->stats.by_type[PERF_RECORD_SAMPLE], 3);
		assert_int_equal(rec->stats.bad.n, 0);
		assert_int_equal(rec->stats.torn_bytes, 0);
		assert_int_equal(recording_rewind(rec, &e), 0);
	}
	recording_close(rec);
	buf_release(&image);
}

static void check_image(const struct pw_config *cfg, int compress)
{
	check_image_as(cfg, compress, 0);
	check_image_as(cfg, compress, 1);
}

static void every_attr_size_version_order_and_mode(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {64,  72,  80,  96,  104, 112,
					 120, 128, 136, 144, 152, 200};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int mode = PW_FILE; mode <= PW_PIPE; mode++)
			for (int be = 0; be < 2; be++)
				check_image(&(struct pw_config){.mode = (enum pw_mode)mode,
								.attr_size = sizes[i],
								.big_endian = be},
					    0);
}

static void compressed_across_every_boundary(void **state)
{
	(void)state;
	for (int type = PW_COMPRESSED; type <= PW_COMPRESSED2; type += 2)
		for (int chunk = 1; chunk < 200; chunk += 3)
			for (int variant = 0; variant < 8; variant++)
				check_image(
					&(struct pw_config){.mode = variant & 1 ? PW_PIPE
										: PW_FILE,
							    .big_endian = variant >> 1 & 1,
							    .zstd_chunk = chunk,
							    .zstd_end_frames = variant >> 2},
					type);
}

static void features_come_back(void **state)
{
	(void)state;
	for (int variant = 0; variant < 4; variant++) {
		static const char *const argv[] = {"perf", "record", "-g", "a b"};
		static const char *const group[] = {"{cpu-clock:u,page-faults}"};
		static const uint8_t id[20] = {1, 2, 3};
		struct pw w;
		struct buf image = {0};
		struct recording *rec;
		struct record r;
		struct err e = {0};
		pw_begin(&w, &(struct pw_config){.mode = variant & 1 ? PW_PIPE : PW_FILE,
						 .big_endian = variant >> 1});
		add_events(&w);
		pw_feature_string(&w, PW_FEAT_HOSTNAME, "testhost");
		pw_feature_string(&w, PW_FEAT_OSRELEASE, "6.18.0");
		pw_feature_string(&w, PW_FEAT_VERSION, "6.1.0");
		pw_feature_string(&w, PW_FEAT_ARCH, "x86_64");
		pw_feature_string(&w, PW_FEAT_CPUDESC, "A CPU");
		pw_feature_string(&w, PW_FEAT_CPUID, "Maker,6,1,2");
		pw_feature_nrcpus(&w, 2, 4);
		pw_feature_u64s(&w, PW_FEAT_TOTAL_MEM, (const uint64_t[]){8000}, 1);
		pw_feature_cmdline(&w, argv, 4);
		pw_feature_event_desc(&w);
		pw_feature_group_desc(&w, group, (const uint32_t[]){0}, (const uint32_t[]){2},
				      1);
		pw_feature_u64s(&w, PW_FEAT_SAMPLE_TIME, (const uint64_t[]){500, 502}, 2);
		pw_feature_u64s(&w, PW_FEAT_CLOCKID, (const uint64_t[]){1}, 1);
		pw_feature_clock_data(&w, 1, 1700000000000000000, 123456789);
		pw_feature(&w, 200, "unknown feature", 16);
		pw_feature_build_id(&w, PW_MISC_USER, UINT32_MAX, id, 20, "/bin/x");
		pw_feature_build_id(&w, PW_MISC_KERNEL, UINT32_MAX, id, 16,
				    "[kernel.kallsyms]");
		add_samples(&w);
		assert_int_equal(pw_finish(&w, &image), 0);
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
		while (recording_next(rec, &r, &e) == 1)
			;
		const struct features *f = &rec->features;
		assert_string_equal(f->hostname, "testhost");
		assert_string_equal(f->osrelease, "6.18.0");
		assert_string_equal(f->version, "6.1.0");
		assert_string_equal(f->arch, "x86_64");
		assert_string_equal(f->cpudesc, "A CPU");
		assert_string_equal(f->cpuid, "Maker,6,1,2");
		assert_string_equal(f->cmdline, "perf record -g a b");
		assert_int_equal(f->cpus_online, 2);
		assert_int_equal(f->cpus_available, 4);
		assert_int_equal(f->total_mem_kb, 8000);
		assert_int_equal(f->first_sample_ns, 500);
		assert_int_equal(f->last_sample_ns, 502);
		assert_true(f->has_clockid && f->clockid_res_ns == 1);
		assert_true(f->has_clock_data);
		assert_int_equal(f->clockid, 1);
		assert_int_equal(f->wall_ns, 1700000000000000000);
		assert_int_equal(f->clockid_ns, 123456789);
		assert_int_equal(f->groups.n, 1);
		assert_int_equal(rec->events.v[1].leader, 0);
		assert_int_equal(f->build_ids.n, 2);
		assert_int_equal(f->build_ids.v[0].size, 20);
		assert_memory_equal(f->build_ids.v[0].id, id, 20);
		assert_string_equal(f->build_ids.v[0].filename, "/bin/x");
		assert_int_equal(f->build_ids.v[1].size, 16);
		assert_string_equal(f->build_ids.v[1].filename, "[kernel.kallsyms]");
		assert_string_equal(rec->stats.bad.first, "");
		recording_close(rec);
		buf_release(&image);
	}
}

static void never_finalised_file_gives_all_whole_records(void **state)
{
	(void)state;
	check_image(&(struct pw_config){.cut = 1}, 0);
	check_image(&(struct pw_config){.cut = 1, .big_endian = 1}, 0);
	check_image(&(struct pw_config){.cut = 1, .zstd_chunk = 13}, PW_COMPRESSED);
}

/* Cut the data of a never finalised file anywhere: every whole record, then one note. */
/* Break the header of the zstd block that the nth compressed record begins with. */
static void break_compressed(struct buf *image, unsigned nth)
{
	const int swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	uint64_t at = load_u64(image->v + 40, swap);
	for (;; at += load_u16(image->v + at + 6, swap)) {
		assert_true(at + 16 < image->n);
		if (load_u32(image->v + at, swap) == PW_COMPRESSED && !nth--)
			break;
	}
	memset(image->v + at + 8, 0xff, 3);
}

/* What goes on from data that cannot be inflated would be made of what lies in memory. */
static void damaged_compressed_data_ends_at_the_next_frame(void **state)
{
	enum { SAMPLES = 20, SAMPLE_SIZE = 48, BROKEN = 5 };
	(void)state;
	for (int frames = 0; frames < 2; frames++) {
		struct pw w;
		struct buf image = {0};
		struct recording *rec;
		struct record r;
		struct sample s;
		struct err e = {0};
		pw_begin(&w, &(struct pw_config){.zstd_chunk = SAMPLE_SIZE,
						 .zstd_end_frames = frames});
		add_events(&w);
		pw_compress_begin(&w, PW_COMPRESSED);
		for (uint64_t i = 0; i < SAMPLES; i++)
			pw_sample(&w, 0, &(struct pw_sample){.ip = i, .time = i, .id = 102});
		pw_compress_end(&w);
		assert_int_equal(pw_finish(&w, &image), 0);
		break_compressed(&image, BROKEN);
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
		uint64_t n = 0;
		for (int got; (got = recording_next(rec, &r, &e)); n++) {
			assert_int_equal(got, 1);
			assert_int_equal(r.type, PERF_RECORD_SAMPLE);
			assert_int_equal(r.size, SAMPLE_SIZE);
			assert_int_equal(
				sample_decode(&r, &rec->events.v[0], rec->swap, &s, &e), 0);
			assert_int_equal(s.time, n + (n >= BROKEN));
		}
		assert_int_equal(n, frames ? SAMPLES - 1 : BROKEN);
		assert_int_equal(rec->stats.bad.n, frames ? 1 : SAMPLES - BROKEN);
		assert_non_null(strstr(rec->stats.bad.first, "damaged compressed data"));
		recording_close(rec);
		buf_release(&image);
	}
}

/* What zstd says that it gave along with an error is not counted: it differs by architecture. */
static void what_comes_with_an_error_of_zstd_is_nothing(void **state)
{
	enum { INFLATED = 28, LAST = 186 }; /* of a record that is not whole; from 0xb49 on */
	struct recording *rec;
	struct record r;
	int got;
	(void)state;
	assert_int_equal(recording_open(&rec, "tests/fuzz/found/perfdata/damaged-zstd", NULL),
			 0);
	while ((got = recording_next(rec, &r, NULL)) == 1)
		;
	assert_int_equal(got, 0);
	assert_int_equal(rec->stats.torn_bytes, INFLATED + LAST);
	recording_close(rec);
}

static void torn_tail_is_reported_once_and_the_rest_used(void **state)
{
	(void)state;
	struct buf image = {0};
	write_image(&(struct pw_config){.cut = 1}, 0, &image);
	size_t sample = 8 + 8 + 8 + 8 + 8 + 8, data = image.n - 3 * sample;
	for (size_t n = data + 1; n <= image.n; n++) {
		struct recording *rec;
		struct err e = {0};
		assert_int_equal(recording_open_mem(&rec, image.v, n, "image", &e), 0);
		assert_int_equal(count_samples(rec), (n - data) / sample);
		assert_int_equal(rec->stats.torn_bytes, (n - data) % sample);
		assert_int_equal(rec->stats.truncated[0] != 0, (n - data) % sample != 0);
		recording_close(rec);
	}
	buf_release(&image);
}

static void the_counter_becomes_the_recordings_clock(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		struct pw w;
		struct buf image = {0};
		struct recording *rec;
		struct err e = {0};
		pw_begin(&w, &(struct pw_config){.mode = k & 1 ? PW_PIPE : PW_FILE,
						 .big_endian = k >> 1});
		add_events(&w);
		pw_time_conv(&w, 31, 827169281, 9000000000000000000u);
		add_samples(&w);
		assert_int_equal(pw_finish(&w, &image), 0);
		assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
		count_samples(rec);
		const struct time_conv *c = &rec->features.tsc;
		assert_int_equal(c->mult, 827169281);
		assert_int_equal(c->shift, 31);
		/* floor(tsc * mult / 2^31), in integers of any size, by hand */
		assert_int_equal(time_conv_ns(c, 0), 9000000000000000000u);
		assert_int_equal(time_conv_ns(c, 2596122000u),
				 9000000000000000000u + 999976120u);
		assert_int_equal(time_conv_ns(c, 1ull << 52),
				 9000000000000000000u + 827169281ull * (1 << 21));
		recording_close(rec);
		buf_release(&image);
	}
	struct time_conv part = {.mult = 1, .cycles = 0x1fffffff0, .mask = 0xffffffff};
	assert_int_equal(time_conv_ns(&part, 0x10), 0x200000010);
}

static void a_record_of_size_below_8_ends_the_data(void **state)
{
	(void)state;
	struct pw w;
	struct buf image = {0};
	struct recording *rec;
	struct err e = {0};
	pw_begin(&w, &(struct pw_config){0});
	add_events(&w);
	add_samples(&w);
	pw_raw(&w, "\x09\0\0\0\0\0\4\0garbage.", 16);
	assert_int_equal(pw_finish(&w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(count_samples(rec), 3);
	assert_int_equal(rec->stats.torn_bytes, 16);
	assert_true(rec->stats.truncated[0]);
	recording_close(rec);
	buf_release(&image);
}

struct feeder {
	int fd;
	const struct buf *image;
	size_t piece;
};

static void *feed(void *arg)
{
	const struct feeder *f = arg;
	for (size_t n = 0, k; n < f->image->n; n += k) {
		k = f->image->n - n < f->piece ? f->image->n - n : f->piece;
		if (write(f->fd, f->image->v + n, k) != (ssize_t)k)
			break;
	}
	close(f->fd);
	return NULL;
}

/* A true pipe, in pieces of any size; reached by its name below /dev/fd. */
static void read_from_a_real_pipe(void **state)
{
	(void)state;
	struct buf image = {0};
	write_image(&(struct pw_config){.mode = PW_PIPE, .zstd_chunk = 31}, PW_COMPRESSED,
		    &image);
	for (size_t piece = 1; piece < 300; piece += 7) {
		int fd[2];
		char path[32];
		pthread_t t;
		struct recording *rec;
		struct err e = {0};
		assert_int_equal(pipe(fd), 0);
		struct feeder f = {fd[1], &image, piece};
		assert_int_equal(pthread_create(&t, NULL, feed, &f), 0);
		snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
		assert_int_equal(recording_open(&rec, path, &e), 0);
		assert_int_equal(count_samples(rec), 3);
		assert_int_equal(recording_rewind(rec, &e), ERR_UNSUPPORTED);
		recording_close(rec);
		close(fd[0]);
		pthread_join(t, NULL);
	}
	buf_release(&image);
}

/* Tracing data that is longer than what is read at once: all of it, in order, and the samples
 * behind it. */
static void long_tracing_data_from_a_pipe(void **state)
{
	(void)state;
	enum { WORDS = 1 << 20 };
	char *format = mem_alloc(WORDS * 5 + 1);
	struct pw w;
	struct buf image = {0};
	struct recording *rec;
	struct err e = {0};
	int fd[2];
	char path[32];
	pthread_t t;
	assert_non_null(format);
	for (unsigned i = 0; i < WORDS; i++)
		snprintf(format + i * 5UL, 6, "%05x", i);
	pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
	add_events(&w);
	pw_feature_string(&w, PW_FEAT_HOSTNAME, "host");
	pw_feature_tracing_data(&w, &(struct pw_tracepoint){"s", format}, 1);
	add_samples(&w);
	assert_int_equal(pw_finish(&w, &image), 0);
	assert_int_equal(pipe(fd), 0);
	struct feeder f = {fd[1], &image, 50021};
	assert_int_equal(pthread_create(&t, NULL, feed, &f), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	assert_int_equal(recording_open(&rec, path, &e), 0);
	assert_int_equal(count_samples(rec), 3);
	assert_true(rec->features.tracing_data_size > WORDS * 5UL);
	assert_non_null(memmem(rec->features.tracing_data, rec->features.tracing_data_size,
			       format, WORDS * 5UL));
	recording_close(rec);
	close(fd[0]);
	pthread_join(t, NULL);
	buf_release(&image);
	mem_free(format);
}

static int read_all(const char *path)
{
	struct recording *rec = NULL;
	struct record r;
	int rc = recording_open(&rec, path, NULL);
	if (!rc)
		while ((rc = recording_next(rec, &r, NULL)) == 1)
			;
	recording_close(rec);
	return rc;
}

/* One that fits into a pipe: its own kind, and a file, which is kept until its index came. */
static void without_memory_a_pipe_is_an_error(void **state)
{
	(void)state;
	for (int mode = 0; mode < 2; mode++) {
		struct buf image = {0};
		struct torture t = {0};
		write_image(&(struct pw_config){.mode = mode ? PW_PIPE : PW_FILE},
			    PW_COMPRESSED, &image);
		while (!t.whole) {
			int fd[2];
			char path[32];
			assert_int_equal(pipe(fd), 0);
			assert_int_equal(write(fd[1], image.v, image.n), image.n);
			close(fd[1]);
			snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
			torture_on(&t);
			int r = read_all(path);
			torture_off(&t, r);
			close(fd[0]);
		}
		assert_true(t.failed > 10);
		buf_release(&image);
	}
}

static void without_memory_a_folder_is_an_error(void **state)
{
	(void)state;
	struct torture t = {0};
	while (!t.whole) {
		torture_on(&t);
		int r = read_all("testdata/threads-dir/perf.data");
		torture_off(&t, r);
	}
	assert_true(t.failed > 10);
}

static void what_is_no_recording_is_refused(void **state)
{
	(void)state;
	static const char *const not_it[] = {"", "P", "PERFILE2",
					     "#!/bin/sh\necho no, not this\n",
					     "\177ELF\2\1\1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
	for (size_t i = 0; i < 5; i++) {
		struct recording *rec = NULL;
		struct err e = {0};
		int rc = recording_open_mem(&rec, not_it[i], strlen(not_it[i]), "the-name", &e);
		assert_int_equal(rc, ERR_UNSUPPORTED);
		assert_null(rec);
		assert_non_null(strstr(e.msg, "the-name"));
		assert_null(strchr(e.msg, '\n'));
	}
}

/* A file whose data has no place in 32 bits: mapped whole, or in pieces. */
static void more_than_four_gigabytes(void **state)
{
	(void)state;
	char path[] = "/tmp/perfkit-large-XXXXXX";
	const uint64_t at = ((uint64_t)1 << 32) + 4096;
	uint64_t data, moved = htole64(at);
	struct buf image = {0};
	struct err e = {0};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	write_image(&(struct pw_config){.cut = 1}, 0, &image);
	memcpy(&data, image.v + 40, 8);
	data = le64toh(data);
	memcpy(image.v + 40, &moved, 8);
	assert_int_equal(pwrite(fd, image.v, data, 0), data);
	assert_int_equal(pwrite(fd, image.v + data, image.n - data, (off_t)at),
			 image.n - data); /* behind a hole */
	for (int in_pieces = 0; in_pieces < 2; in_pieces++) {
		struct source src;
		struct recording *rec;
		int rc = in_pieces ? source_open_pieces(&src, path, &e)
				   : source_open(&src, path, &e);
		assert_int_equal(rc, 0);
		assert_int_equal(recording_open_source(&rec, &src, &e), 0);
		assert_int_equal(count_samples(rec), 3);
		recording_close(rec);
	}
	close(fd);
	unlink(path);
	buf_release(&image);
}

/* The message does not depend on the order in which a folder lists its files, nor on names that
 * perf does not write. */
static void the_first_part_after_a_gap_is_named(void **state)
{
	(void)state;
	static const char *const stray[] = {"/data.+4", "/data. 4", "/data.-4", "/data.04",
					    "/data.4x"};
	char want[256], name[32];
	struct recording *rec;
	struct err e = {0};
	struct pw w;
	struct buf image = {0};
	pw_begin(&w, &(struct pw_config){0});
	add_events(&w);
	assert_int_equal(pw_finish(&w, &image), 0);
	put("/data", image.v, image.n);
	put("/data.0", "", 0);
	for (size_t i = 0; i < sizeof(stray) / sizeof(*stray); i++)
		put(stray[i], "", 0);
	assert_int_equal(recording_open(&rec, root, &e), 0);
	recording_close(rec);
	for (int i = 30; i > 2; i--) {
		snprintf(name, sizeof(name), "/data.%d", i);
		put(name, "", 0);
		snprintf(want, sizeof(want), "%s/data.1: is missing, although there is data.%d",
			 root, i);
		assert_int_equal(recording_open(&rec, root, &e), ERR_FORMAT);
		assert_string_equal(e.msg, want);
	}
	buf_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_attr_size_version_order_and_mode),
		cmocka_unit_test(compressed_across_every_boundary),
		cmocka_unit_test(more_than_four_gigabytes),
		cmocka_unit_test(features_come_back),
		cmocka_unit_test(never_finalised_file_gives_all_whole_records),
		cmocka_unit_test(damaged_compressed_data_ends_at_the_next_frame),
		cmocka_unit_test(what_comes_with_an_error_of_zstd_is_nothing),
		cmocka_unit_test(torn_tail_is_reported_once_and_the_rest_used),
		cmocka_unit_test(a_record_of_size_below_8_ends_the_data),
		cmocka_unit_test(the_counter_becomes_the_recordings_clock),
		cmocka_unit_test(read_from_a_real_pipe),
		cmocka_unit_test(long_tracing_data_from_a_pipe),
		cmocka_unit_test(without_memory_a_pipe_is_an_error),
		cmocka_unit_test(without_memory_a_folder_is_an_error),
		cmocka_unit_test(what_is_no_recording_is_refused),
		ON_A_TREE(the_first_part_after_a_gap_is_named),
	};
	return cmocka_run_group_tests_name("libparse container", tests, NULL, NULL);
}
