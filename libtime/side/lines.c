#include "libtime/side/lines.h"
#include "base/text/buf.h"
#include "base/mem.h"
#include "libparse/archive/unzip.h"

#include <string.h>

enum { CHUNK = 1 << 18 /* bytes read at once */ };

/*
 *	text    ...│first line \n│ joined \n│ rest
 *	            at            first_end  next      n
 */
struct side_lines {
	struct source *src;
	struct unzip *zip; /* or NULL */
	const char *text;  /* a mapped file's, or buf.v */
	size_t n;
	size_t at, first_end, next;
	struct buf buf;
	int mapped, ended;
	uint64_t number, joined;
};

int side_lines_open(struct side_lines **out, struct source *src, struct err *e)
{
	const uint8_t *head;
	size_t n;
	int r = source_peek(src, &head, &n, e);
	struct side_lines *l = *out = mem_zalloc(1, sizeof(*l));
	if (!l)
		return err_nomem(e);
	l->src = src;
	l->buf.max = SIDE_LINE_MAX;
	if (!r && unzip_detect(head, n)) {
		r = unzip_open(&l->zip, src, e);
	} else if (!r && source_is_mapped(src)) {
		l->mapped = l->ended = 1;
		l->text = (const char *)src->data;
		l->n = (size_t)src->size;
	}
	if (r) {
		side_lines_close(l);
		*out = NULL;
	}
	return r;
}

void side_lines_close(struct side_lines *l)
{
	if (!l)
		return;
	unzip_close(l->zip);
	buf_release(&l->buf);
	mem_free(l);
}

/* Read more bytes: 1, or 0 at the end. */
static int fill(struct side_lines *l, struct err *e)
{
	static const char room[CHUNK];
	struct buf *b = &l->buf;
	size_t got = 0;
	if (l->ended)
		return 0;
	buf_add(b, room, CHUNK);
	if (buf_failed(b) == ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "%s: line %llu is longer than %d bytes",
			       l->src->name, (unsigned long long)l->number + 1, SIDE_LINE_MAX);
	if (buf_failed(b))
		return err_nomem(e);
	b->n -= CHUNK;
	int64_t r = l->zip ? unzip_some(l->zip, b->v + b->n, CHUNK, &got, e)
			   : source_read(l->src, b->v + b->n, CHUNK, e);
	if (r < 0)
		return (int)r;
	b->n += l->zip ? got : (size_t)r;
	l->ended = !r;
	l->text = b->v;
	l->n = b->n;
	return r > 0;
}

/* Drop what precedes the next line, once that is enough to be worth moving the rest. */
static void forget(struct side_lines *l)
{
	if (l->mapped || l->next < l->n / 2 || l->next < CHUNK)
		return;
	memmove(l->buf.v, l->buf.v + l->next, l->n - l->next);
	l->n = l->buf.n = l->n - l->next;
	l->next = 0;
}

/* Find the end of the line at l->next, and move l->next past it: 1, 0, < 0. */
static int find_line(struct side_lines *l, struct err *e)
{
	size_t from = l->next;
	for (;;) {
		const char *end =
			from < l->n ? memchr(l->text + from, '\n', l->n - from) : NULL;
		if (end) {
			l->next = (size_t)(end - l->text) + 1;
			return 1;
		}
		from = l->n;
		int r = fill(l, e);
		if (r < 0)
			return r;
		if (!r) {
			int any = l->next < l->n;
			l->next = l->n;
			return any;
		}
	}
}

static void give(const struct side_lines *l, const char **text, size_t *n)
{
	size_t end = l->next;
	if (end > l->at && l->text[end - 1] == '\n')
		end--;
	if (end > l->at && l->text[end - 1] == '\r')
		end--;
	*text = l->text + l->at;
	*n = end - l->at;
}

int side_lines_next(struct side_lines *l, const char **text, size_t *n, struct err *e)
{
	forget(l);
	l->at = l->next;
	l->number += 1 + l->joined;
	l->joined = 0;
	int r = find_line(l, e);
	l->first_end = l->next;
	if (r > 0)
		give(l, text, n);
	return r;
}

int side_lines_join(struct side_lines *l, const char **text, size_t *n, struct err *e)
{
	int r = find_line(l, e);
	l->joined += r > 0;
	if (r > 0)
		give(l, text, n);
	return r;
}

void side_lines_unjoin(struct side_lines *l)
{
	l->next = l->first_end;
	l->joined = 0;
}

int side_lines_rest(struct side_lines *l, const char **text, size_t *n, struct err *e)
{
	int r;
	while ((r = fill(l, e)) > 0)
		;
	if (r < 0)
		return r;
	l->at = l->next;
	l->next = l->n;
	l->number++;
	*text = l->text + l->at;
	*n = l->n - l->at;
	return *n > 0;
}

int side_lines_peek(struct side_lines *l, const char **text, size_t *n, struct err *e)
{
	int r = 1;
	while (r > 0 && l->n - l->next < SOURCE_HEAD)
		r = fill(l, e);
	if (r < 0)
		return r;
	if (!l->number && !l->next && l->n >= 3 && !memcmp(l->text, "\xef\xbb\xbf", 3))
		l->next = 3;
	*text = l->text + l->next;
	*n = l->n - l->next < SOURCE_HEAD ? l->n - l->next : SOURCE_HEAD;
	return *n > 0;
}

uint64_t side_lines_number(const struct side_lines *l)
{
	return l->number;
}
