/* libtime/watch: what a stream's older chunks leave behind, and that no more does. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libtime/watch/history.h"
#include "libtime/watch/spikes.h"

#include <stdlib.h>

static const uint64_t ids[] = {11};
enum { MS = 1000000, LIMIT_MS = 2000 };

static struct pw_id at_ms(uint64_t ms, uint32_t tid)
{
	return (struct pw_id){.pid = tid, .tid = tid, .time = ms * MS, .id = 11};
}

static void map(struct pw *w, uint64_t ms, uint32_t pid, uint64_t addr, const char *file)
{
	struct pw_id id = at_ms(ms, pid);
	pw_mmap2(w, &id,
		 &(struct pw_mmap){.pid = pid,
				   .tid = pid,
				   .addr = addr,
				   .len = 0x1000,
				   .prot = 5,
				   .filename = file});
}

static void name(struct pw *w, uint64_t ms, uint32_t pid, uint32_t tid, const char *comm,
		 int exec)
{
	struct pw_id id = at_ms(ms, tid);
	pw_comm(w, &id, pid, tid, comm, exec);
}

static void fork_at(struct pw *w, uint64_t ms, uint32_t pid, uint32_t ppid, uint32_t tid,
		    uint32_t ptid)
{
	struct pw_id id = at_ms(ms, ptid);
	pw_fork(w, &id, pid, ppid, tid, ptid, ms * MS);
}

/* 10 is "a" with two mappings, one of which is replaced; 20 is its child and becomes "b" by
 * exec; 21 is a thread of 20; 30 comes and goes; 40 is a child of 10 that stays what it was. */
static void put_lives(struct pw *w)
{
	struct pw_id id = at_ms(8, 30);
	name(w, 1, 10, 10, "a", 0);
	map(w, 1, 10, 0x1000, "/bin/old");
	map(w, 2, 10, 0x1000, "/bin/a");
	map(w, 2, 10, 0x9000, "/lib/a.so");
	fork_at(w, 3, 20, 10, 20, 10);
	name(w, 4, 20, 20, "b", 1);
	map(w, 4, 20, 0x2000, "/bin/b");
	fork_at(w, 5, 20, 20, 21, 20);
	fork_at(w, 6, 30, 10, 30, 10);
	name(w, 7, 30, 30, "gone", 0);
	pw_exit(w, &id, 30, 10, 30, 30, 8 * MS);
	fork_at(w, 9, 40, 10, 40, 10);
}

static void stream_of(struct buf *image, uint64_t end_ms)
{
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type =
					      PW_S_IDENTIFIER | PW_S_IP | PW_S_TID | PW_S_TIME,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	put_lives(&w);
	for (uint64_t ms = 10; ms < end_ms; ms += 5) {
		pw_sample(
			&w, 0,
			&(struct pw_sample){
				.ip = 0x2000, .pid = 20, .tid = 20, .time = ms * MS, .id = 11});
		if (ms % 500 == 0)
			pw_finished_round(&w);
	}
	assert_int_equal(pw_finish(&w, image), 0);
}

/* All of it, `piece` bytes at a time, each seen at once. */
static struct history *fed_within(const struct buf *image, size_t piece, uint64_t memory)
{
	struct history *h;
	struct err e = {0};
	struct history_limits limits = {(uint64_t)LIMIT_MS * MS, memory};
	assert_int_equal(history_new(&h, limits, &e), 0);
	for (size_t at = 0, used; at < image->n; at += used) {
		size_t n = image->n - at < piece ? image->n - at : piece;
		int rc = history_add(h, (const uint8_t *)image->v + at, n, &used, &e);
		assert_true(rc >= 0);
		assert_true(used == n || rc == 1);
		history_seen(h);
	}
	return h;
}

static struct history *fed(const struct buf *image, size_t piece)
{
	return fed_within(image, piece, 64 << 20);
}

static struct recording *written(const struct history *h, char **bytes)
{
	struct recording *rec;
	struct err e = {0};
	size_t n;
	FILE *f = open_memstream(bytes, &n);
	history_write(h, f);
	fclose(f);
	assert_int_equal(recording_open_mem(&rec, *bytes, n, "written", &e), 0);
	return rec;
}

