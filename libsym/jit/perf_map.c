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

/* --- pieces: the last line over each range, if all lines there have one name ------------- */

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

/* Where a line starts or ends. */
struct border {
	uint64_t at;
	uint32_t line, starts;
};

static int by_place(const void *a, const void *b)
{
	const struct border *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct sweep {
	struct border *borders;
	struct heap open;
	struct strtab texts;
	uint32_t *names; /* of each line, of texts */
	uint32_t *count; /* of each of texts: open lines that have it */
	size_t distinct; /* … and how many are not 0 */
};

static int sweep_init(struct sweep *w, const struct perfmap *m)
{
	size_t n = m->lines.n;
	w->borders = mem_zalloc(2 * n + 1, sizeof(*w->borders));
	w->names = mem_zalloc(n + 1, sizeof(*w->names));
	w->count = mem_zalloc(n + 1, sizeof(*w->count));
	if (!w->borders || !w->names || !w->count)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct perfmap_line *l = &m->lines.v[i];
		if (strtab_intern(&w->texts, m->text + l->name, &w->names[i]))
			return ERR_NOMEM;
		w->borders[2 * i] = (struct border){l->start, (uint32_t)i, 1};
		w->borders[2 * i + 1] = (struct border){l->end, (uint32_t)i, 0};
	}
	qsort(w->borders, 2 * n, sizeof(*w->borders), by_place);
	return 0;
}

static int pass_border(struct sweep *w, const struct border *b)
{
	uint32_t *n = &w->count[w->names[b->line]];
	if (b->starts)
		w->distinct += !(*n)++;
	else
		w->distinct -= !--*n;
	return b->starts ? heap_push(&w->open, b->line) : 0;
}

/* What lines the sweep has open, from `start` to `end`. */
static int add_piece(struct perfmap *m, struct sweep *w, uint64_t start, uint64_t end)
{
	while (w->open.of.n && m->lines.v[w->open.of.v[0]].end <= start)
		heap_pop(&w->open);
	if (start == end || !w->open.of.n)
		return 0;
	uint32_t line = w->distinct > 1 ? PERFMAP_SEVERAL : w->open.of.v[0];
	struct perfmap_piece *last = m->pieces.n ? &m->pieces.v[m->pieces.n - 1] : NULL;
	if (last && last->line == line && last->end == start) {
		last->end = end;
		return 0;
	}
	struct perfmap_piece p = {.start = start, .end = end, .line = line};
	return vec_push(&m->pieces, p);
}

static int make_pieces(struct perfmap *m)
{
	struct sweep w = {0};
	int rc = sweep_init(&w, m);
	for (size_t i = 0; !rc && i < 2 * m->lines.n; i++) {
		const struct border *b = &w.borders[i];
		rc = pass_border(&w, b);
		if (!rc && i + 1 < 2 * m->lines.n)
			rc = add_piece(m, &w, b->at, b[1].at);
	}
	mem_free(w.borders);
	mem_free(w.names);
	mem_free(w.count);
	vec_release(&w.open.of);
	strtab_release(&w.texts);
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
	if (m->pieces.v[lo - 1].line == PERFMAP_SEVERAL)
		return 2;
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
