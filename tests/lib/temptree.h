/* temptree.h - a tree of files that a test writes: setup and teardown of cmocka's tests. */
#ifndef TESTS_LIB_TEMPTREE_H
#define TESTS_LIB_TEMPTREE_H

#include "tests/lib/unit.h"

#include <stdlib.h>
#include <sys/stat.h>

static char root[64];

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/perfkit-tree-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	char cmd[128];
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
	return system(cmd);
}

#define ON_A_TREE(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

static const char *in_root(const char *path)
{
	static char text[64][512]; /* enough for one test */
	static int turn;
	char *p = text[turn++ & 63];
	snprintf(p, sizeof(text[0]), "%s%s", root, path);
	return p;
}

/* Write bytes below the root, making directories. */
static void put(const char *path, const void *data, size_t n)
{
	char full[512];
	snprintf(full, sizeof(full), "%s", in_root(path));
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
}

#endif
