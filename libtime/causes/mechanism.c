#include "libtime/causes/mechanism.h"
#include "base/arena.h"
#include "base/mem.h"
#include "libsym/name/frame_table.h"
#include "libsym/name/rule_lines.h"

#include <stdio.h>
#include <string.h>

const char mechanisms_builtin[] =
#include "libtime/causes/mechanisms.rules.inc"
	;

enum {
	INNERMOST = 24,       /* user frames that show a mechanism */
	MAX_CONDITIONS = 256, /* of a table */
	WORDS = MAX_CONDITIONS / 64,
	PER_RULE = 4,
};

enum side { SIDE_KERNEL, SIDE_USER, SIDE_WAKER, SIDE_CALLED };

/* Globs, one of which a frame must match; a bit in the masks of frames. */
struct condition {
	const char *globs; /* '\0'-separated, ended by an empty one */
	uint8_t side;      /* enum side */
	uint8_t caller;    /* SIDE_CALLED: the condition that the frame's caller matches */
};

struct rule {
	struct mechanism is;
	const char *comm;           /* globs, or NULL */
	uint64_t least_ns, most_ns; /* of timer=; 0: no such condition */
	uint8_t condition[PER_RULE], conditions;
};

struct mask {
	uint64_t bits[WORDS];
};

struct mechanisms {
	const struct timeline *tl;
	struct arena text;
	VEC(struct rule) rules;
	VEC(struct condition) conditions;
	struct mask called;    /* the conditions of calls= */
	struct mask *of_frame; /* valid where known[] is set */
	uint8_t *known;
	size_t nframes;
};

/* --- reading rules -------------------------------------------------------------------- */

static int add_condition(const struct rule_line *at, struct rule *r, unsigned side,
			 const char *value)
{
	struct mechanisms *m = at->ctx;
	struct condition c = {.globs = globs_parse(&m->text, value, 1), .side = (uint8_t)side};
	if (side == SIDE_CALLED) {
		if (!r->conditions ||
		    m->conditions.v[r->condition[r->conditions - 1]].side != SIDE_KERNEL)
			return rule_line_bad(at, "not behind a kernel=", "calls");
		c.caller = r->condition[r->conditions - 1];
	}
	if (m->conditions.n >= MAX_CONDITIONS || r->conditions >= PER_RULE)
		return err_set(at->e, ERR_LIMIT, "%s:%u: too many conditions", at->name,
			       at->number);
	if (side == SIDE_CALLED)
		m->called.bits[m->conditions.n / 64] |= 1ull << m->conditions.n % 64;
	r->condition[r->conditions++] = (uint8_t)m->conditions.n;
	return !c.globs || vec_push(&m->conditions, c) ? err_nomem(at->e) : 0;
}

/* timer=40-48: milliseconds. */
static int parse_timer(const struct rule_line *at, struct rule *r, const char *value)
{
	enum { MS = 1000000 };
	unsigned least, most;
	if (sscanf(value, "%u-%u", &least, &most) != 2 || !least || most < least)
		return rule_line_bad(at, "not a range of milliseconds", value);
	r->least_ns = (uint64_t)least * MS;
	r->most_ns = (uint64_t)most * MS;
	return 0;
}

static int parse_condition(const struct rule_line *at, struct rule *r, char *word)
{
	struct mechanisms *m = at->ctx;
	static const char *const sides[] = {"kernel", "user", "waker", "calls"};
	static const char *const bys[] = {"address", "process", "thread", "machine",
					  "interpreter"};
	char *value = strchr(word, '=');
	if (!value || !value[1])
		return rule_line_bad(at, "not a condition of a rule", word);
	*value++ = '\0';
	for (unsigned i = 0; i < sizeof(sides) / sizeof(*sides); i++)
		if (!strcmp(word, sides[i]))
			return add_condition(at, r, i, value);
	for (unsigned i = 0; !strcmp(word, "by") && i < sizeof(bys) / sizeof(*bys); i++)
		if (!strcmp(value, bys[i])) {
			r->is.by = (uint8_t)i;
			return 0;
		}
	if (!strcmp(word, "timer"))
		return parse_timer(at, r, value);
	if (strcmp(word, "comm"))
		return rule_line_bad(at, "not a condition of a rule", word);
	r->comm = globs_parse(&m->text, value, 0);
	return r->comm ? 0 : err_nomem(at->e);
}

