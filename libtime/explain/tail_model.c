#include "libtime/explain/tail_model.h"
#include "base/check.h"
#include "base/mem.h"
#include "libtime/explain/family.h"
#include "libtime/population/programs.h"
#include "libtime/sched/timeline_parts.h"
#include "libtime/sched/timeline_spans.h"

#include <stdlib.h>
#include <string.h>

const char *tail_group_name(unsigned int by)
{
	static const char *const names[] = {"root",   "holder", "stack", "cause",
					    "thread", "comm",   "label"};
	ENTRIES(names, GROUP_COUNT);
	return by < sizeof(names) / sizeof(*names) ? names[by] : "";
}

int tail_group_of(const char *name)
{
	for (int i = 0; i < GROUP_COUNT; i++)
		if (!strcmp(name, tail_group_name((unsigned)i)))
			return i;
	return -1;
}

/* The name of each thread's process. */
static int name_processes(struct tail *t)
{
	if (vec_reserve(&t->process_of, t->tl->threads.n + 1))
		return ERR_NOMEM;
	t->process_of.n = t->tl->threads.n;
	return programs_of_threads(t->tl, t->process_of.v);
}

/* Summarize the root by its main part. */
static void root_of(const struct tail *t, const struct explanation *x, struct tail_root *out)
{
	const struct chain_link *l = explanation_root(x);
	const struct chain_part *p = link_part(x, l);
	const struct tl_thread *own = &t->tl->threads.v[x->chain.v[0].thread];
	int held = l->via != VIA_SELF && l->via != VIA_CPU;
	int neighbour = t->tl->threads.v[l->thread].pid != own->pid;
	*out = (struct tail_root){
		.ns = l->ns,
		.part_ns = p ? p->ns : 0,
		.thread = l->thread,
		.comm = l->comm,
		.process = neighbour ? t->process_of.v[l->thread] : l->comm,
		.via = l->via,
		.held_cause = held ? l[-1].cause : (uint8_t)CAUSE_UNKNOWN,
		.held_mechanism = held ? link_mechanism(x, l - 1) : NULL,
		.doing = l->doing,
		.mechanism = p ? p->mechanism : NULL,
		.state = p ? p->state : (uint8_t)PART_UNKNOWN,
		.cause = p ? p->cause : (uint8_t)CAUSE_UNKNOWN,
		.end = p ? p->end : (uint8_t)END_NONE,
		.function = p ? p->function : 0,
		.vector = p ? p->vector : 0,
		.path = p ? p->path : 0,
		.guessed = p && p->state == PART_RUNNING && l->guessed,
	};
	if (p && p->state == PART_BLOCKED && p->actor != TL_NONE &&
	    ended_lock(p->via, p->cause, p->mechanism)) {
		out->holders = p->actors;
		out->holder_comm = t->tl->threads.v[p->actor].comm;
	}
}

const char *holder_kind_name(unsigned int kind)
{
	static const char *const names[] = {"none", "queue", "cpu", "lock", "waker"};
	ENTRIES(names, HOLDER_WAKER + 1);
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

static int is_queue(const struct explanation *x)
{
	const struct chain_part *p = link_part(x, explanation_root(x));
	return p && p->state == PART_RUNNABLE && p->end == END_QUEUED;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ x) + x;
}

/* What tells the lock that an interval waited for from others, as in lock_holders.c: its class
 * with its address, or the place of the wait; 0: not known. */
static int lock_of(struct evidence *ev, uint32_t offcpu, uint64_t *out)
{
	const struct mechanism *kind;
	uint64_t lock, which = 0;
	*out = 0;
	if (offcpu == TL_NONE)
		return 0;
	const struct offcpu *o = &ev->tl->offcpu.v[offcpu];
	int r = evidence_lock_class(ev, o, &lock, &kind, NULL);
	if (r <= 0)
		return r;
	if (kind && (kind->by == LOCK_BY_PROCESS || kind->by == LOCK_BY_INTERPRETER)) {
		*out = lock | 1;
		return 0;
	}
	if ((!kind || kind->by == LOCK_BY_ADDRESS) &&
	    evidence_lock_address(ev, offcpu, &which, NULL))
		return ERR_NOMEM;
	which = which ? which : evidence_function(ev, appframe_reported(ev->tl, o->path));
	*out = which ? mix(lock, which) | 1 : 0;
	return 0;
}

