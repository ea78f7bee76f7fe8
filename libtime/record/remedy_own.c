/* remedy_own.c - the remedy for a recording of `perfkit record`: its line, corrected. */
#include "base/text/shellword.h"
#include "libtime/record/calls.h"
#include "libtime/record/remedy_internal.h"

#include <stdio.h>
#include <string.h>

static const struct event *event_named(const struct line *l, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const char *s = l->rec->events.v[i].name;
		if (s && !strncmp(s, name, n) && (!s[n] || s[n] == '/'))
			return &l->rec->events.v[i];
	}
	return NULL;
}

/* The event that samples CPU time. */
static const struct event *cpu_event(const struct line *l)
{
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		if (ev->name && !ev->is_tracepoint && !remedy_starts(ev->name, "dummy"))
			return ev;
	}
	return NULL;
}

int remedy_is_own(const struct line *l)
{
	int probe = 0;
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const char *name = l->rec->events.v[i].name;
		probe |= name && remedy_starts(name, "perfkit:");
	}
	return probe ||
	       (l->known && record_plan_is(l->rec->features.argv, l->rec->features.nargv));
}

static int is_region(const struct event *ev)
{
	return calls_reads(ev) && remedy_starts(ev->name, "perfkit:") &&
	       shell_is_printable(ev->name);
}

int remedy_counts_calls(const struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++)
		if (is_region(&rec->events.v[i]))
			return 1;
	return 0;
}

static const char *mode_of(const struct line *l)
{
	if (remedy_counts_calls(l->rec))
		return "calls";
	if (event_named(l, "perfkit:req_start") || event_named(l, "perfkit:request"))
		return "requests";
	return event_named(l, "irq:softirq_entry") || event_named(l, "perfkit:lock_wait")
		       ? "tail"
		       : "offcpu";
}

/* If only chosen threads' switches have stacks, two events have this name. */
static const struct event *switch_event(const struct line *l)
{
	const struct event *found = NULL;
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		if (!ev->name || !remedy_starts(ev->name, "sched:sched_switch"))
			continue;
		if (!found || ev->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			found = ev;
	}
	return found;
}

static int has_option(const struct line *l, const char *word)
{
	for (size_t i = 0; l->known && i < l->args.v.n; i++)
		if (!strcmp(l->args.v.v[i].word, word))
			return 1;
	return 0;
}

static const char *filter_of(const struct line *l)
{
	for (size_t i = 0; l->known && i < l->args.v.n; i++)
		if (perf_arg_role(&l->args.v.v[i]) == PERF_FILTER)
			return l->args.v.v[i].value;
	return NULL;
}

/* The option that made a filter like prev_comm == "db" || prev_comm ~ "front-*" || prev_pid ==
 * 7, by its first field. */
static void put_chosen(const struct line *l, struct words *out)
{
	static const struct {
		const char *field, *option;
	} by[] = {{"prev_comm", "--comm"}, {"prev_pid", "--tid"}, {"CPU", "--cpu"}};
	const char *p = filter_of(l);
	struct buf list = {0};
	size_t k = 0;
	while (p && k < 3 && !remedy_starts(p, by[k].field))
		k++;
	if (!p || k == 3)
		return;
	for (; p; p = strstr(p, "|| ")) {
		p += strspn(p, "| ");
		if (!remedy_starts(p, by[k].field))
			continue;
		p += strcspn(p, "=~");
		p += strspn(p, "=~ \"");
		if (list.n)
			buf_char(&list, ',');
		buf_add(&list, p, strcspn(p, k ? " " : "\""));
	}
	words_pair(out, by[k].option, buf_cstr(&list));
	out->failed = buf_failed(&list) ? ERR_NOMEM : out->failed;
	buf_release(&list);
}

static void put_stacks(const struct line *l, struct words *out)
{
	const struct event *sw = switch_event(l);
	const struct remedy *r = &l->r;
	uint32_t had = sw ? sw->attr.sample_stack_user : PLAN_DUMP;
	uint32_t size = had || (r->dump && r->copies) ? remedy_copy(r, had) : 0;
	int chain = sw && sw->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	/* auto took frame pointers and added registers: it may again */
	if (chain && !had && !size && sw->attr.sample_regs_user)
		return;
	if (size && size != PLAN_DUMP)
		words_option(out, "--call-graph", "dwarf,%u", size);
	else if (!size)
		words_pair(out, "--call-graph", chain || r->stacks ? "fp" : "none");
}

