/*
 * idle.c - which waits are a thread's base loop waiting for work. The rule is written in the
 * head of causes.rules (points 1-6); this is how it is computed.
 *
 * Threads of one process and name form a group. Every stack of a group is a piece of evidence,
 * attached to its innermost application frame (a node of the call path tree: the runtime's own
 * frames at the leaf are cut off) and to all nodes above:
 *
 *	start_thread
 *	  worker              work 100 %, the loop: `get_job` branches off here → idle
 *	    get_job           work 1 %    └► cond wait
 *	    handle            work 99 %
 *	      ask             work 98 %   └► cond wait: most work goes through here, but another
 *	                                     candidate (get_job's) lies outside → not idle
 */
#include "libtime/explain/causes.h"
#include "libtime/explain/app_frame.h"
#include "base/mem.h"

#include <string.h>

enum {
	MAX_DEPTH = 512, /* nodes looked at above a stack's leaf */
	STACK_MAX = 1 << 16,
	FEW = 2,           /* stacks outside of its loop that every thread has: start and end */
	ANSWER_HOPS = 16,  /* threads between the question and its answer */
	ANSWER_BACK = 256, /* intervals looked through for a thread's last idle wait */
};

struct node {                 /* of one group: a call path and what went through it */
	uint64_t work, waits; /* stacks at work; candidate waits */
	uint64_t own;         /* of work: in the runtime, called from here */
};

struct group {
	uint64_t work, waits;     /* all of it */
	uint64_t vague;           /* stacks at work that show no frame of the application */
	uint64_t cut;             /* of work: stacks that do not reach the thread's start */
	uint64_t events, answers; /* candidates for others' doings; of these, answers */
	uint32_t placeless;       /* causes of its candidates of no known place, as bits */
	int loop_seen;            /* another candidate is where its loop waits */
};

/* What is known of an interval so far. */
enum {
	NOT_IDLE,
	CANDIDATE,
	BY_RULE,
	PLACELESS, /* a candidate whose stack shows nothing of the application */
	ASKED_FOR, /* --idle-frame: whatever it waits for */
};

struct site { /* candidate waits of one group at one node */
	uint64_t count;
	uint64_t answers, others; /* of those whose waker's reason is known: who gave it */
	uint8_t open;
};

/* Why the waker of a wait was at work. */
enum asker {
	ASKED_BY_OTHERS,
	UNTOLD, /* it was at work for longer than this thread, or never seen to wait */
	ASKED_BY_ITSELF,
};

struct idle {
	struct causes *c;
	struct timeline *tl;
	const struct stacks *s;
	VEC(uint32_t) group_of; /* thread → group */
	VEC(struct group) groups;
	VEC(struct node) nodes;
	VEC(struct site) sites;
	struct u64map group_index; /* pid << 32 | comm */
	struct u64map node_index;  /* group << 32 | path */
	struct u64map site_index;
	struct u64map wait_calls;    /* group << 32 | user leaf of a candidate */
	VEC(uint32_t) function_path; /* path → the first one through the same functions */
	struct u64map verdicts;      /* comm << 32 | path → causes_verdict */
	VEC(uint8_t) candidate;      /* by interval: may be idle, as far as points 1-3 go */
	VEC(uint8_t) answer; /* by interval: an enum asker, then whether it is an answer */
	VEC(uint32_t) near;  /* by thread: where off_after ended the last time */
};

/* --- paths without lines -------------------------------------------------------------------
 *
 * With debug information a function's frame differs by the line of the call; here it is one
 * place. So are the frames that a thread begins with: unwinding sees clone3 above start_thread,
 * frame pointers do not. A parent's id is below its children's.
 */

static int first_of(struct u64map *m, uint64_t key, uint32_t *id)
{
	uint32_t seen;
	if (u64map_get(m, key, &seen)) {
		*id = seen;
		return 0;
	}
	return u64map_put(m, key, *id);
}

