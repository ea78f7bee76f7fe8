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

/* "| io | a disk | blue |" as "io: a disk; blue"; nothing of the line below a heading. */
static void add_cells(struct buf *out, const char *line, size_t n)
{
	int cell = 0;
	for (size_t i = 1; i < n && line[1] != '-';) {
		const char *end = memchr(line + i, '|', n - i);
		size_t to = end ? (size_t)(end - line) : n, from = i;
		i = to + 1;
		while (from < to && line[from] == ' ')
			from++;
		while (to > from && line[to - 1] == ' ')
			to--;
		if (from == to)
			continue;
		buf_str(out, !cell ? "" : cell == 1 ? ": " : "; ");
		buf_add(out, line + from, to - from);
		cell++;
	}
}

/* A line of Markdown: headings without their mark, emphasis plain, paragraphs filled. */
static void add_markdown(struct buf *out, const char *line, size_t n)
{
	size_t marks = strspn(line, "#");
	struct buf b = {0};
	if (*line == '|')
		add_cells(&b, line, n);
	for (size_t i = marks; i < n && *line != '|'; i++)
		if (line[i] != '*')
			buf_char(&b, line[i]);
	if (*line != '|' || b.n)
		fill_text(out, 0, marks || !n ? 0 : 4, buf_cstr(&b));
	buf_release(&b);
}

void topic_print(FILE *f, const struct topic *t)
{
	struct buf b = {0};
	if (!t->text)
		buf_fmt(&b, "Options of several commands: %s\n", t->brief);
	else if (!t->markdown)
		buf_str(&b, t->text);
	for (const char *p = t->text; t->markdown && *p;) {
		size_t n = strcspn(p, "\n");
		add_markdown(&b, p, n);
		p += n + (p[n] == '\n');
	}
	fputs(buf_cstr(&b), f);
	buf_release(&b);
}
