#include "render/export/prometheus.h"

#include <inttypes.h>

static void put_head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_one(FILE *f, const char *name, const char *type, const char *help, double value)
{
	put_head(f, name, type, help);
	fprintf(f, "%s %.9g\n", name, value);
}

/* A label's value, which is printable ASCII. */
static void put_label(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		fputc(*s, f);
	}
}

static void put_process(FILE *f, const struct watch_process *p, const char *name)
{
	for (unsigned i = 0; i < SEVERITIES; i++) {
		if (!p->spikes[i])
			continue;
		fputs("perfkit_spikes_total{process=\"", f);
		put_label(f, name);
		fprintf(f, "\",severity=\"%s\"} %" PRIu64 "\n", severity_name(i), p->spikes[i]);
	}
}

static void put_spikes(FILE *f, const struct watch_counts *c)
{
	put_head(f, "perfkit_spikes_total", "counter",
		 "Waits as long as a spike, by process and severity.");
	for (size_t i = 0; i < WATCH_PROCESSES && *c->process[i].name; i++)
		put_process(f, &c->process[i], c->process[i].name);
	put_process(f, &c->other, WATCH_OTHER);
	put_one(f, "perfkit_spike_longest_seconds", "gauge", "The longest spike so far.",
		(double)c->longest_ns / 1e9);
}

static void put_causes(FILE *f, const struct watch_counts *c)
{
	put_head(f, "perfkit_offcpu_seconds_total", "counter",
		 "Time that work waited off a CPU, by cause.");
	for (unsigned i = 0; i < CAUSE_COUNT; i++)
		if (c->cause_ns[i])
			fprintf(f, "perfkit_offcpu_seconds_total{cause=\"%s\"} %.9g\n",
				cause_name(i), (double)c->cause_ns[i] / 1e9);
}

static void put_lengths(FILE *f, const struct watch_counts *c)
{
	uint64_t n = 0;
	put_head(f, "perfkit_wait_seconds", "histogram", "Lengths of the waits of work.");
	for (unsigned i = 0; i < WATCH_BUCKETS; i++) {
		n += c->bucket[i];
		fprintf(f, "perfkit_wait_seconds_bucket{le=\"%.9g\"} %" PRIu64 "\n",
			(double)watch_bucket_ns(i) / 1e9, n);
	}
	fprintf(f, "perfkit_wait_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", c->waits);
	fprintf(f, "perfkit_wait_seconds_sum %.9g\nperfkit_wait_seconds_count %" PRIu64 "\n",
		(double)c->wait_ns / 1e9, c->waits);
}

void prometheus_write(FILE *f, const struct prometheus_state *s)
{
	const struct watch_counts *c = s->counts;
	put_spikes(f, c);
	put_causes(f, c);
	put_lengths(f, c);
	put_one(f, "perfkit_unclear_waits_total", "counter",
		"Unclear waits as long as a spike: perhaps at rest.", (double)c->unclear);
	put_one(f, "perfkit_suspect_waits_total", "counter",
		"Waits next to missing records, not counted above.", (double)c->suspect);
	put_one(f, "perfkit_suspect_spikes_total", "counter",
		"Of these, those as long as a spike.", (double)c->suspect_spikes);
	put_one(f, "perfkit_records_total", "counter", "Records read.", (double)s->records);
	put_one(f, "perfkit_lost_records_total", "counter", "Records that perf lost.",
		(double)s->lost);
	put_one(f, "perfkit_unanswered_seconds_total", "counter",
		"Time whose records no answer covered.", s->unanswered_s);
	put_one(f, "perfkit_watch_memory_bytes", "gauge", "Memory in use.",
		(double)s->memory_bytes);
	if (s->lag_s >= 0)
		put_one(f, "perfkit_watch_lag_seconds", "gauge",
			"How far behind the clock the last answer was.", s->lag_s);
}
