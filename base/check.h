/*
 * check.h - what the code relies on, where it does: checked while compiling, or while testing.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* An array has one entry for each of n values: of an enum, of bits. At file scope or among
 * declarations. */
#define ENTRIES(table, n) \
	_Static_assert(sizeof(table) / sizeof(*(table)) == (n), "one entry for each")

/* A struct is as large as its comment says. */
#define SIZE_IS(type, bytes) _Static_assert(sizeof(type) == (bytes), "as large as that")

/*
 * A rule of order between calls, which types cannot say: this before that, one thread at a
 * time. It holds for any input; what input can break is an error (err.h). Tests (run.sh sets
 * PERFKIT_CHECKS) and builds with sanitizers abort where it does not; a user's program goes on.
 */
#define CHECK(rule) ((rule) ? (void)0 : check_failed(__FILE__, __LINE__, #rule))

/* What CHECK calls where its rule is broken. */
void check_failed(const char *file, int line, const char *rule);

#endif
