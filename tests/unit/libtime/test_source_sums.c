/* source_sums, source_rows: lines, inlined calls and copies of functions, each stack counted
 * once; lines of two texts. */
#include "tests/lib/unit.h"

#include "base/mem.h"
#include "libtime/tables/source_rows.h"

static struct stacks stacks;

static uint32_t text(const char *s)
{
	uint32_t id;
	assert_int_equal(strtab_intern(&stacks.strings, s, &id), 0);
	return id;
}

/* A frame of a.c; inlined ones have a * before their name. */
static uint32_t frame(const char *name, uint32_t line, uint64_t addr)
{
	int inlined = *name == '*';
	struct frame f = {.name = text(name + inlined),
			  .dso = text("/bin/prog"),
			  .srcfile = text("/src/a.c"),
			  .line = line,
			  .addr = addr,
			  .at = inlined ? 0 : line,
			  .flags = inlined ? FRAME_INLINED : 0};
	uint32_t id;
	assert_int_equal(stacks_frame(&stacks, &f, &id), 0);
	return id;
}

static uint32_t path_of(const uint32_t *frames, size_t n)
{
	uint32_t path = 0;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(stacks_push(&stacks, path, frames[i], &path), 0);
	return path;
}

#define PATH(...) \
	path_of((uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static int add(struct source_sums *s, uint32_t path, uint64_t weight, uint64_t samples)
{
	struct function_sums one = {.stacks = &stacks};
	int rc = function_sums_add(&one, 0, path, weight, samples);
	rc = rc ? rc : source_sums_add_all(s, &one);
	function_sums_release(&one);
	return rc;
}

static const struct source_function *function(const struct source_sums *s, const char *name)
{
	for (size_t i = 0; i < s->functions.n; i++)
		if (!strcmp(strtab_get(&s->names, s->functions.v[i].name), name))
			return &s->functions.v[i];
	fail_msg("no %s", name);
	return NULL;
}

static void expect(struct source_weight w, uint64_t self, uint64_t inlined, uint64_t total)
{
	assert_int_equal(w.self, self);
	assert_int_equal(w.inlined, inlined);
	assert_int_equal(w.total, total);
}

static void fill(struct source_sums *s)
{
	uint32_t root = frame("main", 3, 0x100), sort = frame("sort", 9, 0x200);
	*s = (struct source_sums){.stacks = &stacks, .code = 1};
	/* less is inlined in swap, which is inlined in sort */
	assert_int_equal(
		add(s, PATH(root, sort, frame("*swap", 20, 0x210), frame("*less", 30, 0x214)),
		    5, 1),
		0);
	assert_int_equal(add(s, PATH(root, sort, frame("*swap", 21, 0x210)), 3, 1), 0);
	assert_int_equal(add(s, PATH(root, sort), 2, 1), 0);
	/* a second copy of less, called */
	assert_int_equal(add(s, PATH(root, frame("less", 30, 0x300)), 1, 1), 0);
	/* recursion counts once */
	assert_int_equal(add(s, PATH(root, sort, sort), 4, 1), 0);
}

static void clear(struct source_sums *s)
{
	source_sums_release(s);
	stacks_release(&stacks);
}

static void functions_lines_and_copies(void **state)
{
	(void)state;
	struct source_sums s;
	struct source_rows rows = {0};
	fill(&s);
	assert_int_equal(s.all, 15);
	expect(function(&s, "main")->w, 0, 0, 15);
	expect(function(&s, "sort")->w, 6, 8, 14);
	expect(function(&s, "swap")->w, 3, 5, 8);
	expect(function(&s, "less")->w, 6, 0, 6);
	uint32_t sort = (uint32_t)(function(&s, "sort") - s.functions.v);
	uint32_t less = (uint32_t)(function(&s, "less") - s.functions.v);
	assert_int_equal(source_rows_of(&rows, &s, sort, 1), 0);
	static const struct {
		uint32_t line, depth;
		struct source_weight w;
	} want[] = {
		{9, 0, {6, 8, 14}}, {20, 1, {0, 5, 5}}, {30, 2, {5, 0, 5}}, {21, 1, {3, 0, 3}}};
	assert_int_equal(rows.v.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(rows.v.v[i].line, want[i].line);
		assert_int_equal(rows.v.v[i].depth, want[i].depth);
		expect(rows.v.v[i].w[AFTER], want[i].w.self, want[i].w.inlined,
		       want[i].w.total);
	}
	source_rows_release(&rows);
	size_t symbols = 0, copies = 0;
	for (size_t i = 0; i < s.places.n; i++)
		if (s.places.v[i].function == less) {
			copies++;
			symbols += s.places.v[i].caller == NO_ID;
			expect(s.places.v[i].w, s.places.v[i].caller == NO_ID ? 1 : 5, 0,
			       s.places.v[i].caller == NO_ID ? 1 : 5);
		}
	assert_int_equal(copies, 2);
	assert_int_equal(symbols, 1);
	/* inlined code is its symbol's: sort's one instruction has all that ends below it */
	uint64_t own = 0;
	for (size_t i = 0; i < s.codes.n; i++)
		own += s.codes.v[i].self;
	assert_int_equal(own, 15);
	clear(&s);
}

static void a_file_is_one_function(void **state)
{
	(void)state;
	struct source_sums s, whole;
	uint8_t *files;
	fill(&s);
	assert_int_equal(source_pick_files(&s, "a.c", 0, &files), 1);
	whole = (struct source_sums){.stacks = &stacks, .files = files, .files_name = "a.c"};
	assert_int_equal(
		add(&whole, PATH(frame("main", 3, 0x100), frame("sort", 9, 0x200)), 7, 1), 0);
	assert_int_equal(whole.functions.n, 1);
	expect(whole.functions.v[0].w, 7, 0, 7);
	source_sums_release(&whole);
	mem_free(files);
	assert_int_equal(source_pick_files(&s, "c", 0, &files), 0);
	mem_free(files);
	assert_int_equal(source_pick_files(&s, "src/a.c", 9, &files), 1);
	mem_free(files);
	assert_int_equal(source_pick_files(&s, "a.c", 10, &files), 0);
	mem_free(files);
	clear(&s);
}

static void names_are_found_by_their_ends_and_parts(void **state)
{
	(void)state;
	static const char *const all[] = {"cache::get", "get", "budget", "vec<int>::get"};
	static const struct {
		const char *name;
		size_t n;
	} cases[] = {{"get", 1}, {"cache::get", 1}, {"*::get", 2},
		     {"udg", 1}, {"nothing", 0},    {"t>::get", 1}};
	struct source_sums s = {.stacks = &stacks};
	source_picks picks = {0};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(add(&s, PATH(frame(all[i], 1, 0x100 * i)), i, 1), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(source_pick_functions(&s, cases[i].name, &picks), 0);
		assert_int_equal(picks.n, cases[i].n);
	}
	assert_int_equal(source_pick_functions(&s, NULL, &picks), 0);
	assert_int_equal(picks.n, 4);
	assert_string_equal(strtab_get(&s.names, s.functions.v[picks.v[0]].name),
			    "vec<int>::get");
	vec_release(&picks);
	clear(&s);
}

static void lines_are_matched_by_their_text(void **state)
{
	(void)state;
	static const uint64_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 9, 2, 4, 3, 7, 5, 6};
	uint32_t *at;
	assert_int_equal(source_match_lines(a, 6, b, 8, &at), 0);
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 3);
	/* one of 3 and 4, which changed places */
	assert_int_equal(!at[2] + !at[3], 1);
	assert_int_equal(at[4], 7);
	assert_int_equal(at[5], 8);
	mem_free(at);
	assert_int_equal(source_match_lines(a, 6, b, 0, &at), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(at[i], 0);
	mem_free(at);
	assert_int_equal(source_match_lines(a, 2, a, 6, &at), 0);
	assert_int_equal(at[0] == 1 && at[1] == 2, 1);
	mem_free(at);
}

static int moved_by_two(void *ctx, const struct source_line *was, uint32_t *file,
			uint32_t *line)
{
	(void)ctx;
	*file = was->file;
	*line = was->line == 20 ? 20 : was->line + 2;
	return was->line != 20;
}

static void weights_before_stand_beside_their_lines(void **state)
{
	(void)state;
	struct source_sums s, before = {.stacks = &stacks};
	struct source_rows rows = {0};
	fill(&s);
	assert_int_equal(add(&before, PATH(frame("sort", 7, 0x200)), 6, 1), 0);
	assert_int_equal(add(&before, PATH(frame("sort", 20, 0x200)), 1, 1), 0);
	uint32_t sort = (uint32_t)(function(&s, "sort") - s.functions.v);
	assert_int_equal(source_rows_of(&rows, &s, sort, 0), 0);
	assert_int_equal(source_rows_against(&rows, &before, 0, moved_by_two, NULL), 0);
	assert_int_equal(rows.v.n, 2);
	expect(rows.v.v[0].w[BEFORE], 6, 0, 6);
	expect(rows.v.v[0].w[AFTER], 6, 8, 14);
	assert_int_equal(rows.v.v[1].gone, 1);
	expect(rows.v.v[1].w[AFTER], 0, 0, 0);
	source_rows_release(&rows);
	source_sums_release(&before);
	clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_lines_and_copies),
		cmocka_unit_test(a_file_is_one_function),
		cmocka_unit_test(names_are_found_by_their_ends_and_parts),
		cmocka_unit_test(lines_are_matched_by_their_text),
		cmocka_unit_test(weights_before_stand_beside_their_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
