/*
 * fuzz_context - a recording's context (perf.data.context): what descriptors were. Input: the
 * file. Snapshots said twice say the same of every descriptor.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libtime/build/fd_context.h"

#include <string.h>

enum { PIDS = 4, FDS = 24 };

static const char again[] = "\nsnapshot\n";

/* The text with its lines repeated, as if every snapshot had been taken twice. */
static struct fd_context *parse_doubled(const char *text, size_t n)
{
	struct fd_context *c = NULL;
	size_t head = (size_t)((const char *)memchr(text, '\n', n) + 1 - text);
	char *all = mem_alloc(2 * n + sizeof(again)), *p = all;
	if (!all)
		return NULL;
	memcpy(p, text, n);
	p += n;
	memcpy(p, again, sizeof(again) - 1);
	p += sizeof(again) - 1;
	memcpy(p, text + head, n - head);
	p += n - head;
	fuzz_must(!fd_context_parse(&c, all, (size_t)(p - all), "fuzz", NULL) || fuzz_ceiling,
		  "a context given twice can be read");
	mem_free(all);
	return c;
}

static void compare(const struct fd_context *a, const struct fd_context *b)
{
	for (int32_t pid = -1; pid <= PIDS; pid++)
		for (uint64_t fd = 0; fd < FDS; fd++) {
			uint8_t kind = fd_context_kind(a, pid, fd);
			fuzz_must(kind >= ARG_FD && kind < ARG_KINDS, "a kind of descriptor");
			fuzz_must(fd_context_kind(b, pid, fd) == kind,
				  "snapshots said twice say the same");
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct fd_context *c, *twice;
	struct err e = {0};
	int rc = fd_context_parse(&c, (const char *)p, n, "fuzz", &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return 0;
	}
	if ((twice = parse_doubled((const char *)p, n)))
		compare(c, twice);
	fd_context_free(twice);
	fd_context_free(c);
	return 0;
}
