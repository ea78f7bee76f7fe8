#include "render/html/html_column.h"

struct html_column *html_column(struct html_columns *c, const char *name)
{
	if (c->n == HTML_COLUMNS)
		return NULL;
	c->v[c->n].name = name;
	return &c->v[c->n++];
}

void html_put(struct html_column *c, uint64_t x)
{
	c->bits |= x;
	for (c->n++; x > 127; x >>= 7)
		buf_char(&c->b, (char)(x | 128));
	buf_char(&c->b, (char)x);
}

void html_put_signed(struct html_column *c, int64_t x)
{
	html_put(c, x < 0 ? ((uint64_t)-x << 1) - 1 : (uint64_t)x << 1);
}

static unsigned width(const struct html_column *c)
{
	return c->bits ? (71 - (unsigned)__builtin_clzll(c->bits)) / 8 : c->n > 0;
}

void html_columns_head(const struct html_columns *c, struct json *j)
{
	json_open(j, "columns", '[');
	for (size_t i = 0; i < c->n; i++) {
		json_open(j, NULL, '[');
		json_str(j, NULL, c->v[i].name);
		json_u64(j, NULL, c->v[i].n);
		json_u64(j, NULL, width(&c->v[i]));
		json_close(j, ']');
	}
	json_close(j, ']');
}

/* Byte `k` of each number. */
static int write_plane(const struct html_column *c, unsigned k, struct html_blob *to,
		       struct err *e)
{
	enum { AT_ONCE = 1 << 16 };
	const char *p = c->b.v, *end = p + c->b.n;
	struct buf out = {0};
	int rc = 0;
	while (p < end && !rc) {
		uint64_t x = 0;
		unsigned shift = 0;
		do
			x |= (uint64_t)(*p & 127) << shift;
		while (shift += 7, *p++ & 128);
		buf_char(&out, (char)(x >> 8 * k));
		if (out.n == AT_ONCE)
			rc = html_blob_add(to, &out, e);
	}
	rc = rc ? rc : html_blob_add(to, &out, e);
	buf_release(&out);
	return rc;
}

int html_columns_write(struct html_columns *c, struct html_blob *to, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < c->n && !rc; i++) {
		rc = buf_failed(&c->v[i].b) ? err_nomem(e) : 0;
		for (unsigned k = 0; k < width(&c->v[i]) && !rc; k++)
			rc = write_plane(&c->v[i], k, to, e);
		buf_release(&c->v[i].b);
	}
	return rc;
}

void html_columns_release(struct html_columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		buf_release(&c->v[i].b);
	c->n = 0;
}
