/*
 * side: requests that a program logged, read and put on a timeline.
 */
#include "tests/unit/libtime/tailrig.h"

#include "libtime/join/side_file.h"
#include "libtime/side/when.h"

#include <unistd.h>

/* --- times ---------------------------------------------------------------------------- */

static uint64_t number(const char *s, uint64_t scale)
{
	uint64_t ns = 0;
	return when_number(s, strlen(s), scale, &ns) ? UINT64_MAX : ns;
}

static uint64_t iso(const char *s)
{
	uint64_t ns = 0;
	return when_iso(s, strlen(s), &ns) ? UINT64_MAX : ns;
}

static void numbers_keep_every_nanosecond(void **state)
{
	(void)state;
	assert_int_equal(number("1718000000.123456789", 1000000000), 1718000000123456789u);
	assert_int_equal(number("7183812494.1205", 1000), 7183812494120u);
	assert_int_equal(number("12", 1), 12);
	assert_int_equal(number("0.5", 1), 0);
	assert_int_equal(number("9223372036", 1000000000), UINT64_MAX);
	assert_int_equal(number("9999999999999999999999", 1), UINT64_MAX);
	const char *const bad[] = {"", "-1", "1e9", "1.", ".5", "1.5x", "0x10", " 1"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(number(bad[i], 1000), UINT64_MAX);
}

static void dates_need_their_zone(void **state)
{
	(void)state;
	assert_int_equal(iso("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(iso("2024-02-29T12:34:56.000000001Z"), 1709210096000000001u);
	assert_int_equal(iso("2026-11-22 19:50:29,5+01:00"), iso("2026-11-22T18:50:29.5Z"));
	assert_int_equal(iso("2026-11-22T18:50:29-0530"), iso("2026-11-23T00:20:29Z"));
	const char *const bad[] = {"2026-11-22T18:50:29",  "2026-13-22T18:50:29Z",
				   "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00",
				   "2026-11-22",           "2026-11-22T18:50:29.Z",
				   "2026-11-22T18:50:29Zx"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(iso(bad[i]), UINT64_MAX);
}

/* --- files ---------------------------------------------------------------------------- */

struct given {
	struct strtab strings;
	struct side side;
	struct err e;
	int rc;
};

static struct given *read_text(struct given *g, const char *s)
{
	struct source src;
	*g = (struct given){.rc = 0};
	g->side.strings = &g->strings;
	assert_int_equal(source_open_mem(&src, s, strlen(s), "test", NULL), 0);
	g->rc = side_file_read(&g->side, &src, &g->e);
	source_close(&src);
	return g;
}

static void forget(struct given *g)
{
	side_release(&g->side);
	strtab_release(&g->strings);
}

static const char *value(const struct given *g, size_t span, const char *key)
{
	const struct side_span *s = &g->side.spans.v[span];
	for (uint32_t i = s->label; i < s->label + s->nlabels; i++)
		if (!strcmp(strtab_get(&g->strings, g->side.labels.v[i].key), key))
			return strtab_get(&g->strings, g->side.labels.v[i].value);
	return NULL;
}

static void csv_columns_are_found_by_name(void **state)
{
	struct given g;
	(void)state;
	read_text(&g, "\xef\xbb\xbfroute;Duration_us;START_ms;tid;id;name\r\n"
		      "\"/pay;\"\"x\"\"\";1.5;2;7;r1;pay\r\n"
		      "\n"
		      ";0;3;;r2;\n");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.side.spans.n, 2);
	const struct side_span *s = g.side.spans.v;
	assert_int_equal(s[0].start_ns, 2000000);
	assert_int_equal(s[0].end_ns, 2001500);
	assert_int_equal(s[0].tid, 7);
	assert_int_equal(s[0].pid, -1);
	assert_string_equal(strtab_get(&g.strings, s[0].key), "r1");
	assert_string_equal(strtab_get(&g.strings, s[0].name), "pay");
	assert_string_equal(value(&g, 0, "route"), "/pay;\"x\"");
	assert_int_equal(s[1].tid, -1);
	assert_int_equal(s[1].nlabels, 0);
	assert_string_equal(strtab_get(&g.strings, s[1].name), "request");
	assert_int_equal(g.side.clock, SIDE_CLOCK_UNKNOWN);
	forget(&g);
}

static void broken_rows_are_told_by_line_and_the_rest_is_used(void **state)
{
	struct given g;
	(void)state;
	read_text(&g, "start,end_ns,note\n"
		      "2026-11-22T18:50:29Z,1795373430000000000,\"two\nlines\"\n"
		      "2026-11-22T18:50:29Z,1,late\n"
		      "2026-11-22T18:50:29Z,1795373430000000000\n"
		      "noon,1795373430000000000,x\n"
		      "2026-11-22T18:50:29Z,1795373430000000000,\"open\n"
		      "2026-11-22T18:50:29Z,1795373430000000000,last");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.side.clock, SIDE_CLOCK_REAL);
	assert_int_equal(g.side.spans.n, 2);
	assert_string_equal(value(&g, 0, "note"), "two\nlines");
	assert_string_equal(value(&g, 1, "note"), "last");
	assert_int_equal(g.side.rows, 6);
	assert_int_equal(g.side.bad.n, 4);
	assert_int_equal(g.side.bad.first[0].line, 4);
	assert_string_equal(g.side.bad.first[0].why, "it ends before it begins");
	assert_int_equal(g.side.bad.first[1].line, 5);
	assert_int_equal(g.side.bad.first[2].line, 6);
	assert_int_equal(g.side.bad.first[3].line, 7);
	assert_string_equal(g.side.bad.first[3].why, "a quote is not closed");
	forget(&g);
}

static void refused(const char *s, const char *why)
{
	struct given g;
	read_text(&g, s);
	assert_int_equal(g.rc, ERR_FORMAT);
	assert_non_null(strstr(g.e.msg, why));
	forget(&g);
}

static void files_that_will_not_do_are_refused_with_the_reason(void **state)
{
	(void)state;
	refused("", "empty");
	refused("a,b\n1,2\n", "not a known kind of side file");
	refused("start_us,tid\n1,2\n", "line 1");
	refused("start_us,duration\n1,2\n", "duration has no unit");
	refused("start_us,end_us,begin_ns\n1,2,3\n", "twice");
	refused("start_us,end_us\n2,1\n", "line 2: it ends before it begins");
	refused("start_us,end_us\n", "no spans, labels or gaps in it");
	refused("start_us,end_us,route,route\n1,2,a,b\n", "twice");
	refused("start_us,end_us\n-1,2\n", "line 2: a time is negative");
	refused("start_us,end_us\n1,99999999999999999999\n",
		"line 2: a time is not a number below");
	refused("\xff\xfes", "UTF-16");
	refused("start_ns,end_ns,\"a\nb\"\n1,2\n", "line 3: it has too few cells");
}

/* --- on a timeline -------------------------------------------------------------------- */

static struct side_report added;

static int add_text(struct rig *r, const char *s, const char *option, struct err *e)
{
	char name[64], text[128];
	struct side_option o;
	snprintf(name, sizeof(name), "/tmp/perfkit-side-%d", (int)getpid());
	FILE *f = fopen(name, "we");
	assert_non_null(f);
	fputs(s, f);
	fclose(f);
	snprintf(text, sizeof(text), "%s%s", name, option);
	assert_int_equal(side_option_parse(text, &o, e), 0);
	assert_string_equal(o.path.v, name);
	int rc = side_file_add(&r->tl, NULL, &o, &added, e);
	side_option_release(&o);
	unlink(name);
	return rc;
}

static void recorded_on(struct rig *r, const char *clock, uint64_t wall_ns)
{
	r->tl.rec.clock = text(r, clock);
	r->tl.rec.wall_ns = wall_ns;
	r->tl.rec.wall_exact = wall_ns != 0;
}

static void spans_get_the_thread_that_had_the_tid_then(void **state)
{
	struct rig r;
	struct err e = {0};
	(void)state;
	rig_init(&r, 100000);
	uint32_t a = thread(&r, "a", 7, 0), b = thread(&r, "b", 7, 0);
	thread(&r, "c", 8, 0);
	off(&r, a, 10, 15, 20, CAUSE_IO, "a;read");
	finish(&r);
	r.tl.threads.v[a].last_ns = 50000000;
	r.tl.threads.v[b].first_ns = 50000000;
	recorded_on(&r, "CLOCK_MONOTONIC", 0);
	assert_int_equal(add_text(&r,
				  "start_us,end_us,pid,tid,key\n"
				  "0,30,,7,one\n60000,60010,100,7,two\n49990,50010,,7,both\n"
				  "5,6,,99,nobody\n7,8,100,,many\n200000,200001,,7,late\n"
				  "99999,100007,,8,edge\n",
				  "", &e),
			 0);
	assert_int_equal(added.map.from, SIDE_CLOCK_MONO);
	assert_true(added.map.guessed);
	assert_int_equal(added.counts.spans, 6);
	assert_int_equal(added.counts.outside, 1);
	assert_int_equal(added.counts.unmatched, 2);
	assert_int_equal(added.counts.threadless, 1);
	const struct tl_span *s = r.tl.spans.v;
	assert_string_equal(strtab_get(&r.stacks.strings, s[0].key_text), "one");
	assert_int_equal(s[0].thread, a);
	assert_int_equal(s[0].blocked_ns, 5000);
	assert_int_equal(s[0].runnable_ns, 5000);
	assert_int_equal(s[0].run_ns, 20000);
	assert_int_equal(s[1].thread, TL_NONE);
	assert_int_equal(s[2].pid, 100);
	assert_int_equal(s[3].thread, TL_NONE);
	assert_int_equal(s[4].thread, b);
	assert_int_equal(s[5].flags, OFF_OPEN);
	assert_int_equal(s[5].end_ns, 100007000);
	rig_release(&r);
}

static void clocks_match_or_are_refused_with_the_option(void **state)
{
	const char *csv = "start_us,end_us,tid\n10,20,7\n";
	struct rig r;
	struct err e = {0};
	(void)state;
	rig_init(&r, 1000);
	thread(&r, "a", 7, 0);
	finish(&r);
	recorded_on(&r, "perf", 0);
	assert_int_equal(add_text(&r, csv, "", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "perf record -k CLOCK_MONOTONIC"));
	assert_int_equal(add_text(&r, csv, ",clock=raw", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "-k CLOCK_MONOTONIC_RAW"));
	assert_int_equal(r.tl.spans.n, 0);
	assert_int_equal(add_text(&r, csv, ",offset=500", &e), 0);
	assert_int_equal(r.tl.spans.v[0].start_ns, 10500);
	recorded_on(&r, "CLOCK_MONOTONIC_RAW", 1790000000000000000u);
	assert_int_equal(add_text(&r, "start_ns,duration_ns\n1790000000000000100,7\n", "", &e),
			 0);
	assert_int_equal(added.map.from, SIDE_CLOCK_REAL);
	assert_int_equal(added.map.error_ns, 1000 + 1000000 / 2000);
	assert_int_equal(r.tl.spans.v[0].start_ns, 100);
	assert_int_equal(r.tl.spans.v[0].end_ns, 107);
	assert_int_equal(add_text(&r, "start_s,end_s\n5,6\n", "", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "outside of the recording"));
	rig_release(&r);
}

static void counters_and_anchors_are_mapped(void **state)
{
	const char *csv = "start_ns,duration_ns,tid\n40000,200,7\n";
	struct rig r;
	struct err e = {0};
	(void)state;
	rig_init(&r, 1000);
	thread(&r, "a", 7, 0);
	finish(&r);
	recorded_on(&r, "perf", 0);
	assert_int_equal(add_text(&r, csv, ",clock=tsc", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "perf record -k CLOCK_MONOTONIC"));
	recorded_on(&r, "CLOCK_MONOTONIC", 0);
	assert_int_equal(add_text(&r, csv, ",clock=tsc", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "perf record without -k"));
	r.tl.rec.tsc = (struct time_conv){.mult = 3, .shift = 2, .zero_ns = 1000};
	recorded_on(&r, "perf", 0);
	assert_int_equal(add_text(&r, csv, ",clock=tsc,offset=-5", &e), 0);
	assert_int_equal(added.map.error_ns, 0);
	assert_int_equal(r.tl.spans.v[0].start_ns, 1000 + 30000 - 5);
	assert_int_equal(r.tl.spans.v[0].end_ns, 1000 + 30150 - 5);
	assert_int_equal(add_text(&r, "start_ns,duration_ns\n4000000000,8\n", ",clock=tsc", &e),
			 ERR_REFUSED);
	assert_non_null(strstr(e.msg, "(3.000001 to 3.000001 s on perf) "));
	/* gaps on mono, the recording on raw; one runs 100 ppm faster */
	const char *gaps = "perfkit-gaps v1\nclock mono\nanchor 5000000 7000 1 30\n"
			   "gap 0 5300000 5300100\ngap 0 4990000 5000000\n"
			   "anchor 15000000 10008000 2 40\n";
	recorded_on(&r, "CLOCK_MONOTONIC_RAW", 0);
	assert_int_equal(add_text(&r, gaps, "", &e), 0);
	assert_int_equal(added.map.error_ns, 40 + 10000000 / 2000);
	assert_int_equal(r.tl.gaps.n, 1); /* the other began before the clock did */
	assert_int_equal(r.tl.gaps.v[0].start_ns, 7000 + 300030);
	recorded_on(&r, "CLOCK_MONOTONIC", 0);
	assert_int_equal(add_text(&r, gaps, "", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "outside of the recording"));
	/* set by 2 ms between its anchors: where a gap lies is not known */
	const char *set = "perfkit-gaps v1\nclock mono\nanchor 5000000 7000 1 30\n"
			  "gap 0 5300000 5300100\nanchor 15000000 12007000 2 40\n";
	recorded_on(&r, "CLOCK_MONOTONIC_RAW", 0);
	assert_int_equal(add_text(&r, set, "", &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "between its anchors 0.010000 s passed on "
				      "CLOCK_MONOTONIC and 0.012000 s"));
	rig_release(&r);
}

static void requests_side_by_side_are_no_threads_own(void **state)
{
	struct rig r;
	struct err e = {0};
	(void)state;
	rig_init(&r, 1000);
	thread(&r, "loop", 7, 0);
	finish(&r);
	recorded_on(&r, "CLOCK_MONOTONIC", 0);
	/* req holds step; a and b cross, c begins before b has ended; d stands alone */
	assert_int_equal(add_text(&r,
				  "start_us,end_us,tid,name,key\n"
				  "0,90,7,req,r\n10,20,7,step,s\n"
				  "100,200,7,req,a\n150,300,7,req,b\n250,260,7,step,c\n"
				  "300,400,7,req,d\n500,600,7,req,e\n510,520,7,req,f\n",
				  ",clock=mono", &e),
			 0);
	assert_int_equal(added.counts.overlapped, 5);
	char keys[16] = "";
	for (size_t i = 0; i < r.tl.spans.n; i++)
		if (!(r.tl.spans.v[i].flags & SPAN_OVERLAPPED))
			strcat(keys, strtab_get(&r.stacks.strings, r.tl.spans.v[i].key_text));
	assert_string_equal(keys, "rsd");
	rig_release(&r);
}

static void options_are_told_from_names(void **state)
{
	struct side_option o;
	struct err e = {0};
	(void)state;
	assert_int_equal(side_option_parse("a,b.csv,offset=-5,clock=real", &o, &e), 0);
	assert_string_equal(o.path.v, "a,b.csv");
	assert_int_equal(o.clock, SIDE_CLOCK_REAL);
	assert_int_equal(o.offset_ns, -5);
	side_option_release(&o);
	const char *const bad[] = {"a,clock=sun", "a,offset=x", "a,offset=", ",clock=mono"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(side_option_parse(bad[i], &o, &e), ERR_USAGE);
		side_option_release(&o);
	}
}

/* --- OTLP and Chrome ------------------------------------------------------------------ */

#define OTLP_SPAN(id, parent, from, to, more)                                                 \
	"{\"traceId\":\"aa\",\"spanId\":\"000000000000000" id "\",\"parentSpanId\":\"" parent \
	"\",\"name\":\"n" id "\",\"startTimeUnixNano\":\"" from                               \
	"\",\"endTimeUnixNano\":" to more "}"
#define OTLP(resource, spans)                                                              \
	"{\"resourceSpans\":[{" resource "\"scopeSpans\":[{\"scope\":{},\"spans\":[" spans \
	"]}]}]}\n"
#define RESOURCE                                                                              \
	"\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":" \
	"\"shop\"}},{\"value\":{\"intValue\":\"100\"},\"key\":\"process.pid\"}]}"

static void otlp_spans_have_their_resource_and_attributes(void **state)
{
	struct given g;
	(void)state;
	read_text(&g,
		  OTLP(RESOURCE ",",
		       OTLP_SPAN("1", "", "1000", "\"2000\"",
				 ",\"attributes\":[{\"key\":\"http.route\",\"value\":{"
				 "\"stringValue\":\"/p\\u00e4y\\n\"}},{\"key\":\"thread.id\","
				 "\"value\":{\"intValue\":7}},{\"key\":\"thread.name\","
				 "\"value\":"
				 "{\"stringValue\":\"w\"}},{\"key\":\"list\",\"value\":{"
				 "\"arrayValue\":{\"values\":[{\"intValue\":1}]}}}],"
				 "\"status\":{\"code\":2}")) "{\"resourceMetrics\":[]}\n"
							     "{\"resourceSpans\":[{"
							     "\"scopeSp\n" /* torn */
							     "\n"
							     /* spans before their resource;
								no end; no thread name */
							     "{\"resourceSpans\":[{"
							     "\"scopeSpans\":[{\"spans\":"
							     "[" OTLP_SPAN(
								     "2", "0000000000000001",
								     "1100", "1200",
								     ",\"attributes\":[{"
								     "\"key\":\"thread.id\","
								     "\"value\":{"
								     "\"intValue\":"
								     "\"7\"}}]") ",{\"name\":"
										 "\"x\","
										 "\"startTime"
										 "UnixNano\":"
										 "1}]}]"
										 "," RESOURCE
										 "}]}");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.side.clock, SIDE_CLOCK_REAL);
	assert_int_equal(g.side.spans.n, 2);
	const struct side_span *s = g.side.spans.v;
	assert_int_equal(s[0].start_ns, 1000);
	assert_int_equal(s[0].end_ns, 2000);
	assert_int_equal(side_link_of(&g.side, &s[0])->id, 1);
	assert_int_equal(s[0].pid, 100);
	assert_int_equal(s[0].tid, 7);
	assert_string_equal(strtab_get(&g.strings, side_link_of(&g.side, &s[0])->thread_name),
			    "w");
	assert_string_equal(value(&g, 0, "http.route"), "/p\xc3\xa4y\n");
	assert_string_equal(value(&g, 0, "service.name"), "shop");
	assert_string_equal(value(&g, 0, "status"), "error");
	assert_null(value(&g, 0, "list"));
	assert_int_equal(side_link_of(&g.side, &s[1])->parent, 1);
	assert_int_equal(s[1].tid, -1);
	assert_int_equal(s[1].pid, 100);
	assert_string_equal(value(&g, 1, "service.name"), "shop");
	assert_int_equal(g.side.bad.n, 2);
	assert_int_equal(g.side.bad.first[0].line, 3);
	assert_int_equal(g.side.bad.first[1].line, 5);
	forget(&g);
}

static void a_document_written_for_people_is_read_whole(void **state)
{
	struct given g;
	(void)state;
	read_text(&g,
		  "{\n \"resourceSpans\": [\n{ \"scopeSpans\": [ {\n\"spans\": [\n" OTLP_SPAN(
			  "1", "", "5", "6", "") "\n] } ]\n} ]\n}\n");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.side.spans.n, 1);
	assert_int_equal(g.side.bad.n, 0);
	forget(&g);
}

