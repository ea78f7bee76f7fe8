#include "cmd/cli/say.h"
#include "render/text/escape.h"
#include "render/text/fill.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int covers; /* a line without an end is on the terminal */

/* A text in visible form; `filled`: in lines of 80 columns. */
static void put_visible(const char *before, const char *s, int filled)
{
	struct buf b = {0}, lines = {0};
	escape_visible(&b, s, strlen(s));
	fputs(before, stderr);
	if (filled && !buf_failed(&b))
		fill_text(&lines, strlen(before), 2, buf_cstr(&b));
	else
		buf_fmt(&lines, "%s\n", buf_cstr(&b));
	if (!buf_failed(&b) && !buf_failed(&lines)) {
		fputs(buf_cstr(&lines), stderr);
	} else { /* running out of memory must still be reported */
		for (; *s; s++)
			fputc(*s >= ' ' && *s <= '~' ? *s : '?', stderr);
		fputc('\n', stderr);
	}
	buf_release(&b);
	buf_release(&lines);
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
	put_visible(before, line, isatty(2));
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
