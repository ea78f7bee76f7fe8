/* unit.c - tests/lib is a library even when empty. */
typedef int tests_lib_unit;
