#include "libsym/process/activity.h"
#include "base/err.h"

static void add_moment(struct pid_activity *p, uint64_t moment)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->moment[i] == moment)
			return;
	if (p->n < ACTIVITY_MOMENTS)
		p->moment[p->n++] = moment;
}

/* The process's entry, made when new; a->last is its index. ERR_NOMEM. */
static int find(struct activity *a, int32_t pid)
{
	if (a->last < a->v.n && a->v.v[a->last].pid == pid)
		return 0;
	if (u64map_get(&a->index, (uint32_t)pid, &a->last))
		return 0;
	a->last = (uint32_t)a->v.n;
	if (vec_push(&a->v, (struct pid_activity){.pid = pid}))
		return ERR_NOMEM;
	return u64map_put(&a->index, (uint32_t)pid, a->last);
}

int activity_add(struct activity *a, int32_t pid, uint64_t ns)
{
	int r = find(a, pid);
	if (r)
		return r;
	struct pid_activity *p = &a->v.v[a->last];
	p->samples++;
	if (p->n < ACTIVITY_MOMENTS)
		add_moment(p, ns >> ACTIVITY_SHIFT);
	return 0;
}

static void add_all(struct pid_activity *to, const struct pid_activity *from)
{
	to->samples += from->samples;
	for (uint32_t i = 0; i < from->n; i++)
		add_moment(to, from->moment[i]);
}

int activity_merge(struct activity *a, const struct activity *more)
{
	for (size_t i = 0; i < more->v.n; i++) {
		if (find(a, more->v.v[i].pid))
			return ERR_NOMEM;
		add_all(&a->v.v[a->last], &more->v.v[i]);
	}
	return 0;
}

void activity_sum(const struct activity *a, int32_t pid, struct pid_activity *sum)
{
	uint32_t at;
	if (u64map_get(&a->index, (uint32_t)pid, &at))
		add_all(sum, &a->v.v[at]);
}

void activity_release(struct activity *a)
{
	vec_release(&a->v);
	u64map_release(&a->index);
	*a = (struct activity){0};
}
