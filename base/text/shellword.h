/* shellword.h - text that a POSIX shell reads back as one word. */
#ifndef BASE_TEXT_SHELLWORD_H
#define BASE_TEXT_SHELLWORD_H

#include "base/text/buf.h"

/* Append `s` as it is if a shell reads it as one word, else in single quotes. */
void shell_word(struct buf *b, const char *s);

/* 1 when a shell takes `s` as words, each of which means itself: as shell_word wrote them, with
 * spaces between. */
int shell_is_words(const char *s);

/* 1 when `s` has only printable ASCII characters. */
int shell_is_printable(const char *s);

#endif
