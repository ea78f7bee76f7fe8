#include "libtime/causes/causes.h"
#include "libtime/causes/sites.h"
#include "base/text/buf.h"
#include "base/mem.h"
#include "libtime/causes/regex_bound.h"
#include "libsym/elf/read_file.h"
#include "libsym/name/rule_lines.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

enum {
	INNERMOST = 16,   /* user frames that show a mechanism: below Java's locks are 12 */
	MAX_TERMS = 1024, /* per table */
	MAX_FILE = 1 << 20,
	MAX_FRAMES = 512, /* looked at per stack, from the leaf */
	NO_TERM = -1,
};

/* A key=PATTERNS of a rule; each has a bit in the frames' masks. */
struct term {
	const char *globs; /* '\0'-separated, ended by an empty one */
	uint8_t kind;      /* of frames */
};

enum { TERM_USER, TERM_KERNEL, TERM_ANY };

struct rule {
	const char *state, *syscall; /* '\0'-separated globs or NULL */
	int kernel, also, user;      /* terms or NO_TERM; also: a second kernel= */
	int calls;                   /* the frame that the one of `kernel` called directly */
	int waker;                   /* a frame of the wakeup's stack */
	uint8_t cause, nokernel;
};

struct causes {
	struct frame_table *frames;
	struct arena text;
	VEC(struct rule) rules;
	VEC(struct term) terms;
	VEC(regex_t *) idle_re, work_re;
	const char *missing[CAUSE_COUNT];
	/* masks of the frames of `stacks`: `words` u64 each, valid if known[] is set */
	const struct stacks *stacks;
	size_t words;
	VEC(uint64_t) mask;
	VEC(uint8_t) known;
};

int cause_may_idle(unsigned int cause)
{
	return cause == CAUSE_SLEEP || cause == CAUSE_POLL || cause == CAUSE_COND ||
	       cause == CAUSE_SEMAPHORE || cause == CAUSE_NET || cause == CAUSE_PIPE ||
	       cause == CAUSE_CHILD || cause == CAUSE_SIGNAL;
}

/* --- reading rules ----------------------------------------------------------------------- */

static int add_term(struct causes *c, const char *patterns, unsigned kind, int *term)
{
	struct term t = {.globs = globs_parse(&c->text, patterns, 1), .kind = (uint8_t)kind};
	if (c->terms.n >= MAX_TERMS)
		return ERR_LIMIT;
	if (!t.globs || vec_push(&c->terms, t))
		return ERR_NOMEM;
	*term = (int)c->terms.n - 1;
	return 0;
}

static int parse_word(struct causes *c, struct rule *r, char *word, const struct rule_line *at)
{
	char *value = strchr(word, '=');
	if (!strcmp(word, "nokernel")) {
		r->nokernel = 1;
		return 0;
	}
	if (!value || !value[1])
		return rule_line_bad(at, "not a condition of a rule", word);
	*value++ = '\0';
	int err = 0;
	if (!strcmp(word, "state"))
		err = (r->state = globs_parse(&c->text, value, 0)) ? 0 : ERR_NOMEM;
	else if (!strcmp(word, "syscall"))
		err = (r->syscall = globs_parse(&c->text, value, 0)) ? 0 : ERR_NOMEM;
	else if (!strcmp(word, "kernel"))
		err = add_term(c, value, TERM_KERNEL,
			       r->kernel == NO_TERM ? &r->kernel : &r->also);
	else if (!strcmp(word, "calls"))
		err = add_term(c, value, TERM_KERNEL, &r->calls);
	else if (!strcmp(word, "user"))
		err = add_term(c, value, TERM_USER, &r->user);
	else if (!strcmp(word, "waker"))
		err = add_term(c, value, TERM_ANY, &r->waker);
	else
		return rule_line_bad(at, "not a condition of a rule", word);
	if (err == ERR_LIMIT)
		return err_set(at->e, err, "%s:%u: too many rules", at->name, at->number);
	return err ? err_nomem(at->e) : 0;
}

