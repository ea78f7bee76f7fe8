/* schema_sql.c - SQL from the declarations of schema.h. */
#include "libtime/store/schema.h"
#include "libtime/store/store.h"

#include <string.h>

int schema_is_text(const struct column *c)
{
	return c->kind >= COLUMN_TEXT && c->kind <= COLUMN_VARIABLE;
}

int schema_is_optional(const struct column *c)
{
	switch (c->kind) {
	case COLUMN_U64_OR_0:
	case COLUMN_TIME_OR_MAX:
	case COLUMN_OFFSET:
	case COLUMN_I32_OR_NEGATIVE:
	case COLUMN_I16_OR_NEGATIVE:
	case COLUMN_U32_OR_0:
	case COLUMN_CPU:
	case COLUMN_LINE:
	case COLUMN_TEXT_OR_EMPTY:
	case COLUMN_STATE:
	case COLUMN_SYSCALL:
	case COLUMN_ARG:
	case COLUMN_BLOB:
	case COLUMN_VARIABLE:
	case COLUMN_BUILD_ID:
	case COLUMN_FUNCTION:
	case COLUMN_STACK:
	case COLUMN_IN:
		return 1;
	case COLUMN_WORD:
		return !*c->word(0);
	default:
		return c->kind >= COLUMN_COMM && c->kind != COLUMN_THREAD_KEY &&
		       c->kind != COLUMN_SPAN_KEY && c->kind < COLUMN_KIND;
	}
}

/* The table a column refers to: its unit is "→ TABLE". */
static const char *referred(const struct column *c)
{
	static const char arrow[] = "→ ";
	return strncmp(c->unit, arrow, sizeof(arrow) - 1) ? NULL : c->unit + sizeof(arrow) - 1;
}

void schema_columns(struct buf *b, const struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		buf_str(b, i ? "," : "");
		buf_str(b, t->columns[i].name);
	}
}

static void create_table(struct buf *b, const struct table *t)
{
	buf_fmt(b, "CREATE TABLE %s(", t->name);
	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];
		buf_fmt(b, "%s\n\t%s %s", i ? "," : "", c->name,
			schema_is_text(c)        ? "TEXT"
			: c->kind == COLUMN_BLOB ? "BLOB"
						 : "INTEGER");
		if (c->kind == COLUMN_ID)
			buf_str(b, " PRIMARY KEY");
		else if (!schema_is_optional(c))
			buf_str(b, " NOT NULL");
		if (referred(c))
			buf_fmt(b, " REFERENCES %s(id)", referred(c));
	}
	if (t->key)
		buf_fmt(b, ",\n\tPRIMARY KEY(%s)", t->key);
	buf_str(b, t->key ? ") WITHOUT ROWID;\n" : ");\n");
}

void schema_sql(struct buf *b)
{
	buf_fmt(b, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n",
		STORE_APPLICATION, STORE_VERSION);
	for (size_t i = 0; i < STORE_TABLES; i++)
		create_table(b, &store_tables[i]);
	buf_str(b, store_views);
}
