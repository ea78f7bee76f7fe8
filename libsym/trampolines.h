/*
 * trampolines.h - functions trampoline<0>, trampoline<1> ... that differ only by number: a
 * program calls labelled work through them (libtime/spans/label_lanes.h). Shown by number, they
 * would split every flame graph into as many pieces as there are labels at a time.
 */
#ifndef LIBSYM_TRAMPOLINES_H
#define LIBSYM_TRAMPOLINES_H

#include "libsym/stacks.h"

/* Rename the functions of all frames, "a::trampoline<7>(int)" to "a::trampoline<0>(int)".
 * Frames made afterwards have their own names. 0 or ERR_NOMEM. */
int trampolines_fold(struct stacks *s);

#endif
