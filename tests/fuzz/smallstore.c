#include "tests/fuzz/smallstore.h"

#include "libtime/causes/causes.h"
#include "libtime/sched/sched.h"
#include "libtime/store/store_write.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static uint32_t name(struct timeline *tl, const char *text)
{
	uint32_t id = 0;
	if (strtab_intern(&tl->stacks->strings, text, &id))
		abort();
	return id;
}

/* Frames with a blank between, root first; the last `kernel` of them are the kernel's. */
static uint32_t path(struct timeline *tl, const char *frames, int kernel)
{
	uint32_t p = 0, frame;
	char text[128], *save = NULL;
	int left = 1;
	strncpy(text, frames, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (const char *c = text; *c; c++)
		left += *c == ' ';
	for (char *f = strtok_r(text, " ", &save); f; f = strtok_r(NULL, " ", &save), left--) {
		struct frame x = {.name = name(tl, f),
				  .dso = name(tl, left > kernel ? "/bin/prog" : "[kernel]"),
				  .kind = left > kernel ? FRAME_USER : FRAME_KERNEL,
				  .addr = 0x401000 + (unsigned)left};
		if (stacks_frame(tl->stacks, &x, &frame) ||
		    stacks_push(tl->stacks, p, frame, &p))
			abort();
	}
	return p;
}

/* Two threads that take turns on CPU 0, the second woken by the first. */
static void feed(struct sched *s, uint8_t sleep, uint32_t wait, uint32_t wake)
{
	for (unsigned i = 0; i < 12; i++) {
		struct sched_event sw = {.kind = SCHED_SWITCH,
					 .time_ns = 1000 + i * 100,
					 .prev_tid = i % 2 ? 11 : 12,
					 .next_tid = i % 2 ? 12 : 11,
					 .prev_comm = i % 2 ? "one" : "two",
					 .state = sleep,
					 .state_class = STATE_BLOCKED,
					 .path = wait,
					 .next_prio = 120};
		sw.tid = sw.pid = sw.prev_tid;
		struct sched_event wk = {.kind = SCHED_WAKING,
					 .time_ns = sw.time_ns + 50,
					 .tid = sw.next_tid,
					 .pid = -1,
					 .target_tid = sw.prev_tid,
					 .target_pid = -1,
					 .context = WAKER_TASK,
					 .path = wake};
		if (sched_event(s, &sw, NULL) || sched_event(s, &wk, NULL))
			abort();
	}
}

static void add_rows(struct timeline *tl, uint32_t wait, uint32_t busy)
{
	struct tl_event ev = {.name = name(tl, "cpu-clock")};
	struct tl_span span = {.name = name(tl, "request"),
			       .start_ns = 1100,
			       .end_ns = 1500,
			       .parent = TL_NONE,
			       .run_ns = 400};
	struct tl_mark mark = {.name = name(tl, "probe:mark"),
			       .text = name(tl, "a=1"),
			       .time_ns = 1200,
			       .thread = TL_NONE,
			       .cpu = TL_NOCPU};
	struct tl_offcpu_total total = {
		.ns = 5000, .count = 3, .path = wait, .comm = name(tl, "two"), .thread = 1};
	int rc = vec_push(&tl->events, ev) | vec_push(&tl->spans, span) |
		 vec_push(&tl->marks, mark) | vec_push(&tl->totals, total);
	for (uint64_t i = 0; i < 4; i++) {
		struct tl_sample x = {.time_ns = 1050 + i * 100,
				      .period = 1000,
				      .thread = i % 2,
				      .path = busy,
				      .comm = name(tl, "one")};
		rc |= bigvec_push(&tl->samples, x, NULL);
	}
	if (rc)
		abort();
}

static void build(struct timeline *tl, struct stacks *stacks)
{
	struct sched *s;
	struct causes *c;
	uint8_t sleep;
	if (timeline_init(tl, stacks) || timeline_state(tl, "S", &sleep))
		abort();
	tl->flags = TL_HAS_SWITCH | TL_HAS_WAKING;
	tl->rec = (struct tl_recording){.host = name(tl, "box"),
					.file = name(tl, "perf.data"),
					.origin_ns = 1000,
					.end_ns = 2301,
					.ncpus = 2};
	uint32_t wait = path(tl, "main work futex_wait schedule", 2);
	uint32_t busy = path(tl, "main work spin", 0);
	if (sched_new(tl, &s, NULL))
		abort();
	feed(s, sleep, wait, busy);
	struct sched_event lost = {.kind = SCHED_LOST,
				   .time_ns = 2200,
				   .from_ns = 2100,
				   .cpu = 1,
				   .tid = -1,
				   .pid = -1,
				   .count = 5};
	if (sched_event(s, &lost, NULL))
		abort();
	add_rows(tl, wait, busy);
	if (sched_finish(s, 2300, NULL) || causes_new(&c, NULL) || causes_apply(c, tl, NULL))
		abort();
	sched_free(s);
	causes_free(c);
}

/* Small pages, and nothing that the reader does not read. */
static int shrink(const char *file)
{
	sqlite3 *db;
	int rc = sqlite3_open(file, &db);
	static const char drop[] = "SELECT 'DROP ' || type || ' ' || name FROM sqlite_schema "
				   "WHERE type IN ('view','index') AND sql IS NOT NULL";
	sqlite3_stmt *st;
	char sql[64][128];
	int n = 0;
	rc = rc ? rc : sqlite3_prepare_v2(db, drop, -1, &st, NULL);
	while (!rc && n < 64 && sqlite3_step(st) == SQLITE_ROW)
		strncpy(sql[n++], (const char *)sqlite3_column_text(st, 0), 127)[127] = '\0';
	if (!rc)
		sqlite3_finalize(st);
	for (int i = 0; !rc && i < n; i++)
		rc = sqlite3_exec(db, sql[i], NULL, NULL, NULL);
	if (!rc)
		rc = sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL);
	sqlite3_close(db);
	return rc ? ERR_IO : 0;
}

int smallstore_write(const char *file)
{
	struct stacks stacks = {0};
	struct timeline tl = {0};
	struct store_writer *w;
	build(&tl, &stacks);
	int rc = store_writer_open(&w, file, NULL);
	for (int i = 0; !rc && i < 2; i++)
		rc = store_writer_add(w, &tl, NULL);
	if (!rc)
		rc = store_writer_commit(w, NULL);
	timeline_release(&tl);
	stacks_release(&stacks);
	return rc ? rc : shrink(file);
}
