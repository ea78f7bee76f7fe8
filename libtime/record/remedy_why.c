/* remedy_why.c - what a finding says of the line: the options that would help, and why. */
#include "base/text/buf.h"
#include "libtime/record/remedy_internal.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#define ASKED(field) offsetof(struct remedy, field)

/* Changes that are an int in struct remedy. */
static const struct flag {
	size_t asked;
	const char *text;
	enum option_effect effect;
} flags[] = {
	{ASKED(sched), "-a -e sched:sched_switch,sched:sched_waking,...", OPTION_SCHED},
	{ASKED(every), "-e EVENT/freq=N/ for what is sampled, not -F or -c for all",
	 OPTION_EACH_TIME},
	{ASKED(ungroup), "-e a,b instead of -e '{a,b}:S'", OPTION_NO_GROUP},
	{ASKED(mappings), "-a instead of -C, no --synth", OPTION_MAPPINGS},
	{ASKED(samples), "no -n", OPTION_SAMPLES},
	{ASKED(clock), "-k CLOCK_MONOTONIC", OPTION_CLOCK},
	{ASKED(times), "-T", OPTION_TIMES},
	{ASKED(own_ids), "--buildid-mmap", OPTION_MAPPED_IDS},
	{ASKED(build_ids), "--buildid-all", OPTION_ALL_IDS},
};

struct why {
	const struct recording *rec;
	int all_cpus;
	option_say *say;
	void *ctx;
	int failed;
};

static int has_word(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->v.n; i++)
		if (!strcmp(w->v.v[i], word))
			return 1;
	return 0;
}

/* 1 if the lines of two changes have different words, in any order; ERR_NOMEM. */
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
static void say(struct why *w, const struct remedy *one, enum option_effect effect,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void say(struct why *w, const struct remedy *one, enum option_effect effect,
		const char *fmt, ...)
{
	struct remedy with = one ? *one : (struct remedy){0}, same = {.all_cpus = w->all_cpus};
	struct buf b = {0};
	va_list ap;
	with.all_cpus = w->all_cpus;
	int changes = one ? differ(w->rec, &same, &with) : 1;
	w->failed = changes < 0 ? changes : w->failed;
	if (changes <= 0 || w->failed)
		return;
	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	const char *option = buf_cstr(&b);
	w->failed = buf_failed(&b) ? ERR_NOMEM : w->say(w->ctx, effect, option);
	buf_release(&b);
}

static int is_recorded(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (rec->events.v[i].name && !strcmp(rec->events.v[i].name, name))
			return 1;
	return 0;
}

/* 1 if the recorded line is about all CPUs; ERR_NOMEM. */
static int is_of_all_cpus(const struct recording *rec)
{
	struct record_wish wish = {.perf = "perf", .like = rec};
	struct record_plan p;
	int r = record_plan(&p, &wish, NULL);
	r = r ? ERR_NOMEM : has_word(&p.record, "-a");
	record_plan_release(&p);
	return r;
}

/* The scheduler's events that a line with -a lacks; nothing if it lacks all of them. */
static const char *lacking(struct why *w, struct buf *b, const char *otherwise)
{
	size_t asked = 0, missing = 0;
	int all = is_of_all_cpus(w->rec);
	w->failed = all < 0 ? all : w->failed;
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
	say(w, &(struct remedy){.sched = 1}, strcmp(text, last) ? f->effect : OPTION_EXITS,
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
		say(w, f->asked == ASKED(every) ? NULL : &one, f->effect, "%s", f->text);
	}
}

int remedy_why(const struct recording *rec, const struct remedy *r, const struct remedy *all,
	       option_say *take, void *ctx)
{
	struct why w = {.rec = rec, .all_cpus = all->all_cpus, .say = take, .ctx = ctx};
	struct line l = remedy_line(rec, all);
	char ring[PERF_RING_TEXT];
	if (r->only)
		say(&w, &(struct remedy){.only = r->only}, OPTION_ONE_EVENT, "-e %s alone",
		    r->only);
	say_flags(&w, r);
	if (r->dump && l.r.dump)
		say(&w, &(struct remedy){.stacks = 1, .dump = all->dump, .copies = r->copies},
		    r->copies ? OPTION_COPIES : OPTION_LARGER_COPIES, "--call-graph dwarf,%u",
		    remedy_copy(all, l.graph.size));
	else if (r->stacks)
		say(&w, &(struct remedy){.stacks = 1},
		    l.has_stacks ? OPTION_BOTH_SIDES : OPTION_STACKS, "%s",
		    l.per_event ? "call-graph= of each event" : "-g");
	if (r->ring && remedy_larger_ring(&l) > l.ring)
		say(&w, &(struct remedy){.ring = 1}, OPTION_RING, "-m %s",
		    perf_ring_text(ring, remedy_larger_ring(&l)));
	if (r->max_dump)
		say(&w, &(struct remedy){.max_dump = all->max_dump}, OPTION_SMALLER_COPIES,
		    "--call-graph dwarf,%u", all->max_dump);
	if (r->max_freq)
		say(&w, &(struct remedy){.max_freq = all->max_freq}, OPTION_FEWER_SAMPLES,
		    "-F %llu", (unsigned long long)all->max_freq);
	remedy_line_release(&l);
	return w.failed;
}
