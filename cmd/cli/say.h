/*
 * say.h - writes lines to stderr; nothing else does. Untrusted text in them is escaped
 * (render/text/escape.h), so that terminals do not interpret it and a line remains one line.
 */
#ifndef CMD_CLI_SAY_H
#define CMD_CLI_SAY_H

#include <stdarg.h>

/* The text and a newline on stderr. */
void say_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "perfkit: <text>" and a newline on stderr; on a terminal all messages have lines of 80 columns.
 */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_args(const char *fmt, va_list ap);

/* A progress line is on the terminal, which the next message takes the place of; 0: no longer. */
void say_over(int line);

#endif