static void holder_of(struct evidence *ev, const struct explanation *x, struct tail_holder *out)
{
	*out = (struct tail_holder){.thread = TL_NONE};
	if (x->chain.n < 2) {
		out->kind = is_queue(x) ? HOLDER_QUEUE : HOLDER_NONE;
		return;
	}
	const struct chain_link *self = &x->chain.v[0], *l = &x->chain.v[1];
	int lock = self->cause == CAUSE_LOCK || self->cause == CAUSE_RWLOCK;
	out->thread = l->thread;
	out->comm = l->comm;
	out->doing = l->doing;
	out->kind = l->via == VIA_CPU             ? HOLDER_CPU
		    : l->via == VIA_OWNER || lock ? HOLDER_LOCK
						  : HOLDER_WAKER;
	out->cause = out->kind == HOLDER_WAKER ? self->cause : CAUSE_UNKNOWN;
	if (l != explanation_root(x)) {
		out->function = appframe_reported(ev->tl, l->path);
		return;
	}
	const struct chain_part *p = link_part(x, l);
	out->function = p && !(p->state == PART_RUNNING && l->guessed) ? p->function : 0;
}

/* What the episode's own thread waited for, in its largest part. */
static int wanted_of(struct evidence *ev, const struct explanation *x, struct tail_row *out)
{
	const struct chain_link *self = &x->chain.v[0];
	const struct chain_part *p =
		self->next_ns ? &x->parts.v[self->followed] : link_part(x, self);
	int same = p && p->state == PART_BLOCKED && p->cause == x->cause;
	out->wanted = same ? p->mechanism : NULL;
	if (x->state != PART_BLOCKED || !ended_lock(VIA_WAKER, x->cause, out->wanted))
		return 0;
	return lock_of(ev, x->offcpu, &out->lock);
}

/* What the answer says of a link and the next one: "had the CPU", "held the lock". */
static uint64_t relation_of(const struct explanation *x, const struct chain_link *l)
{
	if (l[1].via == VIA_CPU)
		return 1;
	return mix(link_held_lock(x, l + 1) ? 2 : 3, (uintptr_t)link_mechanism(x, l));
}

/* Threads that queue for one lock are one relation, however long the queue is. */
static void hash_chain(const struct explanation *x, struct tail_row *out)
{
	size_t n = x->chain.n;
	uint64_t before = 0;
	out->links = (uint32_t)n;
	out->chain = n;
	out->relations = 0;
	for (size_t i = 0; i + 1 < n; i++) {
		const struct chain_link *l = &x->chain.v[i];
		uint64_t relation = relation_of(x, l);
		if (relation != before)
			out->relations = mix(out->relations, relation);
		if (i + 3 >= n) /* the answer counts the earlier ones */
			out->chain = mix(mix(out->chain, relation), i ? l->comm : 0);
		before = relation;
	}
}

static int is_shown(const struct tail_show *s, const struct explanation *x)
{
	return (!s->causes || s->causes >> x->cause & 1) &&
	       (!s->states || s->states >> x->state & 1);
}

int tail_explain_episode(const struct tail *t, uint32_t episode, const struct explanation **out,
			 struct err *e)
{
	*out = t->spare;
	return explain(t->explainer, &t->episodes.v.v[episode], t->spare, e);
}

/* Keep the last explanation, which is of the last row, if there is room. */
static int keep_explanation(struct tail *t, struct err *e)
{
	if (t->kept.n >= TAIL_KEPT)
		return 0;
	t->rows.v[t->rows.n - 1].kept = (uint32_t)t->kept.n;
	if (vec_push(&t->kept, *t->spare))
		return err_nomem(e);
	*t->spare = (struct explanation){0};
	return 0;
}

