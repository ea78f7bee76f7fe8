/* Which frames of two profiles are the same function: names, files, and what only one has. */
#include "tests/lib/unit.h"

#include "libsym/name/match.h"
#include "libsym/name/match_text.h"

typedef void stem_fn(struct buf *, const char *);

static void texts(void **state)
{
	static const struct {
		stem_fn *how;
		const char *name, *stem;
	} row[] = {
		{match_symbol, "parse", "parse"},
		{match_symbol, "parse.constprop.0.isra.3", "parse"},
		{match_symbol, "parse.part.0.cold", "parse"},
		{match_symbol, "parse.llvm.1234567890", "parse"},
		{match_symbol, "f(int) [clone .cold] [clone .part.1]", "f(int)"},
		{match_symbol, "f(int) (.llvm.99)", "f(int)"},
		{match_symbol, "a::f::h0123456789abcdef", "a::f"},
		{match_symbol, "_ZN3app4mainh17h0123456789abcdefE", "_ZN3app4mainh"},
		{match_symbol, "app[0123456789abcdef]::run", "app::run"},
		{match_symbol, "read@@GLIBC_2.2.5", "read"},
		{match_symbol, "read@plt", "read@plt"},
		{match_symbol, "main.main.func1.2", "main.main.func1.2"},
		{match_symbol, "main.Map[go.shape.int]", "main.Map[go.shape.int]"},
		{match_symbol, "bpf_prog_6deef7357e7b4530_egress", "bpf_prog_egress"},
		{match_symbol, ".cold", ".cold"},
		{match_symbol, "", ""},
		{match_jit_symbol, "LazyCompile:*serve /srv/a/app.js:12:3", "serve app.js"},
		{match_jit_symbol, "JS:~serve /srv/b/app.js:14:3", "serve app.js"},
		{match_jit_symbol, "py::handle:/srv/a/app.py", "py::handle:app.py"},
		{match_jit_symbol, "Lapp/Server;::run", "Lapp/Server;::run"},
		{match_jit_symbol, "A$$Lambda/0x00007f001::apply", "A$$Lambda::apply"},
		{match_file, "/opt/x/app-1.2 (deleted)", "app-1.2"},
		{match_file_stem, "/opt/x/app-1.2", "app"},
		{match_file_stem, "app.v3", "app"},
		{match_file_stem, "/lib/libc-2.31.so", "libc.so"},
		{match_file_stem, "/lib/libc.so.6", "libc.so"},
		{match_file_stem, "libpython3.11.so.1.0", "libpython.so"},
		{match_file_stem, "libz3.so.4", "libz3.so"},
		{match_file_stem, "deps/app-3f2a9c0d1e", "app"},
		{match_file_stem, "cc1", "cc1"},
		{match_file_stem, "7", "7"},
	};
	struct buf b = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		buf_clear(&b);
		row[i].how(&b, row[i].name);
		if (strcmp(buf_cstr(&b), row[i].stem))
			fail_msg("%s: %s, not %s", row[i].name, buf_cstr(&b), row[i].stem);
	}
	buf_release(&b);
}

#define B MATCH_BEFORE
#define A MATCH_AFTER

