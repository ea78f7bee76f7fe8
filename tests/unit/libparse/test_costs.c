/* libparse: input made to cost more than its size. What grew with the square of it, or with
 * what a few bytes claim to stand for, is read in the time and memory of its bytes. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "libparse/order.h"
#include "libparse/tracepoint.h"

#include <endian.h>
#include <time.h>

/* Seconds of processor time, a hundred times what any of these takes; each took longer. */
enum { LONG = 5 };

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static struct recording *open_image(struct pw *w, struct buf *image)
{
	struct recording *rec;
	struct err e = {0};
	assert_int_equal(pw_finish(w, image), 0);
	if (recording_open_mem(&rec, image->v, image->n, "image", &e))
		fail_msg("%s", e.msg);
	return rec;
}

/* --- compressed records ------------------------------------------------------------------ */

/* A COMPRESSED record of one zstd frame: blocks of 128 KB that are one byte over and over. */
static void put_bomb(struct pw *w, unsigned blocks, uint8_t byte)
{
	enum { BLOCK = 128 << 10, RLE = 1 };
	static const uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 0, (17 - 10) << 3};
	pw_rec_begin(w, PW_COMPRESSED, 0);
	pw_bytes(w, head, sizeof(head));
	for (unsigned i = 0; i < blocks; i++) {
		uint32_t h = BLOCK << 3 | RLE << 1 | (i == blocks - 1);
		uint8_t b[] = {(uint8_t)h, (uint8_t)(h >> 8), (uint8_t)(h >> 16), byte};
		pw_bytes(w, b, sizeof(b));
	}
	pw_rec_end(w, NULL);
}

static int read_bomb(unsigned blocks, uint8_t byte, struct recording_stats *stats)
{
	struct pw w;
	struct buf image = {0};
	struct record r;
	int got;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1, .sample_type = PW_S_IP});
	put_bomb(&w, blocks, byte);
	struct recording *rec = open_image(&w, &image);
	while ((got = recording_next(rec, &r, NULL)) == 1)
		;
	*stats = rec->stats;
	recording_close(rec);
	buf_release(&image);
	return got;
}

static void compressed_records_inflate_piece_by_piece(void **state)
{
	(void)state;
	enum { BLOCKS = 400, BYTES = BLOCKS << 17, SIZE = 0x0808 };
	struct recording_stats stats;
	/* records of 2056 bytes and an unknown type, and what is left of the last */
	assert_int_equal(read_bomb(BLOCKS, 8, &stats), 0);
	assert_int_equal(stats.unknown_types, BYTES / SIZE);
	assert_int_equal(stats.torn_bytes, BYTES % SIZE);
	/* no records at all */
	assert_int_equal(read_bomb(BLOCKS, 0, &stats), 0);
	assert_int_equal(stats.unknown_types, 0);
	assert_int_equal(stats.torn_bytes, BYTES);
}

static void what_compressed_records_come_to_is_bounded(void **state)
{
	(void)state;
	struct recording_stats stats;
	assert_int_equal(read_bomb(16000, 0, &stats), ERR_REFUSED);
	assert_true(stats.torn_bytes < 400 << 20);
}

/* --- events ------------------------------------------------------------------------------ */

static void events_of_a_pipe_cost_what_they_take(void **state)
{
	(void)state;
	enum { EVENTS = 30000, IDS = 10 };
	struct pw w;
	struct buf image = {0};
	uint64_t ids[IDS];
	double begin = seconds();
	pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
	for (uint64_t i = 0; i < EVENTS; i++) {
		for (uint64_t k = 0; k < IDS; k++)
			ids[k] = i * IDS + k;
		pw_attr(&w,
			&(struct pw_attr){
				.type = 1, .sample_type = PW_S_ID, .ids = ids, .nids = IDS});
	}
	pw_sample(&w, 0, &(struct pw_sample){.id = 1});
	struct recording *rec = open_image(&w, &image);
	assert_int_equal(rec->events.n, EVENTS);
	assert_int_equal(recording_event_of_id(rec, EVENTS * IDS - 1)->index, EVENTS - 1);
	recording_close(rec);
	buf_release(&image);
	assert_true(seconds() - begin < LONG);
}

