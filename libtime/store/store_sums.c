#include "libtime/store/store_sums.h"
#include "base/mem.h"
#include "libparse/sample.h"

#include <pthread.h>

enum {
	AT_ONCE = 32,    /* samples that are looked up together */
	SLICE = 1 << 16, /* samples after which the caller may go on */
};

struct adding {
	struct store_sums sums; /* what the caller has */
	const struct timeline *tl;
	struct idmap index;   /* of sums.tasks */
	struct u64map sum_of; /* task << 32 | path */
	uint32_t *of;         /* of each sample: sum << 1, and 1 if it has the task's period */
	struct folding *folded;
	size_t n, next, known; /* samples; the caller's next one; up to where it may go */
	pthread_t thread;
	int started;
	/* all below is under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t done;
	int failed;
};

/* --- adding up ------------------------------------------------------------------------ */

static int same_task(const struct sample_task *a, const struct sample_task *b)
{
	return a->thread == b->thread && a->comm == b->comm && a->pid == b->pid &&
	       a->tid == b->tid && a->event == b->event && a->tracepoint == b->tracepoint;
}

static int task_of(struct adding *a, const struct sample_task *x, uint32_t *id)
{
	uint64_t h = hash_u64((uint64_t)x->thread << 32 | x->comm) ^
		     hash_u64((uint64_t)(uint32_t)x->tid << 17 | (uint64_t)x->event << 1 |
			      x->tracepoint);
	size_t at = 0;
	while (idmap_next(&a->index, h, &at, id))
		if (same_task(&a->sums.tasks.v[*id], x))
			return 0;
	*id = (uint32_t)a->sums.tasks.n;
	return vec_push(&a->sums.tasks, *x) ? ERR_NOMEM : idmap_put(&a->index, h, *id);
}

static uint64_t sum_key(uint32_t task, uint32_t path)
{
	return (uint64_t)task << 32 | path;
}

static int sum_of(struct adding *a, uint32_t task, uint32_t path, uint32_t *id)
{
	uint64_t key = sum_key(task, path);
	struct sample_sum fresh = {.task = task, .path = path};
	if (u64map_get(&a->sum_of, key, id))
		return 0;
	*id = (uint32_t)a->sums.v.n;
	return vec_push(&a->sums.v, fresh) ? ERR_NOMEM : u64map_put(&a->sum_of, key, *id);
}

/* What the tables need of a sample of either kind. */
struct one {
	uint64_t time_ns, period;
	uint32_t task, path;
};

static struct sample_task task_of_sample(const struct timeline *tl, const struct tl_sample *s)
{
	const struct tl_thread *t = s->thread == TL_NONE ? NULL : &tl->threads.v[s->thread];
	return (struct sample_task){.first_ns = UINT64_MAX,
				    .thread = s->thread,
				    .comm = s->comm,
				    .pid = t ? t->pid : -1,
				    .tid = t ? t->tid : -1,
				    .event = s->event,
				    .period = s->period};
}

static struct sample_task task_of_hit(const struct tl_event_sample *s)
{
	return (struct sample_task){.first_ns = UINT64_MAX,
				    .thread = TL_NONE,
				    .comm = s->comm,
				    .pid = s->pid,
				    .tid = s->tid,
				    .event = s->event,
				    .period = s->period,
				    .tracepoint = 1};
}

static int look_at(struct adding *a, size_t i, struct one *out)
{
	const struct timeline *tl = a->tl;
	struct sample_task task;
	if (i < tl->samples.n) {
		const struct tl_sample *s = &tl->samples.v[i];
		*out = (struct one){
			.time_ns = s->time_ns, .period = s->period, .path = s->path};
		task = task_of_sample(tl, s);
	} else {
		const struct tl_event_sample *s = &tl->event_samples.v[i - tl->samples.n];
		*out = (struct one){
			.time_ns = s->time_ns, .period = s->period, .path = s->path};
		task = task_of_hit(s);
	}
	return task_of(a, &task, &out->task);
}

/* Add a sample to its sum and its task. */
static void add(struct adding *a, const struct one *x, uint32_t sum, uint32_t *of)
{
	struct sample_sum *s = &a->sums.v.v[sum];
	struct sample_task *t = &a->sums.tasks.v[x->task];
	t->first_ns = x->time_ns < t->first_ns ? x->time_ns : t->first_ns;
	if (sample_is_time(x->time_ns) && x->time_ns > t->last_ns)
		t->last_ns = x->time_ns;
	s->samples++;
	s->weight += x->period;
	*of = sum << 1 | (x->period == t->period);
}

/* Add n samples from the ith on. Their entries are spread over tables larger than the CPU's
 * caches: looking up several at once overlaps the cache misses. */
static int add_some(struct adding *a, size_t i, size_t n)
{
	struct one x[AT_ONCE];
	uint32_t sum[AT_ONCE];
	for (size_t k = 0; k < n; k++) {
		if (look_at(a, i + k, &x[k]))
			return ERR_NOMEM;
		u64map_prefetch(&a->sum_of, sum_key(x[k].task, x[k].path));
	}
	for (size_t k = 0; k < n; k++) {
		if (sum_of(a, x[k].task, x[k].path, &sum[k]))
			return ERR_NOMEM;
		__builtin_prefetch(&a->sums.v.v[sum[k]]);
	}
	for (size_t k = 0; k < n; k++)
		add(a, &x[k], sum[k], &a->of[i + k]);
	return 0;
}

/* --- the thread ----------------------------------------------------------------------- */

static void report(struct adding *a, size_t done, int failed)
{
	pthread_mutex_lock(&a->lock);
	a->done = done;
	a->failed = failed;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
}

static void *add_all(void *adding)
{
	struct adding *a = adding;
	int r = 0;
	for (size_t i = 0, n; !r && i < a->n; i += n) {
		n = a->n - i < AT_ONCE ? a->n - i : AT_ONCE;
		if (i % SLICE == 0)
			report(a, i, 0);
		r = add_some(a, i, n);
	}
	report(a, a->n, r);
	if (!r && folding_make(&a->folded, a->tl, a->sums.tasks.v, a->sums.v.v, a->sums.v.n))
		report(a, a->n, ERR_NOMEM);
	return NULL;
}

int store_sums_begin(struct store_sums **out, const struct timeline *tl, struct err *e)
{
	struct adding *a = mem_zalloc(1, sizeof(*a));
	*out = NULL;
	if (!a)
		return err_nomem(e);
	a->tl = tl;
	a->n = tl->samples.n + tl->event_samples.n;
	a->of = mem_alloc_large((a->n + 1) * sizeof(*a->of));
	if (!a->of) {
		mem_free(a);
		return err_nomem(e);
	}
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	*out = &a->sums;
	a->started = !pthread_create(&a->thread, NULL, add_all, a);
	if (!a->started)
		add_all(a);
	return 0;
}

/* Wait until the sum of sample `i` is known. */
static int wait_for(struct adding *a, size_t i, struct err *e)
{
	pthread_mutex_lock(&a->lock);
	while (a->done <= i && a->done < a->n && !a->failed)
		pthread_cond_wait(&a->changed, &a->lock);
	a->known = a->done;
	int r = a->failed;
	pthread_mutex_unlock(&a->lock);
	return r ? err_nomem(e) : 0;
}

int store_sums_next(struct store_sums *s, uint32_t *sum, int *same, struct err *e)
{
	struct adding *a = (struct adding *)s;
	int r = a->next < a->known ? 0 : wait_for(a, a->next, e);
	uint32_t of = r ? 0 : a->of[a->next++];
	*sum = of >> 1;
	*same = of & 1;
	return r;
}

static void join(struct adding *a)
{
	if (a->started)
		pthread_join(a->thread, NULL);
	a->started = 0;
}

int store_sums_end(struct store_sums *s, const struct folding **folded, struct err *e)
{
	struct adding *a = (struct adding *)s;
	join(a);
	*folded = a->folded;
	return a->failed ? err_nomem(e) : 0;
}

void store_sums_free(struct store_sums *s)
{
	struct adding *a = (struct adding *)s;
	if (!s)
		return;
	join(a);
	vec_release(&s->tasks);
	vec_release(&s->v);
	idmap_release(&a->index);
	u64map_release(&a->sum_of);
	mem_free(a->of);
	folding_free(a->folded);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	mem_free(a);
}
