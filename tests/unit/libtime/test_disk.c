/*
 * Requests to disks, from the words of the block events, and the waits that they ended.
 */
#include "tests/unit/libtime/tailrig.h"
#include "libtime/sched/timeline_parts.h"

static void mark(struct rig *r, const char *event, uint64_t us, uint16_t cpu, const char *words)
{
	char name_text[64];
	snprintf(name_text, sizeof(name_text), "block:block_rq_%s", event);
	struct tl_mark m = {.time_ns = us * 1000,
			    .name = text(r, name_text),
			    .text = text(r, words),
			    .thread = TL_NONE,
			    .cpu = cpu};
	assert_int_equal(vec_push(&r->tl.marks, m), 0);
	struct tl_event ev = {.name = m.name, .tracepoint = 1};
	if (!timeline_has_event(&r->tl, name_text))
		assert_int_equal(vec_push(&r->tl.events, ev), 0);
}

static disk_requests requests(const struct rig *r)
{
	disk_requests v = {0};
	assert_int_equal(disk_requests_read(&r->tl, &v, NULL), 0);
	return v;
}

static void a_request_queues_and_is_served(void **state)
{
	struct rig r;
	char space[DISK_NAME];
	(void)state;
	rig_init(&r, 5000);
	mark(&r, "insert", 100, 0, "254,0 WS 4096 () 8 + 8 0x2,0,4 [front]");
	mark(&r, "issue", 150, 0, "254,0 WS 4096 () 8 + 8 0x2,0,4 [kworker/0:1H]");
	mark(&r, "complete", 400, 1, "254,0 WS () 8 + 8 0x2,0,4 [0]");
	disk_requests v = requests(&r);
	assert_int_equal(v.n, 1);
	const struct disk_request *q = v.v;
	assert_int_equal(q->insert_ns, 100000);
	assert_int_equal(q->issue_ns, 150000);
	assert_int_equal(q->end_ns, 400000);
	assert_int_equal(q->bytes, 4096);
	assert_int_equal(q->cpu, 1);
	assert_int_equal(q->has_insert, 1);
	assert_string_equal(disk_operation(q), "write");
	assert_string_equal(disk_name(&r.tl, 0, q, space), "254:0");
	vec_release(&v);
	rig_release(&r);
}

/* Without a scheduler the disk takes a request at once; that this was so is known only where
 * insertions were recorded. Older kernels' words have no priority. */
static void a_request_may_not_queue(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct rig r;
		rig_init(&r, 5000);
		if (known)
			mark(&r, "insert", 50, 0, "7,0 R 4096 () 800 + 8 [other]");
		mark(&r, "issue", 150, 0, "8,16 RM 4096 () 16 + 8 [front]");
		mark(&r, "complete", 400, 0, "8,16 RM () 16 + 8 [0]");
		disk_requests v = requests(&r);
		assert_int_equal(v.n, 1);
		assert_int_equal(v.v[0].insert_ns, 150000);
		assert_int_equal(v.v[0].has_insert, known);
		assert_string_equal(disk_operation(&v.v[0]), "read");
		vec_release(&v);
		rig_release(&r);
	}
}

/* Of two recordings in one timeline, one with insertions. */
static void each_recording_knows_its_own_queues(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 5000);
	mark(&r, "insert", 50, 0, "8,0 R 4096 () 8 + 8 [front]");
	for (uint16_t cpu = 0; cpu < 2; cpu++) {
		struct tl_part part = {.cpu_first = cpu, .disk_queues = !cpu};
		assert_int_equal(vec_push(&r.tl.parts, part), 0);
		mark(&r, "issue", 150, cpu, "8,16 R 4096 () 16 + 8 [front]");
		mark(&r, "complete", 400 + cpu, cpu, "8,16 R () 16 + 8 [0]");
	}
	disk_requests v = requests(&r);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.v[0].has_insert, 1);
	assert_int_equal(v.v[1].has_insert, 0);
	vec_release(&v);
	rig_release(&r);
}

/* A flush before the request's own data, which is issued and ended with it. */
static void a_request_is_called_by_its_data(void **state)
{
	static const struct {
		const char *flags;
		int sectors;
		const char *operation;
	} rows[] = {{"FWS", 8, "write"},   {"FWFS", 8, "write"}, {"FWS", 0, "flush"},
		    {"FF", 0, "flush"},    {"WFS", 8, "write"},  {"DS", 8, "discard"},
		    {"FDS", 8, "discard"}, {"FN", 8, "flush"}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct rig r;
		char issue[80], complete[80];
		rig_init(&r, 5000);
		snprintf(issue, sizeof(issue), "8,0 %s 4096 () 16 + %d [front]", rows[i].flags,
			 rows[i].sectors);
		snprintf(complete, sizeof(complete), "8,0 %s () 16 + %d [0]", rows[i].flags,
			 rows[i].sectors);
		mark(&r, "issue", 150, 0, issue);
		mark(&r, "complete", 400, 0, complete);
		disk_requests v = requests(&r);
		assert_int_equal(v.n, 1);
		assert_string_equal(disk_operation(v.v), rows[i].operation);
		vec_release(&v);
		rig_release(&r);
	}
}

/* Marks of a damaged store: no time is negative. */
static void a_request_does_not_end_before_it_is_issued(void **state)
{
	struct rig r;
	(void)state;
	rig_init(&r, 5000);
	mark(&r, "insert", 300, 0, "8,0 R 4096 () 16 + 8 [front]");
	mark(&r, "issue", 200, 0, "8,0 R 4096 () 16 + 8 [front]");
	mark(&r, "complete", 100, 0, "8,0 R () 16 + 8 [0]");
	mark(&r, "complete", 400, 0, "8,0 R () 16 + 8 [0]");
	disk_requests v = requests(&r);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.v[0].insert_ns, 200000);
	assert_int_equal(v.v[0].end_ns, 400000);
	vec_release(&v);
	rig_release(&r);
}

