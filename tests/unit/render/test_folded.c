/* folded text → flame tree → geometry, against figures worked out by hand. */
#include "tests/lib/unit.h"

#include "render/flame/flame_layout.h"
#include "render/flame/folded.h"
#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>

/* The text as a file descriptor at its beginning. */
static int text_fd(const char *text, size_t n)
{
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fflush(f);
	int fd = dup(fileno(f));
	fclose(f);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static int read_n(struct flame *f, const char *text, size_t n, struct folded_stats *st)
{
	struct folded_options o = {0};
	struct err e = {0};
	int fd = text_fd(text, n);
	int rc = folded_read_fd(f, fd, "text", &o, st, &e);
	close(fd);
	return rc;
}

static struct folded_stats load(struct flame *f, const char *text)
{
	struct folded_stats st;
	assert_int_equal(read_n(f, text, strlen(text), &st), 0);
	assert_int_equal(flame_finish(f, NULL), 0);
	return st;
}

/* "depth:name@x+w ..." of every box, x and w in whole pixels. */
static void boxes(const struct flame *f, double width, double minwidth, char *out, size_t size)
{
	struct flame_layout l;
	assert_int_equal(flame_layout(&l, f, width, minwidth, 0, NULL), 0);
	size_t at = 0;
	out[0] = '\0';
	for (size_t i = 0; i < l.boxes.n && at < size; i++) {
		const struct flame_box *b = &l.boxes.v[i];
		size_t n;
		const char *name = flame_name(f, flame_node_frame(f, b->node), &n);
		at += (size_t)snprintf(out + at, size - at, "%s%u:%.*s@%.0f+%.0f", i ? " " : "",
				       b->depth / FLAME_ROW, (int)n, name, b->x, b->w);
	}
	flame_layout_release(&l);
}

static void expect(const char *text, int reverse, int in_order, double width, double minwidth,
		   const char *want)
{
	struct flame f;
	char got[4096];
	assert_int_equal(flame_init(&f), 0);
	f.reverse = reverse;
	f.in_order = in_order;
	load(&f, text);
	boxes(&f, width, minwidth, got, sizeof(got));
	assert_string_equal(got, want);
	flame_release(&f);
}

static void stacks_are_merged_sorted_and_spread_over_the_width(void **state)
{
	(void)state;
	expect("c 1\na;b;c 2\na;b;d 1\na;b 1\na;b;c 3\n", 0, 0, 80, 0.1,
	       "0:all@0+80 1:a@0+70 2:b@0+70 3:c@10+50 3:d@60+10 1:c@70+10");
}

static void a_byte_order_mark_is_no_part_of_a_name(void **state)
{
	(void)state;
	expect("\xef\xbb\xbf"
	       "a;b 3\na;c 1\n",
	       0, 0, 120, 0, "0:all@0+120 1:a@0+120 2:b@0+90 2:c@90+30");
}

static void children_sort_as_lines_sort(void **state)
{
	(void)state;
	/* '-' < ';' < 'c', and ' ' before all of them: a line that ends sorts first. */
	expect("a;bc 1\na;b;x 1\na;b-x 1\n", 0, 0, 30, 0.1,
	       "0:all@0+30 1:a@0+30 2:b-x@0+10 2:b@10+10 3:x@10+10 2:bc@20+10");
	expect("a;b-x 1\na;b 1\n", 0, 0, 20, 0.1, "0:all@0+20 1:a@0+20 2:b@0+10 2:b-x@10+10");
}

static void reverse_merges_from_the_leaf(void **state)
{
	(void)state;
	expect("a;b;c 2\nd;c 1\n", 1, 0, 30, 0.1,
	       "0:all@0+30 1:c@0+30 2:b@0+20 3:a@0+20 2:d@20+10");
}

static void a_flame_chart_keeps_order_and_merges_neighbours_only(void **state)
{
	(void)state;
	expect("m;z 1\nm;a 2\nm 1\nm;z 1\n", 0, 1, 50, 0.1,
	       "0:all@0+50 1:m@0+50 2:z@0+10 2:a@10+20 2:z@40+10");
}

static void narrow_frames_are_pruned_and_counted(void **state)
{
	(void)state;
	struct flame f;
	struct flame_layout l;
	flame_init(&f);
	load(&f, "a;b;c 3\na;d 997\n");
	assert_int_equal(flame_layout(&l, &f, 100, 0.5, 0, NULL), 0);
	assert_int_equal(l.boxes.n, 3); /* all, a, d */
	assert_int_equal(l.pruned_nodes, 2);
	assert_int_equal(l.pruned_weight, 3);
	assert_int_equal(l.depth, 3 * FLAME_ROW);
	flame_layout_release(&l);
	flame_release(&f);
}

/* Runs of plumbing are a third of a row, weights as before; the callees of a run's frames begin
 * where it ends. */
static void plumbing_is_a_thin_row(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint32_t at;
		int thin;
		double w;
	} want[] = {{"all", 0, 0, 100},
		    {"app", 3, 0, 100},
		    {"clone3", 6, 1, 100},
		    {"work", 7, 0, 100},
		    {"entry_SYSCALL_64_[k]", 10, 1, 100},
		    {"b_[k]", 11, 0, 70},
		    {"schedule_[k]", 14, 1, 70},
		    {"a_[k]", 11, 0, 30}};
	struct flame f;
	struct flame_layout l;
	struct err e = {0};
	flame_init(&f);
	load(&f,
	     "app;clone3;start_thread;work;entry_SYSCALL_64_[k];do_syscall_64_[k];a_[k] 30\n"
	     "app;clone3;start_thread;work;entry_SYSCALL_64_[k];b_[k];schedule_[k];__schedule_["
	     "k] "
	     "70\n");
	assert_int_equal(flame_find_thin(&f, NULL, &e), 0);
	assert_int_equal(flame_layout(&l, &f, 100, 0.1, 0, NULL), 0);
	assert_int_equal(l.boxes.n, sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < l.boxes.n; i++) {
		const struct flame_box *b = &l.boxes.v[i];
		size_t n;
		assert_string_equal(flame_name(&f, flame_node_frame(&f, b->node), &n),
				    want[i].name);
		assert_int_equal(b->depth, want[i].at);
		assert_int_equal(b->thin, want[i].thin);
		assert_float_equal(b->w, want[i].w, 1e-9);
	}
	assert_int_equal(l.depth, 15);
	assert_int_equal(l.inside, 3);
	assert_int_equal(l.pruned_nodes, 0);
	flame_layout_release(&l);
	flame_release(&f);
}

