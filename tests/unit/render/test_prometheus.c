/* Prometheus' text of `perfkit watch`: few series, and none twice, whatever processes are
 * called. */
#include "render/export/prometheus.h"
#include "tests/lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 1000 };

/* One spike of a process, and all that is counted of waits. */
static void add(struct watch_counts *to, const char *name, unsigned severity)
{
	struct watch_counts one = {.waits = 1};
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		one.cause_ns[i] = 1;
	snprintf(one.process[0].name, WATCH_NAME, "%.15s", name);
	one.process[0].spikes[severity] = one.spikes[severity] = 1;
	watch_counts_add(to, &one);
}

/* The text's series, each without its value. */
static size_t series_of(const struct watch_counts *c, char **line)
{
	struct prometheus_state s = {.counts = c, .lag_s = 1};
	char *text = NULL;
	size_t size, n = 0;
	FILE *f = open_memstream(&text, &size);
	prometheus_write(f, &s);
	fclose(f);
	char *rest = text;
	for (char *l; n < LINES && (l = strsep(&rest, "\n"));) {
		char *value = strrchr(l, ' ');
		if (!*l || *l == '#')
			continue;
		assert_non_null(value);
		*value = '\0';
		line[n++] = strdup(l);
	}
	free(text);
	return n;
}

static uint64_t sum_of(const struct watch_counts *c)
{
	uint64_t n = 0;
	for (size_t p = 0; p < WATCH_PROCESSES; p++)
		for (size_t i = 0; i < SEVERITIES; i++)
			n += c->process[p].spikes[i];
	for (size_t i = 0; i < SEVERITIES; i++)
		n += c->other.spikes[i];
	return n;
}

static void names_make_neither_many_series_nor_one_twice(void **state)
{
	static const char *const names[] = {"a\x01", "a\x02", "a\xff",
					    "a\n",   "a?",    "\"\\} 1\n",
					    "",      " ",     "other processes"};
	struct watch_counts c = {0};
	char *line[LINES], name[24];
	uint64_t spikes = 0;
	(void)state;
	for (unsigned severity = 0; severity < SEVERITIES; severity++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			add(&c, *names[i] ? names[i] : "?", severity), spikes++;
		for (int i = 0; i < 300; i++, spikes++) {
			snprintf(name, sizeof(name), "%d\x7f\"\\}\xf0\x9f", i);
			add(&c, name, severity);
		}
	}
	assert_int_equal(sum_of(&c), spikes);
	size_t n = series_of(&c, line);
	assert_in_range(n, 100, 200);
	for (size_t i = 0; i < n; i++) {
		for (const char *p = line[i]; *p; p++)
			assert_in_range(*p, ' ', '~');
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(line[i], line[k]);
	}
	for (size_t i = 0; i < n; i++)
		free(line[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_make_neither_many_series_nor_one_twice)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
