#include "libtime/causes/causes.h"
#include "libtime/explain/family.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/explain/told_family.h"
#include "libtime/explain/told_several.h"
#include "libtime/explain/wait_object.h"
#include "libtime/sched/timeline_parts.h"

#include <string.h>

/* The sentence under construction. */
struct answer {
	struct told *to;
	struct tail *t;
	const struct tail_group *group;
	const struct tail_row *said; /* the row that speaks for the group */
	const struct explanation *x; /* of it */
	uint32_t comms[2];           /* of the threads that waited */
	size_t ncomms;               /* may exceed the array */
	uint64_t told;               /* episodes of which the sentence is true */
	int family;                  /* 1: what they waited for, not one root */
	int locked;                  /* 1: the lock that one thread held, whatever it did */
};

static const struct told_arg absent = {.kind = TOLD_ABSENT};

/* Clauses to come are left out from that level of brevity on; BRIEF_NOT: never. */
static void only_until(struct answer *a, enum told_brief level)
{
	a->to->until = (uint8_t)level;
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

static int is_told(const struct answer *a, const struct tail_row *row);

/* The program of all of which the sentence is true; 0 if there are several. */
static uint32_t program_told(const struct answer *a)
{
	const struct tail *t = a->t;
	uint32_t name = 0;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		uint32_t thread = t->episodes.v.v[row->episode].thread;
		if (!is_told(a, row))
			continue;
		if (thread == TL_NONE || (name && t->process_of.v[thread] != name))
			return 0;
		name = t->process_of.v[thread];
	}
	return name;
}

/* "6 of 9 worst waits of high: " */
static void tell_subject(struct answer *a)
{
	const struct tail *t = a->t;
	const struct episode_query *q = &t->episodes.query;
	size_t n = t->rows.n;
	int unlike = n > 1 && t->groups.n == n && a->told == a->group->count &&
		     t->group_by == GROUP_ROOT && !a->family;
	struct told_arg of = q->kind == EPISODE_SPAN
				     ? arg_string("span", q->span)
				     : arg_word("kind", episode_kind_name(q->kind));
	if (n == 1)
		TELL(a->to, THE_WORST, of);
	else if (a->told == 1 && !a->group->row)
		TELL(a->to, THE_LONGEST, arg_number("all", n), of);
	else
		TELL(a->to, OF_THE_WORST, arg_number("n", a->told), arg_number("all", n), of);
	for (size_t i = 0; i < n; i++)
		note_comm(a, t->episodes.v.v[t->rows.v[i].episode].comm);
	uint32_t process = a->ncomms > 2 ? one_process(a) : 0;
	int named = a->ncomms <= 2 || process;
	uint32_t program = named ? 0 : program_told(a);
	if (program) {
		TELL(a->to, ALL_OF, arg_string("who", program));
		return;
	}
	struct told_arg who[] = {named ? arg_string("who", process ? process : a->comms[0])
				       : absent,
				 a->ncomms == 2 ? arg_string("other", a->comms[1]) : absent};
	told_say(a->to, unlike ? TOLD_OF_WHOM_UNLIKE : TOLD_OF_WHOM, who, 2);
}

/* --- what held them up ---------------------------------------------------------------- */

static const struct chain_part *root_part(const struct answer *a)
{
	return link_part(a->x, explanation_root(a->x));
}

/* " burn() < copy_database()"; in few words the caller alone, which says what was done. */
static void tell_function(struct answer *a, enum told_form form, const struct chain_part *p)
{
	const struct timeline *tl = a->t->tl;
	struct told_arg function = arg_frame(
		"function", TOLD_SHORT,
		told_function(tl, p->state == PART_BLOCKED ? p->cause : (unsigned)CAUSE_UNKNOWN,
			      p->path, p->function));
	uint32_t caller =
		p->state == PART_RUNNING &&
				told_same_name(tl, appframe_reported(tl, p->path), p->function)
			? appframe_named_caller(tl, p->path)
			: 0;
	only_until(a, caller ? BRIEF_CALLERS : BRIEF_NOT);
	told_say(a->to, form, &function, 1);
	if (!caller)
		return;
	function = arg_frame("function", TOLD_SHORT, caller);
	told_say(a->to, TOLD_CALLED_BY, &function, 1);
	only_until(a, BRIEF_NOT);
	a->to->from = BRIEF_CALLERS;
	told_say(a->to, form, &function, 1);
	a->to->from = BRIEF_NOT;
}

