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

/* Four waits of 20 ms: a plain one, one that may be two, one without a known end, and a short
 * suspect one. */
static void suspect_waits(struct rig *r)
{
	rig_init(r, 200000);
	uint32_t w = thread(r, "front", 100, 0);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t out = 10000 + i * 40000, in = out + (i == 3 ? 500 : 20000);
		struct offcpu *o =
			off(r, w, out, in - 10, in, CAUSE_LOCK, "w;ask;c:pthread_mutex_lock");
		o->flags |= i ? OFF_SUSPECT : 0;
		o->cpu_in = i == 2 ? TL_NOCPU : 0;
	}
	finish(r);
	roles(r);
}

static void suspect_waits_are_told_after_others(void **state)
{
	static const char *const heads[] = {"0.010000 info     20.0 ms front/100 ",
					    "0.050000 suspect  <= 20.0 ms front/100 ",
					    "0.090000 suspect  >= 20.0 ms front/100 "};
	struct rig r;
	struct err e = {0};
	struct buf line = {0};
	(void)state;
	suspect_waits(&r);
	for (size_t most = 1; most <= 4; most++) {
		const struct spike_query q = {
			.over_ns = 1000000, .safe_ns = UINT64_MAX, .most = most};
		size_t shown = most < 3 ? most : 3;
		struct spikes s;
		assert_int_equal(spikes_find(&s, &r.tl, &q, &e), 0);
		assert_int_equal(s.rows.n, shown);
		assert_int_equal(s.more, 0);
		assert_int_equal(s.more_suspect, 3 - shown);
		assert_int_equal(s.counts.spikes[SPIKE_INFO], 1);
		assert_int_equal(s.counts.suspect, 3);
		assert_int_equal(s.counts.suspect_spikes, 2);
		for (size_t i = 0; i < shown; i++) {
			buf_clear(&line);
			spike_line(&line, &s, &q, i);
			assert_memory_equal(buf_cstr(&line), heads[i], strlen(heads[i]));
		}
		spikes_release(&s);
	}
	buf_release(&line);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_part_of_one_line),
		cmocka_unit_test(suspect_waits_are_told_after_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
