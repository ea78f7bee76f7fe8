#include "render/tail/tail_answer.h"
#include "libtime/causes/causes.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/sched/timeline_parts.h"
#include "render/tail/family_words.h"
#include "render/tail/host_words.h"
#include "render/tail/object_words.h"
#include "render/tail/slow_words.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <string.h>

/* The sentence under construction. */
struct answer {
	struct buf *b;
	struct tail *t;
	const struct tail_group *group;
	const struct tail_row *said; /* the row that speaks for the group */
	struct explanation x;        /* of it */
	uint32_t comms[2];           /* of the threads that waited */
	size_t ncomms;               /* may exceed the array */
	uint64_t told;               /* episodes of which the sentence is true */
	int family;                  /* 1: what they waited for, not one root */
	int brief; /* what is left out so that the sentence is short: enum brief */
};

/* What is left out first. */
enum brief {
	BRIEF_NOT,
	BRIEF_SYSCALLS,
	BRIEF_NAMES,
	BRIEF_WAITER,
	BRIEF_TARGETS,
	BRIEF_LEVELS
};
enum { MOST_CHARS = 120, TOO_LONG = 160 };

static void put(struct answer *a, const char *s)
{
	buf_str(a->b, s);
}

static void put_name(struct answer *a, uint32_t string)
{
	describe_name(a->b, a->t->tl, string);
}

/* --- who waited ----------------------------------------------------------------------- */

static void note_comm(struct answer *a, uint32_t comm)
{
	for (size_t i = 0; i < a->ncomms && i < 2; i++)
		if (a->comms[i] == comm)
			return;
	if (a->ncomms < 2)
		a->comms[a->ncomms] = comm;
	a->ncomms++;
}

/* The name of the process of all that waited; 0 if there are several. */
static uint32_t one_process(const struct answer *a)
{
	const struct tail *t = a->t;
	const struct tl_thread *threads = t->tl->threads.v;
	uint32_t first = t->episodes.v.v[t->rows.v[0].episode].thread;
	for (size_t i = 1; i < t->rows.n; i++) {
		uint32_t thread = t->episodes.v.v[t->rows.v[i].episode].thread;
		if (threads[thread].pid != threads[first].pid ||
		    timeline_part_of(t->tl, thread) != timeline_part_of(t->tl, first))
			return 0;
	}
	return t->process_of.v[first];
}

static void put_kind(struct answer *a)
{
	const struct episode_query *q = &a->t->episodes.query;
	if (q->kind == EPISODE_SPAN) {
		put_name(a, q->span);
		put(a, " span");
	} else {
		put(a, episode_kind_name(q->kind));
	}
}

static void put_who(struct answer *a)
{
	const struct tail *t = a->t;
	for (size_t i = 0; i < t->rows.n; i++)
		note_comm(a, t->episodes.v.v[t->rows.v[i].episode].comm);
	uint32_t process = a->ncomms > 2 ? one_process(a) : 0;
	if (a->ncomms > 2 && !process)
		return;
	put(a, " of ");
	put_name(a, process ? process : a->comms[0]);
	if (a->ncomms == 2) {
		put(a, " and ");
		put_name(a, a->comms[1]);
	}
}

/* "6 of 9 worst waits of high: " */
static void put_subject(struct answer *a)
{
	size_t n = a->t->rows.n;
	int unlike = n > 1 && a->t->groups.n == n && a->told == a->group->count && !a->family;
	if (n == 1) {
		put(a, "The worst ");
	} else if (a->told == 1 && !a->group->row) {
		put(a, "The longest of the ");
		units_count(a->b, n);
		put(a, " worst ");
	} else {
		units_count(a->b, a->told);
		put(a, " of ");
		units_count(a->b, n);
		put(a, " worst ");
	}
	put_kind(a);
	put(a, n > 1 ? "s" : "");
	put_who(a);
	put(a,
	    unlike && a->t->group_by == GROUP_ROOT ? " (no two have the same root): " : ": ");
}

/* --- what held them up ---------------------------------------------------------------- */

static const struct chain_part *root_part(const struct answer *a)
{
	return link_part(&a->x, explanation_root(&a->x));
}

