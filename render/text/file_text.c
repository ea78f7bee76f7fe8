#include "render/text/file_text.h"
#include "base/check.h"
#include "base/text/path.h"
#include "libparse/record.h"
#include "render/text/fill.h"
#include "render/text/escape.h"
#include "render/text/missing_text.h"
#include "render/text/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* --- what it is ----------------------------------------------------------------------- */

static void add_text(struct buf *b, const struct file_facts *f, uint32_t id)
{
	visible(b, strtab_get(&f->stacks->strings, id));
}

static void add_file(struct buf *out, const struct file_facts *f)
{
	static const char *const modes[] = {"file", "pipe", "directory"};
	ENTRIES(modes, FILE_MODES);
	struct buf b = {0};
	add_text(&b, f, f->path);
	buf_fmt(&b, ", %s mode, %s-endian%s, %.1f MB of records", modes[f->mode % FILE_MODES],
		f->big_endian ? "big" : "little", f->compressed ? ", zstd" : "",
		(double)f->bytes / 1e6);
	line(out, "recording", &b);
}

static void add_or_unknown(struct buf *b, const struct file_facts *f, uint32_t id)
{
	visible(b, id ? strtab_get(&f->stacks->strings, id) : "?");
}

static void add_host(struct buf *out, const struct file_facts *f)
{
	struct buf b = {0};
	if (f->host || f->kernel || f->arch) {
		add_or_unknown(&b, f, f->host);
		buf_str(&b, ", Linux ");
		add_or_unknown(&b, f, f->kernel);
		buf_char(&b, ' ');
		add_or_unknown(&b, f, f->arch);
		if (f->cpus)
			buf_fmt(&b, ", %u CPUs", f->cpus);
		if (f->perf) {
			buf_str(&b, ", perf ");
			add_text(&b, f, f->perf);
		}
		line(out, "host", &b);
	}
	if (f->cpu) {
		add_text(&b, f, f->cpu);
		line(out, "cpu", &b);
	}
	if (f->command) {
		add_text(&b, f, f->command);
		line(out, "command", &b);
	}
}

static void add_clock(struct buf *out, const struct file_facts *f)
{
	const char *clock = strtab_get(&f->stacks->strings, f->clock);
	struct buf b = {0};
	visible(&b, !*clock                  ? "unknown"
		    : !strcmp(clock, "perf") ? "perf's own (sched_clock)"
					     : clock);
	if (f->first_ns <= f->last_ns && f->last_ns) {
		buf_fmt(&b,
			", samples %" PRIu64 ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64 " (",
			f->first_ns / 1000000000, f->first_ns % 1000000000,
			f->last_ns / 1000000000, f->last_ns % 1000000000);
		units_duration(&b, f->last_ns - f->first_ns);
		buf_char(&b, ')');
	}
	line(out, "clock", &b);
}

/* Those without samples, in one line. */
static void add_silent_events(struct buf *out, const struct file_facts *f, const char *label)
{
	struct buf b = {0};
	for (size_t i = 0; i < f->events.n; i++) {
		if (f->events.v[i].samples)
			continue;
		buf_str(&b, b.n ? ", " : "no samples: ");
		add_text(&b, f, f->events.v[i].name);
	}
	if (b.n)
		line(out, label, &b);
	buf_release(&b);
}

static void add_events(struct buf *out, const struct file_facts *f)
{
	static const char *const stacks[] = {"no stacks", "stacks from frame pointers",
					     "stacks from stack copies (DWARF)",
					     "branch stacks"};
	ENTRIES(stacks, EVENT_STACKS_KINDS);
	size_t lines = 0;
	for (size_t i = 0; i < f->events.n; i++) {
		const struct file_event *ev = &f->events.v[i];
		struct buf b = {0};
		if (!ev->samples)
			continue;
		add_text(&b, f, ev->name);
		counted(&b, ": ", ev->samples, ev->samples == 1 ? " sample" : " samples");
		if (!ev->tracepoint && ev->weight)
			counted(&b, ", sum of periods ", ev->weight, "");
		if (ev->by_rate)
			counted(&b, ", ", ev->rate, " Hz");
		else
			counted(&b, ", period ", ev->rate, "");
		buf_fmt(&b, ", %s", stacks[ev->stacks % EVENT_STACKS_KINDS]);
		line(out, lines++ ? "" : "events", &b);
	}
	add_silent_events(out, f, lines ? "" : "events");
}

static void add_records(struct buf *out, const struct file_facts *f)
{
	enum { WIDTH = 78, GAP = 2 };
	struct buf item = {0};
	size_t column = LABEL;
	buf_fmt(out, "%-*s", LABEL, "records");
	for (size_t i = 0; i < f->records.n; i++) {
		const struct file_records *r = &f->records.v[i];
		const char *name = record_type_name(r->type);
		buf_clear(&item);
		if (name)
			buf_fmt(&item, "%s ", name);
		else
			buf_fmt(&item, "type %u: ", r->type);
		units_count(&item, r->count);
		if (column > LABEL && column + GAP + item.n > WIDTH) {
			buf_fmt(out, "\n%*s", LABEL, "");
			column = LABEL;
		}
		buf_fmt(out, "%s%s", column > LABEL ? "  " : "", buf_cstr(&item));
		column += item.n + (column > LABEL ? GAP : 0);
	}
	out->failed = buf_failed(&item) ? buf_failed(&item) : out->failed;
	buf_release(&item);
	if (f->unknown_records)
		counted(out, "  unknown types ", f->unknown_records, "");
	buf_char(out, '\n');
}

static uint64_t samples_of(const struct file_facts *f)
{
	for (size_t i = 0; i < f->records.n; i++)
		if (f->records.v[i].type == PERF_RECORD_SAMPLE)
			return f->records.v[i].count;
	return 0;
}

