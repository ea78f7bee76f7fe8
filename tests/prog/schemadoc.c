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

/* 1 if its name is that of the table, as `thread_id` of `threads`. */
static int points_by_name(const struct column *c, const char *table)
{
	size_t n = strlen(table) - 1;
	return !strncmp(c->name, table, n) && !strcmp(c->name + n, "_id");
}

/* Its name, then in brackets the table that it points into, or its unit. */
static void column_name(const struct column *c)
{
	const char *arrow = "→ ";
	printf("`%s`", c->name);
	if (!strncmp(c->unit, arrow, strlen(arrow))) {
		if (!points_by_name(c, c->unit + strlen(arrow)))
			printf(" (%s)", c->unit + strlen(arrow));
	} else if (!strcmp(c->unit, "0, 1"))
		printf("?");
	else if (*c->unit && !unit_is_in_name(c))
		printf(" (%s)", c->unit);
}

/* The head of the page says what these are. */
static int is_key(const struct column *c)
{
	return !strcmp(c->name, "id") || !strcmp(c->name, "recording_id");
}

/* The columns whose names say all share a line. */
static void plain_columns(const struct table *t)
{
	const char *before = "- ";
	for (size_t k = 0; k < t->n; k++)
		if (!*t->columns[k].meaning && !is_key(&t->columns[k])) {
			printf("%s", before);
			column_name(&t->columns[k]);
			before = ", ";
		}
	if (*before == ',')
		printf("\n");
}

int main(void)
{
	printf("# The tables of a store\n\n"
	       "Schema version: **%d**. [store.md](store.md) says how to ask them. Times and "
	       "durations (`*_ns`) are\ninteger nanoseconds on the recording's clock; NULL is "
	       "unknown or does not apply. Where a table has them,\n`id` is the key of a row "
	       "and "
	       "`recording_id` its recording; `thread_id` is an id of `threads`, and so on; "
	       "where\nnames differ, the table stands in brackets. A `?` is 0 or 1.\n\n"
	       "`meta(key, value)`: `perfkit` is the version that wrote the file, `time_unit` "
	       "is `ns`.\n",
	       STORE_VERSION);
	for (size_t i = 0; i < STORE_TABLES; i++) {
		const struct table *t = &store_tables[i];
		printf("\n## %s\n\n%s\n\n", t->name, t->about);
		plain_columns(t);
		for (size_t k = 0; k < t->n; k++)
			if (*t->columns[k].meaning) {
				printf("- ");
				column_name(&t->columns[k]);
				printf(": %s\n", t->columns[k].meaning);
			}
	}
	return 0;
}