/* " in write_pages()", of the root, where it is known. */
static void put_place(struct answer *a, const char *in)
{
	const struct chain_part *p = root_part(a);
	if (p && p->vector) {
		put(a, in);
		put_name(a, p->vector);
		return;
	}
	if (!p || !p->function || a->group->unnamed)
		return;
	put(a, in);
	put_function(a->b, a->t->tl, p->function);
}

/* " < build_report()", what called the function that a root runs, but for the outermost one. */
static void put_caller(struct answer *a, const struct chain_part *p)
{
	const struct timeline *tl = a->t->tl;
	uint32_t caller = appframe_caller(tl, p->path);
	uint32_t node = caller ? appframe_reported_path(tl, p->path) : 0;
	if (a->brief >= BRIEF_TARGETS || p->vector || a->group->unnamed || !caller ||
	    appframe_reported(tl, p->path) != p->function ||
	    !appframe_is_called(tl, tl->stacks->paths.v[node].parent))
		return;
	put(a, " < ");
	put_function(a->b, tl, caller);
}

/* " in ftruncate()", of the root. */
static void put_root_call(struct answer *a, const struct chain_part *p)
{
	if (a->brief < BRIEF_SYSCALLS && !p->vector && !explanation_root(&a->x)->guessed)
		put_syscall(a->b, a->t->tl, p->path, a->group->unnamed ? 0 : p->function);
}

/* The root's time on a CPU, or blocked, if it is most of what it did when it had a CPU. */
static const struct chain_part *behind_queue(const struct answer *a)
{
	const struct chain_link *l = explanation_root(&a->x);
	for (uint32_t i = 1; i < l->nparts; i++) {
		const struct chain_part *p = &a->x.parts.v[l->part + i];
		if (p->state == PART_RUNNING && p->function)
			return l->via != VIA_SELF && p->ns >= l->ns / 8 ? p : NULL;
	}
	return NULL;
}

/* "running build(), without a CPU for 60 % of the time". */
static int put_slowed(struct answer *a)
{
	const struct chain_link *l = explanation_root(&a->x);
	const struct chain_part *queue = root_part(a), *ran = behind_queue(a);
	if (!ran || a->group->unnamed)
		return 0;
	put(a, "running ");
	put_function(a->b, a->t->tl, ran->function);
	put_caller(a, ran);
	put_root_call(a, ran);
	unsigned percent = (unsigned)(100 * (double)queue->ns / (double)l->ns + 0.5);
	if (a->brief < BRIEF_WAITER || percent < 50)
		buf_fmt(a->b, ", without a CPU for %u %% of it", percent);
	else
		put(a, ", mostly without a CPU");
	return 1;
}

/* What the root did: "asleep in write_pages()". */
static void put_doing(struct answer *a)
{
	const struct chain_part *p = root_part(a);
	unsigned state = p ? p->state : PART_UNKNOWN;
	switch (state) {
	case PART_RUNNING:
		put(a, p->end == END_IRQ ? "interrupted by" : "running");
		put_place(a, " ");
		if (p->function)
			put_caller(a, p);
		if (p->function)
			put_root_call(a, p);
		if (p->mechanism)
			buf_fmt(a->b, ", %s", p->mechanism->words);
		return;
	case PART_RUNNABLE:
		if (p->end == END_IDLE_EXIT)
			describe_idle_cpu(a->b, explainer_evidence(a->t->explainer), p);
		else if (put_slowed(a))
			return;
		else
			put(a, "waiting for a CPU");
		break;
	case PART_PREEMPTED:
		put(a, "throttled by its CPU quota");
		describe_quota(a->b, a->t->tl, explanation_root(&a->x)->thread, 0);
		break;
	case PART_BLOCKED:
		put_waiting(a->b, a->t->tl, p->cause, p->path, p->mechanism);
		break;
	default:
		return;
	}
	put_place(a, " in ");
	if (state != PART_BLOCKED || p->offcpu == TL_NONE)
		return;
	if (p->cause == CAUSE_LOCK || p->cause == CAUSE_RWLOCK)
		put_lock_name(a->b, a->t->tl, p->offcpu, p->path);
	if (a->brief >= BRIEF_TARGETS && !(p->cause == CAUSE_IO))
		return;
	describe_target(a->b, a->t->tl, &a->t->tl->offcpu.v[p->offcpu], ", ");
	describe_disk(a->b, explainer_evidence(a->t->explainer), p->offcpu, ", ");
}

