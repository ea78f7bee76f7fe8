/* libtime: the line of a remedy, from the one that was recorded and what is to change in it.
 */
#include "tests/lib/unit.h"

#include "libparse/recording.h"
#include "libtime/record/plan.h"

#include <stdlib.h>

#define SCHED_REST                                     \
	" -e sched:sched_waking -e sched:sched_wakeup" \
	" -e sched:sched_wakeup_new -e sched:sched_process_exit"
#define SCHED_EVENTS " -e sched:sched_switch" SCHED_REST

/* Where set, what is said of the line is asked for, not the line. */
static const struct remedy *recorded;

/* "NUMBER OPTION", of the effect; "; " between them. */
static int list_option(void *out, enum option_effect effect, const char *option)
{
	struct buf *b = out;
	buf_fmt(b, "%s%d %s", b->n ? "; " : "", (int)effect, option);
	return 0;
}

enum { LINE = 600, WORDS = 40 };

/* A recording by this line, whose words "|" separates. */
static struct recording recorded_by(const char *line, char text[LINE], const char *words[WORDS])
{
	struct recording rec = {.features = {.argv = words, .cpus_online = 4}};
	char *save = NULL;
	snprintf(text, LINE, "%s", line ? line : "");
	for (char *w = strtok_r(text, "|", &save); w; w = strtok_r(NULL, "|", &save))
		words[rec.features.nargv++] = w;
	return rec;
}

/* The remedy for a recorded line. */
static const char *remedy_of_events(const char *line, struct event *events, size_t nevents,
				    const struct remedy *r, struct buf *out)
{
	char text[LINE];
	const char *words[WORDS];
	struct recording rec = recorded_by(line, text, words);
	rec.events.v = events;
	rec.events.n = nevents;
	struct record_plan p;
	if (recorded) {
		assert_int_equal(remedy_why(&rec, r, recorded, list_option, out), 0);
		return buf_cstr(out);
	}
	assert_int_equal(
		record_plan(&p,
			    &(struct record_wish){.perf = "perf", .like = &rec, .change = *r},
			    NULL),
		0);
	record_plan_line(out, &p);
	record_plan_release(&p);
	return buf_cstr(out);
}

static const char *remedy_of(const char *line, struct event *events, const struct remedy *r,
			     struct buf *out)
{
	return remedy_of_events(line, events, 2, r, out);
}