/* "10:a 20:b ..." and "10:/bin/a ..." of what was written. */
static void lives_of(struct recording *rec, char *names, char *maps, uint64_t *first,
		     uint64_t *samples)
{
	struct record r;
	struct err e = {0};
	*names = *maps = '\0';
	*samples = *first = 0;
	while (recording_next(rec, &r, &e) == 1) {
		struct record_id id;
		struct record_comm c;
		struct record_mmap m;
		recording_id(rec, &r, &id);
		if (id.has_time && (!*first || id.time < *first))
			*first = id.time;
		*samples += r.type == PERF_RECORD_SAMPLE;
		if (r.type == PERF_RECORD_COMM && !record_comm_decode(&r, 0, &c, &e)) {
			assert_false(c.exec);
			sprintf(names + strlen(names), "%d/%d:%s ", c.pid, c.tid, c.comm);
		}
		if (r.type == PERF_RECORD_MMAP2 && !record_mmap_decode(&r, 0, &m, &e))
			sprintf(maps + strlen(maps), "%d:%s ", m.pid, m.filename);
	}
}

static void older_chunks_leave_what_lives(void **state)
{
	static const size_t pieces[] = {1 << 20, 4096, 7, 1};
	struct buf image = {0};
	(void)state;
	stream_of(&image, 8000);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct history *h = fed(&image, pieces[i]);
		struct history_status s;
		char *bytes, names[500], maps[500];
		uint64_t first, samples;
		history_status(h, &s);
		assert_int_equal(s.newest_ns, 7995ull * MS);
		assert_in_range(s.oldest_ns, 5000ull * MS, 6000ull * MS);
		assert_int_equal(s.safe_ns, 7000ull * MS);
		struct recording *rec = written(h, &bytes);
		lives_of(rec, names, maps, &first, &samples);
		assert_string_equal(names, "10/10:a 20/20:b 20/21:b 40/40:a ");
		assert_string_equal(maps, "10:/bin/a 10:/lib/a.so 20:/bin/b 40:/bin/a "
					  "40:/lib/a.so ");
		assert_int_equal(first, s.oldest_ns);
		assert_int_equal(samples, (s.newest_ns - s.oldest_ns) / (5 * MS) + 1);
		recording_close(rec);
		free(bytes);
		history_free(h);
	}
	buf_release(&image);
}

enum { CHURN_MS = 20, MAPS_EACH = 50 };

/* Processes that live for 2 ms. Each changes CPUs, so its exit comes before its fork. With `lost`,
 * every other exit never comes. */
static void churn_of(struct buf *image, uint64_t end_ms, int lost)
{
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type =
					      PW_S_IDENTIFIER | PW_S_IP | PW_S_TID | PW_S_TIME,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	put_lives(&w);
	for (uint64_t ms = 10; ms < end_ms; ms += CHURN_MS) {
		uint32_t pid = (uint32_t)(1000 + ms);
		struct pw_id id = at_ms(ms + 2, pid);
		if (!lost || ms / CHURN_MS % 2)
			pw_exit(&w, &id, pid, 10, pid, pid, (ms + 2) * MS);
		fork_at(&w, ms, pid, 10, pid, 10);
		name(&w, ms + 1, pid, pid, "brief", 0);
		for (uint64_t i = 0; i < MAPS_EACH; i++)
			map(&w, ms + 1, pid, 0x1000 * (2 * i + 1), "/bin/brief");
		pw_sample(
			&w, 0,
			&(struct pw_sample){
				.ip = 0x2000, .pid = 20, .tid = 20, .time = ms * MS, .id = 11});
		pw_finished_round(&w);
	}
	for (uint64_t ms = end_ms; ms < end_ms + 2 * LIMIT_MS; ms += 5)
		pw_sample(
			&w, 0,
			&(struct pw_sample){
				.ip = 0x2000, .pid = 20, .tid = 20, .time = ms * MS, .id = 11});
	assert_int_equal(pw_finish(&w, image), 0);
}

