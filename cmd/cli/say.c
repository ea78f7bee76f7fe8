#include "cmd/cli/say.h"
#include "render/text/escape.h"

#include <string.h>

void put_visible(FILE *f, const char *s)
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

static void line_of(const char *before, const char *fmt, va_list ap)
{
	char line[8192];
	vsnprintf(line, sizeof(line), fmt, ap);
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
