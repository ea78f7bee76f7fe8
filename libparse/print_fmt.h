/*
 * print_fmt.h - is the format of a tracepoint one that libtraceevent can be given?
 *
 * libtraceevent reads the formats that kernels write, and believes them: it follows a null
 * pointer where a print fmt names a field that is not there, reads past a record where one asks
 * for more elements than an array has, and loses memory where a text holds a control character.
 * Formats come with the recording and are untrusted. So only those go to it that keep to this
 * form, which is nearly all that kernels have:
 *
 *	name: NAME			words are letters, digits and _
 *	ID: NUMBER
 *	format:
 *		field:DECLARATION;	offset:NUMBER;	size:NUMBER;	signed:0|1;
 *	print fmt: "TEXT", EXPRESSION, ...
 *
 * where an EXPRESSION has numbers, texts, casts, C's operators, REC->FIELD and
 * REC->FIELD[NUMBER] inside the array, __print_flags, __print_symbolic and __get_str, and every
 * field is one of the format's; with no more than 4096 operators and casts, for each of which
 * libtraceevent goes one call deeper.
 */
#ifndef LIBPARSE_PRINT_FMT_H
#define LIBPARSE_PRINT_FMT_H

#include <stddef.h>

/* 1 when the NUL-terminated text of a format file keeps to that form, else 0. */
int printfmt_is_plain(const char *format);

#endif
