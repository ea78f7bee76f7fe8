#include "libtime/record/remedy_internal.h"

#include "base/text/shellword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void remedy_merge(struct remedy *all, const struct remedy *more)
{
	all->sched |= more->sched;
	all->every |= more->every;
	all->stacks |= more->stacks;
	all->dump = more->dump > all->dump ? more->dump : all->dump;
	all->copies |= more->copies;
	all->ring |= more->ring;
	all->lossy |= more->lossy;
	if (more->max_dump && (!all->max_dump || more->max_dump < all->max_dump))
		all->max_dump = more->max_dump;
	all->clock |= more->clock;
	if (more->max_freq && (!all->max_freq || more->max_freq < all->max_freq))
		all->max_freq = more->max_freq;
	all->ungroup |= more->ungroup;
	all->build_ids |= more->build_ids;
	all->own_ids |= more->own_ids;
	all->times |= more->times;
	all->samples |= more->samples;
	all->mappings |= more->mappings;
	all->all_cpus |= more->all_cpus;
	all->only = all->only ? all->only : more->only;
}

/* --- the recorded line ------------------------------------------------------ */

/* "8M,64M": the second size is that of AUX areas. */
static uint64_t ring_of(const char *value)
{
	char first[PERF_RING_TEXT];
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, ","), value);
	return perf_ring_bytes(first, PAGE);
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
		l->graph = remedy_graph(a->letter == 'g' ? "fp" : value);
		break;
	case PERF_EVENTS:
		l->has_events = 1;
		remedy_look_at_list(l, value);
		break;
	case PERF_RING:
		l->ring = ring_of(value);
		break;
	case PERF_CPUS:
		l->some_cpus = 1;
		break;
	default:
		break;
	}
}

/* --- the line ------------------------------------------------------------------------- */

uint32_t remedy_copy(const struct remedy *r, uint32_t size)
{
	size = size > r->dump ? size : r->dump;
	return r->max_dump && size > r->max_dump ? r->max_dump : size;
}

/* Bytes of a --call-graph dwarf for all events; 0: unchanged. */
static uint32_t all_copies(const struct line *l)
{
	if (l->per_event || (!l->r.dump && !l->r.max_dump && l->known))
		return 0;
	return l->r.dump || l->graph.size ? remedy_copy(&l->r, l->graph.size) : 0;
}

/* With only -C, processes that other CPUs started are unknown. */
static int all_instead(const struct line *l)
{
	return l->r.mappings && l->some_cpus;
}

static int is_dropped(const struct line *l, const struct perf_arg *a)
{
	const struct remedy *r = &l->r;
	switch (perf_arg_role(a)) {
	case PERF_FREQ:
	case PERF_COUNT:
		return l->mixed || r->max_freq;
	case PERF_STACKS:
		return l->per_event || all_copies(l) > 0;
	case PERF_SIDES:
		return r->dump || r->stacks;
	case PERF_EVENTS: /* written again, or left out */
		return 1;
	case PERF_FILTER:
	case PERF_TARGET:
	case PERF_CGROUPS:
	case PERF_OFF_CPU:
		return r->sched;
	case PERF_ALL_CPUS:
	case PERF_CPUS:
		return r->sched || all_instead(l);
	case PERF_SYNTH:
		return r->mappings;
	case PERF_RING:
		return r->ring;
	case PERF_CLOCK:
		return r->clock;
	case PERF_NO_BUILDID:
	case PERF_BUILDIDS:
		return r->build_ids || r->own_ids;
	case PERF_NO_SAMPLES:
		return r->samples;
	case PERF_NO_TIMES:
	case PERF_TIMES:
		return r->times;
	case PERF_OUTPUT:
	case PERF_ACTS:
		return 1;
	default:
		return 0;
	}
}

uint64_t remedy_larger_ring(const struct line *l)
{
	uint32_t cpus = l->rec->features.cpus_online;
	uint64_t most = 1024, size = 64;
	while (most > 1 && cpus && most * cpus > 1024)
		most /= 2;
	/* if that much was lost from large buffers, larger ones do not help */
	while (size < most && size < 512 && size << 20 <= l->ring && !l->r.max_dump)
		size *= 2;
	size = (size < most ? size : most) << 20;
	return size > l->ring ? size : l->ring;
}

static void put_added(const struct line *l, struct words *out)
{
	const struct remedy *r = &l->r;
	if (r->sched || all_instead(l) || (r->all_cpus && !l->known))
		words_add(out, "-a");
	if (all_copies(l))
		words_option(out, "--call-graph", "dwarf,%u", all_copies(l));
	else if (r->stacks && !l->has_stacks && !l->per_event)
		words_add(out, "-g");
	if (r->ring)
		words_ring(out, remedy_larger_ring(l));
	if (r->clock)
		words_pair(out, "-k", "CLOCK_MONOTONIC");
	if (r->times)
		words_add(out, "-T");
	if (r->own_ids)
		words_add(out, "--buildid-mmap");
	else if (r->build_ids)
		words_add(out, "--buildid-all");
	uint64_t cap = r->max_freq;
	if (l->mixed)
		return;
	if (cap)
		words_option(out, "-F", "%llu",
			     (ull)(l->freq && l->freq < cap ? l->freq : cap));
	else if (!l->known && l->freq)
		words_option(out, "-F", "%llu", (ull)l->freq);
	else if (!l->known && l->period > 1)
		words_option(out, "-c", "%llu", (ull)l->period);
}

