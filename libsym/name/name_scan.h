/*
 * name_scan.h - brackets and operators in the names compilers make.
 *
 * In `std::function<void (int)>::operator()(int) const` and `operator< <int>(A<1> const&)` some
 * brackets are pairs and some are an operator's name. These functions distinguish them; tidy.c
 * and simplify.c use them. Pure functions over (text, length).
 */
#ifndef LIBSYM_NAME_NAME_SCAN_H
#define LIBSYM_NAME_NAME_SCAN_H

#include <stddef.h>
#include <string.h>

/* 1 for a byte that may be part of an identifier ($ and bytes of UTF-8, too). */
static inline int name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* 1 when s[i..n) begins with the text. */
static inline int name_at(const char *s, size_t n, size_t i, const char *text)
{
	size_t len = strlen(text);
	return len <= n - i && !memcmp(s + i, text, len);
}

/*
 * The length of the operator's name that begins at s[i] ("operator<<", "operator()",
 * "operator->", and only "operator" where a word follows, as in operator new or a conversion),
 * or 0 when none does. For "operator<<int>" it is "operator<".
 */
size_t name_operator(const char *s, size_t n, size_t i);

/*
 * s[i] is one of ( < [ {: the index after the matching bracket, or 0 if there is none. "->" and
 * "=>" close nothing, operators' names neither; < and > as comparisons inside parentheses are
 * tolerated.
 */
size_t name_group(const char *s, size_t n, size_t i);

#endif
