#include "libtime/side/chrome.h"
#include "base/hash.h"
#include "libtime/side/json_pull.h"
#include "libtime/side/when.h"

#include <string.h>

enum { MICROSECOND = 1000 };

/* One event of the file. */
struct event {
	struct side_span span; /* start_ns: ts */
	uint64_t dur_ns;
	uint32_t category; /* strings id */
	char phase;
	uint8_t has_time, has_dur, has_tid;
	const char *why; /* what is wrong with it, or NULL */
};

/* A span that has begun but not ended. */
struct begun {
	uint64_t start_ns;
	uint32_t name, key, category;
	uint32_t label, nlabels; /* in chrome.labels */
	uint32_t below;          /* as chrome.top: the one around it */
	int32_t pid, tid;
};

struct chrome {
	struct side *out;
	struct json_pull j;
	VEC(struct begun) begun;
	VEC(struct side_label) labels; /* of those */
	struct u64map top;   /* lane_of → index + 1 of the innermost begun; 0: none */
	uint64_t phases;     /* events that have one */
	int torn;            /* the text ends inside of the list of events */
	const char *counted; /* lines are counted up to here */
	uint64_t line;
	int rc; /* ERR_NOMEM, ERR_LIMIT */
};

int side_is_chrome(const char *text, size_t n)
{
	struct json_pull j;
	json_pull_init(&j, text, n);
	char c = json_pull_peek(&j);
	json_pull_release(&j);
	return c == '[' || c == '{';
}

static uint64_t line_of(struct chrome *c)
{
	const char *at = c->j.bad ? c->j.bad_at : c->j.p;
	for (; c->counted < at; c->counted++)
		c->line += *c->counted == '\n';
	return c->line;
}

static uint32_t intern(struct chrome *c, const char *s, size_t n)
{
	uint32_t id = 0;
	if (side_intern(c->out, s, n, &id))
		c->rc = ERR_NOMEM;
	return id;
}

/* --- an event ------------------------------------------------------------------------- */

static void parse_args(struct chrome *c)
{
	struct json_pull *j = &c->j;
	const char *s;
	size_t n;
	if (!json_pull_enter(j, '{')) {
		json_pull_skip(j);
		return;
	}
	while (json_pull_key(j)) {
		uint32_t key = intern(c, j->key, j->key_n);
		if (json_pull_scalar(j, &s, &n) && n && key &&
		    side_add_label(c->out, key, s, n))
			c->rc = ERR_NOMEM;
	}
}

static uint8_t parse_time(struct chrome *c, uint64_t *ns, struct event *x)
{
	const char *s;
	size_t n;
	if (!json_pull_scalar(&c->j, &s, &n) || when_number(s, n, MICROSECOND, ns)) {
		x->why = "a time is not a number of microseconds";
		return 0;
	}
	return 1;
}

/* Other values than numbers cannot be matched with a kernel thread. */
static void parse_number(struct chrome *c, int32_t *id)
{
	const char *s;
	size_t n;
	uint64_t v;
	if (json_pull_scalar(&c->j, &s, &n) && !when_number(s, n, 1, &v) && v && v <= INT32_MAX)
		*id = (int32_t)v;
}

static void parse_text(struct chrome *c, uint32_t *id)
{
	const char *s;
	size_t n;
	if (json_pull_scalar(&c->j, &s, &n))
		*id = intern(c, s, n);
}

static void parse_phase(struct chrome *c, char *phase)
{
	const char *s;
	size_t n;
	*phase = json_pull_string(&c->j, &s, &n) && n == 1 ? *s : '\0';
}

static void parse_tid(struct chrome *c, struct event *x)
{
	parse_number(c, &x->span.tid);
	x->has_tid = 1;
}

static void parse_field(struct chrome *c, struct event *x)
{
	struct json_pull *j = &c->j;
	if (json_pull_is(j, "ph"))
		parse_phase(c, &x->phase);
	else if (json_pull_is(j, "ts"))
		x->has_time = parse_time(c, &x->span.start_ns, x);
	else if (json_pull_is(j, "dur"))
		x->has_dur = parse_time(c, &x->dur_ns, x);
	else if (json_pull_is(j, "name"))
		parse_text(c, &x->span.name);
	else if (json_pull_is(j, "cat"))
		parse_text(c, &x->category);
	else if (json_pull_is(j, "id"))
		parse_text(c, &x->span.key);
	else if (json_pull_is(j, "pid"))
		parse_number(c, &x->span.pid);
	else if (json_pull_is(j, "tid"))
		parse_tid(c, x);
	else if (json_pull_is(j, "args"))
		parse_args(c);
	else
		json_pull_skip(j);
}

/* --- spans ---------------------------------------------------------------------------- */

static void add(struct chrome *c, struct side_span *s)
{
	if (!c->rc)
		c->rc = side_add_span(c->out, s);
}

static void complete(struct chrome *c, struct event *x)
{
	x->span.end_ns = x->span.start_ns + x->dur_ns;
	if (x->span.end_ns > INT64_MAX)
		x->why = "a time is past 2^63 ns";
	else
		add(c, &x->span);
}

/* Begins and ends of one lane match: of one thread, or of one id. */
static uint64_t lane_of(const struct event *x)
{
	uint64_t lane = (uint64_t)(uint32_t)x->span.pid << 32 | (uint32_t)x->span.tid;
	if (x->phase == 'b' || x->phase == 'e')
		lane = hash_u64(hash_u64((uint64_t)(uint32_t)x->span.pid << 32 | x->span.key) ^
				((uint64_t)x->category << 32 | x->span.name)) |
		       1ull << 63;
	return lane;
}

