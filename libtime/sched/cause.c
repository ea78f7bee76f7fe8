#include "libtime/sched/cause.h"

#include "base/text/buf.h"
#include "base/check.h"
#include "base/text/nearest.h"

#include <string.h>

static const char *const cause_names[] = {
	"unknown",  "lock",  "rwlock",  "semaphore", "cond",     "join",
	"barrier",  "futex", "sleep",   "poll",      "net",      "pipe",
	"io",       "fault", "child",   "signal",    "throttle", "preempt",
	"runqueue", "yield", "stopped", "exit",      "safepoint"};
ENTRIES(cause_names, CAUSE_COUNT);

const char *cause_name(unsigned int cause)
{
	return cause < CAUSE_COUNT ? cause_names[cause] : "";
}

int cause_find(const char *name)
{
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (!strcmp(name, cause_names[i]))
			return i;
	return -1;
}

int cause_parse(const char *name, struct err *e)
{
	struct buf list = {0};
	struct nearest x = nearest_to(name, strlen(name));
	int cause = cause_find(name);
	if (cause >= 0)
		return cause;
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		buf_fmt(&list, "%s%s", i ? ", " : "", cause_names[i]);
		nearest_offer(&x, cause_names[i]);
	}
	if (x.best)
		cause = err_set(e, ERR_USAGE, "no cause '%.40s'; did you mean '%s'?", name,
				x.best);
	else
		cause = err_set(e, ERR_USAGE, "no cause '%.40s'; there are %s", name,
				buf_cstr(&list));
	buf_release(&list);
	return cause;
}
