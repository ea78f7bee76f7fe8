/* lock_mark.c - see lock_mark.h. */
#include "libtime/sched/lock_mark.h"

#include <stdlib.h>
#include <string.h>

/* The number after "NAME=" in a mark's text; 0 for none. */
static uint64_t field(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = text; (p = strstr(p, name)); p += n)
		if (p[n] == '=' && (p == text || p[-1] == ' '))
			return strtoull(p + n + 1, NULL, 0);
	return 0;
}

int lock_mark_read(const struct timeline *tl, const struct tl_mark *m, struct lock_mark *out)
{
	const struct strtab *s = &tl->stacks->strings;
	if (!strstr(strtab_get(s, m->name), "lock_wait"))
		return 0;
	const char *text = strtab_get(s, m->text);
	*out = (struct lock_mark){m->time_ns, field(text, "mutex"), (long)field(text, "owner"),
				  m->thread};
	if (!out->address)
		out->address = field(text, "futex");
	return 1;
}
