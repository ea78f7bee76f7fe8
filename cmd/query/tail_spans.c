#include "cmd/query/tail_spans.h"
#include "cmd/cli/say.h"
#include "libtime/explain/episode_id.h"
#include "libtime/tables/tables.h"
#include "render/text/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct strtab *strings_of(const struct tail_run *r)
{
	return &r->ti.tl.stacks->strings;
}

static int say_two(const struct tail_run *r, const char *what, const char *of)
{
	struct buf b = {0};
	escape_visible(&b, of, strlen(of));
	say_line("perfkit %s: %s%s", r->verb, what, buf_cstr(&b));
	buf_release(&b);
	return 2;
}

/* What was not recorded is refused. */
static int say_absent(const struct tail_run *r, const char *what, const char *of)
{
	say_two(r, what, of);
	return 3;
}

int tail_list_names(const struct tail_run *r, const char *why, const uint32_t *names, size_t n)
{
	struct buf b = {0};
	for (size_t i = 0; i < n && i < TAIL_NAMES; i++)
		buf_fmt(&b, "%s %s", i ? "," : "", strtab_get(strings_of(r), names[i]));
	say_line("perfkit %s: %s; %s has %s%s", r->verb, why, r->ti.path,
		 n ? "spans named" : "no spans", buf_cstr(&b));
	buf_release(&b);
	return 2;
}

/* 1 for an event that may begin or end spans: a probe or tracepoint, not the scheduler's. */
static int may_begin_spans(const struct tl_event *e, const char *name)
{
	return e->tracepoint && !e->sched && strchr(name, ':') &&
	       strncmp(name, "sched:", 6) != 0;
}

/* Print that the recording has no spans, and which of its events could make some. */
static int say_no_spans(const struct tail_run *r)
{
	enum { SHOWN = 12 };
	const struct timeline *tl = &r->ti.tl;
	struct buf list = {0}, pair = {0};
	size_t n = 0;
	for (size_t i = 0; i < tl->events.n; i++) {
		const char *name = strtab_get(strings_of(r), tl->events.v[i].name);
		if (!may_begin_spans(&tl->events.v[i], name))
			continue;
		if (n < 2)
			buf_fmt(&pair, "%s%s", n ? ".." : "", name);
		if (n < SHOWN)
			buf_fmt(&list, "%s%s", n ? ", " : "", name);
		n++;
	}
	if (!n)
		say_line("perfkit %s: --by span needs begin and end events (perfkit record "
			 "requests --help), or --with FILE; %s has no spans",
			 r->verb, r->ti.path);
	else
		say_line("perfkit %s: %s has no spans, but these events: %s%s; name the one "
			 "that begins a request and the one that ends it (for a store: to "
			 "perfkit import): --span work=%s%s",
			 r->verb, r->ti.path, buf_cstr(&list), n > SHOWN ? " ..." : "",
			 buf_cstr(&pair), n > 1 ? "" : "..EVENT");
	buf_release(&list);
	buf_release(&pair);
	return 3; /* as tables refuse what was not recorded */
}

/* --- by name -------------------------------------------------------------------------- */

/* Choose the span named by `text` up to "="; 0 when there is none. */
static int has_span(struct tail_run *r, const uint32_t *names, size_t n, const char *text)
{
	size_t len = strcspn(text, "=");
	for (size_t i = 0; i < n; i++) {
		const char *s = strtab_get(strings_of(r), names[i]);
		r->query.episodes.span = names[i];
		if (strlen(s) == len && !memcmp(s, text, len))
			return 1;
	}
	return 0;
}

static int named_span(struct tail_run *r, const uint32_t *names, size_t n, const char *text)
{
	return has_span(r, names, n, text)
		       ? 0
		       : tail_list_names(r, "no span of that name", names, n);
}

void tail_settle_kind(struct tail_run *r)
{
	const struct timeline *tl = &r->ti.tl;
	const struct episode_query *q = &r->query.episodes;
	uint32_t thread;
	int any = 0;
	if (q->kind != EPISODE_SPAN)
		return;
	for (uint32_t i = 0; i < tl->spans.n; i++) {
		if (tl->spans.v[i].name != q->span)
			continue;
		any = 1;
		if (episodes_span_thread(tl, q, i, &thread))
			return;
	}
	if (any)
		r->query.episodes.kind = EPISODE_WINDOW;
}

/* --- by key and label ----------------------------------------------------------------- */

/* Choose the name of the longest span with the key. */
static int find_key(struct tail_run *r)
{
	const struct timeline *tl = &r->ti.tl;
	struct episode_pick *p = &r->query.pick;
	const struct tl_span *longest = NULL;
	int named = r->opt->by && strchr(r->opt->by, ':');
	char *end;
	strtab_find(strings_of(r), r->opt->key, &p->key_text);
	errno = 0;
	p->key = strtoull(r->opt->key, &end, 0);
	p->key = errno || *end ? 0 : p->key;
	for (size_t i = 0; i < tl->spans.n; i++) {
		const struct tl_span *s = &tl->spans.v[i];
		if (s->key_text ? s->key_text != p->key_text : !p->key || s->key != p->key)
			continue;
		if (named && s->name != r->query.episodes.span)
			continue;
		if (!longest || s->end_ns - s->start_ns > longest->end_ns - longest->start_ns)
			longest = s;
	}
	if (!longest)
		return say_absent(
			r, named ? "no span of that name has the key " : "no span has the key ",
			r->opt->key);
	if (!named)
		r->query.episodes.span = longest->name;
	return 0;
}

