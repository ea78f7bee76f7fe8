/*
 * file_text.h - what a recording is as a file, in words: the first and the last lines of
 * `perfkit report`. Text in 80 columns, but for words that are longer.
 */
#ifndef RENDER_TEXT_FILE_TEXT_H
#define RENDER_TEXT_FILE_TEXT_H

#include "base/text/buf.h"
#include "libtime/store/file_facts.h"

#include <stdio.h>

/* Append file, host, command, clock, events, records and loss, a line each or more. */
void file_text_head(struct buf *out, const struct file_facts *f);

/* Print how well names were found, and the first `top` files (0: all) without; nothing where
 * names were not looked for. */
void file_text_names(FILE *f, const struct file_facts *x, int top);

#endif
