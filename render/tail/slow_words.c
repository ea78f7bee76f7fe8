#include "render/tail/slow_words.h"
#include "render/tail/object_words.h"
#include "render/tail/tail_words.h"
#include "render/text/units.h"

static unsigned percent_of(uint64_t ns, uint64_t whole)
{
	return (unsigned)(100 * (double)ns / (double)whole + 0.5);
}

/* ", while flusher had no CPU for 73 % of it": of the running time. */
static void put_stalled(struct buf *b, const struct timeline *tl, const struct slow_time *s)
{
	if (s->stalled == TL_NONE)
		return;
	uint32_t comm = tl->threads.v[s->stalled].comm;
	buf_str(b, comm == s->comm ? ", while another thread named " : ", while ");
	describe_name(b, tl, comm);
	unsigned percent = percent_of(s->stalled_ns, s->run_ns);
	if (percent < 100)
		buf_fmt(b, " had no CPU for %u %% of it", percent);
	else
		buf_str(b, " had no CPU");
}

void describe_slow_time(struct buf *b, const struct timeline *tl, const struct slow_time *s)
{
	unsigned ran = percent_of(s->run_ns, s->ns),
		 in = percent_of(s->in_function, s->samples);
	units_count(b, s->alike);
	buf_str(b, " of ");
	units_count(b, s->cycles);
	buf_str(b, " slowest cycles");
	if (s->comm) {
		buf_str(b, " of ");
		describe_name(b, tl, s->comm);
	}
	buf_fmt(b, " were %u %% running", ran);
	if (s->function) {
		if (in < 100)
			buf_fmt(b, ", %u %% of samples in", in);
		buf_str(b, " ");
		put_function(b, tl, s->function);
	}
	if (s->mechanism)
		buf_fmt(b, ", %s", s->mechanism->words);
	put_stalled(b, tl, s);
	buf_str(b, ". ");
}
