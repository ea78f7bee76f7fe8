#include "libtime/side/otlp.h"
#include "libtime/side/json_pull.h"
#include "libtime/side/when.h"

#include <string.h>

/* A resource's attributes that apply to all its spans. */
struct resource {
	uint32_t service; /* strings id */
	int32_t pid;
};

struct otlp {
	struct side *out;
	struct side_lines *lines;
	struct json_pull j;
	struct resource resource;
	uint32_t service_key, status_key; /* strings ids */
	int rc;                           /* ERR_NOMEM, ERR_LIMIT */
};

int side_is_otlp(const char *text, size_t n)
{
	struct json_pull j;
	json_pull_init(&j, text, n);
	int otlp = json_pull_enter(&j, '{') && json_pull_key(&j) &&
		   (json_pull_is(&j, "resourceSpans") || json_pull_is(&j, "resourceLogs") ||
		    json_pull_is(&j, "resourceMetrics"));
	json_pull_release(&j);
	return otlp;
}

static uint32_t intern(struct otlp *o, const char *s, size_t n)
{
	uint32_t id = 0;
	if (side_intern(o->out, s, n, &id))
		o->rc = ERR_NOMEM;
	return id;
}

/* --- attributes ----------------------------------------------------------------------- */

struct attribute {
	uint32_t key; /* strings id */
	const char *s;
	size_t n; /* of the interned value; 0: none, or an array or object */
};

/* {"stringValue":"x"}, {"intValue":"7"}, {"doubleValue":0.5}, {"boolValue":true} */
static void parse_value(struct otlp *o, struct attribute *a)
{
	struct json_pull *j = &o->j;
	const char *s;
	size_t n;
	if (!json_pull_enter(j, '{')) {
		json_pull_skip(j);
		return;
	}
	while (json_pull_key(j)) {
		int plain = json_pull_is(j, "stringValue") || json_pull_is(j, "intValue") ||
			    json_pull_is(j, "doubleValue") || json_pull_is(j, "boolValue");
		if (!plain || a->n)
			json_pull_skip(j);
		else if (json_pull_scalar(j, &s, &n) && n) {
			uint32_t id = intern(o, s, n);
			a->s = strtab_get(o->out->strings, id);
			a->n = strtab_len(o->out->strings, id);
		}
	}
}

/* The next of a list; its value may come before its key. */
static int next_attribute(struct otlp *o, struct attribute *a)
{
	struct json_pull *j = &o->j;
	const char *s;
	size_t n;
	*a = (struct attribute){.key = 0};
	if (!json_pull_item(j))
		return 0;
	if (!json_pull_enter(j, '{')) {
		json_pull_skip(j);
		return !j->bad;
	}
	while (json_pull_key(j)) {
		if (json_pull_is(j, "key")) {
			if (json_pull_string(j, &s, &n))
				a->key = intern(o, s, n);
		} else if (json_pull_is(j, "value")) {
			parse_value(o, a);
		} else {
			json_pull_skip(j);
		}
	}
	return !j->bad;
}

static int is(const struct otlp *o, const struct attribute *a, const char *key)
{
	return !strcmp(strtab_get(o->out->strings, a->key), key);
}

static void parse_id(const struct attribute *a, int32_t *id)
{
	uint64_t v;
	if (!when_number(a->s, a->n, 1, &v) && v <= INT32_MAX)
		*id = (int32_t)v;
}

static void parse_resource(struct otlp *o)
{
	struct attribute a;
	o->resource = (struct resource){.pid = -1};
	if (!json_pull_enter(&o->j, '{')) {
		json_pull_skip(&o->j);
		return;
	}
	while (json_pull_key(&o->j)) {
		if (!json_pull_is(&o->j, "attributes") || !json_pull_enter(&o->j, '[')) {
			json_pull_skip(&o->j);
			continue;
		}
		while (next_attribute(o, &a)) {
			if (is(o, &a, "service.name"))
				o->resource.service = intern(o, a.s, a.n);
			else if (is(o, &a, "process.pid"))
				parse_id(&a, &o->resource.pid);
		}
	}
}

/* --- spans ---------------------------------------------------------------------------- */