/* A recorded line, its words between bars, what is to change, and the line that does it. */
static const struct {
	const char *line;
	struct remedy r;
	const char *want;
} kept[] = {
	/* options of the command are the command's */
	{"perf|record|-c|5|-g|-o|x.data|./server|-F|5",
	 {.max_freq = 99},
	 "perf record -F 99 -g -- ./server -F 5"},
	{"/usr/bin/perf|record|-F99|-e|cycles|--|./a",
	 {.clock = 1},
	 "perf record -k CLOCK_MONOTONIC -F 99 -e cycles -- ./a"},
	{"perf_6.1|record|--freq=99|--call-g|fp|true",
	 {.dump = 4096},
	 "perf record --call-graph dwarf,4096 --freq=99 -- true"},
	/* a rate goes to the events it is meant for */
	{"perf|record|-F|99|-e|cycles:u,probe:x_|./a",
	 {.every = 1},
	 "perf record -e cycles/freq=99/u,probe:x_ -- ./a"},
	{"perf|record|-c|1000|-e|cpu/event=0x3c/,cycles|-e|probe:u|./a",
	 {.every = 1},
	 "perf record -e cpu/event=0x3c,period=1000/,cycles/period=1000/ -e probe:u "
	 "-- ./a"},
	{"perf|record|-e|cycles/freq=9000,name=x/,page-faults/period=1/|-e|a:b_|./a",
	 {.max_freq = 999},
	 "perf record -e cycles/freq=999,name=x/,page-faults/freq=999/ -e a:b_ -- ./a"},
	{"perf|record|-e|mem:0x1000:rw,a:b_|-F|9|./a",
	 {.every = 1},
	 "perf record -e mem:0x1000:rw,a:b_ -- ./a"},
	/* what perf would run, load or ask is not repeated, nor what it may take for a program */
	{"perf|record|--clang-path=./e|--deb=http://x|--new=y|--switch-output-e|x|-a|sleep|1",
	 {.clock = 1},
	 "perf record -k CLOCK_MONOTONIC -a -- sleep 1"},
	{"perf|record|-e|cycles,{./evil.o/a=1/,b}|./a",
	 {.clock = 1},
	 "perf record -k CLOCK_MONOTONIC -e EVENT -- ./a"},
	{"perf|record|-e|l2_rqsts.code_rd_hit:u,cycles|-e|evil.c|./a",
	 {.clock = 1},
	 "perf record -k CLOCK_MONOTONIC -e l2_rqsts.code_rd_hit:u,cycles -e EVENT -- ./a"},
	/* what keeps mappings out */
	{"perf|record|-C|0,2|-ag|--synth|no|./a", {.mappings = 1}, "perf record -a -g -- ./a"},
	{"perf|record|-p|7|--synth=task|-g", {.mappings = 1}, "perf record -p 7 -g"},
	/* what waits need */
	{"perf|record|-F|99|-e|sched:sched_switch|sleep|1",
	 {.sched = 1},
	 "perf record -a -g -k CLOCK_MONOTONIC" SCHED_EVENTS " -- sleep 1"},
	{"perf|record|-e|sched:sched_migrate_task,sched:sched_wakeup:u|-ag|sleep|1",
	 {.sched = 1},
	 "perf record -a -k CLOCK_MONOTONIC "
	 "-e sched:sched_migrate_task,sched:sched_wakeup -g -e sched:sched_switch "
	 "-e sched:sched_waking -e sched:sched_wakeup_new -e sched:sched_process_exit "
	 "-- sleep 1"},
	{"perf|record|-age|sched:*|-F|9|sleep|1",
	 {.sched = 1},
	 "perf record -a -k CLOCK_MONOTONIC -g -e 'sched:*' -- sleep 1"},
	{"perf|record|-ag|-F|99|-e|sched:sched_switch|-e|cycles|-p|12",
	 {.sched = 1},
	 "perf record -a -k CLOCK_MONOTONIC -g -e sched:sched_switch "
	 "-e cycles/freq=99/" SCHED_REST " -- sleep 10"},
	{"perf|record|-e|sched:sched_switch|--filter|prev_pid == 1|-G|x|--off-cpu|--|a",
	 {.sched = 1, .dump = 8192},
	 "perf record -a --call-graph dwarf,8192 -k CLOCK_MONOTONIC" SCHED_EVENTS " -- a"},
	/* the default event is not lost */
	{"perf|record|-F|99|-p|12|-g",
	 {.sched = 1},
	 "perf record -a -k CLOCK_MONOTONIC -g -e cycles/freq=99/,probe:u" SCHED_EVENTS
	 " -- sleep 10"},
	{"perf|record|-p|12|-g", {.ring = 1}, "perf record -m 64M -p 12 -g"},
	{"perf|record|-m|64M|a", {.ring = 1}, "perf record -m 128M -- a"},
	{"perf|record|-gm1024|a", {.ring = 1}, "perf record -m 64M -g -- a"},
	{"perf|record|-e|{a,b}:S|-e|c,{d/x,y/}|x",
	 {.ungroup = 1},
	 "perf record -e a,b -e c,d/x,y/ -- x"},
	/* counters that a probe reads stay in its group; the others of a group are sampled, too
	 */
	{"perf|record|-e|{truth:work,page-faults}:S|-e|{a,b}:S|x",
	 {.ungroup = 1},
	 "perf record -e '{truth:work,page-faults}:S' -e a,b -- x"},
	{"perf|record|--per-thread|-e|{truth:work,task-clock,c/freq=9/}:S|-F|99|-e|{c,d/e=1/"
	 "}|x",
	 {.sched = 1},
	 "perf record -a -g -k CLOCK_MONOTONIC -e '{truth:work,task-clock,c/freq=9/}:S' "
	 "-e '{c/freq=99/,d/e=1,freq=99/}'" SCHED_EVENTS " -- x"},
	{"perf|record|-e|{probe_libc:malloc,page-faults}:S|-e|cycles|x",
	 {.build_ids = 1},
	 "perf record --buildid-all -e cycles -- x"},
	/* so do those that probes with :S read */
	{"perf|record|-e|{c/period=0/,page-faults/period=0/"
	 ",truth:a:S,truth:b:S}|-e|c,d|-F|99|x",
	 {.every = 1, .ungroup = 1},
	 "perf record -e '{c/period=0/,page-faults/period=0/,truth:a:S,truth:b:S}' -e "
	 "c/freq=99/,d/freq=99/ -- x"},
	{"perf|record|-e|{c/period=0/,probe_x:a:S,truth:b:S}|-e|{d/period=0/,probe_x:a:S}|-e|c|"
	 "x",
	 {.build_ids = 1},
	 "perf record --buildid-all -e '{c/period=0/,truth:b:S}' -e c -- x"},
	{"perf|record|-e|{c/period=0/,sched:sched_waking:S},d|x",
	 {.sched = 1},
	 "perf record -a -g -k CLOCK_MONOTONIC -e sched:sched_waking,d -e sched:sched_switch"
	 " -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_process_exit -- x"},
	{"perf|record|-Be|a|--kernel-callchains|-n|x",
	 {.build_ids = 1, .stacks = 1, .samples = 1},
	 "perf record -g --buildid-all -e a -- x"},
	{"perf|record|-e|a,b,c|-F|9|x", {.only = "b"}, "perf record -F 9 -e b -- x"},
	/* what is asked for is not asked for twice */
	{"perf|record|--buildid-all|-T|-e|a|x",
	 {.build_ids = 1, .times = 1},
	 "perf record -T --buildid-all -e a -- x"},
	{"perf|record|--buildid-all|-e|a|x",
	 {.build_ids = 1, .own_ids = 1},
	 "perf record --buildid-mmap -e a -- x"},
	{"perf|record|--buildid-mmap|-e|a|x",
	 {.stacks = 1},
	 "perf record -g --buildid-mmap -e a -- x"},
	/* how stacks are taken is each event's own */
	{"perf|record|-e|sched:sched_switch/call-graph=dwarf,stack-size=4096/|-e|"
	 "cycles/freq=99,call-graph=fp/|-e|a:b_|x",
	 {.stacks = 1, .dump = 16384},
	 "perf record -e sched:sched_switch/call-graph=dwarf,stack-size=16384/ "
	 "-e cycles/freq=99,call-graph=fp/ -e a:b_ -- x"},
	{"perf|record|-e|cycles/freq=99,call-graph=fp/|-e|a:b_|x",
	 {.stacks = 1, .dump = 16384, .copies = 1},
	 "perf record -e cycles/freq=99,call-graph=dwarf,stack-size=16384/ -e a:b_ "
	 "-- x"},
	{"perf|record|--call-graph|dwarf,65528|-e|a:b_|-e|cycles/call-graph=fp/u|x",
	 {.stacks = 1},
	 "perf record -e a:b_/call-graph=dwarf,stack-size=65528/ "
	 "-e cycles/call-graph=fp/u -- x"},
	{"perf|record|-g|-e|sched:sched_switch/call-graph=dwarf/|x",
	 {.sched = 1},
	 "perf record -a -k CLOCK_MONOTONIC "
	 "-e sched:sched_switch/call-graph=dwarf,stack-size=8192/ "
	 "-e sched:sched_waking/call-graph=fp/ -e sched:sched_wakeup/call-graph=fp/ "
	 "-e sched:sched_wakeup_new/call-graph=fp/ "
	 "-e sched:sched_process_exit/call-graph=fp/ -- x"},
	{"perf|record|-g|-e|sched:sched_switch/call-graph=no/|-e|a:b_/call-graph=no/|x",
	 {.stacks = 1},
	 "perf record -e sched:sched_switch/call-graph=fp/ -e a:b_/call-graph=no/ -- "
	 "x"},
	/* where records were lost, none gets larger */
	{"perf|record|--call-graph|dwarf,8192|-e|cycles|x",
	 {.ring = 1, .lossy = 1, .stacks = 1, .dump = 65528},
	 "perf record -m 64M --call-graph dwarf,8192 -e cycles -- x"},
	{"perf|record|-g|-e|cycles|x",
	 {.ring = 1, .lossy = 1, .stacks = 1, .dump = 16384, .copies = 1},
	 "perf record -m 64M -g -e cycles -- x"},
	{"perf|record|-m|64M|--call-graph|dwarf,65528|-e|sched:sched_switch|-e|"
	 "irq:softirq_entry|-e|cycles/freq=199,call-graph=fp/|-e|"
	 "page-faults/freq=5000/|x",
	 {.ring = 1, .lossy = 1, .max_freq = 999, .max_dump = 16384, .dump = 65528},
	 "perf record -m 64M -e sched:sched_switch/call-graph=dwarf,stack-size=16384/ "
	 "-e irq:softirq_entry/call-graph=fp/ -e cycles/freq=199,call-graph=fp/ "
	 "-e page-faults/freq=999,call-graph=dwarf,stack-size=16384/ -- x"},
	{"perf|record|-m|256M|x", {.ring = 1, .lossy = 1}, "perf record -m 256M -- x"},
	{"perf|record|-m|256M,4M|x", {.ring = 1, .lossy = 1}, "perf record -m 256M -- x"},
	/* probes are gone by now */
	{"perf|record|-g|-e|cycles,probe_libc:malloc|-e|probe_a:b|x",
	 {.clock = 1},
	 "perf record -k CLOCK_MONOTONIC -g -e cycles -- x"},
	{"perf|record|-e|probe_libc:malloc|-a",
	 {.sched = 1},
	 "perf record -a -g -k CLOCK_MONOTONIC" SCHED_EVENTS " -- sleep 10"},
	/* words stay words */
	{"perf|record|sh|-c|$(reboot);x 'y'",
	 {.stacks = 1},
	 "perf record -g -- sh -c '$(reboot);x '\\''y'\\'''"},
	{"perf|record|-I|-zs|-D|10|--no-such|x",
	 {0},
	 "perf record -I -zs -D 10 --no-such -- x"},
	/* what cannot be shown is not */
	{"perf|record|-e|a|\033[2J", {.stacks = 1}, "perf record -g -e a -- COMMAND"},
	{"perf|record|-e|\033[2J|a", {0}, "perf record -e cycles/freq=77/,probe:u -- COMMAND"},
	{"perf|sched|record",
	 {.clock = 1},
	 "perf record -k CLOCK_MONOTONIC -e cycles/freq=77/,probe:u -- COMMAND"},
	{NULL, {.only = "cycles"}, "perf record -F 77 -e cycles -- COMMAND"},
	/* -a is in the line, where there is one */
	{NULL,
	 {.clock = 1, .all_cpus = 1},
	 "perf record -a -k CLOCK_MONOTONIC -e cycles/freq=77/,probe:u -- COMMAND"},
	{"perf|record|-g|-C|1|x", {.all_cpus = 1}, "perf record -g -C 1 -- x"},
};

