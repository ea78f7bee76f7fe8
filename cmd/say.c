#include "cmd/say.h"
#include "render/escape.h"

#include <string.h>

void put_visible(FILE *f, const char *s)
{
	struct buf b = {0};
	escape_visible(&b, s, strlen(s));
	fputs(buf_cstr(&b), f);
	buf_release(&b);
}

void say_args(const char *fmt, va_list ap)
{
	char line[2048];
	vsnprintf(line, sizeof(line), fmt, ap);
	fputs("perfkit: ", stderr);
	put_visible(stderr, line);
	fputc('\n', stderr);
}

void say(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say_args(fmt, ap);
	va_end(ap);
}
