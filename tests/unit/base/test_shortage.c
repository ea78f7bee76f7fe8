/* What ran short is kept, once, for whoever ends a verb. */
#include "base/mem.h"
#include "base/outfile.h"
#include "base/shortage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

static void the_first_one_is_kept(void **state)
{
	(void)state;
	struct err e = {0};
	shortage_forget();
	assert_int_equal(shortage(&e), 0);
	shortage_note("%s: Too many open files", "libc.so.6");
	shortage_note("out of memory");
	assert_int_equal(shortage(&e), ERR_NOMEM);
	assert_string_equal(e.msg, "libc.so.6: Too many open files");
	assert_int_equal(err_nomem(&e), ERR_NOMEM);
	assert_string_equal(e.msg, "libc.so.6: Too many open files");
	shortage_forget();
	assert_int_equal(shortage(NULL), 0);
}

static void a_failed_allocation_is_noted(void **state)
{
	(void)state;
	struct err e = {0};
	mem_fail_after(0);
	assert_null(mem_zalloc(2, 3));
	assert_int_equal(shortage(&e), ERR_NOMEM);
	assert_string_equal(e.msg, "out of memory");
	mem_fail_after(-1);
	assert_int_equal(shortage(NULL), 0);
	volatile size_t many = SIZE_MAX / 2;
	assert_null(mem_resize(NULL, many, 4));
	assert_int_equal(shortage(NULL), ERR_NOMEM);
	shortage_forget();
}

static void no_output_is_committed_after_one(void **state)
{
	(void)state;
	struct outfile o;
	struct err e = {0};
	char path[] = "/tmp/perfkit-shortage.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(outfile_open(&o, path, &e), 0);
	fputs("half", o.f);
	shortage_note("out of memory");
	assert_int_equal(outfile_commit(&o, &e), ERR_NOMEM);
	assert_int_equal(access(path, F_OK), -1);
	shortage_forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_one_is_kept),
		cmocka_unit_test(a_failed_allocation_is_noted),
		cmocka_unit_test(no_output_is_committed_after_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