static void remedies_keep_what_was_asked_for(void **state)
{
	static char cycles[] = "cycles:P", probe[] = "probe:u";
	struct event events[] = {
		{.name = cycles, .attr = {.flags = 1 << ATTR_FREQ, .sample_period = 77}},
		{.name = probe, .is_tracepoint = 1}};
	(void)state;
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		struct buf b = {0};
		assert_string_equal(remedy_of(kept[i].line, events, &kept[i].r, &b),
				    kept[i].want);
		buf_release(&b);
	}
}

static void tracepoints_keep_their_stacks_without_a_line(void **state)
{
	static char name[] = "lock:contention_begin";
	struct event ev = {
		.name = name, .is_tracepoint = 1, .attr.sample_type = PERF_SAMPLE_CALLCHAIN};
	struct buf b = {0};
	(void)state;
	assert_string_equal(
		remedy_of_events("perf|lock|record", &ev, 1, &(struct remedy){.clock = 1}, &b),
		"perf record -g -k CLOCK_MONOTONIC -e lock:contention_begin "
		"-- COMMAND");
	buf_release(&b);
}

static void events_whose_names_are_lost_are_not_left_out(void **state)
{
	static char cut[] = "tracepoint 355", clock[] = "cpu-clock";
	struct event events[] = {
		{.name = cut, .is_tracepoint = 1},
		{.name = clock, .attr = {.flags = 1 << ATTR_FREQ, .sample_period = 77}}};
	struct buf b = {0};
	(void)state;
	assert_string_equal(remedy_of(NULL, events, &(struct remedy){.clock = 1}, &b),
			    "perf record -k CLOCK_MONOTONIC -e cpu-clock/freq=77/ -e EVENT "
			    "-- COMMAND");
	buf_release(&b);
}

