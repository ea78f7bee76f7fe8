#include "cmd/cli/topics.h"
#include "render/text/fill.h"
#include "libsym/name/frame_table.h"
#include "libtime/causes/causes.h"
#include "libtime/causes/mechanism.h"

#include <string.h>

static const char exit_status[] =
#include "cmd/cli/help/exit-status.txt.inc"
	;

static const char names[] =
#include "cmd/cli/help/names.txt.inc"
	;

static const char words[] =
#include "cmd/cli/help/words.inc"
	;

const struct topic topics[] = {
	{"filters", "which threads, times, waits and spans are meant", NULL, 0},
	{"names", "where names of functions come from, and why some are missing", names, 0},
	{"stacks", "how stacks are shown", NULL, 0},
	{"general", "input, warnings, trust", NULL, 0},
	{"causes", "why threads wait: the rules, and how to write your own", causes_builtin, 0},
	{"exit-status", "what 0, 1, 2 and 3 mean", exit_status, 0},
	{"frames", "what functions are for: loops, wrappers, runtimes", frames_builtin, 0},
	{"mechanisms", "what tail says that waits were for: the rules", mechanisms_builtin, 0},
	{"words", "glossary", words, 1},
	{NULL, NULL, NULL, 0},
};

const struct topic *topic_named(const char *name)
{
	const struct topic *t = topics;
	while (t->name && strcmp(t->name, name) != 0)
		t++;
	return t->name ? t : NULL;
}

/* Markdown as plain text: emphasis and code without their marks, of a link its words. */
static void add_plain(struct buf *out, const char *s, size_t n)
{
	int code = 0;
	for (size_t i = 0; i < n; i++) {
		size_t rest = n - i;
		if (s[i] == '`') {
			code = !code;
		} else if (!code && s[i] == ']' && rest > 1 && s[i + 1] == '(') {
			const char *end = memchr(s + i, ')', rest);
			i = end ? (size_t)(end - s) : n;
		} else if (code || !strchr("*[", s[i])) {
			buf_char(out, s[i]);
		}
	}
}

/* The nth cell of a table's line, without blanks around it; of length 0 if there is none. */
static const char *cell(const char *line, size_t n, int nth, size_t *length)
{
	const char *end = line + n, *from = line;
	for (int i = 0; i <= nth && from; i++) {
		from = memchr(from, '|', (size_t)(end - from));
		from += from != NULL;
	}
	const char *to = from ? memchr(from, '|', (size_t)(end - from)) : NULL;
	if (!to)
		return *length = 0, line;
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	*length = (size_t)(to - from);
	return from;
}

enum { TABLE_CELLS = 8 };

/* A line of the table whose first line is `head`: "io: a disk; colour: blue". */
static void add_row(struct buf *out, const char *head, size_t head_n, const char *line,
		    size_t n)
{
	struct buf b = {0};
	for (int i = 0; i < TABLE_CELLS; i++) {
		size_t length, name_n;
		const char *text = cell(line, n, i, &length);
		const char *name = cell(head, head_n, i, &name_n);
		if (!length)
			continue;
		buf_str(&b, !i ? "" : i == 1 ? ": " : "; ");
		if (i > 1) {
			buf_add(&b, name, name_n);
			buf_str(&b, ": ");
		}
		add_plain(&b, text, length);
	}
	fill_text(out, 0, 4, buf_cstr(&b));
	buf_release(&b);
}

/* The lines of a page up to the next one that is empty, a heading or of a table: filled; the
 * explanation of a word (in bold type, at its beginning) is indented. */
static size_t add_paragraph(struct buf *out, const char *page)
{
	size_t n = 0;
	do {
		n += strcspn(page + n, "\n");
		n += page[n] == '\n';
	} while (page[n] && !strchr("\n#|", page[n]));
	struct buf b = {0};
	add_plain(&b, page, n - (n && page[n - 1] == '\n'));
	fill_text(out, 0, *page == '*' ? 4 : 0, buf_cstr(&b));
	buf_release(&b);
	return n;
}

/* The table at the beginning of `page`. */
static size_t add_table(struct buf *out, const char *page)
{
	size_t head = strcspn(page, "\n"), n = head;
	while (page[n] == '\n' && page[n + 1] == '|') {
		const char *line = page + n + 1;
		size_t length = strcspn(line, "\n");
		if (line[1] != '-')
			add_row(out, page, head, line, length);
		n += 1 + length;
	}
	return n + (page[n] == '\n');
}

static void add_markdown(struct buf *out, const char *page)
{
	while (*page) {
		page += strspn(page,
			       "# "); /* a heading is a paragraph: an empty line follows it */
		if (*page == '|') {
			page += add_table(out, page);
		} else if (*page == '\n') {
			buf_char(out, '\n');
			page++;
		} else {
			page += add_paragraph(out, page);
		}
	}
}

void topic_print(FILE *f, const struct topic *t)
{
	struct buf b = {0};
	if (!t->text)
		buf_fmt(&b, "Options of several commands: %s\n", t->brief);
	else if (!t->markdown)
		buf_str(&b, t->text);
	else
		add_markdown(&b, t->text);
	fputs(buf_cstr(&b), f);
	buf_release(&b);
}