static int parse_missing(struct causes *c, char *rest, const struct rule_line *at)
{
	rest += strspn(rest, " \t");
	size_t n = strcspn(rest, " \t");
	char *text = rest + n;
	if (*text)
		*text++ = '\0';
	int cause = cause_find(rest);
	if (cause < 0)
		return rule_line_bad(at, "not a cause", rest);
	text += strspn(text, " \t");
	if (!c->missing[cause])
		c->missing[cause] = arena_strndup(&c->text, text, strlen(text));
	return c->missing[cause] ? 0 : err_nomem(at->e);
}

/* One line, writable and without its newline. */
static int parse_line(const struct rule_line *at, char *line)
{
	struct causes *c = at->ctx;
	char *save = NULL, *word;
	struct rule r = {.kernel = NO_TERM,
			 .also = NO_TERM,
			 .calls = NO_TERM,
			 .user = NO_TERM,
			 .waker = NO_TERM};
	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	if (!strncmp(line, "missing", 7) && strchr(" \t", line[7]))
		return parse_missing(c, line + 7, at);
	word = strtok_r(line, " \t\r", &save);
	if (!word)
		return 0;
	if (frame_role_named(word))
		return 0; /* frame_table_parse has read it */
	int cause = cause_find(word);
	if (cause < 0)
		return rule_line_bad(at, "neither a cause, missing nor a frame's role", word);
	r.cause = (uint8_t)cause;
	while ((word = strtok_r(NULL, " \t\r", &save))) {
		int err = parse_word(c, &r, word, at);
		if (err)
			return err;
	}
	return vec_push(&c->rules, r) ? err_nomem(at->e) : 0;
}

/* Rules that are read later come first; those of one file keep their order. */
static void move_to_front(struct causes *c, size_t old)
{
	struct rule *v = c->rules.v;
	for (size_t from = old, to = 0; from < c->rules.n; from++, to++) {
		struct rule r = v[from];
		memmove(v + to + 1, v + to, (from - to) * sizeof(*v));
		v[to] = r;
	}
}

int causes_parse(struct causes *c, const char *text, size_t n, const char *name, struct err *e)
{
	size_t old = c->rules.n;
	int r = frame_table_parse(c->frames, text, n, name, e);
	c->stacks = NULL; /* masks are stale */
	r = r ? r : rule_lines_each(text, n, name, parse_line, c, e);
	if (!r)
		move_to_front(c, old);
	else
		c->rules.n = old;
	return r;
}

int causes_load(struct causes *c, const char *path, struct err *e)
{
	const uint8_t *text;
	size_t n;
	int r = map_file(path, &text, &n, e);
	if (r)
		return r;
	r = n > MAX_FILE ? err_set(e, ERR_LIMIT, "%s: larger than 1 MiB", path)
			 : causes_parse(c, n ? (const char *)text : "", n, path, e);
	unmap_file(text, n);
	return r;
}

const struct frame_table *causes_frames(const struct causes *c)
{
	return c->frames;
}

int causes_new(struct causes **out, struct err *e)
{
	struct causes *c = mem_zalloc(1, sizeof(*c));
	*out = NULL;
	if (!c)
		return err_nomem(e);
	int r = frame_table_new(&c->frames, e);
	if (!r)
		r = causes_parse(c, causes_builtin, strlen(causes_builtin), "causes.rules", e);
	if (r)
		causes_free(c);
	else
		*out = c;
	return r;
}

static void free_regexes(regex_t **v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		regfree(v[i]);
		mem_free(v[i]);
	}
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	frame_table_free(c->frames);
	free_regexes(c->idle_re.v, c->idle_re.n);
	free_regexes(c->work_re.v, c->work_re.n);
	vec_release(&c->idle_re);
	vec_release(&c->work_re);
	vec_release(&c->rules);
	vec_release(&c->terms);
	vec_release(&c->mask);
	vec_release(&c->known);
	arena_release(&c->text);
	mem_free(c);
}

