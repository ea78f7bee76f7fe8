#include "libstore/remedy.h"

#include "base/shellword.h"
#include "libstore/perfargs.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

static const char sched_events[] =
	" -e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup "
	"-e sched:sched_wakeup_new -e sched:sched_process_exit";

void remedy_merge(struct remedy *all, const struct remedy *more)
{
	all->sched |= more->sched;
	all->every |= more->every;
	all->stacks |= more->stacks;
	all->dump = more->dump > all->dump ? more->dump : all->dump;
	all->ring |= more->ring;
	all->clock |= more->clock;
	if (more->max_freq && (!all->max_freq || more->max_freq < all->max_freq))
		all->max_freq = more->max_freq;
	all->ungroup |= more->ungroup;
	all->build_ids |= more->build_ids;
	all->times |= more->times;
	all->samples |= more->samples;
	all->only = all->only ? all->only : more->only;
}

/* --- what is changed, and in what ------------------------------------------------------------
 */

struct line {
	const struct recording *rec;
	struct remedy r;
	struct perf_args args;
	uint64_t freq, period; /* the rate of all events; 0: not given */
	int has_stacks, has_events;
	int mixed; /* tracepoints beside: every other event carries its own rate */
	int known; /* the recorded line could be read */
	uint64_t ring;
};

static int starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* An event as somebody writes it behind -e, `n` bytes. */
static int is_tracepoint(const struct line *l, const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n), *slash = memchr(s, '/', n);
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		if (ev->name && strlen(ev->name) == n && !memcmp(ev->name, s, n))
			return ev->is_tracepoint;
	}
	if (!colon || (slash && slash < colon) || starts(s, "mem:"))
		return 0;
	size_t mods = strspn(colon + 1, "ukhHGpPSDIWeb");
	return mods < n - (size_t)(colon + 1 - s);
}

/* The next event of a list like "a,{b,c/x,y/}:S": where it begins; *n its length, 0 at the end.
 * Brackets and what follows them are passed over. */
static const char *next_item(const char **p, size_t *n)
{
	const char *s = *p;
	while (*s && strchr("{},", *s)) {
		if (*s == '}')
			s += strcspn(s, ",");
		else
			s++;
	}
	int slashed = 0;
	for (*n = 0; s[*n] && (slashed || !strchr("{},", s[*n])); (*n)++)
		slashed ^= s[*n] == '/';
	*p = s + *n;
	return s;
}

static int has_tracepoint(const struct line *l, const char *list)
{
	size_t n;
	const char *s = next_item(&list, &n);
	while (n && !is_tracepoint(l, s, n))
		s = next_item(&list, &n);
	return n > 0;
}

/* "512" pages, "64M". */
static uint64_t ring_bytes(const char *value)
{
	char *end;
	uint64_t n = strtoull(value, &end, 10);
	unsigned shift = *end == 'B'   ? 0
			 : *end == 'K' ? 10
			 : *end == 'M' ? 20
			 : *end == 'G' ? 30
				       : 12;
	return n > UINT64_MAX >> shift ? UINT64_MAX : n << shift;
}

static void look_at(struct line *l, const struct perf_arg *a)
{
	const char *value = a->value ? a->value : "";
	switch (perf_arg_role(a)) {
	case PERF_FREQ:
		l->freq = strtoull(value, NULL, 10);
		break;
	case PERF_COUNT:
		l->period = strtoull(value, NULL, 10);
		break;
	case PERF_STACKS:
		l->has_stacks = 1;
		break;
	case PERF_EVENTS:
		l->has_events = 1;
		l->mixed |=
			has_tracepoint(l, value) || (l->r.max_freq && strstr(value, "freq="));
		break;
	case PERF_RING:
		l->ring = ring_bytes(value);
		break;
	default:
		break;
	}
}

/* --- events ----------------------------------------------------------------------------------
 */

/* freq=99 or period=1000, as the line asks for it; nothing where it asks for no rate. */
static void put_rate(const struct line *l, struct buf *b, const char *before, const char *after)
{
	uint64_t cap = l->r.max_freq;
	uint64_t freq = cap && (!l->freq || l->freq > cap) ? cap : l->freq;
	if (l->period && !cap)
		buf_fmt(b, "%speriod=%llu%s", before, (ull)l->period, after);
	else if (freq)
		buf_fmt(b, "%sfreq=%llu%s", before, (ull)freq, after);
}

/* The terms between the slashes; a rate among them is left out where a lower one is asked for.
 * Returns whether one stays. */
