/* remedy_events.c - the events of a remedy line, and what changes in each. */
#include "base/text/shellword.h"
#include "libtime/record/plan.h"
#include "libtime/record/remedy_internal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

int remedy_starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* --- lists ---------------------------------------------------------------------------- */

/* Is it a tracepoint? `n` bytes as written after -e. */
static int is_tracepoint(const struct line *l, const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n), *slash = memchr(s, '/', n);
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		if (ev->name && strlen(ev->name) == n && !memcmp(ev->name, s, n))
			return ev->is_tracepoint;
	}
	if (!colon || (slash && slash < colon) || remedy_starts(s, "mem:"))
		return 0;
	size_t mods = strspn(colon + 1, "ukhHGpPSDIWeb");
	return mods < n - (size_t)(colon + 1 - s);
}

/* A probe of `perfkit record` or `perf probe -x`. Those are removed after use, and perf refuses
 * a line with one that does not exist. */
static int is_probe(const char *s, size_t n)
{
	return memchr(s, ':', n) &&
	       (remedy_starts(s, "perfkit:") || remedy_starts(s, "probe_"));
}

/* The next event of a list like "a,{b,c/x,y/}:S", and its length *n; 0 at the end. Skips
 * brackets and what follows them. */
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

/* The parts of an event; borrowed. */
struct item {
	const char *name, *terms, *mods;
	size_t nname, nterms, nmods;
	int tracepoint, whole; /* whole: not split into terms */
};

static struct item read_item(const struct line *l, const char *s, size_t n)
{
	struct item it = {.name = s, .nname = n, .mods = s + n};
	const char *slash = memchr(s, '/', n);
	const char *last = slash ? memrchr(s, '/', n) : NULL;
	it.tracepoint = is_tracepoint(l, s, n);
	it.whole = remedy_starts(s, "mem:") || (slash && last == slash);
	if (it.whole)
		return it;
	if (slash) {
		it.nname = (size_t)(slash - s);
		it.terms = slash + 1;
		it.nterms = (size_t)(last - slash - 1);
		it.mods = last + 1;
	} else {
		const char *colon = memchr(s, ':', n);
		if (colon && it.tracepoint)
			colon = memchr(colon + 1, ':', n - (size_t)(colon + 1 - s));
		if (colon) {
			it.nname = (size_t)(colon - s);
			it.mods = colon + 1;
		}
	}
	it.nmods = n - (size_t)(it.mods - s);
	return it;
}

/* The next of an item's terms from *at on; 0 at the end. */
static size_t next_term(const struct item *it, size_t *at, const char **term)
{
	while (*at < it->nterms) {
		const char *s = it->terms + *at, *comma = memchr(s, ',', it->nterms - *at);
		size_t n = comma ? (size_t)(comma - s) : it->nterms - *at;
		*at += n + 1;
		*term = s;
		if (n)
			return n;
	}
	return 0;
}

static void copy_word(char *to, size_t size, const char *s)
{
	size_t n = strcspn(s, ",/");
	n = n < size ? n : size - 1;
	memcpy(to, s, n);
	to[n] = '\0';
}

struct graph remedy_graph(const char *value)
{
	struct graph g = {0};
	copy_word(g.kind, sizeof(g.kind), value);
	if (!strcmp(g.kind, "dwarf"))
		g.size = value[5] == ',' ? (uint32_t)strtoul(value + 6, NULL, 10) : 8192;
	return g;
}

void remedy_look_at_list(struct line *l, const char *list)
{
	size_t n;
	for (const char *s = next_item(&list, &n); n; s = next_item(&list, &n)) {
		struct item it = read_item(l, s, n);
		const char *term;
		if (is_probe(s, n)) {
			l->probes++;
			continue;
		}
		l->others = 1;
		l->mixed |= it.tracepoint;
		for (size_t at = 0; next_term(&it, &at, &term);) {
			l->mixed |= l->r.max_freq && remedy_starts(term, "freq=");
			l->per_event |= remedy_starts(term, "call-graph=");
		}
	}
}

/* --- one event ------------------------------------------------------------------------ */

/* The line's rate, freq=99 or period=1000; nothing if it has none. */
static void put_rate(const struct line *l, struct buf *b, const char *before, const char *after)
{
	uint64_t cap = l->r.max_freq;
	uint64_t freq = cap && (!l->freq || l->freq > cap) ? cap : l->freq;
	if (l->period && !cap)
		buf_fmt(b, "%speriod=%llu%s", before, (ull)l->period, after);
	else if (freq)
		buf_fmt(b, "%sfreq=%llu%s", before, (ull)freq, after);
}

static int is_switch(const struct item *it)
{
	return it->nname == 18 && remedy_starts(it->name, "sched:sched_switch");
}

/* The new kind of stacks of an event. `own`: by its terms. */
static struct graph item_graph(const struct line *l, const struct item *it, struct graph own)
{
	static const struct graph chain = {"fp", 0};
	const struct remedy *r = &l->r;
	struct graph g = own.kind[0] ? own : l->graph;
	int crowd = it->tracepoint && !is_switch(it);
	if ((!g.kind[0] || !strcmp(g.kind, "no")) && r->stacks && !crowd)
		g = chain;
	/* copies fill the buffers; waits need them most */
	if (r->max_dump && crowd && !own.kind[0] && !strcmp(g.kind, "dwarf"))
		g = chain;
	if (r->copies && r->dump && !strcmp(g.kind, "fp") && !crowd)
		g = (struct graph){"dwarf", r->dump};
	if (!strcmp(g.kind, "dwarf"))
		g.size = remedy_copy(r, g.size);
	return g;
}

