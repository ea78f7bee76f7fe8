/* parts_json.c - JSON cut to a length: the outermost lists lose their last elements. */
#include "base/err.h"
#include "base/vec.h"
#include "libtime/side/json_pull.h"
#include "render/text/json.h"
#include "render/text/parts.h"

#include <stdlib.h>
#include <string.h>

/* A list of objects or lists, in no other. */
struct list {
	size_t first, n, kept; /* of `ends` */
	const char *from;      /* behind its bracket */
};

struct cutter {
	struct json_pull j;
	VEC(struct list) lists;
	VEC(const char *) ends; /* of elements */
	int nomem;
};

/* --- reading ---------------------------------------------------------------------------- */

static void read_value(struct cutter *c);

static void read_object(struct cutter *c)
{
	while (json_pull_key(&c->j))
		read_value(c);
}

/* Lists of numbers and words, such as stacks, are values. */
static void read_list(struct cutter *c)
{
	struct list l = {.first = c->ends.n, .from = c->j.p};
	int values = 1;
	while (json_pull_item(&c->j)) {
		char kind = json_pull_peek(&c->j);
		values &= kind != '{' && kind != '[';
		json_pull_skip(&c->j);
		c->nomem |= !values && vec_push(&c->ends, c->j.p);
		l.n += !values;
	}
	l.kept = l.n;
	if (l.n)
		c->nomem |= vec_push(&c->lists, l) != 0;
}

static void read_value(struct cutter *c)
{
	if (json_pull_enter(&c->j, '{'))
		read_object(c);
	else if (json_pull_enter(&c->j, '['))
		read_list(c);
	else
		json_pull_skip(&c->j);
}

/* --- cutting ---------------------------------------------------------------------------- */

/* Where the first n elements end. */
static const char *end_of(const struct cutter *c, const struct list *l, size_t n)
{
	return n ? c->ends.v[l->first + n - 1] : l->from;
}

static size_t length(const struct cutter *c, const struct list *l)
{
	return (size_t)(end_of(c, l, l->kept) - l->from);
}

static size_t without_of(const struct cutter *c, const struct list *l)
{
	return (size_t)(end_of(c, l, l->n) - end_of(c, l, l->kept));
}

/* The largest list with more than `least` elements; NULL: none. */
static struct list *largest(const struct cutter *c, size_t least)
{
	struct list *best = NULL;
	for (size_t i = 0; i < c->lists.n; i++) {
		struct list *l = &c->lists.v[i];
		if (l->kept > least && (!best || length(c, l) > length(c, best)))
			best = l;
	}
	return best;
}

/* Leave out elements until the text of n bytes has at most `most`. */
static int cut(const struct cutter *c, size_t n, size_t most)
{
	static const size_t least[] = {8, 3, 1, 0};
	for (size_t i = 0; i < sizeof(least) / sizeof(*least) && n > most; i++)
		for (struct list *l; n > most && (l = largest(c, least[i]));) {
			size_t was = without_of(c, l);
			while (l->kept > least[i] && n - (without_of(c, l) - was) > most)
				l->kept--;
			n -= without_of(c, l) - was;
		}
	return n <= most;
}

/* Append the text without what was left out, up to its last bracket. */
static void put_kept(struct buf *out, const struct cutter *c, const char *s, size_t n)
{
	const char *last = s + n;
	while (last > s && *last != '}')
		last--;
	for (size_t i = 0; i < c->lists.n; i++) {
		const struct list *l = &c->lists.v[i];
		const char *to = end_of(c, l, l->kept);
		buf_add(out, s, (size_t)(to - s));
		s = end_of(c, l, l->n);
	}
	buf_add(out, s, (size_t)(last - s));
}

static void put_left(struct buf *out, const struct cutter *c, int some, const char *command)
{
	struct json j = {.b = out, .comma = some};
	size_t n = 0;
	for (size_t i = 0; i < c->lists.n; i++)
		n += c->lists.v[i].n - c->lists.v[i].kept;
	json_open(&j, "left_out", '{');
	if (some)
		json_u64(&j, "rows", n);
	else
		json_bool(&j, "all", 1);
	json_str(&j, "command", command);
	json_close(&j, '}');
	buf_str(out, "}\n");
}

static void put(struct buf *out, struct cutter *c, const char *s, size_t n, uint64_t most,
		const char *command)
{
	enum { BESIDE = 64 }; /* "left_out" and its keys */
	struct buf said = {0};
	struct json j = {.b = &said};
	json_str(&j, NULL, command);
	size_t room = said.n + BESIDE;
	out->failed |= buf_failed(&said);
	int some = most > room && cut(c, n, (size_t)most - room);
	if (some)
		put_kept(out, c, s, n);
	else
		buf_char(out, '{');
	put_left(out, c, some, command);
	buf_release(&said);
}

int parts_json(struct buf *out, const char *s, size_t n, uint64_t most, const char *command)
{
	struct cutter c = {.nomem = 0};
	json_pull_init(&c.j, s, n);
	if (!most || n <= most) {
		buf_add(out, s, n);
		return buf_failed(out) ? ERR_NOMEM : 0;
	}
	int object = json_pull_peek(&c.j) == '{';
	read_value(&c);
	int rc = c.nomem || c.j.nomem ? ERR_NOMEM : 0;
	if (!rc && (!object || !json_pull_done(&c.j)))
		rc = ERR_FORMAT;
	if (!rc)
		put(out, &c, s, n, most, command);
	json_pull_release(&c.j);
	vec_release(&c.lists);
	vec_release(&c.ends);
	return rc ? rc : buf_failed(out) ? ERR_NOMEM : 0;
}