/* Who waited for the i-th link: the threads of the question for the first. */
static void put_waiter(struct answer *a, size_t i)
{
	if (i > 1)
		put_name(a, a->x.chain.v[i - 1].comm);
	else if (a->ncomms == 1)
		put_name(a, a->comms[0]);
	else
		put(a, a->group->count == 1 ? "it" : "they");
}

/* " in append_line()", where the thread waits that the i-th link held up. */
static void put_where(struct answer *a, size_t i)
{
	const struct chain_link *w = &a->x.chain.v[i - 1];
	uint32_t function = appframe_reported(a->t->tl, w->path);
	if (a->brief >= BRIEF_WAITER || !function || i > 1 ||
	    !a->t->tl->stacks->frames.v[function].name)
		return;
	put(a, " in ");
	put_function(a->b, a->t->tl, function);
}

/* "low held the lock that high wanted in append_line()". */
static void put_lock_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x.chain.v[i];
	const struct mechanism *m = link_mechanism(&a->x, l - 1);
	put_name(a, l->comm);
	buf_fmt(a->b, " held %s ", m ? m->words : "the lock");
	put(a, m || i > 1 || a->ncomms == 1 ? "that " : "");
	put_waiter(a, i);
	put(a, " wanted");
	if (!l->doing)
		put_where(a, i);
	if (!m)
		put_lock_name(a->b, a->t->tl, l[-1].offcpu, l[-1].path);
	if (l->doing)
		buf_fmt(a->b, ", %s", l->doing->words);
}

static int is_plural(const struct answer *a, size_t i)
{
	return i == 1 && a->ncomms != 1 && a->group->count != 1;
}

/* "front waited in convert() for its child helper to exit". */
static void put_exit_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x.chain.v[i];
	int thread = l[-1].cause == CAUSE_JOIN;
	put(a, is_plural(a, i) ? " for their " : " for its ");
	put(a, thread ? "thread " : "child ");
	put_name(a, l->comm);
	put(a, !thread && waited_for_exec(a->t->tl, l[-1].path) ? " to call exec" : " to exit");
}

/* "front was frozen, until freezer thawed it". */
static void put_stop_role(struct answer *a, size_t i, const struct mechanism *m)
{
	const struct chain_link *l = &a->x.chain.v[i];
	buf_fmt(a->b, " %s %s until ", is_plural(a, i) ? "were" : "was",
		m ? m->words : "stopped");
	put_name(a, l->comm);
	buf_fmt(a->b, " %s", m ? m->verb : "woke it");
}

/* "front waited for room in a full pipe, which reader emptied". */
static void put_wait_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x.chain.v[i];
	const struct mechanism *m = link_mechanism(&a->x, l - 1);
	struct wait_words w = words_of_wait(a->t->tl, l[-1].cause, l[-1].path);
	if (m && *m->verb)
		w = (struct wait_words){m->words, m->verb};
	put_waiter(a, i);
	if (l[-1].cause == CAUSE_STOPPED) {
		put_stop_role(a, i, m);
		return;
	}
	put(a, " waited");
	put_where(a, i);
	if (l[-1].cause == CAUSE_CHILD || l[-1].cause == CAUSE_JOIN) {
		put_exit_role(a, i);
		return;
	}
	put(a, " for ");
	if (!w.object || l->via == VIA_TURN) {
		put_name(a, l->comm);
		return;
	}
	buf_fmt(a->b, "%s, which ", w.object);
	put_name(a, l->comm);
	buf_fmt(a->b, " %s", w.verb);
	if (l->doing)
		buf_fmt(a->b, " %s", l->doing->words);
}