static void put_term(struct buf *b, const char *s, size_t n)
{
	if (b->n)
		buf_char(b, ',');
	buf_add(b, s, n);
}

/* Its terms with its new rate and stacks. */
static void put_terms(const struct line *l, struct buf *b, const struct item *it)
{
	struct graph own = {0};
	const char *term;
	int rate = 0, each = l->r.sched || l->r.every;
	uint64_t cap = l->r.max_freq;
	for (size_t at = 0, n; (n = next_term(it, &at, &term));) {
		int freq = remedy_starts(term, "freq="),
		    period = remedy_starts(term, "period=");
		if (l->per_event && remedy_starts(term, "call-graph=")) {
			copy_word(own.kind, sizeof(own.kind), term + 11);
			own.size = own.size ? own.size : !strcmp(own.kind, "dwarf") ? 8192 : 0;
		} else if (l->per_event && remedy_starts(term, "stack-size=")) {
			own.size = (uint32_t)strtoul(term + 11, NULL, 10);
		} else if ((freq || period) && it->tracepoint && each) {
			continue;
		} else if (cap && !it->tracepoint &&
			   (period || (freq && strtoull(term + 5, NULL, 10) > cap))) {
			buf_fmt(b, "%sfreq=%llu", b->n ? "," : "", (ull)cap);
			rate = 1;
		} else {
			put_term(b, term, n);
			rate |= freq || period;
		}
	}
	if (!rate && l->mixed && !it->tracepoint)
		put_rate(l, b, b->n ? "," : "", "");
	struct graph g = l->per_event ? item_graph(l, it, own) : (struct graph){0};
	if (g.kind[0] && b->n)
		buf_char(b, ',');
	if (g.kind[0])
		plan_put_graph(b, g.kind, g.size);
}

static void put_event(const struct line *l, struct buf *b, const struct item *it)
{
	struct buf terms = {0};
	const char *mods = it->mods;
	size_t nmods = it->nmods;
	if (!it->whole)
		put_terms(l, &terms, it);
	buf_add(b, it->name, it->nname);
	if (terms.n)
		buf_fmt(b, "/%s/", buf_cstr(&terms));
	if (!terms.n && nmods && *mods == ':') {
		mods++;
		nmods--;
	}
	if (!terms.n && nmods)
		buf_char(b, ':');
	buf_add(b, mods, nmods);
	buf_release(&terms);
}

/* The scheduler's events that an item matches; a glob matches several. */
static unsigned sched_set(const struct item *it)
{
	char name[64];
	unsigned set = 0;
	if (it->nname >= sizeof(name) || !remedy_starts(it->name, "sched:"))
		return 0;
	memcpy(name, it->name, it->nname);
	name[it->nname] = '\0';
	for (unsigned i = 0; plan_sched_events[i].name; i++)
		if (!plan_sched_events[i].optional &&
		    !fnmatch(name, plan_sched_events[i].name, 0))
			set |= 1u << i;
	return set;
}

/* Append an event to `list`, unless it is there already or cannot be recorded again. */
static void put_item(struct line *l, struct buf *list, const char *s, size_t n)
{
	struct item it = read_item(l, s, n);
	unsigned set = l->r.sched ? sched_set(&it) : 0;
	if ((is_probe(s, n) && l->others) || (set && !(set & ~l->sched_seen)))
		return;
	l->sched_seen |= set;
	if (list->n)
		buf_char(list, ',');
	if (set && it.nmods) /* :u or :k makes no sense for switches */
		it.nmods = 0;
	put_event(l, list, &it);
}

static int is_verbatim(const struct line *l)
{
	return !l->mixed && !l->r.ungroup && !l->per_event && !(l->probes && l->others);
}

void remedy_put_list(struct line *l, struct words *out, const char *list)
{
	struct buf b = {0};
	size_t n;
	if (is_verbatim(l))
		buf_str(&b, list);
	else
		for (const char *s = next_item(&list, &n); n; s = next_item(&list, &n))
			put_item(l, &b, s, n);
	if (b.n)
		words_pair(out, "-e", buf_cstr(&b));
	out->failed = buf_failed(&b) ? ERR_NOMEM : out->failed;
	buf_release(&b);
}

void remedy_put_recorded(struct line *l, struct words *out)
{
	struct buf list = {0};
	int nameless = 0;
	for (size_t i = 0; i < l->rec->events.n && i < PLAN_PROBES; i++) {
		const struct event *ev = &l->rec->events.v[i];
		const char *name = ev->name ? ev->name : "";
		/* "tracepoint 355": the end of the file, which has the names, is missing */
		nameless |= ev->is_tracepoint && (!*name || strchr(name, ' '));
		if (!*name || !shell_is_printable(name) || strchr(name, ' ') ||
		    remedy_starts(name, "dummy") || event_name_is_off_cpu(name))
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
	remedy_put_list(l, out, buf_cstr(&list));
	if (nameless)
		words_pair(out, "-e", "EVENT");
	out->failed = buf_failed(&list) ? ERR_NOMEM : out->failed;
	buf_release(&list);
}

void remedy_put_probes(const struct line *l, struct record_plan *p, const char *perf)
{
	struct words *w = p->probes;
	for (size_t i = 0; i < l->rec->events.n && i < PLAN_PROBES; i++) {
		const char *name = l->rec->events.v[i].name ? l->rec->events.v[i].name : "";
		if (!is_probe(name, strlen(name)) || !shell_is_printable(name))
			continue;
		words_pair(w, perf, "probe");
		words_pair(w, "-x", "FILE");
		words_option(w++, "--add", "%.*s=FUNCTION", (int)strcspn(name, "/"), name);
	}
}