/* The place of path i: the first one of the same functions below the same place; `start` for
 * all of a thread's beginnings, once there is one. */
static int place_of(struct idle *x, struct u64map *paths, const uint32_t *function, uint32_t i,
		    uint32_t *start, uint32_t *place)
{
	const struct call_path *p = &x->s->paths.v[i];
	uint32_t parent = x->function_path.v[p->parent];
	int outer = !parent || parent == *start ? appframe_is_outer(x->tl, p->frame) : 0;
	*place = i;
	if (!outer)
		return first_of(paths, (uint64_t)parent << 32 | function[p->frame], place);
	if (!*start)
		*start = i;
	*place = *start;
	return 0;
}

static int join_lines(struct idle *x)
{
	struct u64map functions = {0}, paths = {0};
	uint32_t start = 0;
	VEC(uint32_t) function = {0}; /* frame → the first of the same function */
	const struct stacks *s = x->s;
	int r = 0;
	for (uint32_t i = 0; !r && i < s->frames.n; i++) {
		const struct frame *f = &s->frames.v[i];
		uint32_t id = i;
		if (f->name)
			r = first_of(&functions, (uint64_t)f->name << 32 | f->dso, &id);
		r = r || vec_push(&function, id) ? ERR_NOMEM : 0;
	}
	for (uint32_t i = 0; !r && i < s->paths.n; i++) {
		uint32_t id = i;
		if (i)
			r = place_of(x, &paths, function.v, i, &start, &id);
		r = r || vec_push(&x->function_path, id) ? ERR_NOMEM : 0;
	}
	u64map_release(&functions);
	u64map_release(&paths);
	vec_release(&function);
	return r;
}

/* --- evidence ------------------------------------------------------------------------------
 */

static int group_threads(struct idle *x)
{
	for (uint32_t i = 0; i < x->tl->threads.n; i++) {
		const struct tl_thread *t = &x->tl->threads.v[i];
		/* a thread of unknown process is a group of its own */
		uint64_t key = t->pid >= 0 ? (uint64_t)(uint32_t)t->pid << 32 | t->comm
					   : 1ull << 63 | i;
		uint32_t g;
		if (!u64map_get(&x->group_index, key, &g)) {
			g = (uint32_t)x->groups.n;
			if (vec_push(&x->groups, (struct group){0}) ||
			    u64map_put(&x->group_index, key, g))
				return ERR_NOMEM;
		}
		if (vec_push(&x->group_of, g))
			return ERR_NOMEM;
	}
	return 0;
}

static int node_of(struct idle *x, uint32_t group, uint32_t path, uint32_t *n)
{
	uint64_t key = (uint64_t)group << 32 | x->function_path.v[path];
	if (u64map_get(&x->node_index, key, n))
		return 0;
	*n = (uint32_t)x->nodes.n;
	if (vec_push(&x->nodes, (struct node){0}))
		return ERR_NOMEM;
	return u64map_put(&x->node_index, key, *n);
}

/* Is the innermost user frame of `path` one of the runtime, below the application's `node`? */
static int in_runtime(const struct idle *x, uint32_t path, uint32_t node)
{
	for (int n = 0; path && n < MAX_DEPTH; n++, path = x->s->paths.v[path].parent)
		if (x->s->frames.v[x->s->paths.v[path].frame].kind != FRAME_KERNEL)
			return path != node;
	return 0;
}

/* Does the stack begin where threads do? 1, 0, ERR_NOMEM. */
static int is_whole(struct idle *x, uint32_t path)
{
	const struct stacks *s = x->s;
	for (int n = 0; s->paths.v[path].parent && n < STACK_MAX; n++)
		path = s->paths.v[path].parent;
	return appframe_is_outer(x->tl, s->paths.v[path].frame);
}

