/* calls_line.c - the command lines of calls.h: definitions of probes, and `perf record`. */
#include "libparse/perf_abi.h"
#include "libparse/recording.h"
#include "libtime/record/calls.h"
#include "libtime/record/perf_args.h"
#include "libtime/spans/span_counters.h"

#include <string.h>

static const char *suffix(const struct calls *c, uint32_t region, int end)
{
	if (c->regions.v[region].is_lines)
		return end ? "_end" : "_begin";
	return end ? "__return" : "";
}

void calls_definitions(struct buf *out, const struct calls *c, const char *binary, int undo)
{
	for (size_t i = 0; i < c->places.n; i++) {
		const struct call_place *x = &c->places.v[i];
		const char *name = c->regions.v[x->region].name;
		const struct call_place *last = i ? &c->places.v[i - 1] : NULL;
		int same = last && last->region == x->region && last->end == x->end;
		if (undo && !same)
			buf_fmt(out, "-:perfkit/%s%s\n", name, suffix(c, x->region, x->end));
		if (!undo)
			buf_fmt(out, "%c:perfkit/%s%s %s:0x%llx\n", x->is_return ? 'r' : 'p',
				name, suffix(c, x->region, x->end), binary,
				(unsigned long long)x->offset);
	}
}

static void add_option(struct words *w, const char *option, const char *value)
{
	if (value)
		words_pair(w, option, value);
}

/* --- groups --------------------------------------------------------------------------- */

/* One event of a list that commas part, which may also be inside of an event's own slashes. */
struct event_name {
	const char *text;
	size_t n;
};

static int next_event(const char **rest, struct event_name *out)
{
	const char *p = *rest;
	int in = 0;
	out->text = p;
	while (*p && (in || *p != ','))
		in ^= *p++ == '/';
	out->n = (size_t)(p - out->text);
	*rest = *p ? p + 1 : p;
	return out->n > 0 || *p;
}

enum counter_kind { COUNTER_SOFTWARE, COUNTER_TRACEPOINT, COUNTER_HARDWARE };

/* Where an event's terms or modifiers begin: "page-faults:u", "cpu/event=0x3c/k". */
static size_t bare_length(const struct event_name *ev)
{
	size_t n = 0;
	while (n < ev->n && ev->text[n] != ':' && ev->text[n] != '/')
		n++;
	return n;
}

static enum counter_kind kind_of(const struct event_name *ev)
{
	static const char *const software[] = {"cpu-clock",
					       "task-clock",
					       "page-faults",
					       "faults",
					       "minor-faults",
					       "major-faults",
					       "context-switches",
					       "cs",
					       "cpu-migrations",
					       "migrations",
					       "alignment-faults",
					       "emulation-faults",
					       "cgroup-switches",
					       "bpf-output",
					       "dummy"};
	size_t n = bare_length(ev);
	for (size_t i = 0; i < sizeof(software) / sizeof(*software); i++)
		if (strlen(software[i]) == n && !memcmp(software[i], ev->text, n))
			return COUNTER_SOFTWARE;
	if (n == ev->n || ev->text[n] == '/')
		return COUNTER_HARDWARE;
	size_t modifiers = strspn(ev->text + n + 1, "ukhpPGHSDIWebR");
	return n + 1 + modifiers >= ev->n ? COUNTER_HARDWARE : COUNTER_TRACEPOINT;
}

static int has_kind(const char *events, enum counter_kind kind)
{
	struct event_name ev;
	while (next_event(&events, &ev))
		if (kind_of(&ev) == kind)
			return 1;
	return 0;
}

static size_t count_events(const char *events)
{
	struct event_name ev;
	size_t n = 0;
	while (next_event(&events, &ev))
		n++;
	return n;
}

/*
 * Since 6.12 perf takes tracepoints (probes) and software events for two PMUs and parts their
 * groups (parse_events__sort_events_and_fix_groups of tools/perf/util/parse-events.c), unless
 * a member is of a third PMU. `cycles` is one. Where the CPU cannot count them, perf replaces
 * them by a software clock, but only after it has made the groups.
 */
