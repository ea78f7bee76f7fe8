#include "libtime/explain/family.h"
#include "base/mem.h"

#include <stdlib.h>

enum { LEAST = 3, KEY_CPU = 1, KEY_IO = 2, KEY_OTHER = 4, NAMES = 64 };

/* 1 if the episode's root lacked a CPU, or had the one that another thread lacked. */
static int root_lacked_cpu(const struct tail_root *root)
{
	return root->via == VIA_CPU ||
	       (root->state == PART_RUNNABLE && root->end != END_IDLE_EXIT);
}

/* Equal for episodes that waited for the same: a CPU, a lock, a kind of event; 0: that is not
 * known, or they ran. */
static uint64_t family_key(const struct tail_row *row)
{
	int queued = row->state == PART_RUNNABLE || row->state == PART_PREEMPTED;
	if (row->root.state == PART_PREEMPTED || row->root.end == END_IDLE_EXIT)
		return 0; /* a quota, or an idle CPU: not other threads */
	if (queued)
		return KEY_CPU;
	if (row->state != PART_BLOCKED || (!row->wanted && row->cause == CAUSE_UNKNOWN))
		return 0;
	if (row->cause == CAUSE_JOIN || row->cause == CAUSE_CHILD)
		return 0; /* who was waited for is the answer */
	if (row->lock)
		return row->lock;
	if (row->cause == CAUSE_IO)
		return KEY_IO; /* of one fsync, what it waits for is chance */
	return hash_u64((uintptr_t)row->wanted ^ row->cause) | KEY_OTHER;
}

int family_has(const struct tail *t, const struct tail_row *row)
{
	return t->family.count && family_key(row) == t->family.key;
}

static uint64_t length_of(const struct tail *t, const struct tail_row *row)
{
	return episode_ns(&t->episodes.v.v[row->episode]);
}

typedef VEC(struct tail_family) families;

static int length_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Three times the median length of all rows: what one episode may count at most, so that one
 * that lasted as long as the program does not speak for all others. 0: no memory. */
static uint64_t most_of_one(const struct tail *t)
{
	uint64_t *v = mem_zalloc(t->rows.n + 1, sizeof(*v)), most;
	if (!v)
		return 0;
	for (size_t i = 0; i < t->rows.n; i++)
		v[i] = length_of(t, &t->rows.v[i]);
	qsort(v, t->rows.n, sizeof(*v), length_order);
	most = 3 * v[t->rows.n / 2] + 1;
	mem_free(v);
	return most;
}

static int count_families(const struct tail *t, families *out)
{
	uint64_t most = most_of_one(t);
	struct u64map index = {0};
	uint32_t at;
	int r = most ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; !r && i < t->rows.n; i++) {
		uint64_t ns = length_of(t, &t->rows.v[i]);
		uint64_t key = family_key(&t->rows.v[i]);
		if (!key)
			continue;
		if (!u64map_get(&index, key, &at)) {
			at = (uint32_t)out->n;
			if (vec_push(out, ((struct tail_family){.key = key, .row = i})) ||
			    u64map_put(&index, key, at)) {
				r = ERR_NOMEM;
				break;
			}
		}
		out->v[at].count++;
		out->v[at].ns += ns < most ? ns : most;
		out->v[at].mixed |= t->rows.v[i].wanted != t->rows.v[out->v[at].row].wanted;
	}
	u64map_release(&index);
	return r;
}

/* Whose roots lacked a CPU, and which process had it in most of them. */
static void find_takers(struct tail *t)
{
	struct tail_family *f = &t->family;
	uint32_t names[NAMES];
	uint64_t counts[NAMES], best = 0;
	size_t n = 0;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		if (!family_has(t, row) || !root_lacked_cpu(&row->root))
			continue;
		f->cpu_count++;
		f->next_cpu += row->links == 2u + (row->root.via == VIA_CPU) &&
			       row->holder.kind != HOLDER_CPU;
		f->own_cpu += row->links < 2 || row->holder.kind == HOLDER_CPU;
		if (row->root.via != VIA_CPU)
			continue;
		size_t k = 0;
		while (k < n && names[k] != row->root.process)
			k++;
		if (k == NAMES)
			continue;
		if (k == n) {
			names[n] = row->root.process;
			counts[n++] = 0;
		}
		if (++counts[k] > best) {
			best = counts[k];
			f->taker = names[k];
			f->taken = best;
		}
	}
}

/* Does the family say what the resource is: a CPU, a lock, a disk, a known mechanism? Else it is
 * "a condition", and who signals it says more. */
static int is_named(const struct tail *t)
{
	const struct tail_row *row = &t->rows.v[t->family.row];
	return row->state != PART_BLOCKED || row->lock || row->wanted ||
	       row->cause == CAUSE_IO || row->cause == CAUSE_LOCK || row->cause == CAUSE_RWLOCK;
}

/* Is most of the family's time in the largest group, which then says more? */
static int is_of_one_root(const struct tail *t)
{
	uint64_t ns = 0, shared = 0;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		if (!family_has(t, row))
			continue;
		ns += length_of(t, row);
		shared += row->group == t->groups.v[0].id ? length_of(t, row) : 0;
	}
	return shared >= (is_named(t) ? ns / 4 * 3 : ns / 3);
}

int family_find(struct tail *t)
{
	families all = {0};
	t->family = (struct tail_family){0};
	if (t->group_by != GROUP_ROOT || t->groups.n < 2)
		return 0;
	if (count_families(t, &all)) {
		vec_release(&all);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < all.n; i++)
		if (all.v[i].ns > t->family.ns)
			t->family = all.v[i];
	vec_release(&all);
	if (t->family.count < LEAST) {
		t->family = (struct tail_family){0};
		return 0;
	}
	t->family.leads = !is_of_one_root(t);
	if (!t->family.leads && !is_named(t)) {
		t->family = (struct tail_family){0};
		return 0;
	}
	find_takers(t);
	return 0;
}
