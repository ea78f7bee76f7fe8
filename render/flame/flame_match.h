/*
 * flame_match.h - makes one frame of those of a differential graph that are the same function
 * in both profiles (libsym/name/match.h).
 */
#ifndef RENDER_FLAME_FLAME_MATCH_H
#define RENDER_FLAME_FLAME_MATCH_H

#include "base/text/buf.h"
#include "render/flame/flame.h"

/*
 * Rebuild the tree of a graph whose frames were kept apart (flame.apart), before
 * flame_finish and flame_show_gone. v[1] is the profile before. `threads`: the first level
 * names threads. `notes` gets what was matched although its name differs. ERR_NOMEM.
 */
int flame_match(struct flame *f, int threads, struct buf *notes, struct err *e);

#endif
