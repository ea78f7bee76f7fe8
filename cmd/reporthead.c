#include "cmd/reporthead.h"
#include "cmd/fill.h"
#include "libparse/sample.h"
#include "render/escape.h"
#include "render/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 11 };

const char *count_text(uint64_t x)
{
	static char text[4][32];
	static unsigned turn;
	char *out = text[turn++ % 4], digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, x), k = 0;
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[k++] = ',';
		out[k++] = digits[i];
	}
	out[k] = '\0';
	return out;
}

/* "name       text", the text visible and wrapped. */
static void line(struct buf *out, const char *label, struct buf *text)
{
	buf_fmt(out, "%-*s", LABEL, label);
	fill_text(out, LABEL, LABEL + 2, buf_cstr(text));
	buf_release(text);
	*text = (struct buf){0};
}

static void visible(struct buf *b, const char *s)
{
	escape_visible(b, s, strlen(s));
}

/* --- what it is -----------------------------------------------------------------------------
 */

static void add_file(struct buf *out, const struct input *in)
{
	const struct recording *rec = in->profile->rec;
	struct buf b = {0};
	visible(&b, in->path);
	buf_fmt(&b, ", %s mode, %s-endian%s, %.1f MB of records",
		rec->directory   ? "directory"
		: rec->pipe_mode ? "pipe"
				 : "file",
		rec->big_endian ? "big" : "little", rec->compressed ? ", zstd" : "",
		(double)rec->data_size / 1e6);
	line(out, "recording", &b);
}

static void add_host(struct buf *out, const struct features *f)
{
	struct buf b = {0};
	if (f->hostname || f->osrelease || f->arch) {
		visible(&b, f->hostname ? f->hostname : "?");
		buf_str(&b, ", Linux ");
		visible(&b, f->osrelease ? f->osrelease : "?");
		buf_char(&b, ' ');
		visible(&b, f->arch ? f->arch : "?");
		if (f->cpus_online)
			buf_fmt(&b, ", %u CPUs", f->cpus_online);
		if (f->version) {
			buf_str(&b, ", perf ");
			visible(&b, f->version);
		}
		line(out, "host", &b);
	}
	if (f->cpudesc) {
		visible(&b, f->cpudesc);
		line(out, "cpu", &b);
	}
	if (f->cmdline) {
		visible(&b, f->cmdline);
		line(out, "command", &b);
	}
}

static const char *clock_name(const struct recording *rec)
{
	static const char *const names[] = {
		"CLOCK_REALTIME",          "CLOCK_MONOTONIC",     "CLOCK_PROCESS_CPUTIME_ID",
		"CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME_COARSE",
		"CLOCK_MONOTONIC_COARSE",  "CLOCK_BOOTTIME",
	};
	if (!rec->events.n)
		return "unknown";
	const struct event_attr *a = &rec->events.v[0].attr;
	if (!attr_flag(a, ATTR_USE_CLOCKID))
		return "perf's own (sched_clock)";
	if (a->clockid >= 0 && (size_t)a->clockid < sizeof(names) / sizeof(*names))
		return names[a->clockid];
	return a->clockid == 11 ? "CLOCK_TAI" : "unknown";
}

static void add_clock(struct buf *out, const struct recording *rec,
		      const struct report_counts *n)
{
	struct buf b = {0};
	buf_str(&b, clock_name(rec));
	if (n->first_ns <= n->last_ns && n->last_ns) {
		buf_fmt(&b,
			", samples %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 " (",
			n->first_ns / 1000000000, n->first_ns % 1000000000,
			n->last_ns / 1000000000, n->last_ns % 1000000000);
		units_duration(&b, n->last_ns - n->first_ns);
		buf_char(&b, ')');
	}
	line(out, "clock", &b);
}

static const char *stacks_of(const struct event *ev)
{
	const struct event_attr *a = &ev->attr;
	if (a->sample_type & PERF_SAMPLE_STACK_USER && a->sample_type & PERF_SAMPLE_REGS_USER)
		return "stacks from stack copies (DWARF)";
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return "branch stacks";
	return a->sample_type & PERF_SAMPLE_CALLCHAIN || sample_is_off_cpu(ev)
		       ? "stacks from frame pointers"
		       : "no stacks";
}

static void add_events(struct buf *out, const struct recording *rec,
		       const struct report_counts *n)
{
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		struct report_event c = {0};
		struct buf b = {0};
		if (i < n->events.n)
			c = n->events.v[i];
		visible(&b, ev->name);
		buf_fmt(&b, ": %s samples", count_text(c.samples));
		if (!ev->is_tracepoint && c.weight)
			buf_fmt(&b, ", sum of periods %s", count_text(c.weight));
		if (attr_flag(&ev->attr, ATTR_FREQ))
			buf_fmt(&b, ", %s Hz", count_text(ev->attr.sample_period));
		else
			buf_fmt(&b, ", period %s", count_text(ev->attr.sample_period));
		buf_fmt(&b, ", %s", stacks_of(ev));
		line(out, i ? "" : "events", &b);
	}
}

static void add_records(struct buf *out, const struct recording *rec)
{
	const struct recording_stats *s = &rec->stats;
	int column = LABEL;
	buf_fmt(out, "%-*s", LABEL, "records");
	for (uint32_t t = 0; t < RECORD_TYPES_COUNTED; t++) {
		char item[64];
		const char *name = record_type_name(t);
		if (!s->by_type[t])
			continue;
		int n = name ? snprintf(item, sizeof(item), "%s %s", name,
					count_text(s->by_type[t]))
			     : snprintf(item, sizeof(item), "type %u: %s", t,
					count_text(s->by_type[t]));
		if (column > LABEL && column + 2 + n > 78) {
			buf_fmt(out, "\n%*s", LABEL, "");
			column = LABEL;
		}
		buf_fmt(out, "%s%s", column > LABEL ? "  " : "", item);
		column += n + (column > LABEL ? 2 : 0);
	}
	if (s->unknown_types)
		buf_fmt(out, "  unknown types %s", count_text(s->unknown_types));
	buf_char(out, '\n');
}

static void add_loss(struct buf *out, const struct recording *rec)
{
	const struct recording_stats *s = &rec->stats;
	uint64_t samples = s->by_type[PERF_RECORD_SAMPLE];
	uint64_t dropped = recording_dropped_samples(rec);
	struct buf b = {0};
	if (s->lost)
		buf_fmt(&b, "%s records lost by perf (%.1f %% of all)  ", count_text(s->lost),
			100.0 * (double)s->lost / (double)(s->lost + samples));
	if (dropped)
		buf_fmt(&b, "%s samples dropped by the kernel  ", count_text(dropped));
	if (rec->cut_off)
		buf_str(&b, "not finished by perf  ");
	if (s->torn[0])
		buf_fmt(&b, "%s  ", s->torn);
	if (s->bad_records)
		buf_fmt(&b, "%s broken records", count_text(s->bad_records));
	if (!b.n)
		buf_str(&b, "none recorded");
	line(out, "loss", &b);
}

void report_head(struct buf *out, const struct input *in, const struct report_counts *n)
{
	const struct recording *rec = in->profile->rec;
	add_file(out, in);
	add_host(out, &rec->features);
	add_clock(out, rec, n);
	add_events(out, rec, n);
	add_records(out, rec);
	add_loss(out, rec);
}