/* The line that `perfkit record MODE` gives perf, probes and all, and what it records. */
#define OWN(ring, more)                                                                      \
	"/usr/bin/perf|record|-k|CLOCK_MONOTONIC|--buildid-all|" ring "-a|-c|1|-e|"          \
	"sched:sched_switch/call-graph=dwarf,stack-size=4096/|-e|"                           \
	"sched:sched_waking/call-graph=fp/|-e|sched:sched_wakeup|-e|sched:sched_wakeup_new|" \
	"-e|sched:sched_migrate_task|-e|sched:sched_process_exit" more "|-o|x.data"

#define CALLS(begin, end, counters)                                                       \
	"/usr/bin/perf|record|-k|CLOCK_MONOTONIC|--switch-events|-c|1|-e|{perfkit:" begin \
	"," counters "}:S|-e|{perfkit:" end "," counters "}:S"
#define ONE_GROUP(counters)                                                                 \
	"perf|record|-k|CLOCK_MONOTONIC|--per-thread|-T|--sample-cpu|--switch-events|-c|1|" \
	"-e|{" counters ",perfkit:parse:S,perfkit:parse__return:S}|-o|x.data|--|./a"

static char own_sw[] = "sched:sched_switch", own_clock[] = "cpu-clock", own_wait[] = "x";
static char own_lock[] = "perfkit:lock_wait", own_irq[] = "irq:softirq_entry",
	    own_req[] = "perfkit:req_end", own_start[] = "perfkit:req_start";