/* A request that is queued grows at its front (it still ends where it did) or at its back; a
 * flush is under way at the sector of a write; a sector is written twice, also by another disk.
 */
static void requests_are_told_apart(void **state)
{
	static const struct {
		const char *event;
		uint64_t us;
		const char *words;
	} marks[] = {
		{"insert", 100, "7,0 W 4096 () 8 + 8 0x0,0,4 [a]"},
		{"issue", 200, "7,0 W 8192 () 0 + 16 0x0,0,4 [a]"},
		{"issue", 210, "7,0 FF 0 () 0 + 0 0x0,0,4 [a]"},
		{"insert", 220, "7,1 W 4096 () 0 + 8 0x0,0,4 [a]"},
		{"issue", 230, "7,1 W 8192 () 0 + 16 0x0,0,4 [a]"},
		{"complete", 300, "7,0 FF () 0 + 0 0x0,0,4 [0]"},
		{"complete", 310, "7,0 W () 0 + 16 0x0,0,4 [0]"},
		{"complete", 320, "7,1 W () 0 + 16 0x0,0,4 [0]"},
		{"issue", 400, "7,0 W 8192 () 0 + 16 0x0,0,4 [a]"},
		{"complete", 450, "7,0 W () 0 + 16 0x0,0,4 [0]"},
		{"complete", 460, "7,0 W () 0 + 16 0x0,0,4 [0]"},
		{"issue", 500, "7,0 W 8192 () 64 + 16 0x0,0,4 [a]"},
		{"complete", 510, "7,0 W"},
		{"complete", 520, "7,0 W () x + 16"},
		{"complete", 530, ""},
	};
	static const uint64_t times[][4] = {/* insert, issue, end, bytes */
					    {210, 210, 300, 0},
					    {100, 200, 310, 8192},
					    {220, 230, 320, 8192},
					    {400, 400, 450, 8192}};
	struct rig r;
	(void)state;
	rig_init(&r, 5000);
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		mark(&r, marks[i].event, marks[i].us, 0, marks[i].words);
	disk_requests v = requests(&r);
	assert_int_equal(v.n, 4);
	for (size_t i = 0; i < v.n; i++) {
		assert_int_equal(v.v[i].insert_ns, times[i][0] * 1000);
		assert_int_equal(v.v[i].issue_ns, times[i][1] * 1000);
		assert_int_equal(v.v[i].end_ns, times[i][2] * 1000);
		assert_int_equal(v.v[i].bytes, times[i][3]);
	}
	assert_string_equal(disk_operation(&v.v[0]), "flush");
	vec_release(&v);
	rig_release(&r);
}

/* The wait's own: ended on the CPU of the wakeup, in the wait, and by the function that woke;
 * without that function's stack, at about the time of the wakeup. */
static void a_wait_is_for_the_request_that_ended_it(void **state)
{
	static const struct {
		const char *waker_stack;
		uint64_t woken;
		uint16_t cpu;
		uint8_t cause, found;
	} cases[] = {
		{"[k]kthread;[k]blk_update_request;[k]complete", 1610, 1, CAUSE_IO, 1},
		{"[k]kthread;[k]blk_update_request;[k]complete", 1900, 1, CAUSE_FAULT, 1},
		{"[k]kthread;[k]process_timeout", 1610, 1, CAUSE_IO, 0},
		{"", 1610, 1, CAUSE_IO, 1},
		{"", 1900, 1, CAUSE_IO, 0},
		{"[k]kthread;[k]blk_update_request;[k]complete", 1610, 0, CAUSE_IO, 0},
		{"[k]kthread;[k]blk_update_request;[k]complete", 1610, 1, CAUSE_NET, 0},
		{"[k]kthread;[k]blk_update_request;[k]complete", 1590, 1, CAUSE_IO, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;
		struct evidence ev;
		const struct disk_request *q;
		rig_init(&r, 5000);
		uint32_t front = thread(&r, "front", 1, 0);
		struct offcpu *o = off(&r, front, 1000, cases[i].woken, 2000, cases[i].cause,
				       "front;save");
		o->cpu_wake = cases[i].cpu;
		o->waker_path = *cases[i].waker_stack ? path(&r, cases[i].waker_stack) : 0;
		mark(&r, "insert", 900, 0, "7,0 W 4096 () 0 + 8 0x0,0,4 [front]");
		mark(&r, "issue", 950, 0, "7,0 W 4096 () 0 + 8 0x0,0,4 [front]");
		mark(&r, "issue", 960, 0, "7,0 W 4096 () 64 + 8 0x0,0,4 [front]");
		mark(&r, "complete", 990, 0, "7,0 W () 64 + 8 0x0,0,4 [0]");
		mark(&r, "complete", 1600, 1, "7,0 W () 0 + 8 0x0,0,4 [0]");
		finish(&r);
		roles(&r);
		assert_int_equal(evidence_init(&ev, &r.tl, NULL), 0);
		assert_int_equal(evidence_disk(&ev, 0, &q, NULL), 0);
		assert_int_equal(q != NULL, cases[i].found);
		assert_true(!q || q->insert_ns == 900000);
		evidence_release(&ev);
		rig_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_queues_and_is_served),
		cmocka_unit_test(a_request_may_not_queue),
		cmocka_unit_test(each_recording_knows_its_own_queues),
		cmocka_unit_test(a_request_is_called_by_its_data),
		cmocka_unit_test(a_request_does_not_end_before_it_is_issued),
		cmocka_unit_test(requests_are_told_apart),
		cmocka_unit_test(a_wait_is_for_the_request_that_ended_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
