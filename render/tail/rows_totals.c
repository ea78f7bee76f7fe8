/* rows_totals.c - the sums of all threads, in a sentence. */
#include "render/tail/rows_text.h"
#include "render/tail/site_words.h"
#include "render/text/table.h"
#include "render/text/units.h"

/* The sum of a column over all rows with counts. */
static uint64_t sum_of(const struct rows *r, enum column c)
{
	uint64_t all = 0;
	for (size_t i = 0; i < r->order.n; i++)
		all += rows_get(r, r->order.v[i], c);
	return all;
}

static void put_time(struct buf *b, uint64_t ns, const char *what)
{
	units_duration(b, ns);
	buf_str(b, what);
}

enum { LABEL = 11, WIDTH = 80 };

/* "2 threads: 2.0 ms running, 4.0 ms blocked, 0 ns runnable" */
static void put_brief(struct buf *out, const struct rows *r)
{
	uint64_t unclear = sum_of(r, COL_UNCLEAR), unknown = sum_of(r, COL_UNKNOWN);
	struct buf b = {0};
	units_plural(&b, r->order.n, r->kind->one, r->kind->many);
	buf_str(&b, ": ");
	put_time(&b, sum_of(r, COL_RUN), " running, ");
	put_time(&b, sum_of(r, COL_BLOCKED), " blocked, ");
	if (unclear)
		put_time(&b, unclear, " unclear (?), ");
	put_time(&b, sum_of(r, COL_RUNNABLE), " runnable");
	if (unknown) {
		buf_str(&b, ", ");
		put_time(&b, unknown, " unknown");
	}
	text_wrapped(out, buf_cstr(&b), 0, 2, WIDTH);
	out->failed = buf_failed(&b) ? buf_failed(&b) : out->failed;
	buf_release(&b);
}

void rows_totals(struct buf *out, const struct timeline *tl, const struct rows *r, int brief)
{
	if (brief) {
		put_brief(out, r);
		return;
	}
	uint64_t unclear = sum_of(r, COL_UNCLEAR), idle_waits = sum_of(r, COL_IDLE_WAITS);
	uint64_t waits = sum_of(r, COL_WAITS), stacks = sum_of(r, COL_STACKS);
	uint64_t open = sum_of(r, COL_OPEN), suspect = sum_of(r, COL_SUSPECT);
	struct buf b = {0};
	units_plural(&b, r->order.n, "thread, ", "threads, ");
	units_plural(&b, waits, "wait", "waits");
	if (stacks && stacks < waits) {
		buf_str(&b, ", ");
		units_count(&b, stacks);
		buf_str(&b, " of them with a stack");
	}
	buf_str(&b, ": ");
	put_time(&b, sum_of(r, COL_RUN), " running, ");
	put_time(&b, sum_of(r, COL_BLOCKED), " blocked, ");
	if (unclear)
		put_time(&b, unclear, " unclear, ");
	put_time(&b, sum_of(r, COL_RUNNABLE), " runnable (");
	put_time(&b, sum_of(r, COL_PREEMPTED), " of it preempted), ");
	put_time(&b, sum_of(r, COL_UNKNOWN), " in an unknown state");
	if (idle_waits) {
		buf_str(&b, "; ");
		put_time(&b, sum_of(r, COL_IDLE), " in ");
		units_plural(&b, idle_waits, "wait at rest", "waits at rest");
		buf_str(&b, " not counted");
	}
	if (open || suspect) {
		buf_str(&b, "; ");
		units_count(&b, open);
		buf_str(&b, " open and ");
		units_plural(&b, suspect, "suspect wait", "suspect waits");
		buf_str(&b, " not in the percentiles");
	}
	if (tl->losses.n) {
		buf_str(&b, "; ");
		units_plural(&b, tl->losses.n, "gap", "gaps");
		buf_str(&b, " in the scheduler records");
	}
	if (tl->stray_samples) {
		buf_str(&b, "; ");
		units_plural(&b, tl->stray_samples, "sample", "samples");
		buf_str(&b, " outside of any running interval (wrong clock?)");
	}
	buf_fmt(out, "\n%-*s", LABEL, "scheduler");
	text_wrapped(out, buf_cstr(&b), LABEL, LABEL, WIDTH);
	buf_clear(&b);
	if (describe_unnamed_waits(&b, tl)) {
		buf_fmt(out, "%-*s", LABEL, "symbols");
		text_wrapped(out, buf_cstr(&b), LABEL, LABEL, WIDTH);
	}
	out->failed = buf_failed(&b) ? buf_failed(&b) : out->failed;
	buf_release(&b);
}
