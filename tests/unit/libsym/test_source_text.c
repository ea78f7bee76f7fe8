/* source_text: which files may be read, which is preferred, and what is said of it; MD5. */
#include "tests/lib/temptree.h"

#include "base/md5.h"
#include "libsym/source/source_text.h"

#include <unistd.h>

static void md5_is_that_of_the_rfc(void **state)
{
	(void)state;
	static const struct {
		const char *text, *hex;
	} cases[] = {
		{"", "d41d8cd98f00b204e9800998ecf8427e"},
		{"abc", "900150983cd24fb0d6963f7d28e17f72"},
		{"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
		{"12345678901234567890123456789012345678901234567890123456789012345678901234567"
		 "890",
		 "57edf4a22be3c955ac49da2e2107b67a"},
		/* 55, 56 and 64 bytes: the length fits into the last block, just not, and not */
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "ef1772b6dff9a122358552954ad0df65"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "3b0c8ac703f828b04c6c197006d17218"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "014842d480b571495a4a0363793f7367"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t sum[MD5_BYTES];
		char hex[2 * MD5_BYTES + 1];
		md5_of(cases[i].text, strlen(cases[i].text), sum);
		for (int k = 0; k < MD5_BYTES; k++)
			snprintf(hex + 2 * k, 3, "%02x", sum[k]);
		assert_string_equal(hex, cases[i].hex);
	}
}

static enum source_verdict look(const struct source_options *o, const char *path,
				const char *want)
{
	struct source_text t;
	struct source_name name = {.path = path};
	assert_int_equal(source_text_load(&t, o, &name, NULL), 0);
	enum source_verdict v = t.verdict;
	if (want)
		assert_string_equal(t.text, want);
	else
		assert_null(t.text);
	source_text_release(&t);
	return v;
}

static void only_below_roots(void **state)
{
	(void)state;
	put("/src/lib/a.c", "inside\n", 7);
	put("/secret/a.c", "outside\n", 8);
	put("/secret/shadow", "outside\n", 8);
	assert_int_equal(symlink(in_root("/secret/shadow"), in_root("/src/link.c")), 0);
	assert_int_equal(symlink(in_root("/secret"), in_root("/src/dir")), 0);
	const char *src = in_root("/src");
	struct source_options o = {.dirs = &src, .ndirs = 1}, none = {0};
	look(&o, "/build/lib/a.c", "inside\n");
	look(&o, "/build/x/../lib/./a.c", "inside\n");
	assert_int_equal(look(&none, in_root("/src/lib/a.c"), NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, in_root("/secret/shadow"), NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, "/build/../../secret/shadow", NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, "../secret/shadow", NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, "/build/link.c", NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, "/build/dir/shadow", NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, "/build/lib", NULL), SOURCE_ABSENT);
	assert_int_equal(look(&o, "", NULL), SOURCE_ABSENT);
}

/* A folder that holds more than sources: what the line table did not prove looks like one. */
static void what_is_not_a_source_needs_its_sum(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		int shown;
	} files[] = {
		{"/mine/.ssh/id_rsa", 0},
		{"/mine/.ssh/key.c", 0},
		{"/mine/id_rsa", 0},
		{"/mine/passwords.txt", 0},
		{"/mine/a.c.", 0},
		{"/mine/.c", 0},
		{"/mine/a. c", 0},
		{"/mine/a.c h", 0},
		{"/mine/src/.netrc", 0},
		{"/mine/link.c", 0},
		{"/mine/src/lib.rs", 1},
		{"/mine/src/Makefile.S", 1},
		{"/mine/include/c++/any", 1},
		{"/mine/include/any", 0},
		{"/mine/src/a.min.js", 1},
	};
	put("/mine/link", "", 0);
	assert_int_equal(symlink(".ssh/id_rsa", in_root("/mine/link.c")), 0);
	char at[64 + 8], map[600];
	const char *home = at;
	snprintf(at, sizeof(at), "%s/mine", root);
	snprintf(map, sizeof(map), "/mine=%s", home);
	const char *maps[] = {map};
	const struct source_options ways[] = {
		{.dirs = &home, .ndirs = 1}, {.maps = maps, .nmaps = 1}, {.symfs = root}};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (strcmp(files[i].path, "/mine/link.c") != 0)
			put(files[i].path, "text\n", 5);
		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++)
			look(&ways[k], files[i].path, files[i].shown ? "text\n" : NULL);
	}
	uint8_t sum[MD5_BYTES] = {0};
	struct source_name name = {.path = "/mine/.ssh/id_rsa", .md5 = sum};
	struct source_text t;
	assert_int_equal(source_text_load(&t, ways, &name, NULL), 0);
	assert_null(t.text);
	md5_of("text\n", 5, sum);
	assert_int_equal(source_text_load(&t, ways, &name, NULL), 0);
	assert_int_equal(t.verdict, SOURCE_SAME);
	source_text_release(&t);
}

static void maps_replace_the_beginning(void **state)
{
	(void)state;
	put("/src/lib/a.c", "inside\n", 7);
	char map[600];
	snprintf(map, sizeof(map), "/build=%s", in_root("/src"));
	const char *maps[] = {map};
	struct source_options o = {.maps = maps, .nmaps = 1};
	look(&o, "/build/lib/a.c", "inside\n");
	look(&o, "/buildx/lib/a.c", NULL);
	look(&o, "/other/build/lib/a.c", NULL);
	struct source_options symfs = {.symfs = in_root("/src")};
	look(&symfs, "/lib/a.c", "inside\n");
}