/* The call of a thread's code that led to `path`, its kernel frames left out. */
static uint64_t user_call(const struct idle *x, uint32_t thread, uint32_t path)
{
	for (int n = 0; path && n < MAX_DEPTH; n++, path = x->s->paths.v[path].parent)
		if (x->s->frames.v[x->s->paths.v[path].frame].kind != FRAME_KERNEL)
			break;
	return (uint64_t)x->group_of.v[thread] << 32 | x->function_path.v[path];
}

/* Where a stack was taken: in a candidate wait, in what the thread did else, or on a CPU, which
 * is work but for going to sleep and waking up, in the very call that waits. */
enum doing { WAITS, WORKS, ON_CPU };

/* `count` stacks of a thread ending in `path`. */
static int add_evidence(struct idle *x, uint32_t thread, uint32_t path, uint64_t count,
			enum doing of)
{
	uint32_t group = x->group_of.v[thread], place = 0, p, n;
	int work = of != WAITS;
	p = appframe_node(x->tl, path);
	if ((work && !p) ||
	    (of == ON_CPU && u64map_get(&x->wait_calls, user_call(x, thread, path), &n)))
		return 0;
	struct group *g = &x->groups.v[group];
	if (work && appframe_is_outer(x->tl, x->s->paths.v[p].frame) > 0) {
		g->vague += count;
		return 0;
	}
	*(work ? &g->work : &g->waits) += count;
	int whole = is_whole(x, p);
	if (whole < 0)
		return whole;
	if (work && !whole)
		g->cut += count;
	int own = work && in_runtime(x, path, p);
	for (int depth = 0; p && depth < MAX_DEPTH; depth++, p = x->s->paths.v[p].parent) {
		if (depth && x->function_path.v[p] == place)
			continue; /* the thread's start again */
		place = x->function_path.v[p];
		if (node_of(x, group, p, &n))
			return ERR_NOMEM;
		*(work ? &x->nodes.v[n].work : &x->nodes.v[n].waits) += count;
		if (own && !depth)
			x->nodes.v[n].own += count;
	}
	return 0;
}

/* Evidence counted per (group, path, kind) first: the walk to the root is then done once each.
 */
struct tally {
	struct u64map index;
	VEC(struct tally_row {
		uint32_t thread, path;
		uint64_t count;
		enum doing of;
	})
	rows;
};

static int tally(struct idle *x, struct tally *t, uint32_t thread, uint32_t path, enum doing of)
{
	uint32_t i;
	if (!path || thread == TL_NONE)
		return 0;
	uint64_t key =
		(uint64_t)x->group_of.v[thread] << 34 ^ (uint64_t)path << 2 ^ (uint64_t)of;
	if (u64map_get(&t->index, key, &i)) {
		t->rows.v[i].count++;
		return 0;
	}
	struct tally_row row = {.thread = thread, .path = path, .count = 1, .of = of};
	i = (uint32_t)t->rows.n;
	return vec_push(&t->rows, row) ? ERR_NOMEM : u64map_put(&t->index, key, i);
}

/* A wait that is idle only because the user says so tells nothing of the thread's others. */
static int tells(const struct idle *x, uint32_t i)
{
	return x->candidate.v[i] != ASKED_FOR || cause_may_idle(x->tl->off.v[i].cause);
}

static int gather(struct idle *x)
{
	struct tally t = {0};
	const struct timeline *tl = x->tl;
	int r = 0;
	for (size_t i = 0; !r && i < tl->samples.n; i++)
		r = tally(x, &t, tl->samples.v[i].thread, tl->samples.v[i].path, ON_CPU);
	for (size_t i = 0; !r && i < tl->off.n; i++) {
		const struct off *o = &tl->off.v[i];
		int told = tells(x, (uint32_t)i);
		enum doing of = x->candidate.v[i]        ? WAITS
				: o->flags & OFF_RUNNING ? ON_CPU
							 : WORKS;
		if (told)
			r = tally(x, &t, o->thread, o->path, of);
		if (!r && told && o->cause == CAUSE_FUTEX) /* perhaps a condition's */
			r = tally(x, &t, o->thread, o->path, WAITS);
		if (!r && o->waker != TL_NONE)
			r = tally(x, &t, o->waker, o->waker_path, WORKS);
	}
	for (size_t i = 0; !r && i < t.rows.n; i++)
		r = add_evidence(x, t.rows.v[i].thread, t.rows.v[i].path, t.rows.v[i].count,
				 t.rows.v[i].of);
	u64map_release(&t.index);
	vec_release(&t.rows);
	return r;
}

