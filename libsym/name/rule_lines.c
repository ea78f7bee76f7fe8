#include "libsym/name/rule_lines.h"
#include "base/mem.h"

#include <fnmatch.h>
#include <string.h>

int rule_lines_each(const char *text, size_t n, const char *name,
		    int (*parse)(const struct rule_line *at, char *line), void *ctx,
		    struct err *e)
{
	struct rule_line at = {.name = name, .ctx = ctx, .e = e};
	int r = 0;
	for (const char *p = text, *end = text + n; !r && p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);
		char *line = mem_strndup(p, len);
		at.number++;
		r = line ? parse(&at, line) : err_nomem(e);
		mem_free(line);
		p += len + 1;
	}
	return r;
}

int rule_line_bad(const struct rule_line *at, const char *why, const char *what)
{
	return err_set(at->e, ERR_FORMAT, "%s:%u: %s: %.80s", at->name, at->number, why, what);
}

const char *globs_parse(struct arena *text, const char *s, int frames)
{
	char *out = arena_bytes(text, strlen(s) + 2), *w = out;
	if (!out)
		return NULL;
	for (int start = 1; *s; s++) {
		if (start && frames && *s == '_')
			continue;
		start = *s == '|';
		*w++ = start ? '\0' : *s;
	}
	*w++ = '\0';
	*w = '\0';
	return out;
}

int globs_match(const char *globs, const char *name)
{
	for (; *globs; globs += strlen(globs) + 1)
		if (!fnmatch(globs, name, 0))
			return 1;
	return 0;
}
