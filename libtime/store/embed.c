/* embed.c - the data files of libstore, compiled in as text (see the Makefile). */
#include "libstore/store.h"

#include <string.h>

const char store_schema[] =
#include "libstore/schema.sql.inc"
	;

const char causes_builtin[] =
#include "libstore/causes.rules.inc"
	;

int store_is_sqlite(const void *head, unsigned long n)
{
	static const char magic[] = "SQLite format 3"; /* and its NUL */
	return n >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}