static const char *glue_of(const struct calls_wish *w)
{
	enum { PARTS_GROUPS = 6 * PERF_MINORS + 12 };
	if (w->version && w->version < PARTS_GROUPS)
		return NULL;
	return has_kind(w->events, COUNTER_HARDWARE) || !has_kind(w->events, COUNTER_SOFTWARE)
		       ? NULL
		       : "cycles";
}

/* The event, never sampled by itself. */
static void put_counter(struct buf *b, const struct event_name *ev)
{
	size_t n = bare_length(ev);
	const char *end = ev->text + ev->n, *rest = ev->text + n;
	const char *slash = memchr(rest, '/', ev->n - n);
	const char *last = slash ? memchr(slash + 1, '/', (size_t)(end - slash - 1)) : NULL;
	if (last) {
		buf_add(b, ev->text, (size_t)(last - ev->text));
		buf_fmt(b, "%speriod=0/%.*s,", last > slash + 1 ? "," : "",
			(int)(end - last - 1), last + 1);
	} else { /* named as it is written, not by its terms */
		const char *modifiers = rest < end ? rest + 1 : end;
		buf_fmt(b, "%.*s/period=0,name=%.*s/%.*s,", (int)n, ev->text, (int)ev->n,
			ev->text, (int)(end - modifiers), modifiers);
	}
}

static void put_end(struct buf *b, const struct calls *c, uint32_t i)
{
	buf_fmt(b, "perfkit:%s%s", c->regions.v[i / 2].name, suffix(c, i / 2, i % 2));
}

static int event_is(const struct event_name *ev, const char *text)
{
	return strlen(text) == ev->n && !memcmp(text, ev->text, ev->n);
}

/* One group of counters that do not sample, which all probes read: {counters,probes:S}. */
static void add_one_group(struct words *out, const struct calls *c, const struct calls_wish *w)
{
	struct buf b = {0};
	struct event_name ev;
	const char *glue = glue_of(w), *rest = w->events;
	buf_char(&b, '{');
	if (glue)
		buf_fmt(&b, "%s/period=0/,", glue); /* without a name, which would outlive it */
	while (next_event(&rest, &ev))
		put_counter(&b, &ev);
	for (uint32_t i = 0; i < 2 * c->regions.n; i++) {
		put_end(&b, c, i);
		buf_str(&b, i + 1 < 2 * c->regions.n ? ":S," : ":S}");
	}
	words_pair(out, "-e", buf_cstr(&b));
	out->failed |= buf_failed(&b);
	buf_release(&b);
}

/* Tracepoints take no period: a group for each probe, which alone is sampled. */
static void add_groups(struct words *out, const struct calls *c, const struct calls_wish *w)
{
	const char *glue = glue_of(w);
	for (uint32_t i = 0; i < 2 * c->regions.n; i++) {
		struct buf b = {0};
		put_end(&b, c, i);
		words_option(out, "-e", "{%s,%s%s%s}:S", buf_cstr(&b), glue ? glue : "",
			     glue ? "," : "", w->events);
		out->failed |= buf_failed(&b);
		buf_release(&b);
	}
}

/* The event that put_counter or glue_of wrote, as it was asked for. */
static void put_asked(struct buf *out, const struct event_name *ev)
{
	static const char named[] = "/period=0,name=", last[] = "period=0/";
	const char *name = memmem(ev->text, ev->n, named, sizeof(named) - 1);
	const char *period = memmem(ev->text, ev->n, last, sizeof(last) - 1);
	if (!name && period && event_is(ev, "cycles/period=0/"))
		return;
	if (out->n)
		buf_char(out, ',');
	if (name) {
		name += sizeof(named) - 1;
		buf_add(out, name, strcspn(name, ",/"));
	} else if (period) {
		const char *rest = period + sizeof(last) - 2; /* from the slash on */
		int comma = period > ev->text && period[-1] == ',';
		buf_add(out, ev->text, (size_t)(period - ev->text - comma));
		buf_add(out, rest, (size_t)(ev->text + ev->n - rest));
	} else {
		buf_add(out, ev->text, ev->n);
	}
}