static void begin(struct chrome *c, const struct event *x)
{
	size_t from = c->out->labels.n;
	struct begun b = {.start_ns = x->span.start_ns,
			  .name = x->span.name,
			  .key = x->span.key,
			  .label = (uint32_t)c->labels.n,
			  .pid = x->span.pid,
			  .tid = x->span.tid};
	if (!u64map_get(&c->top, lane_of(x), &b.below))
		b.below = 0;
	side_drop_labels(c->out); /* they stay in place until others are added */
	b.nlabels = (uint32_t)(from - c->out->labels.n);
	for (size_t i = c->out->labels.n; i < from && !c->rc; i++)
		c->rc = vec_push(&c->labels, c->out->labels.v[i]);
	if (!c->rc && (c->begun.n >= UINT32_MAX - 2 || c->labels.n >= UINT32_MAX))
		c->rc = ERR_LIMIT;
	if (!c->rc &&
	    (vec_push(&c->begun, b) || u64map_put(&c->top, lane_of(x), (uint32_t)c->begun.n)))
		c->rc = ERR_NOMEM;
}

/* Labels of the begin, added to those of the end, which are there already. */
static int add_labels(struct chrome *c, const struct begun *b)
{
	for (uint32_t i = b->label; i < b->label + b->nlabels; i++)
		if (vec_push(&c->out->labels, c->labels.v[i]))
			return ERR_NOMEM;
	return 0;
}

static void end(struct chrome *c, struct event *x)
{
	uint32_t at;
	if (!u64map_get(&c->top, lane_of(x), &at) || !at) {
		x->why = "an end without its begin";
		return;
	}
	const struct begun *b = &c->begun.v[at - 1];
	struct side_span s = {.start_ns = b->start_ns,
			      .end_ns = x->span.start_ns,
			      .name = b->name,
			      .key = b->key,
			      .pid = b->pid,
			      .tid = b->tid,
			      .flags = x->phase == 'e' ? SIDE_NO_THREAD : 0};
	if (u64map_put(&c->top, lane_of(x), b->below) || add_labels(c, b))
		c->rc = ERR_NOMEM;
	if (s.end_ns < s.start_ns)
		x->why = "a span ends before it begins";
	else
		add(c, &s);
}

static void parse_event(struct chrome *c)
{
	struct event x = {.span = {.pid = -1, .tid = -1}};
	while (json_pull_key(&c->j))
		parse_field(c, &x);
	c->phases += x.phase != '\0';
	if (c->j.bad || !x.phase || !strchr("XBEbe", x.phase)) {
		side_drop_labels(c->out);
		c->out->rows += (uint64_t)c->j.truncated;
		if (c->j.truncated)
			side_bad_row(c->out, line_of(c), "the last event is torn");
		return;
	}
	c->out->rows++;
	if (!x.has_tid && strchr("XBE", x.phase)) { /* uftrace's pid is the thread's */
		x.span.tid = x.span.pid;
		x.span.pid = -1;
	}
	if (!x.has_time && !x.why)
		x.why = "an event has no time";
	if (!x.why && x.phase == 'X')
		complete(c, &x);
	else if (!x.why && (x.phase == 'B' || x.phase == 'b'))
		begin(c, &x);
	else if (!x.why)
		end(c, &x);
	side_drop_labels(c->out);
	if (x.why)
		side_bad_row(c->out, line_of(c), x.why);
}

/* --- the file ------------------------------------------------------------------------- */

/* The list of events. Alone in the file, it need not be closed: writers that are killed leave
 * it so. */
static void parse_events(struct chrome *c, int alone)
{
	struct json_pull *j = &c->j;
	while (!c->rc && json_pull_item(j)) {
		if (alone && !json_pull_peek(j))
			return;
		if (!json_pull_enter(j, '{')) {
			json_pull_skip(j);
			alone &= !j->bad;
			continue;
		}
		parse_event(c);
		if (j->bad)
			return;
	}
	c->torn = j->truncated && !alone;
}

/* 0: there is no list of events. */
static int parse_file(struct chrome *c)
{
	int found = 0;
	if (json_pull_enter(&c->j, '[')) {
		parse_events(c, 1);
		return c->phases || c->j.bad;
	}
	if (!json_pull_enter(&c->j, '{'))
		return 0;
	while (!c->rc && json_pull_key(&c->j))
		if (json_pull_is(&c->j, "traceEvents") && json_pull_enter(&c->j, '[')) {
			parse_events(c, 0);
			found = 1;
		} else {
			json_pull_skip(&c->j);
		}
	return found;
}

int side_chrome_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct chrome c = {.out = out, .line = 1};
	const char *s;
	size_t n;
	int r = side_lines_rest(l, &s, &n, e);
	if (r <= 0)
		return r;
	out->nesting = NEST_ANY;
	c.counted = s;
	json_pull_init(&c.j, s, n);
	int found = parse_file(&c);
	c.rc = c.j.nomem ? ERR_NOMEM : c.rc;
	r = c.rc == ERR_LIMIT ? err_set(e, c.rc, "more than 2^32 spans or labels")
	    : c.rc            ? err_nomem(e)
	    : !found          ? err_set(e, ERR_FORMAT,
					"JSON, but neither OTLP traces (resourceSpans first) "
						 "nor a Chrome trace (traceEvents)")
			      : 0;
	const char *why = c.j.bad && !c.j.truncated ? "it is no JSON from here on"
			  : c.torn                  ? "the list of events is torn"
			  : !c.j.bad && !c.j.depth && !json_pull_done(&c.j)
				  ? "something follows the trace"
				  : NULL;
	out->rows += !r && why;
	if (!r && why)
		side_bad_row(out, line_of(&c), why);
	json_pull_release(&c.j);
	vec_release(&c.begun);
	vec_release(&c.labels);
	u64map_release(&c.top);
	return r;
}
