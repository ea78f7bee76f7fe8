#include "render/svg/svg_text.h"
#include "render/text/escape.h"

#include <math.h>
#include <string.h>

void svg_px(struct buf *b, double x)
{
	long long c = llround(x * 100);
	if (c < 0) {
		buf_char(b, '-');
		c = -c;
	}
	buf_u64(b, (uint64_t)c / 100);
	if (c % 100)
		buf_fmt(b, c % 10 ? ".%02lld" : ".%lld", c % 10 ? c % 100 : c % 100 / 10);
}

void svg_attr_px(struct buf *b, const char *name, double x)
{
	buf_char(b, ' ');
	buf_str(b, name);
	buf_str(b, "=\"");
	svg_px(b, x);
	buf_char(b, '"');
}

void svg_text(struct buf *b, const char *attrs, double x, double y, const char *s)
{
	buf_fmt(b, "<text %s", attrs);
	svg_attr_px(b, "x", x);
	svg_attr_px(b, "y", y);
	buf_char(b, '>');
	escape_xml_str(b, s);
	buf_str(b, "</text>\n");
}

/* The number of bytes of visible text for a line of `room` characters: up to the last blank
 * that fits, or its end. */
static size_t svg_line(const char *s, size_t n, size_t room)
{
	size_t cut = escape_prefix(s, n, room);
	if (cut >= n)
		return n;
	for (size_t i = cut; i > cut / 2; i--)
		if (s[i] == ' ')
			return i;
	return cut ? cut : n;
}

static void put_line(struct buf *b, double x, double dy, const char *s, size_t n)
{
	buf_str(b, dy > 0 ? " <tspan" : "<tspan");
	svg_attr_px(b, "x", x);
	if (dy > 0)
		svg_attr_px(b, "dy", dy);
	buf_char(b, '>');
	escape_xml(b, s, n);
	buf_str(b, "</tspan>");
}

int svg_text_lines(struct buf *b, const char *attrs, double x, double y, double dy, size_t room,
		   const char *s)
{
	struct buf text = {0};
	int lines = 0;
	escape_visible(&text, s ? s : "", s ? strlen(s) : 0);
	if (b && text.n) {
		buf_fmt(b, "<text %s", attrs);
		svg_attr_px(b, "y", y);
		buf_char(b, '>');
	}
	for (size_t at = 0, n; at < text.n; at += n, lines++) {
		n = svg_line(text.v + at, text.n - at, room);
		if (b)
			put_line(b, x, lines ? dy : 0, text.v + at, n);
		while (at + n < text.n && text.v[at + n] == ' ')
			n++;
	}
	if (b)
		buf_str(b, text.n ? "</text>\n" : "");
	if (b && buf_failed(&text))
		b->failed = buf_failed(&text);
	buf_release(&text);
	return lines;
}

void svg_number(struct buf *b, uint64_t x)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[16];
	size_t n = 0;
	do {
		text[n++] = digits[(x & 31) | (x > 31 ? 32 : 0)];
		x >>= 5;
	} while (x);
	buf_add(b, text, n);
}

void svg_signed(struct buf *b, int64_t x)
{
	svg_number(b, x < 0 ? ((0 - (uint64_t)x) << 1) - 1 : (uint64_t)x << 1);
}

void svg_desc_line(struct buf *b, const char *before, const char *text)
{
	if (!text || !*text)
		return;
	buf_str(b, before);
	escape_xml_str(b, text);
	buf_str(b, ". ");
}