void calls_counters(struct buf *out, const char *list)
{
	struct event_name ev;
	list += *list == '{';
	while (next_event(&list, &ev)) {
		const char *end = memchr(ev.text, '}', ev.n);
		ev.n = end ? (size_t)(end - ev.text) : ev.n;
		if (strncmp(ev.text, "perfkit:", 8) != 0)
			put_asked(out, &ev);
		if (end)
			break;
	}
}

uint64_t calls_ring(size_t threads)
{
	enum { MOST = 4 << 20, LEAST = 512 << 10, OF_ALL = 32 * MOST };
	uint64_t bytes = MOST;
	while (bytes > LEAST && threads > OF_ALL / bytes)
		bytes /= 2;
	return bytes;
}

int calls_line(struct words *out, const struct calls *c, const struct calls_wish *w,
	       struct err *e)
{
	if (!w->ncommand && !w->pid && !w->tid)
		return err_set(e, ERR_USAGE,
			       "calls needs a command, -p or -t: counters of whole CPUs count "
			       "everybody");
	if (w->ncommand && (w->pid || w->tid || w->duration))
		return err_set(e, ERR_USAGE, "give a command, or -p, -t and --duration");
	if (count_events(w->events) + (glue_of(w) != NULL) > SPAN_COUNTERS)
		return err_set(e, ERR_USAGE, "calls counts at most %d events, cycles included",
			       SPAN_COUNTERS);
	if (w->inherit && w->version && w->version < 6 * PERF_MINORS + 13)
		return err_set(e, ERR_USAGE,
			       "--inherit needs perf 6.13 and Linux 6.12: perf %d.%d passes no "
			       "group on to new threads",
			       w->version / PERF_MINORS, w->version % PERF_MINORS);
	words_pair(out, w->perf, "record");
	words_pair(out, "-k", "CLOCK_MONOTONIC");
	if (!w->inherit)
		words_add(out, "--per-thread");
	words_add(out, "-T"); /* of all: mappings and switches come from an event without */
	words_add(out, "--sample-cpu");
	if (w->own_ids)
		words_add(out, "--buildid-mmap");
	if (w->version >= 5 * PERF_MINORS + 1)
		words_add(out, PLAN_QUICK_END);
	words_add(out, "--switch-events");
	words_pair(out, "-c", "1");
	if (w->ring)
		words_ring(out, w->ring);
	add_option(out, "-p", w->pid);
	add_option(out, "-t", w->tid);
	if (has_kind(w->events, COUNTER_TRACEPOINT))
		add_groups(out, c, w);
	else
		add_one_group(out, c, w);
	add_option(out, "-o", w->output);
	if (w->ncommand || w->duration)
		words_add(out, "--");
	for (size_t i = 0; i < w->ncommand; i++)
		words_add(out, "%s", w->command[i]);
	if (w->duration) {
		words_add(out, "sleep");
		words_add(out, "%d", w->duration);
	}
	return out->failed ? err_nomem(e) : 0;
}

int calls_reads(const struct event *ev)
{
	return ev->is_tracepoint && ev->name && ev->attr.sample_type & PERF_SAMPLE_READ;
}

const struct event *calls_split_event(const struct recording *rec)
{
	const struct event *alone = NULL;
	int counters = 0;
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		int reads = !!(ev->attr.sample_type & PERF_SAMPLE_READ);
		if (calls_reads(ev) && !(ev->attr.read_format & PERF_FORMAT_GROUP))
			alone = ev;
		counters |= !ev->is_tracepoint && reads;
	}
	return counters ? alone : NULL;
}