static int put_terms(const struct line *l, struct buf *b, const char *s, size_t n)
{
	int rate = 0, first = 1;
	for (size_t at = 0, len; at < n; at += len + 1) {
		const char *term = s + at, *comma = memchr(term, ',', n - at);
		len = comma ? (size_t)(comma - term) : n - at;
		if (starts(term, "freq=") || starts(term, "period=")) {
			if (l->r.max_freq)
				continue;
			rate = 1;
		}
		if (!first)
			buf_char(b, ',');
		buf_add(b, term, len);
		first = 0;
	}
	return rate;
}

/* "cycles:u" with its own rate: "cycles/freq=99/u". */
static void put_counted(const struct line *l, struct buf *b, const char *s, size_t n)
{
	const char *slash = memchr(s, '/', n), *end = s + n;
	const char *last = slash ? memrchr(s, '/', n) : NULL;
	if (starts(s, "mem:") || (slash && last == slash)) {
		buf_add(b, s, n);
	} else if (slash) {
		struct buf terms = {0};
		int rate = put_terms(l, &terms, slash + 1, (size_t)(last - slash - 1));
		buf_add(b, s, (size_t)(slash + 1 - s));
		buf_str(b, buf_cstr(&terms));
		if (!rate)
			put_rate(l, b, terms.n ? "," : "", "");
		buf_add(b, last, (size_t)(end - last));
		buf_release(&terms);
	} else {
		const char *colon = memchr(s, ':', n);
		const char *name_end = colon ? colon : end;
		size_t before = b->n;
		buf_add(b, s, (size_t)(name_end - s));
		put_rate(l, b, "/", "/");
		if (colon && b->n == before + (size_t)(name_end - s))
			buf_char(b, ':');
		if (colon)
			buf_add(b, colon + 1, (size_t)(end - colon - 1));
	}
}

static void put_item(const struct line *l, struct buf *b, const char *s, size_t n)
{
	if (l->r.sched && starts(s, "sched:"))
		return;
	if (b->n)
		buf_char(b, ',');
	if (l->mixed && !is_tracepoint(l, s, n))
		put_counted(l, b, s, n);
	else
		buf_add(b, s, n);
}

/* A list of events without those that are asked for anyway, each with the rate it is to have;
 * groups stay only where nothing changes. */
static void put_list(const struct line *l, struct buf *out, const char *list)
{
	struct buf b = {0};
	size_t n;
	if (!l->mixed && !l->r.ungroup)
		buf_str(&b, list);
	else
		for (const char *s = next_item(&list, &n); n; s = next_item(&list, &n))
			put_item(l, &b, s, n);
	if (b.n) {
		buf_str(out, " -e ");
		shell_word(out, buf_cstr(&b));
	}
	buf_release(&b);
}

/* The recording's own events as a list, where the line names none. */
static void put_recorded(const struct line *l, struct buf *out)
{
	struct buf list = {0};
	for (size_t i = 0; i < l->rec->events.n && i < 16; i++) {
		const struct event *ev = &l->rec->events.v[i];
		const char *name = ev->name ? ev->name : "";
		if (!*name || !shell_is_printable(name) || strchr(name, ' ') ||
		    starts(name, "dummy") || starts(name, "offcpu-time"))
			continue;
		size_t n = ev->is_tracepoint ? strlen(name) : strcspn(name, ":");
		if (list.n)
			buf_char(&list, ',');
		buf_add(&list, name, n);
		/* of the modifiers perf chose by itself, those that choose a side */
		size_t mods = n + (name[n] == ':');
		if (name[n] && strspn(name + mods, "ukh"))
			buf_fmt(&list, ":%.*s", (int)strspn(name + mods, "ukh"), name + mods);
	}
	put_list(l, out, buf_cstr(&list));
	buf_release(&list);
}

/* --- the line --------------------------------------------------------------------------------
 */

static int is_dropped(const struct line *l, const struct perf_arg *a)
{
	const struct remedy *r = &l->r;
	switch (perf_arg_role(a)) {
	case PERF_FREQ:
	case PERF_COUNT:
		return l->mixed || r->max_freq;
	case PERF_STACKS:
		return r->dump > 0;
	case PERF_SIDES:
		return r->dump || r->stacks;
	case PERF_EVENTS: /* written anew, or left out */
		return 1;
	case PERF_FILTER:
	case PERF_TARGET:
	case PERF_OFF_CPU:
		return r->sched;
	case PERF_RING:
		return r->ring;
	case PERF_CLOCK:
		return r->clock;
	case PERF_NO_BUILDID:
		return r->build_ids;
	case PERF_NO_SAMPLES:
		return r->samples;
	case PERF_NO_TIMES:
		return r->times;
	case PERF_OUTPUT:
		return 1;
	default:
		return 0;
	}
}

