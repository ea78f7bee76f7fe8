/* printfmt: the formats that kernels write pass, what libtraceevent stumbles over does not. */
#include "tests/lib/unit.h"

#include "base/text/buf.h"
#include "libparse/print_fmt.h"

#include <glob.h>

#define HEAD "name: x\nID: 7\nformat:\n"
#define INT "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"
#define ARRAY "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
#define TEXT "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:1;\n"
#define FORMAT(print) HEAD INT TEXT ARRAY "\nprint fmt: " print "\n"

static void plain_formats_pass(void **state)
{
	(void)state;
	static const char *const formats[] = {
		FORMAT("\"pid=%d\", REC->pid"),
		FORMAT("\"nothing\""),
		FORMAT("\"%s %lx\", __get_str(name), REC->args[5]"),
		FORMAT("\"%s\", REC->pid & 0x100 ? \"+\" : \"\""),
		FORMAT("\"%s\", __print_flags(REC->pid & (1 << 3), \"|\", { 0x1, \"S\" }, "
		       "{ 0x2, \"D\" })"),
		FORMAT("\"%s\", __print_symbolic(REC->pid, { SOME_NAME, \"a\" })"),
		FORMAT("\"%llu.%03u\", (unsigned long long)REC->pid / 1000, REC->pid % 1000"),
		HEAD "\tfield:const char * name;\toffset:8;\tsize:8;\tsigned:0;\n"
		     "print fmt: \"%p %pS\", REC->name, (void *)REC->name",
	};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!print_fmt_is_safe(formats[i]))
			fail_msg("refused: %s", formats[i]);
}

static void what_leads_out_of_the_record_is_refused(void **state)
{
	(void)state;
	static const char *const formats[] = {
		FORMAT("\"%d\", REC->nobody"),
		FORMAT("\"%d %d\", REC->pid"),
		FORMAT("\"%d\", REC->pid, REC->pid"),
		FORMAT("\"%lx\", REC->args[6]"),
		FORMAT("\"%lx\", REC->args[REC->pid]"),
		FORMAT("\"%d\", REC->pid[0]"),
		FORMAT("\"%s\", __get_str(pid)"),
		FORMAT("\"%s\", REC->name"),
		FORMAT("\"%s\", __print_hex(REC->args, REC->pid)"),
		FORMAT("\"%s\", __print_array(REC->args, 6, 8)"),
		FORMAT("\"%d\", REC->pid / REC->pid"),
		FORMAT("\"%d\", REC->pid / 0"),
		FORMAT("\"%d\", REC->pid / 0xffffffffffffffff"),
		FORMAT("\"%*d\", REC->pid, REC->pid"),
		FORMAT("\"%n\", REC->pid"),
		FORMAT("\"%d\", (REC->pid"),
		FORMAT("\"%d\", REC->pid) "),
		FORMAT("\"%d"),
		FORMAT("\"%s%s\", REC->pid ? \"a\" : \"\x12\", REC->pid ? \"+\" : \"\""),
		FORMAT("({ do_it(); })"),
		FORMAT("\"a\"\nname: second"),
		HEAD "\nprint fmt: \"x\"",
		HEAD "\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\nprint fmt: \"x\"",
		HEAD "\tfield:int a[;\toffset:8;\tsize:4;\tsigned:1;\nprint fmt: \"x\"",
		HEAD "\tfield:int a;\toffset:-8;\tsize:4;\tsigned:1;\nprint fmt: \"x\"",
		HEAD "\tfield:int a;\toffset:8;\tsize:99999999;\tsigned:1;\nprint fmt: \"x\"",
		"",
	};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (print_fmt_is_safe(formats[i]))
			fail_msg("accepted: %s", formats[i]);
}

static void expressions_have_a_depth(void **state)
{
	(void)state;
	char format[4096] = HEAD INT "print fmt: \"%d\", ";
	size_t n = strlen(format);
	memset(format + n, '(', 1000);
	memcpy(format + n + 1000, "REC->pid", 8);
	memset(format + n + 1008, ')', 1000);
	assert_int_equal(print_fmt_is_safe(format), 0);
}

/* libtraceevent goes one call deeper for each: 50,000 are more than a stack holds. */
static void operators_of_a_format_are_counted(void **state)
{
	(void)state;
	static const char *const one[] = {" + 1", " / 1", "~", "(int)"};
	for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
		int in_front = i > 1;
		for (int n = 4000; n <= 5000; n += 1000) {
			struct buf b = {0};
			buf_str(&b, HEAD INT "print fmt: \"%d\", ");
			for (int k = 0; k < n && in_front; k++)
				buf_str(&b, one[i]);
			buf_str(&b, "REC->pid");
			for (int k = 0; k < n && !in_front; k++)
				buf_str(&b, one[i]);
			assert_int_equal(print_fmt_is_safe(buf_cstr(&b)), n == 4000);
			buf_release(&b);
		}
	}
}

/* Nine of ten formats of this machine's kernel, where they may be read. */
static void this_kernels_formats_mostly_pass(void **state)
{
	(void)state;
	static char text[1 << 16];
	size_t good = 0, all = 0;
	glob_t g;
	if (glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g))
		skip_because("no tracefs here");
	for (size_t i = 0; i < g.gl_pathc; i++) {
		FILE *f = fopen(g.gl_pathv[i], "r");
		if (!f)
			continue;
		size_t n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
		text[n] = '\0';
		all++;
		good += (size_t)print_fmt_is_safe(text);
	}
	globfree(&g);
	if (!all)
		skip_because("tracefs may not be read");
	assert_true(good * 10 >= all * 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_formats_pass),
		cmocka_unit_test(what_leads_out_of_the_record_is_refused),
		cmocka_unit_test(expressions_have_a_depth),
		cmocka_unit_test(operators_of_a_format_are_counted),
		cmocka_unit_test(this_kernels_formats_mostly_pass),
	};
	return cmocka_run_group_tests_name("libparse printfmt", tests, NULL, NULL);
}
