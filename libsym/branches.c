#include "libsym/branches.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "libparse/perf_abi.h"

#include <pthread.h>

struct branches_lock {
	pthread_mutex_t mutex;
};

/* Bits of an entry's third word (struct perf_branch_entry of include/uapi/linux/perf_event.h). */
enum { MISPREDICTED = 1, CYCLES_SHIFT = 4, CYCLES_MASK = 0xffff };

int branches_init(struct branches *b)
{
	*b = (struct branches){.lock = mem_zalloc(1, sizeof(*b->lock))};
	if (b->lock)
		pthread_mutex_init(&b->lock->mutex, NULL);
	return b->lock ? 0 : ERR_NOMEM;
}

void branches_release(struct branches *b)
{
	idmap_release(&b->taken.index);
	idmap_release(&b->runs.index);
	vec_release(&b->taken.v);
	vec_release(&b->runs.v);
	if (b->lock)
		pthread_mutex_destroy(&b->lock->mutex);
	mem_free(b->lock);
	*b = (struct branches){0};
}

static struct branch *branch_of(struct branch_set *b, const struct branch *key)
{
	uint64_t h = hash_u64(hash_u64(key->from ^ hash_seed()) ^ key->to ^ key->space);
	size_t at = 0;
	for (uint32_t i; idmap_next(&b->index, h, &at, &i);) {
		const struct branch *x = &b->v.v[i];
		if (x->from == key->from && x->to == key->to && x->space == key->space)
			return &b->v.v[i];
	}
	struct branch fresh = {key->space, key->from, key->to, key->first};
	if (vec_push(&b->v, fresh) || idmap_put(&b->index, h, (uint32_t)(b->v.n - 1)))
		return NULL;
	return &b->v.v[b->v.n - 1];
}

/* Bit fields are laid out from the other end on big-endian machines. */
static void decode(uint64_t flags, int is_big, int *mispredicted, uint64_t *cycles)
{
	if (is_big) {
		*mispredicted = flags >> 63 & 1;
		*cycles = flags >> 44 & CYCLES_MASK;
	} else {
		*mispredicted = flags & MISPREDICTED;
		*cycles = flags >> CYCLES_SHIFT & CYCLES_MASK;
	}
}

static int add(struct branch_set *set, struct branch x)
{
	struct branch *b = branch_of(set, &x);
	if (!b)
		return ERR_NOMEM;
	b->first = x.first < b->first ? x.first : b->first;
	b->taken++;
	b->mispredicted += x.mispredicted;
	b->cycles += x.cycles;
	b->timed += x.cycles > 0;
	return 0;
}

/* `x` was taken after `older`. */
static int add_run(struct branches *b, const struct branch *older, const struct branch *x)
{
	if (older->to > x->from || x->from - older->to > RUN_BYTES_MAX)
		return 0;
	return add(&b->runs, (struct branch){.space = x->space,
					     .from = older->to,
					     .to = x->from,
					     .first = x->first,
					     .cycles = x->cycles});
}

int branches_add(struct branches *b, const struct sample *s, uint32_t space, int swap)
{
	int rc = 0, is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != !!swap;
	uint64_t types = s->event->attr.branch_sample_type;
	struct branch newer = {.from = 0};
	if (types & PERF_SAMPLE_BRANCH_CALL_STACK)
		return 0;
	pthread_mutex_lock(&b->lock->mutex);
	for (uint64_t i = 0; i + 2 < s->branches.n && !rc; i += 3) {
		const uint8_t *p = s->branches.p + i * 8;
		struct branch x = {.space = space,
				   .from = load_u64(p, swap),
				   .to = load_u64(p + 8, swap),
				   .first = s->time};
		int mispredicted;
		decode(load_u64(p + 16, swap), is_big, &mispredicted, &x.cycles);
		x.mispredicted = (uint64_t)mispredicted;
		rc = add(&b->taken, x);
		if (!rc && i && types & PERF_SAMPLE_BRANCH_ANY)
			rc = add_run(b, &x, &newer);
		newer = x;
	}
	pthread_mutex_unlock(&b->lock->mutex);
	return rc;
}

int branch_offset(const struct machine *m, const struct branch *b, uint32_t dso,
		  uint64_t *offset)
{
	const struct map *map =
		b->space == NO_ID ? NULL : machine_map_at(m, b->space, b->from, b->first);
	if (!map || map->dso != dso)
		return 0;
	*offset = b->from - map->start + map->pgoff;
	return 1;
}
