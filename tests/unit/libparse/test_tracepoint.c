/* tracepoint, attr: what a record's fields say where libtraceevent may not read the format or
 * the record, and the names of events that have none in the file. The names are perf list's. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/torture.h"

#include "libparse/tracepoint.h"

/* --- fields and texts -------------------------------------------------------------------- */

#define FIELDS                                                                 \
	"format:\n"                                                            \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"                    \
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:1;\n"    \
	"\tfield:char comm[8];\toffset:16;\tsize:8;\tsigned:0;\n"              \
	"\tfield:unsigned short small;\toffset:24;\tsize:2;\tsigned:0;\n"      \
	"\tfield:signed char tiny;\toffset:26;\tsize:1;\tsigned:1;\n"          \
	"\tfield:unsigned long * where;\toffset:32;\tsize:8;\tsigned:0;\n"

enum { ODD = 41, PLAIN = 42, RAW = 48, NAME_AT = 40 };

/* The first has a print fmt that calls a function, which libtraceevent is not given. */
static const struct pw_tracepoint formats[] = {
	{"mine", "name: odd\nID: 41\n" FIELDS
		 "\tfield:__rel_loc char[] near;\toffset:28;\tsize:4;\tsigned:1;\n"
		 "\nprint fmt: \"%d\", do_it(REC->pid)\n"},
	{"mine", "name: plain\nID: 42\n" FIELDS
		 "\nprint fmt: \"pid %d, %s, %s\", REC->pid, __get_str(name), REC->comm\n"},
	{"other", "name: without_an_id\n" FIELDS "\nprint fmt: \"x\"\n"},
};

struct opened {
	struct buf image;
	struct recording *rec;
	struct tracepoints *t;
	uint8_t raw[RAW];
};

static void put(struct opened *o, size_t at, uint64_t x, size_t size, int big)
{
	for (size_t i = 0; i < size; i++)
		o->raw[at + (big ? size - 1 - i : i)] = (uint8_t)(x >> 8 * i);
}

static void open_tracepoints(struct opened *o, int big)
{
	static const uint64_t odd[] = {1}, plain[] = {2};
	struct pw w;
	*o = (struct opened){0};
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE, .big_endian = big});
	pw_attr(&w,
		&(struct pw_attr){
			.type = 2, .config = ODD, .name = "mine:odd", .ids = odd, .nids = 1});
	pw_attr(&w, &(struct pw_attr){.type = 2,
				      .config = PLAIN,
				      .name = "mine:plain",
				      .ids = plain,
				      .nids = 1});
	pw_finished_round(&w); /* without any record a file was never finished */
	pw_feature_string(&w, PW_FEAT_HOSTNAME, "host");
	pw_feature_event_desc(&w);
	pw_feature_tracing_data(&w, formats, 3);
	assert_int_equal(pw_finish(&w, &o->image), 0);
	assert_int_equal(recording_open_mem(&o->rec, o->image.v, o->image.n, "image", NULL), 0);
	assert_int_equal(tracepoints_new(&o->t, o->rec, NULL), 0);
	assert_string_equal(tracepoints_damage(o->t), "");
	put(o, 0, PLAIN, 2, big); /* libtraceevent asks the record for its type */
	put(o, 8, (uint64_t)-7, 4, big);
	put(o, 12, NAME_AT | 4 << 16, 4, big);
	memcpy(o->raw + 16, "server", 7);
	put(o, 24, 65535, 2, big);
	put(o, 26, 0xfe, 1, big);
	put(o, 28, (NAME_AT - 32) | 4 << 16, 4, big);
	put(o, 32, 0x123456789a, 8, big);
	memcpy(o->raw + NAME_AT, "abc", 4);
}

static void close_tracepoints(struct opened *o)
{
	tracepoints_free(o->t);
	recording_close(o->rec);
	buf_release(&o->image);
}

