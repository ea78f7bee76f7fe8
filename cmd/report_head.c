#include "cmd/report_head.h"
#include "render/text/fill.h"
#include "libparse/sample.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 11 };

/* "before1,234after" */
static void counted(struct buf *b, const char *before, uint64_t n, const char *after)
{
	buf_str(b, before);
	units_count(b, n);
	buf_str(b, after);
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
		counted(&b, ": ", c.samples, c.samples == 1 ? " sample" : " samples");
		if (!ev->is_tracepoint && c.weight)
			counted(&b, ", sum of periods ", c.weight, "");
		if (attr_flag(&ev->attr, ATTR_FREQ))
			counted(&b, ", ", ev->attr.sample_period, " Hz");
		else
			counted(&b, ", period ", ev->attr.sample_period, "");
		buf_fmt(&b, ", %s", stacks_of(ev));
		line(out, i ? "" : "events", &b);
	}
}

static void add_records(struct buf *out, const struct recording *rec)
{
	enum { WIDTH = 78, GAP = 2 };
	const struct recording_stats *s = &rec->stats;
	struct buf item = {0};
	size_t column = LABEL;
	buf_fmt(out, "%-*s", LABEL, "records");
	for (uint32_t t = 0; t < RECORD_TYPES_COUNTED; t++) {
		const char *name = record_type_name(t);
		if (!s->by_type[t])
			continue;
		buf_clear(&item);
		if (name)
			buf_fmt(&item, "%s ", name);
		else
			buf_fmt(&item, "type %u: ", t);
		units_count(&item, s->by_type[t]);
		if (column > LABEL && column + GAP + item.n > WIDTH) {
			buf_fmt(out, "\n%*s", LABEL, "");
			column = LABEL;
		}
		buf_fmt(out, "%s%s", column > LABEL ? "  " : "", buf_cstr(&item));
		column += item.n + (column > LABEL ? GAP : 0);
	}
	out->failed = buf_failed(&item) ? buf_failed(&item) : out->failed;
	buf_release(&item);
	if (s->unknown_types)
		counted(out, "  unknown types ", s->unknown_types, "");
	buf_char(out, '\n');
}

static void add_loss(struct buf *out, const struct recording *rec)
{
	const struct recording_stats *s = &rec->stats;
	uint64_t samples = s->by_type[PERF_RECORD_SAMPLE];
	uint64_t dropped = recording_dropped_samples(rec);
	struct buf b = {0};
	if (s->lost) {
		counted(&b, "", s->lost, " records lost by perf");
		buf_fmt(&b, " (%.1f %% of all)  ",
			100.0 * (double)s->lost / (double)(s->lost + samples));
	}
	if (dropped)
		counted(&b, "", dropped, " samples dropped by the kernel  ");
	if (rec->cut_off)
		buf_str(&b, "not finished by perf  ");
	if (s->torn[0])
		buf_fmt(&b, "%s  ", s->torn);
	if (s->bad.n)
		counted(&b, "", s->bad.n, " broken records");
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
