/* perfmap: names of JIT code from perf-PID.map. Truth: a byte-by-byte painting of the lines. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/jit/perf_map.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct perfmap parse(const char *text)
{
	struct perfmap m;
	assert_int_equal(perfmap_parse(text, strlen(text), "test", &m, NULL), 0);
	return m;
}

static void expect(const struct perfmap *m, uint64_t addr, const char *name, uint64_t start)
{
	struct symbol_hit h = {0};
	int found = perfmap_find(m, addr, &h);
	assert_string_equal(found ? h.name : "(none)", name ? name : "(none)");
	assert_int_equal(h.start, start);
}

static void names_keep_their_blanks(void **state)
{
	(void)state;
	struct perfmap m = parse("3ef414c0 398 LazyCompile:*f /app/my file.js:12\n"
				 "0x3ef41a00 0x10 RegExp:(a|b) c\n"
				 "zz 10 nothing\n"
				 "3ef50000 10\n"
				 "3ef50000 10 \n"
				 "12345678901234567 10 too long\n"
				 "3ef60000 0 py::f:/x.py");
	expect(&m, 0x3ef414bf, NULL, 0);
	expect(&m, 0x3ef414c0, "LazyCompile:*f /app/my file.js:12", 0x3ef414c0);
	expect(&m, 0x3ef41857, "LazyCompile:*f /app/my file.js:12", 0x3ef414c0);
	expect(&m, 0x3ef41858, NULL, 0);
	expect(&m, 0x3ef41a0f, "RegExp:(a|b) c", 0x3ef41a00);
	expect(&m, 0x3ef50000, NULL, 0);
	expect(&m, 0x3ef60000, "py::f:/x.py", 0x3ef60000);
	assert_int_equal(m.lines.n, 3);
	perfmap_release(&m);
}

static void what_lines_of_several_names_cover_has_none(void **state)
{
	(void)state;
	struct perfmap m = parse("1000 100 f\n"
				 "1040 10 f\n"
				 "1080 100 g\n"
				 "1090 4 g\n"
				 "2000 10 h\n"
				 "2000 10 h\n"
				 "3000 10 i\n"
				 "3000 10 j\n");
	struct symbol_hit h;
	expect(&m, 0x103f, "f", 0x1000);
	expect(&m, 0x1043, "f", 0x1040);
	expect(&m, 0x1050, "f", 0x1000);
	assert_int_equal(perfmap_find(&m, 0x1080, &h), 2);
	assert_int_equal(perfmap_find(&m, 0x10ff, &h), 2);
	expect(&m, 0x1100, "g", 0x1080);
	expect(&m, 0x117f, "g", 0x1080);
	expect(&m, 0x2004, "h", 0x2000);
	assert_int_equal(perfmap_find(&m, 0x300f, &h), 2);
	assert_int_equal(perfmap_find(&m, 0x3010, &h), 0);
	perfmap_release(&m);
}

static void random_overlaps_equal_painting(void **state)
{
	(void)state;
	enum { SPAN = 512, LINES = 100, ROUNDS = 200, NAMES = 5, SEVERAL = NAMES, NONE = -1 };
	srand(7);
	for (int round = 0; round < ROUNDS; round++) {
		char text[LINES * 32];
		int paint[SPAN], n = 0, lines = rand() % LINES;
		for (int i = 0; i < SPAN; i++)
			paint[i] = NONE;
		for (int i = 0; i < lines; i++) {
			int start = rand() % SPAN, size = 1 + rand() % 8, name = rand() % NAMES;
			n += sprintf(text + n, "%x %x f%d\n", start, size, name);
			for (int k = start; k < start + size && k < SPAN; k++)
				paint[k] =
					paint[k] == NONE || paint[k] == name ? name : SEVERAL;
		}
		text[n] = '\0';
		struct perfmap m = parse(text);
		for (int i = 0; i < SPAN; i++) {
			struct symbol_hit h;
			int found = perfmap_find(&m, (uint64_t)i, &h);
			assert_int_equal(found == 1 ? atoi(h.name + 1)
					 : found    ? SEVERAL
						    : NONE,
					 paint[i]);
			assert_true(found != 1 ||
				    (h.start <= (uint64_t)i && (uint64_t)i < h.end));
		}
		perfmap_release(&m);
	}
}

static void a_file_is_read_and_only_its_lines_are_written(void **state)
{
	(void)state;
	static const char text[] = "1000 10 f\nroot:$6$secret:1::\n0x2000 8 g h\n\n";
	char path[] = "/tmp/perfkit-map-XXXXXX";
	int fd = mkstemp(path);
	struct perfmap m;
	struct buf lines = {0};
	assert_true(fd >= 0 && !unlink(path));
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(perfmap_read(fd, path, &m, NULL), 0);
	expect(&m, 0x1000, "f", 0x1000);
	perfmap_write(&m, &lines);
	assert_string_equal(buf_cstr(&lines), "1000 10 f\n2000 8 g h\n");
	buf_release(&lines);
	perfmap_release(&m);
	close(fd);
}

static void any_damage_is_survived(void **state)
{
	(void)state;
	static const char text[] = "1000 20 first\n1010 ffffffffffffffff second one\n";
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		for (int c = 0; c < 256; c++) {
			size_t n = c ? sizeof(text) - 1 : i;
			char *copy = mem_alloc(n);
			memcpy(copy, text, n);
			if (c)
				copy[i] = (char)c;
			struct perfmap m;
			struct symbol_hit h;
			assert_int_equal(perfmap_parse(copy, n, "t", &m, NULL), 0);
			if (perfmap_find(&m, 0x1015, &h))
				assert_true(strlen(h.name) < sizeof(text));
			perfmap_release(&m);
			mem_free(copy);
		}
}

static void exhaustion_is_an_error(void **state)
{
	(void)state;
	static const char text[] = "1000 100 a\n1010 10 b\n";
	struct perfmap m;
	for (long k = 0;; k++) {
		mem_fail_after(k);
		int rc = perfmap_parse(text, sizeof(text) - 1, "t", &m, NULL);
		mem_fail_after(-1);
		if (!rc)
			break;
		assert_int_equal(rc, ERR_NOMEM);
		assert_null(m.text);
	}
	perfmap_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_keep_their_blanks),
		cmocka_unit_test(what_lines_of_several_names_cover_has_none),
		cmocka_unit_test(random_overlaps_equal_painting),
		cmocka_unit_test(a_file_is_read_and_only_its_lines_are_written),
		cmocka_unit_test(any_damage_is_survived),
		cmocka_unit_test(exhaustion_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