static void says(struct opened *o, const char *event, uint32_t size, const char *want)
{
	const struct event *ev = recording_find_event(o->rec, event);
	const struct tracepoint *tp = tracepoint_of(o->t, ev);
	struct buf text = {0};
	assert_non_null(tp);
	uint8_t *exact = mem_alloc(size); /* so that one byte too far is seen */
	memcpy(exact, o->raw, size);
	tracepoint_text(o->t, tp, exact, size, &text);
	assert_string_equal(buf_cstr(&text), want);
	buf_release(&text);
	mem_free(exact);
}

static void fields_are_told_by_name_where_the_format_is_not_to_be_had(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct opened o;
		open_tracepoints(&o, big);
		says(&o, "mine:odd", RAW,
		     "pid=-7 name=abc comm=server small=65535 tiny=-2 "
		     "where=78187493530 near=abc");
		says(&o, "mine:plain", RAW, "pid -7, abc, server");
		close_tracepoints(&o);
	}
}

static void a_record_cut_short_has_no_values_behind_its_end(void **state)
{
	(void)state;
	struct opened o;
	open_tracepoints(&o, 0);
	says(&o, "mine:odd", 26, "pid=-7 name= comm=server small=65535 tiny=0 where=0 near=");
	says(&o, "mine:plain", 26, "pid=-7 name= comm=server small=65535 tiny=0 where=0");
	says(&o, "mine:odd", 0, "pid=0 name= comm= small=0 tiny=0 where=0 near=");
	for (uint32_t size = 0; size < RAW; size++) {
		const struct event *ev = recording_find_event(o.rec, "mine:plain");
		struct buf text = {0};
		uint8_t *exact = mem_alloc(size);
		memcpy(exact, o.raw, size);
		tracepoint_text(o.t, tracepoint_of(o.t, ev), exact, size, &text);
		assert_int_equal(strncmp(buf_cstr(&text), "pid", 3), 0);
		buf_release(&text);
		mem_free(exact);
	}
	close_tracepoints(&o);
}

static void texts_without_an_end_are_empty(void **state)
{
	static const struct {
		uint32_t loc;
		const char *name;
	} rows[] = {{NAME_AT | 4 << 16, "abc"}, {NAME_AT | 3 << 16, ""}, {NAME_AT, ""},
		    {RAW | 1 << 16, ""},        {47 | 8 << 16, ""},      {0xffffffff, ""}};
	(void)state;
	struct opened o;
	open_tracepoints(&o, 0);
	memset(o.raw + 16, 'x', 8); /* comm without its end */
	memset(o.raw + NAME_AT + 4, 'y', RAW - NAME_AT - 4);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char want[128];
		put(&o, 12, rows[i].loc, 4, 0);
		snprintf(want, sizeof(want),
			 "pid=-7 name=%s comm= small=65535 tiny=-2 where=78187493530 near=abc",
			 rows[i].name);
		says(&o, "mine:odd", RAW, want);
	}
	close_tracepoints(&o);
}

static void formats_cut_anywhere_leave_those_in_front(void **state)
{
	(void)state;
	struct opened o;
	open_tracepoints(&o, 0);
	uint64_t whole = o.rec->features.tracing_data_size;
	const struct event *first = recording_find_event(o.rec, "mine:odd"),
			   *second = recording_find_event(o.rec, "mine:plain");
	int had = 0;
	for (uint64_t n = 0; n <= whole; n++) {
		struct tracepoints *t;
		uint8_t *exact = mem_alloc(n);
		memcpy(exact, o.rec->features.tracing_data, n);
		struct recording cut = *o.rec;
		cut.features.tracing_data = exact;
		cut.features.tracing_data_size = n;
		assert_int_equal(tracepoints_new(&t, &cut, NULL), 0);
		int has =
			(tracepoint_of(t, first) != NULL) + (tracepoint_of(t, second) != NULL);
		assert_true(has >= had);
		had = has;
		assert_true(has == 2 || !n || *tracepoints_damage(t));
		tracepoints_free(t);
		mem_free(exact);
	}
	assert_int_equal(had, 2);
	close_tracepoints(&o);
}

