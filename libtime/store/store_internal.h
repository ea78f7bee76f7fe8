/* store_priv.h - the database behind a writer, for the other files of the store.
 */
#ifndef LIBSTORE_STORE_PRIV_H
#define LIBSTORE_STORE_PRIV_H

#include "libstore/storeread.h"
#include "libstore/storewrite.h"

#include <sqlite3.h>

struct store_handle {
	sqlite3 *db;
	const char *path;  /* for messages */
	int64_t recording; /* a writer's: the one added last */
};

struct store_handle store_writer_handle(const struct store_writer *w);

#endif