/* The interrupt or function of the root, where it is known. */
static void tell_place(struct answer *a, enum told_form form)
{
	const struct chain_part *p = root_part(a);
	struct told_arg none = arg_frame("function", TOLD_SHORT, 0);
	if (p->vector)
		told_say(a->to, form, (struct told_arg[]){arg_string("vector", p->vector)}, 1);
	else if (a->group->unnamed)
		told_say(a->to, form, &none, 1);
	else
		tell_function(a, form, p);
}

/* " in ftruncate()", of the root. */
static void tell_root_call(struct answer *a, const struct chain_part *p)
{
	only_until(a, BRIEF_SYSCALLS);
	if (!p->vector && !explanation_root(a->x)->guessed)
		told_syscall(a->to, a->t->tl, p->path, a->group->unnamed ? 0 : p->function);
	only_until(a, BRIEF_NOT);
}

/* The root's time on a CPU, or blocked, if it is most of what it did when it had a CPU. */
static const struct chain_part *behind_queue(const struct answer *a)
{
	const struct chain_link *l = explanation_root(a->x);
	for (uint32_t i = 1; i < l->nparts; i++) {
		const struct chain_part *p = &a->x->parts.v[l->part + i];
		if (p->state == PART_RUNNING && p->function)
			return l->via != VIA_SELF && p->ns >= l->ns / 8 ? p : NULL;
	}
	return NULL;
}

/* "running build(), without a CPU for 60 % of the time". */
static int tell_slowed(struct answer *a)
{
	const struct chain_link *l = explanation_root(a->x);
	const struct chain_part *queue = root_part(a), *ran = behind_queue(a);
	if (!ran || a->group->unnamed)
		return 0;
	tell_function(a, TOLD_RUNNING, ran);
	tell_root_call(a, ran);
	unsigned percent = told_percent(queue->ns, l->ns);
	only_until(a, percent < 50 ? BRIEF_NOT : BRIEF_WAITER);
	TELL(a->to, QUEUED_PART, arg_number("percent", percent));
	only_until(a, BRIEF_NOT);
	if (percent < 50)
		return 1;
	a->to->from = BRIEF_WAITER;
	TELL_BARE(a->to, MOSTLY_QUEUED);
	a->to->from = BRIEF_NOT;
	return 1;
}

/* What the root did: "asleep in write_pages()". */
static void tell_doing(struct answer *a)
{
	const struct chain_part *p = root_part(a);
	switch (p ? p->state : PART_UNKNOWN) {
	case PART_RUNNING:
		tell_place(a, p->end == END_IRQ ? TOLD_INTERRUPTED : TOLD_RUNNING);
		if (p->function)
			tell_root_call(a, p);
		if (p->mechanism)
			TELL(a->to, OF_MECHANISM, arg_mechanism(p->mechanism));
		return;
	case PART_RUNNABLE:
		if (p->end == END_IDLE_EXIT)
			told_idle_cpu(a->to, explainer_evidence(a->t->explainer), p);
		else if (tell_slowed(a))
			return;
		else
			TELL_BARE(a->to, WANTS_CPU);
		break;
	case PART_PREEMPTED:
		TELL_BARE(a->to, BY_QUOTA);
		told_quota(a->to, a->t->tl, explanation_root(a->x)->thread, 0);
		break;
	case PART_BLOCKED:
		told_waiting(a->to, a->t->tl, p->cause, p->path, p->mechanism);
		break;
	default:
		return;
	}
	tell_place(a, TOLD_PLACE);
	if (p->state != PART_BLOCKED || p->offcpu == TL_NONE)
		return;
	if (p->cause == CAUSE_LOCK || p->cause == CAUSE_RWLOCK)
		told_lock_name(a->to, a->t->tl, p->offcpu, p->path);
	only_until(a, p->cause == CAUSE_IO ? BRIEF_NOT : BRIEF_TARGETS);
	told_target(a->to, a->t->tl, &a->t->tl->offcpu.v[p->offcpu], 1);
	told_disk(a->to, explainer_evidence(a->t->explainer), p->offcpu, 1);
	only_until(a, BRIEF_NOT);
}

