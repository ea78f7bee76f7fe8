/*
 * histories.h - label histories: what each trampoline stood for, and since when. A program
 * calls labelled work through these functions, so a stack alone shows whose work it was
 * (contrib/dynamic_label.hpp writes such files).
 *
 *	perfkit-labels v1
 *	clock mono                        or raw, real, tsc
 *	pid 29451                         process of the lines below; without it, any process
 *	tramp 7 search::trampoline<7>     function of trampoline 7; default: trampoline<7>
 *	tramp 8 0x55d0c0de1a20 0x55d0c0de1a40       or its code in that process, [low, high)
 *	bind 7 7183812494120 query 42     7 stands for query=42 from that ns until the next bind
 *	lost 3                            labels that found no free trampoline
 *
 * A value is the rest of its line. Lines that begin with # are comments.
 */
#ifndef LIBTIME_SIDE_HISTORIES_H
#define LIBTIME_SIDE_HISTORIES_H

#include "libtime/side/lines.h"
#include "libtime/side/side.h"

/* 1 if the text starts with the first line of such a file. */
int side_is_histories(const char *text, size_t n);

/* Read all of it. ERR_FORMAT for another version; ERR_* of lines.h, ERR_NOMEM. */
int side_histories_read(struct side *out, struct side_lines *l, struct err *e);

#endif
