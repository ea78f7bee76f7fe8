#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ALWAYS = 1 };
#else
enum { ALWAYS = 0 };
#endif

void check_failed(const char *file, int line, const char *rule)
{
	if (!ALWAYS && !getenv("PERFKIT_CHECKS"))
		return;
	fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, rule);
	abort();
}