static void an_exit_may_come_before_its_fork(void **state)
{
	struct buf image = {0};
	char *bytes, names[500], maps[500];
	uint64_t first, samples;
	(void)state;
	churn_of(&image, 8000, 0);
	struct history *h = fed(&image, 65536);
	struct recording *rec = written(h, &bytes);
	lives_of(rec, names, maps, &first, &samples);
	assert_string_equal(names, "10/10:a 20/20:b 20/21:b 40/40:a ");
	recording_close(rec);
	free(bytes);
	history_free(h);
	buf_release(&image);
}

/* What runs is kept; what has not for longest is forgotten, since it may have ended. */
static void lost_exits_do_not_add_up(void **state)
{
	uint64_t bytes[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct buf image = {0};
		struct history_status s;
		char *text, *names = malloc(1 << 24), *maps = malloc(1 << 24);
		uint64_t first, samples;
		churn_of(&image, i ? 120000 : 30000, 1);
		struct history *h = fed_within(&image, 65536, 2 << 20);
		history_status(h, &s);
		bytes[i] = s.bytes;
		struct recording *rec = written(h, &text);
		lives_of(rec, names, maps, &first, &samples);
		assert_non_null(strstr(names, "20/20:b "));
		assert_non_null(strstr(maps, "20:/bin/b "));
		recording_close(rec);
		free(text);
		free(names);
		free(maps);
		history_free(h);
		buf_release(&image);
	}
	assert_in_range(bytes[1], 0, bytes[0] + (1 << 20));
	assert_in_range(bytes[1], 1 << 20, 4 << 20);
}

static void loss_is_a_span(void **state)
{
	struct buf image = {0};
	struct pw w;
	(void)state;
	pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type = PW_S_IDENTIFIER | PW_S_IP | PW_S_TID |
						     PW_S_TIME | PW_S_CPU,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		for (uint64_t ms = 1; ms <= 5; ms++)
			pw_sample(&w, 0,
				  &(struct pw_sample){.ip = 0x2000,
						      .pid = 20,
						      .tid = 20,
						      .cpu = cpu,
						      .time = (ms + cpu) * MS,
						      .id = 11});
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct pw_id id = at_ms(9, 20);
		id.cpu = cpu;
		pw_lost(&w, &id, 11, 100);
	}
	assert_int_equal(pw_finish(&w, &image), 0);
	struct history *h = fed(&image, 65536);
	struct history_loss x = history_take_loss(h);
	assert_int_equal(x.records, 200);
	assert_int_equal(x.cpus, 2);
	assert_int_equal(x.from_ns, 5 * MS);
	assert_int_equal(x.to_ns, 9 * MS);
	assert_int_equal(history_take_loss(h).records, 0);
	history_free(h);
	buf_release(&image);
}

static void memory_does_not_grow_with_the_stream(void **state)
{
	uint64_t bytes[2];
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct buf image = {0};
		struct history_status s;
		stream_of(&image, i ? 400000 : 20000);
		struct history *h = fed(&image, 65536);
		history_status(h, &s);
		bytes[i] = s.bytes;
		assert_true(s.records > (i ? 70000 : 3000));
		history_free(h);
		buf_release(&image);
	}
	assert_int_equal(bytes[0], bytes[1]);
}

/* What no answer has seen is not forgotten: reading waits, and goes on where it was. */
static void nothing_unseen_is_forgotten(void **state)
{
	struct buf image = {0};
	struct history *h;
	struct err e = {0};
	struct history_status s;
	size_t used, at = 0;
	uint64_t covered = 0;
	int rc, times = 0;
	(void)state;
	stream_of(&image, 8000);
	assert_int_equal(
		history_new(&h, (struct history_limits){(uint64_t)LIMIT_MS * MS, 64 << 20}, &e),
		0);
	while (at < image.n) {
		rc = history_add(h, (const uint8_t *)image.v + at,
				 image.n - at < 1000 ? image.n - at : 1000, &used, &e);
		at += used;
		assert_true(rc >= 0);
		if (rc) {
			times++;
			history_status(h, &s);
			assert_true(s.newest_ns - s.oldest_ns >= LIMIT_MS * (uint64_t)MS);
			/* a wait that had not ended for the last answer is in this one */
			assert_true(times == 1 || s.oldest_ns <= covered);
			covered = s.safe_ns;
			history_seen(h);
		}
	}
	history_status(h, &s);
	assert_true(times >= 2);
	assert_int_equal(s.newest_ns, 7995ull * MS);
	assert_int_equal(history_forget(h, 7000ull * MS, &e), 0);
	history_status(h, &s);
	assert_in_range(s.oldest_ns, 6400ull * MS, 7000ull * MS);
	history_free(h);
	buf_release(&image);
}

