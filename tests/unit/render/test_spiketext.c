/* Lines of `perfkit watch`: one a spike, whatever threads are called. */
#include "render/tail/spike_text.h"
#include "base/text/buf.h"
#include "tests/unit/libtime/tailrig.h"

#include <ctype.h>
#include <string.h>

/* The line of a 20 ms wait of a thread with this name for a lock that one with the same name
 * held; and its counts. */
static void spike_of(const char *comm, struct buf *line, struct watch_counts *counts)
{
	struct rig r;
	struct spikes s;
	struct err e = {0};
	const struct spike_query q = {.over_ns = 1000000, .safe_ns = UINT64_MAX, .most = 20};
	rig_init(&r, 100000);
	uint32_t w = thread(&r, comm, 100, 0), h = thread(&r, comm, 102, 1);
	woken_by(off(&r, w, 10000, 30000, 30010, CAUSE_LOCK, "w;ask;c:pthread_mutex_lock"), h);
	finish(&r);
	roles(&r);
	assert_int_equal(spikes_find(&s, &r.tl, &q, &e), 0);
	assert_int_equal(s.rows.n, 1);
	buf_clear(line);
	spike_line(line, &s, &q, 0);
	*counts = s.counts;
	spikes_release(&s);
	rig_release(&r);
}

static void a_name_is_part_of_one_line(void **state)
{
	static const char *const names[] = {
		"",   "a\nb\n", "q\"\\}", "\x1b[31mred", "\xff\xfe",
		"\r", "  ",     "%s%n",   "/",           "other processes"};
	struct buf line = {0};
	struct watch_counts c;
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		spike_of(names[i], &line, &c);
		const char *text = buf_cstr(&line);
		assert_ptr_equal(strchr(text, '\n'), text + line.n - 1);
		for (const char *p = text; p[1]; p++)
			assert_false(iscntrl((unsigned char)*p));
		assert_non_null(strstr(text, "info     20.0 ms "));
		assert_non_null(strstr(text, "/100 lock: "));
		assert_non_null(strstr(text, "; woken by "));
		assert_int_equal(c.spikes[SPIKE_INFO], 1);
		const struct watch_process *p = *c.process[0].name ? c.process : &c.other;
		assert_int_equal(p->spikes[SPIKE_INFO], 1);
		for (const char *k = p->name; *k; k++)
			assert_in_range(*k, ' ', '~');
	}
	spike_of("", &line, &c);
	assert_string_equal(c.process[0].name, "?");
	assert_non_null(strstr(buf_cstr(&line), " ?/100 lock: "));
	buf_release(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_name_is_part_of_one_line)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
