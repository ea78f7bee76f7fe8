#include "libsym/name/frame_table.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "base/text/strtab.h"
#include "base/vec.h"
#include "libsym/name/rule_lines.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_RULES = 1 << 14, /* pairs of a rule and a name */
	NAME_SIZE = 512,     /* of names compared; longer ones match only prefixes */
};

/* A line's roles and conditions, for each of its names. */
struct rule {
	uint32_t dso_first, dso_n; /* of table.dsos: any of them; none: any mapping */
	uint32_t roles;
	uint8_t kernel;
};

struct entry {               /* an exact name in a rule */
	uint32_t rule, next; /* next: entry + 1 of the same name, 0 for none */
};

struct prefix { /* NAME*, a path's or mapping's name in dso= likewise */
	const char *text;
	uint32_t n, rule;
	uint8_t exact; /* of dso= only */
};

struct frame_table {
	struct strtab names;
	VEC(struct rule) rules;
	VEC(struct entry) entries;
	VEC(uint32_t) first; /* by names id: entry + 1 */
	VEC(struct prefix) prefixes, dsos;
};

static const char *const role_names[] = {
	"runtime",      "start",       "wrapper",   "opaque",     "scheduler",
	"interrupt",    "helper",      "work-wait", "takes-work", "loop",
	"library-loop", "handler",     "poll-loop", "root-start", "exclusive",
	"plumbing",     "application", "sends",     "spawns",     "takes-lock"};

enum { ROLES = sizeof(role_names) / sizeof(*role_names) };
_Static_assert(ROLE_TAKES_LOCK == 1 << (ROLES - 1), "a name for each role");

unsigned frame_role_named(const char *word)
{
	for (unsigned i = 0; i < ROLES; i++)
		if (!strcmp(word, role_names[i]))
			return 1u << i;
	return 0;
}

const char *frame_role_name(unsigned role)
{
	for (unsigned i = 0; i < ROLES; i++)
		if (role == 1u << i)
			return role_names[i];
	return "";
}

/* --- reading rules ----------------------------------------------------------------------- */

static int keep_text(struct frame_table *t, const char *text, size_t n, const char **out)
{
	uint32_t id;
	if (strtab_intern_n(&t->names, text, n, &id))
		return ERR_NOMEM;
	*out = strtab_get(&t->names, id);
	return 0;
}

/* "libc.so*|libm.so.6" */
static int add_dsos(const struct rule_line *at, struct rule *r, const char *list)
{
	struct frame_table *t = at->ctx;
	r->dso_first = (uint32_t)t->dsos.n;
	for (const char *s = list; *s; s += *s == '|') {
		size_t n = strcspn(s, "|");
		struct prefix p = {.n = (uint32_t)n, .exact = !n || s[n - 1] != '*'};
		p.n -= !p.exact;
		if (!p.n || memchr(s, '*', p.n))
			return rule_line_bad(at, "not a mapping's name", list);
		if (keep_text(t, s, p.n, &p.text) || vec_push(&t->dsos, p))
			return err_nomem(at->e);
		s += n;
	}
	r->dso_n = (uint32_t)t->dsos.n - r->dso_first;
	return 0;
}

/* 1 for a * that is not that of a Go receiver, sync.(*Mutex).Lock. */
static int has_star(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name[i] == '*' && (!i || name[i - 1] != '('))
			return 1;
	return 0;
}

static int add_prefix(const struct rule_line *at, const struct rule *r, const char *name,
		      size_t n)
{
	struct frame_table *t = at->ctx;
	struct prefix p = {.n = (uint32_t)n, .rule = (uint32_t)t->rules.n - 1};
	if (!n && !r->dso_n)
		return rule_line_bad(at, "every name needs a dso=", name);
	if (has_star(name, n))
		return rule_line_bad(at, "* is for the end of a name", name);
	if (keep_text(t, name, n, &p.text) || vec_push(&t->prefixes, p))
		return err_nomem(at->e);
	return 0;
}

static int add_exact(const struct rule_line *at, const char *name)
{
	struct frame_table *t = at->ctx;
	struct entry entry = {.rule = (uint32_t)t->rules.n - 1};
	uint32_t id;
	if (has_star(name, strlen(name)))
		return rule_line_bad(at, "* is for the end of a name", name);
	if (strtab_intern(&t->names, name, &id) || vec_reserve(&t->first, id + 1))
		return err_nomem(at->e);
	while (t->first.n <= id)
		t->first.v[t->first.n++] = 0;
	entry.next = t->first.v[id];
	if (vec_push(&t->entries, entry))
		return err_nomem(at->e);
	t->first.v[id] = (uint32_t)t->entries.n;
	return 0;
}

