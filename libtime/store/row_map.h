/*
 * row_map.h - maps a table's row ids to indexes of the model. In a store that perfkit wrote,
 * ids count up, so that most of a map is two numbers; but ids may have any values.
 */
#ifndef LIBTIME_STORE_ROW_MAP_H
#define LIBTIME_STORE_ROW_MAP_H

#include "base/hash.h"

/* Zero-initialised is empty. */
struct row_map {
	int64_t id; /* of the first row; the next n - 1 ids and values count up together */
	uint32_t value, n;
	struct u64map rest;
};

/* 1 and the value of a row id; 0 if it is not in the map. */
static inline int row_map_get(const struct row_map *m, int64_t id, uint32_t *value)
{
	uint64_t at = (uint64_t)id - (uint64_t)m->id;
	if (at >= m->n)
		return u64map_get(&m->rest, (uint64_t)id, value);
	*value = m->value + (uint32_t)at;
	return 1;
}

/* Each id is added once. ERR_NOMEM. */
static inline int row_map_put(struct row_map *m, int64_t id, uint32_t value)
{
	if (!m->n) {
		m->id = id;
		m->value = value;
	} else if ((uint64_t)id != (uint64_t)m->id + m->n || value != m->value + m->n) {
		return u64map_put(&m->rest, (uint64_t)id, value);
	}
	m->n++;
	return 0;
}

static inline void row_map_release(struct row_map *m)
{
	u64map_release(&m->rest);
	*m = (struct row_map){0};
}

#endif
