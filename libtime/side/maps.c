#include "libtime/side/maps.h"

#include <stdlib.h>
#include <string.h>

/* Read a hexadecimal number and the character `end` after it: 0, or -1. */
static int take_hex(const char **s, size_t *n, char end, uint64_t *out)
{
	size_t i = 0;
	for (*out = 0; i < *n && (*s)[i] != end; i++) {
		const char *digits = "0123456789abcdef", *at = memchr(digits, (*s)[i], 16);
		if (!at || *out >> 60)
			return -1;
		*out = *out << 4 | (uint64_t)(at - digits);
	}
	if (!i || i == *n)
		return -1;
	*s += i + 1;
	*n -= i + 1;
	return 0;
}

static void skip_word(const char **s, size_t *n)
{
	while (*n && **s != ' ')
		++*s, --*n;
	while (*n && **s == ' ')
		++*s, --*n;
}

/* 1 with a mapping of a file, 0 of none, -1 for a line that is no mapping. */
static int parse(const char *s, size_t n, struct side_map *m, const char **path, size_t *len)
{
	if (take_hex(&s, &n, '-', &m->start) || take_hex(&s, &n, ' ', &m->end) ||
	    m->start >= m->end)
		return -1;
	skip_word(&s, &n); /* permissions */
	if (take_hex(&s, &n, ' ', &m->offset))
		return -1;
	skip_word(&s, &n); /* device */
	skip_word(&s, &n); /* inode */
	*path = s;
	*len = n;
	return n && *s == '/';
}

static int by_start(const void *a, const void *b)
{
	const struct side_map *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

int side_maps_read(struct side *out, struct side_lines *l, struct err *e)
{
	const char *s, *path;
	size_t n, len;
	int r;
	while ((r = side_lines_next(l, &s, &n, e)) > 0) {
		struct side_map m;
		int is = n ? parse(s, n, &m, &path, &len) : 0;
		if (is < 0)
			return err_set(e, ERR_FORMAT,
				       "line %llu: no mapping (as /proc/PID/maps has them)",
				       (unsigned long long)side_lines_number(l));
		if (is && (side_intern(out, path, len, &m.path) || vec_push(&out->maps, m)))
			return err_nomem(e);
	}
	if (out->maps.n)
		qsort(out->maps.v, out->maps.n, sizeof(*out->maps.v), by_start);
	return r;
}
