#include "libtime/explain/told_family.h"
#include "libtime/explain/family.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/explain/told_several.h"
#include "libtime/explain/wait_object.h"

/* " in 4 of them", unless it is so in all. */
static void tell_some(struct told *to, const struct tail *t, uint64_t n)
{
	if (n < t->family.count)
		TELL(to, IN_SOME, arg_number("n", n));
}

/* The thread name that kept most of the family waiting, and what it did meanwhile if that is
 * known; 0: none did. */
static uint32_t main_holder(const struct tail *t, const struct mechanism **doing)
{
	uint32_t comm = 0;
	uint64_t lead = 0, n = 0;
	*doing = NULL;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		if (!family_has(t, row) || row->holder.kind != HOLDER_WAKER)
			continue;
		comm = lead ? comm : row->holder.comm; /* a majority vote */
		lead += row->holder.comm == comm ? 1 : (uint64_t)-1;
	}
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++)
		if (family_has(t, row) && row->holder.kind == HOLDER_WAKER &&
		    row->holder.comm == comm) {
			n++;
			*doing = *doing ? *doing : row->holder.doing;
		}
	return n * 2 > t->family.count ? comm : 0;
}

/* ", which VM Thread held for GC". */
static void tell_holder(struct told *to, const struct tail *t, const struct tail_row *row,
			const struct mechanism *m)
{
	const struct mechanism *doing;
	const char *verb = words_of_wait(t->tl, row->cause, row->path).verb;
	uint32_t comm = main_holder(t, &doing);
	verb = m && *m->verb ? m->verb : m && row->cause != CAUSE_SAFEPOINT ? NULL : verb;
	if (!comm || !verb)
		return;
	TELL(to, WHICH_DID, arg_string("thread", comm), arg_word("did", verb));
	if (doing)
		TELL(to, DOING, arg_mechanism(doing));
}

/* "waiting for a lock (book) in append()". */
static void tell_wanted(struct told *to, const struct tail *t, const struct tail_row *row)
{
	const struct mechanism *m = t->family.mixed ? NULL : row->wanted;
	told_waiting(to, t->tl, row->cause, row->path, m);
	uint32_t function = row->path ? appframe_reported(t->tl, row->path) : 0;
	to->until = BRIEF_SYSCALLS;
	if (function && (!m || row->cause == CAUSE_IO))
		TELL(to, IN, arg_frame("function", TOLD_SHORT, function));
	to->until = BRIEF_NOT;
	if (row->lock && !m && row->offcpu != TL_NONE)
		told_lock_name(to, t->tl, row->offcpu, row->path);
	to->until = BRIEF_NAMES;
	if (!row->lock)
		tell_holder(to, t, row, m);
	to->until = BRIEF_NOT;
}

/* "; its holder lacked a CPU in 43 of them". */
static void tell_lacked(struct told *to, const struct tail *t, const struct tail_row *worst)
{
	const struct tail_family *f = &t->family;
	int lock = ended_lock(VIA_WAKER, worst->cause, worst->wanted);
	int next = f->next_cpu * 2 > f->cpu_count;
	if (f->own_cpu * 2 > f->cpu_count)
		TELL_BARE(to, THEN_FOR_CPU);
	else if (lock)
		told_say(to, next ? TOLD_HOLDER_LACKED : TOLD_HOLDERS_LACKED, NULL, 0);
	else
		told_say(to, next ? TOLD_WAKER_LACKED : TOLD_CPU_LACKING, NULL, 0);
	tell_some(to, t, f->cpu_count);
}

/* " (64 % of the time)", of a family that is not most of the episodes. */
static void tell_share(struct told *to, const struct tail *t)
{
	uint64_t all = 0, own = 0;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		uint64_t ns = episode_ns(&t->episodes.v.v[row->episode]);
		all += ns;
		own += family_has(t, row) ? ns : 0;
	}
	if (t->family.count * 2 <= t->rows.n && all)
		TELL(to, SHARE, arg_number("percent", told_percent(own, all)));
}

static int taker_records(const struct tail *t)
{
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++)
		if (family_has(t, row) && row->root.via == VIA_CPU &&
		    row->root.process == t->family.taker &&
		    told_is_recorder(t->tl, row->root.thread))
			return 1;
	return 0;
}

/* Who had the CPU that they waited for. */
static void tell_taker(struct told *to, const struct tail *t)
{
	const struct tail_family *f = &t->family;
	if (told_crowd(to, t, NULL))
		return;
	if (f->taken * 2 < f->count) {
		TELL_BARE(to, SEVERAL_USED);
		return;
	}
	TELL(to, TAKER_HAD, arg_string("thread", f->taker));
	tell_some(to, t, f->taken);
	if (taker_records(t))
		TELL_BARE(to, TO_RECORD);
}

void told_family(struct told *to, const struct tail *t)
{
	const struct tail_family *f = &t->family;
	const struct tail_row *worst = &t->rows.v[f->row];
	int blocked = worst->state == PART_BLOCKED;
	if (blocked) {
		tell_wanted(to, t, worst);
		tell_share(to, t);
	} else {
		TELL_BARE(to, WANTS_CPU);
	}
	to->until = BRIEF_NAMES;
	if (!blocked)
		tell_taker(to, t);
	else if (f->cpu_count * 2 >= f->count)
		tell_lacked(to, t, worst);
	to->until = BRIEF_NOT;
}

void told_family_takers(struct told *to, const struct tail *t)
{
	const struct tail_family *f = &t->family;
	if (t->rows.v[f->row].state == PART_BLOCKED && f->cpu_count * 2 >= f->count &&
	    f->taken * 2 >= f->cpu_count)
		TELL(to, TAKER_OF, arg_string("thread", f->taker), arg_number("n", f->taken));
}
