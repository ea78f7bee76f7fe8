/* jitdump: JIT code by address and time. Truth: the dump this file writes, by the kernel's
 * jitdump-specification.txt, in both byte orders. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/jit/jitdump.h"
#include "libsym/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a writer --------------------------------------------------------------------------- */

static struct buf dump;
static int swap;

static void u32(uint32_t x)
{
	x = swap ? __builtin_bswap32(x) : x;
	buf_add(&dump, &x, sizeof(x));
}

static void u64(uint64_t x)
{
	x = swap ? __builtin_bswap64(x) : x;
	buf_add(&dump, &x, sizeof(x));
}

static void start(int swapped)
{
	buf_clear(&dump);
	swap = swapped;
	u32(0x4A695444);
	u32(1);
	u32(40);
	u32(62); /* EM_X86_64 */
	u32(0);
	u32(4242);
	u64(1);
	u64(0);
}

static void record(uint32_t id, uint32_t body, uint64_t time)
{
	u32(id);
	u32(16 + body);
	u64(time);
}

static void load(uint64_t time, uint64_t addr, uint64_t size, uint64_t index, const char *name)
{
	size_t n = strlen(name) + 1;
	record(0, (uint32_t)(40 + n + size), time);
	u32(4242);
	u32(4243);
	u64(addr);
	u64(addr);
	u64(size);
	u64(index);
	buf_add(&dump, name, n);
	for (uint64_t i = 0; i < size; i++)
		buf_char(&dump, (char)i);
}

static void move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	record(1, 48, time);
	u32(4242);
	u32(4243);
	u64(to);
	u64(from);
	u64(to);
	u64(size);
	u64(index);
}

static void add_line(uint64_t addr, uint32_t line, const char *file)
{
	u64(addr);
	u32(line);
	u32(0);
	buf_add(&dump, file, strlen(file) + 1);
}

/* Two functions at one address, one moved, lines and unwinding data. */
static void write_dump(int swapped)
{
	start(swapped);
	record(2, 16 + 3 * 16 + 5 + 2 + 5, 90);
	u64(0x1000);
	u64(3);
	add_line(0x1000, 10, "a.js");
	add_line(0x1008, 11, "\xff");
	add_line(0x1010, 20, "b.js");
	record(4, 24 + 12, 91);
	u64(12);
	u64(4);
	u64(12);
	buf_add(&dump, "EHFRAMEshdr!", 12);
	load(100, 0x1000, 32, 1, "first");
	load(200, 0x1000, 16, 2, "second");
	load(110, 0x2000, 16, 3, "mover");
	move(300, 0x2000, 0x3000, 16, 3);
	record(99, 8, 301); /* unknown kind */
	u64(0);
}

static struct jitdump *open_dump(void)
{
	struct jitdump *j = NULL;
	struct err e = {0};
	assert_int_equal(jitdump_open_mem(dump.v, dump.n, "test", &j, &e), 0);
	return j;
}

static void expect(const struct jitdump *j, uint64_t addr, uint64_t time, const char *name)
{
	const struct jit_code *c;
	int found = jitdump_find(j, addr, time, &c);
	assert_string_equal(found ? c->name : "(none)", name ? name : "(none)");
}

/* --- tests ------------------------------------------------------------------------------ */

static void time_decides_between_codes_at_one_address(void **state)
{
	(void)state;
	for (int s = 0; s < 2; s++) {
		write_dump(s);
		struct jitdump *j = open_dump();
		struct jitdump_info info = jitdump_info(j);
		assert_int_equal(info.pid, 4242);
		assert_int_equal(info.elf_machine, 62);
		assert_int_equal(info.codes, 4);
		assert_int_equal(info.truncated + (int)info.bad + info.arch_timestamp, 0);
		expect(j, 0x1008, 99, NULL);
		expect(j, 0x1008, 100, "first");
		expect(j, 0x1008, 199, "first");
		expect(j, 0x1008, 200, "second");
		expect(j, 0x1018, 250, "first");
		expect(j, 0x1008, UINT64_MAX, "second");
		expect(j, 0x1020, 150, NULL);
		expect(j, 0x0fff, 150, NULL);
		jitdump_close(j);
	}
}

static void moved_code_is_found_where_it_is(void **state)
{
	(void)state;
	write_dump(1);
	struct jitdump *j = open_dump();
	expect(j, 0x2004, 299, "mover");
	expect(j, 0x3004, 299, NULL);
	expect(j, 0x2004, 300, NULL);
	expect(j, 0x3004, 300, "mover");
	expect(j, 0x3004, UINT64_MAX, "mover");
	jitdump_close(j);
}

