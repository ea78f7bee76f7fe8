#include "libtime/record/price.h"
#include "libparse/recording.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a record, as measured with perf 6.1 on x86-64: the fixed part with raw tracepoint
 * fields, a callchain of kernel and user frames, registers; a copy comes on top. */
enum { PLAIN_BYTES = 112, CHAIN_BYTES = 150, REGS_BYTES = 160, PERF_STAT_FIELDS = 3 };

/* perf copies stacks in multiples of it. */
enum { COPY_STEP = 8 };

/* CPU time of a record in kernel and perf, rounded from the table of prices in
 * docs/recording.md: enough to compare two command lines. */
enum { PLAIN_NS = 700, CHAIN_NS = 1100, COPY_NS = 900, COPY_NS_PER_KB = 400 };

/* The most bytes a second that perf wrote without lost records, at -m 8M on two CPUs. */
#define WRITTEN_MAX 150e6

/* --- what is planned ------------------------------------------------------------------ */

/* Parse "sched:sched_switch/call-graph=dwarf,stack-size=4096/". */
static struct price_rate rate_of_event(const char *event, int cpus)
{
	struct price_rate r = {.stacks = GRAPH_NONE};
	const char *dump = strstr(event, "stack-size="), *freq = strstr(event, "freq=");
	snprintf(r.name, sizeof(r.name), "%.*s", (int)strcspn(event, "/"), event);
	if (dump)
		r.stacks = atoi(dump + strlen("stack-size="));
	else if (strstr(event, "call-graph="))
		r.stacks = GRAPH_FP;
	if (freq) {
		r.sampled = 1;
		r.per_second = atof(freq + strlen("freq=")) * cpus;
	}
	return r;
}

/* The cpu mode has one option for the stacks of all events. */
static void cpu_rate(struct price *p, const struct record_wish *w, const struct words *line)
{
	if (w->mode != RECORD_CPU || !p->v.n)
		return;
	struct price_rate *r = &p->v.v[0];
	r->sampled = 1;
	r->per_second = w->frequency * (double)(w->cpus > 0 ? w->cpus : 1);
	for (size_t i = 0; i + 1 < line->v.n; i++) {
		const char *graph = line->v.v[i + 1];
		if (!strcmp(line->v.v[i], "--call-graph"))
			r->stacks = strncmp(graph, "dwarf,", 6) ? GRAPH_FP : atoi(graph + 6);
	}
}

int price_plan(struct price *p, const struct record_plan *plan, const struct record_wish *w)
{
	const struct words *line = &plan->record;
	for (size_t i = 0; i + 1 < line->v.n && strcmp(line->v.v[i], "--") != 0; i++) {
		const char *word = line->v.v[i], *value = line->v.v[i + 1];
		if (!strcmp(word, "--filter") && p->v.n)
			p->v.v[p->v.n - 1].filter = value;
		if (strcmp(word, "-e") != 0)
			continue;
		struct price_rate r = rate_of_event(value, w->cpus);
		if (vec_push(&p->v, r))
			return ERR_NOMEM;
	}
	cpu_rate(p, w, line);
	return 0;
}

/* Probes, which are not set yet, cannot be counted. */
static int is_countable(const struct price_rate *r)
{
	return !r->sampled && strncmp(r->name, "perfkit:", 8) != 0;
}

int price_countable(const struct price *p, struct words *w)
{
	int any = 0;
	for (size_t i = 0; i < p->v.n; i++) {
		const struct price_rate *r = &p->v.v[i];
		if (!is_countable(r))
			continue;
		any = 1;
		words_pair(w, "-e", r->name);
		if (r->filter)
			words_pair(w, "--filter", r->filter);
	}
	return any;
}

/* --- counting ------------------------------------------------------------------------- */

/* Events are in the plan's order; a name may occur twice, or be a glob for several events. */
static void parse_count(struct price *p, size_t *at, const char *name, double n)
{
	for (size_t i = *at; i < p->v.n; i++) {
		struct price_rate *r = &p->v.v[i];
		if (fnmatch(r->name, name, 0) || (r->counted && !strchr(r->name, '*')))
			continue;
		r->per_second += n;
		r->counted = 1;
		*at = i;
		return;
	}
}