static int compile(regex_t **out, const char *re, struct err *e)
{
	char why[128];
	int rc = regex_bounded(re, e);
	if (rc)
		return rc;
	regex_t *r = mem_zalloc(1, sizeof(*r));
	if (!r)
		return err_nomem(e);
	int code = regcomp(r, re, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, r, why, sizeof(why));
		mem_free(r);
		return err_set(e, ERR_USAGE, "'%s' is not a regular expression: %s", re, why);
	}
	*out = r;
	return 0;
}

int causes_idle_frame(struct causes *c, const char *re, struct err *e)
{
	regex_t *x;
	int r = compile(&x, re, e);
	if (!r && vec_push(&c->idle_re, x)) {
		free_regexes(&x, 1);
		r = err_nomem(e);
	}
	return r;
}

int causes_work_frame(struct causes *c, const char *re, struct err *e)
{
	regex_t *x;
	int r = compile(&x, re, e);
	if (!r && vec_push(&c->work_re, x)) {
		free_regexes(&x, 1);
		r = err_nomem(e);
	}
	return r;
}

/* --- frames --------------------------------------------------------------------------- */

/* The name that rules are compared with: see the head of causes.rules. */
static void plain_name(const char *s, char *out, size_t size)
{
	static const char *const tails[] = {".constprop.", ".part.", ".isra.", ".cold",
					    ".llvm.",      "@",      "("};
	s += strspn(s, "_");
	if (!strncmp(s, "GI_", 3))
		s += 3 + strspn(s + 3, "_");
	snprintf(out, size, "%s", s);
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		char *cut = strstr(out, tails[i]);
		if (cut && cut != out)
			*cut = '\0';
	}
}

static int mask_room(struct causes *c, const struct stacks *s)
{
	if (c->stacks != s) {
		c->stacks = s;
		c->words = (c->terms.n + 63) / 64;
		c->mask.n = c->known.n = 0;
	}
	size_t more = s->frames.n - c->known.n;
	if (!more)
		return 0;
	if (vec_reserve(&c->known, more) || vec_reserve(&c->mask, more * c->words))
		return ERR_NOMEM;
	memset(c->known.v + c->known.n, 0, more);
	memset(c->mask.v + c->mask.n, 0, more * c->words * sizeof(*c->mask.v));
	c->known.n += more;
	c->mask.n += more * c->words;
	return 0;
}

/* Which terms a frame satisfies, one bit each. */
static const uint64_t *frame_mask(struct causes *c, const struct stacks *s, uint32_t frame)
{
	uint64_t *mask = c->mask.v + frame * c->words;
	if (c->known.v[frame])
		return mask;
	c->known.v[frame] = 1;
	const struct frame *f = &s->frames.v[frame];
	char name[256];
	plain_name(strtab_get(&s->strings, f->name), name, sizeof(name));
	unsigned kind = f->kind == FRAME_KERNEL ? TERM_KERNEL : TERM_USER;
	for (size_t i = 0; *name && i < c->terms.n; i++)
		if ((c->terms.v[i].kind == kind || c->terms.v[i].kind == TERM_ANY) &&
		    globs_match(c->terms.v[i].globs, name))
			mask[i / 64] |= 1ull << i % 64;
	return mask;
}

/* The terms satisfied by a stack. */
struct seen {
	uint64_t inner[MAX_TERMS / 64]; /* kernel frames, and the innermost user frames */
	int kernel, user;               /* frames of each */
};

static int match_stack(struct causes *c, const struct stacks *s, uint32_t path,
		       struct seen *out)
{
	if (mask_room(c, s))
		return ERR_NOMEM;
	memset(out, 0, sizeof(*out));
	for (int n = 0; path && n < MAX_FRAMES; n++, path = s->paths.v[path].parent) {
		uint32_t frame = s->paths.v[path].frame;
		const uint64_t *mask = frame_mask(c, s, frame);
		int kernel = s->frames.v[frame].kind == FRAME_KERNEL;
		for (size_t i = 0; i < c->words; i++) {
			if (kernel || out->user < INNERMOST)
				out->inner[i] |= mask[i];
		}
		out->kernel += kernel;
		out->user += !kernel;
	}
	return 0;
}