/* --- points 1 to 3 -------------------------------------------------------------------------
 */

static int verdict_of(struct idle *x, const struct off *o)
{
	uint64_t key = (uint64_t)o->comm << 32 | o->path;
	uint32_t v;
	if (u64map_get(&x->verdicts, key, &v))
		return (int)v;
	int r = causes_verdict(x->c, x->s, o->path, strtab_get(&x->s->strings, o->comm));
	if (r >= 0 && u64map_put(&x->verdicts, key, (uint32_t)r))
		return ERR_NOMEM;
	return r;
}

/* What the wait's own cause and stack say of it. */
static int first_look(struct idle *x, const struct off *o)
{
	int may = cause_may_idle(o->cause);
	if (o->flags & OFF_RUNNING || !o->path || (!may && !causes_idle_asked(x->c)))
		return NOT_IDLE;
	int v = verdict_of(x, o);
	if (v < 0)
		return v;
	if (v == VERDICT_IDLE_ASKED)
		return ASKED_FOR;
	return !may || v == VERDICT_WORK ? NOT_IDLE : v == VERDICT_IDLE ? BY_RULE : CANDIDATE;
}

static struct site *site_of(struct idle *x, const struct off *o, int *r)
{
	uint32_t p, i;
	p = appframe_node(x->tl, o->path);
	*r = 0;
	if (!p)
		return NULL;
	uint64_t key = (uint64_t)x->group_of.v[o->thread] << 32 | x->function_path.v[p];
	if (!u64map_get(&x->site_index, key, &i)) {
		i = (uint32_t)x->sites.n;
		if (vec_push(&x->sites, (struct site){0}) ||
		    u64map_put(&x->site_index, key, i)) {
			*r = ERR_NOMEM;
			return NULL;
		}
	}
	return &x->sites.v[i];
}

/* Point 3: does the wait branch off the thread's loop? */
static int at_base(struct idle *x, uint32_t group, uint32_t path, const struct site *site)
{
	const struct group *g = &x->groups.v[group];
	uint32_t p, n;
	p = appframe_node(x->tl, path);
	if (!p)
		return 0;
	/* what begins somewhere in the middle, as frame pointers through a libc without them
	 * do, cannot tell whether it went through the loop */
	uint64_t all = g->work;
	if (g->cut && g->cut <= all - g->cut && is_whole(x, p) > 0)
		all -= g->cut;
	/* its start and end may be in stacks that share no frame with its loop */
	if (g->work + g->vague <= FEW)
		return site->count >= 2 || site->open;
	for (int depth = 0; p && depth < MAX_DEPTH; depth++, p = x->s->paths.v[p].parent) {
		uint64_t key = (uint64_t)group << 32 | x->function_path.v[p];
		if (!u64map_get(&x->node_index, key, &n))
			return 0;
		const struct node *node = &x->nodes.v[n];
		/* what the waiting itself costs, as the lock of a queue, is not the work */
		uint64_t through = node->work - (depth ? 0 : node->own);
		if (through * 10 >= all)
			return (all - node->work <= FEW || node->work * 10 >= all * 9) &&
			       node->waits == g->waits;
	}
	return 0;
}

