/* tempdb.h - a folder of its own for a program that writes stores: setup and teardown of a
 * group of cmocka's tests. */
#ifndef TESTS_LIB_TEMPDB_H
#define TESTS_LIB_TEMPDB_H

#include "tests/lib/unit.h"

#include <stdlib.h>
#include <unistd.h>

static char dir[64], db_path[96];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/perfkit-db-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/run.db", dir);
	return 0;
}

/* What a test wrote besides db_path it takes away itself. */
static int remove_dir(void **state)
{
	(void)state;
	unlink(db_path);
	return rmdir(dir);
}

#endif
