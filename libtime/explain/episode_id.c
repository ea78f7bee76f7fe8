#include "libtime/explain/episode_id.h"
#include "libtime/sched/timeline_parts.h"

#include <inttypes.h>
#include <string.h>

/* The begin of the whole wait or span that an episode is of, from that of the recording. */
static uint64_t began(const struct timeline *tl, enum episode_kind kind,
		      const struct episode *ep)
{
	uint64_t ns = ep->start_ns;
	if (kind == EPISODE_WAIT && ep->at < tl->offcpu.n)
		ns = tl->offcpu.v[ep->at].start_ns;
	else if ((kind == EPISODE_SPAN || kind == EPISODE_WINDOW) && ep->at < tl->spans.n)
		ns = tl->spans.v[ep->at].start_ns;
	if (ep->thread == TL_NONE)
		return ns > tl->rec.origin_ns ? ns - tl->rec.origin_ns : 0;
	return timeline_from_origin(tl, ep->thread, ns);
}

static int64_t number_of(const struct timeline *tl, enum episode_kind kind,
			 const struct episode *ep)
{
	if (kind == EPISODE_GAP)
		return timeline_cpu(tl, ep->cpu);
	return ep->thread == TL_NONE ? 0 : tl->threads.v[ep->thread].tid;
}

void episode_id_put(struct buf *b, const struct timeline *tl, enum episode_kind kind,
		    const struct episode *ep)
{
	uint64_t ns = began(tl, kind, ep);
	buf_fmt(b, "%s:%" PRId64 "+%" PRIu64 ".%09u", episode_kind_name(kind),
		number_of(tl, kind, ep), ns / 1000000000, (unsigned)(ns % 1000000000));
}

/* --- reading ---------------------------------------------------------------------------- */

/* Digits, as a number below 2^48. NULL, or what follows. */
static const char *digits(const char *s, uint64_t *out)
{
	const char *end = s + strspn(s, "0123456789");
	*out = 0;
	if (end == s || end - s > 14)
		return NULL;
	while (s < end)
		*out = *out * 10 + (uint64_t)(*s++ - '0');
	return end;
}

/* ".5392" → ns, and the length of its last digit. */
static const char *fraction(const char *s, struct episode_id *x)
{
	x->within = 1000000000;
	if (*s != '.')
		return s;
	for (s++; *s >= '0' && *s <= '9' && x->within > 1; s++) {
		x->within /= 10;
		x->ns += (uint64_t)(*s - '0') * x->within;
	}
	return s;
}

int episode_id_parse(const char *text, struct episode_id *out)
{
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t seconds;
	*out = (struct episode_id){.any_kind = !colon};
	while (colon && (strlen(episode_kind_name(out->kind)) != n ||
			 memcmp(text, episode_kind_name(out->kind), n)))
		if (++out->kind > EPISODE_GAP)
			return 0;
	const char *s = digits(colon ? colon + 1 : text, &out->number);
	if (!s || *s != '+')
		return 0;
	s = digits(s + 1, &seconds);
	if (!s)
		return 0;
	out->ns = seconds * 1000000000;
	return !*fraction(s, out);
}

int episode_id_fits(const struct timeline *tl, const struct episode_id *id,
		    const struct episode *ep, enum episode_kind kind)
{
	uint64_t from = began(tl, kind, ep), to = from + episode_ns(ep);
	if ((!id->any_kind && id->kind != kind) ||
	    (uint64_t)number_of(tl, kind, ep) != id->number)
		return 0;
	if (from >= id->ns && from - id->ns < id->within)
		return 2;
	return from <= id->ns && id->ns < to;
}

uint32_t episode_id_span(const struct timeline *tl, const struct episode_id *id)
{
	for (uint32_t i = 0; i < tl->spans.n; i++) {
		const struct tl_span *s = &tl->spans.v[i];
		struct episode ep = {.start_ns = s->start_ns,
				     .end_ns = s->end_ns,
				     .thread = s->thread,
				     .at = i};
		struct episode_id any = *id;
		any.any_kind = 1;
		if (episode_id_fits(tl, &any, &ep, EPISODE_SPAN) == 2)
			return s->name;
	}
	return 0;
}