static int find_candidates(struct idle *x)
{
	const struct timeline *tl = x->tl;
	int r = 0;
	for (size_t i = 0; i < tl->off.n; i++) {
		const struct off *o = &tl->off.v[i];
		int look = first_look(x, o);
		uint32_t seen = 1;
		if (look < 0 || vec_push(&x->candidate, (uint8_t)look))
			return ERR_NOMEM;
		struct site *site = look && tells(x, (uint32_t)i) ? site_of(x, o, &r) : NULL;
		if (!r && site)
			r = first_of(&x->wait_calls, user_call(x, o->thread, o->path), &seen);
		if (r)
			return r;
		if (site) {
			site->count++;
			site->open |= (o->flags & OFF_OPEN) != 0;
		}
	}
	return gather(x);
}

/* Where frame pointers lost every frame of the application, point 3 cannot tell: see point 7.
 */
static void keep_placeless(struct idle *x)
{
	const struct timeline *tl = x->tl;
	for (size_t i = 0; i < tl->off.n; i++) {
		struct group *g = &x->groups.v[x->group_of.v[tl->off.v[i].thread]];
		if (x->candidate.v[i] && x->candidate.v[i] != PLACELESS)
			g->loop_seen = 1;
		if (x->candidate.v[i] == PLACELESS)
			g->placeless |= 1u << tl->off.v[i].cause;
	}
	for (size_t i = 0; i < tl->off.n; i++) {
		const struct group *g = &x->groups.v[x->group_of.v[tl->off.v[i].thread]];
		if (x->candidate.v[i] == PLACELESS)
			x->candidate.v[i] =
				!g->loop_seen && !(g->placeless & (g->placeless - 1));
	}
}

/* Are there user frames at all? */
static int has_user_frames(const struct stacks *s, uint32_t path)
{
	for (int n = 0; path && n < MAX_DEPTH; n++, path = s->paths.v[path].parent)
		if (s->frames.v[s->paths.v[path].frame].kind != FRAME_KERNEL)
			return 1;
	return 0;
}

static int keep_those_at_base(struct idle *x)
{
	int r = 0;
	for (size_t i = 0; i < x->tl->off.n; i++) {
		const struct off *o = &x->tl->off.v[i];
		if (x->candidate.v[i] != CANDIDATE)
			continue;
		struct site *site = site_of(x, o, &r);
		if (r)
			return r;
		if (!site && o->cause != CAUSE_SLEEP && has_user_frames(x->s, o->path))
			x->candidate.v[i] = PLACELESS;
		else if (!site || !at_base(x, x->group_of.v[o->thread], o->path, site))
			x->candidate.v[i] = 0;
	}
	keep_placeless(x);
	return 0;
}

/* --- point 4: answers ----------------------------------------------------------------------
 */

/* timeline_off_after; questions about a thread mostly come in the order of time. */
static uint32_t off_after(struct idle *x, uint32_t thread, uint64_t from)
{
	uint32_t *near = &x->near.v[thread];
	return *near = timeline_off_after_near(x->tl, thread, from, *near);
}

/* What a thread may have been given its work by. */
static int gives_work(uint8_t cause)
{
	return cause == CAUSE_COND || cause == CAUSE_NET || cause == CAUSE_PIPE ||
	       cause == CAUSE_POLL || cause == CAUSE_FUTEX || cause == CAUSE_SEMAPHORE;
}

/* The last candidate of `thread`, or else (any) wait that may have given it work, woken at or
 * before `at`; 0 when it has none. */
static int last_wait(struct idle *x, uint32_t thread, uint64_t at, int any, uint32_t *out)
{
	const struct tl_thread *t = &x->tl->threads.v[thread];
	uint32_t i = off_after(x, thread, at);
	if (i == t->off_first + t->off_n && t->off_n)
		i--;
	for (uint32_t back = 0; back < ANSWER_BACK && i + 1 > t->off_first && t->off_n;
	     back++) {
		const struct off *o = &x->tl->off.v[i];
		if ((any ? gives_work(o->cause) : x->candidate.v[i]) &&
		    o->start_ns + o->blocked_ns <= at && !o->unknown) {
			*out = i;
			return 1;
		}
		if (i == t->off_first)
			break;
		i--;
	}
	return 0;
}

