#include "libtime/spans/span_def.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct text { /* a piece of a string */
	const char *p;
	size_t n;
};

/* One --span option. */
struct definition {
	const char *whole;
	struct text name, begin, end;
	struct text key[2][SPAN_KEY_FIELDS]; /* of begin and end */
	uint32_t nkey;
	uint8_t once, by_cpu;
};

struct finder {
	struct span_roles *out;
	struct spans *spans;
	struct strtab *strings;
	const struct recording *rec;
	const struct tracepoints *formats;
	struct err *e;
};

static struct text text_of(const char *s)
{
	return (struct text){s, strlen(s)};
}

static int text_is(struct text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.p, s, t.n);
}

static int text_cmp(struct text a, struct text b)
{
	int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
	return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

/* Cut `t` at the first `sep`; *rest is what follows. 0 if there is no `sep`. */
static int split(struct text t, const char *sep, struct text *first, struct text *rest)
{
	const char *at = memmem(t.p, t.n, sep, strlen(sep));
	if (!at)
		return 0;
	*first = (struct text){t.p, (size_t)(at - t.p)};
	*rest = (struct text){at + strlen(sep), t.n - first->n - strlen(sep)};
	return 1;
}

static int drop_suffix(struct text *t, const char *suffix)
{
	size_t n = strlen(suffix);
	if (t->n <= n || memcmp(t->p + t->n - n, suffix, n) != 0)
		return 0;
	t->n -= n;
	return 1;
}

static int drop_prefix(struct text *t, const char *prefix)
{
	size_t n = strlen(prefix);
	if (t->n <= n || memcmp(t->p, prefix, n) != 0)
		return 0;
	t->p += n;
	t->n -= n;
	return 1;
}

/* Group and name of an event, from its format, else from its name in the recording. */
static void names_of(const struct finder *f, uint32_t event, struct text *group,
		     struct text *name)
{
	const struct event *ev = &f->rec->events.v[event];
	const struct tracepoint *tp = tracepoint_of(f->formats, ev);
	struct text rest;
	*group = text_of(tp ? tp->system : "");
	*name = text_of(tp ? tp->name : ev->name ? ev->name : "");
	if (!tp && split(*name, ":", group, &rest) && split(rest, ":", name, &rest) == 0)
		*name = rest;
}

static int intern(struct finder *f, struct text group, struct text name, uint32_t *id)
{
	struct buf b = {.max = 1024};
	int r;
	if (group.n) {
		buf_add(&b, group.p, group.n);
		buf_char(&b, ':');
	}
	buf_add(&b, name.p, name.n);
	r = buf_failed(&b) ? ERR_NOMEM : strtab_intern_n(f->strings, b.v, b.n, id);
	buf_release(&b);
	return r;
}

static int add_pair(struct finder *f, const struct span_kind *kind, const uint32_t event[2],
		    const struct span_key key[2])
{
	struct span_role role = {0};
	if (spans_kind(f->spans, kind, &role.kind))
		return err_nomem(f->e);
	for (int end = 0; end < 2; end++) {
		role.event = event[end];
		role.end = (uint8_t)end;
		role.key = key[end];
		if (vec_push(&f->out->v, role))
			return err_nomem(f->e);
	}
	return 0;
}

/* --- pairs by their names ------------------------------------------------------------- */

enum form { FORM_RETURN, FORM_SUFFIX, FORM_SYSCALL };

struct candidate {
	struct text group, base;
	uint32_t event;
	uint8_t form, end;
};

struct candidates {
	VEC(struct candidate) v;
};

static int candidate_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int c = (x->form > y->form) - (x->form < y->form);
	if (!c)
		c = text_cmp(x->base, y->base);
	if (!c)
		c = text_cmp(x->group, y->group);
	if (!c)
		c = (x->end > y->end) - (x->end < y->end);
	return c ? c : x->event < y->event ? -1 : x->event > y->event;
}

static int same_pair(const struct candidate *x, const struct candidate *y)
{
	return x->form == y->form && !text_cmp(x->group, y->group) &&
	       !text_cmp(x->base, y->base) && !x->end && y->end;
}

static int is_probe(const struct tracepoint *tp)
{
	struct tp_field f;
	return tracepoint_field(tp, "__probe_ip", &f) ||
	       tracepoint_field(tp, "__probe_func", &f) ||
	       tracepoint_field(tp, "__probe_ret_ip", &f);
}