static int explain_rows(struct tail *t, const struct tail_show *show, struct err *e)
{
	const struct explanation *x;
	int r = 0;
	for (size_t i = 0; !r && i < t->selection.v.n; i++) {
		uint32_t at = t->selection.v.v[i];
		r = tail_explain_episode(t, at, &x, e);
		if (r || !is_shown(show, x))
			continue;
		struct tail_row row = {.episode = at,
				       .kept = TL_NONE,
				       .path = x->path,
				       .offcpu = x->offcpu,
				       .state = x->state,
				       .cause = x->cause};
		root_of(t, x, &row.root);
		hash_chain(x, &row);
		holder_of(explainer_evidence(t->explainer), x, &row.holder);
		if (wanted_of(explainer_evidence(t->explainer), x, &row) ||
		    vec_push(&t->rows, row))
			r = err_nomem(e);
		if (!r)
			r = keep_explanation(t, e);
	}
	return r;
}

int tail_explain_row(const struct tail *t, size_t rank, const struct explanation **out,
		     struct err *e)
{
	const struct tail_row *row = &t->rows.v[rank];
	if (row->kept == TL_NONE)
		return tail_explain_episode(t, row->episode, out, e);
	*out = &t->kept.v[row->kept];
	return 0;
}

/* --- groups --------------------------------------------------------------------------- */

/* Functions with the same name are the same, whichever file they are from. */
static uint64_t function_key(const struct timeline *tl, uint32_t frame)
{
	if (!frame)
		return 0;
	const struct frame *f = &tl->stacks->frames.v[frame];
	return f->name ? f->name : 1ull << 32 | frame;
}

enum root_role { ROLE_SELF, ROLE_LOCK, ROLE_CPU };

/* How the root held up the others: by a CPU, a lock, or its own work. */
static unsigned role_of(const struct tail_root *r)
{
	int lock = r->held_cause == CAUSE_LOCK || r->held_cause == CAUSE_RWLOCK;
	return r->via == VIA_CPU             ? ROLE_CPU
	       : r->via == VIA_OWNER || lock ? ROLE_LOCK
					     : ROLE_SELF;
}

/* What a wait's stacks say of its cause is part of it: a packet that was late is not one that
 * TCP held back. */
static uint64_t root_key(const struct tail *t, const struct tail_root *r, uint32_t function)
{
	uintptr_t why = r->state == PART_BLOCKED ? (uintptr_t)r->mechanism : 0;
	return mix(mix(mix(mix(r->state << 8 | role_of(r), r->cause), r->comm), why),
		   r->vector ? ~(uint64_t)r->vector : function_key(t->tl, function));
}

/* A hash of the fields that distinguish groups. */
static uint64_t group_key(const struct tail *t, const struct tail_row *row)
{
	const struct episode *ep = &t->episodes.v.v[row->episode];
	switch (t->group_by) {
	case GROUP_HOLDER:
		return mix(mix(mix(row->holder.kind, row->holder.cause), row->holder.comm),
			   function_key(t->tl, row->holder.function));
	case GROUP_STACK:
		return mix(1, row->path);
	case GROUP_CAUSE:
		return mix(row->state, row->cause);
	case GROUP_THREAD:
		return mix(2, ep->thread);
	case GROUP_COMM:
		return mix(3, ep->comm);
	case GROUP_LABEL:
		return mix(4, timeline_label(t->tl, ep->at, t->group_label));
	default:
		return root_key(t, &row->root, row->root.function);
	}
}

