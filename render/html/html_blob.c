#include "render/html/html_blob.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int html_blob_begin(struct html_blob *b, const char *id, FILE *out, struct err *e)
{
	*b = (struct html_blob){.out = out};
	if (deflateInit(&b->z, Z_DEFAULT_COMPRESSION) != Z_OK)
		return err_nomem(e);
	fprintf(out, "<script type=\"text/plain\" id=\"%s\">", id);
	return 0;
}

static void put_group(char *text, const uint8_t *p)
{
	text[0] = digits[p[0] >> 2];
	text[1] = digits[(p[0] & 3) << 4 | p[1] >> 4];
	text[2] = digits[(p[1] & 15) << 2 | p[2] >> 6];
	text[3] = digits[p[2] & 63];
}

enum { AT_A_TIME = 1 << 14 };

static void put_bytes(struct html_blob *b, const uint8_t *p, size_t n)
{
	char text[4 * (AT_A_TIME / 3 + 1)];
	size_t chars = 0;
	for (size_t i = 0; i < n; i++) {
		b->left[b->nleft++] = p[i];
		if (b->nleft < 3)
			continue;
		put_group(text + chars, b->left);
		chars += 4;
		b->nleft = 0;
	}
	fwrite(text, 1, chars, b->out);
	b->written += chars;
}

static void put_rest(struct html_blob *b)
{
	char text[4];
	if (!b->nleft)
		return;
	for (unsigned i = b->nleft; i < 3; i++)
		b->left[i] = 0;
	put_group(text, b->left);
	for (unsigned i = b->nleft + 1; i < 4; i++)
		text[i] = '=';
	fwrite(text, 1, 4, b->out);
	b->written += 4;
}

static int deflate_all(struct html_blob *b, int flush, struct err *e)
{
	uint8_t out[AT_A_TIME];
	do {
		b->z.next_out = out;
		b->z.avail_out = sizeof(out);
		deflate(&b->z, flush);
		put_bytes(b, out, sizeof(out) - b->z.avail_out);
		if (ferror(b->out))
			return err_sys(e, "cannot write");
	} while (!b->z.avail_out);
	return 0;
}

int html_blob_add(struct html_blob *b, struct buf *data, struct err *e)
{
	enum { AT_ONCE = 1 << 30 }; /* avail_in is 32 bits */
	int rc = buf_failed(data) ? err_nomem(e) : 0;
	for (size_t at = 0; at < data->n && !rc; at += AT_ONCE) {
		size_t n = data->n - at;
		b->z.next_in = (uint8_t *)data->v + at;
		b->z.avail_in = n < AT_ONCE ? (unsigned)n : AT_ONCE;
		rc = deflate_all(b, Z_NO_FLUSH, e);
	}
	buf_release(data);
	return rc;
}

int html_blob_end(struct html_blob *b, int rc, struct err *e)
{
	if (b->failed == ERR_NOMEM) /* its writer knows of no more than a stream that failed */
		rc = err_nomem(e);
	rc = rc ? rc : deflate_all(b, Z_FINISH, e);
	put_rest(b);
	fputs("</script>\n", b->out);
	deflateEnd(&b->z);
	return rc;
}

static ssize_t write_blob(void *blob, const char *p, size_t n)
{
	struct buf data = {0};
	struct err e;
	buf_add(&data, p, n);
	struct html_blob *b = blob;
	b->failed = b->failed ? b->failed : html_blob_add(b, &data, &e);
	buf_release(&data);
	return b->failed ? 0 : (ssize_t)n;
}

FILE *html_blob_file(struct html_blob *b)
{
	return fopencookie(b, "w", (cookie_io_functions_t){.write = write_blob});
}

int html_blob_write(const char *id, struct buf *data, FILE *out, struct err *e)
{
	struct html_blob b;
	int rc = html_blob_begin(&b, id, out, e);
	if (rc) {
		buf_release(data);
		return rc;
	}
	return html_blob_end(&b, html_blob_add(&b, data, e), e);
}
