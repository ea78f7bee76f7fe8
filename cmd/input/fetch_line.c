#include "cmd/input/fetch_line.h"
#include "base/text/buf.h"
#include "cmd/cli/say.h"
#include "render/text/escape.h"

#include <stdio.h>
#include <string.h>

/* "https://host:port/…" → host:port; of several addresses the first, and " …". */
static void add_host(struct buf *b, const char *url)
{
	const char *p = strstr(url, "://");
	p = p ? p + 3 : url;
	size_t n = strcspn(p, "/ ");
	escape_visible(b, p, n);
	if (p[n + strcspn(p + n, " ")] && p[n + strcspn(p + n, " ") + 1])
		buf_str(b, " …");
}

static void text(struct buf *b, const char *verb, const struct dso_fetch *f)
{
	buf_fmt(b, "%s %s of ", verb, f->what);
	escape_visible(b, f->path, strlen(f->path));
	buf_str(b, " from ");
	add_host(b, f->url);
}

static void say_gave_up(const struct dso_fetch *f)
{
	struct buf b = {0};
	add_host(&b, f->url);
	if (f->gave_up)
		say("debuginfod: %s is too slow or sends too much; not asked any more",
		    buf_cstr(&b));
	buf_release(&b);
}

void fetchline_draw(void *unused, const struct dso_fetch *f)
{
	struct buf b = {0};
	(void)unused;
	text(&b, "fetching", f);
	if (f->ended)
		fputs("\r\033[K", stderr);
	else if (f->total)
		fprintf(stderr, "\r%s %.1f of %.1f MB \033[K", buf_cstr(&b),
			(double)f->done / 1e6, (double)f->total / 1e6);
	else
		fprintf(stderr, "\r%s \033[K", buf_cstr(&b));
	buf_release(&b);
	say_gave_up(f);
}

void fetchline_log(void *unused, const struct dso_fetch *f)
{
	struct buf b = {0};
	(void)unused;
	say_gave_up(f);
	if (!f->ended || !f->found)
		return;
	text(&b, "fetched", f);
	say("%s, %.1f MB", buf_cstr(&b), (double)f->total / 1e6);
	buf_release(&b);
}