static void put_options(struct line *l, struct words *out)
{
	for (size_t i = 0; i < l->args.v.n; i++) {
		const struct perf_arg *a = &l->args.v.v[i];
		if (!is_dropped(l, a))
			perf_arg_add(out, a);
		else if (perf_arg_role(a) == PERF_EVENTS && a->value && !l->r.only)
			remedy_put_list(l, out, a->value);
	}
}

/* Append the recorded command after "--", or COMMAND if it cannot be shown; 0 if there is none.
 */
static int put_command(const struct line *l, struct words *out)
{
	const struct features *f = &l->rec->features;
	int shown = l->known;
	if (l->known && l->args.command >= f->nargv)
		return 0;
	for (size_t i = l->args.command; shown && i < f->nargv; i++)
		shown = shell_is_printable(f->argv[i]);
	words_add(out, "--");
	if (!shown)
		words_add(out, "COMMAND");
	for (size_t i = l->args.command; shown && i < f->nargv; i++)
		words_add(out, "%s", f->argv[i]);
	return 1;
}

/* Derive the line from the recording's events if it was not recorded. */
static void look_at_events(struct line *l)
{
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		const char *name = ev->name ? ev->name : "";
		l->mixed |= ev->is_tracepoint;
		if (!remedy_starts(name, "dummy"))
			remedy_look_at_list(l, name);
		if (!l->has_stacks && ev->attr.sample_stack_user > l->graph.size)
			l->graph = (struct graph){"dwarf", ev->attr.sample_stack_user};
		if (!l->has_stacks && ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN &&
		    !l->r.dump)
			l->r.stacks = 1;
		if (ev->is_tracepoint)
			continue;
		if (attr_flag(&ev->attr, ATTR_FREQ))
			l->freq = ev->attr.sample_period;
		else if (!remedy_starts(ev->name ? ev->name : "", "dummy"))
			l->period = ev->attr.sample_period;
	}
}

/* 1 if the recorded words are of perf record and can be shown. */
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

/* Names without memory are those of no event; the shortage is noted. */
static void index_names(struct line *l)
{
	uint32_t has;
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const char *name = l->rec->events.v[i].name;
		uint64_t h = name ? hash_bytes(name, strlen(name), hash_seed()) : 0;
		if (name && !u64map_get(&l->names, h, &has) &&
		    u64map_put(&l->names, h, (uint32_t)i))
			return;
	}
}

struct line remedy_line(const struct recording *rec, const struct remedy *r)
{
	struct line l = {.rec = rec, .r = *r};
	l.r.stacks |= r->sched;
	l.r.clock |= r->sched;
	l.mixed = l.others = r->sched;
	if (r->lossy) /* larger copies lose more records */
		l.r.dump = 0;
	index_names(&l);
	l.known = read_line(&l);
	if (!l.known)
		look_at_events(&l);
	if (r->only) {
		l.mixed = r->sched;
		l.others = 1;
	}
	return l;
}

void remedy_line_release(struct line *l)
{
	u64map_release(&l->names);
	perf_args_release(&l->args);
}

int remedy_is_perfkit(const struct recording *rec)
{
	struct line l = remedy_line(rec, &(struct remedy){0});
	int own = remedy_is_own(&l);
	remedy_line_release(&l);
	return own;
}

/* A filter is of the events in front of it; perf may be told to record them twice, once with a
 * filter. */
static const struct perf_arg *switch_filter(const struct line *l)
{
	const struct perf_arg *filter = NULL;
	int switches = 0, whole = 0; /* -e with switches, and those that are not filtered */
	for (size_t i = 0; l->known && i < l->args.v.n; i++) {
		const struct perf_arg *a = &l->args.v.v[i];
		enum perf_role role = perf_arg_role(a);
		if (role == PERF_EVENTS) {
			switches = a->value && remedy_list_sched(l, a->value) & 1;
			whole += switches;
		} else if (switches && (role == PERF_FILTER || role == PERF_CGROUPS)) {
			filter = a;
			switches = 0;
			whole--;
		}
	}
	return whole ? NULL : filter;
}

void remedy_switch_filter(struct buf *out, const struct recording *rec)
{
	struct line l = remedy_line(rec, &(struct remedy){0});
	const struct perf_arg *filter = switch_filter(&l);
	struct words w = {0};
	if (filter)
		perf_arg_add(&w, filter);
	words_line(out, &w);
	out->failed = w.failed ? w.failed : out->failed;
	words_release(&w);
	remedy_line_release(&l);
}

static void put_events(struct line *l, struct words *out)
{
	if (l->known)
		put_options(l, out);
	if (l->r.only)
		remedy_put_list(l, out, l->r.only);
	else if (!l->has_events && (!l->known || l->mixed))
		remedy_put_recorded(l, out);
	const struct plan_event *ev = plan_sched_events;
	for (unsigned i = 0; l->r.sched && ev[i].name; i++)
		if (!ev[i].optional && !(l->sched_seen & 1u << i))
			remedy_put_list(l, out, ev[i].name);
}

int remedy_plan(struct record_plan *p, const struct record_wish *wish)
{
	struct line l = remedy_line(wish->like, &wish->change);
	struct words *w = &p->record;
	int own = remedy_is_own(&l), whole = 0;
	if (!own && l.probes && !l.others)
		remedy_put_probes(&l, p, wish->perf);
	words_pair(w, own ? "perfkit" : wish->perf, "record");
	if (own) {
		whole = remedy_own_line(&l, w);
	} else {
		put_added(&l, w);
		put_events(&l, w);
	}
	if (!whole && !put_command(&l, w) && wish->change.sched && !own) {
		words_add(w, "--");
		words_pair(w, "sleep", "10");
	}
	remedy_line_release(&l);
	return w->failed;
}
