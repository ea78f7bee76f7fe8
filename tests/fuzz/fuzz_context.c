/*
 * fuzz_context - a recording's context (perf.data.context): what descriptors were, and facts of
 * the host. Input: the file. Snapshots said twice say the same of every descriptor, and have
 * the same facts before the recording.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libtime/build/fd_context.h"
#include "libtime/sched/facts.h"

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
			const char *x = fd_context_target(a, pid, fd);
			const char *y = fd_context_target(b, pid, fd);
			fuzz_must(!x == !y && (!x || !strcmp(x, y)),
				  "snapshots said twice lead to the same");
		}
	const struct fact_table *one = fd_context_facts(a), *two = fd_context_facts(b);
	fuzz_must(one->v.n == two->v.n, "snapshots said twice have the same facts");
	for (size_t i = 0; i < one->v.n; i++)
		fuzz_must(!strcmp(strtab_get(&one->names, one->v.v[i].before),
				  strtab_get(&two->names, two->v.v[i].before)),
			  "and the same before");
}

/* Facts as a timeline has them: questions end, and what they name is there. */
static void ask(const struct fd_context *c)
{
	struct stacks names = {0};
	struct timeline tl;
	struct fact_quota q;
	int r = timeline_init(&tl, &names);
	for (int32_t pid = 1; !r && pid <= PIDS; pid++) {
		struct tl_thread t = {.pid = pid, .tid = pid};
		r = vec_push(&tl.threads, t);
	}
	r = r ? r : fact_table_apply(fd_context_facts(c), &tl);
	for (uint32_t t = 0; !r && t < tl.threads.n; t++) {
		uint32_t cgroup = fact_cgroup(&tl, t);
		fuzz_must(cgroup < strtab_count(&names.strings), "a cgroup has a name");
		fuzz_must(!fact_quota(&tl, t, &q) || (cgroup && q.period_ns),
			  "a quota is a cgroup's");
		fact_container(&tl, t, cgroup);
		fact_device(&tl, t, strtab_get(&names.strings, cgroup));
	}
	timeline_release(&tl);
	stacks_release(&names);
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
	ask(c);
	fd_context_free(c);
	return 0;
}