static void otlp_joins_threads_by_tid_and_name_or_by_process(void **state)
{
	struct rig r;
	struct err e = {0};
	(void)state;
	rig_init(&r, 1000);
	uint32_t w = thread(&r, "w", 7, 0);
	thread(&r, "other", 8, 0);
	finish(&r);
	recorded_on(&r, "CLOCK_MONOTONIC", 1790000000000000000u);
#define WALL(us) "1790000000000" us "000"
#define NAMED(tid, name)                                                                      \
	",\"attributes\":[{\"key\":\"thread.id\",\"value\":{\"intValue\":" tid "}},{\"key\":" \
	"\"thread.name\",\"value\":{\"stringValue\":\"" name "\"}}]"
	assert_int_equal(
		add_text(
			&r,
			OTLP(RESOURCE ",",
			     OTLP_SPAN("1", "", WALL("100"), WALL("200"), NAMED("7", "w")) "," OTLP_SPAN(
				     "2", "", WALL("300"), WALL("310"),
				     NAMED("1",
					   "w")) "," OTLP_SPAN("3", "", WALL("400"),
							       WALL("410"),
							       NAMED("7",
								     "x")) "," OTLP_SPAN("4",
											 "",
											 WALL("500"),
											 WALL("510"),
											 "") ","
			     /* a child; and, side by side with it, another's */
			     OTLP_SPAN("5", "0000000000000001", WALL("110"), WALL("150"),
				       NAMED("7", "w")) "," OTLP_SPAN("6", "", WALL("160"),
								      WALL("190"),
								      NAMED("7", "w"))),
			"", &e),
		0);
	assert_int_equal(added.map.error_ns, 1000);
	const struct tl_span *s = r.tl.spans.v;
	assert_int_equal(s[0].thread, w);
	assert_int_equal(s[0].start_ns, 100000);
	assert_true(s[0].flags & SPAN_OVERLAPPED); /* 6 is not its child */
	assert_int_equal(s[1].parent, 0);
	assert_false(s[1].flags & SPAN_OVERLAPPED);
	assert_true(s[2].flags & SPAN_OVERLAPPED);
	assert_int_equal(s[3].thread, w);       /* 2: by its process and name */
	assert_int_equal(s[4].thread, TL_NONE); /* 3: the names differ */
	assert_int_equal(s[5].thread, TL_NONE); /* 4: the process has two threads */
	assert_int_equal(s[5].pid, 100);
	rig_release(&r);
}