/* The name of all threads that waited as the row which speaks, or 0. */
static uint32_t one_waiter(const struct answer *a)
{
	const struct tail *t = a->t;
	uint32_t comm = t->episodes.v.v[a->said->episode].comm;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++)
		if (row->group == a->group->id && row->relations == a->said->relations &&
		    t->episodes.v.v[row->episode].comm != comm)
			return 0;
	return comm;
}

/* Who waited for the i-th link: for the first the threads of the question, or those of one name
 * that did. */
static struct told_arg waiter(const struct answer *a, size_t i)
{
	uint32_t name = i > 1 ? a->x->chain.v[i - 1].comm : one_waiter(a);
	return name ? arg_string("waiter", name)
		    : arg_word("waiter", a->group->count == 1 ? "it" : "they");
}

/* " in append_line()", where the thread waits that the i-th link held up. */
static void tell_where(struct answer *a, size_t i)
{
	uint32_t function = appframe_reported(a->t->tl, a->x->chain.v[i - 1].path);
	if (!function || i > 1 || !a->t->tl->stacks->frames.v[function].name)
		return;
	only_until(a, BRIEF_WAITER);
	TELL(a->to, IN, arg_frame("function", TOLD_SHORT, function));
	only_until(a, BRIEF_NOT);
}

/* "low held the lock that high wanted in append_line()". */
static void tell_lock_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x->chain.v[i];
	const struct mechanism *m = link_mechanism(a->x, l - 1);
	struct told_arg args[] = {arg_string("thread", l->comm),
				  m ? arg_mechanism(m) : arg_word("what", "the lock"),
				  waiter(a, i)};
	uint32_t own = i > 1 ? a->x->chain.v[i - 1].comm : one_waiter(a);
	told_say(a->to,
		 own == l->comm ? TOLD_HELD_ALIKE
		 : m || own     ? TOLD_HELD_THAT
				: TOLD_HELD,
		 args, own == l->comm ? 2 : 3);
	if (!l->doing)
		tell_where(a, i);
	if (!m)
		told_lock_name(a->to, a->t->tl, l[-1].offcpu, l[-1].path);
	if (l->doing)
		TELL(a->to, OF_MECHANISM, arg_mechanism(l->doing));
}

static int is_plural(const struct answer *a, size_t i)
{
	return i == 1 && !one_waiter(a) && a->group->count != 1;
}

/* "front waited in convert() for its child helper to exit". */
static void tell_exit_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x->chain.v[i];
	const char *role = l[-1].cause == CAUSE_JOIN               ? "joined"
			   : waited_for_exec(a->t->tl, l[-1].path) ? "started"
								   : "child";
	TELL(a->to, TO_EXIT, arg_word("its", is_plural(a, i) ? "their" : "its"),
	     arg_string(role, l->comm));
}

/* "front was frozen until freezer thawed it". */
static void tell_stop_role(struct answer *a, size_t i, const struct mechanism *m)
{
	struct told_arg args[] = {waiter(a, i),
				  m ? arg_mechanism(m) : arg_word("what", "stopped"),
				  arg_string("thread", a->x->chain.v[i].comm),
				  arg_word("did", m ? m->verb : "woke it")};
	told_say(a->to, is_plural(a, i) ? TOLD_WERE_UNTIL : TOLD_WAS_UNTIL, args, 4);
}

/* May a long sentence say "waiting for a semaphore, which archiver posted, running write()" of
 * the i-th link? If its subject, of one name, waited for that link and no other, and what the
 * root did is no wait of its own: another "waiting" would seem to be the subject's. */
static int is_plain(const struct answer *a, size_t i)
{
	const struct chain_part *p = root_part(a);
	return i == 1 && a->ncomms == 1 && a->x->chain.n == 2 && p &&
	       ((p->state == PART_RUNNING && p->end != END_IRQ) ||
		(p->state == PART_BLOCKED && p->cause == CAUSE_SLEEP && !p->mechanism));
}

/* "front waited", or in a long sentence about front "waiting". */
static void tell_waited(struct answer *a, size_t i)
{
	only_until(a, is_plain(a, i) ? BRIEF_PLAIN : BRIEF_NOT);
	TELL(a->to, WAITED, waiter(a, i));
	only_until(a, BRIEF_NOT);
	if (!is_plain(a, i))
		return;
	a->to->from = BRIEF_PLAIN;
	TELL_BARE(a->to, WAITING);
	a->to->from = BRIEF_NOT;
}

