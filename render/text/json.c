#include "render/text/json.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of the valid UTF-8 character at s, or 0. */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (!len || len > n || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static int is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Append s with quotes, escaped. */
static void json_escape(struct buf *b, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	buf_char(b, '"');
	for (size_t i = 0; i < n;) {
		size_t plain = i;
		while (plain < n && is_plain(p[plain]))
			plain++;
		buf_add(b, p + i, plain - i);
		i = plain;
		if (i == n)
			break;
		size_t len = utf8_len(p + i, n - i);
		if (!len)
			buf_fmt(b, "\\\\x%02X", p[i]);
		else if (p[i] == '"' || p[i] == '\\')
			buf_fmt(b, "\\%c", p[i]);
		else if (p[i] < 0x20 || p[i] == 0x7f)
			buf_fmt(b, "\\u%04x", p[i]);
		else if (p[i] == 0xc2 && p[i + 1] < 0xa0) /* they control terminals, too */
			buf_fmt(b, "\\u%04x", p[i + 1]);
		else
			buf_add(b, p + i, len);
		i += len ? len : 1;
	}
	buf_char(b, '"');
}

static void key_of(struct json *j, const char *key)
{
	if (j->comma)
		buf_char(j->b, ',');
	j->comma = 1;
	if (key) {
		json_escape(j->b, key, strlen(key));
		buf_char(j->b, ':');
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	key_of(j, key);
	buf_char(j->b, bracket);
	j->comma = 0;
}

void json_close(struct json *j, char bracket)
{
	buf_char(j->b, bracket);
	j->comma = 1;
}

void json_u64(struct json *j, const char *key, uint64_t x)
{
	key_of(j, key);
	buf_u64(j->b, x);
}

void json_i64(struct json *j, const char *key, int64_t x)
{
	key_of(j, key);
	buf_fmt(j->b, "%" PRId64, x);
}

void json_bool(struct json *j, const char *key, int x)
{
	key_of(j, key);
	buf_str(j->b, x ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	key_of(j, key);
	buf_str(j->b, "null");
}

void json_text(struct json *j, const char *key, const char *s, size_t n)
{
	if (!s) {
		json_null(j, key);
		return;
	}
	key_of(j, key);
	json_escape(j->b, s, n);
}

void json_str(struct json *j, const char *key, const char *s)
{
	json_text(j, key, s, s ? strlen(s) : 0);
}

void json_u64_text(struct json *j, const char *key, uint64_t x)
{
	key_of(j, key);
	buf_char(j->b, '"');
	buf_u64(j->b, x);
	buf_char(j->b, '"');
}

void json_raw(struct json *j, const char *key, const char *value)
{
	key_of(j, key);
	buf_str(j->b, value);
}