static void put_rate(const struct line *l, struct words *out)
{
	const struct event *ev = cpu_event(l);
	if (!strcmp(mode_of(l), "offcpu")) /* it has no samples of CPU time */
		return;
	uint64_t freq = ev && attr_flag(&ev->attr, ATTR_FREQ) ? ev->attr.sample_period : 0;
	if (l->r.max_freq && freq > l->r.max_freq)
		freq = l->r.max_freq;
	if (freq && freq != PLAN_FREQ)
		words_option(out, "-F", "%llu", (ull)freq);
	const char *name = l->r.only ? l->r.only : ev ? ev->name : NULL;
	/* the two events that it chooses by default */
	if (name && shell_is_printable(name) && strcmp(name, "cpu-clock") != 0 &&
	    !remedy_starts(name, "cycles"))
		words_events(out, name);
}

/* The recording does not contain the places of the requests' functions. */
static void put_functions(const struct line *l, struct words *out)
{
	if (strcmp(mode_of(l), "requests") != 0)
		return;
	words_pair(out, "--begin", "FUNC");
	if (event_named(l, "perfkit:req_end"))
		words_pair(out, "--end", "FUNC");
	if (!l->known || l->args.command >= l->rec->features.nargv)
		words_pair(out, "--exec", "FILE");
}

/* Is there an event of this name with another ending? */
static int has_ending(const struct line *l, const char *name, size_t n, const char *ending)
{
	char with[128];
	int size = snprintf(with, sizeof(with), "%.*s%s", (int)n, name, ending);
	return size < (int)sizeof(with) && event_named(l, with) != NULL;
}

/* -r for the region that begins with this event: NAME and NAME__return are of a function,
 * NAME_begin and NAME_end of lines, whose numbers are not recorded. */
static void put_region(const struct line *l, struct words *out, const char *name)
{
	static const char begin[] = "_begin";
	size_t n = strcspn(name, "/"), before = sizeof(begin) - 1, system = strlen("perfkit:");
	if (has_ending(l, name, n, "__return"))
		words_option(out, "-r", "%.*s", (int)(n - system), name + system);
	else if (n > before && !memcmp(name + n - before, begin, before) &&
		 has_ending(l, name, n - before, "_end"))
		words_pair(out, "-r", "FILE:A-B");
}

static void put_regions(const struct line *l, struct words *out)
{
	for (size_t i = 0; i < l->rec->events.n; i++)
		if (is_region(&l->rec->events.v[i]))
			put_region(l, out, l->rec->events.v[i].name);
}

static void put_counters(struct words *out, const char *list)
{
	struct buf b = {0};
	calls_counters(&b, list);
	if (b.n && strcmp(buf_cstr(&b), PLAN_COUNTERS) != 0)
		words_events(out, buf_cstr(&b));
	out->failed = buf_failed(&b) ? ERR_NOMEM : out->failed;
	buf_release(&b);
}

static int is_word(const struct line *l, size_t i, const char *word)
{
	return i < l->rec->features.nargv && !strcmp(l->rec->features.argv[i], word);
}

/* Whose calls, what is counted, and for how long; 1 if that replaces the command. */
static int put_calls(const struct line *l, struct words *out)
{
	const char *list = NULL;
	int of_processes = 0, each = !l->known || has_option(l, "--per-thread");
	size_t at = l->args.command;
	put_regions(l, out);
	for (size_t i = 0; l->known && i < l->args.v.n; i++) {
		const struct perf_arg *a = &l->args.v.v[i];
		if (perf_arg_role(a) == PERF_EVENTS && a->value && !list)
			list = a->value;
		if (perf_arg_role(a) == PERF_TARGET && strcmp(a->word, "--per-thread") != 0) {
			perf_arg_add(out, a);
			of_processes = 1;
		}
	}
	if (list)
		put_counters(out, list);
	if (!each)
		words_add(out, "--inherit");
	if (of_processes && is_word(l, at, "sleep") && at + 1 < l->rec->features.nargv)
		words_pair(out, "--duration", l->rec->features.argv[at + 1]);
	return of_processes;
}

static void put_question(const struct line *l, struct words *out)
{
	put_functions(l, out);
	put_chosen(l, out);
	put_stacks(l, out);
	put_rate(l, out);
}

int remedy_own_line(const struct line *l, struct words *out)
{
	uint64_t ring = l->r.ring ? remedy_larger_ring(l) : l->ring;
	int calls = remedy_counts_calls(l->rec), whole = 0;
	words_add(out, "%s", mode_of(l));
	if (calls)
		whole = put_calls(l, out);
	else
		put_question(l, out);
	if (l->r.own_ids || has_option(l, "--buildid-mmap"))
		words_add(out, "--buildid-mmap");
	if (ring && ring != (calls ? calls_ring(1) : PLAN_RING))
		words_ring(out, ring);
	return whole;
}