static void add_loss(struct buf *out, const struct file_facts *f)
{
	struct buf b = {0};
	if (f->lost) {
		counted(&b, "", f->lost, " records lost by perf");
		buf_fmt(&b, " (%.1f %% of all)  ",
			100.0 * (double)f->lost / (double)(f->lost + samples_of(f)));
	}
	if (f->dropped)
		counted(&b, "", f->dropped, " samples dropped by the kernel  ");
	if (f->cut_off)
		buf_str(&b, "not finished by perf  ");
	if (f->torn) {
		add_text(&b, f, f->torn);
		buf_str(&b, "  ");
	}
	if (f->broken)
		counted(&b, "", f->broken, " broken records");
	if (!b.n)
		buf_str(&b, "perf reported none");
	line(out, "loss", &b);
}

void file_text_head(struct buf *out, const struct file_facts *f)
{
	add_file(out, f);
	add_host(out, f);
	add_clock(out, f);
	add_events(out, f);
	add_records(out, f);
	add_loss(out, f);
}

/* Events of one name, as perf had one for stacks and one without. */
struct event_count {
	uint32_t name;
	uint8_t tracepoint;
	size_t at; /* in the file */
	uint64_t samples;
};

/* Clocks and counters first. */
static int event_order(const void *a, const void *b)
{
	const struct event_count *x = a, *y = b;
	if (x->tracepoint != y->tracepoint)
		return x->tracepoint ? 1 : -1;
	return x->at < y->at ? -1 : 1;
}

/* Perf's own, which never has samples. */
static int is_dummy(const char *name)
{
	return !strcmp(name, "dummy") || !strncmp(name, "dummy:", 6);
}

typedef VEC(struct event_count) event_counts;

static int by_event(const struct file_facts *f, event_counts *v)
{
	struct u64map of = {0}; /* name → v */
	int r = 0;
	for (size_t i = 0; !r && i < f->events.n; i++) {
		const struct file_event *ev = &f->events.v[i];
		uint32_t k = (uint32_t)v->n;
		if (is_dummy(strtab_get(&f->stacks->strings, ev->name)))
			continue;
		if (!u64map_get(&of, ev->name, &k))
			r = vec_push(v,
				     ((struct event_count){ev->name, ev->tracepoint, i, 0})) ||
					    u64map_put(&of, ev->name, k)
				    ? ERR_NOMEM
				    : 0;
		if (!r)
			v->v[k].samples += ev->samples;
	}
	u64map_release(&of);
	return r;
}

/* Names and counts of the first events, and how many others there are, in one line or two. */
static void add_event_counts(struct buf *out, const struct file_facts *f)
{
	enum { SHOWN = 2 };
	event_counts v = {0};
	struct buf b = {0};
	size_t none = 0, more = 0;
	if (by_event(f, &v))
		out->failed = ERR_NOMEM;
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), event_order);
	for (size_t i = 0; i < v.n; i++) {
		none += !v.v[i].samples;
		more += v.v[i].samples && i >= SHOWN;
		if (!v.v[i].samples || i >= SHOWN)
			continue;
		buf_str(&b, b.n ? ", " : "");
		add_text(&b, f, v.v[i].name);
		counted(&b, " ", v.v[i].samples, "");
	}
	if (more)
		buf_fmt(&b, ", %zu more", more);
	if (none) {
		buf_str(&b, b.n ? "; " : "");
		units_plural(&b, none, "event", "events");
		buf_str(&b, " without samples");
	}
	if (b.n)
		line(out, "samples", &b);
	vec_release(&v);
	buf_release(&b);
}

void file_text_brief(struct buf *out, const struct file_facts *f)
{
	struct buf b = {0};
	add_text(&b, f, f->path);
	if (f->first_ns <= f->last_ns && f->last_ns) {
		buf_str(&b, ", ");
		units_duration(&b, f->last_ns - f->first_ns);
	}
	if (f->host || f->kernel) {
		buf_str(&b, ", ");
		add_or_unknown(&b, f, f->host);
		buf_str(&b, ", Linux ");
		add_or_unknown(&b, f, f->kernel);
	}
	line(out, "recording", &b);
	add_event_counts(out, f);
	if (f->lost || f->dropped || f->cut_off || f->torn || f->broken)
		add_loss(out, f);
}

void file_text_names_brief(struct buf *out, const struct file_facts *x)
{
	enum { FILES = 3 };
	const struct unnamed_files *u = &x->unnamed;
	const struct strtab *s = &x->stacks->strings;
	struct buf b = {0};
	if (!x->has_names)
		return;
	buf_fmt(&b, "%.1f %% of samples have a named innermost function",
		u->samples ? 100.0 * (double)u->named_leaf / (double)u->samples : 100.0);
	for (size_t i = 0; i < u->v.n && i < FILES; i++) {
		const struct unnamed_file *d = &u->v.v[i];
		double share = 100.0 * (double)d->samples / (double)u->samples;
		if (share < 1)
			break;
		buf_str(&b, i ? ", " : "; unnamed frames: ");
		visible(&b, d->name ? path_base(strtab_get(s, d->name)) : "[unknown]");
		buf_fmt(&b, " %.0f %%", share);
	}
	buf_str(&b, " (-v shows more)");
	line(out, "names", &b);
}

void file_text_names(FILE *f, const struct file_facts *x, int top)
{
	const struct unnamed_files *u = &x->unnamed;
	if (!x->has_names)
		return;
	fprintf(f, "\nnames: %.1f %% of all samples have a named innermost function\n",
		u->samples ? 100.0 * (double)u->named_leaf / (double)u->samples : 100.0);
	const struct strtab *s = &x->stacks->strings;
	missing_print(f, s, strtab_get(s, x->host), u, "samples", top);
}