/* Does the i-th link's role leave its name at the end, so that ", which was" may follow? */
static int ends_in_name(const struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x.chain.v[i];
	const struct mechanism *m = link_mechanism(&a->x, l - 1);
	return !(m && *m->verb) &&
	       (l->via == VIA_TURN ||
		!words_of_wait(a->t->tl, l[-1].cause, l[-1].path).object) &&
	       l[-1].cause != CAUSE_CHILD && l[-1].cause != CAUSE_JOIN &&
	       l[-1].cause != CAUSE_STOPPED;
}

/* " that front gave away in take() (sched_yield)". */
static void put_yield(struct answer *a, size_t i)
{
	uint32_t offcpu = a->x.chain.v[i - 1].offcpu;
	if (offcpu == TL_NONE || a->t->tl->offcpu.v[offcpu].cause != CAUSE_YIELD)
		return;
	put(a, " that ");
	put_waiter(a, i);
	put(a, " gave away");
	put_where(a, i);
	put(a, " (sched_yield)");
}

static void put_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x.chain.v[i];
	if (l->via == VIA_CPU) {
		put_name(a, i + 1 == a->x.chain.n ? a->said->root.process : l->comm);
		put(a, " had the CPU");
		put_yield(a, i);
	} else if (link_held_lock(&a->x, l)) {
		put_lock_role(a, i);
	} else {
		put_wait_role(a, i);
	}
}

/* ", which several threads used in turn", of the CPU that the root waited for; if threads of
 * one name had most of it, by that name. */
static void put_takers(struct answer *a)
{
	const struct explanation *x = &a->x;
	const struct timeline *tl = a->t->tl;
	uint64_t all = 0, most = 0;
	uint32_t comm = 0, n = 0;
	for (size_t i = 0; i < x->ahead.n; i++) {
		uint64_t ns = 0;
		uint32_t threads = 0, name = tl->threads.v[x->ahead.v[i].thread].comm;
		all += x->ahead.v[i].ns;
		for (size_t k = 0; k < x->ahead.n; k++)
			if (tl->threads.v[x->ahead.v[k].thread].comm == name) {
				ns += x->ahead.v[k].ns;
				threads++;
			}
		if (ns > most) {
			most = ns;
			comm = name;
			n = threads;
		}
	}
	if (most * 2 <= all || n < 2) {
		put(a, ", which several threads used in turn");
		return;
	}
	put(a, ", which ");
	units_count(a->b, n);
	put(a, comm == explanation_root(x)->comm ? " other threads named " : " threads named ");
	put_name(a, comm);
	put(a, " had in turn");
}

/* " in 4 of them", unless it is so in all. */
static void put_in_some(struct answer *a, uint64_t n)
{
	if (n >= a->group->count)
		return;
	put(a, " in ");
	units_count(a->b, n);
	put(a, " of them");
}

/* The thread that let the lock go which a row's thread waited for, or TL_NONE. */
static uint32_t let_go(struct answer *a, const struct tail_row *row)
{
	const struct timeline *tl = a->t->tl;
	struct evidence *ev = explainer_evidence(a->t->explainer);
	const struct mechanism *kind;
	uint64_t lock;
	if (row->offcpu == TL_NONE)
		return TL_NONE;
	const struct offcpu *o = &tl->offcpu.v[lock_retried(tl, row->offcpu)];
	int r = evidence_lock_class(ev, o, &lock, &kind, NULL);
	r = r > 0 ? evidence_is_release(ev, o, kind, NULL) : r;
	a->b->failed = r < 0 ? ERR_NOMEM : a->b->failed;
	return r > 0 ? o->waker : TL_NONE;
}

/* ", which one of 3 threads named render let go last in 4 of them". */
static void put_last_holder(struct answer *a)
{
	const struct tail *t = a->t;
	const struct tl_thread *threads = t->tl->threads.v;
	uint32_t last = let_go(a, a->said), others[16];
	uint64_t n = 0, rows = 0;
	if (last == TL_NONE)
		return;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct tail_row *row = &t->rows.v[i];
		uint32_t thread = row->group == a->group->id ? let_go(a, row) : TL_NONE, k = 0;
		if (thread == TL_NONE || threads[thread].comm != threads[last].comm)
			continue;
		rows++;
		while (k < n && k < 16 && others[k] != thread)
			k++;
		if (k == n && k < 16)
			others[n++] = thread;
	}
	put(a, ", which ");
	if (n == 16)
		put(a, "one of the threads named ");
	else if (n > 1)
		buf_fmt(a->b, "one of %u threads named ", (unsigned)n);
	put_name(a, threads[last].comm);
	put(a, " let go last");
	put_in_some(a, rows);
}

