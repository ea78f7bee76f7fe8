/* libtime/doctor: interpreters that hide what they run. The program is "python3.11", or has the
 * symbol of a runtime. */
#include "tests/lib/unit.h"

#include "libsym/profile.h"
#include "libtime/doctor/findings.h"
#include "tests/lib/perfwriter.h"
#include "tests/lib/smallelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 0x401000, CODE = 0x7f8000000 };

static const struct pw_id at = {.pid = 7, .tid = 7, .time = 100};
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

static void write_program(const char *symbol)
{
	static struct smallelf elf;
	static const uint8_t text[0x100];
	smallelf_init(&elf, EM_X86_64);
	uint16_t in = (uint16_t)smallelf_section(&elf, ".text", SHT_PROGBITS,
						 SHF_ALLOC | SHF_EXECINSTR, 0x1000, text,
						 sizeof(text));
	smallelf_symbol(&elf, symbol, STB_GLOBAL, STT_FUNC, in, 0x1000, 0x100);
	put_file("/bin/program", elf.image, smallelf_finish(&elf));
}

static int make_files(void **state)
{
	static const char map[] = "7f8000000 100 py::f:/f.py\n";
	char path[64];
	(void)state;
	strcpy(dir, "/tmp/perfkit-rt-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/bin", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/tmp", dir);
	mkdir(path, 0700);
	put_file("/tmp/perf-7.map", map, sizeof(map) - 1);
	return 0;
}

static int drop_files(void **state)
{
	static const char *const names[] = {"/bin/program", "/tmp/perf-7.map", "/bin", "/tmp",
					    ""};
	char path[64];
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		remove(path);
	}
	return 0;
}

/* The remedy's key for ten stacks of `file`, of which `named` have generated code above; NULL:
 * there is no such finding. */
static const char *remedy(const char *symbol, const char *file, int named)
{
	struct profile_options opt = {
		.modules.find = {.no_local = 1, .buildid_dir = "", .symfs = dir}};
	struct fold_options how = {.workers = 1};
	struct buf image = {0};
	struct recording *rec;
	struct profile *p;
	struct findings f;
	struct err e = {0};
	struct pw w;
	write_program(symbol);
	pw_begin(&w, &(struct pw_config){0});
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .name = "cpu-clock",
				      .sample_type =
					      PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_CALLCHAIN,
				      .flags = PW_SAMPLE_ID_ALL});
	pw_comm(&w, &at, 7, 7, "program", 0);
	pw_mmap2(&w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = TEXT,
				   .len = 0x1000,
				   .pgoff = 0x1000,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = file});
	pw_mmap2(&w, &at,
		 &(struct pw_mmap){.pid = 7,
				   .tid = 7,
				   .addr = CODE,
				   .len = 0x1000,
				   .prot = PROT_READ | PROT_EXEC,
				   .filename = "//anon"});
	for (int i = 0; i < 10; i++) {
		uint64_t chain[] = {PW_CONTEXT_USER, TEXT + 0x10,
				    i < named ? CODE + 0x10 : TEXT + 0x20, TEXT + 0x30};
		pw_sample(&w, 0,
			  &(struct pw_sample){.misc = PW_MISC_USER,
					      .ip = TEXT + 0x10,
					      .pid = 7,
					      .tid = 7,
					      .time = 200,
					      .ips = chain,
					      .nips = 4});
	}
	assert_int_equal(pw_finish(&w, &image), 0);
	assert_int_equal(recording_open_mem(&rec, image.v, image.n, "image", &e), 0);
	assert_int_equal(profile_of(&p, rec, &opt, &e), 0);
	assert_int_equal(profile_fold(p, &how, &e), 0);
	assert_int_equal(findings_gather(&f, &(struct findings_input){.profile = p}, &e), 0);
	const char *key = NULL;
	for (size_t i = 0; i < f.v.n; i++)
		if (!strcmp(f.v.v[i].kind->id, "interpreter"))
			key = form_key(f.v.v[i].remedies[0].form);
	findings_release(&f);
	profile_close(p);
	buf_release(&image);
	return key;
}

static void interpreters_are_named(void **state)
{
	(void)state;
	assert_string_equal(remedy("_PyEval_EvalFrameDefault", "/bin/program", 0),
			    "name-python");
	assert_string_equal(remedy("main", "/usr/bin/python3.11", 0), "name-python");
	assert_string_equal(remedy("main", "/lib/libpython3.13.so.1.0", 0), "name-python");
	assert_string_equal(remedy("PyEval_EvalFrameEx", "/bin/program", 0), "newer-python");
	assert_string_equal(remedy("Builtins_InterpreterEntryTrampoline", "/bin/program", 0),
			    "name-node");
	assert_string_equal(remedy("execute_ex", "/bin/program", 0), "name-php");
	assert_string_equal(remedy("main", "/usr/lib/apache2/modules/libphp8.2.so", 0),
			    "name-php");
	assert_null(remedy("main", "/bin/program", 0));
}

static void a_map_in_use_needs_no_hint(void **state)
{
	(void)state;
	assert_null(remedy("_PyEval_EvalFrameDefault", "/bin/program", 9));
	assert_non_null(remedy("_PyEval_EvalFrameDefault", "/bin/program", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interpreters_are_named),
		cmocka_unit_test(a_map_in_use_needs_no_hint),
	};
	return cmocka_run_group_tests(tests, make_files, drop_files);
}