static void total_leaves_room_on_the_right(void **state)
{
	(void)state;
	struct flame f;
	struct flame_layout l;
	flame_init(&f);
	load(&f, "a 5\n");
	assert_int_equal(flame_layout(&l, &f, 100, 0.1, 10, NULL), 0);
	assert_float_equal(l.boxes.v[0].w, 100, 1e-9);
	assert_float_equal(l.boxes.v[1].w, 50, 1e-9);
	assert_int_equal(l.total, 10);
	flame_layout_release(&l);
	flame_release(&f);
}

static void lines_without_a_count_are_skipped_and_counted(void **state)
{
	(void)state;
	struct flame f;
	flame_init(&f);
	struct folded_stats st = load(&f, "a;b 1\r\n# comment\n\n\r\na;b\na;c 2x\na;c -1\n 7\n"
					  "a;c 99999999999999999999999\na;c 4");
	assert_int_equal(st.lines, 3); /* " 7" is the empty stack */
	assert_int_equal(st.skipped, 5);
	assert_string_equal(st.first_skipped, "# comment");
	assert_int_equal(f.nodes.v[0].v[0], 12);
	flame_release(&f);
}

static void decimals_scale_everything(void **state)
{
	(void)state;
	struct flame f;
	flame_init(&f);
	load(&f, "a 1\na;b 2.25\na;c 3\n");
	assert_int_equal(f.scale, FLAME_DECIMALS);
	assert_int_equal(f.nodes.v[0].v[0], 6250000);
	flame_release(&f);
}

