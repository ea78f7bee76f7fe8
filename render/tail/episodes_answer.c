#include "render/tail/episodes_answer.h"
#include "libtime/explain/episode_id.h"
#include "render/text/units.h"

const struct answer_percentile answer_percentiles[] = {
	{"p50_ns", 50000},   {"p90_ns", 90000},  {"p99_ns", 99000}, {"p999_ns", 99900},
	{"p9999_ns", 99990}, {"max_ns", 100000}, {NULL, 0}};

size_t answer_rows(const struct episodes_answer *a)
{
	size_t all = a->selection->v.n;
	return a->rows && a->rows < all ? a->rows : all;
}

void answer_more(struct buf *b, const struct episodes_answer *a)
{
	size_t more = a->selection->v.n - answer_rows(a);
	if (!more)
		return;
	buf_str(b, "... ");
	units_count(b, more);
	buf_str(b, " more (show all with --rows 0)\n");
}

void answer_put_percentile(struct buf *b, const struct episodes *x, uint32_t millipercent)
{
	uint64_t low, high;
	episodes_percentile_range(x, millipercent, &low, &high);
	units_range(b, low, high);
}

void answer_json_open(struct json *j, const char *by)
{
	json_open(j, NULL, '{');
	json_u64(j, "schema", 1);
	json_str(j, "by", by);
}

void answer_json_population(struct json *j, const struct episodes *x)
{
	json_open(j, "population", '{');
	json_u64(j, "count", x->clean.n);
	json_u64(j, "open", x->open);
	for (const struct answer_percentile *p = answer_percentiles; p->key; p++)
		json_u64(j, p->key, episodes_percentile(x, p->millipercent, 0));
	json_close(j, '}');
}

void answer_json_text(struct json *j, const struct timeline *tl, const char *key, uint32_t id)
{
	const struct strtab *s = &tl->stacks->strings;
	json_text(j, key, strtab_get(s, id), strtab_len(s, id));
}

void answer_json_thread(struct json *j, const struct timeline *tl, uint32_t thread)
{
	const struct tl_thread *t = &tl->threads.v[thread];
	json_i64(j, "tid", t->tid);
	json_i64(j, "pid", t->pid);
	answer_json_text(j, tl, "comm", t->comm);
}

void answer_json_episode(struct json *j, const struct episodes_answer *a, size_t rank)
{
	struct buf id = {0};
	episode_id_put(&id, a->tl, a->episodes->query.kind,
		       &a->episodes->v.v[a->selection->v.v[rank]]);
	json_u64(j, "rank", rank + 1);
	json_text(j, "id", buf_cstr(&id), id.n);
	j->b->failed |= id.failed;
	buf_release(&id);
}