/* Was the waker of interval i at work because this very thread had asked for it? Of a waker
 * whose loop was not made out, any wait for others counts: one in the middle of its work, for
 * others it had asked itself, leads back to it. */
static enum asker asker_of(struct idle *x, uint32_t i)
{
	const struct timeline *tl = x->tl;
	const struct off *o = &tl->off.v[i];
	uint32_t self = o->thread, by = o->waker, work;
	uint64_t since = tl->threads.v[self].first_ns, at = o->start_ns + o->blocked_ns;
	if (i > tl->threads.v[self].off_first && last_wait(x, self, o->start_ns, 0, &work))
		since = tl->off.v[work].end_ns;
	for (int hop = 0; hop < ANSWER_HOPS && by != TL_NONE && by != self; hop++) {
		if (!last_wait(x, by, at, 0, &work) && !last_wait(x, by, at, 1, &work))
			return UNTOLD;
		const struct off *w = &tl->off.v[work];
		uint64_t woken = w->start_ns + w->blocked_ns;
		if (woken < since)
			return UNTOLD;
		by = w->waker;
		at = woken;
	}
	return by == self ? ASKED_BY_ITSELF : by == TL_NONE ? ASKED_BY_OTHERS : UNTOLD;
}

/* Did `o` wait for its waker meanwhile, as the waker was in `w`? At a lock, even if it came
 * late: the lock was held. On the way to a barrier, if for most of w: all come to it from what
 * they do alone. */
static int waited_for(const struct off *o, const struct off *w)
{
	uint64_t from = w->start_ns > o->start_ns ? w->start_ns : o->start_ns;
	uint64_t o_until = o->start_ns + o->blocked_ns, w_until = w->start_ns + w->blocked_ns;
	uint64_t until = o_until < w_until ? o_until : w_until;
	return o->cause != CAUSE_BARRIER || (until > from && until - from >= w->blocked_ns / 2);
}

/* Point 6: a wait during which somebody waited for a lock this thread held, or at a barrier for
 * it to come, is no rest. The wakeup out of that wait tells who it was. */
static void unmark_holders(struct idle *x)
{
	struct timeline *tl = x->tl;
	for (size_t i = 0; i < tl->off.n; i++) {
		const struct off *o = &tl->off.v[i];
		int held = o->cause == CAUSE_LOCK || o->cause == CAUSE_RWLOCK ||
			   o->cause == CAUSE_BARRIER;
		if (!held || o->waker == TL_NONE)
			continue;
		const struct tl_thread *t = &tl->threads.v[o->waker];
		uint64_t until = o->start_ns + o->blocked_ns;
		uint32_t k = off_after(x, o->waker, o->start_ns);
		for (uint32_t n = 0; n < ANSWER_BACK && k < t->off_first + t->off_n; n++, k++) {
			struct off *w = &tl->off.v[k];
			if (w->start_ns >= until)
				break;
			if (x->candidate.v[k] != ASKED_FOR && waited_for(o, w))
				w->flags &= (uint8_t)~OFF_IDLE;
		}
	}
}

static int asks(const struct off *o)
{
	return o->cause == CAUSE_COND || o->cause == CAUSE_NET || o->cause == CAUSE_PIPE;
}

/* Which of them are answers. One from a busy server, which went on from another's request to
 * this one without a rest, looks like work from a busy producer: it is what the others at the
 * same place are. */
