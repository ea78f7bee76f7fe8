/* libsym: whose memory generated code is in, and whose name it gets: of forked processes, in files
 * of memory, and in place of a program's own code. */
#include "tests/lib/unit.h"

#include "libsym/profile.h"
#include "tests/lib/perfwriter.h"
#include "tests/lib/smallelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 0x400000, TEXT_SIZE = 0x600000, LIB = 0x7f0000000, CODE = 0x7f8000000 };

static char dir[32];

static void put_file(const char *name, const void *data, size_t n)
{
	char path[128];
	snprintf(path, sizeof(path), "%s%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *name, const char *text)
{
	put_file(name, text, strlen(text));
}

static int make_files(void **state)
{
	static struct smallelf elf;
	static const uint8_t text[0x100];
	char path[64];
	(void)state;
	strcpy(dir, "/tmp/perfkit-gen-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/none", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/tmp", dir);
	mkdir(path, 0700);
	smallelf_init(&elf, EM_X86_64);
	uint16_t at_text = (uint16_t)smallelf_section(&elf, ".text", SHT_PROGBITS,
						      SHF_ALLOC | SHF_EXECINSTR, 0x1000, text,
						      sizeof(text));
	smallelf_symbol(&elf, "own", STB_GLOBAL, STT_FUNC, at_text, 0x1000, 0x100);
	put_file("/none/program", elf.image, smallelf_finish(&elf));
	put_text("/tmp/perf-7.map", "7f8000000 100 parents\n7f8000100 100 shared\n");
	put_text("/tmp/perf-8.map", "7f8000000 100 childs\n");
	return 0;
}

static int drop_files(void **state)
{
	static const char *const names[] = {"/none/program",
					    "/tmp/perf-7.map",
					    "/tmp/perf-8.map",
					    "/tmp/perf-9.map",
					    "/none/jit-9.dump",
					    "/none",
					    "/tmp",
					    ""};
	char path[64];
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		remove(path);
	}
	return 0;
}

/* --- recordings ----------------------------------------------------------------------- */

static uint64_t clock_ns;

static struct pw_id next(uint32_t pid)
{
	return (struct pw_id){.pid = pid, .tid = pid, .time = clock_ns += 10};
}

static void begin(struct pw *w)
{
	pw_begin(w, &(struct pw_config){0});
	pw_attr(w, &(struct pw_attr){.type = 1,
				     .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME,
				     .flags = PW_SAMPLE_ID_ALL});
	clock_ns = 0;
}

static void map_code(struct pw *w, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
		     const char *name)
{
	struct pw_id at = next(pid);
	pw_mmap2(w, &at,
		 &(struct pw_mmap){.pid = pid,
				   .tid = pid,
				   .addr = addr,
				   .len = len,
				   .pgoff = pgoff,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = name});
}

static void start_program(struct pw *w, uint32_t pid)
{
	struct pw_id at = next(pid);
	pw_comm(w, &at, pid, pid, "program", PW_MISC_COMM_EXEC);
	map_code(w, pid, TEXT, TEXT_SIZE, 0x1000, "/none/program");
	map_code(w, pid, LIB, 0x1000, 0x1000, "/none/library.so");
}

static void fork_process(struct pw *w, uint32_t pid, uint32_t parent)
{
	struct pw_id at = next(parent);
	pw_fork(w, &at, pid, parent, pid, parent, at.time);
}

/* Finish with a sample of `pid` and return its frame: a name, or the DSO's in brackets. */
static const char *named(struct pw *w, uint32_t pid, uint64_t ip)
{
	static char out[128];
	struct profile_options opt = {
		.modules.find = {.no_local = 1, .buildid_dir = "", .symfs = dir}};
	struct fold_options how = {.workers = 1};
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct err e = {0};
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_USER,
				      .ip = ip,
				      .pid = pid,
				      .tid = pid,
				      .time = next(pid).time});
	assert_int_equal(pw_finish(w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(p->folded.n, 1);
	const struct frame *f =
		&p->stacks.frames.v[p->stacks.paths.v[p->folded.v[0].path].frame];
	snprintf(out, sizeof(out), f->name ? "%s" : "[%s]",
		 strtab_get(&p->stacks.strings, f->name ? f->name : f->dso));
	profile_close(p);
	buf_release(&image);
	return out;
}

/* --- tests ---------------------------------------------------------------------------- */

static void forked_process_is_asked_first(void **state)
{
	static const struct {
		uint32_t pid;
		uint64_t ip;
		const char *name;
	} want[] = {{7, CODE + 0x10, "parents"},
		    {8, CODE + 0x10, "childs"},
		    {8, CODE + 0x110, "shared"},
		    {9, CODE + 0x10, "parents"}};
	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct pw w;
		begin(&w);
		start_program(&w, 7);
		map_code(&w, 7, CODE, 0x1000, 0, "//anon");
		fork_process(&w, 8, 7);
		fork_process(&w, 9, 7); /* it has no map */
		assert_string_equal(named(&w, want[i].pid, want[i].ip), want[i].name);
	}
}

/* /tmp/perf-7.map is of one process; which of two with this pid wrote it, it does not tell. */
static void a_map_is_not_of_another_process_with_its_pid(void **state)
{
	(void)state;
	for (int had_code = 0; had_code < 2; had_code++) {
		struct pw w;
		begin(&w);
		start_program(&w, 7);
		if (had_code)
			map_code(&w, 7, CODE, 0x1000, 0, "//anon");
		struct pw_id at = next(7);
		pw_exit(&w, &at, 7, 1, 7, 1, at.time);
		fork_process(&w, 7, 1);
		start_program(&w, 7);
		map_code(&w, 7, CODE, 0x1000, 0, "//anon");
		assert_string_equal(named(&w, 7, CODE + 8),
				    had_code ? "[/tmp/perf-7.map]" : "parents");
	}
}

/* In the code [CODE, CODE + 0x3000), mapped in two pieces. */
static void a_map_that_does_not_fit_names_nothing(void **state)
{
	static const struct {
		const char *map, *name;
	} want[] = {
		{"7f8000000 100 f\n7f8000f00 200 g\n7f8002f00 100 h\n", "f"},
		/* interpreters list their data, too */
		{"5500000 100 a\n5600000 100 b\n5700000 100 c\n7f8000000 100 f\n", "f"},
		/* one in eight */
		{"7f8000000 100 f\n7f8000100 10 a\n7f8000110 10 b\n7f8000120 10 c\n"
		 "7f8000130 10 d\n7f8000140 10 e\n7f8000150 10 g\n7f8002f00 101 h\n",
		 "f"},
		/* … is of another process, in whose memory they were whole */
		{"7f8000000 100 f\n7f8002f00 101 h\n", NULL},
		{"7f7ffffff 100 f\n", NULL},
		{"7f9000000 100 f\n", NULL},
	};
	(void)state;
	for (size_t i = 0; i < 2 * (sizeof(want) / sizeof(*want)); i++) {
		int is_stale = i % 2; /* written before the process began */
		struct pw w;
		put_text("/tmp/perf-9.map", want[i / 2].map);
		begin(&w);
		pw_feature_clock_data(&w, 1, is_stale ? INT64_MAX / 2 : 1, 0);
		start_program(&w, 7);
		fork_process(&w, 9, 7);
		map_code(&w, 9, CODE, 0x1000, 0, "//anon");
		map_code(&w, 9, CODE + 0x1000, 0x2000, 0, "//anon");
		const char *name = is_stale ? NULL : want[i / 2].name;
		assert_string_equal(named(&w, 9, CODE + 0x10),
				    name ? name : "[/tmp/perf-9.map]");
	}
}

static void a_jitdump_that_does_not_fit_names_nothing(void **state)
{
	(void)state;
	for (int fits = 0; fits < 2; fits++) {
		struct pw w;
		const uint64_t size = fits ? 0x1000 : 0x1001;
		const struct {
			uint32_t magic, version, header_size, machine, pad, pid;
			uint64_t time, flags;
			uint32_t id, record_size;
			uint64_t loaded;
			uint32_t code_pid, code_tid;
			uint64_t vma, start, code_size, index;
			char name[16];
		} dump = {0x4a695444, 1, 40, EM_X86_64, 0,    9,    10,   0, 0,
			  72,         5, 9,  9,         CODE, CODE, size, 1, "compiled"};
		put_file("/none/jit-9.dump", &dump, sizeof(dump));
		begin(&w);
		start_program(&w, 9);
		map_code(&w, 9, CODE, 0x1000, 0, "//anon");
		map_code(&w, 9, 0x10000, 0x1000, 0, "/none/jit-9.dump");
		put_text("/tmp/perf-9.map", "");
		assert_string_equal(named(&w, 9, CODE + 0x10),
				    fits ? "compiled" : "[/tmp/perf-9.map]");
	}
}

static void files_of_memory_hold_generated_code(void **state)
{
	static const struct {
		const char *file, *name;
	} want[] = {{"/dev/shm/code", "parents"},
		    {"/dev/shm/code (deleted)", "parents"},
		    {"/memfd:code (deleted)", "parents"},
		    {"/dev/shm/plugin.so", "[/dev/shm/plugin.so]"},
		    {"/dev/shm/plugin.so.2", "[/dev/shm/plugin.so.2]"},
		    {"/srv/shm/code", "[/srv/shm/code]"}};
	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct pw w;
		begin(&w);
		map_code(&w, 7, CODE, 0x1000, 0, want[i].file);
		assert_string_equal(named(&w, 7, CODE + 0x10), want[i].name);
	}
}