/* A round that exceeds the limits is dropped before it ends, so no answer can cover all of it. */
static void what_a_large_round_drops_is_told(void **state)
{
	(void)state;
	for (int large = 0; large < 2; large++) {
		struct buf image = {0};
		struct pw w;
		uint8_t raw[1000] = {0};
		pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
		pw_attr(&w, &(struct pw_attr){.type = 1,
					      .sample_type = PW_S_IDENTIFIER | PW_S_IP |
							     PW_S_TID | PW_S_TIME | PW_S_RAW,
					      .flags = PW_SAMPLE_ID_ALL,
					      .ids = ids,
					      .nids = 1});
		for (uint64_t ms = 1; ms <= 8000; ms++) {
			pw_sample(&w, 0,
				  &(struct pw_sample){.ip = 0x2000,
						      .pid = 20,
						      .tid = 20,
						      .time = ms * MS,
						      .id = 11,
						      .raw = raw,
						      .raw_size = sizeof(raw)});
			if (ms % 100 == 0 && !(large && ms > 2000 && ms < 7000))
				pw_finished_round(&w);
		}
		assert_int_equal(pw_finish(&w, &image), 0);
		struct history *h = fed_within(&image, 65536, 2 << 20);
		struct history_loss x = history_take_loss(h);
		assert_int_equal(x.records, 0);
		if (large) {
			assert_in_range(x.unseen_from_ns, 1900ull * MS, 2000ull * MS);
			assert_in_range(x.unseen_to_ns, 4000ull * MS, 7000ull * MS);
		} else {
			assert_int_equal(x.unseen_to_ns, 0);
		}
		assert_int_equal(history_take_loss(h).unseen_to_ns, 0);
		history_free(h);
		buf_release(&image);
	}
}

static void other_streams_are_refused(void **state)
{
	static const char *const bad[] = {"# an hour of perf script",
					  "PERFILE2\150\0\0\0\0\0\0\0"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct history *h;
		struct err e = {0};
		size_t used;
		assert_int_equal(history_new(&h, (struct history_limits){MS, 1 << 20}, &e), 0);
		assert_int_equal(history_add(h, (const uint8_t *)bad[i], 16, &used, &e),
				 ERR_FORMAT);
		history_free(h);
	}
}

static void processes_beyond_the_table_are_others(void **state)
{
	static struct watch_counts sum, one;
	(void)state;
	for (int i = 0; i < 2 * WATCH_PROCESSES; i++) {
		one = (struct watch_counts){.waits = 1, .longest_ns = (uint64_t)i};
		snprintf(one.process[0].name, WATCH_NAME, "p%d", i / 2 * 2);
		one.process[0].spikes[SPIKE_INFO] = 1;
		watch_counts_add(&sum, &one);
	}
	assert_int_equal(sum.waits, 2 * WATCH_PROCESSES);
	assert_int_equal(sum.longest_ns, 2 * WATCH_PROCESSES - 1);
	assert_int_equal(sum.process[3].spikes[SPIKE_INFO], 2);
	assert_int_equal(sum.other.spikes[SPIKE_INFO], 0);
	snprintf(one.process[0].name, WATCH_NAME, "last");
	watch_counts_add(&sum, &one);
	assert_int_equal(sum.other.spikes[SPIKE_INFO], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(older_chunks_leave_what_lives),
		cmocka_unit_test(memory_does_not_grow_with_the_stream),
		cmocka_unit_test(an_exit_may_come_before_its_fork),
		cmocka_unit_test(lost_exits_do_not_add_up),
		cmocka_unit_test(loss_is_a_span),
		cmocka_unit_test(nothing_unseen_is_forgotten),
		cmocka_unit_test(what_a_large_round_drops_is_told),
		cmocka_unit_test(other_streams_are_refused),
		cmocka_unit_test(processes_beyond_the_table_are_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
