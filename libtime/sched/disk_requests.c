#include "libtime/sched/disk_requests.h"
#include "libtime/sched/facts.h"

#include "base/hash.h"
#include "libtime/sched/timeline_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

enum step { INSERT, ISSUE, COMPLETE, STEPS };

struct reader {
	const struct timeline *tl;
	uint32_t name[STEPS]; /* strings ids of the events; 0: not recorded */
	struct u64map open;   /* key → index of `v` */
	disk_requests v;      /* end_ns 0: not completed */
	uint8_t has_insert;   /* where there are no parts */
};

/* "7,0 WS 65536 () 0 + 128 0x2,0,4 [dd]"; a completion has "7,0 WS () 0 + 128 [0]". "FWS" is a
 * write with a flush before it, or, without sectors, a flush. */
static int parse_text(const char *text, struct disk_request *q, uint64_t *sectors)
{
	unsigned long long sector, n;
	int at = 0;
	const char *rest;
	if (sscanf(text, "%u,%u %c%n", &q->major, &q->minor, &q->op, &at) != 3 ||
	    !(rest = strstr(text + at, ") ")) ||
	    sscanf(rest, ") %llu + %llu", &sector, &n) != 2 || n > UINT64_MAX / SECTOR)
		return 0;
	q->sector = sector;
	q->bytes = n * SECTOR;
	*sectors = n;
	if (q->op == 'F' && n && strchr("RWD", text[at]))
		q->op = text[at];
	return 1;
}

/* The key tells a flush without sectors from a request at the same sector. A queued request
 * that grew at its front keeps its end, which is a second key: `end`. */
static uint64_t key_of(const struct reader *x, const struct tl_mark *m,
		       const struct disk_request *q, uint64_t end)
{
	uint64_t part = m->cpu == TL_NOCPU ? 0 : (uint64_t)m->cpu - timeline_cpu(x->tl, m->cpu);
	uint64_t disk = (uint64_t)q->major << 32 | q->minor;
	return hash_u64(hash_u64(hash_u64(disk ^ part << 52) ^ (end ? end : q->sector)) +
			!q->bytes + (end ? 2 : 0));
}

static struct disk_request *find(struct reader *x, uint64_t key)
{
	uint32_t i;
	return u64map_get(&x->open, key, &i) && !x->v.v[i].end_ns ? &x->v.v[i] : NULL;
}

static int add_request(struct reader *x, const struct disk_request *q, uint64_t key,
		       uint64_t end)
{
	uint32_t at = (uint32_t)x->v.n;
	return x->v.n >= UINT32_MAX || vec_push(&x->v, *q) || u64map_put(&x->open, key, at) ||
			       u64map_put(&x->open, end, at)
		       ? ERR_NOMEM
		       : 0;
}

static uint8_t has_insert(const struct reader *x, const struct tl_mark *m)
{
	const struct tl_part *p = timeline_part_of_cpu(x->tl, m->cpu);
	return p ? p->disk_queues : x->has_insert;
}

static int add_event(struct reader *x, enum step step, const struct tl_mark *m)
{
	const char *text = strtab_get(&x->tl->stacks->strings, m->text);
	struct disk_request q = {.thread = m->thread, .has_insert = has_insert(x, m)};
	uint64_t sectors;
	if (!parse_text(text, &q, &sectors))
		return 0;
	uint64_t key = key_of(x, m, &q, 0), end = key_of(x, m, &q, q.sector + sectors);
	struct disk_request *open = find(x, key);
	if (step == COMPLETE) {
		if (open && open->issue_ns && open->issue_ns <= m->time_ns) {
			open->end_ns = m->time_ns;
			open->cpu = m->cpu;
		}
		return 0;
	}
	open = step == INSERT ? NULL : open ? open : sectors ? find(x, end) : NULL;
	if (open && open->insert_ns > m->time_ns) /* a damaged store's marks are in any order */
		open = NULL;
	q.insert_ns = m->time_ns;
	q.issue_ns = step == ISSUE ? m->time_ns : 0;
	if (!open)
		return add_request(x, &q, key, end);
	if (!open->issue_ns) {
		q.insert_ns = open->insert_ns;
		q.thread = open->thread;
	}
	*open = q;
	return u64map_put(&x->open, key, (uint32_t)(open - x->v.v));
}

static int end_order(const void *a, const void *b)
{
	const struct disk_request *x = a, *y = b;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->sector > y->sector) - (x->sector < y->sector);
}

static void keep_completed(disk_requests *v)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i].end_ns)
			v->v[n++] = v->v[i];
	v->n = n;
	if (n)
		qsort(v->v, n, sizeof(*v->v), end_order);
}

/* Which of the three events a name is; STEPS for others. */
static enum step step_of(const struct reader *x, uint32_t name)
{
	enum step i = INSERT;
	while (i < STEPS && (!x->name[i] || x->name[i] != name))
		i++;
	return i;
}

int disk_requests_read(const struct timeline *tl, disk_requests *out, struct err *e)
{
	static const char *const names[STEPS] = {
		"block:block_rq_insert", "block:block_rq_issue", "block:block_rq_complete"};
	struct reader x = {.tl = tl, .v = *out};
	x.has_insert = (uint8_t)timeline_has_event(tl, names[INSERT]);
	int r = 0;
	x.v.n = 0;
	for (int i = 0; i < STEPS; i++)
		if (!strtab_find(&tl->stacks->strings, names[i], &x.name[i]))
			x.name[i] = 0;
	for (size_t i = 0; !r && x.name[COMPLETE] && i < tl->marks.n; i++) {
		enum step step = step_of(&x, tl->marks.v[i].name);
		if (step != STEPS)
			r = add_event(&x, step, &tl->marks.v[i]);
	}
	u64map_release(&x.open);
	keep_completed(&x.v);
	*out = x.v;
	return r ? err_nomem(e) : 0;
}

const char *disk_operation(const struct disk_request *q)
{
	switch (q->op) {
	case 'R':
		return "read";
	case 'W':
		return "write";
	case 'D':
		return "discard";
	case 'F':
		return "flush";
	default:
		return "request";
	}
}

const char *disk_name(const struct timeline *tl, uint32_t thread, const struct disk_request *q,
		      char text[DISK_NAME])
{
	snprintf(text, DISK_NAME, "%u:%u", q->major, q->minor);
	const char *name = fact_disk(tl, thread, text);
	return name ? name : text;
}
