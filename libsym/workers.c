#include "libsym/workers.h"
#include "base/mem.h"

#include <pthread.h>

struct job {
	struct slice slice;
	int done;
};

struct counter {
	struct workers *all;
	struct aggregate *aggregate;
	pthread_t thread;
};

struct workers {
	struct counter counters[MAX_WORKERS]; /* [0] is the calling thread's */
	int n, threads;                       /* started: counters[1] up to counters[threads] */
	pthread_mutex_t lock;                 /* protects all below */
	pthread_cond_t more, progress;
	VEC(struct job) jobs;
	uint64_t dropped; /* jobs before jobs.v[0], already removed */
	size_t next;      /* the first not started */
	uint64_t left;    /* bytes not counted yet */
	int ending, failed;
	struct err err;
};

static int count_slice(struct counter *w, const struct slice *s, struct err *e)
{
	return aggregate_slice(w->aggregate, s->p, s->end, s->chunk ? NULL : s->p, s->offset,
			       e);
}

/* Count the next slice. Called under the lock, which is released while counting. */
static void count_next(struct workers *c, struct counter *w)
{
	uint64_t number = c->dropped + c->next;
	struct slice s = c->jobs.v[c->next++].slice;
	struct err why = {0};
	int rc = c->failed;
	pthread_mutex_unlock(&c->lock);
	if (!rc)
		rc = count_slice(w, &s, &why);
	pthread_mutex_lock(&c->lock);
	if (rc && !c->failed) {
		c->failed = rc;
		c->err = why;
	}
	c->jobs.v[number - c->dropped].done = 1;
	c->left -= (uint64_t)(s.end - s.p);
	pthread_cond_signal(&c->progress);
}

static void *work(void *arg)
{
	struct counter *w = arg;
	struct workers *c = w->all;
	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (c->next == c->jobs.n && !c->ending)
			pthread_cond_wait(&c->more, &c->lock);
		if (c->next == c->jobs.n)
			break;
		count_next(c, w);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Free the memory of counted slices. Under the lock, on the calling thread. */
static void drop_done(struct workers *c)
{
	size_t n = 0;
	while (n < c->next && c->jobs.v[n].done)
		chunk_drop(c->jobs.v[n++].slice.chunk);
	if (!n)
		return;
	c->jobs.n -= n;
	c->next -= n;
	c->dropped += n;
	memmove(c->jobs.v, c->jobs.v + n, c->jobs.n * sizeof(*c->jobs.v));
}

int workers_new(struct workers **out, struct aggregate **aggregates, int n, struct err *e)
{
	struct workers *c = *out = mem_zalloc(1, sizeof(*c));
	if (!c)
		return err_nomem(e);
	c->n = n;
	for (int i = 0; i < n; i++)
		c->counters[i] = (struct counter){.all = c, .aggregate = aggregates[i]};
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->more, NULL);
	pthread_cond_init(&c->progress, NULL);
	return 0;
}

/* Start threads for the slices that are waiting. Under the lock. */
static void start_threads(struct workers *c)
{
	while (c->threads < c->n - 1 && c->jobs.n - c->next > (size_t)c->threads + 1) {
		struct counter *w = &c->counters[c->threads + 1];
		if (pthread_create(&w->thread, NULL, work, w))
			return;
		c->threads++;
	}
}

int workers_add(struct workers *c, const struct slice *s, size_t n, struct err *e)
{
	pthread_mutex_lock(&c->lock);
	drop_done(c);
	int rc = vec_reserve(&c->jobs, n) ? err_nomem(e) : 0;
	for (size_t i = 0; !rc && i < n; i++) {
		c->jobs.v[c->jobs.n++] = (struct job){.slice = s[i]};
		c->left += (uint64_t)(s[i].end - s[i].p);
	}
	start_threads(c);
	pthread_cond_broadcast(&c->more);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

int workers_wait(struct workers *c, struct err *e)
{
	pthread_mutex_lock(&c->lock);
	while (c->left) {
		if (c->next < c->jobs.n)
			count_next(c, &c->counters[0]);
		else
			pthread_cond_wait(&c->progress, &c->lock);
	}
	drop_done(c);
	int rc = c->failed;
	if (rc && e)
		*e = c->err;
	pthread_mutex_unlock(&c->lock);
	return rc;
}

void workers_free(struct workers *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->ending = 1;
	if (!c->failed)
		c->failed = ERR_REFUSED; /* the waiting slices are no longer needed */
	pthread_cond_broadcast(&c->more);
	pthread_mutex_unlock(&c->lock);
	for (int i = 1; i <= c->threads; i++)
		pthread_join(c->counters[i].thread, NULL);
	c->next = c->jobs.n;
	for (size_t i = 0; i < c->jobs.n; i++)
		chunk_drop(c->jobs.v[i].slice.chunk);
	vec_release(&c->jobs);
	pthread_cond_destroy(&c->progress);
	pthread_cond_destroy(&c->more);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}
