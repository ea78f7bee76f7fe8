/*
 * say.h - writes lines to stderr; nothing else does. Untrusted text in them is escaped
 * (render/text/escape.h), so that terminals do not interpret it and a line remains one line.
 */
#ifndef CMD_CLI_SAY_H
#define CMD_CLI_SAY_H

#include <stdarg.h>
#include <stdio.h>

/* The text and a newline on stderr. */
void say_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "perfkit: <text>" and a newline on stderr. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_args(const char *fmt, va_list ap);

/* A text in visible form, without newline. */
void put_visible(FILE *f, const char *s);

#endif