void price_from_stat(struct price *p, char *text)
{
	size_t at = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *field[PERF_STAT_FIELDS] = {line};
		for (int i = 1; i < PERF_STAT_FIELDS && field[i - 1]; i++) {
			field[i] = strchr(field[i - 1], ',');
			if (field[i])
				*field[i]++ = '\0';
		}
		if (!field[2] || *line < '0' || *line > '9')
			continue;
		field[2][strcspn(field[2], ",")] = '\0';
		parse_count(p, &at, field[2], atof(line));
	}
}

void price_from_recording(struct price *p, struct recording *rec)
{
	struct record r;
	struct err e = {0};
	VEC(uint64_t) n = {0};
	while (n.n < rec->events.n && !vec_push(&n, 0))
		;
	while (n.n == rec->events.n && recording_next(rec, &r, &e) == 1) {
		const struct event *ev =
			r.type == PERF_RECORD_SAMPLE ? recording_event(rec, &r) : NULL;
		if (ev)
			n.v[ev - rec->events.v]++;
		p->bytes += r.size;
	}
	size_t at = 0;
	for (size_t i = 0; i < n.n; i++)
		if (rec->events.v[i].name)
			parse_count(p, &at, rec->events.v[i].name, (double)n.v[i]);
	p->lost = rec->stats.lost + rec->stats.lost_samples;
	p->measured = 1;
	vec_release(&n);
}

int price_is_known(const struct price *p)
{
	int any = 0, countable = 0;
	for (size_t i = 0; i < p->v.n; i++) {
		any |= p->v.v[i].counted;
		countable |= is_countable(&p->v.v[i]);
	}
	return any || !countable;
}

/* --- the estimate --------------------------------------------------------------------- */

struct cost {
	double events, bytes, cpu_ns; /* per second */
};

/* The sum over all events, if none had more of its stack than `most`: bytes copied, GRAPH_FP, or
 * GRAPH_NONE. */
static struct cost sum_up(const struct price *p, int most)
{
	struct cost c = {0};
	for (size_t i = 0; i < p->v.n; i++) {
		const struct price_rate *r = &p->v.v[i];
		double size = PLAIN_BYTES, ns = PLAIN_NS;
		int copied = r->stacks < most ? r->stacks : most;
		if (r->stacks != GRAPH_NONE && most != GRAPH_NONE) {
			size += CHAIN_BYTES;
			ns += CHAIN_NS;
		}
		if (copied > 0) {
			size += REGS_BYTES + copied;
			ns += COPY_NS + copied / 1024.0 * COPY_NS_PER_KB;
		}
		c.events += r->per_second;
		c.bytes += r->per_second * size;
		c.cpu_ns += r->per_second * ns;
	}
	return c;
}

double price_bytes(const struct price *p)
{
	return sum_up(p, INT_MAX).bytes;
}

/* The next cheaper kind of stacks. */
static int give_up(int stacks)
{
	if (stacks > PRICE_FLOOR)
		return stacks / 2 > PRICE_FLOOR ? stacks / 2 / COPY_STEP * COPY_STEP
						: PRICE_FLOOR;
	return stacks > 0 ? GRAPH_FP : stacks == GRAPH_NONE ? GRAPH_BAD : GRAPH_NONE;
}

int price_fit(const struct price *p, const struct price_budget *budget, double *bytes,
	      double *cpu_ns)
{
	int stacks = GRAPH_NONE;
	for (size_t i = 0; i < p->v.n; i++)
		if (p->v.v[i].stacks != GRAPH_NONE && p->v.v[i].stacks > stacks)
			stacks = p->v.v[i].stacks;
	for (;;) {
		struct cost c = sum_up(p, stacks);
		*bytes = c.bytes;
		*cpu_ns = c.cpu_ns;
		if ((!budget->bytes || c.bytes <= budget->bytes) &&
		    (!budget->cpu_ns || c.cpu_ns <= budget->cpu_ns))
			return stacks;
		stacks = give_up(stacks);
		if (stacks == GRAPH_BAD)
			return GRAPH_BAD;
	}
}