static void label(struct otlp *o, uint32_t key, const char *s, size_t n)
{
	if (side_add_label(o->out, key, s, n))
		o->rc = ERR_NOMEM;
}

static void parse_attributes(struct otlp *o, struct side_span *s, struct side_link *link)
{
	struct attribute a;
	if (!json_pull_enter(&o->j, '[')) {
		json_pull_skip(&o->j);
		return;
	}
	while (next_attribute(o, &a)) {
		if (is(o, &a, "thread.id"))
			parse_id(&a, &s->tid);
		if (is(o, &a, "thread.name"))
			link->thread_name = intern(o, a.s, a.n);
		if (is(o, &a, "process.pid"))
			parse_id(&a, &s->pid);
		if (a.n && a.key)
			label(o, a.key, a.s, a.n);
	}
}

static void parse_status(struct otlp *o)
{
	const char *s;
	size_t n;
	if (!json_pull_enter(&o->j, '{')) {
		json_pull_skip(&o->j);
		return;
	}
	while (json_pull_key(&o->j))
		if (!json_pull_is(&o->j, "code"))
			json_pull_skip(&o->j);
		else if (json_pull_scalar(&o->j, &s, &n) &&
			 ((n == 1 && *s == '2') ||
			  (n == 17 && !memcmp(s, "STATUS_CODE_ERROR", n))))
			label(o, o->status_key, "error", 5);
}

/* 16 hex digits; 0, which is not a valid id, for anything else. */
static uint64_t hex_id(struct json_pull *j)
{
	const char *s;
	size_t n;
	uint64_t id = 0;
	if (!json_pull_string(j, &s, &n) || n != 16)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, s[i] | 0x20);
		if (!s[i] || !at)
			return 0;
		id = id << 4 | (uint64_t)(at - digits);
	}
	return id;
}

static int parse_time(struct json_pull *j, uint64_t *ns)
{
	const char *s;
	size_t n;
	return json_pull_scalar(j, &s, &n) ? when_number(s, n, 1, ns) : -1;
}

/* NULL, or what is wrong with the span. */
static const char *parse_fields(struct otlp *o, struct side_span *x, struct side_link *link)
{
	struct json_pull *j = &o->j;
	int start = -1, end = -1;
	const char *s;
	size_t n;
	while (json_pull_key(j)) {
		if (json_pull_is(j, "startTimeUnixNano"))
			start = parse_time(j, &x->start_ns);
		else if (json_pull_is(j, "endTimeUnixNano"))
			end = parse_time(j, &x->end_ns);
		else if (json_pull_is(j, "spanId"))
			link->id = hex_id(j);
		else if (json_pull_is(j, "parentSpanId"))
			link->parent = hex_id(j);
		else if (json_pull_is(j, "attributes"))
			parse_attributes(o, x, link);
		else if (json_pull_is(j, "status"))
			parse_status(o);
		else if (json_pull_is(j, "name") && json_pull_string(j, &s, &n))
			x->name = intern(o, s, n);
		else if (json_pull_is(j, "traceId") && json_pull_string(j, &s, &n))
			x->key = intern(o, s, n);
		else if (!json_pull_is(j, "name") && !json_pull_is(j, "traceId"))
			json_pull_skip(j);
	}
	return start || end              ? "a span's begin or end is not a number of ns"
	       : x->end_ns < x->start_ns ? "a span ends before it begins"
					 : NULL;
}

static void parse_span(struct otlp *o)
{
	struct side_span x = {.pid = o->resource.pid, .tid = -1, .flags = SIDE_OWN_NUMBER};
	struct side_link link = {0};
	const char *why = parse_fields(o, &x, &link);
	o->out->rows++;
	if (o->j.bad)
		return;
	if (why) {
		side_bad_row(o->out, side_lines_number(o->lines), why);
		side_drop_labels(o->out);
		return;
	}
	if (!link.thread_name)
		x.tid = -1;
	if (o->resource.service) {
		const char *s = strtab_get(o->out->strings, o->resource.service);
		label(o, o->service_key, s, strlen(s));
	}
	if (!o->rc)
		o->rc = side_set_link(o->out, &x, &link);
	if (!o->rc)
		o->rc = side_add_span(o->out, &x);
}