/* Every group claims all events; only the first can have them. */
static void groups_that_overlap_are_none(void **state)
{
	(void)state;
	enum { EVENTS = 30000, GROUPS = 1000000 };
	struct pw w;
	struct buf image = {0}, groups = {0};
	const uint32_t count = htole32(GROUPS), group[] = {0, htole32(1), UINT32_MAX};
	double begin = seconds();
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	for (int i = 0; i < EVENTS; i++)
		pw_attr(&w, &(struct pw_attr){.type = 1, .sample_type = PW_S_IP});
	pw_sample(&w, 0, &(struct pw_sample){.ip = 1});
	buf_add(&groups, &count, sizeof(count));
	for (int i = 0; i < GROUPS; i++)
		buf_add(&groups, group, sizeof(group));
	pw_feature(&w, PW_FEAT_GROUP_DESC, groups.v, groups.n);
	struct recording *rec = open_image(&w, &image);
	assert_int_equal(rec->features.groups.n, GROUPS);
	assert_int_equal(rec->events.v[0].leader, 0);
	assert_int_equal(rec->events.v[EVENTS - 1].leader, 1);
	recording_close(rec);
	buf_release(&groups);
	buf_release(&image);
	assert_true(seconds() - begin < LONG);
}

static void names_of_old_tracepoints_are_looked_up(void **state)
{
	(void)state;
	enum { EVENTS = 60000 };
	struct pw w;
	struct buf image = {0};
	char name[32];
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE_V1});
	for (uint64_t i = 0; i < EVENTS; i++) {
		snprintf(name, sizeof(name), "sys:event%d", (int)i);
		pw_attr(&w, &(struct pw_attr){.type = 2,
					      .config = i / 2, /* the first name counts */
					      .sample_type = PW_S_IP,
					      .name = name});
	}
	pw_sample(&w, 0, &(struct pw_sample){.ip = 1});
	double begin = seconds();
	struct recording *rec = open_image(&w, &image);
	assert_true(seconds() - begin < LONG);
	assert_string_equal(rec->events.v[EVENTS - 2].name, "sys:event59998");
	assert_string_equal(rec->events.v[EVENTS - 1].name, "sys:event59998");
	recording_close(rec);
	buf_release(&image);
}

/* --- the order of time ------------------------------------------------------------------- */

/* Records that no round lets go, and one round after the other. */
static void rounds_do_not_look_at_dummy_times(void **state)
{
	(void)state;
	enum { N = 200000 };
	const uint64_t dummy = 0xffffffff00000000u;
	struct pw w;
	struct buf image = {0};
	struct order *o;
	struct ordered *next;
	uint64_t n = 0, last = 0;
	double begin = seconds();
	pw_begin(&w, &(struct pw_config){.mode = PW_PIPE});
	pw_attr(&w, &(struct pw_attr){.type = 1, .sample_type = PW_S_TIME});
	for (uint64_t i = 0; i < N; i++)
		pw_sample(&w, 0, &(struct pw_sample){.time = dummy + (i ^ 1)});
	for (uint64_t i = 0; i < N; i++) {
		pw_sample(&w, 0, &(struct pw_sample){.time = 1 + i});
		pw_finished_round(&w);
	}
	struct recording *rec = open_image(&w, &image);
	assert_int_equal(order_new(&o, rec, NULL), 0);
	for (; order_next(o, &next, NULL) == 1; n += next->id.has_time) {
		assert_true(next->id.time >= last);
		last = next->id.time;
	}
	assert_int_equal(n, 2 * N);
	order_free(o);
	recording_close(rec);
	buf_release(&image);
	assert_true(seconds() - begin < LONG);
}

/* --- formats ----------------------------------------------------------------------------- */

/* Events by the thousand may name a format, and each has its fields looked up in it. */
static void fields_of_a_format_are_counted(void **state)
{
	(void)state;
	static const char field[] = "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n";
	static const char last[] = "\tfield:int pid;\toffset:16;\tsize:4;\tsigned:1;\n";
	for (int n = 100; n <= 300; n += 200) {
		struct buf text = {0};
		struct tp_field f;
		buf_str(&text, "name: x\nID: 9\nformat:\n");
		for (int i = 0; i < n; i++)
			buf_str(&text, field);
		buf_str(&text, last);
		struct tracepoint tp = {.format = buf_cstr(&text)};
		assert_int_equal(tracepoint_field(&tp, "pid", &f), n == 100);
		buf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_records_inflate_piece_by_piece),
		cmocka_unit_test(what_compressed_records_come_to_is_bounded),
		cmocka_unit_test(events_of_a_pipe_cost_what_they_take),
		cmocka_unit_test(groups_that_overlap_are_none),
		cmocka_unit_test(names_of_old_tracepoints_are_looked_up),
		cmocka_unit_test(rounds_do_not_look_at_dummy_times),
		cmocka_unit_test(fields_of_a_format_are_counted),
	};
	return cmocka_run_group_tests_name("libparse costs", tests, NULL, NULL);
}
