/* render: what report says of a recording as a file, and that a store keeps all of it. */
#include "tests/lib/tempdb.h"

#include "base/text/buf.h"
#include "libsym/elf/dso_find.h"
#include "libsym/process/machine.h"
#include "render/text/file_text.h"

#include <stdlib.h>

static uint32_t id(struct file_facts *f, const char *text)
{
	uint32_t x;
	assert_int_equal(strtab_intern(&f->stacks->strings, text, &x), 0);
	return x;
}

static void make(struct file_facts *f)
{
	*f = (struct file_facts){.cpus = 4,
				 .bytes = 1500000,
				 .first_ns = 1000000000,
				 .last_ns = 3500000000,
				 .lost = 5,
				 .mode = FILE_MODE_PIPE,
				 .big_endian = 1,
				 .cut_off = 1,
				 .has_names = 1};
	f->stacks = &f->own;
	f->path = id(f, "a\033b.data");
	f->kernel = id(f, "6.1");
	f->clock = id(f, "perf");
	f->torn = id(f, "torn at 0x10");
	struct file_event clock = {.samples = 95,
				   .weight = 12345,
				   .rate = 999,
				   .by_rate = 1,
				   .name = id(f, "cycles"),
				   .stacks = EVENT_STACKS_COPIES};
	struct file_event probe = {
		.samples = 1, .weight = 1, .rate = 1, .tracepoint = 1, .name = id(f, "a:b")};
	struct file_records samples = {.count = 95, .type = 9},
			    other = {.count = 2, .type = 99};
	struct unnamed_file kernel = {.samples = 40,
				      .name = id(f, "[kernel.kallsyms]"),
				      .kind = DSO_KERNEL + 1,
				      .pid = -1,
				      .reason = DSO_NOT_FOUND};
	struct unnamed_file file = {.samples = 30,
				    .name = id(f, "/opt/app"),
				    .path = id(f, "/opt/app"),
				    .build_id = id(f, "00ff"),
				    .detail = id(f, "/opt/app has another"),
				    .kind = DSO_FILE + 1,
				    .pid = -1,
				    .reason = DSO_MISMATCH};
	assert_int_equal(vec_push(&f->events, clock) || vec_push(&f->events, probe), 0);
	assert_int_equal(vec_push(&f->records, samples) || vec_push(&f->records, other), 0);
	assert_int_equal(vec_push(&f->unnamed.v, kernel) || vec_push(&f->unnamed.v, file), 0);
	f->unnamed.samples = 80;
	f->unnamed.named_leaf = 60;
}

/* All that is printed; heap. */
static char *text_of(const struct file_facts *f)
{
	struct buf b = {0};
	char *names = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&names, &n);
	file_text_head(&b, f);
	file_text_names(out, f, 0);
	fclose(out);
	buf_str(&b, names);
	free(names);
	buf_cstr(&b);
	return b.v;
}

static void facts_are_said_in_words(void **state)
{
	struct file_facts f;
	(void)state;
	make(&f);
	char *text = text_of(&f);
	assert_string_equal(
		text,
		"recording  a␛b.data, pipe mode, big-endian, 1.5 MB of records\n"
		"host       ?, Linux 6.1 ?, 4 CPUs\n"
		"clock      perf's own (sched_clock), samples 1.000000000 to 3.500000000 (2.5 "
		"s)\n"
		"events     cycles: 95 samples, sum of periods 12,345, 999 Hz, stacks from "
		"stack\n"
		"             copies (DWARF)\n"
		"           a:b: 1 sample, period 1, no stacks\n"
		"records    SAMPLE 95  type 99: 2\n"
		"loss       5 records lost by perf (5.0 % of all)  not finished by perf  torn "
		"at\n"
		"             0x10\n"
		"\n"
		"names: 75.0 % of all samples have a named innermost function\n"
		"unnamed frames (share of samples affected):\n"
		"   50.0 %  [kernel.kallsyms]: not found\n"
		"           get it:  ssh -- root@HOST cat /proc/kallsyms >kallsyms  # before "
		"the "
		"next boot; then --kallsyms kallsyms\n"
		"   37.5 %  /opt/app: build-id mismatch (/opt/app has another)\n"
		"           build-id 00ff\n"
		"           get it:  mkdir -p symfs/opt && scp -- HOST:/opt/app symfs/opt/  # "
		"then --symfs symfs\n");
	free(text);
	file_facts_release(&f);
}

static void a_store_keeps_all_that_is_said(void **state)
{
	struct file_facts f, back;
	struct stacks st = {0};
	struct timeline tl;
	struct store_writer *w;
	struct store *s;
	struct err e = {0};
	(void)state;
	make(&f);
	assert_int_equal(timeline_init(&tl, &st), 0);
	assert_int_equal(timeline_finish(&tl, &e), 0);
	assert_int_equal(store_writer_open(&w, db_path, &e), 0);
	assert_int_equal(store_writer_add(w, &tl, &e), 0);
	assert_int_equal(store_write_file(w, &f, &e), 0);
	assert_int_equal(store_writer_commit(w, &e), 0);
	assert_int_equal(store_open(&s, db_path, &e), 0);
	assert_int_equal(store_read_file(s, 1, &back, &e), 0);
	store_close(s);
	char *was = text_of(&f), *is = text_of(&back);
	assert_string_equal(was, is);
	free(was);
	free(is);
	file_facts_release(&f);
	file_facts_release(&back);
	timeline_release(&tl);
	stacks_release(&st);
}

/* 300 events, each as perf has one that gives stacks and one that does not. */
static void all_events_are_counted(void **state)
{
	struct file_facts f;
	struct buf b = {0};
	(void)state;
	make(&f);
	for (int i = 0; i < 600; i++) {
		char name[32];
		snprintf(name, sizeof(name), "many:event%d", i / 2);
		struct file_event ev = {.samples = 1, .tracepoint = 1, .name = id(&f, name)};
		assert_int_equal(vec_push(&f.events, ev), 0);
	}
	file_text_brief(&b, &f);
	assert_non_null(strstr(buf_cstr(&b), "samples    cycles 95, a:b 1, 300 more\n"));
	buf_release(&b);
	file_facts_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_are_said_in_words),
		cmocka_unit_test(a_store_keeps_all_that_is_said),
		cmocka_unit_test(all_events_are_counted),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