static void another_kind_of_tracing_data_is_told(void **state)
{
	static const uint8_t other[64] = "\x17\x08\x44trying";
	(void)state;
	struct opened o;
	struct tracepoints *t;
	open_tracepoints(&o, 0);
	struct recording rec = *o.rec;
	rec.features.tracing_data = other;
	rec.features.tracing_data_size = sizeof(other);
	assert_int_equal(tracepoints_new(&t, &rec, NULL), 0);
	assert_string_equal(tracepoints_damage(t), "tracing data: not in trace-cmd's format");
	assert_null(tracepoint_of(t, &rec.events.v[0]));
	tracepoints_free(t);
	close_tracepoints(&o);
}

/* --- names -------------------------------------------------------------------------------- */

static void an_event_without_a_name_is_called_as_perf_calls_it(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config, config1;
		const char *name;
	} rows[] = {
		{PERF_TYPE_HARDWARE, 0, 0, "cycles"},
		{PERF_TYPE_HARDWARE, 9, 0, "ref-cycles"},
		{PERF_TYPE_HARDWARE, 0xa00000001, 0, "instructions"}, /* of a hybrid's PMU */
		{PERF_TYPE_HARDWARE, 10, 0, "unknown attr type: 0"},
		{PERF_TYPE_SOFTWARE, 2, 0, "page-faults"},
		{PERF_TYPE_SOFTWARE, 11, 0, "cgroup-switches"},
		{PERF_TYPE_TRACEPOINT, 316, 0, "tracepoint 316"},
		{PERF_TYPE_HW_CACHE, 0x000000, 0, "L1-dcache-loads"},
		{PERF_TYPE_HW_CACHE, 0x010000, 0, "L1-dcache-load-misses"},
		{PERF_TYPE_HW_CACHE, 0x000100, 0, "L1-dcache-stores"},
		{PERF_TYPE_HW_CACHE, 0x010102, 0, "LLC-store-misses"},
		{PERF_TYPE_HW_CACHE, 0x000200, 0, "L1-dcache-prefetches"},
		{PERF_TYPE_HW_CACHE, 0x010204, 0, "iTLB-prefetch-misses"},
		{PERF_TYPE_HW_CACHE, 0x000005, 0, "branch-loads"},
		{PERF_TYPE_HW_CACHE, 0x010006, 0, "node-load-misses"},
		{PERF_TYPE_HW_CACHE, 0x000007, 0, "invalid-cache"},
		{PERF_TYPE_HW_CACHE, 0x000300, 0, "invalid-cache"},
		{PERF_TYPE_HW_CACHE, 0x020000, 0, "invalid-cache"},
		{PERF_TYPE_RAW, 0x1a2b, 0, "raw 0x1a2b"},
		{PERF_TYPE_BREAKPOINT, 0, 0x401000, "mem:0x401000"},
		{77, 0, 0, "unknown attr type: 77"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char name[64];
		struct event_attr a = {.type = rows[i].type,
				       .config = rows[i].config,
				       .config1 = rows[i].config1};
		assert_string_equal(event_default_name(&a, name, sizeof(name)), rows[i].name);
	}
}

static void an_attribute_cut_short_is_refused(void **state)
{
	static const uint8_t zeroes[136];
	(void)state;
	for (size_t n = 0; n < sizeof(zeroes); n++) {
		struct err e = {0};
		struct event_attr a;
		struct bytes b = bytes_init(zeroes, n, 0);
		assert_int_equal(attr_decode(&b, sizeof(zeroes), &a, &e), ERR_TRUNCATED);
		b = bytes_init(zeroes, n, 0);
		assert_int_equal(attr_decode(&b, n, &a, &e), n < 64 ? ERR_FORMAT : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_told_by_name_where_the_format_is_not_to_be_had),
		cmocka_unit_test(a_record_cut_short_has_no_values_behind_its_end),
		cmocka_unit_test(texts_without_an_end_are_empty),
		cmocka_unit_test(formats_cut_anywhere_leave_those_in_front),
		cmocka_unit_test(another_kind_of_tracing_data_is_told),
		cmocka_unit_test(an_event_without_a_name_is_called_as_perf_calls_it),
		cmocka_unit_test(an_attribute_cut_short_is_refused),
	};
	return cmocka_run_group_tests_name("libparse tracepoint", tests, NULL, NULL);
}