static void add_rates(struct buf *b, const struct price *p)
{
	size_t column = 0;
	for (size_t i = 0; i < p->v.n; i++) {
		const struct price_rate *r = &p->v.v[i];
		char item[192];
		if (!strncmp(r->name, "perfkit:", 8))
			continue;
		int n = r->sampled || r->counted
				? snprintf(item, sizeof(item), "%s %s%.0f/s%s", r->name,
					   r->sampled ? "at most " : "", r->per_second,
					   r->filter ? " with stacks" : "")
				: snprintf(item, sizeof(item), "%s not counted", r->name);
		if (column && column + (size_t)n > 76) {
			buf_char(b, '\n');
			column = 0;
		}
		buf_fmt(b, "%s%s", column ? ", " : "# ", item);
		column += (size_t)n + 2;
	}
	buf_char(b, '\n');
}

void price_text(struct buf *b, const struct price *p, const struct record_wish *w)
{
	enum { MUCH = 20000000 }; /* bytes a second: a disk's worth, and perf busy writing */
	struct cost all = sum_up(p, INT_MAX), few = sum_up(p, GRAPH_FP);
	add_rates(b, p);
	if (p->measured)
		buf_fmt(b,
			"# measured without stacks: %.1f MB/s, perf took %.2f s of CPU time "
			"with its start, %llu records lost\n",
			p->bytes / 1e6, p->cpu_ns / 1e9, (unsigned long long)p->lost);
	if (p->v.n && !strcmp(p->v.v[0].name, plan_sched_events[0].name) && p->v.v[0].counted)
		buf_fmt(b,
			"# measured just now, under %.0f switches/s: under another load it "
			"costs "
			"as much more or less\n",
			p->v.v[0].per_second);
	buf_fmt(b, "# estimate: %.0f events/s, %.1f MB/s, %.0f %% of a CPU%s\n", all.events,
		all.bytes / 1e6, all.cpu_ns / 1e7,
		w->mode == RECORD_REQUESTS ? ", and 72 bytes a probe hit" : "");
	if (all.bytes > WRITTEN_MAX)
		buf_fmt(b,
			"# records will be lost: perf did not write more than %.0f MB/s where "
			"this was measured\n",
			WRITTEN_MAX / 1e6);
	if (all.bytes > MUCH && !w->chosen && w->mode != RECORD_CPU)
		buf_str(b, "# cheaper: stacks of the threads in question only (-p, --comm, "
			   "--cgroup)\n");
	if (all.bytes > MUCH && few.bytes * 2 < all.bytes)
		buf_fmt(b,
			"# cheaper: --stacks fp, %.1f MB/s (stacks of code without frame "
			"pointers end early)\n",
			few.bytes / 1e6);
}

void price_release(struct price *p)
{
	vec_release(&p->v);
}

/* --- what it was ---------------------------------------------------------------------- */

void price_paid_read(struct price_paid *p, const struct recording *rec)
{
	p->events = rec->stats.by_type[PERF_RECORD_SAMPLE];
	p->bytes = rec->data_size;
	p->lost = rec->stats.lost + recording_dropped_samples(rec, NULL);
}

void price_paid_text(struct buf *b, const struct price_paid *p)
{
	double s = p->last_ns > p->first_ns ? (double)(p->last_ns - p->first_ns) / 1e9 : 0;
	if (s > 0)
		buf_fmt(b, "%.*f %s, %.0f events/s, %.1f MB/s", s >= 1, s < 1 ? s * 1e3 : s,
			s < 1 ? "ms" : "s", (double)p->events / s, (double)p->bytes / 1e6 / s);
	else
		buf_fmt(b, "%llu events, %.1f MB", (unsigned long long)p->events,
			(double)p->bytes / 1e6);
	if (p->lost)
		buf_fmt(b, ", %llu lost", (unsigned long long)p->lost);
	else
		buf_str(b, ", none lost");
	if (p->cpu_ns >= 0 && p->whole)
		buf_fmt(b, "; perf took %.2f s of CPU time with its start and end",
			(double)p->cpu_ns / 1e9);
	else if (p->cpu_ns >= 0 && s > 0)
		buf_fmt(b, "; perf took %.1f %% of a CPU", (double)p->cpu_ns / 1e7 / s);
}
