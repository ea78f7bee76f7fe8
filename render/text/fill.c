#include "render/text/fill.h"

#include <string.h>

static size_t columns(const char *s, size_t n)
{
	size_t c = 0;
	for (size_t i = 0; i < n; i++)
		c += ((unsigned char)s[i] & 0xc0) != 0x80;
	return c;
}

static void new_line(struct buf *out, size_t indent)
{
	buf_char(out, '\n');
	for (size_t i = 0; i < indent; i++)
		buf_char(out, ' ');
}

/* The length of a word's part up to the last comma that fits; else of all of it. */
static size_t word_part(const char *s, size_t n, size_t room)
{
	size_t at = n;
	if (columns(s, n) <= room)
		return n;
	for (size_t i = 0; i + 1 < n && i < room; i++)
		if (s[i] == ',')
			at = i + 1;
	return at;
}

void fill_text(struct buf *out, size_t used, size_t indent, const char *text)
{
	size_t start = used;
	for (;;) {
		size_t gap = strspn(text, " \n"), n = strcspn(text + gap, " \n");
		text += gap;
		if (!n)
			break;
		if (used == start) {
			gap = 0;
		} else if (used + gap + columns(text, n) > FILL_WIDTH) {
			new_line(out, indent);
			used = start = indent;
			gap = 0;
		}
		size_t part = word_part(text, n, FILL_WIDTH - used - gap);
		buf_fmt(out, "%*s", (int)gap, "");
		buf_add(out, text, part);
		used += gap + columns(text, part);
		if (part < n) {
			new_line(out, indent);
			used = start = indent;
		}
		text += part;
	}
	buf_char(out, '\n');
}

size_t fill_paragraph(const char *text, int *table)
{
	const char *end = strstr(text, "\n\n");
	size_t n = end ? (size_t)(end - text) : strlen(text);
	*table = *text == ' ' || *text == '\t';
	for (size_t i = 0; i + 1 < n && !*table; i++)
		*table = text[i] == '\n' && (text[i + 1] == ' ' || text[i + 1] == '\t');
	return n;
}