/* A text without blanks at either end. */
static const char *trimmed(struct mechanisms *m, const char *s, size_t n)
{
	while (n && strchr(" \t\r", *s)) {
		s++;
		n--;
	}
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	return arena_strndup(&m->text, s, n);
}

/* ": the GIL" or ": a pipe : wrote". */
static int parse_words(const struct rule_line *at, struct rule *r, const char *s)
{
	const char *verb = strstr(s, " : ");
	size_t n = verb ? (size_t)(verb - s) : strlen(s);
	r->is.words = trimmed(at->ctx, s, n);
	r->is.verb = trimmed(at->ctx, verb ? verb + 3 : "", verb ? strlen(verb + 3) : 0);
	return r->is.words && r->is.verb ? 0 : err_nomem(at->e);
}

static int parse_head(const struct rule_line *at, struct rule *r, char *head)
{
	struct mechanisms *m = at->ctx;
	static const char *const kinds[] = {"lock", "wait", "state", "stop", "doing"};
	char *save = NULL, *word = strtok_r(head, " \t", &save);
	unsigned kind = 0;
	while (word && kind < sizeof(kinds) / sizeof(*kinds) && strcmp(word, kinds[kind]))
		kind++;
	if (!word || kind == sizeof(kinds) / sizeof(*kinds))
		return rule_line_bad(at, "neither lock, wait, state, stop nor doing",
				     word ? word : "");
	r->is.kind = (uint8_t)kind;
	word = strtok_r(NULL, " \t", &save);
	if (!word)
		return rule_line_bad(at, "a rule without a name", kinds[kind]);
	r->is.name = arena_strndup(&m->text, word, strlen(word));
	int rc = r->is.name ? 0 : err_nomem(at->e);
	while (!rc && (word = strtok_r(NULL, " \t", &save)))
		rc = parse_condition(at, r, word);
	return rc;
}

/* One line, writable. */
static int parse_line(const struct rule_line *at, char *line)
{
	struct mechanisms *m = at->ctx;
	struct rule r = {0};
	char *comment = strstr(line, " #"), *words;
	if (comment)
		*comment = '\0';
	line += strspn(line, " \t\r");
	if (!*line || *line == '#')
		return 0;
	words = strstr(line, " : ");
	if (!words)
		return rule_line_bad(at, "a rule without words", line);
	*words = '\0';
	int rc = parse_head(at, &r, line);
	if (!rc)
		rc = parse_words(at, &r, words + 3);
	return rc ? rc : vec_push(&m->rules, r) ? err_nomem(at->e) : 0;
}

int mechanisms_parse(const struct timeline *tl, const char *text, size_t n, const char *name,
		     struct mechanisms **out, struct err *e)
{
	struct mechanisms *m = *out = mem_zalloc(1, sizeof(*m));
	if (!m)
		return err_nomem(e);
	m->tl = tl;
	m->nframes = tl->stacks->frames.n;
	m->of_frame = mem_zalloc(m->nframes + 1, sizeof(*m->of_frame));
	m->known = mem_zalloc(m->nframes + 1, 1);
	int r = m->of_frame && m->known ? rule_lines_each(text, n, name, parse_line, m, e)
					: err_nomem(e);
	if (r) {
		mechanisms_free(m);
		*out = NULL;
	}
	return r;
}

int mechanisms_new(const struct timeline *tl, struct mechanisms **out, struct err *e)
{
	return mechanisms_parse(tl, mechanisms_builtin, strlen(mechanisms_builtin),
				"mechanisms.rules", out, e);
}

void mechanisms_free(struct mechanisms *m)
{
	if (!m)
		return;
	vec_release(&m->rules);
	vec_release(&m->conditions);
	arena_release(&m->text);
	mem_free(m->of_frame);
	mem_free(m->known);
	mem_free(m);
}

/* --- stacks --------------------------------------------------------------------------- */

/* Which conditions a frame satisfies, one bit each; those of the waker for frames of the kernel
 * and of programs alike. */
