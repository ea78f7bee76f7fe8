#include "cmd/input/budget.h"
#include "base/os/os.h"
#include "base/shortage.h"
#include "cmd/input/input.h"
#include "cmd/cli/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MB = 2048, LEAST_MB = 16, STACK_KB = 1024 };

static uint64_t bound; /* of this process, set once; 0: none */

/* "2G", "500M", "800000K", bytes; 0 for anything else. */
static uint64_t parse_size(const char *s)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	uint64_t n = strtoull(s, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	if (end == s || *s == '-' || errno || (*end && (!unit || end[1])) ||
	    n > UINT64_MAX >> shift)
		return 0;
	return n << shift;
}

static void limit_memory(uint64_t bytes)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return; /* a sanitizer's own memory counts, and is larger than any bound */
#endif
	os_limit_memory(bytes);
}

int budget_stack(void)
{
	uint64_t has;
	if (!os_stack((size_t)STACK_KB << 10, &has))
		return 0;
	say_line("perfkit: the stack may have %llu KB (ulimit -s), %d are needed",
		 (unsigned long long)(has >> 10), STACK_KB);
	return 1;
}

int budget_begin(const struct verb *v, const void *opts)
{
	const struct input_opts *o = opts; /* the options of such verbs begin with it */
	if (!input_is_read_by(v))
		return 0;
	bound = o->max_memory ? parse_size(o->max_memory) : (uint64_t)DEFAULT_MB << 20;
	if (bound < (uint64_t)LEAST_MB << 20) {
		say_line("perfkit %s: --max-memory is a size such as 500M or 8G, at least "
			 "%dM, not '%s'",
			 v->name, LEAST_MB, o->max_memory);
		return 2;
	}
	if (o->force)
		bound = 0;
	else
		limit_memory(bound);
	return 0;
}

uint64_t budget_output(void)
{
	return bound;
}

int budget_status(void)
{
	return bound && shortage_is_limit() ? 3 : 1;
}