static int has_term(const uint64_t *mask, int term)
{
	return term == NO_TERM || mask[term / 64] >> term % 64 & 1;
}

/* 1 if a frame that satisfies `caller` directly called one that satisfies `callee`;
 * match_stack() has seen all frames. */
static int calls_directly(struct causes *c, const struct stacks *s, uint32_t path, int caller,
			  int callee)
{
	int below = 0;
	for (int n = 0; path && n < MAX_FRAMES; n++, path = s->paths.v[path].parent) {
		const uint64_t *mask = frame_mask(c, s, s->paths.v[path].frame);
		if (below && has_term(mask, caller))
			return 1;
		below = has_term(mask, callee);
	}
	return 0;
}

static int classify(struct causes *c, const struct stacks *s, uint32_t path, const char *state,
		    const char *syscall, enum cause *out, struct err *e)
{
	struct seen seen;
	*out = CAUSE_UNKNOWN;
	if (match_stack(c, s, path, &seen))
		return err_nomem(e);
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *r = &c->rules.v[i];
		if (r->waker != NO_TERM || (r->nokernel && seen.kernel) ||
		    (r->state && !globs_match(r->state, state)) ||
		    (r->syscall && !globs_match(r->syscall, syscall)) ||
		    !has_term(seen.inner, r->kernel) || !has_term(seen.inner, r->also) ||
		    !has_term(seen.inner, r->user) ||
		    (r->calls != NO_TERM && !calls_directly(c, s, path, r->kernel, r->calls)))
			continue;
		*out = r->cause;
		return 0;
	}
	return 0;
}

/* The cause of a futex wait by the stack of its wakeup; CAUSE_FUTEX if that shows nothing. */
static int classify_wakeup(struct causes *c, const struct stacks *s, const struct offcpu *o,
			   enum cause *out, struct err *e)
{
	struct seen waiter, waker;
	*out = CAUSE_FUTEX;
	if (match_stack(c, s, o->path, &waiter) || match_stack(c, s, o->waker_path, &waker))
		return err_nomem(e);
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *r = &c->rules.v[i];
		if (r->waker == NO_TERM || !has_term(waker.inner, r->waker) ||
		    !has_term(waiter.inner, r->kernel) || !has_term(waiter.inner, r->also) ||
		    !has_term(waiter.inner, r->user) ||
		    (r->calls != NO_TERM &&
		     !calls_directly(c, s, o->path, r->kernel, r->calls)))
			continue;
		*out = r->cause;
		return 0;
	}
	return 0;
}

int causes_classify(struct causes *c, const struct stacks *s, uint32_t path, const char *state,
		    const char *syscall, enum cause *out, struct err *e)
{
	c->stacks =
		NULL; /* masks are stale: these stacks may be new ones at the same address */
	return classify(c, s, path, state, syscall, out, e);
}

static int any_match(regex_t *const *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!regexec(v[i], name, 0, NULL, 0))
			return 1;
	return 0;
}

unsigned causes_asked(const struct causes *c, const char *function)
{
	return (any_match(c->work_re.v, c->work_re.n, function) ? ASKED_FOR_WORK : 0) |
	       (any_match(c->idle_re.v, c->idle_re.n, function) ? ASKED_FOR_IDLE : 0);
}

const char *causes_missing(const struct causes *c, enum cause cause)
{
	return c->missing[cause] ? c->missing[cause] : "";
}

/* --- the timeline --------------------------------------------------------------------- */

struct memos {
	struct u64map waits;   /* running << 56 | path << 24 | syscall << 8 | state → cause */
	struct u64map wakeups; /* path << 32 | waker's path → cause of a futex wait */
	uint64_t key;          /* of `waits`, the last interval's + 1; 0: none */
	uint8_t cause;         /* its cause */
};

