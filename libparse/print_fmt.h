/*
 * print_fmt.h - which tracepoint formats are safe for libtraceevent.
 *
 * libtraceevent reads the formats that kernels write, and believes them: it follows a null
 * pointer where a print fmt names a field that is not there, reads past a record where one asks
 * for more elements than an array has, and loses memory where a text holds a control character.
 * Formats come with the recording and are untrusted. So it gets only formats of this form,
 * which nearly all of the kernel's have:
 *
 *	name: NAME			words are letters, digits and _
 *	ID: NUMBER
 *	format:
 *		field:DECLARATION;	offset:NUMBER;	size:NUMBER;	signed:0|1;
 *	print fmt: "TEXT", EXPRESSION, ...
 *
 * where an EXPRESSION has numbers, texts, casts, C's operators, REC->FIELD and
 * REC->FIELD[NUMBER] inside the array, __print_flags, __print_symbolic and __get_str, and every
 * field is one of the format's; with at most 4096 operators and casts, because libtraceevent
 * recurses for each.
 */
#ifndef LIBPARSE_PRINT_FMT_H
#define LIBPARSE_PRINT_FMT_H

#include <stddef.h>

/* 1 when the NUL-terminated text of a format file has that form, else 0. */
int print_fmt_is_safe(const char *format);

#endif