static int add_candidate(struct candidates *all, const struct candidate *c, const char *suffix,
			 enum form form, int end)
{
	struct candidate x = *c;
	if (*suffix && !drop_suffix(&x.base, suffix))
		return 0;
	while (form == FORM_SUFFIX && x.base.n && x.base.p[x.base.n - 1] == '_')
		x.base.n--;
	if (!x.base.n)
		return 0;
	x.form = (uint8_t)form;
	x.end = (uint8_t)end;
	return vec_push(&all->v, x) ? ERR_NOMEM : 1;
}

/* Which pairs a user's probe may belong to. */
static int probe_candidates(struct candidates *all, const struct candidate *c)
{
	static const char *const suffix[2][4] = {{"_start", "_begin", "_entry", "_enter"},
						 {"_done", "_end", "_return", "_exit"}};
	int r = add_candidate(all, c, "__return", FORM_RETURN, 1);
	if (r)
		return r < 0 ? r : 0;
	r = add_candidate(all, c, "", FORM_RETURN, 0);
	for (int end = 0; end < 2; end++)
		for (size_t i = 0; r >= 0 && i < 4; i++)
			r = add_candidate(all, c, suffix[end][i], FORM_SUFFIX, end);
	return r < 0 ? r : 0;
}

static int syscall_candidates(struct candidates *all, struct candidate c, struct text only)
{
	c.form = FORM_SYSCALL;
	c.end = (uint8_t)drop_prefix(&c.base, "sys_exit_");
	if (!c.end && !drop_prefix(&c.base, "sys_enter_"))
		return 0;
	return only.n && text_cmp(only, c.base) ? 0 : vec_push(&all->v, c);
}

/* If both events have a field `key`, that is the key. */
static int field_key(const struct finder *f, const uint32_t event[2], struct span_key key[2])
{
	for (int end = 0; end < 2; end++) {
		const struct tracepoint *tp =
			tracepoint_of(f->formats, &f->rec->events.v[event[end]]);
		if (!tp || !tracepoint_field(tp, "key", &key[end].field[0]))
			return 0;
		key[end].n = 1;
	}
	return 1;
}

/* The pairs among the candidates of one form and base name, [i, end): group by group, begins
 * before ends. */
static int add_run(struct finder *f, const struct candidate *v, size_t i, size_t end)
{
	int several = text_cmp(v[i].group, v[end - 1].group) != 0, r = 0;
	for (; !r && i + 1 < end; i++) {
		struct span_kind kind = {0};
		struct span_key key[2] = {0};
		uint32_t event[2] = {v[i].event, v[i + 1].event};
		if (!same_pair(&v[i], &v[i + 1]))
			continue;
		if (v[i].form != FORM_SYSCALL && field_key(f, event, key))
			kind.by = SPAN_BY_KEY;
		if (kind.by != SPAN_BY_KEY)
			key[0].n = key[1].n = 0;
		if (intern(f, several ? v[i].group : text_of(""), v[i].base, &kind.name))
			return err_nomem(f->e);
		r = add_pair(f, &kind, event, key);
	}
	return r;
}

static int add_candidates(struct finder *f, struct candidates *all)
{
	size_t n = all->v.n;
	int r = 0;
	if (n)
		qsort(all->v.v, n, sizeof(*all->v.v), candidate_order);
	for (size_t i = 0, end; !r && i < n; i = end) {
		const struct candidate *v = all->v.v;
		for (end = i + 1;
		     end < n && v[end].form == v[i].form && !text_cmp(v[end].base, v[i].base);)
			end++;
		r = add_run(f, v, i, end);
	}
	return r;
}

static int find_probes(struct finder *f)
{
	struct candidates all = {0};
	int r = 0;
	for (uint32_t i = 0; !r && i < f->rec->events.n; i++) {
		struct candidate c = {.event = i};
		const struct tracepoint *tp = tracepoint_of(f->formats, &f->rec->events.v[i]);
		if (!tp || !is_probe(tp))
			continue;
		names_of(f, i, &c.group, &c.base);
		r = probe_candidates(&all, &c);
	}
	r = r ? err_nomem(f->e) : add_candidates(f, &all);
	vec_release(&all.v);
	return r;
}