static int group_order(const void *a, const void *b)
{
	const struct tail_group *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static void count_row(struct tail *t, struct tail_group *g, uint32_t row)
{
	t->rows.v[row].group = g->id;
	g->count++;
	g->ns += episode_ns(&t->episodes.v.v[t->rows.v[row].episode]);
}

static int add_to_group(struct tail *t, struct u64map *index, uint64_t key, uint32_t row)
{
	uint32_t g;
	if (!u64map_get(index, key, &g)) {
		uint32_t id = (uint32_t)t->joined.n;
		g = (uint32_t)t->groups.n;
		if (vec_push(&t->groups, ((struct tail_group){.row = row, .id = id})) ||
		    vec_push(&t->joined, id) || u64map_put(index, key, g))
			return ERR_NOMEM;
	}
	count_row(t, &t->groups.v[g], row);
	return 0;
}

/* The group of the nearest caller of the function that names group g, or g if there is none. */
static int callers_group(struct tail *t, const struct u64map *index, uint32_t g, uint32_t *out)
{
	enum { CALLERS = 4, FRAMES = 64 }; /* a runtime may have many frames, as qsort has */
	const struct tail_root *root = &t->rows.v[t->groups.v[g].row].root;
	const struct stacks *s = t->tl->stacks;
	uint32_t p, found;
	int r = 0, callers = 0;
	*out = g;
	if ((root->state != PART_RUNNING && root->state != PART_RUNNABLE) || !root->function)
		return 0;
	p = appframe_reported_path(t->tl, root->path);
	for (int i = 0; r >= 0 && p && i < FRAMES && callers < CALLERS; i++) {
		p = s->paths.v[p].parent;
		r = appframe_is_called(t->tl, p);
		callers += r > 0;
		if (r > 0 && s->frames.v[s->paths.v[p].frame].name &&
		    u64map_get(index, root_key(t, root, s->paths.v[p].frame), &found) &&
		    found != g) {
			*out = found;
			break;
		}
	}
	return r < 0 ? r : 0;
}

/* The group that g has been joined to; halves the path for the next lookup. */
static uint32_t joined_group(struct tail *t, uint32_t g)
{
	uint32_t *into = t->joined.v;
	while (into[g] != g)
		g = into[g] = into[into[g]];
	return g;
}

/* Join groups of functions with those of their callers. No group has moved yet, so that an id
 * is an index. */
static int join_callers(struct tail *t, const struct u64map *index)
{
	size_t n = t->groups.n, kept = 0;
	uint32_t to;
	int r = 0;
	for (uint32_t g = 0; !r && g < n; g++) {
		r = callers_group(t, index, g, &to);
		if (!r && joined_group(t, to) != g) /* functions may call each other */
			t->joined.v[g] = to;
	}
	for (uint32_t g = 0; !r && g < n; g++) {
		to = joined_group(t, g);
		if (to == g)
			continue;
		t->groups.v[to].count += t->groups.v[g].count;
		t->groups.v[to].ns += t->groups.v[g].ns;
	}
	for (uint32_t g = 0; !r && g < n; g++)
		if (t->joined.v[g] == g)
			t->groups.v[kept++] = t->groups.v[g];
	t->groups.n = r ? n : kept;
	return r;
}

static uint64_t doing_key(const struct tail_root *root)
{
	return mix(mix((4 + root->state) << 8 | role_of(root), root->cause), root->comm);
}

/* The vote of a group's rows, for groups without samples: which function is its own? */
struct vote {
	uint64_t function, lead, count;
	uint32_t first; /* row of that function */
};

/* Boyer and Moore's majority vote, then a count. */
static void count_vote(struct vote *v, int round, uint64_t function, uint32_t row)
{
	if (round) {
		v->first = v->count || function != v->function ? v->first : row;
		v->count += function == v->function;
	} else if (!v->lead) {
		v->function = function;
		v->lead = 1;
	} else {
		v->lead += function == v->function ? 1 : (uint64_t)-1;
	}
}

/* Name the groups without samples, which begin at `named` and whose keys are in `unseen`, by
 * the function that most of their rows have. */
static int name_unseen(struct tail *t, const struct u64map *unseen, size_t named)
{
	size_t n = t->groups.n - named;
	struct vote *votes = mem_zalloc(n + 1, sizeof(*votes));
	uint32_t g;
	if (!votes)
		return ERR_NOMEM;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < t->rows.n; i++) {
			const struct tail_root *r = &t->rows.v[i].root;
			if (r->guessed && u64map_get(unseen, doing_key(r), &g))
				count_vote(&votes[g - named], round,
					   function_key(t->tl, r->function), i);
		}
	for (size_t i = 0; i < n; i++) {
		struct tail_group *group = &t->groups.v[named + i];
		group->unnamed = !votes[i].function || votes[i].count * 2 <= group->count;
		group->row = group->unnamed ? group->row : votes[i].first;
	}
	mem_free(votes);
	return 0;
}

