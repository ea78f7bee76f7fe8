#include "render/html/html_page.h"
#include "render/text/escape.h"

#include <string.h>

/* Made by the build: html.css, the scripts of render/html and of the pictures, and their hash.
 */
extern const char html_css[], html_js[], html_js_hash[], flame_css[];

static void element(struct buf *b, const char *open, const char *text, const char *close)
{
	if (!*text)
		return;
	buf_str(b, open);
	escape_xml_str(b, text);
	buf_str(b, close);
}

/* Escapes line by line, since escape_xml would replace line ends. */
static void put_lines(struct buf *b, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		escape_xml(b, text, n);
		buf_char(b, '\n');
		text += n + (text[n] == '\n');
	}
}

void html_page_begin(const struct html_page *p, struct buf *b, FILE *out)
{
	buf_str(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; worker-src "
		   "blob:; "
		   "script-src '");
	buf_str(b, html_js_hash);
	buf_str(b, "'\">\n<meta name=\"viewport\" content=\"width=device-width, "
		   "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
	element(b, "<title>", p->title, "</title>\n");
	buf_fmt(b,
		"<style>\n%s</style>\n<style id=\"flame-css\" media=\"not all\">\n%s</style>\n",
		html_css, flame_css);
	buf_str(b, "</head>\n<body>\n<header>\n");
	element(b, "<h1>", p->title, "</h1>\n");
	element(b, "<p id=\"subtitle\">", p->subtitle, "</p>\n");
	element(b, "<p id=\"filters\">filters: ", p->filters, "</p>\n");
	buf_str(b, "</header>\n<main id=\"main\">\n");
	element(b, "<p id=\"answer\">", p->answer, "</p>\n");
	element(b, "<p id=\"also\">", p->also, "</p>\n");
	element(b, "<p id=\"note\">", p->note, "</p>\n");
	buf_str(b, "<noscript>");
	buf_str(b, "<pre>");
	put_lines(b, p->text);
	buf_str(b, "</pre>\n<p>The other views of this report need scripts.</p></noscript>\n"
		   "</main>\n");
	fwrite(b->v, 1, b->n, out);
	buf_clear(b);
}

void html_page_end(FILE *out)
{
	fputs("<script>", out);
	fputs(html_js, out);
	fputs("</script>\n</body>\n</html>\n", out);
}