/* "front waited for room in a full pipe, which reader emptied". */
static void tell_wait_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x->chain.v[i];
	const struct mechanism *m = link_mechanism(a->x, l - 1);
	struct wait_words w = words_of_wait(a->t->tl, l[-1].cause, l[-1].path);
	struct told_arg what = arg_word("what", w.object);
	if (l[-1].cause == CAUSE_STOPPED) {
		tell_stop_role(a, i, m);
		return;
	}
	if (m && *m->verb) {
		what = arg_mechanism(m);
		w.verb = m->verb;
	}
	tell_waited(a, i);
	tell_where(a, i);
	if (l[-1].cause == CAUSE_CHILD || l[-1].cause == CAUSE_JOIN) {
		tell_exit_role(a, i);
		return;
	}
	if (!what.kind || l->via == VIA_TURN) {
		TELL(a->to, FOR_THREAD, arg_string("thread", l->comm));
		return;
	}
	TELL(a->to, FOR_WHICH, what, arg_string("thread", l->comm), arg_word("did", w.verb));
	if (l->doing)
		TELL(a->to, DOING, arg_mechanism(l->doing));
}

/* Does the i-th link's role leave its name at the end, so that ", which was" may follow? */
static int ends_in_name(const struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x->chain.v[i];
	const struct mechanism *m = link_mechanism(a->x, l - 1);
	return !(m && *m->verb) &&
	       (l->via == VIA_TURN ||
		!words_of_wait(a->t->tl, l[-1].cause, l[-1].path).object) &&
	       l[-1].cause != CAUSE_CHILD && l[-1].cause != CAUSE_JOIN &&
	       l[-1].cause != CAUSE_STOPPED;
}

/* " that front gave away in take() (sched_yield)". */
static void tell_yield(struct answer *a, size_t i)
{
	uint32_t offcpu = a->x->chain.v[i - 1].offcpu;
	if (offcpu == TL_NONE || a->t->tl->offcpu.v[offcpu].cause != CAUSE_YIELD)
		return;
	TELL(a->to, GAVE_AWAY, waiter(a, i));
	tell_where(a, i);
	TELL_BARE(a->to, BY_YIELD);
}

static void tell_role(struct answer *a, size_t i)
{
	const struct chain_link *l = &a->x->chain.v[i];
	if (l->via == VIA_CPU) {
		uint32_t name = i + 1 == a->x->chain.n ? a->said->root.process : l->comm;
		struct told_arg who = arg_string("thread", name);
		int recorder = told_is_recorder(a->t->tl, l->thread);
		told_say(a->to, recorder ? TOLD_RECORDER_HAD : TOLD_HAD_THE_CPU, &who, 1);
		tell_yield(a, i);
	} else if (link_held_lock(a->x, l)) {
		tell_lock_role(a, i);
	} else {
		tell_wait_role(a, i);
	}
}

/* ", which several threads used in turn", of the CPU that the root waited for; if threads of
 * one name had most of it, by that name. */
static void tell_takers(struct answer *a)
{
	const struct explanation *x = a->x;
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
	struct told_arg args[] = {arg_number("n", n), arg_string("thread", comm)};
	if (most * 2 <= all || n < 2)
		TELL_BARE(a->to, SEVERAL_USED);
	else
		told_say(a->to,
			 comm == explanation_root(x)->comm ? TOLD_NAMED_OTHERS_USED
							   : TOLD_NAMED_USED,
			 args, 2);
}

/* " in 4 of them", unless it is so in all. */
static void tell_in_some(struct answer *a, uint64_t n)
{
	if (n < a->group->count)
		TELL(a->to, IN_SOME, arg_number("n", n));
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
	a->to->failed = r < 0 ? ERR_NOMEM : a->to->failed;
	return r > 0 ? o->waker : TL_NONE;
}

/* ", which one of 3 threads named render let go last in 4 of them". */
static void tell_last_holder(struct answer *a)
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
	struct told_arg args[] = {arg_string("thread", threads[last].comm), arg_number("n", n)};
	told_say(a->to,
		 n == 16 ? TOLD_SOME_LET_GO
		 : n > 1 ? TOLD_ONE_LET_GO
			 : TOLD_LET_GO,
		 args, n > 1 && n < 16 ? 2 : 1);
	tell_in_some(a, rows);
}

/* ", which render and 2 others held in turn"; of several episodes how many were so, not how
 * many others there were. */