static void two_counts_on_every_line_are_before_and_after(void **state)
{
	(void)state;
	struct flame f;
	flame_init(&f);
	struct folded_stats st = load(&f, "a;b 10 30\na;c 5 0\n");
	assert_int_equal(st.columns, 2);
	assert_int_equal(f.nodes.v[0].v[0], 30);
	assert_int_equal(f.nodes.v[0].v[1], 15);
	flame_release(&f);
}

static void a_number_at_the_end_of_some_names_is_no_second_count(void **state)
{
	(void)state;
	struct flame f;
	flame_init(&f);
	struct folded_stats st = load(&f, "a;worker 1 30\na;c 5\n");
	assert_int_equal(st.columns, 1);
	assert_int_equal(f.nodes.v[0].v[0], 35);
	uint32_t id;
	assert_int_equal(strtab_find(&f.strings, "worker 1", &id), 1);
	flame_release(&f);
}

static void frames_behind_the_delimiter_are_the_wakers(void **state)
{
	(void)state;
	struct flame f;
	flame_init(&f);
	load(&f, "t;read;--;read;w 5\nt;read;--;read;x 5\nt;foo_[k];bar_[j];baz_[i] 1\n");
	unsigned kinds[FLAME_KINDS] = {0};
	for (size_t i = 1; i < f.nodes.n; i++)
		kinds[flame_node_frame(&f, (uint32_t)i)->kind]++;
	assert_int_equal(kinds[FLAME_WAKER], 3); /* read, w, x */
	assert_int_equal(kinds[FLAME_MARK], 1);
	assert_int_equal(kinds[FLAME_KERNEL], 1);
	assert_int_equal(kinds[FLAME_JIT], 1);
	assert_int_equal(kinds[FLAME_INLINED], 1);
	assert_int_equal(kinds[FLAME_USER], 2); /* t, read */
	flame_release(&f);
}

static void neighbours_with_shared_text_but_other_frames_stay_apart(void **state)
{
	(void)state;
	expect("a;bb 1\na;b 1\na;b;c 1\na;bb;c 1\nab 1\na 1\n", 0, 0, 60, 0.1,
	       "0:all@0+60 1:a@0+50 2:b@10+20 3:c@20+10 2:bb@30+20 3:c@40+10 1:ab@50+10");
}

static void zero_weights_add_nothing_and_disturb_nothing(void **state)
{
	(void)state;
	expect("a;b;c 1\na;b;d 0\na;b;c 1\n", 0, 0, 20, 0.1,
	       "0:all@0+20 1:a@0+20 2:b@0+20 3:c@0+20");
}

static void stacks_deeper_than_the_limit_are_cut_and_counted(void **state)
{
	(void)state;
	size_t n = 2 * (FLAME_MAX_DEPTH + 500) + 4;
	char *text = mem_alloc(n + 1);
	for (size_t i = 0; i < n; i += 2)
		memcpy(text + i, "a;", 2);
	memcpy(text + n - 4, "a 1\n", 5);
	for (int reverse = 0; reverse < 2; reverse++) {
		struct flame f;
		struct folded_stats st;
		flame_init(&f);
		f.reverse = reverse;
		assert_int_equal(read_n(&f, text, n, &st), 0);
		assert_int_equal(f.deep, 1);
		assert_int_equal(f.nodes.n, FLAME_MAX_DEPTH + 1);
		flame_release(&f);
	}
	mem_free(text);
}

static void sums_that_overflow_are_refused(void **state)
{
	(void)state;
	struct flame f;
	struct folded_stats st;
	const char *text = "a 9000000000000000000\nb 9000000000000000000\n";
	flame_init(&f);
	assert_int_equal(read_n(&f, text, strlen(text), &st), ERR_LIMIT);
	flame_release(&f);
}

static void any_bytes_are_read_without_harm(void **state)
{
	(void)state;
	char text[4096];
	uint32_t x = 1;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			x = x * 1664525 + 1013904223;
			text[i] = "ab;;  12.\n\r\t\0\xff-"[x >> 24 & 15];
		}
		struct flame f;
		struct folded_stats st;
		flame_init(&f);
		f.reverse = round & 1;
		f.in_order = round >> 1 & 1;
		assert_int_equal(read_n(&f, text, sizeof(text), &st), 0);
		assert_int_equal(flame_finish(&f, NULL), 0);
		uint64_t sum = 0;
		for (uint32_t i = f.child_at[0]; i < f.child_at[1]; i++)
			sum += f.nodes.v[f.child[i]].v[0];
		assert_true(sum <= f.nodes.v[0].v[0]);
		flame_release(&f);
	}
}