/* All sys_enter_X/sys_exit_X, or those of one X. */
static int find_syscalls(struct finder *f, struct text only, const char *whole)
{
	struct candidates all = {0};
	int r = 0;
	for (uint32_t i = 0; !r && i < f->rec->events.n; i++) {
		struct candidate c = {.event = i};
		names_of(f, i, &c.group, &c.base);
		if (text_is(c.group, "syscalls"))
			r = syscall_candidates(&all, c, only);
	}
	r = r ? err_nomem(f->e) : add_candidates(f, &all);
	if (!r && !all.v.n)
		r = err_set(f->e, ERR_USAGE,
			    "--span %s: no such system call was recorded by its own "
			    "events, syscalls:sys_enter_* and sys_exit_*",
			    whole);
	vec_release(&all.v);
	return r;
}

/* --- --span --------------------------------------------------------------------------- */

static int bad_form(const struct finder *f, const char *text)
{
	return err_set(f->e, ERR_USAGE,
		       "--span %s: must be NAME=BEGIN..END[,key=FIELD][,once], or syscalls, "
		       "irq, softirq, block, contention",
		       text);
}

/* FIELD or FIELD/FIELD2, joined by "+". */
static int parse_key(const struct finder *f, struct definition *d, const char *text)
{
	struct text rest = text_of(text + strlen("key=")), one = {0}, other = {0};
	for (int more = 1; more; d->nkey++) {
		more = split(rest, "+", &one, &other);
		struct text piece = more ? one : rest;
		rest = other;
		if (d->nkey == SPAN_KEY_FIELDS || !piece.n)
			return bad_form(f, text);
		d->key[0][d->nkey] = d->key[1][d->nkey] = piece;
		split(piece, "/", &d->key[0][d->nkey], &d->key[1][d->nkey]);
		if (!d->key[0][d->nkey].n || !d->key[1][d->nkey].n)
			return bad_form(f, text);
	}
	return 0;
}

static int parse_span(const struct finder *f, struct definition *d, const char *text)
{
	struct text pair;
	d->whole = text;
	if (!split(text_of(text), "=", &d->name, &pair) ||
	    !split(pair, "..", &d->begin, &d->end) || !d->name.n || !d->begin.n || !d->end.n)
		return bad_form(f, text);
	return 0;
}

/* The words after a definition: key=..., once. */
static int parse_more(const struct finder *f, struct definition *d, const char *const *texts,
		      size_t n, size_t *i)
{
	for (; *i + 1 < n; ++*i) {
		const char *word = texts[*i + 1];
		int r = 0;
		if (!strcmp(word, "once"))
			d->once = 1;
		else if (!strncmp(word, "key=", 4))
			r = parse_key(f, d, word);
		else
			return 0;
		if (r)
			return r;
	}
	return 0;
}

static int find_event(const struct finder *f, const struct definition *d, struct text want,
		      uint32_t *out)
{
	for (uint32_t i = 0; i < f->rec->events.n; i++) {
		struct text group, name;
		names_of(f, i, &group, &name);
		int fits = !text_cmp(want, name);
		if (!fits && want.n == group.n + 1 + name.n && want.p[group.n] == ':')
			fits = !memcmp(want.p, group.p, group.n) &&
			       !memcmp(want.p + group.n + 1, name.p, name.n);
		*out = i;
		if (fits && f->rec->events.v[i].is_tracepoint)
			return 0;
	}
	return err_set(f->e, ERR_USAGE, "--span %s: no event %.*s in this recording", d->whole,
		       (int)want.n, want.p);
}

static int find_key(const struct finder *f, const struct definition *d, uint32_t event,
		    const struct text *names, struct span_key *key)
{
	const struct tracepoint *tp = tracepoint_of(f->formats, &f->rec->events.v[event]);
	for (key->n = 0; key->n < d->nkey; key->n++) {
		struct text want = names[key->n];
		char name[128] = "";
		if (want.n < sizeof(name))
			memcpy(name, want.p, want.n);
		if (!tp || !tracepoint_field(tp, name, &key->field[key->n]))
			return err_set(
				f->e, ERR_USAGE, "--span %s: %s has no field %.*s", d->whole,
				f->rec->events.v[event].name ? f->rec->events.v[event].name
							     : "its event",
				(int)want.n, want.p);
	}
	return 0;
}

