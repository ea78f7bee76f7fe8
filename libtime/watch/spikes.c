#include "libtime/watch/spikes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *severity_name(unsigned severity)
{
	static const char *const names[] = {"info", "warning", "critical"};
	ENTRIES(names, SEVERITIES);
	return severity < SEVERITIES ? names[severity] : "";
}

enum severity spike_severity(const struct spike_query *q, uint64_t ns)
{
	if (q->crit_ns && ns >= q->crit_ns)
		return SPIKE_CRITICAL;
	return q->warn_ns && ns >= q->warn_ns ? SPIKE_WARNING : SPIKE_INFO;
}

uint64_t watch_bucket_ns(unsigned bucket)
{
	uint64_t ns = 1000;
	for (unsigned i = 0; i < bucket / 2; i++)
		ns *= 10;
	return bucket % 2 ? ns * 3 : ns;
}

/* --- sums ----------------------------------------------------------------------------- */

/* Names that would print alike are one, since a series that is twice in Prometheus' text makes
 * all of it invalid. */
static struct watch_process *process_named(struct watch_counts *c, const char *name)
{
	char plain[WATCH_NAME] = "";
	for (size_t i = 0; i < WATCH_NAME - 1 && name[i]; i++)
		plain[i] = name[i] < ' ' || name[i] > '~' ? '?' : name[i];
	for (size_t i = 0; i < WATCH_PROCESSES && *plain && strcmp(plain, WATCH_OTHER) != 0;
	     i++) {
		struct watch_process *p = &c->process[i];
		if (!*p->name)
			memcpy(p->name, plain, WATCH_NAME);
		if (!strcmp(p->name, plain))
			return p;
	}
	return &c->other;
}

static void add_process(struct watch_process *to, const struct watch_process *more)
{
	for (size_t i = 0; i < SEVERITIES; i++)
		to->spikes[i] += more->spikes[i];
}

void watch_counts_add(struct watch_counts *to, const struct watch_counts *more)
{
	to->waits += more->waits;
	to->wait_ns += more->wait_ns;
	for (size_t i = 0; i <= WATCH_BUCKETS; i++)
		to->bucket[i] += more->bucket[i];
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		to->cause_ns[i] += more->cause_ns[i];
	for (size_t i = 0; i < SEVERITIES; i++)
		to->spikes[i] += more->spikes[i];
	to->longest_ns = more->longest_ns > to->longest_ns ? more->longest_ns : to->longest_ns;
	to->cut += more->cut;
	to->suspect += more->suspect;
	to->suspect_spikes += more->suspect_spikes;
	to->unclear += more->unclear;
	for (size_t i = 0; i < WATCH_PROCESSES && *more->process[i].name; i++)
		add_process(process_named(to, more->process[i].name), &more->process[i]);
	add_process(&to->other, &more->other);
}

/* --- new waits ------------------------------------------------------------------------ */

static int is_new(const struct timeline *tl, const struct spike_query *q,
		  const struct episode *ep)
{
	const char *name = strtab_get(&tl->stacks->strings, ep->comm);
	return ep->end_ns > q->done_ns && ep->end_ns <= q->safe_ns && !ep->ongoing &&
	       (!q->recorder || strncmp(name, q->recorder, strlen(q->recorder)) != 0);
}

static void count_spike(struct watch_counts *c, const struct spike_query *q,
			const struct tail *t, const struct episode *ep)
{
	enum severity s = spike_severity(q, episode_ns(ep));
	const char *name = strtab_get(&t->tl->stacks->strings, t->process_of.v[ep->thread]);
	c->spikes[s]++;
	process_named(c, *name ? name : "?")->spikes[s]++;
	c->cut += (ep->flags & OFF_OPEN) != 0;
	c->longest_ns = episode_ns(ep) > c->longest_ns ? episode_ns(ep) : c->longest_ns;
}

static void count_wait(struct watch_counts *c, const struct offcpu *o, const struct episode *ep)
{
	uint64_t ns = episode_ns(ep), runnable = offcpu_runnable_ns(o);
	unsigned b = 0;
	while (b < WATCH_BUCKETS && ns > watch_bucket_ns(b))
		b++;
	runnable = runnable < ns ? runnable : ns;
	c->waits++;
	c->wait_ns += ns;
	c->bucket[b]++;
	c->cause_ns[o->cause] += ns - runnable;
	c->cause_ns[o->flags & OFF_RUNNING ? CAUSE_PREEMPT : CAUSE_RUNQUEUE] += runnable;
}