static int add_name(const struct rule_line *at, const struct rule *r, const char *name)
{
	struct frame_table *t = at->ctx;
	size_t n = strlen(name);
	if (n >= NAME_SIZE || t->entries.n + t->prefixes.n >= MAX_RULES)
		return err_set(at->e, ERR_LIMIT, "%s:%u: too many rules", at->name, at->number);
	return name[n - 1] == '*' ? add_prefix(at, r, name, n - 1) : add_exact(at, name);
}

/* A condition before the names: 1 when the word is one, 0 when it is a name. */
static int parse_condition(const struct rule_line *at, struct rule *r, const char *word)
{
	int err = 0;
	if (!strcmp(word, "kernel"))
		r->kernel = 1;
	else if (!strncmp(word, "dso=", 4))
		err = add_dsos(at, r, word + 4);
	else if (strcmp(word, "source") && strncmp(word, "until=", 6))
		return 0;
	return err ? err : 1;
}

static int parse_rule(const struct rule_line *at, unsigned role, char **save)
{
	enum { OF_KERNEL = ROLE_SCHEDULER | ROLE_INTERRUPT | ROLE_HELPER };
	struct frame_table *t = at->ctx;
	struct rule r = {.roles = role, .kernel = (role & OF_KERNEL) != 0};
	char *word = strtok_r(NULL, " \t\r", save);
	int is = 1;
	for (; word && (is = parse_condition(at, &r, word)) > 0;)
		word = strtok_r(NULL, " \t\r", save);
	if (is < 0)
		return is;
	if (!word)
		return rule_line_bad(at, "no names", frame_role_name(role));
	if (vec_push(&t->rules, r))
		return err_nomem(at->e);
	for (; word; word = strtok_r(NULL, " \t\r", save)) {
		int err = add_name(at, &r, word);
		if (err)
			return err;
	}
	return 0;
}

/* One line, writable and without its newline. */
static int parse_line(const struct rule_line *at, char *line)
{
	char *save = NULL, *word;
	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, " \t\r", &save);
	unsigned role = word ? frame_role_named(word) : 0;
	return role ? parse_rule(at, role, &save) : 0;
}

int frame_table_parse(struct frame_table *t, const char *text, size_t n, const char *name,
		      struct err *e)
{
	return rule_lines_each(text, n, name, parse_line, t, e);
}

const char frames_builtin[] =
#include "libsym/name/frames.rules.inc"
	;

int frame_table_new(struct frame_table **out, struct err *e)
{
	struct frame_table *t = *out = mem_zalloc(1, sizeof(*t));
	if (!t)
		return err_nomem(e);
	int r = frame_table_parse(t, frames_builtin, sizeof(frames_builtin) - 1, "frames.rules",
				  e);
	if (r) {
		frame_table_free(t);
		*out = NULL;
	}
	return r;
}

void frame_table_free(struct frame_table *t)
{
	if (!t)
		return;
	strtab_release(&t->names);
	vec_release(&t->rules);
	vec_release(&t->entries);
	vec_release(&t->first);
	vec_release(&t->prefixes);
	vec_release(&t->dsos);
	mem_free(t);
}

/* --- frames ------------------------------------------------------------------------------ */

static int fits(const struct prefix *p, const char *s)
{
	return !strncmp(s, p->text, p->n) && (!p->exact || !s[p->n]);
}

/* The roles that a rule with a matching name gives to a frame of a mapping. */
static unsigned by_rule(const struct frame_table *t, uint32_t rule, int kernel, const char *dso)
{
	const struct rule *r = &t->rules.v[rule];
	if (r->kernel != kernel)
		return 0;
	for (uint32_t i = 0; i < r->dso_n; i++)
		if (fits(&t->dsos.v[r->dso_first + i], dso))
			return r->roles;
	return r->dso_n ? 0 : r->roles;
}

unsigned frame_roles(const struct frame_table *t, int kernel, const char *symbol,
		     const char *dso)
{
	char name[NAME_SIZE];
	unsigned roles = 0;
	uint32_t id, at = 0;
	dso = path_base(dso);
	frame_plain_name(symbol, name, sizeof(name));
	if (strtab_find(&t->names, name, &id) && id < t->first.n)
		at = t->first.v[id];
	for (; at; at = t->entries.v[at - 1].next)
		roles |= by_rule(t, t->entries.v[at - 1].rule, kernel, dso);
	for (size_t i = 0; i < t->prefixes.n; i++)
		if (fits(&t->prefixes.v[i], name))
			roles |= by_rule(t, t->prefixes.v[i].rule, kernel, dso);
	return roles & ROLE_APPLICATION ? ROLE_APPLICATION : roles;
}