static char own_parse[] = "perfkit:parse", own_parsed[] = "perfkit:parse__return";
static char own_end[] = "perfkit:the_end", own_end_return[] = "perfkit:the_end__return";
static char own_request[] = "perfkit:request", own_request_return[] = "perfkit:request__return";
static char own_region[] = "perfkit:main_c_19_begin",
	    own_region_end[] = "perfkit:main_c_19_end";
static const struct {
	const char *line;
	char *second, *third;
	uint32_t copied;
	struct remedy r;
	const char *want;
} own_rows[] = {
	{OWN("-m|8M|", "|-e|perfkit:lock_wait") "|--|sleep|3",
	 own_lock,
	 own_irq,
	 4096,
	 {.build_ids = 1, .sched = 1, .clock = 1, .every = 1},
	 "perfkit record tail -- sleep 3"},
	{OWN("-m|8M|", "|-e|perfkit:lock_wait"),
	 own_lock,
	 own_wait,
	 4096,
	 {.ring = 1, .lossy = 1, .dump = 65528, .stacks = 1},
	 "perfkit record tail -m 64M"},
	{OWN("-m|8M|", "|-e|irq:softirq_entry") "|--|./a",
	 own_irq,
	 own_clock,
	 4096,
	 {.dump = 16384, .stacks = 1},
	 "perfkit record tail --call-graph dwarf,16384 -- ./a"},
	{OWN("", "|--no-such"),
	 own_sw,
	 own_wait,
	 0,
	 {.ring = 1},
	 "perfkit record offcpu --call-graph fp -m 64M"},
	{OWN("-m|8M|", ""), own_sw, own_clock, 4096, {.max_freq = 99}, "perfkit record offcpu"},
	{OWN("-m|99|", "|-e|perfkit:req_end"),
	 own_req,
	 own_start,
	 8192,
	 {.max_dump = 4096, .max_freq = 999, .lossy = 1, .dump = 16384},
	 "perfkit record requests --begin FUNC --end FUNC --exec FILE -m 396K"},
	{NULL,
	 own_lock,
	 own_clock,
	 4096,
	 {.max_freq = 99},
	 "perfkit record tail -F 99 -- COMMAND"},
	{OWN("", "|--filter|prev_comm == \"db\""),
	 own_sw,
	 own_clock,
	 4096,
	 {.dump = 16384, .stacks = 1},
	 "perfkit record offcpu --comm db --call-graph dwarf,16384"},
	{OWN("", "|--filter|prev_pid == 7"),
	 own_sw,
	 own_clock,
	 4096,
	 {.build_ids = 1},
	 "perfkit record offcpu --tid 7"},
	/* calls are counted again, and not the waits */
	{CALLS("parse", "parse__return",
	       "page-faults,context-switches,task-clock") "|--per-thread|-o|x.data|--|."
							  "/a",
	 own_parse,
	 own_parsed,
	 0,
	 {.sched = 1, .stacks = 1},
	 "perfkit record calls -r parse -- ./a"},
	{CALLS("parse", "parse__return", "page-faults") "|-p|7|-o|x.data|--|sleep|3",
	 own_parse,
	 own_parsed,
	 0,
	 {.ring = 1},
	 "perfkit record calls -r parse -p 7 -e page-faults --inherit --duration 3 -m "
	 "64M"},
	{CALLS("main_c_19_begin", "main_c_19_end",
	       "page-faults") "|--per-thread|-o|x.data|--|./a",
	 own_region,
	 own_region_end,
	 0,
	 {.build_ids = 1},
	 "perfkit record calls -r FILE:A-B -e page-faults -- ./a"},
	{ONE_GROUP("cycles/period=0/,page-faults/period=0,name=page-faults/,"
		   "context-switches/period=0,name=context-switches/,"
		   "task-clock/period=0,name=task-clock/"),
	 own_parse,
	 own_parsed,
	 0,
	 {.sched = 1},
	 "perfkit record calls -r parse -- ./a"},
	{ONE_GROUP("cycles/period=0,name=cycles/,instructions/period=0,name="
		   "instructions:u/u,cpu/event=0x3c,period=0/k"),
	 own_parse,
	 own_parsed,
	 0,
	 {.build_ids = 1},
	 "perfkit record calls -r parse -e cycles,instructions:u,cpu/event=0x3c/k "
	 "-- ./a"},
	/* a function whose name ends as the probe of a line does; a request's probe */
	{CALLS("the_end", "the_end__return", "page-faults") "|--per-thread|--|./a",
	 own_end,
	 own_end_return,
	 0,
	 {.build_ids = 1},
	 "perfkit record calls -r the_end -e page-faults -- ./a"},
	{CALLS("request", "request__return", "page-faults") "|--per-thread|--|./a",
	 own_request,
	 own_request_return,
	 0,
	 {.build_ids = 1},
	 "perfkit record calls -r request -e page-faults -- ./a"},
	{OWN("", "|--filter|CPU == 7"),
	 own_sw,
	 own_clock,
	 4096,
	 {.build_ids = 1, .own_ids = 1},
	 "perfkit record offcpu --cpu 7 --buildid-mmap"},
	{"perf|record|-k|CLOCK_MONOTONIC|--buildid-mmap|-m|2048|-a|-c|1|-e|"
	 "sched:sched_switch/call-graph=dwarf,stack-size=4096/|-o|x.data",
	 own_sw,
	 own_clock,
	 4096,
	 {.max_freq = 99},
	 "perfkit record offcpu --buildid-mmap"},
};

