#include "cmd/cli/say.h"
#include "render/text/escape.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int covers; /* a line without an end is on the terminal */

/* A text in visible form, without newline. */
static void put_visible(FILE *f, const char *s)
{
	struct buf b = {0};
	escape_visible(&b, s, strlen(s));
	if (!buf_failed(&b))
		fputs(buf_cstr(&b), f);
	else /* running out of memory must still be reported */
		for (; *s; s++)
			fputc(*s >= ' ' && *s <= '~' ? *s : '?', f);
	buf_release(&b);
}

void say_over(int line)
{
	atomic_store(&covers, line);
}

static void line_of(const char *before, const char *fmt, va_list ap)
{
	char line[8192];
	vsnprintf(line, sizeof(line), fmt, ap);
	if (atomic_exchange(&covers, 0))
		fputs("\r\033[K", stderr);
	fputs(before, stderr);
	put_visible(stderr, line);
	fputc('\n', stderr);
}

void say_args(const char *fmt, va_list ap)
{
	line_of("perfkit: ", fmt, ap);
}

void say(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	line_of("perfkit: ", fmt, ap);
	va_end(ap);
}

void say_line(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	line_of("", fmt, ap);
	va_end(ap);
}
