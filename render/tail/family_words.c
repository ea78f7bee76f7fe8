#include "render/tail/family_words.h"
#include "libtime/explain/lock_holders.h"
#include "render/tail/object_words.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

/* " in 4 of them", unless it is so in all. */
static void put_some(struct buf *b, const struct tail *t, uint64_t n)
{
	if (n >= t->family.count)
		return;
	buf_str(b, " in ");
	units_count(b, n);
	buf_str(b, " of them");
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
static void put_holder(struct buf *b, const struct tail *t, const struct tail_row *row,
		       const struct mechanism *m)
{
	const struct mechanism *doing;
	const char *verb = words_of_wait(t->tl, row->cause, row->path).verb;
	uint32_t comm = main_holder(t, &doing);
	verb = m && *m->verb ? m->verb : m && row->cause != CAUSE_SAFEPOINT ? NULL : verb;
	if (!comm || !verb)
		return;
	buf_str(b, ", which ");
	describe_name(b, t->tl, comm);
	buf_fmt(b, " %s", verb);
	if (doing)
		buf_fmt(b, " %s", doing->words);
}

/* "waiting for a lock (book) in append()". */
static void put_wanted(struct buf *b, const struct tail *t, const struct tail_row *row,
		       unsigned level)
{
	const struct mechanism *m = t->family.mixed ? NULL : row->wanted;
	put_waiting(b, t->tl, row->cause, row->path, m);
	uint32_t function = row->path ? appframe_reported(t->tl, row->path) : 0;
	if (level < FAMILY_NO_PLACE && function && (!m || row->cause == CAUSE_IO)) {
		buf_str(b, " in ");
		put_function(b, t->tl, function);
	}
	if (row->lock && !m && row->offcpu != TL_NONE)
		put_lock_name(b, t->tl, row->offcpu, row->path);
	if (!row->lock && level < FAMILY_ALONE)
		put_holder(b, t, row, m);
}

/* "; its holder lacked a CPU in 43 of them". */
static void put_lacked(struct buf *b, const struct tail *t, const struct tail_row *worst)
{
	const struct tail_family *f = &t->family;
	int lock = ended_lock(VIA_WAKER, worst->cause, worst->wanted);
	if (f->own_cpu * 2 > f->cpu_count)
		buf_str(b, ", then for a CPU");
	else if (lock)
		buf_str(b, f->next_cpu * 2 > f->cpu_count ? "; its holder lacked a CPU"
							  : "; its holders lacked a CPU");
	else
		buf_str(b, f->next_cpu * 2 > f->cpu_count ? "; its waker lacked a CPU"
							  : "; a CPU was lacking");
	put_some(b, t, f->cpu_count);
}

/* " (64 % of the time)", of a family that is not most of the episodes. */
static void put_share(struct buf *b, const struct tail *t)
{
	uint64_t all = 0, own = 0;
	for (const struct tail_row *row = t->rows.v; row < t->rows.v + t->rows.n; row++) {
		uint64_t ns = episode_ns(&t->episodes.v.v[row->episode]);
		all += ns;
		own += family_has(t, row) ? ns : 0;
	}
	if (t->family.count * 2 <= t->rows.n && all)
		buf_fmt(b, " (%u %% of the time)",
			(unsigned)(100 * (double)own / (double)all + 0.5));
}

void describe_family(struct buf *b, const struct tail *t, unsigned level)
{
	const struct tail_family *f = &t->family;
	const struct tail_row *worst = &t->rows.v[f->row];
	if (worst->state != PART_BLOCKED) {
		buf_str(b, "waiting for a CPU");
		if (f->taken * 2 >= f->count && level < FAMILY_ALONE) {
			buf_str(b, ", which ");
			describe_name(b, t->tl, f->taker);
			buf_str(b, " had");
			put_some(b, t, f->taken);
		} else if (level < FAMILY_ALONE) {
			buf_str(b, ", which several threads had in turn");
		}
		return;
	}
	put_wanted(b, t, worst, level);
	put_share(b, t);
	if (level < FAMILY_ALONE && f->cpu_count * 2 >= f->count)
		put_lacked(b, t, worst);
}

void describe_family_takers(struct buf *b, const struct tail *t)
{
	const struct tail_family *f = &t->family;
	if (t->rows.v[f->row].state != PART_BLOCKED || f->cpu_count * 2 < f->count ||
	    f->taken * 2 < f->cpu_count)
		return;
	buf_char(b, ' ');
	describe_name(b, t->tl, f->taker);
	buf_str(b, " had that CPU in ");
	units_count(b, f->taken);
	buf_str(b, ".");
}
