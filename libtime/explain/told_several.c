#include "libtime/explain/told_several.h"
#include "libtime/explain/family.h"
#include "libtime/explain/lock_holders.h"
#include "libtime/explain/several.h"

static const struct told_arg absent = {.kind = TOLD_ABSENT};

static int is_of(const struct tail *t, const struct tail_group *g, const struct tail_row *row)
{
	return g ? row->group == g->id : family_has(t, row);
}

static uint64_t count_of(const struct tail *t, const struct tail_group *g)
{
	return g ? g->count : t->family.count;
}

static struct told_arg arg_name(const char *place, uint32_t comm)
{
	return comm ? arg_string(place, comm) : absent;
}

/* " in 4 of them", unless it is so in all. */
static void tell_some(struct told *to, uint64_t n, uint64_t all)
{
	if (n < all)
		TELL(to, IN_SOME, arg_number("n", n));
}

int told_crowd(struct told *to, const struct tail *t, const struct tail_group *g)
{
	struct crowd first = {0}, c;
	uint64_t rows = 0, least = UINT64_MAX, most = 0, ns = 0, all = count_of(t, g);
	const struct tl_thread *threads = t->tl->threads.v;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		if (!is_of(t, g, row) || row->kept == TL_NONE ||
		    !crowd_find(t->tl, &t->kept.v[row->kept], &c))
			continue;
		first = rows ? first : c;
		if (threads[c.waker].comm != threads[first.waker].comm)
			continue;
		rows++;
		least = c.n < least ? c.n : least;
		most = c.n > most ? c.n : most;
		ns = c.ns > ns ? c.ns : ns;
		first.comm = c.comm == first.comm ? c.comm : 0;
	}
	if (rows * 2 <= all)
		return 0;
	TELL_BARE(to, DOT);
	TELL(to, CROWD, arg_string("thread", threads[first.waker].comm),
	     least < most ? arg_number("least", least) : absent, arg_number("n", most),
	     arg_name("name", first.comm), arg_number("ns", ns));
	uint32_t function = appframe_reported(t->tl, first.path);
	if (function)
		TELL(to, IN, arg_frame("function", TOLD_SHORT, function));
	tell_some(to, rows, all);
	return 1;
}

/* ", running derive_key()", with what called it, but for the outermost function. */
static void tell_work(struct told *to, struct evidence *ev, const struct pool *p)
{
	const struct timeline *tl = ev->tl;
	uint32_t caller = appframe_caller(tl, p->path);
	TELL_BARE(to, COMMA);
	TELL(to, RUNNING, arg_frame("function", TOLD_SHORT, p->function));
	uint32_t node = caller ? appframe_reported_path(tl, p->path) : 0;
	if (node && evidence_function(ev, appframe_reported(tl, p->path)) == p->function &&
	    appframe_is_called(tl, tl->stacks->paths.v[node].parent))
		TELL(to, CALLED_BY, arg_frame("function", TOLD_SHORT, caller));
}

int told_pool(struct told *to, const struct tail *t, const struct tail_group *g)
{
	struct evidence *ev = explainer_evidence(t->explainer);
	struct pool first = {0}, p;
	uint64_t rows = 0, all = count_of(t, g);
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		int full = is_of(t, g, row) && row->kept != TL_NONE
				   ? pool_find(ev, t->episodes.likely, &t->kept.v[row->kept],
					       &p, NULL)
				   : 0;
		to->failed = full < 0 ? ERR_NOMEM : to->failed;
		if (full <= 0)
			continue;
		first = rows ? first : p;
		rows += p.n == first.n && p.comm == first.comm;
		if (p.function != first.function)
			first.function = 0;
	}
	if (rows * 2 <= all)
		return 0;
	TELL_BARE(to, DOT);
	TELL(to, POOL, arg_number("n", first.n), arg_name("thread", first.comm));
	if (first.function)
		tell_work(to, ev, &first);
	tell_some(to, rows, all);
	return 1;
}

int told_readers(struct told *to, const struct tail *t, const struct tail_group *g)
{
	struct evidence *ev = explainer_evidence(t->explainer);
	struct lock_readers first = {0}, x;
	uint64_t rows = 0, all = count_of(t, g);
	uint32_t least = UINT32_MAX, most = 0;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		int r = is_of(t, g, row) && row->offcpu != TL_NONE
				? lock_readers(ev, row->offcpu, &x, NULL)
				: 0;
		to->failed = r < 0 ? ERR_NOMEM : to->failed;
		if (r <= 0)
			continue;
		first = rows++ ? first : x;
		least = x.n < least ? x.n : least;
		most = x.n > most ? x.n : most;
		first.comm = x.comm == first.comm ? x.comm : 0;
	}
	if (rows * 2 <= all)
		return 0;
	struct told_arg n[] = {arg_number(least < most ? "most" : "n", most),
			       arg_name("thread", first.comm)};
	told_say(to, TOLD_READERS, n, 2);
	if (all == 1)
		TELL(to, HELD_SO_LONG, arg_number("ns", first.ns));
	tell_some(to, rows, all);
	return 1;
}