/* The current folder and the program's, not the one above. */
static void folders_that_are_roots_by_themselves(void **state)
{
	(void)state;
	char was[4096], real[4096];
	put("/p/prog", "x", 1);
	put("/p/build/prog", "x", 1);
	put("/p/src/a.c", "a\n", 2);
	put("/p/.git/b.c", "b\n", 2);
	put("/q/c.c", "c\n", 2);
	assert_non_null(getcwd(was, sizeof(was)));
	assert_non_null(realpath(root, real));
	struct source_options o = {.here = 1};
	struct source_name names[] = {{.path = in_root("/p/src/a.c")},
				      {.path = in_root("/p/.git/b.c")},
				      {.path = in_root("/q/c.c")}};
	for (int i = 0; i < 3; i++) {
		struct source_text t;
		names[i].program = in_root("/p/prog");
		assert_int_equal(source_text_load(&t, &o, &names[i], NULL), 0);
		assert_int_equal(t.text != NULL, i == 0);
		source_text_release(&t);
	}
	struct source_text t;
	names[0].program = in_root("/p/build/prog");
	assert_int_equal(source_text_load(&t, &o, &names[0], NULL), 0);
	assert_null(t.text);
	/* of what is private, root sees what the program's owner owns */
	names[0].program = in_root("/p/prog");
	assert_int_equal(chmod(in_root("/p/src/a.c"), 0600), 0);
	for (uid_t owner = 0; owner < 2 && !geteuid(); owner++) {
		assert_int_equal(chown(names[0].program, owner, 0), 0);
		assert_int_equal(source_text_load(&t, &o, &names[0], NULL), 0);
		assert_int_equal(t.text != NULL, !owner);
		source_text_release(&t);
	}
	assert_int_equal(chdir(in_root("/q")), 0);
	look(&o, in_root("/q/c.c"), "c\n");
	look(&o, in_root("/p/src/a.c"), NULL);
	/* as if the folder were a private home */
	assert_int_equal(chmod(in_root("/q/c.c"), 0600), 0);
	look(&o, in_root("/q/c.c"), geteuid() ? "c\n" : NULL);
	assert_int_equal(chmod(in_root("/q/c.c"), 0644), 0);
	assert_int_equal(setenv("HOME", in_root("/q"), 1), 0);
	look(&o, in_root("/q/c.c"), NULL);
	assert_int_equal(chdir(was), 0);
}

static void the_text_that_was_compiled_is_preferred(void **state)
{
	(void)state;
	put("/old/a.c", "int old;\n", 9);
	put("/new/a.c", "int a;\nint b;\r\nlast", 19);
	const char *dirs[] = {in_root("/old"), in_root("/new")};
	struct source_options o = {.dirs = dirs, .ndirs = 2};
	uint8_t sum[MD5_BYTES];
	md5_of("int a;\nint b;\r\nlast", 19, sum);
	struct source_name name = {.path = "/x/a.c", .md5 = sum};
	struct source_text t;
	const char *line;
	size_t n;
	assert_int_equal(source_text_load(&t, &o, &name, NULL), 0);
	assert_int_equal(t.verdict, SOURCE_SAME);
	assert_int_equal(source_text_line(&t, 2, &line, &n), 1);
	assert_int_equal(n, 6);
	assert_memory_equal(line, "int b;", 6);
	assert_int_equal(source_text_line(&t, 3, &line, &n), 1);
	assert_int_equal(n, 4);
	assert_int_equal(source_text_line(&t, 4, &line, &n), 0);
	assert_int_equal(source_text_line(&t, 0, &line, &n), 0);
	source_text_release(&t);
	o.ndirs = 1;
	assert_int_equal(source_text_load(&t, &o, &name, NULL), 0);
	assert_int_equal(t.verdict, SOURCE_OTHER);
	source_text_release(&t);
	assert_int_equal(look(&o, "/x/a.c", "int old;\n"), SOURCE_UNCHECKED);
	o.written_ns = 1000000000;
	assert_int_equal(look(&o, "/x/a.c", "int old;\n"), SOURCE_NEWER);
	name.text = "embedded\n";
	assert_int_equal(source_text_load(&t, &(struct source_options){0}, &name, NULL), 0);
	assert_int_equal(t.verdict, SOURCE_SAME);
	assert_string_equal(t.text, "embedded\n");
	source_text_release(&t);
}

static void what_is_no_text_is_not_read(void **state)
{
	(void)state;
	put("/src/a.c", "bin\0ary", 7);
	put("/src/empty.c", "", 0);
	assert_int_equal(mkfifo(in_root("/src/fifo.c"), 0600), 0);
	const char *src = in_root("/src");
	struct source_options o = {.dirs = &src, .ndirs = 1};
	look(&o, "/x/a.c", NULL);
	look(&o, "/x/fifo.c", NULL);
	look(&o, "/x/empty.c", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(md5_is_that_of_the_rfc),
		ON_A_TREE(only_below_roots),
		ON_A_TREE(what_is_not_a_source_needs_its_sum),
		ON_A_TREE(maps_replace_the_beginning),
		ON_A_TREE(folders_that_are_roots_by_themselves),
		ON_A_TREE(the_text_that_was_compiled_is_preferred),
		ON_A_TREE(what_is_no_text_is_not_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
