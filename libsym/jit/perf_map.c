#include "libsym/jit/perf_map.h"

#include "base/text/hex.h"
#include "base/mem.h"
#include "base/search.h"
#include "libsym/elf/read_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- lines ------------------------------------------------------------------------------ */

/* Read a number, with or without 0x, and one blank: the position after it, or NULL. */
static char *parse_hex(char *p, const char *end, uint64_t *x)
{
	int digits = 0, d;
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (*x = 0; p < end && (d = hex_digit(*p)) >= 0; p++) {
		if (++digits > 16)
			return NULL;
		*x = *x << 4 | (uint64_t)d;
	}
	return digits && p < end && *p == ' ' ? p + 1 : NULL;
}

static int add_line(struct perfmap *m, char *p, char *end)
{
	struct perfmap_line l;
	uint64_t size;
	while (p < end && *p == ' ')
		p++;
	p = parse_hex(p, end, &l.start);
	p = p ? parse_hex(p, end, &size) : NULL;
	if (!p || p == end || !*p)
		return 0;
	/* Code of size 0 covers its first byte, as in perf. */
	if (__builtin_add_overflow(l.start, size ? size : 1, &l.end))
		l.end = UINT64_MAX;
	l.name = (uint32_t)(p - m->text);
	*end = '\0';
	return vec_push(&m->lines, l);
}

/* --- pieces: the last line over each range ------------------------------- */

/* Lines that are open at the sweep's position, the last one of the file on top. */
struct heap {
	VEC(uint32_t) of;
};

static int heap_push(struct heap *h, uint32_t x)
{
	if (vec_push(&h->of, x))
		return ERR_NOMEM;
	uint32_t *v = h->of.v;
	for (size_t i = h->of.n - 1; i && v[(i - 1) / 2] < v[i]; i = (i - 1) / 2) {
		uint32_t swap = v[i];
		v[i] = v[(i - 1) / 2];
		v[(i - 1) / 2] = swap;
	}
	return 0;
}

static void heap_pop(struct heap *h)
{
	uint32_t *v = h->of.v;
	v[0] = v[--h->of.n];
	for (size_t i = 0, k; (k = 2 * i + 1) < h->of.n; i = k) {
		if (k + 1 < h->of.n && v[k + 1] > v[k])
			k++;
		if (v[i] >= v[k])
			break;
		uint32_t swap = v[i];
		v[i] = v[k];
		v[k] = swap;
	}
}

static int add_piece(struct perfmap *m, uint64_t start, uint64_t end, uint32_t line)
{
	if (start >= end)
		return 0;
	if (m->pieces.n) {
		struct perfmap_piece *last = &m->pieces.v[m->pieces.n - 1];
		if (last->line == line && last->end == start) {
			last->end = end;
			return 0;
		}
	}
	struct perfmap_piece p = {.start = start, .end = end, .line = line};
	return vec_push(&m->pieces, p);
}

/* Give [from, to) to the top line, the rest to those below; remove ended lines. */
static int cover(struct perfmap *m, struct heap *h, uint64_t from, uint64_t to)
{
	while (h->of.n && from < to) {
		uint32_t top = h->of.v[0];
		uint64_t end = m->lines.v[top].end;
		if (end > from) {
			uint64_t stop = end < to ? end : to;
			if (add_piece(m, from, stop, top))
				return ERR_NOMEM;
			from = stop;
		}
		if (end <= from)
			heap_pop(h);
	}
	return 0;
}

struct start {
	uint64_t at;
	uint32_t line;
};

static int by_start(const void *a, const void *b)
{
	const struct start *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Count the lines that do not own all of their bytes. */
static int count_overlaps(struct perfmap *m)
{
	uint64_t *owned = mem_zalloc(m->lines.n, sizeof(*owned));
	if (!owned)
		return ERR_NOMEM;
	for (size_t i = 0; i < m->pieces.n; i++)
		owned[m->pieces.v[i].line] += m->pieces.v[i].end - m->pieces.v[i].start;
	for (size_t i = 0; i < m->lines.n; i++)
		m->overlaps += owned[i] != m->lines.v[i].end - m->lines.v[i].start;
	mem_free(owned);
	return 0;
}

static int make_pieces(struct perfmap *m)
{
	struct heap h = {0};
	int rc = 0;
	struct start *s = mem_zalloc(m->lines.n, sizeof(*s));
	if (!s)
		return ERR_NOMEM;
	for (size_t i = 0; i < m->lines.n; i++)
		s[i] = (struct start){.at = m->lines.v[i].start, .line = (uint32_t)i};
	qsort(s, m->lines.n, sizeof(*s), by_start);
	for (size_t i = 0; !rc && i < m->lines.n; i++) {
		rc = heap_push(&h, s[i].line);
		if (!rc)
			rc = cover(m, &h, s[i].at,
				   i + 1 < m->lines.n ? s[i + 1].at : UINT64_MAX);
	}
	if (!rc)
		rc = count_overlaps(m);
	vec_release(&h.of);
	mem_free(s);
	return rc;
}

/* ---------------------------------------------------------------------------------------- */

/* Parse m->text, which may be written to and ends in a NUL. */
static int parse_owned(struct perfmap *m, size_t n, const char *name, struct err *e)
{
	int rc = 0;
	if (n >= UINT32_MAX)
		rc = err_set(e, ERR_LIMIT, "%s: more than 4 GiB", name);
	for (char *p = m->text, *end = m->text + n; !rc && p < end;) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		size_t before = m->lines.n;
		int is_whole = nl < end && nl > p;
		rc = add_line(m, p, nl);
		m->others += is_whole && m->lines.n == before;
		p = nl + 1;
	}
	if (!rc)
		rc = make_pieces(m);
	if (rc) {
		perfmap_release(m);
		return rc == ERR_LIMIT ? rc : err_nomem(e);
	}
	return 0;
}

int perfmap_parse(const char *text, size_t n, const char *name, struct perfmap *out,
		  struct err *e)
{
	*out = (struct perfmap){.text = mem_alloc(n + 1)};
	if (!out->text)
		return err_nomem(e);
	memcpy(out->text, text, n);
	out->text[n] = '\0';
	return parse_owned(out, n, name, e);
}

int perfmap_read(int fd, const char *name, struct perfmap *out, struct err *e)
{
	size_t n;
	*out = (struct perfmap){0};
	int rc = read_fd(fd, name, (size_t)1 << 30, &out->text, &n, e);
	return rc ? rc : parse_owned(out, n, name, e);
}

void perfmap_write(const struct perfmap *m, struct buf *out)
{
	for (size_t i = 0; i < m->lines.n; i++) {
		const struct perfmap_line *l = &m->lines.v[i];
		buf_fmt(out, "%" PRIx64 " %" PRIx64 " %s\n", l->start, l->end - l->start,
			m->text + l->name);
	}
}

int perfmap_find(const struct perfmap *m, uint64_t addr, struct symbol_hit *hit)
{
	size_t lo = PARTITION_POINT(i, 0, m->pieces.n, m->pieces.v[i].start <= addr);
	if (!lo || addr >= m->pieces.v[lo - 1].end)
		return 0;
	const struct perfmap_line *l = &m->lines.v[m->pieces.v[lo - 1].line];
	*hit = (struct symbol_hit){.name = m->text + l->name, .start = l->start, .end = l->end};
	return 1;
}

void perfmap_release(struct perfmap *m)
{
	mem_free(m->text);
	vec_release(&m->lines);
	vec_release(&m->pieces);
	*m = (struct perfmap){0};
}