/* ", which render and 2 others held in turn"; of several episodes how many were so, not how
 * many others there were. */
static void put_several(struct answer *a, const struct chain_part *p)
{
	uint32_t comm = a->said->root.holder_comm;
	uint64_t n = 0;
	for (size_t i = 0; i < a->t->rows.n; i++) {
		const struct tail_row *row = &a->t->rows.v[i];
		n += row->group == a->group->id && row->root.holders > 1 &&
		     row->root.holder_comm == comm;
	}
	put(a, ", which ");
	put_name(a, comm);
	put(a, " and ");
	if (a->group->count == 1)
		units_plural(a->b, a->said->root.holders - 1, "other", "others");
	else
		put(a, "others");
	put(a, p->cause == CAUSE_RWLOCK ? " held" : " held in turn"); /* readers share it */
	put_in_some(a, n);
}

/* ", whose holder was not seen". */
static void put_no_holder(struct answer *a)
{
	uint64_t n = 0;
	for (size_t i = 0; i < a->t->rows.n; i++)
		n += a->t->rows.v[i].group == a->group->id &&
		     a->t->rows.v[i].root.end == END_TIMED_OUT;
	put(a, ", whose holder was not seen");
	put_in_some(a, n);
}

/* What is known of the holders of the lock that the root waited for. */
static void put_holders(struct answer *a, const struct chain_part *p)
{
	if (p->end == END_TIMED_OUT)
		put_no_holder(a);
	else if (a->said->root.holders > 1)
		put_several(a, p);
	else
		put_last_holder(a);
}

/* No other thread is the root. */
static void put_alone(struct answer *a)
{
	const struct chain_part *p = root_part(a);
	if (a->ncomms > 1) {
		put_name(a, explanation_root(&a->x)->comm);
		put(a, " ");
	}
	if (!p || p->state == PART_UNKNOWN) {
		put(a, "unknown");
		if (p && p->end == END_SUSPECT)
			put(a, ", records are missing there");
		else if (p && p->end == END_NO_WAKE)
			put(a, ", no wakeup was recorded");
		return;
	}
	if (p->state == PART_PREEMPTED) {
		put(a, "throttled, its cgroup had used up its CPU quota");
		describe_quota(a->b, a->t->tl, explanation_root(&a->x)->thread, 0);
		return;
	}
	put_doing(a);
	if (p->state == PART_RUNNABLE && p->actors > 1)
		put_takers(a);
	else if (p->state == PART_BLOCKED &&
		 (p->cause == CAUSE_LOCK || p->cause == CAUSE_RWLOCK))
		put_holders(a, p);
}

/* What the root did, after its role: ", asleep in f()", "; reader was asleep in f()", "; what
 * reader did is unknown".
 * 0 when it adds nothing. */
static int put_root(struct answer *a)
{
	const struct chain_link *root = explanation_root(&a->x), *before = root - 1;
	const struct chain_part *p = root_part(a);
	const struct mechanism *m = link_mechanism(&a->x, before);
	int did = root->via == VIA_CPU || m || link_held_lock(&a->x, root) ||
		  !ends_in_name(a, a->x.chain.n - 1);
	int unnamed = p && p->state == PART_RUNNING && !p->function;
	if (did && (a->group->unnamed || unnamed))
		return 0;
	if (!p || p->state == PART_UNKNOWN) {
		put(a, "; what ");
		put_name(a, root->comm);
		put(a, " did is unknown");
		return 1;
	}
	if (did && p->state == PART_BLOCKED && p->cause == CAUSE_UNKNOWN && !p->mechanism)
		return 0;
	if (root->via == VIA_CPU || link_held_lock(&a->x, root)) {
		put(a, ", ");
		if (a->told > a->group->count) {
			put(a, "in ");
			units_count(a->b, a->group->count);
			put(a, " of them ");
		}
	} else if (!ends_in_name(a, a->x.chain.n - 1)) {
		put(a, "; ");
		if (a->brief >= BRIEF_NAMES && before->cause != CAUSE_STOPPED)
			put(a, "it");
		else
			put_name(a, root->comm);
		put(a, " was ");
	} else {
		put(a, ", which was ");
	}
	put_doing(a);
	return 1;
}

