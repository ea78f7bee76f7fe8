#include "libtime/build/chain_namer.h"
#include "base/arena.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum {
	BATCH = 1024,
	LANES = 64,  /* batches being filled; CPUs share them if there are more */
	QUEUED = 32, /* batches that wait for a thread; more hold up whoever fills them */
};

struct batch {
	size_t n;
	struct stack_entry v[BATCH];
	uint32_t id[BATCH];
	uint32_t frames[BATCH];  /* the number of each one's frames */
	struct frame_ids stacks; /* the frames of all */
	struct arena words;
};

/* A thread that does one step of the work on each batch and passes it on. */
struct stage {
	struct chain_namer *namer;
	int (*work)(struct chain_namer *n, struct batch *b);
	struct stage *next; /* NULL: the last one frees batches */
	pthread_t thread;
	int rc; /* the thread's: after a failure it only empties the queue */
	/* all below is under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct batch *queue[QUEUED];
	size_t put, taken;
	int closing;
};

struct chain_namer {
	struct names *names;
	struct batch *open[LANES]; /* the caller's */
	uint32_t added;
	struct stage frames, paths;
	struct last_stack last; /* of the thread that makes paths, … */
	VEC(uint32_t) path;     /* … which are these, by number */
};

/* --- the work ------------------------------------------------------------------------- */

static int make_frames(struct chain_namer *n, struct batch *b)
{
	int r = 0;
	for (size_t i = 0; !r && i < b->n; i++) {
		size_t before = b->stacks.n;
		r = names_frames(n->names, &b->v[i], &b->stacks);
		b->frames[i] = (uint32_t)(b->stacks.n - before);
	}
	return r;
}

static int make_paths(struct chain_namer *n, struct batch *b)
{
	const uint32_t *frames = b->stacks.v;
	int r = 0;
	for (size_t i = 0; !r && i < b->n; frames += b->frames[i++]) {
		while (!r && n->path.n <= b->id[i])
			r = vec_push(&n->path, 0);
		r = r ? r
		      : stacks_path(n->names->stacks, &n->last, frames, b->frames[i],
				    &n->path.v[b->id[i]]);
	}
	return r;
}

/* --- threads -------------------------------------------------------------------------- */

static void batch_free(struct batch *b)
{
	if (!b)
		return;
	vec_release(&b->stacks);
	arena_release(&b->words);
	mem_free(b);
}

static void stage_put(struct stage *s, struct batch *b)
{
	pthread_mutex_lock(&s->lock);
	while (s->put - s->taken == QUEUED)
		pthread_cond_wait(&s->changed, &s->lock);
	s->queue[s->put++ % QUEUED] = b;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* NULL: there are no more. */
static struct batch *stage_take(struct stage *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->put == s->taken && !s->closing)
		pthread_cond_wait(&s->changed, &s->lock);
	struct batch *b = s->put == s->taken ? NULL : s->queue[s->taken++ % QUEUED];
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return b;
}

static void stage_close(struct stage *s)
{
	pthread_mutex_lock(&s->lock);
	s->closing = 1;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void *stage_run(void *stage)
{
	struct stage *s = stage;
	struct batch *b;
	while ((b = stage_take(s)) != NULL) {
		s->rc = s->rc ? s->rc : s->work(s->namer, b);
		if (s->rc)
			b->n = 0;
		if (s->next)
			stage_put(s->next, b);
		else
			batch_free(b);
	}
	if (s->next)
		stage_close(s->next);
	return NULL;
}

static int stage_start(struct stage *s, struct chain_namer *n,
		       int (*work)(struct chain_namer *n, struct batch *b), struct stage *next)
{
	*s = (struct stage){.namer = n, .work = work, .next = next};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return pthread_create(&s->thread, NULL, stage_run, s);
}

static int stage_end(struct stage *s)
{
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	return s->rc;
}

/* --- the caller's side ---------------------------------------------------------------- */

struct chain_namer *chain_namer_new(struct names *names)
{
	struct chain_namer *n = mem_zalloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->names = names;
	if (!vec_push(&n->path, 0) && !stage_start(&n->paths, n, make_paths, NULL)) {
		if (!stage_start(&n->frames, n, make_frames, &n->paths))
			return n;
		stage_close(&n->paths);
		(void)stage_end(&n->paths); /* it had nothing to do */
	}
	vec_release(&n->path);
	mem_free(n);
	return NULL;
}

int chain_namer_add(struct chain_namer *n, const struct stack_entry *x, uint32_t cpu, int stay,
		    uint32_t *id)
{
	struct batch **open = &n->open[cpu % LANES], *b = *open;
	if (n->added == UINT32_MAX || (!b && !(b = mem_alloc(sizeof(*b)))))
		return ERR_NOMEM;
	if (!*open) {
		b->n = 0;
		b->stacks = (struct frame_ids){0};
		b->words = (struct arena){0};
		*open = b;
	}
	struct stack_entry *to = &b->v[b->n];
	*to = *x;
	if (!stay || x->kind != CHAIN_RAW) {
		void *copy = arena_alloc(&b->words, (size_t)x->nwords * 8);
		if (!copy)
			return ERR_NOMEM;
		to->words = memcpy(copy, x->words, (size_t)x->nwords * 8);
	}
	b->id[b->n++] = *id = ++n->added;
	if (b->n == BATCH) {
		stage_put(&n->frames, b);
		*open = NULL;
	}
	return 0;
}

int chain_namer_end(struct chain_namer *n, uint32_t **paths)
{
	for (size_t i = 0; i < LANES; i++)
		if (n->open[i])
			stage_put(&n->frames, n->open[i]);
	stage_close(&n->frames);
	int r = stage_end(&n->frames);
	int later = stage_end(&n->paths);
	r = r ? r : later;
	vec_release(&n->last.v);
	if (r)
		vec_release(&n->path);
	*paths = n->path.v;
	mem_free(n);
	return r;
}