static int find_answers(struct idle *x)
{
	const struct timeline *tl = x->tl;
	int r = 0;
	x->answer.n = x->near.n = 0;
	if (vec_reserve(&x->answer, tl->off.n) || vec_reserve(&x->near, tl->threads.n))
		return ERR_NOMEM;
	for (size_t i = 0; i < x->sites.n; i++)
		x->sites.v[i].answers = x->sites.v[i].others = 0;
	for (uint32_t i = 0; i < tl->threads.n; i++)
		x->near.v[x->near.n++] = tl->threads.v[i].off_first;
	for (uint32_t i = 0; i < tl->off.n; i++) {
		const struct off *o = &tl->off.v[i];
		int asked = x->candidate.v[i] && asks(o);
		enum asker by = asked ? asker_of(x, i) : ASKED_BY_OTHERS;
		struct site *site = asked && by != UNTOLD ? site_of(x, o, &r) : NULL;
		if (site)
			*(by == ASKED_BY_ITSELF ? &site->answers : &site->others) += 1;
		x->answer.v[x->answer.n++] = (uint8_t)by;
	}
	for (uint32_t i = 0; !r && i < tl->off.n; i++) {
		int untold = x->answer.v[i] == UNTOLD;
		struct site *site = untold ? site_of(x, &tl->off.v[i], &r) : NULL;
		x->answer.v[i] =
			site ? site->answers > site->others : x->answer.v[i] == ASKED_BY_ITSELF;
	}
	return r;
}

/* A thread whose loop waits for others' doings does not rest when it sleeps: that is a delay in
 * its work. A wait or two, as for its children at the end, are no loop. 1 when there was one.
 */
static int keep_sleepers(struct idle *x)
{
	const struct timeline *tl = x->tl;
	int found = 0;
	for (uint32_t i = 0; i < tl->off.n; i++) {
		const struct off *o = &tl->off.v[i];
		struct group *g = &x->groups.v[x->group_of.v[o->thread]];
		if (!x->candidate.v[i] || o->cause == CAUSE_SLEEP)
			continue;
		g->events++;
		g->answers += x->answer.v[i];
	}
	for (uint32_t i = 0; i < tl->off.n; i++) {
		const struct off *o = &tl->off.v[i];
		const struct group *g = &x->groups.v[x->group_of.v[o->thread]];
		if (x->candidate.v[i] == CANDIDATE && o->cause == CAUSE_SLEEP &&
		    g->events > FEW && g->events > 2 * g->answers) {
			x->candidate.v[i] = 0;
			found = 1;
		}
	}
	return found;
}

static int mark(struct idle *x)
{
	struct timeline *tl = x->tl;
	int r = find_answers(x);
	if (!r && keep_sleepers(x))
		r = find_answers(x); /* to fewer candidates */
	if (r)
		return r;
	for (uint32_t i = 0; i < tl->off.n; i++) {
		struct off *o = &tl->off.v[i];
		o->flags &= (uint8_t)~OFF_IDLE;
		if (x->candidate.v[i] == BY_RULE || x->candidate.v[i] == ASKED_FOR ||
		    (x->candidate.v[i] && !x->answer.v[i]))
			o->flags |= OFF_IDLE;
	}
	unmark_holders(x);
	return 0;
}

int idle_apply(struct causes *c, struct timeline *tl, struct err *e)
{
	struct idle x = {.c = c, .tl = tl, .s = tl->stacks};
	int r = join_lines(&x);
	if (!r)
		r = group_threads(&x);
	if (!r)
		r = find_candidates(&x);
	if (!r)
		r = keep_those_at_base(&x);
	if (!r)
		r = mark(&x);
	u64map_release(&x.group_index);
	u64map_release(&x.node_index);
	u64map_release(&x.site_index);
	u64map_release(&x.wait_calls);
	u64map_release(&x.verdicts);
	vec_release(&x.function_path);
	vec_release(&x.group_of);
	vec_release(&x.groups);
	vec_release(&x.nodes);
	vec_release(&x.sites);
	vec_release(&x.candidate);
	vec_release(&x.answer);
	vec_release(&x.near);
	return r ? err_nomem(e) : 0;
}