static void tell_several(struct answer *a, const struct chain_part *p)
{
	uint32_t comm = a->said->root.holder_comm;
	uint64_t n = 0;
	for (size_t i = 0; i < a->t->rows.n; i++) {
		const struct tail_row *row = &a->t->rows.v[i];
		n += row->group == a->group->id && row->root.holders > 1 &&
		     row->root.holder_comm == comm;
	}
	if (a->group->count == 1)
		TELL(a->to, AND_N_HELD, arg_string("thread", comm),
		     arg_number("n", a->said->root.holders - 1));
	else
		TELL(a->to, AND_OTHERS_HELD, arg_string("thread", comm));
	if (p->cause != CAUSE_RWLOCK) /* readers share it */
		TELL_BARE(a->to, IN_TURN);
	tell_in_some(a, n);
}

/* ", whose holder was not seen". */
static void tell_no_holder(struct answer *a)
{
	uint64_t n = 0;
	for (size_t i = 0; i < a->t->rows.n; i++)
		n += a->t->rows.v[i].group == a->group->id &&
		     a->t->rows.v[i].root.end == END_TIMED_OUT;
	TELL_BARE(a->to, HOLDER_UNSEEN);
	tell_in_some(a, n);
}

/* What is known of the holders of the lock that the root waited for. */
static void tell_holders(struct answer *a, const struct chain_part *p)
{
	if (p->cause == CAUSE_RWLOCK && told_readers(a->to, a->t, a->group))
		return;
	if (p->end == END_TIMED_OUT)
		tell_no_holder(a);
	else if (a->said->root.holders > 1)
		tell_several(a, p);
	else
		tell_last_holder(a);
	told_crowd(a->to, a->t, a->group);
}

/* No other thread is the root. */
static void tell_alone(struct answer *a)
{
	const struct chain_part *p = root_part(a);
	if (a->ncomms > 1) {
		TELL(a->to, NAME, arg_string("name", explanation_root(a->x)->comm));
		TELL_BARE(a->to, SPACE);
	}
	if (!p || p->state == PART_UNKNOWN) {
		TELL_BARE(a->to, UNKNOWN);
		if (p && p->end == END_SUSPECT)
			TELL_BARE(a->to, RECORDS_MISSING);
		else if (p && p->end == END_NO_WAKE)
			TELL_BARE(a->to, WAKEUP_MISSING);
		return;
	}
	if (p->state == PART_PREEMPTED) {
		TELL_BARE(a->to, BY_ITS_QUOTA);
		told_quota(a->to, a->t->tl, explanation_root(a->x)->thread, 0);
		return;
	}
	tell_doing(a);
	if (p->state == PART_RUNNABLE && p->actors > 1) {
		if (!told_crowd(a->to, a->t, a->group))
			tell_takers(a);
	} else if (p->state == PART_BLOCKED &&
		   (p->cause == CAUSE_LOCK || p->cause == CAUSE_RWLOCK)) {
		tell_holders(a, p);
	}
}

/* What leads from the root's role to what it did. */
static void tell_link(struct answer *a, const struct chain_link *root)
{
	struct told_arg name = arg_string("thread", root->comm);
	if (root->via == VIA_CPU || link_held_lock(a->x, root)) {
		TELL_BARE(a->to, COMMA);
		if (a->told > a->group->count)
			TELL(a->to, IN_N_OF_THEM, arg_number("n", a->group->count));
	} else if (ends_in_name(a, a->x->chain.n - 1)) {
		TELL_BARE(a->to, WHICH_WAS);
	} else if (root[-1].cause == CAUSE_STOPPED) {
		TELL(a->to, THREAD_WAS, name);
	} else {
		only_until(a, BRIEF_NAMES);
		TELL(a->to, THREAD_WAS, name);
		only_until(a, BRIEF_NOT);
		int plain = is_plain(a, a->x->chain.n - 1);
		a->to->from = BRIEF_NAMES;
		only_until(a, plain ? BRIEF_PLAIN : BRIEF_NOT);
		TELL_BARE(a->to, IT_WAS);
		only_until(a, BRIEF_NOT);
		a->to->from = BRIEF_PLAIN;
		if (plain)
			TELL_BARE(a->to, COMMA);
		a->to->from = BRIEF_NOT;
	}
}