/* A program in /dev/shm: perf's table has its build-id. */
static void program_in_memory_is_a_program(void **state)
{
	static const uint8_t id[20] = {1, 2, 3};
	struct pw w;
	(void)state;
	begin(&w);
	pw_feature_build_id(&w, PW_MISC_USER, 7, id, sizeof(id), "/dev/shm/program");
	map_code(&w, 7, CODE, 0x1000, 0, "/dev/shm/program");
	assert_string_equal(named(&w, 7, CODE + 0x10), "[/dev/shm/program]");
}

/* The program's own code, of which [CODE + from, … + size) became `memory`. */
static const char *remapped(uint64_t from, uint64_t size, const char *memory)
{
	struct pw w;
	begin(&w);
	start_program(&w, 7);
	map_code(&w, 7, from, size, 0, memory);
	return named(&w, 7, TEXT + 0x10);
}

static void remapped_text_is_the_programs(void **state)
{
	(void)state;
	assert_string_equal(remapped(TEXT, TEXT_SIZE, "//anon"), "own");
	assert_string_equal(remapped(TEXT, 0x400000, "/anon_hugepage (deleted)"), "own");
	assert_string_equal(remapped(TEXT, 0x200000, "/memfd:text (deleted)"), "own");
	/* aligned outwards to huge pages */
	assert_string_equal(remapped(TEXT - 0x100000, TEXT_SIZE + 0x200000, "//anon"), "own");
	/* memory that is not in its place, although it covers it */
	assert_string_equal(remapped(TEXT - 0x400000, 2 * TEXT_SIZE, "//anon"),
			    "[/tmp/perf-7.map]");
}

