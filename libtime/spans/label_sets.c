#include "libtime/spans/label_sets.h"

int label_sets_add(struct label_sets *x, const struct timeline *tl, const char *key)
{
	struct label_lanes lanes;
	int r = label_lanes_build(tl, key, &lanes);
	if (r > 0 && !vec_push(&x->lanes, lanes))
		return r;
	label_lanes_release(&lanes);
	return r > 0 ? ERR_NOMEM : r;
}

void label_sets_release(struct label_sets *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->lanes.n; i++)
		label_lanes_release(&x->lanes.v[i]);
	vec_release(&x->lanes);
	vec_release(&x->v);
	u64map_release(&x->index);
}

/* The number of a set: `rest`, and behind it the value of one more key. */
static int number(struct label_sets *x, uint32_t rest, uint32_t value, uint32_t *set)
{
	uint64_t key = (uint64_t)rest << 32 | value;
	struct label_set new = {rest, value};
	if (u64map_get(&x->index, key, set))
		return 0;
	if (vec_push(&x->v, new))
		return ERR_NOMEM;
	*set = (uint32_t)x->v.n;
	return u64map_put(&x->index, key, *set);
}

int label_sets_at(struct label_sets *x, uint32_t thread, uint32_t path, uint64_t ns,
		  uint64_t *until, uint32_t *set)
{
	int r = 0;
	*set = 0;
	*until = UINT64_MAX;
	for (size_t i = 0; i < x->lanes.n && !r; i++) {
		uint64_t change;
		uint32_t value = label_lanes_at(&x->lanes.v[i], thread, path, ns, &change);
		*until = change < *until ? change : *until;
		if (x->lanes.n == 1)
			*set = value;
		else
			r = number(x, *set, value, set);
	}
	return r;
}

uint32_t label_sets_value(const struct label_sets *x, uint32_t set, size_t key)
{
	if (x->lanes.n == 1 || !set)
		return set;
	for (size_t behind = x->lanes.n - 1 - key; behind; behind--)
		set = x->v.v[set - 1].rest;
	return x->v.v[set - 1].value;
}