static int cause_of_interval(struct causes *c, struct timeline *tl, struct memos *memo,
			     struct offcpu *o, struct err *e)
{
	uint64_t running = !!(o->flags & OFF_RUNNING);
	uint64_t key =
		running << 56 | (uint64_t)o->path << 24 | (uint64_t)o->syscall << 8 | o->state;
	uint32_t known;
	enum cause cause;
	if (o->cause == CAUSE_RUNQUEUE)
		return 0;
	if (key + 1 == memo->key || u64map_get(&memo->waits, key, &known)) {
		memo->cause = key + 1 == memo->key ? memo->cause : (uint8_t)known;
		memo->key = key + 1;
		o->cause = memo->cause;
		return 0;
	}
	const char *state = strtab_get(&tl->stacks->strings, tl->states[o->state]);
	if (running && *state != 'R')
		state = "R"; /* from a SWITCH record, which has no other state */
	const char *syscall =
		o->syscall < tl->syscalls.n
			? strtab_get(&tl->stacks->strings, tl->syscalls.v[o->syscall])
			: "";
	int r = classify(c, tl->stacks, o->path, state, syscall, &cause, e);
	if (r)
		return r;
	o->cause = (uint8_t)cause;
	return u64map_put(&memo->waits, key, (uint32_t)cause) ? err_nomem(e) : 0;
}

static int set_by_wakeup(struct causes *c, struct timeline *tl, struct memos *memo,
			 struct offcpu *o, struct err *e)
{
	uint64_t key = (uint64_t)o->path << 32 | o->waker_path;
	uint32_t known;
	enum cause cause;
	if (o->cause != CAUSE_FUTEX || o->waker == TL_NONE || !o->waker_path)
		return 0;
	if (u64map_get(&memo->wakeups, key, &known)) {
		o->cause = (uint8_t)known;
		return 0;
	}
	int r = classify_wakeup(c, tl->stacks, o, &cause, e);
	if (r)
		return r;
	o->cause = (uint8_t)cause;
	return u64map_put(&memo->wakeups, key, (uint32_t)cause) ? err_nomem(e) : 0;
}

int causes_roles(const struct causes *c, struct timeline *tl, struct err *e)
{
	return timeline_set_roles(tl, c->frames, e);
}

static int waits_in_futex(const struct stacks *s, uint32_t path)
{
	for (; path && s->frames.v[s->paths.v[path].frame].kind == FRAME_KERNEL;
	     path = s->paths.v[path].parent) {
		const struct frame *f = &s->frames.v[s->paths.v[path].frame];
		if (!strcmp(strtab_get(&s->strings, f->name), "futex_wait"))
			return 1;
	}
	return 0;
}

/* A timer ends a sleep. A wait that a thread ended was a futex with a timeout, or a sleep that
 * a signal cut short. Kernel threads may run timers (PREEMPT_RT). */
static void correct_sleep(const struct timeline *tl, struct offcpu *o)
{
	if (o->cause != CAUSE_SLEEP || o->waker == TL_NONE || o->waker_context != WAKER_TASK ||
	    tl->threads.v[o->waker].flags & THREAD_KERNEL)
		return;
	o->cause = waits_in_futex(tl->stacks, o->path) ? CAUSE_COND : CAUSE_SIGNAL;
}

int causes_apply(struct causes *c, struct timeline *tl, struct err *e)
{
	struct memos memo = {0};
	int r = causes_roles(c, tl, e);
	c->stacks = NULL;
	for (size_t i = 0; !r && i < tl->offcpu.n; i++) {
		r = cause_of_interval(c, tl, &memo, &tl->offcpu.v[i], e);
		if (!r)
			r = set_by_wakeup(c, tl, &memo, &tl->offcpu.v[i], e);
		if (!r)
			correct_sleep(tl, &tl->offcpu.v[i]);
	}
	u64map_release(&memo.waits);
	u64map_release(&memo.wakeups);
	return r ? r : sites_apply(c, tl, e);
}