/* " (35 % of the time)", if the roots of the group, or what they mostly did (`did`), explain
 * only a part. */
static void put_share(struct answer *a, int did)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < a->t->rows.n; i++) {
		const struct tail_row *row = &a->t->rows.v[i];
		if (row->group == a->group->id)
			ns += did ? row->root.part_ns : row->root.ns;
	}
	if (ns && a->told == a->group->count && ns < a->group->ns / 4 * 3 &&
	    !(did && a->group->unnamed))
		buf_fmt(a->b, " (%u %% of the time)",
			(unsigned)(100 * (double)ns / (double)a->group->ns + 0.5));
}

/* Of how many episodes of the group is it true? Of a chain of two, where relations are the
 * same: the root held the lock that they wanted, also if it went through others' hands first.
 */
static uint64_t count_alike(const struct answer *a)
{
	const struct tail *t = a->t;
	uint64_t n = 0;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct tail_row *row = &t->rows.v[i];
		n += row->group == a->group->id &&
		     (a->x.chain.n == 2 ? row->relations == a->said->relations
					: row->chain == a->said->chain);
	}
	return n;
}

/* "in 6 of them ", unless it is so in all. */
static void put_alike(struct answer *a, const char *before)
{
	uint64_t n = count_alike(a);
	if (n == a->group->count || a->told > a->group->count)
		return;
	buf_fmt(a->b, "%sin ", before);
	units_count(a->b, n);
	put(a, " of them");
}

/* Of a root's own waits: who waited for it meanwhile. */
static void put_held_up(struct answer *a)
{
	uint64_t own = count_alike(a);
	put_alike(a, ", ");
	if (own == a->group->count)
		return;
	put(a, "; the other ");
	if (a->group->count - own > 1)
		units_count(a->b, a->group->count - own);
	put(a, a->group->count - own > 1 ? " waited for " : "waited for ");
	put_name(a, explanation_root(&a->x)->comm);
}

/* After a thread that had the CPU comes the thread that wanted it; otherwise what the root did
 * precedes the threads that it held up. */
static void put_chain(struct answer *a)
{
	size_t last = a->x.chain.n - 1;
	int cpu = explanation_root(&a->x)->via == VIA_CPU;
	put_role(a, last);
	put_share(a, cpu && last > 1 ? 0 : put_root(a));
	if (last == 1) {
		if (!cpu)
			put_alike(a, ", that way ");
		return;
	}
	put_alike(a, ", ");
	put(a, " while ");
	put_role(a, last - 1);
	if (last > 2)
		buf_fmt(a->b, ", behind %zu more", last - 2);
}

/* --- the answer ----------------------------------------------------------------------- */

/* The worst row whose chain most rows of the group have, or NULL. */
static const struct tail_row *commonest(const struct tail *t, const struct tail_group *g)
{
	const struct tail_row *first = NULL, *row;
	uint64_t chain = 0, lead = 0, count = 0;
	for (row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		if (row->group != g->id)
			continue;
		chain = lead ? chain : row->chain; /* Boyer and Moore's majority vote */
		lead += row->chain == chain ? 1 : (uint64_t)-1;
	}
	for (row = t->rows.v; row < t->rows.v + t->rows.n; row++)
		if (row->group == g->id && row->chain == chain) {
			count++;
			first = first ? first : row;
		}
	return count * 2 > g->count ? first : NULL;
}

/* The worst row with the shortest chain, of those with another thread if there are any: who
 * waited for the root directly says more than the root's own wait. */
