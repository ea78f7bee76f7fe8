/* store_internal.h - the database behind a writer, for the other files of the store. */
#ifndef LIBTIME_STORE_STORE_INTERNAL_H
#define LIBTIME_STORE_STORE_INTERNAL_H

#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

#include <sqlite3.h>

struct store_handle {
	sqlite3 *db;
	const char *path;  /* for messages */
	int64_t recording; /* the one that was added last */
};

struct store_handle store_writer_handle(const struct store_writer *w);

#endif