/* Frames `a` and `b` of each row are the same, or not, in a profile of all `base` frames. */
static const struct match_frame base[] = {
	{.name = "main", .dso = "/a/app-1.2", .addr = 1, .sides = B},
	{.name = "main", .dso = "/b/app-1.3", .addr = 1, .sides = A},
	{.name = "parse.constprop.0", .dso = "/a/app-1.2", .addr = 2, .sides = B},
	{.name = "parse.cold", .dso = "/b/app-1.3", .addr = 2, .sides = A},
	{.name = "parse", .dso = "/b/app-1.3", .addr = 3, .sides = A, .inlined = 1},
	{.name = "sort<int>", .dso = "/a/app-1.2", .addr = 4, .sides = B},
	{.name = "sort<long>", .dso = "/b/app-1.3", .addr = 4, .sides = A},
	{.name = "push<int>", .dso = "/a/app-1.2", .addr = 5, .sides = B},
	{.name = "push<int>", .dso = "/b/app-1.3", .addr = 5, .sides = A},
	{.name = "push<long>", .dso = "/b/app-1.3", .addr = 6, .sides = A},
	{.name = "open", .dso = "/a/app-1.2", .src = "/a/src/x.c", .addr = 7, .sides = B},
	{.name = "open", .dso = "/a/app-1.2", .src = "/a/src/y.c", .addr = 8, .sides = B},
	{.name = "open", .dso = "/b/app-1.3", .src = "/b/y.c", .addr = 9, .sides = A},
	{.name = "send", .dso = "/l/libnet.so.1.2", .sides = B},
	{.name = "send", .dso = "/m/libnet.so.1.3", .sides = A},
	{.name = "send", .dso = "/m/libother.so.1", .sides = A},
	{.name = "app-1.2", .group = MATCH_THREAD, .sides = B},
	{.name = "app-1.3", .group = MATCH_THREAD, .sides = A},
	{.name = "do_sys_open", .dso = "[kernel.kallsyms]", .group = MATCH_KERNEL, .sides = B},
	{.name = "do_sys_open", .dso = "/vmlinux-6.1", .group = MATCH_KERNEL, .sides = A},
	{.name = "only", .dso = "/a/app-1.2", .addr = 10, .sides = B},
};

static void add_all(struct match *m, const struct match_frame *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct match_frame f = v[i];
		f.dso = f.dso ? f.dso : "";
		f.src = f.src ? f.src : "";
		assert_int_equal(match_add(m, &f), 0);
	}
	assert_int_equal(match_finish(m), 0);
}

static void frames(void **state)
{
	static const struct {
		uint32_t a, b;
		int same;
	} row[] = {{0, 1, 1},   {2, 3, 1},   {2, 4, 1},   {5, 6, 1},   {7, 8, 1},
		   {8, 9, 0},   {10, 11, 0}, {11, 12, 1}, {13, 14, 1}, {14, 15, 0},
		   {16, 17, 1}, {18, 19, 1}, {0, 2, 0},   {20, 1, 0}};
	struct match m = {.text = {0}};
	struct buf notes = {0};
	(void)state;
	add_all(&m, base, sizeof(base) / sizeof(*base));
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		if ((match_of(&m, row[i].a) == match_of(&m, row[i].b)) != row[i].same)
			fail_msg("row %zu", i);
	assert_int_equal(match_of(&m, 0), 1);
	match_notes(&m, &notes);
	assert_string_equal(buf_cstr(&notes), "app-1.2 is compared with app-1.3");
	buf_release(&notes);
	match_release(&m);
}

/* What one side cannot show: inlined calls without debug information, names without symbols. */
static void not_shown(void **state)
{
	static const struct match_frame f[] = {
		{.name = "main", .dso = "app", .sides = B | A},
		{.name = "mix", .dso = "app", .sides = B, .inlined = 1},
		{.name = "g", .dso = "lib.so", .sides = B},
		{.name = "h", .dso = "lib.so", .sides = B, .inlined = 1},
		{.name = "", .dso = "lib.so", .sides = A},
	};
	struct match m = {.text = {0}};
	struct buf notes = {0};
	(void)state;
	add_all(&m, f, sizeof(f) / sizeof(*f));
	assert_int_equal(match_of(&m, 0), 0);
	assert_int_equal(match_of(&m, 1), UINT32_MAX);
	assert_int_equal(match_of(&m, 2), 4);
	assert_int_equal(match_of(&m, 3), UINT32_MAX);
	match_notes(&m, &notes);
	assert_string_equal(
		buf_cstr(&notes),
		"lib.so has no symbols after, so it is compared as a whole; inlined "
		"calls of app are known only before: part of their callers");
	buf_release(&notes);
	match_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(frames),
		cmocka_unit_test(not_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