static void remapped_text_of_a_forked_process(void **state)
{
	struct pw w;
	(void)state;
	begin(&w);
	start_program(&w, 7);
	fork_process(&w, 9, 7);
	map_code(&w, 9, TEXT, TEXT_SIZE, 0, "//anon");
	assert_string_equal(named(&w, 9, TEXT + 0x10), "own");
}

static void other_memory_is_not_the_programs(void **state)
{
	struct pw w;
	(void)state;
	/* where a library was: it may have been unloaded */
	begin(&w);
	start_program(&w, 9);
	map_code(&w, 9, LIB, 0x1000, 0, "//anon");
	assert_string_equal(named(&w, 9, LIB + 0x10), "[/tmp/perf-9.map]");
	/* of the image before */
	begin(&w);
	start_program(&w, 9);
	struct pw_id at = next(9);
	pw_comm(&w, &at, 9, 9, "other", PW_MISC_COMM_EXEC);
	map_code(&w, 9, TEXT, TEXT_SIZE, 0, "//anon");
	assert_string_equal(named(&w, 9, TEXT + 0x10), "[/tmp/perf-9.map]");
	/* a process whose start was not recorded: the file may be any */
	begin(&w);
	map_code(&w, 9, TEXT, TEXT_SIZE, 0x1000, "/none/program");
	map_code(&w, 9, TEXT, TEXT_SIZE, 0, "//anon");
	assert_string_equal(named(&w, 9, TEXT + 0x10), "[/tmp/perf-9.map]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forked_process_is_asked_first),
		cmocka_unit_test(a_map_is_not_of_another_process_with_its_pid),
		cmocka_unit_test(a_map_that_does_not_fit_names_nothing),
		cmocka_unit_test(a_jitdump_that_does_not_fit_names_nothing),
		cmocka_unit_test(files_of_memory_hold_generated_code),
		cmocka_unit_test(program_in_memory_is_a_program),
		cmocka_unit_test(remapped_text_is_the_programs),
		cmocka_unit_test(remapped_text_of_a_forked_process),
		cmocka_unit_test(other_memory_is_not_the_programs),
	};
	return cmocka_run_group_tests(tests, make_files, drop_files);
}