/* Locked memory of all CPUs together stays below a gigabyte. */
static uint64_t larger_ring(const struct line *l)
{
	uint32_t cpus = l->rec->features.cpus_online;
	uint64_t size = 64;
	while (size > 1 && size * cpus > 1024)
		size /= 2;
	while (size < 512 && size << 20 <= l->ring)
		size *= 2;
	return size;
}

static void put_added(const struct line *l, struct buf *out)
{
	const struct remedy *r = &l->r;
	if (r->sched)
		buf_str(out, " -a");
	if (r->dump)
		buf_fmt(out, " --call-graph dwarf,%u", r->dump);
	else if (r->stacks && !l->has_stacks)
		buf_str(out, " -g");
	if (r->ring)
		buf_fmt(out, " -m %lluM", (ull)larger_ring(l));
	if (r->clock)
		buf_str(out, " -k CLOCK_MONOTONIC");
	if (r->times)
		buf_str(out, " -T");
	if (r->build_ids)
		buf_str(out, " --buildid-all");
	uint64_t cap = r->max_freq;
	if (l->mixed)
		return;
	if (cap)
		buf_fmt(out, " -F %llu", (ull)(l->freq && l->freq < cap ? l->freq : cap));
	else if (!l->known && l->freq)
		buf_fmt(out, " -F %llu", (ull)l->freq);
	else if (!l->known && l->period > 1)
		buf_fmt(out, " -c %llu", (ull)l->period);
}

static void put_options(const struct line *l, struct buf *out)
{
	for (size_t i = 0; i < l->args.v.n; i++) {
		const struct perf_arg *a = &l->args.v.v[i];
		if (!is_dropped(l, a))
			perf_arg_add(out, a);
		else if (perf_arg_role(a) == PERF_EVENTS && a->value && !l->r.only)
			put_list(l, out, a->value);
	}
}

/* The recorded command; 0 when there is none. */
static int put_command(const struct line *l, struct buf *out)
{
	const struct features *f = &l->rec->features;
	size_t n = out->n;
	if (l->args.command >= f->nargv)
		return 0;
	buf_str(out, " --");
	for (size_t i = l->args.command; i < f->nargv; i++) {
		if (!shell_is_printable(f->argv[i])) {
			out->n = n;
			buf_str(out, " -- COMMAND");
			return 1;
		}
		buf_char(out, ' ');
		shell_word(out, f->argv[i]);
	}
	return 1;
}

/* What the recording itself says of the line, where the line is not there to be read. */
static void look_at_events(struct line *l)
{
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		l->mixed |= ev->is_tracepoint;
		if (ev->is_tracepoint)
			continue;
		if (attr_flag(&ev->attr, ATTR_FREQ))
			l->freq = ev->attr.sample_period;
		else if (!starts(ev->name ? ev->name : "", "dummy"))
			l->period = ev->attr.sample_period;
		if (!l->has_stacks && ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN &&
		    !l->r.dump)
			l->r.stacks = 1;
	}
}

/* 1 when the recorded words are perf record's and can be shown. */
static int read_line(struct line *l)
{
	const struct features *f = &l->rec->features;
	if (perf_args_read(&l->args, f->argv, f->nargv))
		return 0;
	for (size_t i = 0; i < l->args.command && i < f->nargv; i++)
		if (!shell_is_printable(f->argv[i]))
			return 0;
	for (size_t i = 0; i < l->args.v.n; i++)
		look_at(l, &l->args.v.v[i]);
	return 1;
}

void remedy_line(struct buf *out, const struct recording *rec, const struct remedy *r)
{
	struct line l = {.rec = rec, .r = *r};
	l.r.stacks |= r->sched;
	l.r.clock |= r->sched;
	l.mixed = r->sched;
	l.known = read_line(&l);
	if (!l.known)
		look_at_events(&l);
	if (r->only)
		l.mixed = r->sched;
	buf_str(out, "perf record");
	put_added(&l, out);
	if (l.known)
		put_options(&l, out);
	if (r->only)
		put_list(&l, out, r->only);
	else if (!l.has_events && (!l.known || l.mixed))
		put_recorded(&l, out);
	if (r->sched)
		buf_str(out, sched_events);
	if (!l.known)
		buf_str(out, " -- COMMAND");
	else if (!put_command(&l, out) && r->sched)
		buf_str(out, " -- sleep 10");
	perf_args_release(&l.args);
}