static const struct tail_row *directest(const struct tail *t, const struct tail_group *g)
{
	const struct tail_row *best = &t->rows.v[g->row];
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++)
		if (row->group == g->id && row->links > 1 &&
		    (best->links < 2 || row->links < best->links))
			best = row;
	return best;
}

/* The row that speaks for the group: its worst, if all chains are equal. If not, one with the
 * shortest chain, since the others end in it; rather one with the chain that most have, if the
 * root had the CPU, or that is as short. */
static const struct tail_row *speaker_of(const struct tail *t, const struct tail_group *g)
{
	const struct tail_row *worst = &t->rows.v[g->row], *common = commonest(t, g);
	const struct tail_row *row = directest(t, g);
	if (common && (worst->root.via == VIA_CPU || common->links <= row->links))
		row = common;
	return g->unnamed || row->root.function == worst->root.function ? row : worst;
}

/* The episodes of the group; also all others whose lock the same thread held, whatever it did
 * meanwhile. */
static uint64_t count_told(const struct answer *a)
{
	const struct tail *t = a->t;
	const struct tail_row *said = a->said;
	uint64_t n = 0;
	if (t->group_by != GROUP_ROOT || a->x.chain.n != 2 || !said->lock ||
	    !link_held_lock(&a->x, explanation_root(&a->x)))
		return a->group->count;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++)
		n += row->lock == said->lock && row->holder.comm == said->holder.comm;
	return n > a->group->count ? n : a->group->count;
}

static void put_sentence(struct answer *a)
{
	a->ncomms = 0;
	put_subject(a);
	if (a->family) {
		describe_family(a->b, a->t, (unsigned)a->brief);
	} else if (a->t->group_by != GROUP_ROOT) {
		describe_group(a->b, a->t, a->group);
	} else if (a->x.chain.n == 1) {
		put_alone(a);
		put_share(a, 1);
		put_held_up(a);
	} else {
		put_chain(a);
	}
	put(a, ".");
}

/* Put the sentence, and leave things out until it is short, or there is nothing more to leave
 * out. Its length. */
static size_t put_shortest(struct answer *a, size_t begin, int levels)
{
	struct buf *b = a->b;
	size_t chars = 0;
	for (a->brief = 0; !buf_failed(b) && a->brief < levels; a->brief++) {
		b->n = begin;
		put_sentence(a);
		chars = buf_failed(b) ? 0 : escape_chars(b->v + begin, b->n - begin);
		if (chars <= MOST_CHARS)
			break;
	}
	return chars;
}

int tail_answer(struct buf *b, struct tail *t, struct err *e)
{
	struct answer a = {.b = b, .t = t, .group = t->groups.v};
	if (t->slow.cycles)
		describe_slow_time(b, t->tl, &t->slow);
	size_t begin = b->n;
	if (!t->groups.n)
		return buf_failed(b) ? err_nomem(e) : 0;
	a.said = speaker_of(t, a.group);
	int r = explain(t->explainer, &t->episodes.v.v[a.said->episode], &a.x, e);
	if (r) {
		explanation_release(&a.x);
		return r;
	}
	a.told = count_told(&a);
	const struct tail_family *f = &t->family;
	a.family = f->leads && f->count > a.told;
	if (!a.family && put_shortest(&a, begin, BRIEF_LEVELS) > TOO_LONG)
		a.family = f->count >= a.told;
	if (a.family) {
		a.told = f->count;
		put_shortest(&a, begin, FAMILY_LEVELS);
	}
	if (a.family)
		describe_family_takers(b, t);
	if (t->group_by == GROUP_ROOT)
		describe_host(b, t->tl, &a.x);
	explanation_release(&a.x);
	return buf_failed(b) ? err_nomem(e) : 0;
}

int tail_answer_names_cause(const struct tail *t)
{
	if (!t->groups.n || t->group_by != GROUP_ROOT)
		return 0;
	const struct tail_root *root = &t->rows.v[t->groups.v[0].row].root;
	return root->via != VIA_SELF || root->mechanism || root->vector ||
	       root->end == END_DEVICE || root->end == END_QUOTA || root->end == END_IDLE_EXIT;
}