static void what_perfkit_recorded_is_recorded_by_it_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(own_rows) / sizeof(*own_rows); i++) {
		/* probes of calls read counters */
		uint64_t read = strstr(own_rows[i].want, "record calls") ? PERF_SAMPLE_READ : 0;
		struct event events[] = {{.name = own_sw,
					  .is_tracepoint = 1,
					  .attr = {.sample_type = PERF_SAMPLE_CALLCHAIN,
						   .sample_stack_user = own_rows[i].copied}},
					 {.name = own_rows[i].second,
					  .is_tracepoint = 1,
					  .attr = {.sample_type = read}},
					 {.name = own_rows[i].third,
					  .is_tracepoint = own_rows[i].third != own_clock,
					  .attr = {.flags = 1 << ATTR_FREQ,
						   .sample_period = 199,
						   .sample_type = read}}};
		struct buf b = {0};
		assert_string_equal(
			remedy_of_events(own_rows[i].line, events, 3, &own_rows[i].r, &b),
			own_rows[i].want);
		buf_release(&b);
	}
}

/* What a change says of the line: the options that it adds there, and nothing of those that the
 * line has. */
static void the_options_that_help_are_said(void **state)
{
	static char cycles[] = "cycles", sw[] = "sched:sched_switch";
	static const struct {
		const char *line;
		struct remedy r, all;
		enum option_effect effect;
		const char *option; /* NULL: none */
	} rows[] = {
		{"perf|record|-e|cycles|-m|1M|x",
		 {.ring = 1},
		 {.ring = 1},
		 OPTION_RING,
		 "-m 64M"},
		{"perf|record|-e|cycles|-m|512M|x",
		 {.ring = 1},
		 {.ring = 1},
		 OPTION_RING,
		 NULL},
		{"perf|record|-e|cycles|-T|x",
		 {.times = 1, .own_ids = 1, .build_ids = 1, .samples = 1},
		 {.times = 1, .own_ids = 1, .build_ids = 1, .samples = 1},
		 OPTION_MAPPED_IDS,
		 "--buildid-mmap"},
		{"perf|record|-F|99|-e|cycles|x",
		 {.max_freq = 999},
		 {.max_freq = 49},
		 OPTION_FEWER_SAMPLES,
		 "-F 49"},
		{"perf|record|-F|99|-e|cycles|x",
		 {.stacks = 1, .dump = 512, .copies = 1},
		 {.stacks = 1, .dump = 1024, .copies = 1},
		 OPTION_COPIES,
		 "--call-graph dwarf,1024"},
		{OWN("-m|8M|", "") "|--|x",
		 {.ring = 1, .sched = 1},
		 {.ring = 1, .sched = 1},
		 OPTION_RING,
		 "-m 64M"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct event events[] = {{.name = sw,
					  .is_tracepoint = 1,
					  .attr.sample_type = PERF_SAMPLE_CALLCHAIN},
					 {.name = cycles}};
		struct buf b = {0}, want = {0};
		if (rows[i].option)
			list_option(&want, rows[i].effect, rows[i].option);
		recorded = &rows[i].all;
		assert_string_equal(remedy_of(rows[i].line, events, &rows[i].r, &b),
				    buf_cstr(&want));
		recorded = NULL;
		buf_release(&b);
		buf_release(&want);
	}
}

/* A line of nothing but probes cannot be had without them. */
/* A filter is named where no switches are recorded without it. */
static void what_leaves_switches_out_is_named(void **state)
{
	static const struct {
		const char *line, *filter;
	} rows[] = {
		{NULL, ""},
		{"perf|record|-a|-e|sched:sched_switch|-e|sched:sched_waking|--filter|prio<9",
		 ""},
		{"perf|record|-a|-e|cycles,sched:*|--filter|pid > 9|-e|a",
		 "--filter 'pid > 9'"},
		{"perf|record|-a|-e|{cycles,sched:sched_switch}|-G|web|x", "-G web"},
		{"perf|record|-a|-e|sched:sched_switch|--exclude-perf|x", "--exclude-perf"},
		{"perf|record|-a|-e|sched:sched_switch|-e|sched:sched_switch|--exclude-perf",
		 ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[LINE];
		const char *words[WORDS];
		struct recording rec = recorded_by(rows[i].line, text, words);
		struct buf b = {0};
		remedy_switch_filter(&b, &rec);
		assert_string_equal(buf_cstr(&b), rows[i].filter);
		buf_release(&b);
	}
}

static void probes_alone_are_set_first(void **state)
{
	static char probe[] = "probe_libc:malloc", dummy[] = "dummy:HG";
	struct event events[] = {{.name = probe, .is_tracepoint = 1}, {.name = dummy}};
	struct buf b = {0};
	(void)state;
	assert_string_equal(
		remedy_of("perf|record|-e|probe_libc:malloc|-g|x", events,
			  &(struct remedy){.ring = 1}, &b),
		"perf probe -x FILE --add probe_libc:malloc=FUNCTION && perf record -m 64M "
		"-e probe_libc:malloc -g -- x");
	buf_release(&b);
}

/* However many there are. */
static void all_probes_are_set(void **state)
{
	enum { MANY = 40 };
	static char names[MANY][32];
	struct event events[MANY];
	struct buf b = {0};
	size_t set = 0;
	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "probe_x:f%d", i);
		events[i] = (struct event){.name = names[i], .is_tracepoint = 1};
	}
	const char *line =
		remedy_of_events(NULL, events, MANY, &(struct remedy){.ring = 1}, &b);
	for (const char *p = line; (p = strstr(p, "perf probe -x FILE --add probe_x:f")); p++)
		set++;
	assert_int_equal(set, MANY);
	assert_non_null(strstr(line, ",probe_x:f38,probe_x:f39 "));
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remedies_keep_what_was_asked_for),
		cmocka_unit_test(events_whose_names_are_lost_are_not_left_out),
		cmocka_unit_test(tracepoints_keep_their_stacks_without_a_line),
		cmocka_unit_test(what_perfkit_recorded_is_recorded_by_it_again),
		cmocka_unit_test(the_options_that_help_are_said),
		cmocka_unit_test(what_leaves_switches_out_is_named),
		cmocka_unit_test(probes_alone_are_set_first),
		cmocka_unit_test(all_probes_are_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