/* ", collecting garbage in 6 of them": what most roots of a group did that ran functions of
 * several names. 0 if that is not known. */
static int tell_common_doing(struct answer *a)
{
	const struct mechanism *most = NULL;
	uint64_t lead = 0, n = 0;
	for (size_t i = 0; i < a->t->rows.n; i++) {
		const struct tail_row *row = &a->t->rows.v[i];
		if (row->group != a->group->id)
			continue;
		most = lead ? most : row->root.mechanism; /* Boyer and Moore's majority vote */
		lead += row->root.mechanism == most ? 1 : (uint64_t)-1;
	}
	for (size_t i = 0; most && i < a->t->rows.n; i++) {
		const struct tail_row *row = &a->t->rows.v[i];
		n += row->group == a->group->id && row->root.mechanism == most &&
		     row->root.state == PART_RUNNING;
	}
	if (n * 2 <= a->group->count)
		return 0;
	TELL(a->to, OF_MECHANISM, arg_mechanism(most));
	tell_in_some(a, n);
	return 1;
}

/* What the root did, after its role: ", asleep in f()", "; reader was asleep in f()", "; what
 * reader did is unknown".
 * 0 when it adds nothing. */
static int tell_root(struct answer *a)
{
	const struct chain_link *root = explanation_root(a->x);
	const struct chain_part *p = root_part(a);
	const struct mechanism *m = link_mechanism(a->x, root - 1);
	int did = root->via == VIA_CPU || m || link_held_lock(a->x, root) ||
		  !ends_in_name(a, a->x->chain.n - 1);
	int unnamed = p && p->state == PART_RUNNING && !p->function;
	if (did && a->group->unnamed)
		return tell_common_doing(a);
	if (did && unnamed)
		return 0;
	if (!p || p->state == PART_UNKNOWN) {
		TELL(a->to, DID_UNKNOWN, arg_string("thread", root->comm));
		return 1;
	}
	if (did && p->state == PART_BLOCKED && p->cause == CAUSE_UNKNOWN && !p->mechanism)
		return 0;
	tell_link(a, root);
	tell_doing(a);
	return 1;
}

/* " (35 % of the time)", if the roots of the group, or what they mostly did (`did`), explain
 * only a part. */
static void tell_share(struct answer *a, int did)
{
	uint64_t ns = 0;
	for (size_t i = 0; i < a->t->rows.n; i++) {
		const struct tail_row *row = &a->t->rows.v[i];
		if (row->group == a->group->id)
			ns += did ? row->root.part_ns : row->root.ns;
	}
	if (ns && a->told == a->group->count && ns < a->group->ns / 4 * 3 &&
	    !(did && a->group->unnamed))
		TELL(a->to, SHARE, arg_number("percent", told_percent(ns, a->group->ns)));
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
		     (a->x->chain.n == 2 ? row->relations == a->said->relations
					 : row->chain == a->said->chain);
	}
	return n;
}

/* ", in 6 of them", unless it is so in all. */
static void tell_alike(struct answer *a, enum told_form form)
{
	uint64_t n = count_alike(a);
	if (n != a->group->count && a->told <= a->group->count)
		told_say(a->to, form, (struct told_arg[]){arg_number("n", n)}, 1);
}

/* Of a root's own waits: who waited for it meanwhile. */
static void tell_held_up(struct answer *a)
{
	uint64_t others = a->group->count - count_alike(a);
	struct told_arg name = arg_string("thread", explanation_root(a->x)->comm);
	tell_alike(a, TOLD_ALIKE);
	if (others > 1)
		TELL(a->to, OTHERS_WAITED, arg_number("n", others), name);
	else if (others)
		TELL(a->to, OTHER_WAITED, name);
}

/* "front waited in update() for a lock (scene), which 3 readers named render held in overlapping
 * turns, asleep in draw()": no one of them held it up. 0 if it is not so. */
static int tell_readers(struct answer *a)
{
	size_t clauses = a->to->v.n;
	if (a->x->chain.n != 2 || a->x->chain.v[0].cause != CAUSE_RWLOCK ||
	    !link_held_lock(a->x, explanation_root(a->x)))
		return 0;
	tell_waited(a, 1);
	tell_where(a, 1);
	TELL_BARE(a->to, FOR_A_LOCK);
	told_lock_name(a->to, a->t->tl, a->x->chain.v[0].offcpu, a->x->chain.v[0].path);
	if (!told_readers(a->to, a->t, a->group)) {
		a->to->v.n = clauses;
		return 0;
	}
	tell_root(a);
	return 1;
}