static void running_out_of_memory_is_an_error(void **state)
{
	(void)state;
	const char *text = "a;b;c 1\na;b;d 2\ne;f 3\n";
	for (long n = 0; n < 60; n++) {
		struct flame f = {0};
		struct folded_stats st;
		int fd = text_fd(text, strlen(text));
		struct folded_options o = {0};
		mem_fail_after(n);
		int rc = flame_init(&f);
		rc = rc ? rc : folded_read_fd(&f, fd, "text", &o, &st, NULL);
		rc = rc ? rc : flame_finish(&f, NULL);
		mem_fail_after(-1);
		close(fd);
		if (!rc)
			assert_int_equal(f.nodes.v[0].v[0], 6);
		else
			assert_int_equal(rc, ERR_NOMEM);
		flame_release(&f);
	}
}

static void what_vanished_is_shown_beside(void **state)
{
	(void)state;
	struct flame f;
	struct folded_stats st;
	char got[512];
	const char *text = "a;b 10 30\na;c 4 0\nd;e 6 0\n";
	flame_init(&f);
	assert_int_equal(read_n(&f, text, strlen(text), &st), 0);
	assert_int_equal(flame_show_gone(&f, "gone", 1.5, NULL), 0);
	assert_int_equal(flame_finish(&f, NULL), 0);
	boxes(&f, 45, 0.1, got, sizeof(got));
	assert_string_equal(got, "0:all@0+45 1:a@0+30 2:b@0+30 1:gone@30+15 2:a@30+6 3:c@30+6 "
				 "2:d@36+9 3:e@36+9");
	assert_int_equal(f.nodes.v[0].v[1], 20);
	flame_release(&f);
}

static void content_tells_folded_text_apart(void **state)
{
	(void)state;
	assert_int_equal(folded_sniff("a;b 1\n", 6), 1);
	assert_int_equal(folded_sniff("# head\na;b 1\n", 13), 1);
	assert_int_equal(folded_sniff("PERFILE2\0\1\2\n 1\n", 15), 0);
	assert_int_equal(folded_sniff("just words\n", 11), 0);
	assert_int_equal(folded_sniff("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_merged_sorted_and_spread_over_the_width),
		cmocka_unit_test(a_byte_order_mark_is_no_part_of_a_name),
		cmocka_unit_test(children_sort_as_lines_sort),
		cmocka_unit_test(reverse_merges_from_the_leaf),
		cmocka_unit_test(a_flame_chart_keeps_order_and_merges_neighbours_only),
		cmocka_unit_test(narrow_frames_are_pruned_and_counted),
		cmocka_unit_test(plumbing_is_a_thin_row),
		cmocka_unit_test(total_leaves_room_on_the_right),
		cmocka_unit_test(plumbing_is_a_thin_row),
		cmocka_unit_test(lines_without_a_count_are_skipped_and_counted),
		cmocka_unit_test(decimals_scale_everything),
		cmocka_unit_test(two_counts_on_every_line_are_before_and_after),
		cmocka_unit_test(a_number_at_the_end_of_some_names_is_no_second_count),
		cmocka_unit_test(frames_behind_the_delimiter_are_the_wakers),
		cmocka_unit_test(neighbours_with_shared_text_but_other_frames_stay_apart),
		cmocka_unit_test(zero_weights_add_nothing_and_disturb_nothing),
		cmocka_unit_test(stacks_deeper_than_the_limit_are_cut_and_counted),
		cmocka_unit_test(sums_that_overflow_are_refused),
		cmocka_unit_test(any_bytes_are_read_without_harm),
		cmocka_unit_test(running_out_of_memory_is_an_error),
		cmocka_unit_test(what_vanished_is_shown_beside),
		cmocka_unit_test(content_tells_folded_text_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