static void chrome_events_become_spans(void **state)
{
	struct given g;
	(void)state;
	read_text(&g, "{\"otherData\":{},\"traceEvents\":[\n"
		      "{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":\"w\"}},\n"
		      "{\"ph\":\"X\",\"ts\":1.5,\"dur\":2,\"pid\":100,\"tid\":7,\"name\":\"f\","
		      "\"args\":{\"route\":\"/a\",\"n\":3,\"deep\":{\"x\":1}}},\n"
		      "{\"ph\":\"B\",\"ts\":10,\"pid\":100,\"tid\":7,\"name\":\"g\",\"args\":{"
		      "\"k\":1}},\n"
		      "{\"ph\":\"B\",\"ts\":11,\"pid\":100,\"tid\":7,\"name\":\"h\"},\n"
		      "{\"ph\":\"E\",\"ts\":12,\"pid\":100,\"tid\":7},\n"
		      "{\"ph\":\"b\",\"ts\":13,\"id\":\"0x1\",\"pid\":100,\"tid\":7,\"name\":"
		      "\"a\"},\n"
		      "{\"ph\":\"E\",\"ts\":14,\"pid\":100,\"tid\":7,\"args\":{\"l\":2}},\n"
		      "{\"ph\":\"E\",\"ts\":15,\"pid\":100,\"tid\":7},\n"
		      "{\"ph\":\"e\",\"ts\":16,\"id\":\"0x1\",\"pid\":100,\"tid\":8,\"name\":"
		      "\"a\"},\n"
		      "{\"ph\":\"X\",\"ts\":-1,\"dur\":2,\"name\":\"f\"},\n"
		      "{\"ph\":\"X\",\"ts\":20,\"dur\":1,\"tid\":\"main\",\"name\":\"i\"},\n"
		      "{\"ph\":\"X\",\"ts\":30,\"dur\":1,\"pid\":9,\"name\":\"u\",\"args\":{"
		      "\"k\":8}},\n"
		      "{\"ph\":\"X\",\"ts\":2");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.side.nesting, NEST_ANY);
	assert_int_equal(g.side.spans.n, 6);
	static const struct {
		const char *name;
		uint64_t start, end;
		int tid;
	} want[] = {{"f", 1500, 3500, 7},   {"h", 11000, 12000, 7},  {"g", 10000, 14000, 7},
		    {"a", 13000, 16000, 7}, {"i", 20000, 21000, -1}, {"u", 30000, 31000, 9}};
	for (size_t i = 0; i < 6; i++) {
		const struct side_span *s = &g.side.spans.v[i];
		assert_string_equal(strtab_get(&g.strings, s->name), want[i].name);
		assert_int_equal(s->start_ns, want[i].start);
		assert_int_equal(s->end_ns, want[i].end);
		assert_int_equal(s->tid, want[i].tid);
	}
	assert_string_equal(value(&g, 0, "route"), "/a");
	assert_string_equal(value(&g, 0, "n"), "3");
	assert_int_equal(g.side.spans.v[1].nlabels, 0);
	assert_string_equal(value(&g, 2, "k"), "1");
	assert_string_equal(value(&g, 2, "l"), "2");
	assert_int_equal(g.side.spans.v[3].flags, SIDE_NO_THREAD);
	assert_int_equal(g.side.bad.n, 3);
	assert_int_equal(g.side.bad.first[0].line, 9);
	assert_int_equal(g.side.bad.first[1].line, 11);
	assert_int_equal(g.side.bad.first[2].line, 14);
	forget(&g);
	refused("{\"a\":1}", "neither OTLP");
	refused("[1,2]", "neither OTLP");
	refused("[{\"resourceSpans\":[]}]", "neither OTLP");
	refused("{\"traceEvents\":[]}", "no spans");
	refused("{\"traceEvents\":[", "line 1: the list of events is torn");
	refused("[\n[[\n", "line 3: the list of events is torn");
	refused("{\"traceEvents\":[\n{\"ph\":\"M\"} {}\n]}",
		"line 2: it is no JSON from here on");
	read_text(&g, "[\n{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"f\"},\n");
	assert_int_equal(g.rc, 0);
	assert_int_equal(g.side.spans.n, 1);
	assert_int_equal(g.side.bad.n, 0);
	forget(&g);
	refused("{\"resourceMetrics\":[]}\n", "no spans");
	refused("[{\"ph\":\"X\"]", "line 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_every_nanosecond),
		cmocka_unit_test(dates_need_their_zone),
		cmocka_unit_test(csv_columns_are_found_by_name),
		cmocka_unit_test(broken_rows_are_told_by_line_and_the_rest_is_used),
		cmocka_unit_test(files_that_will_not_do_are_refused_with_the_reason),
		cmocka_unit_test(spans_get_the_thread_that_had_the_tid_then),
		cmocka_unit_test(clocks_match_or_are_refused_with_the_option),
		cmocka_unit_test(counters_and_anchors_are_mapped),
		cmocka_unit_test(requests_side_by_side_are_no_threads_own),
		cmocka_unit_test(options_are_told_from_names),
		cmocka_unit_test(otlp_spans_have_their_resource_and_attributes),
		cmocka_unit_test(a_document_written_for_people_is_read_whole),
		cmocka_unit_test(otlp_joins_threads_by_tid_and_name_or_by_process),
		cmocka_unit_test(chrome_events_become_spans),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