static void count_new(struct spikes *s, const struct spike_query *q)
{
	const struct tail *t = &s->tail;
	for (size_t i = 0; i < t->episodes.v.n; i++) {
		const struct episode *ep = &t->episodes.v.v[i];
		if (!is_new(t->tl, q, ep))
			continue;
		if (ep->flags & OFF_SUSPECT) {
			s->counts.suspect++;
			s->counts.suspect_spikes += episode_ns(ep) >= q->over_ns;
			continue;
		}
		count_wait(&s->counts, &t->tl->offcpu.v[ep->at], ep);
		if (episode_ns(ep) >= q->over_ns)
			count_spike(&s->counts, q, t, ep);
	}
}

/* Count long waits of unclear sites, so that no spikes does not look like no problem. */
static uint64_t count_unclear(const struct timeline *tl, const struct spike_query *q)
{
	uint64_t n = 0;
	for (size_t i = 0; i < tl->offcpu.n; i++) {
		const struct offcpu *o = &tl->offcpu.v[i];
		n += o->flags & OFF_UNCLEAR && o->end_ns > q->done_ns &&
		     o->end_ns <= q->safe_ns && offcpu_ns(o) >= q->over_ns &&
		     !(o->flags & OFF_OPEN) &&
		     population_has_thread(&q->of, tl, o->thread, o->comm);
	}
	return n;
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x > y ? -1 : x < y;
}

/* The length of the `most`th longest new wait: those at least that long are explained. */
static int least_explained(const struct timeline *tl, const struct spike_query *q, uint64_t *ns,
			   struct err *e)
{
	struct episode_query eq = {.kind = EPISODE_WAIT, .of = q->of};
	struct episodes all;
	VEC(uint64_t) lengths = {0};
	int rc = episodes_collect(tl, &eq, &all, e);
	*ns = q->over_ns;
	if (rc)
		return rc;
	for (size_t i = 0; i < all.v.n && !rc; i++) {
		const struct episode *ep = &all.v.v[i];
		if (is_new(tl, q, ep) && episode_ns(ep) >= q->over_ns &&
		    !(ep->flags & OFF_SUSPECT))
			rc = vec_push(&lengths, episode_ns(ep)) ? err_nomem(e) : 0;
	}
	if (!rc && lengths.n > q->most) {
		qsort(lengths.v, lengths.n, sizeof(*lengths.v), descending);
		*ns = lengths.v[q->most - 1];
	}
	vec_release(&lengths);
	episodes_release(&all);
	return rc;
}

static void sort_rows(struct spikes *s)
{
	const struct tail *t = &s->tail;
	for (size_t i = 1; i < s->rows.n; i++) {
		uint32_t row = s->rows.v[i];
		uint64_t end = t->episodes.v.v[t->rows.v[row].episode].end_ns;
		size_t k = i;
		while (k && t->episodes.v.v[t->rows.v[s->rows.v[k - 1]].episode].end_ns > end) {
			s->rows.v[k] = s->rows.v[k - 1];
			k--;
		}
		s->rows.v[k] = row;
	}
}

static int choose_rows(struct spikes *s, const struct spike_query *q, struct err *e)
{
	const struct tail *t = &s->tail;
	uint64_t chosen[2] = {0};
	for (int suspect = 0; suspect < 2; suspect++)
		for (uint32_t i = 0; i < t->rows.n && s->rows.n < q->most; i++) {
			const struct episode *ep = &t->episodes.v.v[t->rows.v[i].episode];
			if (!is_new(t->tl, q, ep) ||
			    suspect != ((ep->flags & OFF_SUSPECT) != 0))
				continue;
			if (vec_push(&s->rows, i))
				return err_nomem(e);
			chosen[suspect]++;
		}
	for (size_t i = 0; i < SEVERITIES; i++)
		s->more += s->counts.spikes[i];
	s->more -= chosen[0];
	s->more_suspect = s->counts.suspect_spikes - chosen[1];
	sort_rows(s);
	return 0;
}

int spikes_find(struct spikes *out, const struct timeline *tl, const struct spike_query *q,
		struct err *e)
{
	struct tail_query tq = {.episodes = {.kind = EPISODE_WAIT, .of = q->of},
				.pick = {.kind = PICK_OVER, .dirty = 1}};
	*out = (struct spikes){0};
	int rc = least_explained(tl, q, &tq.pick.ns, e);
	rc = rc ? rc : tail_make(tl, &tq, &out->tail, e);
	if (rc)
		return rc;
	count_new(out, q);
	out->counts.unclear = count_unclear(tl, q);
	rc = choose_rows(out, q, e);
	if (rc)
		spikes_release(out);
	return rc;
}

void spikes_release(struct spikes *s)
{
	vec_release(&s->rows);
	tail_release(&s->tail);
}
