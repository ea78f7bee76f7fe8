#include "render/html/runs_page.h"

#include <ctype.h>
#include <string.h>

extern const char flame_js_hash[]; /* made by the build */

static const char style[] =
	"body { font: 14px system-ui, sans-serif; margin: 16px; }\n"
	"table { border-collapse: collapse; margin: 12px 0; table-layout: fixed; width: 84em; "
	"}\n"
	"th { text-align: left; width: 25em; overflow-wrap: anywhere; }\n"
	"td { text-align: right; padding: 1px 8px; white-space: nowrap; }\n"
	"td:nth-child(5) { width: 12em; }\n"
	"td:last-child { width: 14em; }\n"
	"tr:first-child { border-bottom: 1px solid #8888; }\n"
	"tr:hover { background: #8883; }\n"
	".more td:nth-child(4), .more td:nth-child(6) { background: #f0604d66; }\n"
	".less td:nth-child(4), .less td:nth-child(6) { background: #5b9be666; }\n"
	".gate { font-weight: 600; }\n"
	"circle { fill: #888; }\n"
	".more circle[cy='13'] { fill: #f0604d; } .less circle[cy='13'] { fill: #5b9be6; }\n"
	"object { display: block; width: 100%; }\n";

void runs_page_begin(struct buf *b, const struct runs_answer *a)
{
	buf_fmt(b,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; object-src "
		"data:; "
		"frame-src data:; script-src '%s'\">\n<meta name=\"color-scheme\" "
		"content=\"light dark\">\n<title>Before and "
		"after</title>\n<style>\n%s</style>\n"
		"</head>\n<body>\n<h1>Before and after</h1>\n",
		flame_js_hash, style);
	runs_html(b, a);
}

/* Bytes of a picture as those of a data: URL. */
static ssize_t write_escaped(void *to, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)s[i]) || memchr("-_./:=;,()", s[i], 10))
			putc(s[i], to);
		else
			fprintf(to, "%%%02X", (unsigned char)s[i]);
	return (ssize_t)n;
}

FILE *runs_page_picture(const char *heading, FILE *out)
{
	fprintf(out, "<h2>%s</h2>\n<object type=\"image/svg+xml\" data=\"data:image/svg+xml,",
		heading);
	return fopencookie(out, "w", (cookie_io_functions_t){.write = write_escaped});
}

void runs_page_picture_end(FILE *out)
{
	fputs("\"></object>\n", out);
}

void runs_page_end(FILE *out)
{
	fputs("</body>\n</html>\n", out);
}
