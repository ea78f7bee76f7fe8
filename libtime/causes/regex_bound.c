#include "libtime/causes/regex_bound.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1000, EXPANDED_MAX = 10000, DEPTH_MAX = 100 };

/* The length of an expression when expanded, as far as it has been read. */
struct measure {
	const char *p;
	uint64_t size[DEPTH_MAX]; /* of each open group, [0] the whole */
	uint64_t last;            /* of the last atom, which a repetition would repeat */
	int depth;
	int back; /* 1: it has a back reference */
};

static void add_atom(struct measure *m, uint64_t size)
{
	m->size[m->depth] += m->last;
	m->last = size;
}

/* [...] with its ] in first place, [:classes:] and the like. */
static void skip_bracket(struct measure *m)
{
	const char *p = m->p + 1;
	p += *p == '^';
	p += *p == ']';
	while (*p && *p != ']') {
		if (*p == '[' && p[1] && strchr(":.=", p[1])) {
			const char close[] = {p[1], ']', '\0'}, *end = strstr(p + 2, close);
			p = end ? end + 1 : p;
		}
		p++;
	}
	m->p = *p ? p + 1 : p;
	add_atom(m, 1);
}

/* {N}, {N,} or {N,M} after an atom. */
static void repeat(struct measure *m)
{
	char *end;
	uint64_t n = strtoul(m->p + 1, &end, 10), most = n;
	if (*end == ',')
		most = strtoul(end + 1, &end, 10);
	most = most > n ? most : n;
	if (most > EXPANDED_MAX)
		most = EXPANDED_MAX + 1;
	m->last *= most ? most : 1;
	m->p = *end ? end + 1 : end;
}

static void escape(struct measure *m)
{
	m->back |= m->p[1] >= '1' && m->p[1] <= '9';
	m->p += m->p[1] ? 2 : 1;
	add_atom(m, 1);
}

static void open_group(struct measure *m)
{
	add_atom(m, 0);
	m->size[++m->depth] = 0;
	m->p++;
}

static void close_group(struct measure *m)
{
	uint64_t size = m->size[m->depth--] + m->last;
	m->last = 0;
	add_atom(m, size + 1);
	m->p++;
}

static void measure_one(struct measure *m)
{
	switch (*m->p) {
	case '\\':
		escape(m);
		break;
	case '[':
		skip_bracket(m);
		break;
	case '(':
		open_group(m);
		break;
	case ')':
		if (m->depth)
			close_group(m);
		else
			m->p++;
		break;
	case '{':
		repeat(m);
		break;
	case '*':
	case '?':
		m->p++;
		break;
	case '+': /* expanded twice */
		m->last *= 2;
		m->p++;
		break;
	default:
		add_atom(m, 1);
		m->p++;
	}
}

int regex_bounded(const char *re, struct err *e)
{
	struct measure m = {.p = re};
	if (strlen(re) > BYTES_MAX)
		return err_set(e, ERR_USAGE, "a regular expression may have at most %d bytes",
			       BYTES_MAX);
	while (*m.p && !m.back && m.depth + 1 < DEPTH_MAX && m.last <= EXPANDED_MAX &&
	       m.size[m.depth] <= EXPANDED_MAX)
		measure_one(&m);
	if (m.back)
		return err_set(e, ERR_USAGE,
			       "'%s': back references (\\1 to \\9) are not supported", re);
	if (*m.p || m.size[0] + m.last > EXPANDED_MAX)
		return err_set(e, ERR_USAGE,
			       "'%s': its repetitions expand to more than %d characters", re,
			       EXPANDED_MAX);
	return 0;
}
