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
	for (c->n++; x > 127; x >>= 7)
		buf_char(&c->b, (char)(x | 128));
	buf_char(&c->b, (char)x);
}

void html_put_signed(struct html_column *c, int64_t x)
{
	html_put(c, x < 0 ? ((uint64_t)-x << 1) - 1 : (uint64_t)x << 1);
}

void html_columns_head(const struct html_columns *c, struct json *j)
{
	json_open(j, "columns", '[');
	for (size_t i = 0; i < c->n; i++) {
		json_open(j, NULL, '[');
		json_str(j, NULL, c->v[i].name);
		json_u64(j, NULL, c->v[i].n);
		json_u64(j, NULL, c->v[i].b.n);
		json_close(j, ']');
	}
	json_close(j, ']');
}

int html_columns_write(struct html_columns *c, struct html_blob *to, struct err *e)
{
	int rc = 0;
	for (size_t i = 0; i < c->n && !rc; i++)
		rc = html_blob_add(to, &c->v[i].b, e);
	return rc;
}

void html_columns_release(struct html_columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		buf_release(&c->v[i].b);
	c->n = 0;
}
