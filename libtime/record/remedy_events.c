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
	uint32_t i;
	if (u64map_get(&l->names, hash_bytes(s, n, hash_seed()), &i)) {
		const struct event *ev = &l->rec->events.v[i];
		if (strlen(ev->name) == n && !memcmp(ev->name, s, n))
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

/* Which events of a group are not sampled, but read when others of it are. */
enum group_reads {
	READS_NONE,
	READS_BY_FIRST,  /* {a,b}:S: all but the first */
	READS_BY_MARKED, /* {a,b:S,c:S}: those without the modifier S */
};

/* One event, or a group; borrowed. */
struct part {
	const char *events, *mods; /* of a group: what is in the brackets and after them */
	size_t n, nmods;
	int is_group;
	enum group_reads reads;
};

/* The next event of a part, at *at; its length, 0 at the end. */
static size_t next_member(const struct part *part, size_t *at, const char **s)
{
	const char *p = part->events + *at;
	size_t n;
	*s = next_item(&p, &n);
	*at = (size_t)(p - part->events);
	return *s < part->events + part->n ? n : 0;
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

static int item_is_probe(const struct item *it)
{
	return is_probe(it->name, (size_t)(it->mods + it->nmods - it->name));
}

static int is_marked(const struct item *it)
{
	return it->nmods && memchr(it->mods, 'S', it->nmods) != NULL;
}

static enum group_reads group_reads(const struct line *l, const struct part *part)
{
	const char *s;
	if (part->nmods && memchr(part->mods, 'S', part->nmods))
		return READS_BY_FIRST;
	for (size_t at = 0, n; (n = next_member(part, &at, &s));) {
		struct item it = read_item(l, s, n);
		if (is_marked(&it))
			return READS_BY_MARKED;
	}
	return READS_NONE;
}

/* 1 if the nth event of a part is only read. */
static int is_read(const struct part *part, size_t nth, const struct item *it)
{
	return part->reads == READS_BY_FIRST    ? nth > 0
	       : part->reads == READS_BY_MARKED ? !is_marked(it)
						: 0;
}

/* The next part of a list; 0 at the end. */
static int next_part(const struct line *l, const char **p, struct part *out)
{
	const char *s = *p + strspn(*p, ",}");
	*out = (struct part){.events = s};
	if (*s == '{') {
		out->is_group = 1;
		out->events = s + 1;
		out->n = strcspn(s + 1, "}");
		out->mods = s + 1 + out->n + (s[1 + out->n] == '}');
		out->nmods = strcspn(out->mods, ",");
		out->reads = group_reads(l, out);
		*p = out->mods + out->nmods;
	} else {
		out->events = next_item(&s, &out->n);
		*p = s;
	}
	return out->n > 0;
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

static void look_at_item(struct line *l, const struct item *it)
{
	const char *term;
	if (item_is_probe(it)) {
		l->probes++;
		return;
	}
	l->others = 1;
	l->mixed |= it->tracepoint;
	for (size_t at = 0; next_term(it, &at, &term);) {
		l->mixed |= l->r.max_freq && remedy_starts(term, "freq=");
		l->per_event |= remedy_starts(term, "call-graph=");
	}
}

void remedy_look_at_list(struct line *l, const char *list)
{
	struct part part;
	const char *s;
	while (next_part(l, &list, &part)) {
		for (size_t at = 0, nth = 0, n; (n = next_member(&part, &at, &s)); nth++) {
			struct item it = read_item(l, s, n);
			if (!is_read(&part, nth, &it))
				look_at_item(l, &it);
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

unsigned remedy_list_sched(const struct line *l, const char *list)
{
	struct part part;
	const char *s;
	unsigned set = 0;
	while (next_part(l, &list, &part)) {
		for (size_t at = 0, n; (n = next_member(&part, &at, &s));) {
			struct item it = read_item(l, s, n);
			set |= sched_set(&it);
		}
	}
	return set;
}

/* 1 if an event cannot be recorded again. */
static int is_gone(const struct line *l, const struct item *it)
{
	return l->others && item_is_probe(it);
}

/* Append an event to `list`, unless it is there already or cannot be recorded again. */
static void put_item(struct line *l, struct buf *list, struct item it)
{
	unsigned set = l->r.sched ? sched_set(&it) : 0;
	if (is_gone(l, &it) || (set && !(set & ~l->sched_seen)))
		return;
	l->sched_seen |= set;
	if (list->n)
		buf_char(list, ',');
	if (set && it.nmods) /* :u or :k makes no sense for switches */
		it.nmods = 0;
	put_event(l, list, &it);
}

enum group_fate { GROUP_GONE, GROUP_KEPT, GROUP_APART };

/* A group is taken apart if one of its sampled events is recorded in another way. Without
 * sampled events, nothing would read the others. */
static enum group_fate group_fate(const struct line *l, const struct part *part)
{
	enum group_fate fate = GROUP_GONE;
	const char *s;
	for (size_t at = 0, nth = 0, n; (n = next_member(part, &at, &s)); nth++) {
		struct item it = read_item(l, s, n);
		if (is_read(part, nth, &it) || is_gone(l, &it))
			continue;
		if ((l->r.ungroup && !it.tracepoint) || (l->r.sched && sched_set(&it)))
			return GROUP_APART;
		fate = GROUP_KEPT;
	}
	return fate;
}

static void put_members(struct line *l, struct buf *list, const struct part *part,
			enum group_fate fate)
{
	const char *s;
	for (size_t at = 0, nth = 0, n; (n = next_member(part, &at, &s)); nth++) {
		struct item it = read_item(l, s, n);
		int read = is_read(part, nth, &it);
		if (read && fate == GROUP_KEPT)
			put_term(list, s, n);
		else if (!read || part->reads == READS_BY_FIRST)
			put_item(l, list, it);
	}
}

static void put_part(struct line *l, struct buf *list, const struct part *part)
{
	enum group_fate fate = group_fate(l, part);
	struct buf events = {0};
	if (fate != GROUP_GONE)
		put_members(l, &events, part, fate);
	if (events.n && list->n)
		buf_char(list, ',');
	if (events.n && part->is_group && fate == GROUP_KEPT) {
		buf_fmt(list, "{%s}", buf_cstr(&events));
		buf_add(list, part->mods, part->nmods);
	} else {
		buf_str(list, buf_cstr(&events));
	}
	list->failed = buf_failed(&events) ? events.failed : list->failed;
	buf_release(&events);
}

static int is_verbatim(const struct line *l)
{
	return !l->mixed && !l->r.ungroup && !l->per_event && !(l->probes && l->others);
}

void remedy_put_list(struct line *l, struct words *out, const char *list)
{
	struct buf b = {0};
	struct part part;
	if (is_verbatim(l))
		buf_str(&b, list);
	else
		while (next_part(l, &list, &part))
			put_part(l, &b, &part);
	if (b.n)
		words_events(out, buf_cstr(&b));
	out->failed = buf_failed(&b) ? ERR_NOMEM : out->failed;
	buf_release(&b);
}

void remedy_put_recorded(struct line *l, struct words *out)
{
	struct buf list = {0};
	int unnamed = 0;
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const struct event *ev = &l->rec->events.v[i];
		const char *name = ev->name ? ev->name : "";
		/* "tracepoint 355": the end of the file, which has the names, is missing */
		unnamed |= ev->is_tracepoint && (!*name || strchr(name, ' '));
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
	if (unnamed)
		words_pair(out, "-e", "EVENT");
	out->failed = buf_failed(&list) ? ERR_NOMEM : out->failed;
	buf_release(&list);
}

void remedy_put_probes(const struct line *l, struct record_plan *p, const char *perf)
{
	for (size_t i = 0; i < l->rec->events.n; i++) {
		const char *name = l->rec->events.v[i].name ? l->rec->events.v[i].name : "";
		if (!is_probe(name, strlen(name)) || !shell_is_printable(name))
			continue;
		struct words *w = record_plan_probe(p);
		words_pair(w, perf, "probe");
		words_pair(w, "-x", "FILE");
		words_option(w, "--add", "%.*s=FUNCTION", (int)strcspn(name, "/"), name);
	}
}
