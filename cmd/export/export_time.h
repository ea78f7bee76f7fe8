/*
 * export_time.h - the contents of exports with times, of recordings, bundles and stores.
 */
#ifndef CMD_EXPORT_EXPORT_TIME_H
#define CMD_EXPORT_EXPORT_TIME_H

#include "cmd/query/waits.h"

#include <stdio.h>

/* Each thread as a profile of speedscope.h: the pieces of `svg --wall` in order of time, below
 * the thread's spans. ERR_REFUSED if there are none, ERR_NOMEM, ERR_IO. */
int export_speedscope(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e);

/* The samples of one event (--event, else the first one with samples), waits and spans as a
 * profile of firefox.h. ERR_USAGE for several recordings or events, ERR_REFUSED if nothing is
 * left, ERR_NOMEM, ERR_IO. */
int export_firefox(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e);

/* The timeline as a trace of perfetto.h; of `opt`, only --label counts. ERR_USAGE for several
 * recordings, ERR_REFUSED for a label that nothing has, ERR_NOMEM, ERR_IO. */
int export_perfetto(struct tlinput *ti, const struct wait_opts *opt, FILE *f, struct err *e);

#endif
