#include "libtime/population/sample_chart.h"
#include "base/mem.h"
#include "base/radix.h"

#include <stdlib.h>
#include <string.h>

struct charting {
	struct sample_chart *out;
	const struct timeline *tl;
	const struct sample_selection *s;
	uint32_t event;
	int by_cpu;
	VEC(uint32_t) ids;          /* of timeline.samples */
	uint32_t *many;             /* by thread, one more for none: its samples */
	uint64_t from_ns, usual_ns; /* its start; the most that a sample stands for */
};

static const struct tl_sample *sample_at(const struct charting *c, size_t i)
{
	return &c->tl->samples.v[c->ids.v[i]];
}

static uint32_t lane_of(const struct charting *c, const struct tl_sample *s)
{
	return c->by_cpu ? s->cpu : s->thread;
}

static uint32_t samples_of(const struct charting *c, uint32_t thread)
{
	size_t n = c->tl->threads.n;
	return c->by_cpu ? 0 : c->many[thread < n ? thread : n];
}

/* CPUs in their order, of threads those with the most samples first. */
static int by_lane(const void *pa, const void *pb, void *charting)
{
	const struct charting *c = charting;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	uint32_t x = lane_of(c, &c->tl->samples.v[a]), y = lane_of(c, &c->tl->samples.v[b]);
	uint32_t nx = samples_of(c, x), ny = samples_of(c, y);
	if (nx != ny)
		return nx > ny ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return a < b ? -1 : a > b; /* samples are sorted by time */
}

static const char *name_of(const struct charting *c, uint32_t event)
{
	return strtab_get(&c->tl->stacks->strings, c->tl->events.v[event].name);
}

/* A clock's sample stands for its period; another event's for the median distance between
 * samples in a lane. */
static int find_usual(struct charting *c)
{
	const char *unit =
		event_name_unit(name_of(c, c->event), c->tl->events.v[c->event].tracepoint);
	VEC(uint64_t) d = {0};
	int rc = 0, is_time = !strcmp(unit, "ns");
	for (size_t i = is_time ? 0 : 1; i < c->ids.n && !rc; i++) {
		const struct tl_sample *s = sample_at(c, i);
		const struct tl_sample *last = i ? sample_at(c, i - 1) : s;
		if (is_time || lane_of(c, s) == lane_of(c, last))
			rc = vec_push(&d, is_time ? s->period : s->time_ns - last->time_ns);
	}
	if (d.n)
		qsort(d.v, d.n, sizeof(*d.v), order_u64);
	c->usual_ns = d.n && d.v[d.n / 2] ? d.v[d.n / 2] : 1;
	vec_release(&d);
	return rc;
}

static int choose_samples(struct charting *c)
{
	const struct timeline *tl = c->tl;
	for (size_t i = 0; i < tl->samples.n; i++) {
		if (!sample_is_selected(c->s, tl, &tl->samples.v[i]))
			continue;
		if (tl->samples.v[i].event != c->event)
			c->out->left_out++;
		else if (vec_push(&c->ids, (uint32_t)i))
			return ERR_NOMEM;
	}
	return 0;
}

/* First and last sample of the event by its name, of each recording. */
static void find_times(struct charting *c)
{
	const struct timeline *tl = c->tl;
	uint64_t first = 0, last = 0;
	size_t part = 0;
	int any = 0;
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		while (part + 1 < tl->parts.n && i >= tl->parts.v[part + 1].sample_first) {
			c->out->sampled_ns += any ? last - first : 0;
			any = 0;
			part++;
		}
		if (!event_names_match(name_of(c, s->event), name_of(c, c->event)) ||
		    !sample_is_selected(c->s, tl, s))
			continue;
		if (c->out->first_ns == UINT64_MAX)
			c->out->first_ns = s->time_ns;
		first = any ? first : s->time_ns;
		last = s->time_ns;
		any = 1;
	}
	c->out->sampled_ns += any ? last - first : 0;
}

static int add_pieces(struct charting *c)
{
	uint64_t at = 0;
	for (size_t i = 0; i < c->ids.n; i++) {
		const struct tl_sample *s = sample_at(c, i);
		uint64_t end = s->time_ns - c->from_ns;
		if (i && lane_of(c, s) != lane_of(c, sample_at(c, i - 1)))
			at = 0;
		if (end <= at)
			continue;
		struct chart_piece p = {.sample = c->ids.v[i], .ns = end - at};
		if (p.ns > c->usual_ns + c->usual_ns / 2) {
			p.away_ns = p.ns - c->usual_ns;
			p.ns = c->usual_ns;
		}
		if (vec_push(&c->out->v, p))
			return ERR_NOMEM;
		at = end;
	}
	return 0;
}

static int lay_out(struct charting *c)
{
	uint64_t first = sample_at(c, 0)->time_ns, last = sample_at(c, c->ids.n - 1)->time_ns;
	size_t n = c->tl->threads.n;
	c->many = mem_zalloc(n + 1, sizeof(*c->many));
	if (!c->many)
		return ERR_NOMEM;
	for (size_t i = 0; i < c->ids.n; i++)
		c->many[sample_at(c, i)->thread < n ? sample_at(c, i)->thread : n]++;
	qsort_r(c->ids.v, c->ids.n, sizeof(*c->ids.v), by_lane, c);
	if (find_usual(c))
		return ERR_NOMEM;
	c->from_ns = first > c->usual_ns ? first - c->usual_ns : 0;
	c->out->span_ns = last - c->from_ns;
	return add_pieces(c);
}

int sample_chart_make(struct sample_chart *out, const struct timeline *tl,
		      const struct sample_selection *s, uint32_t event, int by_cpu,
		      struct err *e)
{
	struct charting c = {.out = out, .tl = tl, .s = s, .event = event, .by_cpu = by_cpu};
	*out = (struct sample_chart){.first_ns = UINT64_MAX};
	int rc = event < tl->events.n ? choose_samples(&c) : 0;
	out->samples = c.ids.n;
	if (!rc && c.ids.n) {
		find_times(&c);
		rc = lay_out(&c);
	}
	vec_release(&c.ids);
	mem_free(c.many);
	return rc ? err_nomem(e) : 0;
}

void sample_chart_release(struct sample_chart *c)
{
	vec_release(&c->v);
}
