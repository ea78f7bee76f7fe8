/*
 * check.h - invariants stated in code, checked by the compiler or in tests.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* An array has one entry for each of n values, such as those of an enum. At file scope or among
 * declarations. */
#define ENTRIES(table, n) \
	_Static_assert(sizeof(table) / sizeof(*(table)) == (n), "one entry for each")

/* A struct is as large as its comment says. */
#define SIZE_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), "as large as that")

/*
 * A rule about the order of calls or threads, which types cannot express. No input can break
 * it; what input can break is an error (err.h). If it is broken, tests (run.sh sets
 * PERFKIT_CHECKS) and builds with sanitizers abort; a user's program goes on.
 */
#define CHECK(rule) ((rule) ? (void)0 : check_failed(__FILE__, __LINE__, #rule))

/* CHECK calls it if the rule is broken. */
void check_failed(const char *file, int line, const char *rule);

#endif
