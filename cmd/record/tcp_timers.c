#include "cmd/record/tcp_timers.h"
#include "base/mem.h"
#include "base/text/buf.h"

#include <stdio.h>
#include <string.h>

/* A line of /proc/kallsyms (kernel/kallsyms.c, s_show); addresses are 0 for other users. */
static void add_timer(struct buf *filter, const char *line)
{
	unsigned long long address;
	char name[64];
	if (sscanf(line, "%llx %*c %63s", &address, name) != 2 || !address ||
	    (strcmp(name, "tcp_delack_timer") != 0 && strcmp(name, "tcp_write_timer") != 0))
		return;
	buf_fmt(filter, "%sfunction == 0x%llx", filter->n ? " || " : "", address);
}

char *tcp_timers_filter(void)
{
	struct buf filter = {0};
	char line[256];
	FILE *f = fopen("/proc/kallsyms", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " tcp_"))
			add_timer(&filter, line);
	if (f)
		fclose(f);
	char *text = filter.n && !buf_failed(&filter) ? mem_strdup(buf_cstr(&filter)) : NULL;
	buf_release(&filter);
	return text;
}