/* Index the first group of each state, cause and thread name: an episode without samples most
 * likely belongs to it. */
static int index_likely(const struct tail *t, struct u64map *likely)
{
	uint32_t any;
	for (uint32_t i = 0; i < t->groups.n; i++) {
		uint64_t key = doing_key(&t->rows.v[t->groups.v[i].row].root);
		if (!u64map_get(likely, key, &any) && u64map_put(likely, key, i))
			return ERR_NOMEM;
	}
	return 0;
}

static int add_unseen(struct tail *t)
{
	struct u64map likely = {0}, unseen = {0};
	size_t named = t->groups.n;
	uint32_t g;
	if (named)
		qsort(t->groups.v, named, sizeof(*t->groups.v), group_order);
	int r = index_likely(t, &likely);
	for (uint32_t i = 0; !r && i < t->rows.n; i++) {
		const struct tail_root *root = &t->rows.v[i].root;
		if (!root->guessed)
			continue;
		if (u64map_get(&likely, doing_key(root), &g))
			count_row(t, &t->groups.v[g], i);
		else
			r = add_to_group(t, &unseen, doing_key(root), i);
	}
	if (!r)
		r = name_unseen(t, &unseen, named);
	u64map_release(&likely);
	u64map_release(&unseen);
	return r;
}

/* A key for roots that are grouped by what they held (a CPU, or a lock or wait with a name of
 * its own), not by what they did meanwhile. 0 for others. */
static uint64_t held_key(const struct tail_root *r)
{
	if (r->via == VIA_CPU)
		return mix(5, r->process);
	return r->held_mechanism ? mix(mix(6, (uintptr_t)r->held_mechanism),
				       mix((uintptr_t)r->doing, r->comm))
				 : 0;
}

/* Join groups that held the same: processes of one name that had the CPU, threads of one name
 * that had the GIL. The largest group comes first; its function names them all if most have it.
 */
static int join_holders(struct tail *t)
{
	struct u64map index = {0}; /* key → group */
	size_t kept = 0;
	uint32_t at;
	int r = 0;
	if (t->groups.n)
		qsort(t->groups.v, t->groups.n, sizeof(*t->groups.v), group_order);
	uint64_t *named = mem_zalloc(t->groups.n + 1, sizeof(*named));
	if (!named)
		return ERR_NOMEM;
	for (size_t i = 0; !r && i < t->groups.n; i++) {
		struct tail_group g = t->groups.v[i];
		uint64_t key = held_key(&t->rows.v[g.row].root);
		if (key && u64map_get(&index, key, &at)) {
			t->groups.v[at].count += g.count;
			t->groups.v[at].ns += g.ns;
			t->joined.v[g.id] = t->groups.v[at].id;
			continue;
		}
		r = key ? u64map_put(&index, key, (uint32_t)kept) : 0;
		named[kept] = g.unnamed ? 0 : g.count;
		t->groups.v[kept++] = g;
	}
	t->groups.n = r ? t->groups.n : kept;
	for (size_t i = 0; !r && i < kept; i++)
		t->groups.v[i].unnamed = named[i] * 2 <= t->groups.v[i].count;
	mem_free(named);
	u64map_release(&index);
	return r;
}

static int group_rows(struct tail *t)
{
	struct u64map index = {0};
	int by_root = t->group_by == GROUP_ROOT, r = 0;
	for (uint32_t i = 0; !r && i < t->rows.n; i++)
		if (!by_root || !t->rows.v[i].root.guessed)
			r = add_to_group(t, &index, group_key(t, &t->rows.v[i]), i);
	if (!r && by_root)
		r = join_callers(t, &index);
	if (!r && by_root)
		r = add_unseen(t);
	if (!r && by_root)
		r = join_holders(t);
	u64map_release(&index);
	for (uint32_t i = 0; !r && i < t->rows.n; i++)
		t->rows.v[i].group = joined_group(t, t->rows.v[i].group);
	if (!r && t->groups.n)
		qsort(t->groups.v, t->groups.n, sizeof(*t->groups.v), group_order);
	return r ? r : family_find(t);
}

