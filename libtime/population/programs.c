#include "libtime/population/programs.h"
#include "base/text/shellword.h"

/* Of a recording and a pid. */
static uint64_t process_key(const struct timeline *tl, uint32_t thread)
{
	const struct tl_part *part = timeline_part_of(tl, thread);
	uint64_t key = part ? (uint64_t)(part - tl->parts.v) << 32 : 0;
	return key | (uint32_t)tl->threads.v[thread].pid;
}

int programs_of_threads(const struct timeline *tl, uint32_t *out)
{
	struct u64map first = {0}; /* process → its first thread */
	uint32_t at;
	int r = 0;
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		if (tl->threads.v[i].pid == tl->threads.v[i].tid)
			r = u64map_put(&first, process_key(tl, i), i);
	for (uint32_t i = 0; !r && i < tl->threads.n; i++)
		out[i] = tl->threads.v[i].program ? tl->threads.v[i].program
			 : u64map_get(&first, process_key(tl, i), &at) ? tl->threads.v[at].comm
								       : tl->threads.v[i].comm;
	u64map_release(&first);
	return r;
}

void program_add(struct program_pids *p, int32_t pid)
{
	for (size_t i = 0; i < PROGRAM_PIDS && i < p->n; i++)
		if (p->v[i] == pid)
			return;
	for (size_t i = 0; i < PROGRAM_PIDS && i <= p->n; i++) {
		int32_t next = p->v[i];
		if (i < p->n && pid > next)
			continue;
		p->v[i] = pid;
		pid = next;
	}
	p->n++;
}

void program_option(struct buf *b, const struct program_pids *p, const char *name)
{
	if (!p->n || p->n > PROGRAM_PIDS) {
		buf_str(b, "--comm ");
		shell_word(b, name);
		return;
	}
	buf_str(b, "--pid ");
	for (size_t i = 0; i < p->n; i++)
		buf_fmt(b, "%s%d", i ? "," : "", p->v[i]);
}

void program_option_of(struct buf *b, const struct timeline *tl, const uint32_t *of,
		       uint32_t name)
{
	struct program_pids pids = {.n = 0};
	for (uint32_t i = 0; i < tl->threads.n; i++) {
		const struct tl_thread *x = &tl->threads.v[i];
		if (of[i] == name && x->tid == x->pid)
			program_add(&pids, x->pid);
	}
	program_option(b, &pids, strtab_get(&tl->stacks->strings, name));
}
