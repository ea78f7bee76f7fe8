/* store_schema.c - the store's views, compiled in as text (see the Makefile). */
#include "libtime/store/store.h"

#include <string.h>

const char store_views[] =
#include "libtime/store/views.sql.inc"
	;

int store_is_sqlite(const void *head, unsigned long n)
{
	static const char magic[] = "SQLite format 3"; /* and its NUL */
	return n >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}