/* --- recurrence ----------------------------------------------------------------------- */

/* Did a thread of that name hold the episode up? comm 0: any name. */
static int held_up_by(const struct tail *t, const struct tail_row *row, uint32_t comm)
{
	uint32_t own = t->episodes.v.v[row->episode].thread;
	return !comm || (row->holder.thread != TL_NONE && row->holder.comm == comm) ||
	       (row->root.thread != own && row->root.comm == comm);
}

/* Do the recurrences found so far cover most of the episodes that this name held up? Threads
 * that get a lock from its first holder share its recurrence. */
static int is_reported(const struct tail *t, uint32_t comm)
{
	size_t n = 0, known = 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		if (!held_up_by(t, &t->rows.v[i], comm))
			continue;
		n++;
		for (size_t k = 0; k < t->nrecurrences; k++)
			if (held_up_by(t, &t->rows.v[i], t->recurrences[k].comm)) {
				known++;
				break;
			}
	}
	return known * 2 > n;
}

/* The recurrence of the shown episodes that threads of that name held up. */
static int recurrence_of(const struct tail *t, uint32_t comm, struct tail_recurrence *out,
			 struct err *e)
{
	struct occurrence *v = mem_zalloc(t->rows.n + 1, sizeof(*v));
	size_t n = 0;
	if (!v)
		return err_nomem(e);
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
		if (held_up_by(t, &t->rows.v[i], comm))
			v[n++] = (struct occurrence){ep->start_ns, ep->end_ns, ep->thread};
	}
	*out = (struct tail_recurrence){.comm = comm, .count = n};
	int r = recurrence_find(v, n, &out->recurrence, e);
	mem_free(v);
	return r;
}

struct offender { /* the threads of one name */
	uint64_t ns;
	uint32_t comm;
};

static int offender_order(const void *a, const void *b, void *strings)
{
	const struct offender *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(strtab_get(strings, x->comm), strtab_get(strings, y->comm));
}

typedef VEC(struct offender) offenders;

static int add_offender(offenders *v, struct u64map *index, uint32_t comm, uint64_t ns)
{
	uint32_t i;
	if (!u64map_get(index, comm, &i)) {
		i = (uint32_t)v->n;
		if (vec_push(v, ((struct offender){.comm = comm})) ||
		    u64map_put(index, comm, i))
			return ERR_NOMEM;
	}
	v->v[i].ns += ns;
	return 0;
}

/* The thread names that held up the shown episodes, the one with most time first. */
static int find_offenders(const struct tail *t, offenders *out)
{
	struct u64map index = {0};
	int r = 0;
	for (size_t i = 0; !r && i < t->rows.n; i++) {
		const struct tail_row *row = &t->rows.v[i];
		const struct episode *ep = &t->episodes.v.v[row->episode];
		uint64_t ns = episode_ns(ep);
		int held = row->holder.thread != TL_NONE;
		if (held)
			r = add_offender(out, &index, row->holder.comm, ns);
		if (!r && row->root.thread != ep->thread &&
		    !(held && row->holder.comm == row->root.comm))
			r = add_offender(out, &index, row->root.comm, ns);
	}
	u64map_release(&index);
	if (!r && out->n)
		qsort_r(out->v, out->n, sizeof(*out->v), offender_order,
			(void *)&t->tl->stacks->strings);
	return r;
}

/* Do all shown episodes have one root: the same process in the same state and cause? */
static int have_one_root(const struct tail *t)
{
	for (size_t i = 1; i < t->rows.n; i++) {
		const struct tail_root *a = &t->rows.v[0].root, *b = &t->rows.v[i].root;
		if (a->process != b->process || a->state != b->state || a->cause != b->cause ||
		    role_of(a) != role_of(b))
			return 0;
	}
	return 1;
}

/* Find the recurrence of all episodes if they have one root; else of those that the worst
 * offenders held up. */