static void lines_and_unwinding_belong_to_the_next_load(void **state)
{
	(void)state;
	for (int s = 0; s < 2; s++) {
		write_dump(s);
		struct jitdump *j = open_dump();
		const struct jit_code *c;
		const char *file;
		uint32_t line;
		assert_int_equal(jitdump_find(j, 0x1000, 150, &c), 1);
		assert_int_equal(jitdump_line(j, c, 0x1007, &file, &line), 1);
		assert_string_equal(file, "a.js");
		assert_int_equal(line, 10);
		assert_int_equal(jitdump_line(j, c, 0x100f, &file, &line), 1);
		assert_string_equal(file, "a.js");
		assert_int_equal(line, 11);
		assert_int_equal(jitdump_line(j, c, 0x101f, &file, &line), 1);
		assert_string_equal(file, "b.js");
		assert_int_equal(c->eh_frame_size, 8);
		assert_memory_equal(c->eh_frame, "EHFRAMEs", 8);
		assert_memory_equal(c->eh_frame_hdr, "hdr!", 4);
		assert_int_equal(c->code[31], 31);
		assert_int_equal(jitdump_find(j, 0x1000, 250, &c), 1);
		assert_int_equal(jitdump_line(j, c, 0x1000, &file, &line), 0);
		assert_null(c->eh_frame);
		jitdump_close(j);
	}
}

/* V8 counts from an ELF header in front of the code, and may write garbage for file names. */
static void v8s_line_tables_are_understood_or_dropped(void **state)
{
	(void)state;
	const struct jit_code *c;
	const char *file;
	uint32_t line;
	start(0);
	record(2, 16 + 2 * 16 + 10, 90);
	u64(0x1000);
	u64(2);
	add_line(0x1040, 10, "a.js");
	add_line(0x1048, 11, "a.js");
	load(100, 0x1000, 16, 1, "good");
	record(2, 16 + 2 * 16 + 10, 190);
	u64(0x2000);
	u64(2);
	add_line(0x2040, 10, "-");
	buf_add(&dump, "\0x\0", 3);
	add_line(0x2048, 11, "a.js");
	load(200, 0x2000, 16, 2, "bad");
	struct jitdump *j = open_dump();
	assert_int_equal(jitdump_find(j, 0x1007, 150, &c), 1);
	assert_int_equal(jitdump_line(j, c, 0x1007, &file, &line), 1);
	assert_int_equal(line, 10);
	assert_int_equal(jitdump_line(j, c, 0x1008, &file, &line), 1);
	assert_int_equal(line, 11);
	assert_int_equal(jitdump_find(j, 0x2007, 250, &c), 1);
	assert_int_equal(jitdump_line(j, c, 0x2007, &file, &line), 0);
	jitdump_close(j);
}

static void what_precedes_a_tear_is_used(void **state)
{
	(void)state;
	write_dump(0);
	size_t whole = dump.n;
	for (size_t n = 0; n <= whole; n++) {
		struct jitdump *j = NULL;
		uint8_t *cut = mem_alloc(n);
		memcpy(cut, dump.v, n);
		int rc = jitdump_open_mem(cut, n, "cut", &j, NULL);
		assert_int_equal(rc, n < 40 ? ERR_FORMAT : 0);
		if (!rc && n == whole - 1)
			expect(j, 0x3004, 300, "mover");
		jitdump_close(j);
		mem_free(cut);
	}
}

static void any_flipped_byte_is_survived(void **state)
{
	(void)state;
	write_dump(0);
	uint8_t *copy = mem_alloc(dump.n);
	for (size_t i = 0; i < dump.n; i++)
		for (int bit = 0; bit < 8; bit++) {
			struct jitdump *j = NULL;
			const struct jit_code *c;
			const char *file;
			uint32_t line;
			memcpy(copy, dump.v, dump.n);
			copy[i] = (uint8_t)(copy[i] ^ 1 << bit);
			if (jitdump_open_mem(copy, dump.n, "bad", &j, NULL))
				continue;
			for (uint64_t a = 0x1000; a < 0x3010; a += 8)
				if (jitdump_find(j, a, 400, &c))
					jitdump_line(j, c, a, &file, &line);
			jitdump_close(j);
		}
	mem_free(copy);
}

/* A JIT that reuses one page for ever, and a hostile nest of codes. */
static void many_codes_at_one_address_stay_quick(void **state)
{
	(void)state;
	enum { CODES = 200000 }; /* more than a search may look at */
	start(0);
	for (uint64_t i = 0; i < CODES; i++)
		load(1000 + i, 0x1000, 4, i, i % 2 ? "odd" : "even");
	struct jitdump *j = open_dump();
	for (uint64_t i = 0; i < CODES; i++)
		expect(j, 0x1002, 1000 + i, i % 2 ? "odd" : "even");
	jitdump_close(j);
}