static const struct mask *frame_mask(struct mechanisms *m, uint32_t frame)
{
	const struct stacks *s = m->tl->stacks;
	const struct frame *f = &s->frames.v[frame];
	struct mask *mask = &m->of_frame[frame];
	char name[256];
	if (m->known[frame])
		return mask;
	m->known[frame] = 1;
	frame_plain_name(strtab_get(&s->strings, f->name), name, sizeof(name));
	const char *plain = name + strspn(name, "_");
	int kernel = f->kind == FRAME_KERNEL;
	for (size_t i = 0; *plain && i < m->conditions.n; i++) {
		const struct condition *c = &m->conditions.v[i];
		int asked = c->side == SIDE_WAKER || kernel == (c->side != SIDE_USER);
		if (asked && globs_match(c->globs, plain))
			mask->bits[i / 64] |= 1ull << i % 64;
	}
	return mask;
}

static int has_bit(const struct mask *mask, size_t i)
{
	return mask->bits[i / 64] >> i % 64 & 1;
}

/* Add what holds of a frame. It matches a calls= only if its caller matches the kernel=
 * before. */
static void add_frame(const struct mechanisms *m, const struct mask *mask,
		      const struct mask *caller, struct mask *sum)
{
	for (int i = 0; i < WORDS; i++)
		sum->bits[i] |= mask->bits[i] & ~m->called.bits[i];
	for (size_t i = 0; i < m->conditions.n; i++)
		if (has_bit(&m->called, i) && has_bit(mask, i) &&
		    has_bit(caller, m->conditions.v[i].caller))
			sum->bits[i / 64] |= 1ull << i % 64;
}

/* Add the conditions that a stack satisfies: those of the wakeup's stack, or the others. */
static void match_stack(struct mechanisms *m, uint32_t path, int waker, struct mask *out)
{
	const struct stacks *s = m->tl->stacks;
	struct mask sum = {{0}};
	for (int users = 0; path && users < INNERMOST; path = s->paths.v[path].parent) {
		uint32_t frame = s->paths.v[path].frame;
		if (frame >= m->nframes)
			break;
		uint32_t parent = s->paths.v[path].parent;
		uint32_t by = parent ? s->paths.v[parent].frame : 0;
		static const struct mask none;
		add_frame(m, frame_mask(m, frame),
			  parent && by < m->nframes ? frame_mask(m, by) : &none, &sum);
		users += s->frames.v[frame].kind != FRAME_KERNEL;
	}
	for (size_t i = 0; i < m->conditions.n; i++)
		if ((m->conditions.v[i].side == SIDE_WAKER) == waker)
			out->bits[i / 64] |= sum.bits[i / 64] & 1ull << i % 64;
}

static int fits(const struct rule *r, const struct mask *mask, uint64_t timer_ns)
{
	if (r->most_ns && (timer_ns < r->least_ns || timer_ns > r->most_ns))
		return 0;
	for (int i = 0; i < r->conditions; i++)
		if (!has_bit(mask, r->condition[i]))
			return 0;
	return 1;
}

const struct mechanism *mechanism_of(struct mechanisms *m, unsigned kinds, uint32_t path,
				     uint32_t waker_path, uint64_t timer_ns)
{
	struct mask mask = {{0}};
	match_stack(m, path, 0, &mask);
	match_stack(m, waker_path, 1, &mask);
	for (size_t i = 0; i < m->rules.n; i++)
		if (kinds >> m->rules.v[i].is.kind & 1 && fits(&m->rules.v[i], &mask, timer_ns))
			return &m->rules.v[i].is;
	return NULL;
}

const struct mechanism *mechanism_doing(struct mechanisms *m, uint32_t path,
					uint32_t waker_path, uint32_t comm)
{
	const char *name = strtab_get(&m->tl->stacks->strings, comm);
	struct mask mask = {{0}};
	match_stack(m, path, 0, &mask);
	match_stack(m, waker_path, 0, &mask);
	for (size_t i = 0; i < m->rules.n; i++) {
		const struct rule *r = &m->rules.v[i];
		if (r->is.kind == MECHANISM_DOING && fits(r, &mask, 0) &&
		    (!r->comm || globs_match(r->comm, name)))
			return &r->is;
	}
	return NULL;
}
