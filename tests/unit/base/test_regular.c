/* A file that was looked at is the one that is opened, by every function that opens it by name. */
#include "base/regular.h"
#include "tests/lib/temptree.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int opens(const char *path)
{
	struct stat st;
	int fd = regular_open(AT_FDCWD, path, 0, &st);
	if (fd < 0)
		return errno;
	close(fd);
	fd = regular_open_as(AT_FDCWD, path, REGULAR_NO_LINK, O_RDWR, NULL);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static void what_takes_its_place_is_not_opened(void **state)
{
	(void)state;
	const char *path = in_root("/run.data"), *other = in_root("/other");
	struct stat st;
	put("/run.data", "looked at", 9);
	put("/other", "another", 7);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(regular_pin(path, &st), 0);
	assert_true(regular_is_pinned(path));
	assert_false(regular_is_pinned(other));
	assert_int_equal(opens(path), 0);
	assert_int_equal(opens(other), 0);
	assert_int_equal(rename(path, in_root("/moved")), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(opens(path), ESTALE);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(opens(path), ESTALE);
	assert_int_equal(unlink(path) + mkfifo(path, 0600), 0);
	assert_int_equal(opens(path), ESTALE);
	assert_int_equal(rename(in_root("/moved"), path), 0);
	assert_int_equal(opens(path), 0);
	regular_pin(NULL, NULL);
	assert_false(regular_is_pinned(path));
}

static void there_is_an_end_of_room(void **state)
{
	(void)state;
	struct stat st = {0};
	for (int i = 0; i < REGULAR_PINS; i++)
		assert_int_equal(regular_pin("x", &st), 0);
	assert_int_equal(regular_pin("x", &st), -1);
	regular_pin(NULL, NULL);
	assert_int_equal(regular_pin("x", &st), 0);
	regular_pin(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_TREE(what_takes_its_place_is_not_opened),
		cmocka_unit_test(there_is_an_end_of_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
