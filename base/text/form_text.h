/*
 * form_text.h - the pieces of a sentence's form: words, and places for facts, {NAME} or
 * {NAME:HOW}. A part in [] is left out if one of its facts is missing; {{ is a bracket.
 */
#ifndef BASE_TEXT_FORM_TEXT_H
#define BASE_TEXT_FORM_TEXT_H

#include <stddef.h>

struct form_piece {
	char kind;        /* 't'ext, '{' a fact, '[' and ']' */
	const char *text; /* of 't' */
	size_t n;
	const char *name, *how; /* of '{' */
	size_t nname, nhow;
};

/* Get the piece at *text and move *text after it: 1, or 0 at the end. */
int form_next(const char **text, struct form_piece *p);

/* 1 if the place says HOW. */
int form_how_is(const struct form_piece *p, const char *how);

#endif
