#include "libtime/side/json_pull.h"

#include <string.h>

void json_pull_init(struct json_pull *j, const char *text, size_t n)
{
	*j = (struct json_pull){.p = text, .end = text + n};
}

void json_pull_release(struct json_pull *j)
{
	buf_release(&j->unescaped);
	buf_release(&j->key_buf);
}

static int fail(struct json_pull *j)
{
	j->truncated |= !j->bad && j->p >= j->end;
	j->bad_at = j->bad ? j->bad_at : j->p;
	j->bad = 1;
	j->p = j->end;
	return 0;
}

/* Skip blanks; the next character, or 0 at the end. */
static char blank(struct json_pull *j)
{
	while (j->p < j->end &&
	       (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'))
		j->p++;
	return j->p < j->end ? *j->p : '\0';
}

char json_pull_peek(struct json_pull *j)
{
	char c = blank(j);
	return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

/* --- strings -------------------------------------------------------------------------- */

static int hex4(struct json_pull *j, unsigned *out)
{
	*out = 0;
	if (j->end - j->p < 4) {
		j->p = j->end;
		return fail(j);
	}
	for (int i = 0; i < 4; i++) {
		char c = *j->p++;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
				 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
							: 16;
		if (digit > 15)
			return fail(j);
		*out = *out << 4 | digit;
	}
	return 1;
}

static void utf8(struct buf *b, unsigned c)
{
	if (c < 0x80) {
		buf_char(b, (char)c);
	} else if (c < 0x800) {
		buf_char(b, (char)(0xc0 | c >> 6));
		buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_char(b, (char)(0xe0 | c >> 12));
		buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_char(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_char(b, (char)(0xf0 | c >> 18));
		buf_char(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_char(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_char(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* \uXXXX, or a surrogate pair of them; an unpaired surrogate becomes U+FFFD. */
static int unicode(struct json_pull *j, struct buf *b)
{
	unsigned c, low;
	if (!hex4(j, &c))
		return 0;
	if (c >= 0xd800 && c < 0xdc00 && j->end - j->p >= 6 && j->p[0] == '\\' &&
	    j->p[1] == 'u') {
		j->p += 2;
		if (!hex4(j, &low))
			return 0;
		c = low >= 0xdc00 && low < 0xe000
			    ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00)
			    : 0xfffd;
	}
	utf8(b, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
	return 1;
}

static int escape(struct json_pull *j, struct buf *b)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	if (j->p >= j->end)
		return fail(j);
	char c = *j->p++;
	const char *at = c ? strchr(from, c) : NULL;
	if (c == 'u')
		return unicode(j, b);
	if (!at)
		return fail(j);
	buf_char(b, to[at - from]);
	return 1;
}

/* The string that starts at j->p; if it has escapes, it is decoded into b. */
static int string(struct json_pull *j, struct buf *b, const char **s, size_t *n)
{
	const char *from = ++j->p;
	int plain = 1;
	buf_clear(b);
	for (;;) {
		while (j->p < j->end && *j->p != '"' && *j->p != '\\')
			j->p++;
		if (j->p >= j->end)
			return fail(j);
		if (*j->p == '"')
			break;
		buf_add(b, from, (size_t)(j->p - from));
		plain = 0;
		j->p++;
		if (!escape(j, b))
			return 0;
		from = j->p;
	}
	if (!plain)
		buf_add(b, from, (size_t)(j->p - from));
	*s = plain ? from : buf_cstr(b);
	*n = plain ? (size_t)(j->p - from) : b->n;
	j->p++;
	j->nomem |= buf_failed(b) != 0;
	return j->nomem ? fail(j) : 1;
}

/* --- structure ------------------------------------------------------------------------ */

int json_pull_enter(struct json_pull *j, char bracket)
{
	if (j->bad || blank(j) != bracket)
		return 0;
	if (j->depth == JSON_DEPTH)
		return fail(j);
	j->p++;
	j->depth++;
	j->first = 1;
	return 1;
}

/* Go to the next element: 1; 0 after the closing bracket `close`. */
static int next(struct json_pull *j, char close)
{
	char c = blank(j);
	if (j->bad)
		return 0;
	if (c == close) {
		j->p++;
		j->depth--;
		j->first = 0;
		return 0;
	}
	if (!j->first && c != ',')
		return fail(j);
	if (!j->first) {
		j->p++;
		blank(j);
	}
	j->first = 0;
	return 1;
}

int json_pull_key(struct json_pull *j)
{
	if (!next(j, '}'))
		return 0;
	if (blank(j) != '"')
		return fail(j);
	if (!string(j, &j->key_buf, &j->key, &j->key_n))
		return 0;
	if (blank(j) != ':')
		return fail(j);
	j->p++;
	return 1;
}

int json_pull_item(struct json_pull *j)
{
	return next(j, ']');
}

int json_pull_is(const struct json_pull *j, const char *key)
{
	return strlen(key) == j->key_n && !memcmp(key, j->key, j->key_n);
}

/* --- values --------------------------------------------------------------------------- */

/* A number or word: everything up to a character that can be in neither. */
static int word(struct json_pull *j, const char **s, size_t *n)
{
	const char *from = j->p;
	while (j->p < j->end &&
	       ((*j->p >= '0' && *j->p <= '9') || (*j->p >= 'a' && *j->p <= 'z') ||
		*j->p == 'E' || *j->p == '+' || *j->p == '-' || *j->p == '.'))
		j->p++;
	*s = from;
	*n = (size_t)(j->p - from);
	int number = *n && (*from == '-' || (*from >= '0' && *from <= '9'));
	return number || (*n == 4 && (!memcmp(from, "true", 4) || !memcmp(from, "null", 4))) ||
			       (*n == 5 && !memcmp(from, "false", 5))
		       ? 1
		       : fail(j);
}

int json_pull_string(struct json_pull *j, const char **s, size_t *n)
{
	if (!j->bad && blank(j) == '"')
		return string(j, &j->unescaped, s, n);
	json_pull_skip(j);
	return 0;
}

int json_pull_scalar(struct json_pull *j, const char **s, size_t *n)
{
	char c = json_pull_peek(j);
	if (c == '"' || j->bad)
		return json_pull_string(j, s, n);
	if (c == '0' || c == 't' || c == 'f')
		return word(j, s, n);
	json_pull_skip(j);
	return 0;
}

/* Only counts brackets: in skipped values, '[' may match '}'. */
void json_pull_skip(struct json_pull *j)
{
	int open = 0;
	const char *s;
	size_t n;
	do {
		char c = blank(j);
		if (j->bad || !c) {
			fail(j);
		} else if (c == '{' || c == '[') {
			open++;
			j->p++;
		} else if (open && (c == '}' || c == ']')) {
			open--;
			j->p++;
		} else if (open && (c == ',' || c == ':')) {
			j->p++;
		} else if (c == '"') {
			string(j, &j->unescaped, &s, &n);
		} else {
			word(j, &s, &n);
		}
	} while (open && !j->bad);
}

int json_pull_done(struct json_pull *j)
{
	return !j->bad && !j->depth && !blank(j);
}