static void random_codes_equal_a_linear_search(void **state)
{
	(void)state;
	enum { CODES = 300 };
	struct {
		uint64_t time, addr, size;
	} c[CODES];
	char name[16];
	srand(11);
	start(0);
	for (int i = 0; i < CODES; i++) {
		c[i].time = 100 + (uint64_t)i * 3;
		c[i].addr = (uint64_t)(rand() % 400);
		c[i].size = 1 + (uint64_t)(rand() % 60);
		snprintf(name, sizeof(name), "f%d", i);
		load(c[i].time, c[i].addr, c[i].size, (uint64_t)i, name);
	}
	struct jitdump *j = open_dump();
	for (int k = 0; k < 20000; k++) {
		uint64_t addr = (uint64_t)(rand() % 480), time = (uint64_t)(rand() % 1100);
		int want = -1;
		for (int i = 0; i < CODES; i++)
			if (c[i].time <= time && addr >= c[i].addr &&
			    addr < c[i].addr + c[i].size)
				want = i;
		snprintf(name, sizeof(name), "f%d", want);
		expect(j, addr, time, want < 0 ? NULL : name);
	}
	jitdump_close(j);
}

static void changes_are_the_times_of_replaced_and_moved_code(void **state)
{
	(void)state;
	static const uint64_t want[] = {100, 200, 300};
	size_t n;
	write_dump(0);
	struct jitdump *j = open_dump();
	const uint64_t *times = jitdump_changes(j, &n);
	assert_int_equal(n, 3);
	assert_memory_equal(times, want, sizeof(want));
	jitdump_close(j);
	start(0);
	for (uint64_t i = 0; i < 100; i++)
		load(1000 + i, 0x1000 + 16 * i, 16, i, "f");
	j = open_dump();
	jitdump_changes(j, &n);
	assert_int_equal(n, 0);
	jitdump_close(j);
}

static int is_among(const uint64_t *v, size_t n, uint64_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return 1;
	return 0;
}

static void between_changes_an_address_means_one_code(void **state)
{
	(void)state;
	enum { ADDRS = 300, TIMES = 130 };
	size_t n;
	srand(12);
	start(0);
	for (uint64_t i = 0; i < 20; i++)
		load(6 * i, (uint64_t)(rand() % 250), 1 + (uint64_t)(rand() % 30), i, "f");
	for (uint64_t i = 0; i < 5; i++)
		move(6 * i + 3, 0, (uint64_t)(rand() % 250), 8, 4 * i);
	struct jitdump *j = open_dump();
	const uint64_t *times = jitdump_changes(j, &n);
	for (uint64_t addr = 0; addr < ADDRS; addr++) {
		const struct jit_code *before = NULL, *c;
		for (uint64_t t = 0; t < TIMES; t++, before = c) {
			jitdump_find(j, addr, t, &c);
			assert_true(!before || c == before || is_among(times, n, t));
		}
	}
	jitdump_close(j);
}

/* --- in a recording --------------------------------------------------------------------- */

enum { PID = 4242, CODE = 0x1000 };

/* A process that mapped its dump, sampled at one address at each of the times. */
static void write_recording(struct buf *image, const uint64_t *times, size_t n)
{
	static const uint64_t ids[] = {11};
	struct pw_id at = {.pid = PID, .tid = PID, .time = 1};
	struct pw_mmap map = {.pid = PID, .tid = PID, .prot = 5};
	struct pw w;
	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME,
				      .flags = PW_SAMPLE_ID_ALL,
				      .ids = ids,
				      .nids = 1});
	pw_comm(&w, &at, PID, PID, "jit", 0);
	map.addr = CODE;
	map.len = 0x1000;
	map.filename = "//anon";
	pw_mmap2(&w, &at, &map);
	map.addr = 0x9000;
	map.filename = "/tmp/jit-4242.dump";
	map.ino = 9;
	pw_mmap2(&w, &at, &map);
	for (size_t i = 0; i < n; i++)
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .ip = CODE + 8,
					      .pid = PID,
					      .tid = PID,
					      .time = times[i]});
	assert_int_equal(pw_finish(&w, image), 0);
}