/* After a thread that had the CPU comes the thread that wanted it; otherwise what the root did
 * precedes the threads that it held up. */
static void tell_chain(struct answer *a)
{
	size_t last = a->x->chain.n - 1;
	int cpu = explanation_root(a->x)->via == VIA_CPU;
	if (tell_readers(a))
		return;
	tell_role(a, last);
	if (last == 1 && told_pool(a->to, a->t, a->group))
		return;
	tell_share(a, cpu && last > 1 ? 0 : tell_root(a));
	if (last == 1) {
		if (!cpu)
			tell_alike(a, TOLD_ALIKE_THAT_WAY);
		return;
	}
	tell_alike(a, TOLD_ALIKE);
	TELL_BARE(a->to, WHILE);
	tell_role(a, last - 1);
	if (last > 2)
		TELL(a->to, BEHIND_MORE, arg_number("n", last - 2));
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

/* Is the lock a row's thread wanted the one that the row which speaks wanted, and its holder
 * of the same name? */
static int is_of_lock(const struct answer *a, const struct tail_row *row)
{
	return a->t->group_by == GROUP_ROOT && a->x->chain.n == 2 && a->said->lock &&
	       link_held_lock(a->x, explanation_root(a->x)) && row->lock == a->said->lock &&
	       row->holder.comm == a->said->holder.comm;
}

/* Is the sentence true of a row? */
static int is_told(const struct answer *a, const struct tail_row *row)
{
	return a->family   ? family_has(a->t, row)
	       : a->locked ? is_of_lock(a, row)
			   : row->group == a->group->id;
}

static struct tail_told sum_told(const struct answer *a)
{
	const struct tail *t = a->t;
	struct tail_told sum = {.row = UINT32_MAX};
	for (uint32_t i = 0; i < t->rows.n; i++) {
		if (!is_told(a, &t->rows.v[i]))
			continue;
		sum.row = sum.count++ ? sum.row : i;
		sum.ns += episode_ns(&t->episodes.v.v[t->rows.v[i].episode]);
	}
	return sum;
}

/* Of what the sentence speaks: the family, if that leads; else the group's episodes, or, if
 * they are more, all whose lock the same thread held, whatever it did meanwhile. */
static void choose_told(struct answer *a)
{
	a->locked = 1;
	a->locked = sum_told(a).count > a->group->count;
	a->told = sum_told(a).count;
	a->family = a->t->family.leads && a->t->family.count > a->told;
	a->t->told = sum_told(a);
	a->told = a->t->told.count;
}

static void tell_sentence(struct answer *a)
{
	tell_subject(a);
	if (a->family) {
		told_family(a->to, a->t);
	} else if (a->t->group_by != GROUP_ROOT) {
		told_group(a->to, a->t, a->group);
	} else if (a->x->chain.n == 1) {
		tell_alone(a);
		tell_share(a, 1);
		tell_held_up(a);
	} else {
		tell_chain(a);
	}
	TELL_BARE(a->to, DOT);
}

int told_answer(struct told *to, struct tail *t, size_t *sentence, struct err *e)
{
	struct answer a = {.to = to, .t = t, .group = t->groups.v};
	if (t->slow.cycles)
		told_slow_time(to, t->tl, &t->slow);
	*sentence = to->v.n;
	if (!t->groups.n)
		return to->failed ? err_nomem(e) : 0;
	a.said = speaker_of(t, a.group);
	int r = tail_explain_row(t, (size_t)(a.said - t->rows.v), &a.x, e);
	if (r)
		return r;
	choose_told(&a);
	tell_sentence(&a);
	if (a.family)
		told_family_takers(to, t);
	if (t->group_by == GROUP_ROOT)
		told_host(to, t->tl, a.x);
	return to->failed ? err_nomem(e) : 0;
}

int told_names_cause(const struct tail *t)
{
	if (!t->groups.n || t->group_by != GROUP_ROOT)
		return 0;
	const struct tail_root *root = &t->rows.v[t->groups.v[0].row].root;
	return root->via != VIA_SELF || root->mechanism || root->vector ||
	       root->end == END_DEVICE || root->end == END_QUOTA || root->end == END_IDLE_EXIT;
}