static int add_definition(struct finder *f, const struct definition *d)
{
	struct span_kind kind = {.by = d->nkey     ? SPAN_BY_KEY
				       : d->by_cpu ? SPAN_BY_CPU
						   : SPAN_BY_THREAD,
				 .once = d->once};
	struct span_key key[2] = {0};
	uint32_t event[2];
	int r = find_event(f, d, d->begin, &event[0]);
	if (!r)
		r = find_event(f, d, d->end, &event[1]);
	for (int end = 0; !r && end < 2; end++)
		r = find_key(f, d, event[end], d->key[end], &key[end]);
	if (!r && intern(f, text_of(""), d->name, &kind.name))
		r = err_nomem(f->e);
	return r ? r : add_pair(f, &kind, event, key);
}

/* The kernel's pairs that one word names. */
static int kernel_pair(const char *word, const char *text[3], int *by_cpu)
{
	static const struct {
		const char *word, *span, *key;
		int by_cpu;
	} pairs[] = {
		{"irq", "irq=irq:irq_handler_entry..irq:irq_handler_exit", NULL, 1},
		{"softirq", "softirq=irq:softirq_entry..irq:softirq_exit", NULL, 1},
		{"block", "block=block:block_rq_issue..block:block_rq_complete",
		 "key=dev+sector", 0},
		{"contention", "contention=lock:contention_begin..lock:contention_end", NULL,
		 0},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (strcmp(word, pairs[i].word) != 0)
			continue;
		text[0] = pairs[i].span;
		text[1] = pairs[i].key;
		text[2] = "once";
		*by_cpu = pairs[i].by_cpu;
		return 1;
	}
	return 0;
}

/* Handle texts[*i] and the words that belong to it. */
static int find_named(struct finder *f, const char *const *texts, size_t n, size_t *i)
{
	struct definition d = {0};
	struct text only = text_of(texts[*i]);
	const char *kernel[3];
	int by_cpu, r;
	size_t at = 0;
	if (text_is(only, "syscalls") || drop_prefix(&only, "syscalls:"))
		return find_syscalls(f, text_is(only, "syscalls") ? text_of("") : only,
				     texts[*i]);
	if (kernel_pair(texts[*i], kernel, &by_cpu)) {
		r = parse_span(f, &d, kernel[0]);
		if (!r && kernel[1])
			r = parse_more(f, &d, kernel, 3, &at);
		d.by_cpu = (uint8_t)by_cpu;
	} else {
		r = parse_span(f, &d, texts[*i]);
		if (!r)
			r = parse_more(f, &d, texts, n, i);
	}
	return r ? r : add_definition(f, &d);
}

static int role_order(const void *a, const void *b)
{
	const struct span_role *x = a, *y = b;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->end != y->end)
		return x->end ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

void span_roles_order(struct span_roles *r)
{
	size_t n = 0;
	if (r->v.n)
		qsort(r->v.v, r->v.n, sizeof(*r->v.v), role_order);
	for (size_t i = 0; i < r->v.n; i++)
		if (!n || role_order(&r->v.v[n - 1], &r->v.v[i]))
			r->v.v[n++] = r->v.v[i];
	r->v.n = n;
}

int spandefs_find(struct span_roles *out, struct spans *s, struct strtab *strings,
		  const struct recording *rec, const struct tracepoints *formats,
		  const char *const *texts, size_t n, struct err *e)
{
	struct finder f = {out, s, strings, rec, formats, e};
	*out = (struct span_roles){0};
	int r = find_probes(&f);
	for (size_t i = 0; !r && i < n; i++)
		r = find_named(&f, texts, n, &i);
	if (r) {
		span_roles_release(out);
		return r;
	}
	span_roles_order(out);
	return 0;
}

void span_roles_release(struct span_roles *r)
{
	vec_release(&r->v);
}

uint64_t span_key_of(const struct span_key *k, const uint8_t *raw, uint32_t raw_size, int swap)
{
	uint64_t h = 0;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct tp_field *f = &k->field[i];
		int text = f->is_string || f->is_dynamic;
		const char *s = text ? tp_text(f, raw, raw_size, swap) : "";
		uint64_t x = text ? hash_bytes(s, strlen(s), 0)
				  : (uint64_t)tp_int(f, raw, raw_size, swap);
		h = k->n == 1 ? x : hash_u64(h ^ x);
	}
	return h;
}