/* The recording's samples, with `dump` where the process left it. */
static struct profile *fold(struct buf *image, const char *dir)
{
	struct profile_options opt = {
		.modules.find = {.buildid_dir = "", .symfs = dir, .no_local = 1}};
	struct fold_options how = {.workers = 1};
	struct recording *rec = NULL;
	struct profile *p = NULL;
	char path[64];
	snprintf(path, sizeof(path), "%s/tmp", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/tmp/jit-4242.dump", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(dump.v, 1, dump.n, f), dump.n);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(recording_open_mem(&rec, image->v, image->n, "jit", NULL), 0);
	assert_int_equal(profile_of(&p, rec, &opt, NULL), 0);
	assert_int_equal(profile_fold(p, &how, NULL), 0);
	unlink(path);
	snprintf(path, sizeof(path), "%s/tmp", dir);
	rmdir(path);
	rmdir(dir);
	return p;
}

static uint64_t samples_of(const struct profile *p, const char *function)
{
	uint64_t n = 0;
	for (size_t i = 0; i < p->folded.n; i++) {
		const struct call_path *leaf = &p->stacks.paths.v[p->folded.v[i].path];
		const char *name =
			strtab_get(&p->stacks.strings, p->stacks.frames.v[leaf->frame].name);
		n += strcmp(name, function) ? 0 : p->folded.v[i].samples;
	}
	return n;
}

static void samples_are_of_the_code_that_was_there_then(void **state)
{
	(void)state;
	static const uint64_t times[] = {120, 150, 199, 200, 260, 290, 300};
	char dir[] = "/tmp/perfkit-jit-XXXXXX";
	struct buf image = {0};
	assert_non_null(mkdtemp(dir));
	write_dump(0);
	write_recording(&image, times, 7);
	struct profile *p = fold(&image, dir);
	assert_int_equal(samples_of(p, "first"), 3);
	assert_int_equal(samples_of(p, "second"), 4);
	profile_close(p);
	buf_release(&image);
}

/* Cycles of the CPU, with the flag that says so, are no times of the recording. */
static void a_dump_with_times_in_cycles_is_told_not_read(void **state)
{
	(void)state;
	static const uint64_t times[] = {120, 250}, flags = 1; /* in this machine's order */
	char dir[] = "/tmp/perfkit-jit-XXXXXX";
	struct buf image = {0};
	const char *detail;
	int told = 0;
	assert_non_null(mkdtemp(dir));
	write_dump(0);
	memcpy(dump.v + 32, &flags, sizeof(flags));
	write_recording(&image, times, 2);
	struct profile *p = fold(&image, dir);
	assert_int_equal(samples_of(p, "first") + samples_of(p, "second"), 0);
	for (uint32_t i = 0; i < p->machine.dsos.n; i++)
		told += modules_reason(p->modules, i, &detail) == DSO_CYCLES;
	assert_int_equal(told, 1);
	profile_close(p);
	buf_release(&image);
}

static void other_files_are_refused(void **state)
{
	(void)state;
	struct jitdump *j = NULL;
	write_dump(0);
	dump.v[4] = 2;
	assert_int_equal(jitdump_open_mem(dump.v, dump.n, "v2", &j, NULL), ERR_UNSUPPORTED);
	assert_int_equal(jitdump_open_mem("PERFILE2", 8, "x", &j, NULL), ERR_FORMAT);
	assert_int_equal(jitdump_open_mem("", 0, "x", &j, NULL), ERR_FORMAT);
	assert_int_equal(jitdump_open_fd(-1, "none", &j, NULL), ERR_IO);
	assert_null(j);
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	write_dump(0);
	struct jitdump *j = NULL;
	for (long k = 0;; k++) {
		mem_fail_after(k);
		int rc = jitdump_open_mem(dump.v, dump.n, "test", &j, NULL);
		mem_fail_after(-1);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
		assert_null(j);
	}
	jitdump_close(j);
}

static int release_dump(void **state)
{
	(void)state;
	buf_release(&dump);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_decides_between_codes_at_one_address),
		cmocka_unit_test(moved_code_is_found_where_it_is),
		cmocka_unit_test(lines_and_unwinding_belong_to_the_next_load),
		cmocka_unit_test(v8s_line_tables_are_understood_or_dropped),
		cmocka_unit_test(what_precedes_a_tear_is_used),
		cmocka_unit_test(any_flipped_byte_is_survived),
		cmocka_unit_test(many_codes_at_one_address_stay_quick),
		cmocka_unit_test(random_codes_equal_a_linear_search),
		cmocka_unit_test(changes_are_the_times_of_replaced_and_moved_code),
		cmocka_unit_test(between_changes_an_address_means_one_code),
		cmocka_unit_test(samples_are_of_the_code_that_was_there_then),
		cmocka_unit_test(a_dump_with_times_in_cycles_is_told_not_read),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(exhaustion_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, release_dump);
}
