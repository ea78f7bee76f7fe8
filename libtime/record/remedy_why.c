/* remedy_why.c - what a finding says of the line: the options that would help, and why. */
#include "libtime/record/remedy_internal.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#define ASKED(field) offsetof(struct remedy, field)

/* What is asked for by an int of struct remedy. */
static const struct flag {
	size_t asked;
	const char *text, *why;
} flags[] = {
	{ASKED(sched), "-a -e sched:sched_switch,sched:sched_waking,...",
	 "every switch and wakeup of all CPUs"},
	{ASKED(every), "-e EVENT/freq=N/ for what is sampled, not -F or -c for all",
	 "tracepoints are then recorded each time"},
	{ASKED(ungroup), "-e a,b instead of -e '{a,b}:S'", "all threads are counted"},
	{ASKED(mappings), "-a instead of -C, no --synth", "mappings of all processes"},
	{ASKED(samples), "no -n", "samples are wanted"},
	{ASKED(clock), "-k CLOCK_MONOTONIC", "a clock that all CPUs and programs share"},
	{ASKED(times), "-T", "every record has a time"},
	{ASKED(own_ids), "--buildid-mmap", "each mapping has the build-id of its file"},
	{ASKED(build_ids), "--buildid-all", "build-ids of all mapped files"},
};

struct why {
	struct buf *out;
	const struct recording *rec;
	size_t start;
	int all_cpus;
};

static int has_word(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->v.n; i++)
		if (!strcmp(w->v.v[i], word))
			return 1;
	return 0;
}

/* 1 when the lines of two changes have different words, in whatever order; ERR_NOMEM. */
static int differ(const struct recording *rec, const struct remedy *one,
		  const struct remedy *other)
{
	struct record_wish wish = {.perf = "perf", .like = rec, .change = *one};
	struct record_plan a, b;
	int rc = record_plan(&a, &wish, NULL);
	wish.change = *other;
	int rb = record_plan(&b, &wish, NULL);
	int differ = a.record.v.n != b.record.v.n;
	for (size_t i = 0; i < a.record.v.n && !differ; i++)
		differ = !has_word(&b.record, a.record.v.v[i]);
	record_plan_release(&a);
	record_plan_release(&b);
	return rc || rb ? ERR_NOMEM : differ;
}

int remedy_changes(const struct recording *rec, const struct remedy *r)
{
	const struct remedy same = {.stacks = 1, .all_cpus = r->all_cpus};
	struct remedy with = same;
	remedy_merge(&with, r);
	return differ(rec, &same, &with);
}

/* Say an option where it, alone, changes the line; `one` NULL: always. */
static void say(struct why *w, const struct remedy *one, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct why *w, const struct remedy *one, const char *why, const char *fmt, ...)
{
	struct remedy with = one ? *one : (struct remedy){0}, same = {.all_cpus = w->all_cpus};
	va_list ap;
	with.all_cpus = w->all_cpus;
	int changes = one ? differ(w->rec, &same, &with) : 1;
	w->out->failed = changes < 0 ? changes : w->out->failed;
	if (changes <= 0)
		return;
	if (w->out->n > w->start)
		buf_str(w->out, "; ");
	va_start(ap, fmt);
	buf_vfmt(w->out, fmt, ap);
	va_end(ap);
	buf_fmt(w->out, ": %s", why);
}

static int is_recorded(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (rec->events.v[i].name && !strcmp(rec->events.v[i].name, name))
			return 1;
	return 0;
}

/* 1 when the line, unchanged, is about all CPUs; ERR_NOMEM. */
static int is_of_all_cpus(const struct recording *rec)
{
	struct record_wish wish = {.perf = "perf", .like = rec};
	struct record_plan p;
	int r = record_plan(&p, &wish, NULL);
	r = r ? ERR_NOMEM : has_word(&p.record, "-a");
	record_plan_release(&p);
	return r;
}

/* The scheduler's events that a line with -a lacks; nothing where it lacks them all. */
static const char *lacking(struct why *w, struct buf *b, const char *otherwise)
{
	size_t asked = 0, missing = 0;
	int all = is_of_all_cpus(w->rec);
	w->out->failed = all < 0 ? all : w->out->failed;
	for (const struct plan_event *ev = plan_sched_events; ev->name; ev++) {
		if (ev->optional)
			continue;
		asked++;
		if (is_recorded(w->rec, ev->name))
			continue;
		buf_str(b, missing++ ? "," : "-e ");
		buf_str(b, ev->name);
	}
	return all > 0 && missing && missing < asked ? buf_cstr(b) : otherwise;
}

static void say_sched(struct why *w, const struct flag *f)
{
	static const char last[] = "-e sched:sched_process_exit";
	struct buf b = {0};
	const char *text = lacking(w, &b, f->text);
	say(w, &(struct remedy){.sched = 1}, strcmp(text, last) ? f->why : "when threads end",
	    "%s", text);
	buf_release(&b);
}

static void say_flags(struct why *w, const struct remedy *r)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		const struct flag *f = &flags[i];
		struct remedy one = {0};
		int asked;
		memcpy(&asked, (const char *)r + f->asked, sizeof(asked));
		if (!asked || (f->asked == ASKED(build_ids) && r->own_ids))
			continue;
		memcpy((char *)&one + f->asked, &asked, sizeof(asked));
		if (f->asked == ASKED(sched)) {
			say_sched(w, f);
			continue;
		}
		/* a line that is written anew gives rates to the events they are meant for */
		say(w, f->asked == ASKED(every) ? NULL : &one, f->why, "%s", f->text);
	}
}

void remedy_why(struct buf *out, const struct recording *rec, const struct remedy *r,
		const struct remedy *all)
{
	struct why w = {.out = out, .rec = rec, .start = out->n, .all_cpus = all->all_cpus};
	struct line l = remedy_line(rec, all);
	char ring[RING_TEXT];
	if (r->only)
		say(&w, &(struct remedy){.only = r->only}, "one event alone needs no turns",
		    "-e %s alone", r->only);
	say_flags(&w, r);
	if (r->dump && l.r.dump)
		say(&w, &(struct remedy){.stacks = 1, .dump = all->dump, .copies = r->copies},
		    r->copies ? "stack copies need no frame pointers" : "larger stack copies",
		    "--call-graph dwarf,%u", remedy_copy(all, l.graph.size));
	else if (r->stacks)
		say(&w, &(struct remedy){.stacks = 1},
		    l.has_stacks ? "both sides of the stacks" : "stacks, with the callers",
		    l.per_event ? "call-graph= of each event" : "-g");
	if (r->ring && remedy_larger_ring(&l) > l.ring)
		say(&w, &(struct remedy){.ring = 1}, "larger buffers", "-m %s",
		    remedy_ring_text(&l, ring));
	if (r->max_dump)
		say(&w, &(struct remedy){.max_dump = all->max_dump}, "smaller stack copies",
		    "--call-graph dwarf,%u", all->max_dump);
	if (r->max_freq)
		say(&w, &(struct remedy){.max_freq = all->max_freq}, "fewer samples", "-F %llu",
		    (unsigned long long)all->max_freq);
	perf_args_release(&l.args);
}
