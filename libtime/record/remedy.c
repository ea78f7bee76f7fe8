#include "libtime/record/plan.h"
#include "libtime/record/remedy_internal.h"

#include "base/shellword.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long ull;

void remedy_merge(struct remedy *all, const struct remedy *more)
{
	all->sched |= more->sched;
	all->every |= more->every;
	all->stacks |= more->stacks;
	all->dump = more->dump > all->dump ? more->dump : all->dump;
	all->copies |= more->copies;
	all->ring |= more->ring;
	all->spare |= more->spare;
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

int remedy_is_command(const char *text)
{
	return !strcmp(text, "perf record") || remedy_starts(text, "perf record ") ||
	       remedy_starts(text, "perfkit record ") || remedy_starts(text, "perf probe ");
}

/* --- what the recorded line says -------------------------------------------------------------
 */

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
		l->graph = remedy_graph(a->letter == 'g' ? "fp" : value);
		break;
	case PERF_EVENTS:
		l->has_events = 1;
		remedy_look_at_list(l, value);
		break;
	case PERF_RING:
		l->ring = ring_bytes(value);
		break;
	case PERF_CPUS:
		l->some_cpus = 1;
		break;
	default:
		break;
	}
}

/* --- the line --------------------------------------------------------------------------------
 */

uint32_t remedy_copy(const struct remedy *r, uint32_t size)
{
	size = size > r->dump ? size : r->dump;
	return r->max_dump && size > r->max_dump ? r->max_dump : size;
}

/* Bytes of a --call-graph dwarf for all events; 0: as it is. */
static uint32_t all_copies(const struct line *l)
{
	if (l->per_event || (!l->r.dump && !l->r.max_dump && l->known))
		return 0;
	return l->r.dump || l->graph.size ? remedy_copy(&l->r, l->graph.size) : 0;
}

/* A process that another CPU started is not known where only -C was recorded. */
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
	case PERF_EVENTS: /* written anew, or left out */
		return 1;
	case PERF_FILTER:
	case PERF_TARGET:
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
	/* where so much was lost from large ones, still larger ones do not help */
	while (size < most && size < 512 && size << 20 <= l->ring && !l->r.max_dump)
		size *= 2;
	size = (size < most ? size : most) << 20;
	return size > l->ring ? size : l->ring;
}

static void put_ring(const struct line *l, struct buf *out)
{
	uint64_t bytes = remedy_larger_ring(l);
	if (bytes & 0xfffff)
		buf_fmt(out, " -m %lluK", (ull)bytes >> 10);
	else
		buf_fmt(out, " -m %lluM", (ull)bytes >> 20);
}

static void put_added(const struct line *l, struct buf *out)
{
	const struct remedy *r = &l->r;
	if (r->sched || all_instead(l) || (r->all_cpus && !l->known))
		buf_str(out, " -a");
	if (all_copies(l))
		buf_fmt(out, " --call-graph dwarf,%u", all_copies(l));
	else if (r->stacks && !l->has_stacks && !l->per_event)
		buf_str(out, " -g");
	if (r->ring)
		put_ring(l, out);
	if (r->clock)
		buf_str(out, " -k CLOCK_MONOTONIC");
	if (r->times)
		buf_str(out, " -T");
	if (r->own_ids)
		buf_str(out, " --buildid-mmap");
	else if (r->build_ids)
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

static void put_options(struct line *l, struct buf *out)
{
	for (size_t i = 0; i < l->args.v.n; i++) {
		const struct perf_arg *a = &l->args.v.v[i];
		if (!is_dropped(l, a))
			perf_arg_add(out, a);
		else if (perf_arg_role(a) == PERF_EVENTS && a->value && !l->r.only)
			remedy_put_list(l, out, a->value);
	}
}

int remedy_put_command(const struct line *l, struct buf *out)
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

/* Read it, and settle what contradicts itself. */
static struct line line_of(const struct recording *rec, const struct remedy *r)
{
	struct line l = {.rec = rec, .r = *r};
	l.r.stacks |= r->sched;
	l.r.clock |= r->sched;
	l.mixed = l.others = r->sched;
	if (r->spare) /* what takes more room loses more */
		l.r.dump = 0;
	l.known = read_line(&l);
	if (!l.known)
		look_at_events(&l);
	if (r->only) {
		l.mixed = r->sched;
		l.others = 1;
	}
	return l;
}

int remedy_is_perfkit(const struct recording *rec)
{
	struct line l = line_of(rec, &(struct remedy){0});
	int own = remedy_is_own(&l);
	perf_args_release(&l.args);
	return own;
}

static void put_events(struct line *l, struct buf *out)
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

void remedy_line(struct buf *out, const struct recording *rec, const struct remedy *r)
{
	struct line l = line_of(rec, r);
	if (remedy_is_own(&l)) {
		remedy_own_line(&l, out);
		perf_args_release(&l.args);
		return;
	}
	if (l.probes && !l.others)
		remedy_put_probes(&l, out);
	buf_str(out, "perf record");
	put_added(&l, out);
	put_events(&l, out);
	if (!l.known)
		buf_str(out, " -- COMMAND");
	else if (!remedy_put_command(&l, out) && r->sched)
		buf_str(out, " -- sleep 10");
	perf_args_release(&l.args);
}
