/*
 * file_text.h - the facts about a recording as a file, as text: the first and the last lines of
 * `perfkit report`, in 80 columns unless a word is longer.
 */
#ifndef RENDER_TEXT_FILE_TEXT_H
#define RENDER_TEXT_FILE_TEXT_H

#include "base/text/buf.h"
#include "libtime/store/file_facts.h"

#include <stdio.h>

/* Append file, host, command, clock, events, records and loss, a line each or more. */
void file_text_head(struct buf *out, const struct file_facts *f);

/* The same in a few lines: file, host, events that have samples, loss. */
void file_text_brief(struct buf *out, const struct file_facts *f);

/* Print how many names were found, and the first `top` files without names (0: all). Prints
 * nothing if names were not looked up. */
void file_text_names(FILE *f, const struct file_facts *x, int top);

/* Append the same in one line, or two. */
void file_text_names_brief(struct buf *out, const struct file_facts *x);

#endif
