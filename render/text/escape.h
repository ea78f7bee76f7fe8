/*
 * escape.h - untrusted names in pictures and text.
 *
 * Every name (symbol, comm, path, title) is untrusted data. It is first made *visible*: valid
 * UTF-8 without invisible or control characters, then escaped for XML. The same text is valid
 * as element content and inside a quoted attribute.
 *
 *	control characters    the control picture, U+2400 + c (escape: U+241B)
 *	invalid UTF-8 bytes   \xNN
 *	bidi and zero-width marks, line separators, surrogates, noncharacters, U+0080..9F
 *	                      \u{NNNN}
 */
#ifndef RENDER_TEXT_ESCAPE_H
#define RENDER_TEXT_ESCAPE_H

#include "base/text/buf.h"

/* Append the n bytes at s in visible form (not XML-escaped). The result has no newline. */
void escape_visible(struct buf *b, const char *s, size_t n);

/* Append the n bytes at s, changing only characters that control a terminal or break a line:
 * control characters as above, and the bytes 80..9F outside of a character as \xNN. For text
 * that other programs read (folded stacks). */
void escape_controls(struct buf *b, const char *s, size_t n);

/* 1 when the n bytes at s are UTF-8; append them with invalid bytes as \xNN and all others
 * unchanged: for formats whose texts are UTF-8 and may have any character. */
int escape_is_utf8(const char *s, size_t n);
void escape_invalid(struct buf *b, const char *s, size_t n);

/* Append the n bytes at s in visible form, with & < > " ' as entities. */
void escape_xml(struct buf *b, const char *s, size_t n);

/* The same for a NUL-terminated string; NULL counts as "". */
void escape_xml_str(struct buf *b, const char *s);

/* Append the n bytes at s in visible form so that Markdown shows them as they are. */
void escape_markdown(struct buf *b, const char *s, size_t n);

/* The same as Markdown's code, for text that is read as it is, too: in backquotes, and those of
 * its own as \u{0060}. */
void escape_markdown_code(struct buf *b, const char *s, size_t n);

/* Characters (code points) in n bytes of valid UTF-8. */
size_t escape_chars(const char *s, size_t n);

/* Bytes taken by the first `chars` characters of n bytes of valid UTF-8. */
size_t escape_prefix(const char *s, size_t n, size_t chars);

#endif
