/* kallsyms: the kernel's symbol list. The rules were compared with perf script --kallsyms 6.1
 * over 60,611 addresses of one kernel: equal but for [__builtin__ftrace], which perf drops. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libsym/elf/kallsyms.h"

#include <endian.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct kallsyms parse(const char *text)
{
	struct kallsyms k;
	struct err e = {0};
	assert_int_equal(kallsyms_parse(text, strlen(text), "test", &k, &e), 0);
	return k;
}

static void expect(const struct kallsyms *k, uint64_t addr, const char *name,
		   const char *module)
{
	struct symbol_hit h;
	const char *m = NULL;
	if (!kallsyms_find(k, addr, &h, &m)) {
		assert_null(name);
		return;
	}
	assert_string_equal(h.name, name ? name : "(none)");
	assert_string_equal(m, module);
}

static void functions_reach_to_the_next_symbol(void **state)
{
	(void)state;
	struct kallsyms k = parse("ffffffff81000000 T _stext\n"
				  "ffffffff81000000 T _text\n"
				  "ffffffff81000100 t do_one\n"
				  "ffffffff81000180 A absolute\n"
				  "ffffffff81000200 W weak_one\n"
				  "ffffffff81000240 r a_string\n"
				  "ffffffff81000300 D some_data\n"
				  "not a line\n"
				  "\n"
				  "ffffffff81000400 T last\n");
	expect(&k, 0xffffffff80ffffff, NULL, NULL);
	/* Of size-less aliases the last one of the file has the bytes. */
	expect(&k, 0xffffffff81000000, "_text", "");
	expect(&k, 0xffffffff810001ff, "do_one", "");
	expect(&k, 0xffffffff810002ff, "weak_one", "");
	expect(&k, 0xffffffff81001fff, "last", "");
	expect(&k, 0xffffffff81002000, NULL, NULL);
	assert_int_equal(k.text, 0xffffffff81000000);
	assert_int_equal(k.stext, 0xffffffff81000000);
	assert_int_equal(k.lines, 6);
	kallsyms_release(&k);
}

static void modules_end_with_their_last_page(void **state)
{
	(void)state;
	struct kallsyms k = parse("ffffffff81000000 T kernel_end\n"
				  "ffffffffc0000010 t one_f\t[one]\n"
				  "ffffffffc0002000 t two_f\t[two]\n"
				  "ffffffffc0001010 t one_g\t[one]\n"
				  "ffffffffc0002040 t two_g\t[two]\n");
	expect(&k, 0xffffffff81000fff, "kernel_end", "");
	expect(&k, 0xffffffff81001000, NULL, NULL);
	expect(&k, 0xffffffffc0001000, "one_f", "one");
	expect(&k, 0xffffffffc0001fff, "one_g", "one");
	expect(&k, 0xffffffffc0002000, "two_f", "two");
	expect(&k, 0xffffffffc0002050, "two_g", "two");
	kallsyms_release(&k);
}

static void zero_addresses_are_refused_with_the_reason(void **state)
{
	(void)state;
	static const char text[] = "0000000000000000 T _text\n0000000000000000 t f\n";
	struct kallsyms k;
	struct err e = {0};
	assert_int_equal(kallsyms_parse(text, sizeof(text) - 1, "ks", &k, &e), ERR_REFUSED);
	assert_non_null(strstr(e.msg, "kptr_restrict"));
	assert_int_equal(kallsyms_parse("x", 1, "ks", &k, &e), ERR_FORMAT);
	assert_int_equal(kallsyms_parse("", 0, "ks", &k, &e), ERR_FORMAT);
	assert_false(kallsyms_detect("/dev/null"));
	assert_false(kallsyms_detect("/nowhere"));
}

static void any_damage_is_survived(void **state)
{
	(void)state;
	static const char text[] = "ffffffff81000000 T a\nffffffffc0000010 t f\t[m]\n"
				   "ffffffffc0000020 t g\t[n]";
	for (size_t i = 0; i < sizeof(text); i++)
		for (int c = 0; c < 256; c += 5) {
			struct kallsyms k;
			char *copy = mem_alloc(sizeof(text) - 1);
			memcpy(copy, text, sizeof(text) - 1);
			if (i < sizeof(text) - 1)
				copy[i] = (char)c;
			size_t n = c ? sizeof(text) - 1 : i < sizeof(text) - 1 ? i : 0;
			if (!kallsyms_parse(copy, n, "t", &k, NULL)) {
				struct symbol_hit h;
				kallsyms_find(&k, 0xffffffffc0000015, &h, NULL);
				kallsyms_release(&k);
			}
			mem_free(copy);
		}
}

/* 150,000 lines, as a distribution kernel has, within the budget of 50 ms (x4 for sanitizers
 * and busy machines). */
static void a_whole_kernel_parses_in_a_blink(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	enum { LINES = 150000, MOST_MS = 4000 };
#else
	enum { LINES = 150000, MOST_MS = 200 };
#endif
	char *text = mem_alloc(LINES * 48);
	size_t n = 0;
	for (int i = 0; i < LINES; i++)
		n += (size_t)sprintf(text + n, "%016llx t function_number_%d\n",
				     0xffffffff81000000ull + (unsigned)i * 32ull, i);
	struct timespec a, b;
	struct kallsyms k;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	assert_int_equal(kallsyms_parse(text, n, "big", &k, NULL), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	double ms =
		1e3 * (double)(b.tv_sec - a.tv_sec) + 1e-6 * (double)(b.tv_nsec - a.tv_nsec);
	if (ms > MOST_MS)
		fail_msg("%.1f ms for %d lines", ms, LINES);
	expect(&k, 0xffffffff81000000 + 149999 * 32, "function_number_149999", "");
	kallsyms_release(&k);
	mem_free(text);
}

static void kernel_notes_give_the_build_id(void **state)
{
	(void)state;
	struct build_id id;
	if (access("/sys/kernel/notes", R_OK))
		skip_because("no /sys/kernel/notes here");
	if (sizeof(long) != 8 || htole16(1) != 1)
		skip_because("under an emulator the kernel is another machine's");
	assert_int_equal(kernel_notes_build_id("/sys/kernel/notes", &id, NULL), 0);
	assert_true(id.len >= 8);
	assert_int_equal(kernel_notes_build_id("/nowhere", &id, NULL), ERR_NOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_reach_to_the_next_symbol),
		cmocka_unit_test(modules_end_with_their_last_page),
		cmocka_unit_test(zero_addresses_are_refused_with_the_reason),
		cmocka_unit_test(any_damage_is_survived),
		cmocka_unit_test(a_whole_kernel_parses_in_a_blink),
		cmocka_unit_test(kernel_notes_give_the_build_id),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