/* --- documents ------------------------------------------------------------------------ */

static void parse_scope_spans(struct otlp *o)
{
	struct json_pull *j = &o->j;
	if (!json_pull_enter(j, '[')) {
		json_pull_skip(j);
		return;
	}
	while (!o->rc && json_pull_item(j)) {
		if (!json_pull_enter(j, '{')) {
			json_pull_skip(j);
			continue;
		}
		while (json_pull_key(j)) {
			if (!json_pull_is(j, "spans") || !json_pull_enter(j, '[')) {
				json_pull_skip(j);
				continue;
			}
			while (!o->rc && json_pull_item(j))
				if (json_pull_enter(j, '{'))
					parse_span(o);
				else
					json_pull_skip(j);
		}
	}
}

/* Spans may come before their resource; then they are skipped, and read at the end. */
static void parse_resource_spans(struct otlp *o)
{
	struct json_pull *j = &o->j;
	const char *later = NULL;
	int known = 0;
	o->resource = (struct resource){.pid = -1};
	if (!json_pull_enter(j, '{')) {
		json_pull_skip(j);
		return;
	}
	while (!o->rc && json_pull_key(j)) {
		if (json_pull_is(j, "resource")) {
			parse_resource(o);
			known = 1;
		} else if (!json_pull_is(j, "scopeSpans")) {
			json_pull_skip(j);
		} else if (known) {
			parse_scope_spans(o);
		} else {
			later = j->p;
			json_pull_skip(j);
		}
	}
	if (later && !j->bad) {
		const char *behind = j->p;
		j->p = later;
		parse_scope_spans(o);
		j->p = j->bad ? j->p : behind;
		j->first = 0;
	}
}

/* 1 if all of it is JSON; otherwise nothing of it is kept. */
static int parse_document(struct otlp *o, const char *text, size_t n)
{
	struct json_pull *j = &o->j;
	size_t spans = o->out->spans.n, bad = (size_t)o->out->bad.n;
	json_pull_release(j);
	json_pull_init(j, text, n);
	if (json_pull_enter(j, '{')) {
		while (!o->rc && json_pull_key(j)) {
			if (!json_pull_is(j, "resourceSpans") || !json_pull_enter(j, '[')) {
				json_pull_skip(j);
				continue;
			}
			while (!o->rc && json_pull_item(j))
				parse_resource_spans(o);
		}
	}
	o->rc = j->nomem ? ERR_NOMEM : o->rc;
	if (o->rc || json_pull_done(j))
		return 1;
	o->out->spans.n = spans;
	o->out->bad.n = bad;
	side_drop_labels(o->out);
	return 0;
}

/* A pretty-printed document spans lines; then it is the whole file. */
static int parse_line(struct otlp *o, const char *s, size_t n, struct err *e)
{
	uint64_t rows = o->out->rows;
	if (parse_document(o, s, n))
		return 0;
	int r = 0;
	o->out->rows = rows;
	if (o->j.truncated && side_lines_number(o->lines) == 1) {
		while ((r = side_lines_join(o->lines, &s, &n, e)) > 0)
			;
		if (r < 0 || parse_document(o, s, n))
			return r;
		side_lines_unjoin(o->lines);
	}
	o->out->rows = rows + 1;
	side_bad_row(o->out, side_lines_number(o->lines), "it is no whole JSON document");
	return 0;
}

int side_otlp_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct otlp o = {.out = out, .lines = l};
	const char *s;
	size_t n;
	int r = 0;
	out->clock = SIDE_CLOCK_REAL;
	out->nesting = NEST_PARENTS;
	o.service_key = intern(&o, "service.name", 12);
	o.status_key = intern(&o, "status", 6);
	while (!o.rc && (r = side_lines_next(l, &s, &n, e)) > 0)
		if (n && (r = parse_line(&o, s, n, e)) < 0)
			break;
	json_pull_release(&o.j);
	if (o.rc == ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "more than 2^32 spans or labels");
	return o.rc ? err_nomem(e) : r < 0 ? r : 0;
}