static int has_label(const struct timeline *tl, uint32_t key)
{
	for (size_t i = 0; i < tl->labels.n; i++)
		if (tl->labels.v[i].key == key)
			return 1;
	return 0;
}

/* The strings id of a label's key; fails if spans have no such label. */
static int label_key(const struct tail_run *r, const char *s, size_t n, uint32_t *key)
{
	char name[256];
	if (n >= sizeof(name))
		return say_absent(r, "no span has the label ", s);
	memcpy(name, s, n);
	name[n] = '\0';
	return strtab_find(strings_of(r), name, key) && has_label(&r->ti.tl, *key)
		       ? 0
		       : say_absent(r, "no span has the label ", name);
}

static int parse_where(struct tail_run *r)
{
	const struct opt_list *l = &r->opt->where;
	struct episode_query *q = &r->query.episodes;
	if (l->n > TAIL_WHERE)
		return say_two(r, "too many --where", "");
	for (size_t i = 0; i < l->n; i++) {
		const char *is = strchr(l->v[i], '=');
		struct label_match *m = &r->where[i];
		*m = (struct label_match){0, 0};
		if (!is)
			return say_two(r, "--where is LABEL=VALUE, not ", l->v[i]);
		int rc = label_key(r, l->v[i], (size_t)(is - l->v[i]), &m->key);
		if (rc)
			return rc;
		strtab_find(strings_of(r), is + 1, &m->value);
	}
	q->where = r->where;
	q->nwhere = l->n;
	return 0;
}

static int parse_labels(struct tail_run *r)
{
	const char *group = r->opt->group;
	int rc = parse_where(r);
	if (!rc && r->query.group_by == GROUP_LABEL)
		rc = label_key(r, group + 6, strlen(group + 6), &r->query.group_label);
	return !rc && r->opt->key ? find_key(r) : rc;
}

/* --- what an episode is --------------------------------------------------------------- */

/* The name in --by, after "span:" or "window:"; NULL without one. */
static const char *name_in(const char *by)
{
	const char *colon = by ? strchr(by, ':') : NULL;
	return colon ? colon + 1 : NULL;
}

static int choose_spans(struct tail_run *r, uint32_t *names, size_t n, int *several)
{
	const char *by = r->opt->by, *name = name_in(by);
	struct episode_query *q = &r->query.episodes;
	q->kind = by && by[0] == 'w' ? EPISODE_WINDOW : EPISODE_SPAN;
	if (!n)
		return say_no_spans(r);
	q->span = names[0];
	q->alone = episodes_only_thread(&r->ti.tl, q, &q->alone_thread);
	int rc = name ? named_span(r, names, n, name) : 0;
	rc = rc ? rc : parse_labels(r);
	*several = !name && n > 1 && !r->opt->key;
	if (!rc && !*several)
		tail_settle_kind(r);
	return rc;
}

static int check_gaps(const struct tail_run *r)
{
	struct err e = {0};
	int rc = tables_need_gaps(&r->ti.tl, &e);
	if (!rc)
		return 0;
	err_prefix(&e, "%s", r->ti.path);
	return input_fail(&r->ti.in, &e);
}

/* The kind that the id names; of spans also the name. */
static int choose_by_id(struct tail_run *r)
{
	struct episode_query *q = &r->query.episodes;
	q->kind = r->query.pick.id.kind;
	if (q->kind == EPISODE_GAP)
		return check_gaps(r);
	if (q->kind != EPISODE_SPAN && q->kind != EPISODE_WINDOW)
		return 0;
	q->span = episode_id_span(&r->ti.tl, &r->query.pick.id);
	q->alone = episodes_only_thread(&r->ti.tl, q, &q->alone_thread);
	return q->span ? parse_labels(r)
		       : say_absent(r, "no span has the id ", r->opt->episode);
}

int tail_choose(struct tail_run *r, uint32_t *names, size_t *n, int *several)
{
	const char *by = r->opt->by;
	const struct opt_list *l = &r->opt->wait.tl.spans;
	const char *asked = l->n == 1 ? l->v[0] : NULL;
	int kind = asked && !strchr(asked, '='); /* of several names: syscalls */
	int labels = r->opt->key || r->opt->where.n || r->query.group_by == GROUP_LABEL;
	struct episode_query *q = &r->query.episodes;
	*n = episodes_span_names(&r->ti.tl, names, TAIL_NAMES);
	if (*n > TAIL_NAMES)
		*n = TAIL_NAMES;
	if (!by && r->opt->episode && !r->query.pick.id.any_kind)
		return choose_by_id(r);
	if (by && !strcmp(by, "gap")) {
		q->kind = EPISODE_GAP;
		return check_gaps(r);
	}
	if (by && strncmp(by, "span", 4) != 0 && strncmp(by, "window", 6) != 0) {
		q->kind = !strcmp(by, "wait") ? EPISODE_WAIT : EPISODE_ACTIVATION;
		return 0;
	}
	if (!by && asked && (!kind || has_span(r, names, *n, asked))) {
		q->kind = EPISODE_SPAN;
		return named_span(r, names, *n, asked);
	}
	return !by && !kind && !labels && *n != 1 ? 0 : choose_spans(r, names, *n, several);
}
