/* by_disk.c - disk requests, by disk and operation; percentiles are of the service time. */
#include "libtime/sched/disk_requests.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/tables/collect.h"

static int is_selected(const struct collect *c, const struct disk_request *q)
{
	const struct population *of = &c->q->of;
	uint32_t t = q->thread;
	uint64_t start = q->insert_ns, end = q->end_ns;
	int cut = 0;
	if (!population_has_cpu(of, c->tl, q->cpu, q->cpu) ||
	    !population_clip(of, &start, &end, &cut) || cut ||
	    !population_has_label(of, t, 0, start))
		return 0;
	return !c->q->of_threads ||
	       (t != TL_NONE && population_has_thread(of, c->tl, t, c->tl->threads.v[t].comm));
}

static int name_row(struct collect *c, const struct disk_request *q, uint32_t row)
{
	char text[DISK_NAME];
	const char *name = disk_name(c->tl, q->thread, q, text);
	return rows_name(c->rows, row, COL_DISK, name) ||
			       rows_name(c->rows, row, COL_OPERATION, disk_operation(q))
		       ? ERR_NOMEM
		       : 0;
}

static int add(struct collect *c, const struct disk_request *q)
{
	const char *operation = disk_operation(q);
	uint64_t disk = (uint64_t)q->major << 32 | q->minor;
	uint64_t host = (uint64_t)q->cpu - timeline_cpu(c->tl, q->cpu);
	uint64_t queued = q->issue_ns - q->insert_ns, served = q->end_ns - q->issue_ns;
	uint32_t row;
	if (!is_selected(c, q))
		return 0;
	if (collect_row(c, q->issue_ns,
			hash_u64(hash_u64(disk) ^ host << 8 ^ (uint8_t)*operation), &row) ||
	    (!rows_get(c->rows, row, COL_COUNT) && name_row(c, q, row)) ||
	    rows_length(c->rows, row, served, 0))
		return ERR_NOMEM;
	rows_add(c->rows, row, COL_COUNT, 1);
	rows_add(c->rows, row, COL_BYTES, q->bytes);
	rows_add(c->rows, row, COL_SERVED, served);
	if (!q->has_insert)
		return 0;
	uint64_t most = rows_get(c->rows, row, COL_QUEUED_MAX);
	rows_add(c->rows, row, COL_QUEUED, queued);
	if (most == CELL_NONE || queued > most)
		rows_set(c->rows, row, COL_QUEUED_MAX, queued);
	return 0;
}

int collect_disks(struct collect *c)
{
	disk_requests v = {0};
	int r = disk_requests_read(c->tl, &v, c->e);
	if (!r && !v.n)
		r = err_set(c->e, ERR_REFUSED,
			    "no requests to disks were recorded: perfkit record tail --also "
			    "block records them");
	for (size_t i = 0; !r && i < v.n; i++)
		r = add(c, &v.v[i]);
	vec_release(&v);
	return r;
}
