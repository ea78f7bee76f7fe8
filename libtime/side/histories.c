#include "libtime/side/histories.h"
#include "base/text/buf.h"
#include "base/hash.h"
#include "libtime/side/when.h"

#include <limits.h>
#include <string.h>

static const char first_line[] = "perfkit-labels ";

enum { INDEX_MAX = 1 << 24 };

struct histories {
	struct side *out;
	struct u64map known; /* pid << 32 | index → index of out->trampolines */
	int32_t pid;
	int rc; /* ERR_NOMEM */
};

int side_is_histories(const char *text, size_t n)
{
	size_t len = sizeof(first_line) - 1;
	return n > len && !memcmp(text, first_line, len);
}

/* Cut the next word off *s; *n is 0 at the end. */
static const char *word(const char **s, size_t *left, size_t *n)
{
	while (*left && **s == ' ')
		++*s, --*left;
	const char *start = *s;
	while (*left && **s != ' ')
		++*s, --*left;
	*n = (size_t)(*s - start);
	return start;
}

static int is(const char *w, size_t n, const char *what)
{
	return n == strlen(what) && !memcmp(w, what, n);
}

static int number(const char **s, size_t *left, uint64_t max, uint64_t *out)
{
	size_t n;
	const char *w = word(s, left, &n);
	return when_number(w, n, 1, out) || *out > max ? -1 : 0;
}

/* Find or add the trampoline of an index; a new one has the default name of its function. */
static int trampoline(struct histories *h, uint64_t index, uint32_t *at)
{
	uint64_t key = (uint64_t)(uint32_t)h->pid << 32 | index;
	struct side_trampoline t = {.pid = h->pid};
	struct buf b = {0};
	if (u64map_get(&h->known, key, at))
		return 0;
	buf_fmt(&b, "trampoline<%llu>", (unsigned long long)index);
	*at = (uint32_t)h->out->trampolines.n;
	int r = buf_failed(&b) || side_intern(h->out, b.v, b.n, &t.symbol) ||
		vec_push(&h->out->trampolines, t) || u64map_put(&h->known, key, *at);
	buf_release(&b);
	return r ? ERR_NOMEM : 0;
}

/* "0x55d0c0de1a2f" */
static int parse_address(const char **s, size_t *left, uint64_t *out)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	size_t n, i = 2;
	const char *w = word(s, left, &n);
	*out = 0;
	if (n < 3 || n > 18 || w[0] != '0' || w[1] != 'x')
		return -1;
	for (; i < n; i++) {
		const char *at = memchr(digits, w[i], sizeof(digits) - 1);
		if (!at)
			return -1;
		*out = *out << 4 | (uint64_t)(at - digits < 16 ? at - digits : at - digits - 6);
	}
	return 0;
}

/* LOW HIGH */
static const char *parse_range(const struct histories *h, const char *s, size_t left,
			       struct side_trampoline *t)
{
	if (parse_address(&s, &left, &t->low) || parse_address(&s, &left, &t->high) || left ||
	    t->low >= t->high)
		return "its addresses are not LOW HIGH, as in 0x401000 0x401020";
	return h->pid < 0 ? "an address is of a process: a line pid N is missing before it"
			  : NULL;
}

/* INDEX SYMBOL, or INDEX LOW HIGH */
static const char *parse_trampoline(struct histories *h, const char *s, size_t left)
{
	struct side_trampoline range = {.high = 0};
	const char *why = NULL;
	uint64_t index;
	uint32_t at;
	if (number(&s, &left, INDEX_MAX, &index))
		return "a trampoline's index is not a number";
	while (left && *s == ' ')
		s++, left--;
	if (!left)
		return "it names no function";
	int by_address = left > 2 && !memcmp(s, "0x", 2);
	if (by_address && (why = parse_range(h, s, left, &range)))
		return why;
	if (trampoline(h, index, &at)) {
		h->rc = ERR_NOMEM;
		return NULL;
	}
	struct side_trampoline *t = &h->out->trampolines.v[at];
	t->low = range.low;
	t->high = range.high;
	if (!by_address && side_intern(h->out, s, left, &t->symbol))
		h->rc = ERR_NOMEM;
	return NULL;
}

/* INDEX T_NS KEY VALUE */
static const char *parse_binding(struct histories *h, const char *s, size_t left)
{
	struct side_binding b = {0};
	uint64_t index;
	size_t n;
	if (number(&s, &left, INDEX_MAX, &index))
		return "a trampoline's index is not a number";
	if (number(&s, &left, INT64_MAX, &b.at_ns))
		return "its time is not a number of ns";
	const char *key = word(&s, &left, &n);
	if (!n)
		return "it has no key";
	if (left)
		s++, left--;
	if (trampoline(h, index, &b.trampoline) || side_intern(h->out, key, n, &b.key) ||
	    side_intern(h->out, s, left, &b.value) || vec_push(&h->out->bindings, b))
		h->rc = ERR_NOMEM;
	return NULL;
}

static const char *parse_pid(struct histories *h, const char *s, size_t left)
{
	uint64_t pid;
	if (number(&s, &left, INT32_MAX, &pid) || !pid)
		return "its pid is not a number";
	h->pid = (int32_t)pid;
	return NULL;
}

static const char *parse_clock(struct histories *h, const char *s, size_t left)
{
	size_t n;
	const char *w = word(&s, &left, &n);
	h->out->clock = side_clock_of(w, n);
	return h->out->clock ? NULL : "clock is mono, raw, real or tsc";
}

static const char *parse_lost(struct histories *h, const char *s, size_t left)
{
	uint64_t n;
	if (number(&s, &left, INT64_MAX, &n))
		return "it is not a number";
	h->out->unbound += n;
	return NULL;
}

/* NULL, or what is wrong with the line. */
static const char *parse_line(struct histories *h, const char *s, size_t left)
{
	static const struct {
		const char *word;
		const char *(*take)(struct histories *, const char *, size_t);
	} kinds[] = {{"bind", parse_binding},
		     {"tramp", parse_trampoline},
		     {"pid", parse_pid},
		     {"clock", parse_clock},
		     {"lost", parse_lost}};
	size_t n;
	const char *w = word(&s, &left, &n);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is(w, n, kinds[i].word))
			return kinds[i].take(h, s, left);
	return "it does not begin with a known word";
}

/* Concatenated files are read as one. */
static int read_lines(struct histories *h, struct side_lines *l, struct err *e)
{
	const char *s, *why;
	size_t n;
	int r = 0;
	while (!h->rc && (r = side_lines_next(l, &s, &n, e)) > 0) {
		if (side_is_histories(s, n)) {
			if (!is(s, n, "perfkit-labels v1"))
				return err_set(e, ERR_FORMAT,
					       "line %llu: label histories of another version "
					       "than v1",
					       (unsigned long long)side_lines_number(l));
			h->pid = -1;
			continue;
		}
		if (!n || *s == '#')
			continue;
		h->out->rows++;
		if ((why = parse_line(h, s, n)))
			side_bad_row(h->out, side_lines_number(l), why);
	}
	return h->rc ? err_nomem(e) : r;
}

int side_histories_read(struct side *out, struct side_lines *l, struct err *e)
{
	struct histories h = {.out = out, .pid = -1};
	int r = read_lines(&h, l, e);
	u64map_release(&h.known);
	return r;
}