static int find_recurrences(struct tail *t, struct err *e)
{
	struct tail_recurrence all, one;
	offenders worst = {0};
	int r = recurrence_of(t, 0, &all, e);
	t->recurrence = all.recurrence;
	if (!have_one_root(t))
		t->recurrence.rate = t->recurrence.pause = (struct period){0};
	if (r || recurrence_found(&t->recurrence))
		return r;
	r = find_offenders(t, &worst) ? err_nomem(e) : 0;
	for (size_t i = 0; !r && i < worst.n && i < TAIL_RECURRENCES; i++) {
		r = recurrence_of(t, worst.v[i].comm, &one, e);
		if (!r && recurrence_found(&one.recurrence) && !is_reported(t, one.comm))
			t->recurrences[t->nrecurrences++] = one;
	}
	vec_release(&worst);
	return r;
}

int tail_select(const struct timeline *tl, const struct tail_query *q, struct tail *out,
		struct err *e)
{
	*out = (struct tail){.tl = tl, .group_by = q->group_by, .group_label = q->group_label};
	int r = episodes_collect(tl, &q->episodes, &out->episodes, e);
	if (!r)
		r = episodes_select(&out->episodes, tl, &q->pick, &out->selection, e);
	if (!r && q->episodes.kind == EPISODE_GAP)
		r = gap_answer(&out->gaps, tl, &out->episodes, &out->selection, e);
	out->too_few = q->pick.kind == PICK_PERCENTILE &&
		       out->episodes.clean.n < percentile_needs(q->pick.millipercent);
	return r;
}

/* The name of the threads that most of the shown episodes are of (Boyer and Moore's majority
 * vote), or 0. */
static uint32_t main_comm(const struct tail *t)
{
	uint32_t comm = 0;
	size_t lead = 0, n = 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		uint32_t own = t->episodes.v.v[t->rows.v[i].episode].comm;
		comm = lead ? comm : own;
		lead += own == comm ? 1 : (size_t)-1;
	}
	for (size_t i = 0; i < t->rows.n; i++)
		n += t->episodes.v.v[t->rows.v[i].episode].comm == comm;
	return n * 2 > t->rows.n ? comm : 0;
}

/* Compare as many waits as there are cycles; of an answer about everybody, those of the threads
 * that it is mostly about. */
static int find_slow_time(struct tail *t, struct err *e)
{
	struct episode_query q = t->episodes.query;
	const char *comm = strtab_get(&t->tl->stacks->strings, main_comm(t));
	uint64_t ns = 0;
	for (size_t i = 0; i < t->rows.n && i < SLOW_CYCLES; i++)
		ns += episode_ns(&t->episodes.v.v[t->rows.v[i].episode]);
	if (t->selection.by_design && *comm) {
		q.of.comms = &comm;
		q.of.ncomms = 1;
	}
	return slow_time_find(t->explainer, t->tl, &q, ns, &t->slow, e);
}

int tail_make(const struct timeline *tl, const struct tail_query *q, struct tail *out,
	      struct err *e)
{
	int r = tail_select(tl, q, out, e);
	if (!r)
		r = explainer_new(tl, &out->explainer, e);
	out->spare = mem_zalloc(1, sizeof(*out->spare));
	if (!r && (!out->spare || name_processes(out)))
		r = err_nomem(e);
	if (!r)
		r = explain_rows(out, &q->show, e);
	if (!r && group_rows(out))
		r = err_nomem(e);
	if (!r && q->episodes.kind == EPISODE_WAIT && q->pick.least && q->episodes.of.ranked)
		r = find_slow_time(out, e);
	if (!r && timeline_one_clock(tl))
		r = find_recurrences(out, e);
	if (r)
		tail_release(out);
	return r;
}

void tail_release(struct tail *t)
{
	gap_answer_release(&t->gaps);
	for (size_t i = 0; i < t->kept.n; i++)
		explanation_release(&t->kept.v[i]);
	vec_release(&t->kept);
	if (t->spare)
		explanation_release(t->spare);
	mem_free(t->spare);
	t->spare = NULL;
	explainer_free(t->explainer);
	episodes_release(&t->episodes);
	episode_selection_release(&t->selection);
	vec_release(&t->rows);
	vec_release(&t->groups);
	vec_release(&t->joined);
	vec_release(&t->process_of);
	t->explainer = NULL;
}
