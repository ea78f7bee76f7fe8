/* schemadoc: docs/schema.md, made of the tables as they are declared (libtime/store/schema.c);
 * `make schema` writes the page, and cli/docs compares it. */
#include "libtime/store/schema.h"
#include "libtime/store/store.h"

#include <stdio.h>
#include <string.h>

/* Times and durations say their unit in their names. */
static int unit_is_in_name(const struct column *c)
{
	size_t n = strlen(c->name);
	return !strcmp(c->unit, "ns") && n > 3 && !strcmp(c->name + n - 3, "_ns");
}

/* A key, or the recording that a row belongs to: the head of the page says what they are. */
static int is_told_once(const struct column *c)
{
	return !*c->meaning && (!strcmp(c->name, "id") || !strcmp(c->name, "recording_id"));
}

/* The columns that are told once, in a line of their own. */
static void keys_line(const struct table *t)
{
	const char *before = "- ";
	for (size_t k = 0; k < t->n; k++)
		if (is_told_once(&t->columns[k])) {
			printf("%s`%s`", before, t->columns[k].name);
			before = ", ";
		}
	if (*before == ',')
		printf("\n");
}

/* One line: `- name (unit): meaning`, or `- name → table: meaning`. */
static void column_line(const struct column *c)
{
	const char *arrow = "→";
	printf("- `%s`", c->name);
	if (!strncmp(c->unit, arrow, strlen(arrow)))
		printf(" %s", c->unit);
	else if (!strcmp(c->unit, "0, 1"))
		printf(" (0/1)");
	else if (*c->unit && !unit_is_in_name(c))
		printf(" (%s)", c->unit);
	printf(*c->meaning ? ": %s\n" : "\n", c->meaning);
}

int main(void)
{
	printf("# The tables of a store\n\n"
	       "Made by `make schema` from `libtime/store/schema.c`. Schema version: **%d**. "
	       "[store.md](store.md)\nsays how to ask them, and has the views. Times and "
	       "durations (`*_ns`) are integer nanoseconds on\nthe recording's clock; NULL is "
	       "unknown or does not apply. `id` is the key of a row, `recording_id` the\n"
	       "recording that it belongs to.\n\n"
	       "`meta(key, value)`: `perfkit` is the version that wrote the file, `time_unit` "
	       "is `ns`.\n",
	       STORE_VERSION);
	for (size_t i = 0; i < STORE_TABLES; i++) {
		const struct table *t = &store_tables[i];
		printf("\n## %s\n\n%s\n\n", t->name, t->about);
		keys_line(t);
		for (size_t k = 0; k < t->n; k++)
			if (!is_told_once(&t->columns[k]))
				column_line(&t->columns[k]);
	}
	return 0;
}
