#include "render/text/escape.h"

#include <ctype.h>
#include <string.h>

/*
 * Decode one UTF-8 sequence of at most n bytes: its length and *cp, or 0 when it is not valid
 * (overlong, surrogate, above U+10FFFF, cut).
 */
static size_t utf8_decode(const unsigned char *s, size_t n, uint32_t *cp)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80                    ? 1
		     : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
		     : (s[0] & 0xf0) == 0xe0        ? 3
		     : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
						    : 0;
	if (!len || len > n)
		return 0;
	uint32_t c = len == 1 ? s[0] : s[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*cp = c;
	return len;
}

/* Characters that are valid in UTF-8 but invisible, reordering, or not allowed in XML. */
static int is_hidden(uint32_t c)
{
	return (c >= 0x80 && c <= 0x9f) || c == 0xad || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

/* The entity of an ASCII character that XML reserves, or NULL. */
static const char *entity(unsigned char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Append the character at p[0..n) that is not plain text; returns the bytes it took. */
static size_t add_special(struct buf *b, const unsigned char *p, size_t n)
{
	uint32_t cp = 0;
	size_t len = utf8_decode(p, n, &cp);
	if (!len) {
		buf_fmt(b, "\\x%02x", p[0]);
		return 1;
	}
	if (cp < 0x20 || cp == 0x7f) {
		unsigned char picture = cp == 0x7f ? 0xa1 : (unsigned char)(0x80 + cp);
		char utf8[3] = {(char)0xe2, (char)0x90, (char)picture};
		buf_add(b, utf8, sizeof(utf8));
	} else if (is_hidden(cp)) {
		buf_fmt(b, "\\u{%04x}", cp);
	} else {
		buf_add(b, p, len);
	}
	return len;
}

static void escape(struct buf *b, const char *s, size_t n, int xml)
{
	if (!n) /* s may be NULL */
		return;
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	while (p < end) {
		const unsigned char *run = p;
		while (p < end && *p >= 0x20 && *p < 0x7f && !(xml && entity(*p)))
			p++;
		buf_add(b, run, (size_t)(p - run));
		if (p == end)
			return;
		const char *name = xml ? entity(*p) : NULL;
		if (name) {
			buf_str(b, name);
			p++;
		} else {
			p += add_special(b, p, (size_t)(end - p));
		}
	}
}

void escape_controls(struct buf *b, const char *s, size_t n)
{
	if (!n) /* s may be NULL */
		return;
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	while (p < end) {
		uint32_t cp = 0;
		size_t len = utf8_decode(p, (size_t)(end - p), &cp);
		int control = len ? cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) : *p <= 0x9f;
		if (control) {
			p += add_special(b, p, (size_t)(end - p));
		} else {
			buf_add(b, p, len ? len : 1);
			p += len ? len : 1;
		}
	}
}

void escape_visible(struct buf *b, const char *s, size_t n)
{
	escape(b, s, n, 0);
}

void escape_markdown_code(struct buf *b, const char *s, size_t n)
{
	struct buf visible = {0};
	escape_visible(&visible, s, n);
	buf_char(b, '`');
	for (const char *p = buf_cstr(&visible); *p; p++)
		if (*p == '`')
			buf_str(b, "\\u{0060}");
		else
			buf_char(b, *p);
	buf_char(b, '`');
	b->failed |= visible.failed;
	buf_release(&visible);
}

int escape_is_utf8(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp;
	size_t len = 1;
	for (size_t i = 0; i < n && len; i += len)
		len = p[i] < 0x80 ? 1 : utf8_decode(p + i, n - i, &cp);
	return len != 0;
}

void escape_invalid(struct buf *b, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp;
	for (size_t i = 0, len; i < n; i += len) {
		len = utf8_decode(p + i, n - i, &cp);
		if (len)
			buf_add(b, p + i, len);
		else
			buf_fmt(b, "\\x%02x", p[i]);
		len = len ? len : 1;
	}
}

void escape_xml(struct buf *b, const char *s, size_t n)
{
	escape(b, s, n, 1);
}

void escape_xml_str(struct buf *b, const char *s)
{
	if (s)
		escape(b, s, strlen(s), 1);
}

size_t escape_chars(const char *s, size_t n)
{
	size_t chars = 0;
	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)s[i] & 0xc0) != 0x80;
	return chars;
}

size_t escape_prefix(const char *s, size_t n, size_t chars)
{
	size_t i = 0;
	for (; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) == 0x80)
			continue;
		if (!chars--)
			break;
	}
	return i;
}

/* 1 for a '_' among letters, which is no mark. */
static int is_within_word(const char *s, size_t n, size_t at)
{
	size_t from = at, to = at;
	while (from && s[from - 1] == '_')
		from--;
	while (to < n && s[to] == '_')
		to++;
	return from && to < n && isalnum((unsigned char)s[from - 1]) &&
	       isalnum((unsigned char)s[to]);
}

void escape_markdown(struct buf *b, const char *s, size_t n)
{
	struct buf visible = {0};
	escape_visible(&visible, s, n);
	const char *v = buf_cstr(&visible);
	size_t len = strlen(v);
	for (size_t i = 0; i < len; i++) {
		if (v[i] == '@') { /* a backslash does not keep forges from a mention */
			buf_str(b, "&#64;");
			continue;
		}
		if (strchr("\\`*_[]<>|~#&", v[i]) &&
		    !(v[i] == '_' && is_within_word(v, len, i)))
			buf_char(b, '\\');
		buf_char(b, v[i]);
	}
	b->failed |= visible.failed;
	buf_release(&visible);
}
