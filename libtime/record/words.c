#include "libtime/record/words.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text/shellword.h"

#include <stdarg.h>
#include <stdio.h>

static int add(struct words *w, const char *fmt, va_list ap)
{
	struct buf b = {0};
	char *word = NULL;
	buf_vfmt(&b, fmt, ap);
	if (!w->failed && !buf_failed(&b))
		word = mem_strdup(buf_cstr(&b));
	buf_release(&b);
	if (!word || vec_push(&w->v, word)) {
		mem_free(word);
		w->failed = ERR_NOMEM;
	}
	return w->failed;
}

int words_add(struct words *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = add(w, fmt, ap);
	va_end(ap);
	return rc;
}

void words_option(struct words *w, const char *option, const char *fmt, ...)
{
	va_list ap;
	words_add(w, "%s", option);
	va_start(ap, fmt);
	add(w, fmt, ap);
	va_end(ap);
}

void words_pair(struct words *w, const char *option, const char *value)
{
	words_add(w, "%s", option);
	words_add(w, "%s", value);
}

void words_line(struct buf *out, const struct words *w)
{
	for (size_t i = 0; i < w->v.n; i++) {
		if (i)
			buf_char(out, ' ');
		shell_word(out, w->v.v[i]);
	}
}

void words_release(struct words *w)
{
	for (size_t i = 0; i < w->v.n; i++)
		mem_free(w->v.v[i]);
	vec_release(&w->v);
}
